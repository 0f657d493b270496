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
tf.get_logger().setLevel("ERROR")  # no notes about functions that stay plain Python
tf.autograph.set_verbosity(0)
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
# Most symptoms have several suspects. So a symptom is no diagnosis.
#
# **Predict.** A model has trained for an epoch, and it is no better than a guess. Nothing was raised. Name three faults that can do this.

# %% key="triage-nothing"
triage("learns_nothing")

# %% [markdown] key="triage-how"
# This table was measured. Each fault of the course's catalogue was trained for one epoch, and all probes looked at it. Read it like this: ask the first probe. If it finds what stands before an arrow, the fault is one of the names after it. If it finds nothing, ask the next probe.
#
# The number in brackets is what a probe costs. A look at one batch costs 1 point. The others are counted in the same measure: by the seconds that they took.
#
# The order is by suspects per point. In the table above, the first probe reveals two suspects for one point. (When there is an error, read its message before any probe. That costs nothing.)

# %% key="triage-reads-true" tags=["hidden-assertion"]
from helpers.suspects import measured, plan_of, points, suspects_of

_plan = plan_of(suspects_of("learns_nothing"))
assert len(suspects_of("learns_nothing")) >= 3
assert {name for _probe, shown in _plan for found in shown.values() for name in found} == set(suspects_of("learns_nothing"))
assert min(points(probe) for probe in measured()["healthy: own_loss"]["found"]) == 1

# %% [markdown] key="triage-well-text"
# **Predict.** Some faults show nothing: no error, a loss that falls, a good accuracy. How many of the catalogue's faults are of this kind?

# %% key="triage-well"
triage("looks_well")

# %% [markdown] key="triage-well-explained"
# More than ten. The probes find them. But nobody asks a probe when all numbers look good. So ask the cheap ones always, before you train.

# %% key="well-is-there" tags=["hidden-assertion"]
assert len(suspects_of("looks_well")) > 10

# %% [markdown] key="overfit-text"
# ## Can the model learn one batch?
#
# If a model cannot learn eight rows by heart, something is wrong. So train on one batch, again and again, and look at the loss. 30 steps on one batch tell you what a long training would tell you much later.
#
# **Predict.** To what does the loss of one batch fall in 30 steps, when all is well?

# %% key="overfit-healthy" tags=["band"]
train, validation, model = parts(pipeline_from_script(helpers.healthy_script()))
learnt = overfit_batch(model, train)
learnt

# %% key="overfit-healthy-band" tags=["hidden-assertion"]
assert learnt.losses[-1] < 0.5 * learnt.losses[0] and learnt.accuracy == 1.0 and not learnt.findings

# %% [markdown] key="overfit-broken-text"
# The loss falls, and all eight answers are right: data, model, loss and optimizer work together.
#
# Here is a pipeline that runs without an error. Its answers go through a softmax, and then the loss applies a softmax again.

# %% key="overfit-broken" tags=["band"]
_train, _validation, twice = parts(fault("softmax_twice").pipeline())
not_learnt = overfit_batch(twice, _train)
not_learnt

# %% key="overfit-broken-band" tags=["hidden-assertion"]
assert set(not_learnt.findings) == {"does_not_learn"} and not_learnt.losses[-1] > 0.55 and not_learnt.accuracy == 1.0
assert measured()["softmax_twice"]["symptom"] == "looks_well"
_lowest = tf.keras.losses.sparse_categorical_crossentropy([0], [[1.0, 0.0, 0.0]], from_logits=True)
assert f"{float(_lowest[0]):.2f}" == "0.55"

# %% [markdown] key="overfit-limits"
# All eight answers are right, and the loss stays high. It can never fall below 0.55, because this loss takes probabilities for logits, and probabilities lie between 0 and 1.
#
# The probe judges the loss, not the accuracy. The script trains, and its accuracy looks good. Its loss is wrong.
#
# **Predict.** In the next pipeline each row has the label of another row. Can its model learn one batch?

# %% key="overfit-wrong-labels" tags=["band"]
rolled, _validation, model = parts(fault("labels_of_the_row_before").pipeline())
learnt = overfit_batch(model, rolled)
learnt

# %% key="overfit-wrong-labels-band" tags=["hidden-assertion"]
assert not learnt.findings and learnt.accuracy == 1.0

# %% [markdown] key="overfit-blind"
# It can. A model learns eight wrong labels by heart as well as eight right ones. **When a probe finds nothing, only the part that it looked at is right.** `overfit_batch()` looks at the model, the loss and the update. It does not compare texts with labels.
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
# An accuracy of 0.48 would be *above chance* here, and worth nothing. `score_against_baseline()` compares the accuracy of a model with the majority. Here it looks at a model that is not trained.

# %% key="baseline-untrained" tags=["band"]
train, validation, model = parts(pipeline_from_script(helpers.healthy_script()))
scores = score_against_baseline(model, validation)
draw_confusion(scores, names)

# %% key="baseline-untrained-band" tags=["hidden-assertion"]
assert abs(scores.predicted - scores.majority) < 0.05 and scores.confusion.sum(0).max() > 0.9 * scores.confusion.sum()

# %% [markdown] key="baseline-tune"
# A line for each label, a column for each answer: this is a *confusion matrix*. This untrained model gives almost always the same answer. Its accuracy is that of the majority: it knows nothing.
#
# Only when a trained model is clearly above its baseline is it time to tune: learning rate, batch size, schedule. Tuning a broken pipeline finds the setting that hides the fault best.

# %% [markdown] key="case-text"
# ## A case, with a budget
#
# `investigate()` opens an unseen pipeline. You are told the symptom, and what a whole training showed. Each probe costs points.

# %% key="case-open"
case = investigate("05/shown")
case

# %% [markdown] key="case-first"
# `start` is the loss before training, `loss` and `val_loss` are what `fit()` showed, `evaluate_…` is what the script's `evaluate()` says. `accuracy` is that of the answers, counted by the course.
#
# The training loss fell to 0.5. On the validation rows the loss is 3.6, and the answers are a guess. The triage table names the probe to ask first.
#
# **Predict.** What will it find?

# %% key="case-first-probe"
first = case.probe("compare_with_data")
first

# %% key="case-first-finds" tags=["hidden-assertion"]
assert not first.findings and first.others == first.unknown == 0

# %% [markdown] key="case-second"
# Nothing. Each row has its text and its label. Their order can still be wrong, and so can the rate. The next probe of the table:

# %% key="case-second-probe"
second = case.probe("rate_over_time")
second

# %% key="case-second-finds" tags=["hidden-assertion"]
assert not second.findings

# %% [markdown] key="case-third"
# Nothing again: the learning rate is right. The next probe looks at all batches of an epoch.
#
# **Predict.** Each row has its own text and label. What can still be wrong with the batches?

# %% key="case-third-probe"
third = case.probe("compare_splits")
third

# %% key="case-third-finds" tags=["hidden-assertion"]
assert list(third.findings) == ["sorted"] and third.entropy < 0.2

# %% [markdown] key="case-close"
# The rows come class by class, so almost every batch has only one label. The model learns to give the label of the last batches, and forgets the others.
#
# The evidence is the *entropy* of the labels in a batch: 0 % means one label, 100 % means that all labels are as frequent as in the whole data. Its field is `entropy`. Three probes were enough:

# %% key="case-cost"
case

# %% [markdown] key="debrief"
# ## Debrief
#
# The smallest change that repairs it:

# %% key="debrief-diff"
fault("sorted_rows").diff

# %% [markdown] key="summary"
# What to take with you:
#
# * Most symptoms have several suspects. Ask the probe that tells most of them apart for its price.
# * When a probe finds nothing, only the part that it looked at is right.
# * Learn one batch by heart before you train on all. It tests the model, the loss and the update, not the labels.
# * Know the baseline before you tune: ln C, 1/C, and the majority.
# * Good numbers are no proof. Ask the cheap probes always.
#
# **Next:** [exercise 05](../exercises/05_other_potential_issues.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the section "Other potential issues" of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). New here: the triage table, measured on the course's faults; the price of a probe; what learning one batch by heart cannot see; the case with a budget.
