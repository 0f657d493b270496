"""Scenes, the sentences that tell them, and the changes that make a second sentence of a first.

A scene is one event: who did what to what, where, when, how. ``tell`` makes a sentence of it.
A change takes a scene and returns a changed copy, or None where it does not apply. There are three
lists of changes, one for each thing a second sentence can do to a first:

* KEEPS:  what the second says follows from the first (a detail dropped, a more general word, the passive).
* ADDS:   the second says something that the first leaves open (a new detail, a more special word).
* BREAKS: both cannot be true of the same event (an opposite, another number, a negation, roles exchanged).

As in MNLI, both sentences are read as speaking of the same event.
"""

from dataclasses import dataclass, replace
from random import Random

from helpers.build import world


def pick(rng: Random, choices):
    """One of ``choices``. Built on ``random()`` alone: the only call whose sequence Python promises to keep."""
    return choices[int(rng.random() * len(choices))]


def chance(rng: Random, probability: float) -> bool:
    return rng.random() < probability


@dataclass(frozen=True)
class Thing:
    noun: str  # "dog", or the general word: "animal", "person", "somebody"
    kind: str  # the general word of its family; "person" for people
    adjective: str | None = None
    number: str | None = None  # "three", "several"; None: one
    definite: bool = True


@dataclass(frozen=True)
class Scene:
    who: Thing
    verb: str
    what: Thing | None = None
    to: Thing | None = None
    manner: str | None = None
    companion: str | None = None
    place: str | None = None
    time: str | None = None
    reason: str | None = None
    negated: bool = False
    passive: bool = False
    time_first: bool = False


# ---------------------------------------------------------------- telling a scene


def tell_thing(thing: Thing) -> str:
    if thing.noun == "somebody":
        return "somebody"
    words = [thing.adjective] if thing.adjective else []
    if thing.number:
        return " ".join([thing.number, *words, world.PLURALS.get(thing.noun, thing.noun + "s")])
    words.append(thing.noun)
    if thing.definite:
        return " ".join(["the", *words])
    return " ".join(["an" if words[0][0] in "aeiou" else "a", *words])


def tell(scene: Scene, subject: bool = True) -> str:
    """The scene as a clause, without a capital or a full stop; without its subject, to be joined to another."""
    past, participle = world.VERBS[scene.verb]
    who, what = tell_thing(scene.who) if subject else None, scene.what and tell_thing(scene.what)
    if scene.passive:
        be = "were" if scene.what.number else "was"
        parts = [
            what,
            be,
            "not" if scene.negated else None,
            scene.manner,
            participle,
            scene.to and f"to {tell_thing(scene.to)}",
            f"by {who}",
        ]
    else:
        verb = f"did not {scene.verb}" if scene.negated else past
        if what:
            parts = [who, scene.manner, verb, what, scene.to and f"to {tell_thing(scene.to)}"]
        else:
            parts = [who, verb, scene.manner]
        if scene.negated and scene.manner and what:
            parts = [who, "did not", scene.manner, scene.verb, what, scene.to and f"to {tell_thing(scene.to)}"]
    parts += [scene.companion, scene.place]
    if scene.time and scene.time_first:
        parts = [scene.time + ",", *parts]
    else:
        parts.append(scene.time)
    parts.append(scene.reason)
    return " ".join(part for part in parts if part)


def sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


# ---------------------------------------------------------------- making a scene


def make_person(rng: Random, roles: list[str], adjective: float = 0.3, number: float = 0.15) -> Thing:
    general = chance(rng, 0.22)
    count = (pick(rng, world.SOME) if chance(rng, 0.35) else pick(rng, world.NUMBERS)) if chance(rng, number) else None
    look = pick(rng, pick(rng, world.PERSON_ADJECTIVES)) if chance(rng, adjective) else None
    noun = "person" if general else pick(rng, roles)
    return Thing(noun, "person", look, count, chance(rng, 0.7))


def make_thing(rng: Random, kinds: list[str]) -> Thing:
    kind = pick(rng, kinds)
    noun = kind if chance(rng, 0.3) else pick(rng, world.THINGS[kind])
    count = (pick(rng, world.SOME) if chance(rng, 0.35) else pick(rng, world.NUMBERS)) if chance(rng, 0.3) else None
    families = world.LIVING_ADJECTIVES if kind == "animal" else world.THING_ADJECTIVES
    look = pick(rng, pick(rng, families)) if chance(rng, 0.35) else None
    return Thing(noun, kind, look, count, chance(rng, 0.6))


def maps_for(what: Thing | None):
    """The maps on which a place may lie: no house is built in a kitchen."""
    return world.MAPS[1:] if what and what.kind == "building" else world.MAPS


def make_place(rng: Random, what: Thing | None = None) -> str:
    general = pick(rng, pick(rng, maps_for(what)))
    return general if chance(rng, 0.3) else pick(rng, world.PLACES[general])


def make_time(rng: Random) -> str:
    general = pick(rng, pick(rng, world.CALENDARS))
    return general if chance(rng, 0.3) else pick(rng, world.TIMES[general])


def make_companion(rng: Random) -> str:
    if chance(rng, 0.3):
        return world.ALONE
    return "with somebody" if chance(rng, 0.3) else pick(rng, world.COMPANIONS["with somebody"])


def make_scene(rng: Random, genre: str) -> Scene:
    roles, kinds, _ = world.GENRES[genre]
    who, shape = make_person(rng, roles), rng.random()
    what = to = None
    if shape < 0.55:
        what = make_thing(rng, kinds)
        verb = pick(rng, world.VERBS_FOR[what.kind])
    elif shape < 0.75:
        verb, what = pick(rng, world.PERSON_VERBS), make_person(rng, roles)
    elif shape < 0.86:
        portable = [kind for kind in kinds if kind != "building"]
        verb, what, to = pick(rng, world.GIVING_VERBS), make_thing(rng, portable), make_person(rng, roles, 0.2, 0.0)
    else:
        verb = pick(rng, world.INTRANSITIVE)
    for other in (what, to):  # no "The nurse followed the nurse"
        if other and other.kind == "person" and other.noun == who.noun:
            return make_scene(rng, genre)
    crowd = 0.55 if what is None else 0.32
    event = verb not in world.STATES
    return Scene(
        who, verb, what, to,
        manner=pick(rng, pick(rng, world.MANNERS)) if event and chance(rng, 0.2) else None,
        companion=make_companion(rng) if event and chance(rng, crowd / 3) else None,
        place=make_place(rng, what) if event and chance(rng, crowd) else None,
        time=make_time(rng) if chance(rng, crowd) else None,
        reason=pick(rng, world.REASONS) if chance(rng, 0.1) else None,
        negated=chance(rng, 0.1),
        passive=what is not None and chance(rng, 0.15),
        time_first=chance(rng, 0.25),
    )  # fmt: skip


# ---------------------------------------------------------------- changes
# A change is a function (rng, scene) -> (slots it touched, scene) or None. Slots are what "where do they differ" asks for.


def general_noun(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or thing.noun in (thing.kind, "somebody"):
        return None
    if thing.kind == "person" and "person" in {t.noun for t in (scene.who, scene.what, scene.to) if t}:
        return None  # no "A person paid the person"
    noun = "somebody" if thing.kind == "person" and not thing.number and not thing.adjective and chance(rng, 0.3) else thing.kind
    return replace(scene, **{slot: replace(thing, noun=noun)})


def special_noun(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or thing.noun != thing.kind:
        return None
    noun = pick(rng, world.ROLES if thing.kind == "person" else world.THINGS[thing.kind])
    return replace(scene, **{slot: replace(thing, noun=noun)})


def other_noun(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or thing.kind == "person" or thing.noun == thing.kind:
        return None
    noun = pick(rng, [n for n in world.THINGS[thing.kind] if n != thing.noun])
    return replace(scene, **{slot: replace(thing, noun=noun)})


def drop_adjective(rng, scene, slot):
    thing = getattr(scene, slot)
    return replace(scene, **{slot: replace(thing, adjective=None)}) if thing and thing.adjective else None


def adjective_families(thing: Thing):
    if thing.kind == "person":
        return world.PERSON_ADJECTIVES
    return world.LIVING_ADJECTIVES if thing.kind == "animal" else world.THING_ADJECTIVES


def add_adjective(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or thing.adjective or thing.noun == "somebody":
        return None
    return replace(scene, **{slot: replace(thing, adjective=pick(rng, pick(rng, adjective_families(thing))))})


def other_adjective(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or not thing.adjective:
        return None
    family = pick(rng, [f for f in adjective_families(thing) if thing.adjective in f])
    return replace(scene, **{slot: replace(thing, adjective=pick(rng, [a for a in family if a != thing.adjective]))})


def general_number(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or not thing.number or thing.number in world.SOME:
        return None
    return replace(scene, **{slot: replace(thing, number=pick(rng, world.SOME))})


def special_number(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or thing.number not in world.SOME:
        return None
    return replace(scene, **{slot: replace(thing, number=pick(rng, world.NUMBERS))})


def other_number(rng, scene, slot):
    thing = getattr(scene, slot)
    if not thing or not thing.number or thing.number in world.SOME:
        return None
    return replace(scene, **{slot: replace(thing, number=pick(rng, [n for n in world.NUMBERS if n != thing.number]))})


def _families(field):
    return world.PLACES if field == "place" else world.TIMES if field == "time" else world.COMPANIONS


def _make(rng, scene, field):
    return make_place(rng, scene.what) if field == "place" else make_time(rng) if field == "time" else make_companion(rng)


def drop_phrase(rng, scene, field):
    return replace(scene, **{field: None}) if getattr(scene, field) else None


def general_phrase(rng, scene, field):
    for general, members in _families(field).items():
        if getattr(scene, field) in members:
            return replace(scene, **{field: general})
    return None


def special_phrase(rng, scene, field):
    members = _families(field).get(getattr(scene, field))
    return replace(scene, **{field: pick(rng, members)}) if members else None


def other_phrase(rng, scene, field):
    """Another place of the same map, or another time of the same calendar."""
    now = getattr(scene, field)
    families = _families(field)
    for group in world.MAPS if field == "place" else world.CALENDARS:
        general = next((g for g in group if now == g or now in families[g]), None)
        if general is None:
            continue
        if now == general or chance(rng, 0.3):
            new_general = pick(rng, [g for g in group if g != general])
            new = new_general if chance(rng, 0.4) else pick(rng, families[new_general])
        else:
            new = pick(rng, [m for g in group for m in families[g] if m != now])
        return replace(scene, **{field: new})
    return None


def add_phrase(rng, scene, field):
    if getattr(scene, field) or (scene.verb in world.STATES and field in ("place", "companion")):
        return None
    new = pick(rng, world.REASONS) if field == "reason" else _make(rng, scene, field)
    return replace(scene, **{field: new})


def other_company(rng, scene):
    if not scene.companion:
        return None
    new = pick(rng, world.COMPANIONS["with somebody"]) if scene.companion == world.ALONE else world.ALONE
    return replace(scene, companion=new)


def add_manner(rng, scene):
    if scene.manner or scene.verb in world.STATES:
        return None
    return replace(scene, manner=pick(rng, pick(rng, world.MANNERS)))


def other_manner(rng, scene):
    if not scene.manner:
        return None
    family = next(f for f in world.MANNERS if scene.manner in f)
    return replace(scene, manner=next(m for m in family if m != scene.manner))


def same_verb(rng, scene):
    if scene.verb not in world.SAME or (scene.to and world.SAME[scene.verb] not in world.GIVING_VERBS):
        return None
    return replace(scene, verb=world.SAME[scene.verb])


def opposite_verb(rng, scene):
    if scene.verb not in world.OPPOSITE or scene.to:
        return None
    new = world.OPPOSITE[scene.verb]
    if new in world.SAME and chance(rng, 0.3):
        new = world.SAME[new]
    return replace(scene, verb=new)


def turn_voice(rng, scene):
    return replace(scene, passive=not scene.passive) if scene.what else None


def negate(rng, scene):
    return replace(scene, negated=not scene.negated)


def exchange_roles(rng, scene):
    """Who did it, and to whom: "The nurse paid the guide" becomes "The guide paid the nurse"."""
    other = "to" if scene.to else "what" if scene.what and scene.what.kind == "person" else None
    if other is None or getattr(scene, other).noun == scene.who.noun:
        return None
    return replace(scene, who=getattr(scene, other), **{other: scene.who})


# (name for the data, slot, function, its argument)
KEEPS = [
    ("hypernym", "who", general_noun, "who"), ("hypernym", "what", general_noun, "what"), ("hypernym", "what", general_noun, "what"), ("hypernym", "to", general_noun, "to"),
    ("dropped detail", "look", drop_adjective, "who"), ("dropped detail", "look", drop_adjective, "what"),
    ("number", "number", general_number, "who"), ("number", "number", general_number, "what"),
    ("dropped detail", "place", drop_phrase, "place"), ("dropped detail", "time", drop_phrase, "time"),
    ("dropped detail", "reason", drop_phrase, "reason"), ("dropped detail", "manner", drop_phrase, "manner"),
    ("dropped detail", "companion", drop_phrase, "companion"),
    ("place", "place", general_phrase, "place"), ("place", "place", general_phrase, "place"), ("time", "time", general_phrase, "time"), ("time", "time", general_phrase, "time"),
    ("companion", "companion", general_phrase, "companion"),
    ("synonym", "verb", same_verb, None), ("passive", "voice", turn_voice, None),
]  # fmt: skip
ADDS = [
    ("hyponym", "who", special_noun, "who"), ("hyponym", "what", special_noun, "what"), ("hyponym", "what", special_noun, "what"), ("hyponym", "to", special_noun, "to"),
    ("added detail", "look", add_adjective, "who"), ("added detail", "look", add_adjective, "what"),
    ("number", "number", special_number, "who"), ("number", "number", special_number, "what"),
    ("added detail", "place", add_phrase, "place"), ("added detail", "time", add_phrase, "time"),
    ("added reason", "reason", add_phrase, "reason"), ("added detail", "manner", add_manner, None),
    ("added detail", "companion", add_phrase, "companion"),
    ("place", "place", special_phrase, "place"), ("place", "place", special_phrase, "place"), ("time", "time", special_phrase, "time"), ("time", "time", special_phrase, "time"),
    ("companion", "companion", special_phrase, "companion"),
]  # fmt: skip
BREAKS = [
    ("sibling", "what", other_noun, "what"), ("sibling", "what", other_noun, "what"),
    ("antonym", "verb", opposite_verb, None), ("antonym", "verb", opposite_verb, None),
    ("antonym", "look", other_adjective, "who"), ("antonym", "look", other_adjective, "what"),
    ("number", "number", other_number, "who"), ("number", "number", other_number, "what"),
    ("place", "place", other_phrase, "place"), ("time", "time", other_phrase, "time"),
    ("antonym", "manner", other_manner, None), ("companion", "companion", other_company, None),
    ("negation", "negation", negate, None), ("role swap", "role", exchange_roles, None), ("role swap", "role", exchange_roles, None),
]  # fmt: skip
SLOTS = ["who", "what", "to", "look", "number", "verb", "voice", "manner", "companion", "place", "time", "reason", "negation", "role"]  # fmt: skip

# Under a negation most changes turn round: "did not run" does say "did not run in the park", and "did not run in
# the park" does not say "did not run". Only these keep their meaning.
UNDER_NEGATION = {"synonym", "passive", "added reason", "negation"}
ALWAYS_FIT = {"passive", "added reason", "negation"}


def change(rng: Random, scene: Scene, changes, used: set, only: set | None = None):
    """Apply one change that fits, touches no slot in ``used`` and is named in ``only``. Returns (name, slot, scene) or None.

    The kinds of change take turns by lot, those of ALWAYS_FIT late, so that none is rare in the data.
    """
    turn = {name: rng.random() + (name in ALWAYS_FIT) * rng.random() for name in dict.fromkeys(entry[0] for entry in changes)}
    for name, slot, function, argument in sorted(changes, key=lambda entry: (turn[entry[0]], rng.random())):
        if slot in used or (only is not None and name not in only):
            continue
        changed = function(rng, scene, argument) if argument else function(rng, scene)
        if changed is not None:
            return name, slot, changed
    return None
