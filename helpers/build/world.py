"""The words of mini-MNLI: what there is in its little world, and what excludes or includes what.

Three relations are used again and again:

* general:  a dog is an *animal*; Monday is *a weekday*; the kitchen is *indoors*; Rome is in *Italy*.
* siblings: a dog is not a cat; Monday is not Friday.
* opposite: open, close; old, new; quickly, slowly.

All are plain dictionaries. ``scenes.py`` makes sentences from them.
"""

# --- things: general word -> its members. Plural forms that do not end in "s" stand in PLURALS.
THINGS = {
    "animal": ["dog", "cat", "horse", "cow", "goat", "rabbit", "duck", "donkey"],
    "fruit": ["apple", "pear", "plum", "lemon", "orange", "peach", "melon"],
    "vegetable": ["carrot", "onion", "potato", "cabbage", "tomato", "pumpkin"],
    "vehicle": ["car", "bus", "truck", "van", "tractor", "bicycle", "taxi"],
    "tool": ["hammer", "saw", "drill", "spade", "rake", "ladder"],
    "instrument": ["violin", "guitar", "flute", "drum", "trumpet", "piano"],
    "garment": ["coat", "shirt", "hat", "scarf", "jacket", "dress"],
    "document": ["letter", "report", "contract", "map", "ticket", "passport"],
    "building": ["house", "church", "hotel", "museum", "tower", "shop"],
    "flower": ["rose", "tulip", "lily", "daisy", "orchid"],
    "device": ["phone", "laptop", "camera", "radio", "printer", "clock"],
    "container": ["box", "bag", "basket", "bottle", "bucket", "suitcase"],
    "toy": ["doll", "kite", "ball", "puzzle", "robot"],
}
PLURALS = {
    "tomato": "tomatoes", "potato": "potatoes", "bus": "buses", "peach": "peaches", "cabbage": "cabbages",
    "box": "boxes", "dress": "dresses", "church": "churches", "lily": "lilies", "daisy": "daisies", "fruit": "fruits",
    "witness": "witnesses", "actress": "actresses", "secretary": "secretaries", "person": "people",
}  # fmt: skip
GENERAL_OF = {member: general for general, members in THINGS.items() for member in members}

# --- people. Every role is a "person"; a name is "somebody".
ROLES = [
    "nurse", "doctor", "teacher", "student", "farmer", "baker", "lawyer", "driver", "waiter", "singer", "painter",
    "soldier", "judge", "gardener", "engineer", "sailor", "writer", "dentist", "tailor", "guard", "cook", "actor",
    "minister", "mayor", "clerk", "tourist", "guide", "pilot", "fisherman", "neighbour", "librarian", "scientist",
]  # fmt: skip
PLURALS["fisherman"] = "fishermen"

# --- what can be done to things: base, past, participle; the verb that excludes it; a verb that says the same.
VERBS = {
    "buy": ("bought", "bought"), "purchase": ("purchased", "purchased"), "sell": ("sold", "sold"),
    "open": ("opened", "opened"), "close": ("closed", "closed"), "shut": ("shut", "shut"),
    "lose": ("lost", "lost"), "find": ("found", "found"), "discover": ("discovered", "discovered"),
    "break": ("broke", "broken"), "damage": ("damaged", "damaged"),
    "repair": ("repaired", "repaired"), "fix": ("fixed", "fixed"),
    "hide": ("hid", "hidden"), "conceal": ("concealed", "concealed"), "show": ("showed", "shown"),
    "love": ("loved", "loved"), "adore": ("adored", "adored"), "hate": ("hated", "hated"), "detest": ("detested", "detested"),
    "remember": ("remembered", "remembered"), "forget": ("forgot", "forgotten"),
    "push": ("pushed", "pushed"), "pull": ("pulled", "pulled"), "drag": ("dragged", "dragged"),
    "lift": ("lifted", "lifted"), "raise": ("raised", "raised"), "drop": ("dropped", "dropped"),
    "build": ("built", "built"), "construct": ("constructed", "constructed"),
    "destroy": ("destroyed", "destroyed"), "demolish": ("demolished", "demolished"),
    "praise": ("praised", "praised"), "criticise": ("criticised", "criticised"),
    "accept": ("accepted", "accepted"), "refuse": ("refused", "refused"), "reject": ("rejected", "rejected"),
    "fill": ("filled", "filled"), "empty": ("emptied", "emptied"),
    "start": ("started", "started"), "stop": ("stopped", "stopped"), "halt": ("halted", "halted"),
    "clean": ("cleaned", "cleaned"), "dirty": ("dirtied", "dirtied"),
    "hire": ("hired", "hired"), "employ": ("employed", "employed"), "dismiss": ("dismissed", "dismissed"),
    "follow": ("followed", "followed"), "chase": ("chased", "chased"), "rescue": ("rescued", "rescued"),
    "save": ("saved", "saved"), "teach": ("taught", "taught"), "pay": ("paid", "paid"), "arrest": ("arrested", "arrested"),
    "carry": ("carried", "carried"), "welcome": ("welcomed", "welcomed"), "greet": ("greeted", "greeted"),
    "ignore": ("ignored", "ignored"),
    "give": ("gave", "given"), "send": ("sent", "sent"), "lend": ("lent", "lent"), "bring": ("brought", "brought"),
    "laugh": ("laughed", None), "cry": ("cried", None), "weep": ("wept", None), "whisper": ("whispered", None),
    "shout": ("shouted", None), "yell": ("yelled", None), "sit": ("sat", None), "stand": ("stood", None),
    "walk": ("walked", None), "stroll": ("strolled", None), "run": ("ran", None), "sprint": ("sprinted", None),
    "sleep": ("slept", None), "nap": ("napped", None), "work": ("worked", None),
}  # fmt: skip
SAME = {
    "buy": "purchase", "close": "shut", "find": "discover", "break": "damage", "repair": "fix", "hide": "conceal",
    "love": "adore", "hate": "detest", "pull": "drag", "lift": "raise", "build": "construct", "destroy": "demolish",
    "refuse": "reject", "stop": "halt", "hire": "employ", "follow": "chase", "rescue": "save", "welcome": "greet",
    "cry": "weep", "shout": "yell", "walk": "stroll", "run": "sprint", "sleep": "nap",
}  # fmt: skip
SAME |= {b: a for a, b in SAME.items()}
_OPPOSITE_PAIRS = [
    ("buy", "sell"), ("open", "close"), ("lose", "find"), ("break", "repair"), ("hide", "show"), ("love", "hate"),
    ("remember", "forget"), ("push", "pull"), ("lift", "drop"), ("build", "destroy"), ("praise", "criticise"),
    ("accept", "refuse"), ("fill", "empty"), ("start", "stop"), ("clean", "dirty"), ("hire", "dismiss"),
    ("welcome", "ignore"), ("laugh", "cry"), ("whisper", "shout"), ("sit", "stand"), ("walk", "run"), ("sleep", "work"),
]  # fmt: skip
OPPOSITE = {}
for _a, _b in _OPPOSITE_PAIRS:
    OPPOSITE[_a], OPPOSITE[_b] = _b, _a
for _word, _same in SAME.items():
    if _word not in OPPOSITE and _same in OPPOSITE:
        OPPOSITE[_word] = OPPOSITE[_same]

# --- which verbs go with which things (a person can judge "The nurse repaired a van", not "The nurse repaired a pear").
TRADE = ["buy", "purchase", "sell", "lose", "find", "discover", "hide", "conceal", "show"]
VERBS_FOR = {
    "animal": ["buy", "sell", "lose", "find", "hide", "love", "hate", "adore", "detest"],
    "fruit": ["buy", "purchase", "sell", "lift", "drop", "find", "hide"],
    "vegetable": ["buy", "purchase", "sell", "lift", "drop", "hide", "find"],
    "vehicle": ["buy", "purchase", "sell", "start", "stop", "push", "pull", "break", "damage", "repair", "fix", "clean", "dirty"],
    "tool": [*TRADE, "break", "repair", "fix", "lift", "drop", "raise"],
    "instrument": [*TRADE, "break", "damage", "repair", "fix", "love", "hate"],
    "garment": [*TRADE, "clean", "dirty", "love", "hate", "forget", "remember"],
    "document": ["lose", "find", "discover", "hide", "conceal", "show", "open", "close", "accept", "refuse", "reject", "forget", "remember", "praise", "criticise"],
    "building": ["buy", "sell", "build", "construct", "destroy", "demolish", "open", "close", "shut", "love", "hate", "clean", "dirty"],
    "flower": ["buy", "sell", "love", "hate", "adore", "detest", "accept", "refuse", "lift", "drop"],
    "device": [*TRADE, "break", "damage", "repair", "fix", "start", "stop", "clean", "dirty"],
    "container": ["buy", "sell", "open", "close", "shut", "fill", "empty", "lift", "raise", "drop", "hide", "conceal", "push", "pull", "drag"],
    "toy": [*TRADE, "break", "repair", "fix", "love", "hate"],
}  # fmt: skip
STATES = {"love", "adore", "hate", "detest", "remember", "forget"}  # no manner, place or company
PERSON_VERBS = ["hire", "employ", "dismiss", "follow", "chase", "rescue", "save", "teach", "pay", "arrest", "carry", "welcome", "greet", "ignore", "praise", "criticise"]  # fmt: skip
GIVING_VERBS = ["give", "sell", "send", "lend", "show", "bring"]
INTRANSITIVE = ["laugh", "cry", "weep", "whisper", "shout", "yell", "sit", "stand", "walk", "stroll", "run", "sprint", "sleep", "nap", "work"]  # fmt: skip

# --- adjectives: families of which only one can hold.
COLOURS = ["red", "blue", "green", "yellow", "black", "white", "brown", "grey"]
THING_ADJECTIVES = [["old", "new"], ["big", "small"], ["clean", "dirty"], ["heavy", "light"], ["cheap", "expensive"], ["wet", "dry"], COLOURS]  # fmt: skip
LIVING_ADJECTIVES = [["old", "young"], ["big", "small"], ["fat", "thin"], ["wild", "tame"], COLOURS[4:]]
PERSON_ADJECTIVES = [["young", "old"], ["tall", "short"], ["happy", "sad"], ["rich", "poor"], ["polite", "rude"], ["nervous", "calm"], ["famous", "unknown"], ["strong", "weak"]]  # fmt: skip

NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
SOME = ["some", "several"]

# --- where: general phrase -> its members
PLACES = {
    "inside the house": ["in the kitchen", "in the bedroom", "in the bathroom", "in the cellar", "in the hall"],
    "outdoors": ["in the park", "in the garden", "in the forest", "on the beach", "in the field", "in the street"],
    "in a public building": ["in the library", "in the hospital", "in the school", "at the station", "in the theatre"],
    "in France": ["in Paris", "in Lyon"],
    "in Italy": ["in Rome", "in Milan"],
    "in Germany": ["in Berlin", "in Munich"],
    "in Spain": ["in Madrid", "in Seville"],
    "in Japan": ["in Tokyo", "in Osaka"],
    "in Egypt": ["in Cairo", "in Luxor"],
}
# --- when
TIMES = {
    "on a weekday": ["on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday"],
    "at the weekend": ["on Saturday", "on Sunday"],
    "in winter": ["in December", "in January", "in February"],
    "in spring": ["in March", "in April", "in May"],
    "in summer": ["in June", "in July", "in August"],
    "in autumn": ["in September", "in October", "in November"],
    "in the morning": ["at seven in the morning", "at nine in the morning"],
    "at night": ["at midnight", "long after midnight"],
}
# Times are only exchanged inside one calendar: a Monday can lie in June.
CALENDARS = [
    ["on a weekday", "at the weekend"],
    ["in winter", "in spring", "in summer", "in autumn"],
    ["in the morning", "at night"],
]
# Places are only exchanged inside one map: a kitchen can lie in Rome.
MAPS = [
    ["inside the house", "outdoors", "in a public building"],
    ["in France", "in Italy", "in Germany", "in Spain", "in Japan", "in Egypt"],
]

MANNERS = [["quickly", "slowly"], ["quietly", "loudly"], ["carefully", "carelessly"], ["secretly", "openly"], ["gladly", "unwillingly"]]  # fmt: skip
COMPANIONS = {"with somebody": ["with a friend", "with a brother", "with a cousin", "with a colleague", "with a partner"]}
ALONE = "alone"
REASONS = [
    "because it was raining", "because it was cold", "because it was late", "because the law had changed",
    "because the music was loud", "because there was no time", "because of an old promise", "because of the war",
    "for a small reward", "to please a friend", "to win a bet", "after a long journey", "after a short meal",
    "before the meeting", "during the festival", "despite the danger",
]  # fmt: skip

# --- genres, named as MNLI names them: who acts, with what things, and how the writer begins.
GENRES = {
    "fiction": (ROLES[0:12], ["animal", "fruit", "garment", "toy"],
                ["Everyone remembered that ", "It was true that ", "Nobody forgot that ", "In the end, "]),
    "government": (ROLES[8:20] + ["minister", "mayor", "clerk"], ["document", "building", "vehicle", "device"],
                   ["The records show that ", "The audit confirmed that ", "It is on file that ", "As the report states, "]),
    "slate": (ROLES[4:16] + ["actor", "writer", "minister"], ["document", "device", "garment", "building"],
              ["It is no secret that ", "As everybody knows, ", "Here is the news: ", "The fact is that "]),
    "telephone": (ROLES[0:10] + ["neighbour", "cook", "dentist"], ["vehicle", "animal", "vegetable", "tool"],
                  ["yeah, ", "well, ", "you know, ", "oh, ", "you see, "]),
    "travel": (ROLES[9:18] + ["tourist", "guide", "pilot", "sailor"], ["building", "container", "fruit", "vehicle"],
               ["The guide explained that ", "Visitors learn that ", "On this island, ", "The tour begins here: "]),
    # only in validation_mismatched
    "facetoface": (ROLES[14:26], ["container", "tool", "vegetable", "toy"], ["so, ", "right, ", "okay, ", "um, "]),
    "letters": (ROLES[18:32], ["flower", "garment", "document"],
                ["I am happy to say that ", "Dear friend, ", "Let me tell you that ", "I write to tell you that "]),
    "oup": (ROLES[20:32], ["instrument", "device", "animal"],
            ["Historians agree that ", "The archive proves that ", "This chapter shows that "]),
    "verbatim": (ROLES[12:24], ["instrument", "flower", "building"],
                 ["It is well known that ", "Readers told us that ", "As the proverb has it, "]),
}  # fmt: skip
TRAIN_GENRES = ["fiction", "government", "slate", "telephone", "travel"]
MISMATCHED_GENRES = ["facetoface", "letters", "oup", "verbatim"]
