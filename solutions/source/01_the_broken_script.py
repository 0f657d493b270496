# %% [markdown] key="title"
# # Exercise 01 · The broken script
#
# ★☆☆ · 30 minutes · 3 tasks
#
# Each task ends with a check. A check tells you what holds and what does not yet hold. Run it as often as you like.

# %% key="setup"
# helpers come before TensorFlow: they choose Keras 2
from helpers import Pipeline, check_diagnosis, check_repair, explain_error
from helpers import find_checkpoint, hint, load_mnli, look_at_batch, unseen_pipeline, walk, without_autotune

import tensorflow as tf
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time

# %% [markdown] key="task-1"
# ## Task 1: name the failing stage
#
# Three pipelines, `a`, `b` and `c`, are broken. You cannot see their code. Walk through each and say:
#
# * **stage**: the stage that fails first, as `walk()` names it;
# * **evidence**: what shows it, as `(probe, field, value)`. The value is what you read in that field, for example `seen_a.message`. A part of a long message is enough.
#
# The form is, for example, `("look_at_batch", "rows", 8)`. The check runs the probe itself and compares. These are the probes and their fields:
#
# | probe | call | fields |
# | --- | --- | --- |
# | `"walk"` | `walk(unseen_pipeline("a"))` | `message`, `error_class`, `failing_stage` |
# | `"look_at_batch"` | `look_at_batch(unseen_pipeline("a"))` | `container`, `keys`, `shapes`, `dtypes`, `labels_at`, `labels`, `rows`, `padded` |
#
# `message` is the line after `FAILS`. The line under it is a comment of the course. `failing_stage` is your answer, and `error_class` names no cause: neither is evidence.

# %% key="walk-a"
seen_a = walk(unseen_pipeline("a"))
seen_a

# %% key="walk-b" tags=["band"]
seen_b = walk(unseen_pipeline("b"))
seen_b

# %% key="walk-b-stops" tags=["solution-only", "hidden-assertion"]
assert seen_b.failing_stage == "loss"

# %% key="walk-c" tags=["band"]
seen_c = walk(unseen_pipeline("c"))
seen_c

# %% key="walk-c-stops" tags=["solution-only", "hidden-assertion"]
assert seen_c.failing_stage == "gradients"

# %% [markdown] key="answer-1"
# Write your answers here. Need help? Press **B** for a new cell, and run `hint("01/name_the_stage")` in it. Each call shows one hint more.

# %% key="answers" tags=["task"]
# solution: begin
stage_a = "batch"
evidence_a = ("walk", "message", "all input arrays must have the same shape")
# solution: end
# exercise: begin
#| stage_a = "…"
#| evidence_a = ("…", "…", "…")
# exercise: end

# solution: begin
print(look_at_batch(unseen_pipeline("b")))
stage_b = "loss"
evidence_b = ("look_at_batch", "keys", ["input_ids", "attention_mask"])
# solution: end
# exercise: begin
#| stage_b = "…"
#| evidence_b = ("…", "…", "…")
# exercise: end

# solution: begin
stage_c = "gradients"
evidence_c = ("walk", "message", "No gradients provided for any variable")
# solution: end
# exercise: begin
#| stage_c = "…"
#| evidence_c = ("…", "…", "…")
# exercise: end

# %% key="check-a" tags=["check"]
check_diagnosis("a", stage_a, evidence_a)

# %% key="check-b" tags=["check"]
check_diagnosis("b", stage_b, evidence_b)

# %% key="check-c" tags=["check"]
check_diagnosis("c", stage_c, evidence_c)

# %% [markdown] key="task-2"
# ## Task 2: repair the script, with the model's own loss
#
# The script below pads its rows in the tokenizer. It still fails in `fit()`. Repair it so that **the model computes its own loss**. Change as little as you can, and keep all rows. The check takes 10 to 20 seconds.
#
# Need help? `hint("01/own_loss")`.

# %% key="script" tags=["task"]
checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def load():
    return load_mnli(train_rows=2400, validation_rows=750)


def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, padding="max_length", max_length=64)

    # solution: begin
    return raw.map(tokenize_rows, batched=True).rename_column("label", "labels")
    # solution: end
    # exercise: begin
    #| return raw.map(tokenize_rows, batched=True)
    # exercise: end


def batch(tokenized):
    # solution: begin
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8)
    # solution: end
    # exercise: begin
    #| options = dict(columns=["input_ids", "attention_mask", "label"], batch_size=8)
    # exercise: end
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    # solution: begin
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])
    # solution: end
    # exercise: begin
    #| model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    # exercise: end


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% [markdown] key="look-first"
# First look, then change. What does the walk say, and what is in a batch?

# %% key="walk-script" tags=["band"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
seen = walk(pipeline)
seen

# %% key="walk-script-ends" tags=["solution-only", "hidden-assertion"]
assert seen.failing_stage is None

# %% key="check-own-loss" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("01/own_loss", pipeline)

# %% [markdown] key="task-3"
# ## Task 3: repair it again, with a Keras loss
#
# Now start again from the broken script, and repair it so that **a Keras loss** computes the loss. `load`, `build_model`, `fit` and `evaluate` stay as they are above. A change in one of these three functions is enough.
#
# Need help? `hint("01/keras_loss")`.

# %% key="script-3" tags=["task"]
def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, padding="max_length", max_length=64)

    return raw.map(tokenize_rows, batched=True)


def batch(tokenized):
    # solution: begin
    options = dict(columns=["input_ids", "attention_mask"], label_cols="label", batch_size=8)
    # solution: end
    # exercise: begin
    #| options = dict(columns=["input_ids", "attention_mask", "label"], batch_size=8)
    # exercise: end
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def compile_model(model):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss=loss, metrics=["accuracy"])


# %% key="check-keras-loss" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("01/keras_loss", pipeline)

# %% [markdown] key="done"
# ## Does it train?
#
# The check trains five steps. That cannot tell you how a whole training goes. Take the `#` away from the lines below and train your repaired script for one epoch. It takes about 40 seconds on two cores. `val_accuracy`, the accuracy on the validation rows, should be above 0.9; a guess gives one third. `without_autotune` gives the same batches: without it, `fit()` can take 20 seconds more to end.

# %% key="train" tags=["solution-only", "band"]
train, validation = map(without_autotune, batch(tokenize(load())))
model = build_model()
compile_model(model)
accuracy = fit(model, train, validation).history["val_accuracy"][-1]
print(f"accuracy {accuracy:.2f}")

# %% key="train-band" tags=["solution-only", "hidden-assertion"]
assert accuracy > 0.9

# %% key="train-yourself" tags=["exercise-only"]
# train, validation = map(without_autotune, batch(tokenize(load())))
# model = build_model()
# compile_model(model)
# history = fit(model, train, validation)

# %% [markdown] key="next"
# **Next:** compare your work with the [worked copy](../solutions/01_the_broken_script.ipynb).
