# %% [markdown] key="title"
# # Exercise 05 · Other potential issues
#
# ★★☆ · 35 minutes · 3 tasks, and one that has no end
#
# Each case is an unseen broken pipeline. You have 20 points. Each probe costs some, and each wrong name of the fault costs 2. Name the fault, and the number that shows it.

# %% key="setup"
# helpers come before TensorFlow: they choose Keras 2
from helpers import Pipeline, check_investigation, check_repair, hint, investigate, triage
from helpers import find_checkpoint, gradients_of, load_mnli, loss_at_start, one_step, rate_over_time

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)

# %% [markdown] key="task-1"
# ## Task 1: a case
#
# Open the case. Its owner tells you the symptom and the numbers of the run. Then ask probes: `case.probe("look_at_batch")`. The answer of a probe is an object; print it, or read one field: `case.probe("look_at_batch").rows`. Asking the same probe again costs nothing. `overfit_batch` and `evaluate_again` train, and cost more than you have.
#
# The fault is one of these:
#
# | name | what is wrong |
# | --- | --- |
# | `adam_string` | the optimizer is a string, with a rate that is too high |
# | `unknown_steps` | a schedule of a length that is not known, so the rate is 0 |
# | `too_few_steps` | a schedule that ends long before the training |
# | `frozen` | the encoder is frozen |
# | `weights_not_loaded` | the encoder has random weights |
# | `kept_model` | the model is the one of the run before |
# | `labels_of_the_row_before` | each row has the label of another row |
# | `sorted_rows` | all rows of one class come together |
# | `rare_class` | one class is rare |
# | `cut_at_eight` | the texts are cut |
# | `cased_tokenizer` | words with capitals are unknown to the tokenizer |
# | `no_mask` | the model reads the padding as text |
# | `string_loss` | the loss takes logits for probabilities |
# | `one_output` | the head has one output |
# | `another_model_scored` | the scores are those of another model |
#
# The evidence is `(probe, field, value)`, from a probe that you asked. A number need not be exact: near is enough. A field can have another name than the printed line. You need not copy a number: after `seen = case_1.probe("…")`, write `seen.` and the name of the field.
#
# | probe | costs | fields |
# | --- | --- | --- |
# | `"walk"` | 14 | `message`, `error_class`, `failing_stage` |
# | `"look_at_batch"` | 1 | `container`, `keys`, `shapes`, `dtypes`, `labels_at`, `labels`, `rows`, `padded` |
# | `"audit_labels"` | 2 | `rows`, `counts`, `form`, `outputs`, `names` |
# | `"decode_batch"` | 2 | `unknown`, `cut`, `longest`, `vocabulary` |
# | `"padding_invariance"` | 3 | `padded`, `masked`, `change` |
# | `"compare_splits"` | 2 | `rows`, `overlap`, `entropy`, `same_order` |
# | `"compare_with_data"` | 1 | `rows`, `unknown`, `others` |
# | `"loss_at_start"` | 3 | `loss`, `cross_entropy`, `chance`, `owner` |
# | `"sample_losses"` | 4 | `error` |
# | `"gradients_of"` | 3 | `trainable`, `loss` |
# | `"one_step"` | 5 | `weights`, `free`, `moved`, `largest` |
# | `"rate_over_time"` | 4 | `first`, `middle`, `last`, `highest`, `steps` |
# | `"look_at_fit"` | 9 | `epochs`, `steps_per_epoch`, `batches`, `reported`, `monitors` |
# | `"compare_builds"` | 4 | `encoder`, `head` |
# | `"overfit_batch"` | 46 | `accuracy`, `last` |
# | `"evaluate_again"` | 47 | `first`, `second`, `loss`, `accuracy` |

# %% key="case-1"
case_1 = investigate("05/a")
case_1

# %% [markdown] key="ask-1"
# Ask your probes here. The case says the name of its symptom, for example `learns_nothing`. `triage("…")` with this name tells which probe to ask first. It names all faults of the course; the fault of your case is in the table above. Need help? `hint("05/first_case")`.

# %% key="ask-1-cell" tags=["task"]
# solution: begin
# in the order of triage("learns_nothing")
for probe in ("compare_with_data", "rate_over_time", "compare_splits"):
    print(probe, list(case_1.probe(probe).findings))
builds = case_1.probe("compare_builds")
print(builds)
# solution: end
# exercise: begin
#| case_1.probe("…")
# exercise: end

# %% key="answer-1" tags=["task"]
# solution: begin
fault_1 = "weights_not_loaded"
evidence_1 = ("compare_builds", "encoder", builds.encoder)
# solution: end
# exercise: begin
#| fault_1 = "…"
#| evidence_1 = ("…", "…", "…")
# exercise: end

# %% key="check-1" tags=["check"]
check_investigation(case_1, fault_1, evidence_1)

# %% [markdown] key="task-2"
# ## Task 2: another case
#
# The faults and the probes are those of task 1. This case has another symptom. Need help? `hint("05/second_case")`.

# %% key="case-2"
case_2 = investigate("05/b")
case_2

# %% key="ask-2-cell" tags=["task"]
# solution: begin
# in the order of triage("looks_well")
for probe in ("audit_labels", "compare_splits"):
    print(probe, list(case_2.probe(probe).findings))
padding = case_2.probe("padding_invariance")
print("padding_invariance", list(padding.findings))
# solution: end
# exercise: begin
#| case_2.probe("…")
# exercise: end

# %% key="answer-2" tags=["task"]
# solution: begin
fault_2 = "no_mask"
evidence_2 = ("padding_invariance", "masked", padding.masked)
# solution: end
# exercise: begin
#| fault_2 = "…"
#| evidence_2 = ("…", "…", "…")
# exercise: end

# %% key="check-2" tags=["check"]
check_investigation(case_2, fault_2, evidence_2)

# %% [markdown] key="task-3"
# ## Task 3: repair
#
# This script trains, and it learns too little. Read it, look at it with probes in the cell below it, and repair it. The check takes 10 to 20 seconds. Need help? `hint("05/too_little")`.

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
    #| model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
    #| model.distilbert.trainable = False
    #| return model
    # exercise: end


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)


# %% key="look-3" tags=["task"]
train, validation = batch(tokenize(load()))
model = build_model()
compile_model(model)
# solution: begin
list(gradients_of(model, train).findings)
# solution: end
# exercise: begin
#| # your probes
# exercise: end

# %% key="check-repair" tags=["check"]
pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
check_repair("05/too_little", pipeline)

# %% [markdown] key="task-4"
# ## For whoever wants more
#
# A number draws a case from the whole catalogue of the course. The same number gives the same case. Some faults are shown only by a probe that costs almost 50 points, so here you have 60.
#
# Press **B** for a new cell, and write `case = investigate(seed=7, budget=60)`, and `case` below it. For the names of all faults, run `check_investigation(case, "?", ("?", "?", "?"))`.

# %% [markdown] key="next"
# **Next:** compare your work with the [worked copy](../solutions/05_other_potential_issues.ipynb).
