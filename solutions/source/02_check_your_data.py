# %% [markdown] key="title"
# # Exercise 02 · Check your data
#
# ★★☆ · 40 minutes · 3 tasks
#
# Each task ends with a check. A check tells you what holds and what does not yet hold. Run it as often as you like.

# %% key="setup"
# helpers come before TensorFlow: they choose Keras 2
from helpers import Pipeline, audit_labels, check_diagnosis, check_repair, decode_batch, hint, look_at_batch, loss_at_start
from helpers import draw_batch, find_checkpoint, load_mnli, padding_invariance, unseen_pipeline

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time
checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)

# %% [markdown] key="task-1"
# ## Task 1: name the fault, and show it
#
# Three pipelines, `02/a`, `02/b` and `02/c`, are broken. You cannot see their code. None of them raises an error. Say of each:
#
# * **the fault**, by its name;
# * **the evidence**, as `(probe, field, value)`: a number or a word that shows it.
#
# The faults to choose from:
#
# | name | what is wrong |
# | --- | --- |
# | `no_mask` | the batch has no mask |
# | `mask_of_ones` | the mask is 1 at padding too |
# | `cased_tokenizer` | words with capitals are unknown to the tokenizer |
# | `cut_at_eight` | the texts are cut |
# | `string_loss` | the loss takes logits for probabilities |
# | `mean_squared_error` | the loss is the squared error |
# | `one_output` | the head has one output |
# | `softmax_twice` | the softmax is applied twice |
#
# The probes, and the fields that can be evidence:
#
# | probe | call | fields |
# | --- | --- | --- |
# | `"look_at_batch"` | `look_at_batch(train)` | `container`, `keys`, `shapes`, `dtypes`, `labels_at`, `labels`, `rows`, `padded` |
# | `"decode_batch"` | `decode_batch(train, tokenizer, model)` | `unknown`, `cut`, `longest`, `vocabulary` |
# | `"padding_invariance"` | `padding_invariance(model, train)` | `padded`, `masked`, `change` |
# | `"audit_labels"` | `audit_labels(train, model)` | `rows`, `counts`, `form`, `outputs`, `names` |
# | `"loss_at_start"` | `loss_at_start(model, train)` | `loss`, `cross_entropy`, `chance`, `owner` |
#
# The answer of a probe is an object. Print it, then read one field: `seen = padding_invariance(model, train)`, `seen.change`. A field can have another name than the printed line. You need not copy a number: write `seen.change` in the evidence. The check measures it again. A number need not be exact: near is enough.


# %% key="parts"
def parts(pipeline):
    train, validation = pipeline.batch(pipeline.tokenize(pipeline.load()))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    return train, validation, model


# %% [markdown] key="task-1-look"
# There is one cell for each pipeline. Run it, then add other probes of the table to the same cell. Need help? Press **B** for a new cell, and run `hint("02/name_the_fault")` in it. Each call shows one hint more.

# %% key="look-a" tags=["task", "band"]
train, validation, model = parts(unseen_pipeline("02/a"))
# solution: begin
seen_a = padding_invariance(model, train)
print(seen_a)
draw_batch(next(iter(train)), tokenizer)
# solution: end
# exercise: begin
#| look_at_batch(train, model)
# exercise: end

# %% key="look-a-true" tags=["solution-only", "hidden-assertion"]
assert set(seen_a.findings) == {"mask_covers_padding"} and 0.01 < seen_a.change < 0.5

# %% key="look-b" tags=["task"]
train, validation, model = parts(unseen_pipeline("02/b"))
# solution: begin
seen_b = decode_batch(train, tokenizer, model)
seen_b
# solution: end
# exercise: begin
#| look_at_batch(train, model)
# exercise: end

# %% key="look-c" tags=["task", "band"]
train, validation, model = parts(unseen_pipeline("02/c"))
# solution: begin
seen_c = loss_at_start(model, train)
print(model.loss)
seen_c
# solution: end
# exercise: begin
#| look_at_batch(train, model)
# exercise: end

# %% key="look-c-true" tags=["solution-only", "hidden-assertion"]
assert set(seen_c.findings) == {"another_loss"} and seen_c.loss > 2

# %% [markdown] key="task-1-answer"
# Write your answers here.

# %% key="answers" tags=["task"]
# solution: begin
fault_a = "mask_of_ones"
evidence_a = ("padding_invariance", "masked", seen_a.masked)

fault_b = "cased_tokenizer"
evidence_b = ("decode_batch", "unknown", seen_b.unknown)

fault_c = "string_loss"
evidence_c = ("loss_at_start", "loss", seen_c.loss)
# solution: end
# exercise: begin
#| fault_a = "…"
#| evidence_a = ("…", "…", "…")
#|
#| fault_b = "…"
#| evidence_b = ("…", "…", "…")
#|
#| fault_c = "…"
#| evidence_c = ("…", "…", "…")
# exercise: end

# %% key="check-a" tags=["check"]
check_diagnosis("02/a", fault_a, evidence_a)

# %% key="check-b" tags=["check"]
check_diagnosis("02/b", fault_b, evidence_b)

# %% key="check-c" tags=["check"]
check_diagnosis("02/c", fault_c, evidence_c)

# %% [markdown] key="task-2"
# ## Task 2: repair the mask
#
# This script runs, and its model reads the padding as text. Repair it. Change as little as you can. The check takes 10 to 20 seconds. Need help? `hint("02/mask")`.

# %% key="script" tags=["task"]
def load():
    return load_mnli(train_rows=2400, validation_rows=750)


def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)

    return raw.map(tokenize_rows, batched=True)


def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    # solution: begin
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8, collate_fn=collator)
    # solution: end
    # exercise: begin
    #| options = dict(columns=["input_ids", "labels"], batch_size=8, collate_fn=collator)
    # exercise: end
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% key="check-mask" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("02/mask", pipeline)

# %% [markdown] key="task-3"
# ## Task 3: repair the loss
#
# In this script Keras computes the loss, and it is not the cross-entropy of the logits. Repair it so that **Keras still computes the loss**. `load`, `tokenize`, `build_model`, `fit` and `evaluate` stay as they are above. Need help? `hint("02/string_loss")`.


# %% key="script-3" tags=["task"]
def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    options = dict(columns=["input_ids", "attention_mask"], label_cols="labels", batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def compile_model(model):
    # solution: begin
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss=loss, metrics=["accuracy"])
    # solution: end
    # exercise: begin
    #| model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    # exercise: end


# %% [markdown] key="look-3-text"
# Look before you change: the loss before training, and what it should be near.

# %% key="look-3" tags=["band"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
train, validation, model = parts(pipeline)
start = loss_at_start(model, train)
start

# %% key="look-3-repaired" tags=["solution-only", "hidden-assertion"]
assert not start.findings and start.owner == "keras"

# %% key="check-string-loss" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("02/string_loss", pipeline)

# %% [markdown] key="next"
# **Next:** compare your work with the [worked copy](../solutions/02_check_your_data.ipynb).
