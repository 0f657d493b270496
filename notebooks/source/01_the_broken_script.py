# %% [markdown] key="title"
# # 01 · The broken script
#
# ★☆☆ · 25 minutes
#
# After this lesson you can read a long TensorFlow traceback, walk through a training pipeline stage by stage, and say in which stage it goes wrong.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import Pipeline, explain_error, fault, look_at_batch, show_diff, show_script, walk

import tensorflow as tf

# %% [markdown] key="red-text"
# `helpers` stands first because it chooses Keras 2. The TensorFlow models of Transformers are built on Keras 2; TensorFlow alone would take Keras 3.
#
# Red text under a cell is not always an error. **An error stops the cell, and ends with its class, such as `ValueError`.** Other red text is a warning. You will meet these here:
#
# * Lines with `absl`, `oneDNN`, `cuda drivers` or `cuInit`: TensorFlow says how it computes, and that there is no GPU. The course needs none.
# * `Some weights … are newly initialized`: the checkpoint (the saved weights) has no head (last layers) for this task, so the model gets a fresh one. That is what we want.
# * `Some weights … were not used`: the checkpoint has a head for another task, guessing hidden words. It is left out. That is right too.
# * `TensorFlow and JAX classes are deprecated`: true, and the reason why the course pins its versions.

# %% [markdown] key="script-text"
# ## The script
#
# The script below fine-tunes DistilBERT on MNLI. It has seven functions, in the order in which the data flow through them:
#
# `load` → `tokenize` → `batch` → `build_model` → `compile_model` → `fit` → `evaluate`
#
# **Predict.** Read it once. Will it run? If not, which function fails first?

# %% key="script"
from helpers import find_checkpoint, load_mnli
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification

checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def load():
    return load_mnli(train_rows=2400, validation_rows=750)


def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)

    return raw.map(tokenize_rows, batched=True)


def batch(tokenized):
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint)


def compile_model(model):
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% key="script-is-the-arc" tags=["hidden-assertion"]
import inspect

from helpers.arc import broken_script

for function in (load, tokenize, batch, build_model, compile_model, fit, evaluate):
    assert inspect.getsource(function) in broken_script()

# %% [markdown] key="run-first"
# ## Run it
#
# The next cell runs the functions one after the other, as the script would.

# %% key="run-1" tags=["raises-exception"] error="ValueError"
raw = load()
tokenized = tokenize(raw)
train, validation = batch(tokenized)
model = build_model()
compile_model(model)
fit(model, train, validation)

# %% [markdown] key="read-first"
# ### Read a traceback from its end
#
# 1. **Go up from the end to a line that begins with the name of an error**, such as `ValueError:`. Mostly it is the very last line. It says what happened: there is no column `labels`.
# 2. **Your own lines** stand under a header `Cell In[…]`, the lines of libraries under a header `File …`. An arrow `---->` marks the line that ran. Start with the lowest arrow that is in a cell of yours: here, the line with `to_tf_dataset` in `batch`.
# 3. Everything else is code of the libraries. You read it only when 1 and 2 were not enough.
#
# So `fit()` was never reached. The data were wrong before.

# %% [markdown] key="evidence-1"
# ### Evidence
#
# Which columns are there?

# %% key="columns"
tokenized["train"].column_names

# %% [markdown] key="explain-1-tool"
# ### Explain
#
# `explain_error()` reads the last error of this notebook: its stage, your own line, what it means today, and where to look.

# %% key="explain-1"
explain_error()

# %% [markdown] key="explain-1-text"
# MNLI calls its column `label`, without an s. (You will also meet scripts that ask for `labels` and work. They have a *collator*: a function that makes one batch out of several rows. `DataCollatorWithPadding` pads the rows to one length, and renames `label` to `labels`. This script has no collator.)
#
# In 2021 the script failed later, in `fit()`. Today `to_tf_dataset` stops at a name that it cannot find. That is good: an early error is a cheap error.
#
# ### Repair
#
# Take the letter s away. That removes this error. Whether the labels are now where the loss looks for them, the next run will tell.

# %% key="batch-2"
def batch(tokenized):
    options = dict(columns=["input_ids", "attention_mask", "label"], batch_size=8)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


# %% [markdown] key="predict-2"
# **Predict.** Will `fit()` run now?

# %% key="run-2" tags=["raises-exception"] error="ValueError"
train, validation = batch(tokenized)
model = build_model()
compile_model(model)
fit(model, train, validation)

# %% [markdown] key="read-second"
# ### A long traceback
#
# This one is long. Read it in the same way.
#
# 1. **The line that names the error:** no label column was found in the inputs, and no separate labels were given. A batch can have two forms: a dict of inputs, with the labels among them, or a pair (x, y), inputs and labels. Here it is a dict, and the loss does not find them in it.
# 2. **Your own lines:** only `fit(model, train, validation)` and the `model.fit(…)` inside it. They tell you *when* it happened, not *why*.
# 3. **"in user code"** sounds as if the code were yours. It is not: TensorFlow turns the training step into a *graph*, a form that runs faster than Python. All code that it turns into a graph it calls "user code", the functions of Keras and Transformers too.
#
# `explain_error()` picks out the same things.

# %% key="explain-2"
explain_error()

# %% key="most-lines-are-not-yours" tags=["hidden-assertion"]
import sys

from helpers.probes.frames import frames_of, is_own

_frames = frames_of(sys.last_value)
_own = [f for f in _frames if is_own(f.filename)]
assert "in user code" in str(sys.last_value)
assert str(sys.last_value).strip().splitlines()[-1].strip().startswith("ValueError: Could not find label column(s)")
assert 1 <= len(_own) <= 3, _own

# %% [markdown] key="eagerly"
# ### Run it eagerly
#
# A graph is hard to read when it fails. With `run_eagerly=True` Keras runs the training step as plain Python: no "in user code", the calls stand in their order, and `print` and a debugger work in it. (Metrics and validation data play no part here, so the cell leaves them out.)
#
# **Predict.** Will the error be the same one?

# %% key="run-eagerly" tags=["raises-exception"] error="InvalidArgumentError"
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", run_eagerly=True)
model.fit(train)

# %% key="explain-3"
explain_error()

# %% key="no-user-code-now" tags=["hidden-assertion"]
_lines = str(sys.last_value).strip().splitlines()
assert "in user code" not in str(sys.last_value) and "user-defined function" in str(sys.last_value)
assert "node" in _lines[-1] and "same shape" in [line for line in _lines if line.startswith("ValueError:")][-1]

# %% [markdown] key="eagerly-explained"
# It is another error! The rows of a batch differ in length.
#
# (The traceback is still long. `run_eagerly` changes the training step only; the data set is still a graph. So the last line names a node of that graph, and "user-defined function" is again not yours. Go up to the last line that begins with `ValueError:`.)
#
# Both faults are in the script, and each error is real. The graph is built *before* the first batch is read, so `fit()` met the missing labels first. When it runs eagerly, `fit()` reads a batch first. So it met the rows of different length.
#
# A script often has more than one fault, and an error tells you about one of them: the first that is met. This is why we do not stare at `fit()`. We walk through the pipeline, in the order of the data.

# %% [markdown] key="walk-text"
# ## Walk through a pipeline that works
#
# To see what is wrong, you must know what right looks like. Here is a healthy pipeline for the same task. It differs from the broken script in more than the labels and the padding; the next lessons come to the rest. We walk through it by hand.

# %% key="healthy"
healthy = helpers.pipeline_from_script(helpers.healthy_script(), "healthy script")
show_script(helpers.healthy_script())

# %% [markdown] key="stage-raw"
# **A raw row.** Can you judge it yourself? If you cannot, read more rows before you blame the model.

# %% key="raw-row"
raw = healthy.load()
row = raw["train"][1]
print(row["premise"])
print(row["hypothesis"])
print(row["label"], "=", raw["train"].features["label"].int2str(row["label"]))

# %% [markdown] key="stage-tokenized"
# **A tokenized row.** Turn the numbers back into text. It must be the row you just read: two sentences between `[CLS]`, `[SEP]` and `[SEP]`.

# %% key="tokenized-row"
tokenized = healthy.tokenize(raw)
ids = tokenized["train"][1]["input_ids"]
print(ids)
print(tokenizer.decode(ids))

# %% [markdown] key="stage-batch"
# **A batch.** Look at the container, the keys, the shapes, the dtypes and the labels. The labels are among the inputs, under `labels`: the padding collator renamed the column on the way.

# %% key="batch"
tf.keras.utils.set_random_seed(1)
train, validation = healthy.batch(tokenized)
one_batch = next(iter(validation))
look_at_batch(one_batch)

# %% [markdown] key="stage-forward"
# **The forward pass.** It gives *logits*: raw scores, not yet probabilities. There is one row for each sentence pair, and one column for each of the three labels.

# %% key="forward"
model = healthy.build_model()
healthy.compile_model(model)
output = model(one_batch)
output.logits.shape

# %% [markdown] key="stage-loss"
# **The loss.** This model computes it itself, because the batch has `labels`. Nothing is trained yet, so the model guesses among three classes. The loss is the negative logarithm of the probability of the right class. With one third for each class, it is −ln(1/3) = ln 3 ≈ 1.10. A fresh head does not guess quite evenly, so the loss is only near it.

# %% key="loss" tags=["band"]
print(f"loss of one batch before training: {float(tf.reduce_mean(output.loss)):.2f}")

# %% key="loss-near-chance" tags=["hidden-assertion"]
import math

assert abs(float(tf.reduce_mean(output.loss)) - math.log(3)) < 0.15
assert round(math.log(3), 2) == 1.10

# %% [markdown] key="stage-gradients"
# **The gradients.** A `GradientTape` watches the forward pass and gives one gradient for each weight tensor. `None` would mean: no path from the loss to this weight.

# %% key="gradients"
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(one_batch, training=True).loss)
gradients = tape.gradient(loss, model.trainable_variables)
print(len(gradients), "weight tensors,", sum(g is None for g in gradients), "without a gradient")

# %% key="no-gradient-is-none" tags=["hidden-assertion"]
assert all(g is not None for g in gradients)

# %% [markdown] key="stage-update"
# **The update.** The optimizer changes every weight tensor a little. This is the largest change in the first tensor, the word embeddings. It is the learning rate, 5e-5: the first step of Adam is that large.

# %% key="update"
before = model.trainable_variables[0].numpy()
model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
change = abs(model.trainable_variables[0].numpy() - before).max()
print(f"largest change of a weight: {change:.0e}")

# %% key="update-is-the-rate" tags=["hidden-assertion"]
assert 4e-5 < change < 6e-5

# %% [markdown] key="stage-metric"
# **The metric.** Evaluate *before* you train. You learn whether the evaluation runs, and you get the number that training has to beat. With three classes of equal size, guessing gives about one third. An untrained head does not guess evenly, so the accuracy can differ a little from one third.

# %% key="metric" tags=["band"]
untrained = healthy.build_model()
healthy.compile_model(untrained)
scores = untrained.evaluate(validation, return_dict=True, verbose=0)
print(f"before training: loss {scores['loss']:.2f}, accuracy {scores['accuracy']:.2f}")

# %% key="metric-near-chance" tags=["hidden-assertion"]
assert abs(scores["loss"] - math.log(3)) < 0.15 and 0.2 < scores["accuracy"] < 0.47

# %% [markdown] key="walk-tool"
# ## The same walk, in one call
#
# `walk()` does what you just did: it runs the stages of a pipeline, with one batch of training, and shows what came out of each. Most stages are the functions of the script. `fit` is shown as four: forward, loss, gradients, update.
#
# | mark | meaning |
# | --- | --- |
# | `ok` | the stage ran |
# | `FAILS` | the error belongs to this stage; the line under it says what it means |
# | `-` below `FAILS` | the walk did not get there |
# | `-` above `FAILS` | the error came before this stage could be looked at alone |
#
# Here it is for our broken script.
#
# **Predict.** At which stage will it stop?

# %% key="walk-broken"
broken = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
walk(broken)

# %% [markdown] key="walk-explained"
# The walk goes in the order of the data, so it meets the rows of different length first. `fit()` built its graph first and told us about the labels. Both must be repaired, and they are not the last faults of this script. Lesson 02 goes on there.

# %% key="walk-claims" tags=["hidden-assertion"]
_seen = walk(broken)
assert _seen.failing_stage == "batch" and "same shape" in _seen.message

# %% [markdown] key="no-gradients"
# ## "No gradients provided": what it was, what it is
#
# In 2021 this script failed with one sentence: *No gradients provided for any variable*. The labels never reached the loss, so there was nothing to differentiate. Today the libraries find the same mistakes earlier, and say it in other words.
#
# Here are three errors of today that come from the same mistake, and one script that still raises the sentence of 2021. Each is raised in `fit()` while its cell runs. Before each error you see the change that repairs it: `-` is the broken line, `+` the repaired one. In `your line`, a name such as `<no_labels 4>` stands for the script of that fault.


# %% key="raise-in-fit"
def error_in_fit(pipeline):
    train, validation = pipeline.batch(pipeline.tokenize(pipeline.load()))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    try:
        pipeline.fit(model, train, validation)
    except Exception as error:
        return explain_error(error)


# %% [markdown] key="relative-1"
# **The labels lie under a wrong key, and `compile()` names a Keras loss:** `loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)`.

# %% key="relative-1-diff"
fault("wrong_key_keras_loss").diff
# %% key="relative-1-run"
error_in_fit(fault("wrong_key_keras_loss").pipeline())

# %% [markdown] key="relative-2"
# **The labels lie under a wrong key, and the model has to compute its own loss:** `compile()` has no `loss=`.

# %% key="relative-2-diff"
fault("wrong_key_own_loss").diff

# %% key="relative-2-run"
error_in_fit(fault("wrong_key_own_loss").pipeline())

# %% [markdown] key="relative-3"
# **There are no labels at all.**

# %% key="relative-3-diff"
fault("no_labels").diff

# %% key="relative-3-run"
error_in_fit(fault("no_labels").pipeline())

# %% [markdown] key="relative-3-stage"
# The error is raised where the gradients are taken. Its cause lies one stage earlier: there is no loss. So `walk()` names the stage `loss`.

# %% key="relative-3-walk"
walk(fault("no_labels").pipeline()).failing_stage

# %% [markdown] key="relative-4"
# **There is a loss, but no gradient can flow through it.** The sentence of 2021 is still alive.

# %% key="relative-4-diff"
fault("no_gradient").diff

# %% key="relative-4-run"
error_in_fit(fault("no_gradient").pipeline())

# %% [markdown] key="relative-4-why"
# `argmax` gives a whole number. When a weight changes a little, that number stays the same. So it tells no weight which way to go: it has no gradient.

# %% [markdown] key="debrief"
# ## Debrief
#
# The repair of this lesson is one word in one line. The script still does not run: lesson 02 repairs the labels and the rows of different length.

# %% key="debrief-diff"
from helpers.arc import script_after

show_diff(script_after(0), script_after(1))

# %% [markdown] key="summary"
# What to take with you:
#
# * Read a traceback from its end: the last line that begins with the name of an error, then your own lines.
# * An error names the first fault that is met, not the only one, and not always the earliest in the data.
# * Walk through the pipeline: raw row, tokenized row, batch, forward pass, loss, gradients, update, metric.
# * Evaluate before you train.
#
# **Next:** [exercise 01](../exercises/01_the_broken_script.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the first section of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). Changed here: the script is written as seven functions and reads the course's own data; it keeps `attention_mask` among its columns; its first error is the one that today's libraries raise.
