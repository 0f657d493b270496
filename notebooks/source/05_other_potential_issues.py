# %% [markdown] key="title"
# # 05 · Other potential issues
#
# ★★☆ · 25 minutes
#
# The script of lessons 01 to 04 is repaired. Other scripts have other faults. After this lesson you can go from a symptom to its suspects, choose the cheapest probe that tells them apart, and say what a probe cannot tell.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import audit_labels, compare_with_data, draw_confusion, draw_labels, fault, investigate, load_mnli
from helpers import find_checkpoint, overfit_batch, pipeline_from_script, score_against_baseline, triage, without_autotune

import tensorflow as tf
from transformers import AutoTokenizer

tf.keras.utils.set_random_seed(1)
tokenizer = AutoTokenizer.from_pretrained(find_checkpoint())
names = ["entailment", "neutral", "contradiction"]


# %% [markdown] key="parts-text"
# The lesson looks at several pipelines. This function gives the three things that the probes want: the training batches, the validation batches, and a model that is compiled and not yet trained.

# %% key="parts"
def parts(pipeline):
    train, validation = map(without_autotune, pipeline.batch(pipeline.tokenize(pipeline.load())))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    return train, validation, model


# %% [markdown] key="symptoms-text"
# ## From a symptom to its suspects
#
# A *symptom* is what you see without looking for it: an error, a loss that is nan, an accuracy of one third. A *suspect* is a fault that shows this symptom.
#
# One symptom has many suspects. So a symptom is no diagnosis.
#
# **Predict.** A model has trained for an epoch, and it is no better than a guess. Nothing was raised. Name three faults that can do this.

# %% key="triage-nothing"
triage("learns_nothing")

# %% [markdown] key="triage-how"
# This table was measured. Each fault of the course's catalogue was trained for one epoch, and all probes looked at it. Read a line like this: ask the probe; when it finds what stands before the arrow, you have what stands behind it. When it finds nothing, go on with the next line.
#
# The number in brackets is what a probe costs. A look at one batch costs 1 point. The others are counted in the same measure: by the seconds that they took.
#
# The order is not by suspicion. It is by price: first the probe that reveals most suspects for each point.

# %% key="triage-reads-true" tags=["hidden-assertion"]
from helpers.triage import measured, plan_of, points, suspects_of

_plan = plan_of(suspects_of("learns_nothing"))
assert len(suspects_of("learns_nothing")) >= 3
assert {name for _probe, shown in _plan for found in shown.values() for name in found} == set(suspects_of("learns_nothing"))
assert min(points(probe) for probe in measured()["healthy: own_loss"]["found"]) == 1

# %% [markdown] key="triage-well-text"
# **Predict.** For which symptom is the list of suspects the longest?

# %% key="triage-all"
triage()

# %% [markdown] key="triage-well-explained"
# Look at the last block: faults with which *all numbers look well*. No error, a loss that falls, a good accuracy. The probes find them, and nobody asks a probe when the numbers look well. So ask the cheap ones always, before you train.

# %% key="well-is-there" tags=["hidden-assertion"]
assert len(suspects_of("looks_well")) >= 3

# %% [markdown] key="overfit-text"
# ## Can the model learn one batch?
#
# A model that cannot learn eight rows by heart will not learn 2,400. So train on one batch, again and again, and look at the loss. This tells you in half a minute what an epoch tells you later.
#
# **Predict.** To what does the loss of one batch fall in 30 steps, when all is well?

# %% key="overfit-healthy" tags=["band"]
train, validation, model = parts(pipeline_from_script(helpers.healthy_script()))
overfit_batch(model, train)

# %% key="overfit-healthy-band" tags=["hidden-assertion"]
_seen = overfit_batch(parts(pipeline_from_script(helpers.healthy_script()))[2], train)
assert _seen.losses[-1] < 0.5 * _seen.losses[0] and _seen.accuracy == 1.0 and not _seen.findings

# %% [markdown] key="overfit-broken-text"
# The loss falls, and all eight answers are right: data, model, loss and optimizer work together.
#
# Here is a pipeline that runs without an error. Its answers go through a softmax, and then the loss applies a softmax again.

# %% key="overfit-broken" tags=["band"]
_train, _validation, twice = parts(fault("softmax_twice").pipeline())
overfit_batch(twice, _train)

# %% key="overfit-broken-band" tags=["hidden-assertion"]
_seen = overfit_batch(parts(fault("softmax_twice").pipeline())[2], _train)
assert set(_seen.findings) == {"does_not_learn"} and _seen.losses[-1] > 0.55

# %% [markdown] key="overfit-limits"
# It cannot learn even one batch. The labels are right and the learning rate is right, so the loss is left.
#
# **Predict.** In the next pipeline each row has the label of another row. Can its model learn one batch?

# %% key="overfit-wrong-labels" tags=["band"]
rolled, _validation, model = parts(fault("labels_of_the_row_before").pipeline())
overfit_batch(model, rolled)

# %% key="overfit-wrong-labels-band" tags=["hidden-assertion"]
_seen = overfit_batch(parts(fault("labels_of_the_row_before").pipeline())[2], rolled)
assert not _seen.findings

# %% [markdown] key="overfit-blind"
# It can. A model learns eight wrong labels by heart as well as eight right ones. **A probe that finds nothing clears only what it looks at.** This one looks at the way from the batch to the weights. It does not read the rows.
#
# A probe that reads them:

# %% key="read-rows"
data = load_mnli(train_rows=2400, validation_rows=750)
seen = compare_with_data(rolled, data["train"], tokenizer)
list(seen.findings)

# %% key="read-rows-found" tags=["hidden-assertion"]
assert list(seen.findings) == ["other_labels"]

# %% [markdown] key="baseline-text"
# ## A baseline before tuning
#
# An accuracy says nothing by itself. Hold it against two numbers that cost nothing:
#
# * **a guess:** with C classes of equal size 1/C, and a loss of ln C;
# * **the majority:** the share of the most frequent class. A constant answer reaches it.
#
# **Predict.** In the data below one class is rare. What accuracy has a model that always gives the most frequent class?

# %% key="baseline-labels"
rare, _validation, _model = parts(fault("rare_class").pipeline())
counts = audit_labels(rare, batches=300).counts
draw_labels(counts, names)

# %% key="baseline-share"
print(f"{max(counts.values()) / sum(counts.values()):.2f}")

# %% key="baseline-share-true" tags=["hidden-assertion"]
assert 0.40 < max(counts.values()) / sum(counts.values()) < 0.60

# %% [markdown] key="baseline-explained"
# An accuracy of 0.48 would be *above chance* here, and worth nothing. `score_against_baseline()` says both. Here it looks at a model that is not trained.

# %% key="baseline-untrained" tags=["band"]
train, validation, model = parts(pipeline_from_script(helpers.healthy_script()))
scores = score_against_baseline(model, validation)
draw_confusion(scores, names)

# %% key="baseline-untrained-band" tags=["hidden-assertion"]
assert scores.predicted < scores.majority + 0.15 and 0.33 < scores.majority < 0.40

# %% [markdown] key="baseline-tune"
# Only when a trained model is clearly above its baseline is it time to tune: learning rate, batch size, schedule. Tuning a broken pipeline finds the setting that hides the fault best.

# %% [markdown] key="case-text"
# ## A case, with a budget
#
# `investigate()` opens an unseen pipeline. Its owner tells you the symptom and what the run showed. Each probe costs points.

# %% key="case-open"
case = investigate("05/shown")
case

# %% [markdown] key="case-first"
# `start` is the loss before training, `accuracy` that of the trained model. It learns nothing. The triage table names the probe to ask first.
#
# **Predict.** What will it find?

# %% key="case-first-probe"
first = case.probe("rate_over_time")
first

# %% key="case-first-finds" tags=["hidden-assertion"]
assert not first.findings

# %% [markdown] key="case-second"
# The learning rate is well. That clears the learning rate, and nothing else. What is left are the rows and the weights. Read the rows.

# %% key="case-second-probe"
second = case.probe("compare_with_data")
print(second.others, "of", second.rows, "rows have another label;", *second.findings)

# %% key="case-second-finds" tags=["hidden-assertion"]
assert "other_labels" in second.findings and second.others > 0.4 * second.rows

# %% [markdown] key="case-close"
# That is the fault, and the evidence is a number. Two probes were enough:

# %% key="case-cost"
case

# %% [markdown] key="debrief"
# ## Debrief
#
# The smallest change that heals it:

# %% key="debrief-diff"
fault("labels_of_the_row_before").diff

# %% [markdown] key="summary"
# What to take with you:
#
# * A symptom has many suspects. Ask the probe that tells most of them apart for its price.
# * A probe that finds nothing clears only what it looks at.
# * Learn one batch by heart before you train on all. It clears the way from the batch to the weights, not the labels.
# * Know the baseline before you tune: ln C, 1/C, and the majority.
# * Good numbers are no proof. Ask the cheap probes always.
#
# **Next:** [exercise 05](../exercises/05_other_potential_issues.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the section "Other potential issues" of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). New here: the triage table, measured on the course's faults; the price of a probe; what learning one batch by heart cannot see; the case.
