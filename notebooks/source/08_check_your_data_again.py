# %% [markdown] key="title"
# # 08 · Check your data again
#
# ★★☆ · 45 minutes
#
# The script runs. The loss falls. The score looks good. And the data are wrong. After this lesson you can find wrong data that raise no error, and you can ask others for help in a way that gets an answer.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import audit_labels, compare_splits, compare_with_data, draw_confusion, draw_labels, fault, find_checkpoint
from helpers import load_mnli, load_planted, pipeline_from_script, sample_losses, score_against_baseline, show_diff, show_script
from helpers import without_autotune
from helpers.pictures import Picture

import math

import numpy as np
import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)
checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
names = ["entailment", "neutral", "contradiction"]

# %% [markdown] key="planted-text"
# ## Data with known errors
#
# Real data have errors, and nobody knows how many. So nobody knows how good a check is. This lesson uses data with **planted** errors: we put them there, so we can count how many a check finds.
#
# `load_planted()` is like `load_mnli()`, with 1200 training rows. Some training rows have a wrong label. Some are copies of validation rows.

# %% key="planted"
raw = load_planted(seed=1)
raw

# %% [markdown] key="batches-text"
# The data go through the functions of a healthy script. The third data set, `in_order`, holds the training rows **without shuffling**. With it we can say which row of the data a row of a batch is.

# %% key="batches"
def tokenize_rows(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)


tokenized = raw.map(tokenize_rows, batched=True)
collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
options = dict(columns=["input_ids", "attention_mask", "labels"], collate_fn=collator)
train = without_autotune(tokenized["train"].to_tf_dataset(shuffle=True, batch_size=8, **options))
validation = without_autotune(tokenized["validation_matched"].to_tf_dataset(batch_size=50, **options))
in_order = without_autotune(tokenized["train"].to_tf_dataset(batch_size=12, **options))

# %% [markdown] key="read-text"
# ## Read rows, and agree or disagree
#
# Lesson 02 decoded one batch to see whether the text is whole. Now read it for another reason: **would you give this label?** Cover the label with your hand, say your own, then compare.
#
# Read both sentences as if they tell of the same event. *entailment*: the second must be true. *neutral*: it can be true. *contradiction*: it cannot.
#
# **Predict.** With how many of the twelve labels will you agree?

# %% key="read"
for batch in in_order.skip(1).take(1):
    for number, (ids, label) in enumerate(zip(batch["input_ids"], batch["labels"]), start=12):
        premise, hypothesis = tokenizer.decode(ids).replace("[CLS]", "").split("[SEP]")[:2]
        print(f"{number}  {premise.strip()} | {hypothesis.strip()} | {names[label]}")

# %% [markdown] key="read-explained"
# You should agree with eleven. In row 22 a person discovered an old dress. Perhaps it was the mayor, perhaps it was not. So the label should be *neutral*.
#
# Always say it with both numbers: "I agree with 11 of 12". Twelve rows are few. When 4 % of the labels are wrong, 61 % of all such samples show no wrong label at all. Read a hundred rows before you say that labels are good.

# %% key="read-asserted" tags=["hidden-assertion"]
from helpers.planted import plant

planted = plant(1)
assert [number for number in range(12, 24) if number in planted.mislabelled] == [22] and planted.mislabelled[22] == 1
assert len(planted.mislabelled) / len(raw["train"]) == 0.04 and round(0.96**12, 2) == 0.61

# %% [markdown] key="baseline-text"
# ## What guessing costs
#
# Two numbers tell you whether a model has learnt anything. They need no model, only the labels.
#
# * **A random answer:** each of C classes gets the probability 1/C. The loss is ln C.
# * **A constant answer:** each class gets its share of the rows. The loss is the *entropy* of the shares. Its accuracy is the share of the most frequent class: the *majority*.
#
# With three equal classes both losses are ln 3 ≈ 1.10. The next pipeline lost more than nine of ten rows of one class, in `load()`. Nothing is raised.

# %% key="rare-diff"
fault("rare_class").diff

# %% [markdown] key="rare-predict"
# **Predict.** A model that knows nothing of the texts says the most frequent class, always. Which accuracy does it have now?

# %% key="rare"
rare = fault("rare_class").pipeline()
rare_train, _rare_validation = rare.batch(rare.tokenize(rare.load()))
seen = audit_labels(without_autotune(rare_train), names=names, batches=300)
draw_labels(seen.counts, names)

# %% key="rare-baselines"
shares = np.array(list(seen.counts.values())) / seen.rows
print(f"random answer:   loss {math.log(3):.2f}")
print(f"constant answer: loss {-(shares * np.log(shares)).sum():.2f}, accuracy {shares.max():.2f}")

# %% [markdown] key="rare-explained"
# A loss of 0.84 looks like progress: it is well below 1.10. An accuracy of 0.48 looks better than one third. Here both are worth nothing. So look at the class counts first, and compare with the constant answer, not only with ln C.

# %% key="rare-asserted" tags=["hidden-assertion"]
assert round(float(-(shares * np.log(shares)).sum()), 2) == 0.84 and round(float(shares.max()), 2) == 0.48
assert seen.findings.keys() == {"imbalanced"} and round(math.log(3), 2) == 1.10
assert load_mnli(train_rows=2400)["train"]["label"][:].count(0) > 10 * seen.counts[0]

# %% [markdown] key="shuffled-text"
# ## Labels of other rows
#
# In the next script texts and labels are shuffled, each by itself. This happens in real projects: texts and labels come from two files, and one of them is sorted or filtered.

# %% key="shuffled"
own_labels = "return load_mnli(train_rows=2400, validation_rows=750)"
other_labels = """raw = load_mnli(train_rows=2400, validation_rows=750)
    labels = raw["train"].shuffle(seed=1)["label"][:]
    raw["train"] = raw["train"].remove_columns("label").add_column("label", labels, feature=raw["train"].features["label"])
    return raw"""
shuffled = pipeline_from_script(helpers.healthy_script().replace(own_labels, other_labels))
shuffled_train, _shuffled_validation = shuffled.batch(shuffled.tokenize(shuffled.load()))
audit_labels(without_autotune(shuffled_train), names=names, batches=300)

# %% [markdown] key="shuffled-evidence"
# Every count is right. The shapes are right. Only the *pairs* are wrong.
#
# **Predict.** The labels come in random order. For what share of the rows is the label wrong?

# %% key="shuffled-compare"
compared = compare_with_data(without_autotune(shuffled_train), load_mnli(train_rows=2400)["train"], tokenizer)
compared

# %% [markdown] key="shuffled-explained"
# `compare_with_data()` looks up the text of each row in the data as they were loaded first, and compares the labels. About two thirds are wrong: a random label of three is right in one third of the rows.
#
# **Repair:** keep text and label in one row, and shuffle rows. **Check:** take five rows at the very end, just before the model, and look them up in the file that you started with.

# %% key="shuffled-asserted" tags=["hidden-assertion"]
assert 0.63 < compared.others / compared.rows < 0.70 and compared.rows == 2400 and compared.unknown == 0

# %% [markdown] key="leak-text"
# ## Rows in both splits
#
# A validation row that was trained on tells you what the model remembers, not what it can do.
#
# **Predict.** The planted data have such rows. Will a comparison of the texts find all of them?

# %% key="leak-strings"
def pairs(split, form):
    return [(form(row["premise"]), form(row["hypothesis"])) for row in raw[split]]


known = set(pairs("validation_matched", str))
sum(pair in known for pair in pairs("train", str))

# %% key="leak-tokens"
splits = compare_splits(train, validation)
splits

# %% [markdown] key="leak-explained"
# `==` finds 9 rows. `compare_splits()` compares token ids, and finds 27. Which is right?
#
# Neither. Both compare what they see. For `==`, a capital letter makes another text. The tokenizer drops capitals and extra blanks, so `compare_splits()` finds more. To a reader, a missing final dot changes nothing. To both of them it does.
#
# So decide what "the same text" means, write it as a function, and compare its results.

# %% key="leak-normal"
def normal(text):
    return " ".join(text.lower().split()).rstrip(".")


known = set(pairs("validation_matched", normal))
leaked = [number for number, pair in enumerate(pairs("train", normal)) if pair in known]
len(leaked)

# %% [markdown] key="leak-repair"
# Now there are 36, and we planted 36. **Repair:** take these rows out of *training*, not out of validation. If you drop them from validation, the score changes its meaning.

# %% key="leak-repaired"
repaired = raw["train"].select([number for number in range(len(raw["train"])) if number not in leaked])
len(repaired)

# %% key="leak-asserted" tags=["hidden-assertion"]
_exact = set(pairs("validation_matched", str))
assert sum(pair in _exact for pair in pairs("train", str)) == 9
assert splits.overlap == 27 and sorted(planted.leaked) == leaked and len(leaked) == 36
assert len(repaired) == 1164

# %% [markdown] key="train-text"
# ## Train once, and look at the answers
#
# Now train one model on the planted data: 150 steps, less than half a minute on two cores. A single number, the accuracy, says how often it is right. It does not say *how* it is wrong. A **confusion matrix** does: a line for each label, a column for each answer.
#
# The picture also says *with classes exchanged*: the accuracy after the best renaming of the answers. You need it two sections later.

# %% key="answers"
def look_at_answers(model, dataset):
    scores = score_against_baseline(model, dataset)
    said = f"accuracy {scores.predicted:.2f}, majority {scores.majority:.2f}, with classes exchanged {scores.permuted:.2f}"
    return scores, Picture(draw_confusion(scores, names).figure, said)


# %% key="train" tags=["band"]
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])
model.fit(train, epochs=1, verbose=0)
trained, picture = look_at_answers(model, validation)
picture

# %% key="train-band" tags=["hidden-assertion"]
assert 0.80 < trained.predicted < 0.94 and 0.33 < trained.majority < 0.38 and trained.findings == {}
assert trained.permuted == trained.predicted

# %% [markdown] key="same-text"
# The diagonal holds the right answers. The bars on the right compare with the majority: the model has learnt something.
#
# ### A model that always says the same
#
# **Predict.** The next model has a large bias for one class. How does its confusion matrix look? And its accuracy?

# %% key="same" tags=["band"]
stuck = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
stuck.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])
stuck(stuck.dummy_inputs)
stuck.classifier.bias.assign([0.0, 9.0, 0.0])
always, picture = look_at_answers(stuck, validation)
picture

# %% key="same-asserted" tags=["hidden-assertion"]
assert "one_answer" in always.findings and (always.confusion[:, [0, 2]] == 0).all() and always.predicted < 0.38

# %% [markdown] key="same-explained"
# One column. The accuracy is the share of that class, about one third: it looks like a weak model. It is no model. In a report you would see only the number. So count the answers too: how many different ones does the model give?
#
# ### The classes in another order
#
# Checkpoints and data sets number their classes in different ways. Here the validation labels are numbered the other way round: 0 is *contradiction*. The model is the good one from above.
#
# **Predict.** Which accuracy will it have: one third, or less?

# %% key="exchanged" tags=["band"]
turned = validation.map(lambda batch: {**batch, "labels": 2 - batch["labels"]})
exchanged, picture = look_at_answers(model, turned)
picture

# %% key="exchanged-band" tags=["hidden-assertion"]
assert exchanged.predicted < 0.40 and exchanged.permuted > 0.80 and "classes_exchanged" in exchanged.findings

# %% [markdown] key="exchanged-explained"
# The model is good, and the score is not better than a guess. Only the middle class is right, because its number is the same in both orders. Evidence is the other diagonal, and the number *with classes exchanged*: the best accuracy that other names for the answers could give.
#
# **Repair:** give the model the names of the data, in their order. Compare `model.config.id2label` with `raw["train"].features["label"].names` before you use somebody's checkpoint.

# %% key="exchanged-names"
print(model.config.id2label)
print(raw["train"].features["label"].names)

# %% [markdown] key="generic-names"
# `LABEL_0` says nothing: this checkpoint does not know its classes. `from_pretrained(…, id2label={0: "entailment", …})` writes them down.

# %% [markdown] key="rank-text"
# ## Let the model show suspicious labels
#
# You cannot read a million rows. The model can tell you where to begin. After a short training it has seen each row once. It has learnt what most rows say, and not yet the errors by heart. So **a row with a high loss is a row where the model disagrees with the label**.
#
# **Predict.** 48 of the 1200 labels are wrong. Take the 60 rows with the highest loss. How many of the 48 are among them? By chance it would be 2 or 3.

# %% key="rank" tags=["band"]
from helpers.pictures import BLUE, RED, canvas
from helpers.planted import plant

losses = sample_losses(model, in_order, batches=100).losses
ranked = np.argsort(-losses)
is_wrong = np.isin(ranked, list(plant(1).mislabelled))
figure, axes = canvas("Training rows, highest loss first", "rank", "loss (nats)")
axes.plot(losses[ranked], color=BLUE, label="all rows")
axes.plot(np.flatnonzero(is_wrong), losses[ranked][is_wrong], "o", color=RED, ms=3, label="mislabelled")
axes.axvline(60, color="black", ls=":", label="rank 60")
axes.legend(frameon=False)
Picture(figure, f"share of the mislabelled rows that is among the 60: {is_wrong[:60].sum() / 48:.2f}")

# %% key="rank-band" tags=["hidden-assertion"]
assert 0.56 <= is_wrong[:60].sum() / 48 <= 0.92 and is_wrong.sum() == 48
assert 2 <= 60 * 48 / 1200 < 3 and not is_wrong[:60].all() and is_wrong[60:].any()

# %% [markdown] key="rank-row-text"
# Two of the rows with a high loss. Do you agree with their labels?

# %% key="rank-row"
for number in (934, 135):
    row = raw["train"][number]
    print(f"{row['premise']} | {row['hypothesis']} | {names[row['label']]}")

# %% key="rank-row-asserted" tags=["hidden-assertion"]
assert {934, 135} <= set(ranked[:30].tolist()) and {934, 135} <= planted.mislabelled.keys()

# %% [markdown] key="rank-explained"
# No: *did not greet* and *welcomed*, *hid* and *did not hide*. Both sentences cannot be true together, so both labels should be *contradiction*.
#
# You read 60 rows, 5 % of the data, and find more than half of all wrong labels.
#
# Two warnings:
#
# * **A high loss is no verdict.** Some of the 60 rows have a right label and are difficult. If you change each label with which the model disagrees, you teach it its own mistakes. Read, then decide.
# * **A low loss proves nothing.** The planted errors are random. An error that is the same in many rows, the model learns like everything else.

# %% [markdown] key="ask-text"
# ## How to ask for help
#
# Sometimes you do not find it. Then ask. Most questions get no answer for one reason: the reader cannot see the fault.
#
# | a question that waits | a question that gets an answer |
# | --- | --- |
# | "My model does not train, please help" | the error's class and the function in the title |
# | a picture of the last line | the whole traceback, as text |
# | 300 lines of a notebook | the **smallest** script that still fails |
# | "with my own data" | a few made-up rows of the same form |
# | no versions | Python, the system, each library |
# | nothing about you | what you expected, what happened, what you tried |
#
# To make the script small is half of the diagnosis: what you can take away is not the cause.
#
# `ask_for_help()` does this work. It runs a pipeline, and makes the run smaller while **the same** error stays: fewer rows, fewer steps, fewer layers. It replaces your texts by made-up words, writes four files, and runs the script in a new process.
#
# **Predict.** The next pipeline has 2400 training rows, 300 steps and 4 layers. It fails in `fit()`. How many rows does it need to fail?

# %% key="ask" tags=["band"]
import tempfile
from pathlib import Path

from helpers import ask_for_help

failing = fault("wrong_key_own_loss").pipeline()
folder = Path(tempfile.mkdtemp()) / "help"
told = ask_for_help(failing, folder)
told

# %% key="ask-asserted" tags=["hidden-assertion"]
assert told.shown and told.reduced == {"rows of train": (2400, 1), "steps": (300, 1), "layers": (4, 1)}
assert len(told.files) == 4

# %% [markdown] key="ask-small"
# One row is enough. So it is not the amount of data, not a special row, and not the depth of the model. What is left must hold the cause: the names of the columns, and what the model takes.
#
# This is what others will see.

# %% key="ask-script"
show_script((folder / "reproduce.py").read_text())

# %% key="ask-sample"
show_script((folder / "sample.json").read_text())

# %% key="ask-versions" tags=["varies"]
show_script((folder / "versions.txt").read_text())

# %% key="ask-private" tags=["hidden-assertion"]
_written = " ".join(path.read_text() for path in folder.iterdir())
_texts = [row[column] for row in failing.load()["train"] for column in ("premise", "hypothesis")]
assert not any(text in _written for text in _texts) and str(Path.home()) + "/" not in _written and str(folder) not in _written

# %% [markdown] key="ask-explained"
# * The labels, the column names and the number of words are those of your data. The words are made up.
# * `traceback.txt` has no path of your computer, and not your name. **Read the files all the same.** A comment in your code can be private, and no program knows that.
# * Your data are private by law or by contract? Then the names of columns and classes can be too. Change them.
# * A fault that raises nothing needs a function that tells it: `def symptom(pipeline): return …`, true where the fault is. Pass it: `ask_for_help(pipeline, symptom=symptom)`.
#
# Where to ask: a *question* goes to a forum. An *issue* goes to the library's project on GitHub, and only if the library breaks what its documentation promises. Search both first.
#
# What happens very often: you make the small script, and while you make it you see the fault.

# %% [markdown] key="whole-text"
# ## The whole script
#
# Lesson 01 began with a script with all its faults. Here it is, with all six repairs.
#
# **Predict.** Before you read: can you name the six repairs?

# %% key="whole"
from helpers import find_checkpoint, load_mnli  # before TensorFlow: it chooses Keras 2

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def load():
    return load_mnli(train_rows=2400, validation_rows=750)


def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)

    return raw.map(tokenize_rows, batched=True)


def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    options = dict(columns=["input_ids", "attention_mask"], label_cols="labels", batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% key="whole-is-the-arc" tags=["hidden-assertion"]
import linecache

from helpers.arc import REPAIRS, broken_script, script_after

_cell = "".join(linecache.getlines(evaluate.__code__.co_filename))
assert _cell.split() == script_after(6).split('"""')[2].split() and len(REPAIRS) == 6

# %% [markdown] key="debrief"
# And the six repairs in one view:
#
# 1. the name of the column
# 2. the labels where the loss looks: `label_cols=`
# 3. the collator, which pads the rows
# 4. `num_labels=3`
# 5. `from_logits=True`
# 6. the learning rate

# %% key="debrief-diff"
from helpers.arc import broken_script, script_after

show_diff(broken_script(), script_after(6))

# %% [markdown] key="summary"
# What to take with you:
#
# * Read rows at the very end of your pipeline, and say with how many labels you agree.
# * Compare a loss with ln C *and* with the constant answer; an accuracy with the majority.
# * Look up rows in the data that you began with. Right counts do not mean right pairs.
# * Decide what "the same text" is before you look for rows in both splits.
# * Look at the answers, not only at their score.
# * Let the loss of each row tell you which labels to read first.
# * Make the smallest run that fails. Then ask, with versions and the whole traceback.
#
# **Next:** [exercise 08](../exercises/08_check_your_data_again.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the last part of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow), which says to check the data again, and its part on asking for help. Changed here: the errors are planted, so each check is counted against them; class order, leaked rows, confusion matrix, the ranking by loss and `ask_for_help()` are new; the repaired script is shown.
