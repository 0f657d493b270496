# %% [markdown] key="title"
# # Exercise 04 · Check your hyperparameters
#
# ★★☆ · 35 minutes · 3 tasks, and one more if you like
#
# Each task ends with a check. A check tells you what holds and what does not yet hold. Run it as often as you like.

# %% key="setup"
# helpers come before TensorFlow: they choose Keras 2
from helpers import Pipeline, check_diagnosis, check_repair, compare_builds, find_checkpoint, gradients_of, hint, load_mnli
from helpers import loss_at_start, one_step, rate_over_time, unseen_pipeline

import functools

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time

# %% [markdown] key="task-1"
# ## Task 1: name the fault
#
# Three pipelines, `04/a`, `04/b` and `04/c`, run without an error, and their training goes wrong. You cannot see their code. Each has one of these faults:
#
# | fault | what it is |
# | --- | --- |
# | `"adam_string"` | the optimizer is a string, with a rate that is too high |
# | `"unknown_steps"` | a schedule of a length that is not known, so the rate is 0 |
# | `"too_few_steps"` | a schedule that ends long before the training |
# | `"frozen"` | the encoder is frozen |
# | `"kept_model"` | the model is the one of the run before |
# | `"string_loss"` | the loss takes logits for probabilities |
#
# Say for each: the **fault**, and the **evidence** as `(probe, field, value)`. The check runs the probe itself and compares. A number need not be exact: near is enough. A field can have another name than the printed line. You need not copy a number: after `seen = …`, write `seen.` and the name of the field. These are the probes and their fields:
#
# | probe | call | fields |
# | --- | --- | --- |
# | `"rate_over_time"` | `rate_over_time(model, 300)` | `first`, `middle`, `last`, `highest`, `steps` |
# | `"one_step"` | `one_step(model, train)` | `weights`, `free`, `moved`, `largest` |
# | `"gradients_of"` | `gradients_of(model, train)` | `trainable`, `loss` |
# | `"compare_builds"` | `compare_builds(pipeline.build_model)` | `encoder`, `head` |
# | `"loss_at_start"` | `loss_at_start(model, train)` | `loss`, `cross_entropy`, `chance`, `owner` |
#
# The 300 are the steps of the training: one epoch of 300 batches.

# %% [markdown] key="parts-text"
# This function runs a pipeline until its model is compiled. It trains nothing. It returns what the probes want.


# %% key="parts"
def parts_of(name):
    pipeline = unseen_pipeline(name)
    raw = pipeline.load()
    train, validation = pipeline.batch(pipeline.tokenize(raw))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    return pipeline, train, model


# %% key="look-a"
pipeline, train, model = parts_of("04/a")
rate_over_time(model, 300)

# %% [markdown] key="look-on"
# Look with other probes too. For a new cell, press **B**. For the next pipeline, write `pipeline, train, model = parts_of("04/b")`, and below it a probe of the table. `one_step()` changes the model: run `parts_of()` again after it.

# %% key="look-b" tags=["solution-only"]
pipeline, train, model = parts_of("04/b")
print(rate_over_time(model, 300))
compare_builds(pipeline.build_model)

# %% key="look-c" tags=["solution-only"]
pipeline, train, model = parts_of("04/c")
print(rate_over_time(model, 300))
one_step(model, train)

# %% [markdown] key="answer-1"
# Write your answers here. Need help? Press **B** for a new cell, and run `hint("04/name_the_fault")` in it. Each call shows one hint more.

# %% key="answers" tags=["task"]
# solution: begin
fault_a = "too_few_steps"
evidence_a = ("rate_over_time", "middle", 0.0)
# solution: end
# exercise: begin
#| fault_a = "…"
#| evidence_a = ("…", "…", "…")
# exercise: end

# solution: begin
fault_b = "kept_model"
evidence_b = ("compare_builds", "head", (4, 4))
# solution: end
# exercise: begin
#| fault_b = "…"
#| evidence_b = ("…", "…", "…")
# exercise: end

# solution: begin
fault_c = "unknown_steps"
evidence_c = ("rate_over_time", "highest", 0.0)
# solution: end
# exercise: begin
#| fault_c = "…"
#| evidence_c = ("…", "…", "…")
# exercise: end

# %% key="check-a" tags=["check"]
check_diagnosis("04/a", fault_a, evidence_a)

# %% key="check-b" tags=["check"]
check_diagnosis("04/b", fault_b, evidence_b)

# %% key="check-c" tags=["check"]
check_diagnosis("04/c", fault_c, evidence_c)

# %% [markdown] key="task-2"
# ## Task 2: repair the learning rate
#
# The script below runs, and its loss stays near ln 3. Repair it. Change as little as you can, and keep all rows. The check takes 10 to 20 seconds.
#
# Need help? `hint("04/the_rate")`.

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
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    # solution: begin
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])
    # solution: end
    # exercise: begin
    #| model.compile(optimizer="adam", metrics=["accuracy"])
    # exercise: end


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% [markdown] key="look-first"
# First look, then change. How far does one step move a weight?

# %% key="step"
train, validation = batch(tokenize(load()))
model = build_model()
compile_model(model)
one_step(model, train)

# %% key="check-the-rate" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("04/the_rate", pipeline)

# %% [markdown] key="task-3"
# ## Task 3: repair the model that remembers
#
# Somebody found that loading the model takes long, and let `build_model` keep it. The first run had a wrong rate. The rate is right now, and each new run still gives the accuracy of guessing.
#
# `load`, `tokenize`, `batch`, `fit` and `evaluate` stay as they are above. Repair the script, so that each run starts from the pretrained weights.
#
# Need help? `hint("04/the_kept_model")`.

# %% key="script-3" tags=["task"]
# solution: begin
# each call reads the checkpoint anew
# solution: end
# exercise: begin
#| @functools.cache
# exercise: end
def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    optimizer = tf.keras.optimizers.Adam(5e-5)
    model.compile(optimizer=optimizer, metrics=["accuracy"])


# %% key="builds"
compare_builds(build_model)

# %% key="check-the-kept-model" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("04/the_kept_model", pipeline)

# %% [markdown] key="task-4"
# ## Task 4, if you like: repair the schedule
#
# Somebody first trained with batches of 64 rows. Then memory was short, and the batches were cut to 8 rows. Only `compile_model` is different from the script above; `build_model` is the one that you repaired in task 3.
#
# Need help? `hint("04/the_schedule")`.

# %% key="script-4" tags=["task"]
def compile_model(model):
    # solution: begin
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(5e-5, decay_steps=2400 // 8, end_learning_rate=0.0)
    # solution: end
    # exercise: begin
    #| schedule = tf.keras.optimizers.schedules.PolynomialDecay(5e-5, decay_steps=2400 // 64, end_learning_rate=0.0)
    # exercise: end
    model.compile(optimizer=tf.keras.optimizers.Adam(schedule), metrics=["accuracy"])


# %% key="check-the-schedule" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("04/the_schedule", pipeline)

# %% [markdown] key="next"
# **Next:** compare your work with the [worked copy](../solutions/04_check_your_hyperparameters.ipynb).
