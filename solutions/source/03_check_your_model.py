# %% [markdown] key="title"
# # Exercise 03 · Check your model
#
# ★★☆ · 35 minutes · 3 tasks
#
# Each task ends with a check. A check tells you what holds and what does not yet hold. Run it as often as you like.

# %% key="setup"
# helpers come before TensorFlow: they choose Keras 2
from helpers import Pipeline, audit_labels, check_diagnosis, check_repair, find_checkpoint, gradients_of, hint, load_mnli
from helpers import loss_at_start, sample_losses, unseen_pipeline, walk

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time

# %% [markdown] key="task-1"
# ## Task 1: name the fault
#
# Three pipelines, `03/a`, `03/b` and `03/c`, are broken. You cannot see their code. Each has one of these faults:
#
# | fault | what it is |
# | --- | --- |
# | `"two_outputs"` | the head has two outputs, and there are three labels |
# | `"one_output"` | the head has one output: the model takes its task for a regression |
# | `"rows_to_ignore"` | some rows have the label -100, "leave this out" |
# | `"labels_from_one"` | the labels are counted from 1, not from 0 |
# | `"other_class_names"` | the model gives the classes other names than the data |
# | `"zero_by_zero"` | somewhere 0 is divided by 0 |
#
# Say for each: the **fault**, and the **evidence** as `(probe, field, value)`. The check runs the probe itself and compares. These are the probes and their fields:
#
# | probe | call | fields |
# | --- | --- | --- |
# | `"walk"` | `walk(unseen_pipeline("03/a"))` | `message`, `error_class`, `failing_stage` |
# | `"audit_labels"` | `audit_labels(train, model, names)` | `rows`, `counts`, `form`, `outputs`, `names` |
# | `"loss_at_start"` | `loss_at_start(model, train)` | `loss`, `cross_entropy`, `chance`, `owner` |
# | `"sample_losses"` | `sample_losses(model, train, batches=4)` | `error` |
# | `"gradients_of"` | `gradients_of(model, train)` | `trainable`, `loss` |
#
# Of a message, a part is enough. A field can have another name than the printed line. You need not copy a number: after `seen = …`, write `seen.` and the name of the field.

# %% [markdown] key="parts-text"
# This function runs a pipeline until its model is compiled. It trains nothing. It returns what the probes want.


# %% key="parts"
def parts_of(name):
    pipeline = unseen_pipeline(name)
    raw = pipeline.load()
    train, validation = pipeline.batch(pipeline.tokenize(raw))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    return train, model, raw["train"].features["label"].names


# %% key="look-a" tags=["band"]
train, model, names = parts_of("03/a")
sample_losses(model, train, batches=4)

# %% key="a-rows-are-finite" tags=["solution-only", "hidden-assertion"]
assert sample_losses(model, train, batches=4).bad == []

# %% [markdown] key="look-on"
# Look with other probes too. For a new cell, press **B**. For the next pipeline, write `train, model, names = parts_of("03/b")`, and below it a probe of the table.

# %% key="look-a-again" tags=["solution-only", "band"]
loss_at_start(model, train)

# %% key="a-is-nan" tags=["solution-only", "hidden-assertion"]
import math

assert math.isnan(loss_at_start(model, train).loss)

# %% key="look-b" tags=["solution-only", "band"]
train, model, names = parts_of("03/b")
audit_labels(train, model, names)

# %% key="b-has-one-output" tags=["solution-only", "hidden-assertion"]
assert audit_labels(train, model, names).outputs == 1

# %% key="look-c" tags=["solution-only", "band"] device="CPU"
train, model, names = parts_of("03/c")
seen = sample_losses(model, train, batches=4)
seen

# %% key="c-has-minus-100" tags=["solution-only", "hidden-assertion"]
assert {seen.labels[row] for row in seen.bad} == {-100}

# %% [markdown] key="answer-1"
# Write your answers here. NaN is written `float("nan")`.
#
# Need help? Press **B** for a new cell, and run `hint("03/name_the_fault")` in it. Each call shows one hint more.

# %% key="answers" tags=["task"]
# solution: begin
fault_a = "zero_by_zero"
evidence_a = ("loss_at_start", "loss", float("nan"))
# solution: end
# exercise: begin
#| fault_a = "…"
#| evidence_a = ("…", "…", "…")
# exercise: end

# solution: begin
fault_b = "one_output"
evidence_b = ("audit_labels", "outputs", 1)
# solution: end
# exercise: begin
#| fault_b = "…"
#| evidence_b = ("…", "…", "…")
# exercise: end

# solution: begin
fault_c = "rows_to_ignore"
evidence_c = ("sample_losses", "error", seen.error)
# solution: end
# exercise: begin
#| fault_c = "…"
#| evidence_c = ("…", "…", "…")
# exercise: end

# %% key="check-a" tags=["check"]
check_diagnosis("03/a", fault_a, evidence_a)

# %% key="check-b" tags=["check"]
check_diagnosis("03/b", fault_b, evidence_b)

# %% key="check-c" tags=["check"]
check_diagnosis("03/c", fault_c, evidence_c)

# %% [markdown] key="task-2"
# ## Task 2: repair the head
#
# The script below fails in `fit()`. Repair it. Change as little as you can, and keep all rows and all labels. The check takes 10 to 20 seconds.
#
# Need help? `hint("03/the_head")`.

# %% key="script" tags=["task"]
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
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    # solution: begin
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
    # solution: end
    # exercise: begin
    #| return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)
    # exercise: end


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% key="check-head" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("03/the_head", pipeline)

# %% [markdown] key="task-3"
# ## Task 3: a model that is loaded again
#
# Someone wants every training to begin with a fresh model. So `fit()` loads it anew. The other six functions are as in task 2, repaired.
#
# **Predict.** Which error comes back? And when it is gone, which model does `evaluate()` score?
#
# Repair the script. The check takes 10 to 30 seconds.
#
# Need help? `hint("03/loaded_again")`.


# %% key="script-3" tags=["task"]
def fit(model, train, validation):
    # solution: begin
    # The model that is given is a fresh one: build_model() has just loaded it.
    # solution: end
    # exercise: begin
    #| model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint)
    #| compile_model(model)
    # exercise: end
    return model.fit(train, validation_data=validation, epochs=1)


# %% key="check-again" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("03/loaded_again", pipeline)

# %% [markdown] key="next"
# **Next:** compare your work with the [worked copy](../solutions/03_check_your_model.ipynb).
