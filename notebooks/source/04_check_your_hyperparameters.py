# %% [markdown] key="title"
# # 04 · Check your hyperparameters
#
# ★★☆ · 35 minutes
#
# After this lesson you can find out why a script trains without an error and learns nothing. You read the learning rate that is really used, you choose one, you check a schedule, and you know what a second `compile()` does not reset.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import batch_losses, compare_builds, draw_curves, draw_sweep, find_checkpoint, one_step, pipeline_from_script
from helpers import rate_over_time, show_diff, show_script, sweep_rates, without_autotune
from helpers.arc import script_after

import math

import numpy as np
import tensorflow as tf
from transformers import TFAutoModelForSequenceClassification, create_optimizer

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time

# %% [markdown] key="script-text"
# ## The script so far
#
# The labels reach the loss, the rows are padded, the head has three outputs, and the loss takes logits. Nothing raises an error any more.
#
# **Predict.** Read `compile_model`. Which learning rate does this script use? Will the model learn?

# %% key="script"
show_script(script_after(5))

# %% [markdown] key="run-text"
# ## Run it
#
# An epoch has 300 batches. Half an epoch is enough to see what happens.
#
# `batch_losses()` trains with `fit()`, and keeps the loss of each batch. (Keras shows the mean since the epoch began. A mean hides what happens now.)
#
# **Predict.** The first loss is near ln 3 ≈ 1.10, the loss of guessing. What will it be after 150 batches?

# %% key="run" tags=["band"]
script = pipeline_from_script(script_after(5), "script")
train, validation = map(without_autotune, script.batch(script.tokenize(script.load())))
model = script.build_model()
script.compile_model(model)

losses_adam = batch_losses(model, train, 150)
print(f"loss of the first batch:     {losses_adam[0]:.2f}")
print(f"mean of the last 20 batches: {np.mean(losses_adam[-20:]):.2f}")

# %% key="loss-stays" tags=["hidden-assertion"]
assert len(train) == 300 and len(losses_adam) == 150
assert abs(losses_adam[0] - math.log(3)) < 0.3 and 1.0 < np.mean(losses_adam[-20:]) < 1.25

# %% key="run-scores" tags=["band"]
scores = model.evaluate(validation, return_dict=True, verbose=0)
print(f"validation: loss {scores['loss']:.2f}, accuracy {scores['accuracy']:.2f}")

# %% key="accuracy-is-guessing" tags=["hidden-assertion"]
assert 1.0 < scores["loss"] < 1.25 and 0.25 < scores["accuracy"] < 0.55

# %% [markdown] key="evidence-text"
# Everything runs, and nothing is learnt. The loss is that of guessing, and so is the accuracy.
#
# ### Evidence
#
# You have seen in lessons 01 to 03 that the batches and the loss are right. One stage is left: the update. `one_step()` trains one step and compares the weights before and after it.
#
# **Predict.** How many of the 72 weight tensors will move, and how far?

# %% key="one-step"
fresh = script.build_model()
script.compile_model(fresh)
one_step(fresh, train)

# %% [markdown] key="one-step-explained"
# All of them move. The largest change is 0.001. In lesson 01 it was 0.00005. The first step of Adam moves a weight by the learning rate, so the learning rate is 0.001. Nobody wrote this number.

# %% key="one-step-is-the-rate" tags=["hidden-assertion"]
_step = one_step(fresh, train)
assert _step.weights == _step.free == _step.moved == 72 and _step.findings == {}

# %% [markdown] key="string-text"
# ### What a string hides
#
# `optimizer="adam"` stands for an Adam with all its defaults. Ask Keras for them.

# %% key="string"
config = tf.keras.optimizers.get("adam").get_config()
print(f"learning_rate {config['learning_rate']:g}")
print(f"weight_decay  {config['weight_decay']}")

# %% [markdown] key="rate-text"
# `rate_over_time()` shows the learning rate of a compiled model, at the first, the middle and the last step.

# %% key="rate"
rate_over_time(model, steps=300)

# %% [markdown] key="explain-text"
# ### Explain
#
# 0.001 is made for networks that start with random weights. Our model starts with pretrained ones. Its usual rate, 5e-5, is twenty times smaller. Steps of 0.001 overwrite what pretraining has learnt. So the model is not slow to learn: it is ruined.

# %% key="twenty-times" tags=["hidden-assertion"]
_rate = rate_over_time(model, 300)
assert round(_rate.highest / 5e-5) == 20 and set(_rate.findings) == {"too_high"}
assert math.isclose(config["learning_rate"], 1e-3, rel_tol=1e-6) and config["weight_decay"] is None

# %% [markdown] key="sweep-text"
# ## Which rate is right? A sweep
#
# Nobody needs to guess. `sweep_rates()` trains 120 steps, each at a higher rate than the one before, from 0.00001 to 0.01. Then look at the loss over the rate.
#
# The sweep ruins its model, so it gets one of its own.
#
# **Predict.** What will the curve look like at very low rates, and at very high ones?

# %% key="sweep" tags=["band"]
swept = script.build_model()
script.compile_model(swept)
sweep = sweep_rates(swept, train)
draw_sweep(sweep)

# %% key="sweep-has-three-parts" tags=["hidden-assertion"]
assert sweep.findings == {} and 2e-4 < sweep.climbs < 1e-3 and 2e-5 < sweep.tenth < 1e-4
assert abs(np.median(sweep.losses[:20]) - math.log(3)) < 0.15 and sweep.losses.min() < 0.85 and sweep.losses[-1] > 1.0

# %% [markdown] key="sweep-explained"
# Read it from left to right:
#
# * **Too low:** the loss stays near ln 3. A few steps at such a rate do nothing that you can see.
# * **Falling:** the model learns.
# * **Shaded, ruinous:** the loss climbs back to guessing, and stays there. The 0.001 of our script lies here.
#
# ### What a sweep cannot tell
#
# Each rate gets a few steps only.
#
# * At 5e-5 the loss hardly moves in the sweep. In a longer training it is a good rate, as you will see.
# * Just left of the shaded part the loss falls fastest. A rate that looks well for ten steps can be too high for hundreds.
#
# So do not take the rate at the lowest point. **Take a tenth of it**, the green line, and try it in a longer run.

# %% key="sweep-limits" tags=["hidden-assertion"]
assert sweep.losses[np.searchsorted(sweep.rates, 5e-5)] > 0.9
assert sweep.climbs < 1e-3 < sweep.rates[-1]

# %% [markdown] key="repair-text"
# ## Repair
#
# The tenth lies near 5e-5, the rate that is usual for this checkpoint. Write it down: `optimizer=tf.keras.optimizers.Adam(5e-5)`.
#
# ### Check
#
# Train a fresh model with it, on the same number of batches, and lay the two runs over each other.
#
# **Predict.** At which step will the two curves part?

# %% key="repaired"
repaired = pipeline_from_script(script_after(6), "repaired")
good = repaired.build_model()
repaired.compile_model(good)
losses_good = batch_losses(good, train, 150)

# %% key="overlay" tags=["band"]
draw_curves({"'adam'": losses_adam, "Adam(5e-5)": losses_good}, chance=math.log(3))

# %% key="they-part" tags=["hidden-assertion"]
from helpers.curves import parting_step

assert 10 < parting_step(losses_adam, losses_good) < 100
assert np.mean(losses_good[-20:]) < 0.75 and np.mean(losses_good[:20]) > 0.95

# %% key="good-scores" tags=["band"]
scores_good = good.evaluate(validation, return_dict=True, verbose=0)
print(f"after half an epoch: loss {scores_good['loss']:.2f}, accuracy {scores_good['accuracy']:.2f}")

# %% key="good-learns" tags=["hidden-assertion"]
assert scores_good["loss"] < 0.75 and scores_good["accuracy"] > 0.8

# %% [markdown] key="overlay-explained"
# In the first steps both curves are near the dotted line: so few steps cannot tell a good run from a bad one. After 150 steps there is no doubt.

# %% [markdown] key="kept-text"
# ## A second `compile()`
#
# In a notebook you would now be tempted to do this: correct the rate, run the cell with `compile()` again, and go on with `fit()`. The variable `model` still holds the model that `"adam"` trained.
#
# **Predict.** Will it learn, now that the rate is right?

# %% key="kept"
repaired.compile_model(model)
print(rate_over_time(model, steps=300))
losses_kept = batch_losses(model, train, 150)

# %% key="kept-overlay" tags=["band"]
draw_curves({"the old model, compiled again": losses_kept, "a fresh model": losses_good}, chance=math.log(3))

# %% key="kept-is-worse" tags=["hidden-assertion"]
assert np.mean(losses_kept[-20:]) > 0.8 and np.mean(losses_kept[-20:]) > np.mean(losses_good[-20:]) + 0.2

# %% key="kept-scores" tags=["band"]
scores_kept = model.evaluate(validation, return_dict=True, verbose=0)
print(f"old model:   loss {scores_kept['loss']:.2f}, accuracy {scores_kept['accuracy']:.2f}")
print(f"fresh model: loss {scores_good['loss']:.2f}, accuracy {scores_good['accuracy']:.2f}")

# %% key="kept-stays-bad" tags=["hidden-assertion"]
assert scores_kept["accuracy"] < 0.65 and scores_kept["accuracy"] < scores_good["accuracy"] - 0.2

# %% [markdown] key="kept-explained"
# Rate, data and loss are the same. The old model hardly learns, because its weights are still the ruined ones. `compile()` sets the optimizer, the loss and the metrics. **It does not touch the weights.**
#
# This is a bad trap: the repair was right, and it looks as if it did not help.

# %% key="compile-keeps-weights" tags=["hidden-assertion"]
_before = [weight.numpy() for weight in model.weights]
repaired.compile_model(model)
assert all(np.array_equal(old, new.numpy()) for old, new in zip(_before, model.weights))

# %% [markdown] key="reload-text"
# ### Reload the model, with its three outputs
#
# After each failed training, load the model anew. Do not type `from_pretrained()` from memory:

# %% key="reload-trap"
TFAutoModelForSequenceClassification.from_pretrained(find_checkpoint()).config.num_labels

# %% [markdown] key="reload-explained"
# Without `num_labels=3` the fault of lesson 03 is back. Call the function that builds your model: `build_model()`. A function does not forget.
#
# `compare_builds()` calls it twice, and compares the two models. An encoder that is read from the checkpoint is the same each time. A fresh head is drawn anew; only its two biases are the same, because they start at 0.

# %% key="builds"
compare_builds(repaired.build_model)

# %% key="builds-are-fresh" tags=["hidden-assertion"]
_builds = compare_builds(repaired.build_model)
assert _builds.findings == {} and _builds.encoder[0] == _builds.encoder[1] and _builds.head == (2, 4)
assert not any(weight.numpy().any() for weight in repaired.build_model().weights if "classifier/bias" in weight.name)

# %% [markdown] key="schedule-text"
# ## Schedules
#
# A constant rate is enough for this course. Many scripts let the rate fall to 0 in a straight line. In Keras that is `PolynomialDecay`. It must know how many steps the training has: `decay_steps`.
#
# Here is the right way, for a training of 3 epochs.

# %% key="schedule"
epochs = 3
steps = len(train) * epochs


def adam_with(decay_steps, **options):
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(5e-5, decay_steps, **options)
    return tf.keras.optimizers.Adam(schedule)


print("steps:", steps)
rate_over_time(adam_with(steps, end_learning_rate=0.0), steps)

# %% [markdown] key="schedule-wrong"
# Three wrong ways follow. None of them raises an error.
#
# ### The epochs forgotten
#
# **Predict.** `decay_steps` is `len(train)`, and the training has 3 epochs. What is the rate in the second epoch?

# %% key="schedule-one-epoch"
rate_over_time(adam_with(len(train), end_learning_rate=0.0), steps)

# %% [markdown] key="schedule-one-epoch-explained"
# It is 0. Two of three epochs train nothing. The same happens sooner when rows are counted in batches of 64, and the batches have 8.
#
# ### The end forgotten
#
# **Predict.** Now `decay_steps` is right, and `end_learning_rate` is left out. What is the rate at the last step?

# %% key="schedule-no-end"
rate_over_time(adam_with(steps), steps)

# %% [markdown] key="schedule-no-end-explained"
# It *rises*. `end_learning_rate` has a default, 0.0001, and that is more than 5e-5. Again a default that nobody wrote.
#
# ### The length not known
#
# A dataset that was filtered does not know how many batches are left. Its `cardinality()` is then -2, which means "unknown".

# %% key="schedule-unknown"
filtered = train.filter(lambda x, y: tf.shape(x["input_ids"])[1] < 100)
unknown = int(filtered.cardinality())
print("cardinality:", unknown)
rate_over_time(adam_with(unknown, end_learning_rate=0.0), steps)

# %% key="schedules-claims" tags=["hidden-assertion"]
assert unknown == tf.data.UNKNOWN_CARDINALITY == -2
_one = rate_over_time(adam_with(len(train), end_learning_rate=0.0), steps)
_none = rate_over_time(adam_with(steps), steps)
assert _one.middle == _one.last == 0 and rate_over_time(adam_with(2400 // 64, end_learning_rate=0.0), 300).middle == 0
assert math.isclose(_none.last, 1e-4, rel_tol=0.01) and _none.highest == _none.last

# %% [markdown] key="schedule-unknown-explained"
# A schedule of -2 steps is over before the first one. The rate is 0 from the beginning, and no weight moves. `len()` is the safer question: it refuses to answer.

# %% key="schedule-len" tags=["raises-exception"] error="TypeError"
len(filtered)

# %% [markdown] key="schedule-repair"
# Repair: filter the rows *before* they become batches, with `Dataset.filter()` of 🤗 Datasets. Such a dataset knows its length.
#
# And whatever the schedule: look at the first, the middle and the last rate before you train.

# %% [markdown] key="create-optimizer-text"
# ## `create_optimizer()`
#
# Transformers can make the optimizer and its schedule in one call. The names say what they count: `num_train_steps` is the whole training, `num_warmup_steps` the part in which the rate rises.
#
# **Predict.** The warm-up takes 90 of 900 steps. What is the rate at the very first step?

# %% key="create-optimizer"
optimizer, schedule = create_optimizer(init_lr=5e-5, num_train_steps=steps, num_warmup_steps=90, weight_decay_rate=0.01)
rate_over_time(optimizer, steps)

# %% [markdown] key="create-optimizer-explained"
# It is 0: the rate rises from 0 to 5e-5, and then falls to 0. So the first step of a warm-up moves nothing, and that is no fault. Look at the second one.

# %% key="warm-up-claims" tags=["hidden-assertion"]
assert [round(float(schedule(step)) / 5e-5, 3) for step in (0, 45, 90, 900)] == [0.0, 0.5, 1.0, 0.0]

# %% [markdown] key="decay-text"
# ### Weight decay
#
# `weight_decay_rate=0.01` pulls the weights a little towards 0 in each step, so that none grows without need. Biases and the weights of layer norms are left out: they are few, and a pull towards 0 would only disturb them. How many are left out here?

# %% key="decay"
names = [weight.name for weight in good.trainable_variables]
left_out = [name for name in names if "bias" in name or "LayerNorm" in name or "layer_norm" in name]
print(len(names), "weight tensors,", len(left_out), "of them left out")

# %% [markdown] key="decay-explained"
# `tf.keras.optimizers.AdamW` does the same, with two differences. It leaves nothing out, unless you tell it to with `exclude_from_weight_decay(var_names=["bias", "LayerNorm", "layer_norm"])`. And without a rate it takes 0.001, as `"adam"` does.
#
# Weight decay seldom decides whether a model learns at all. The learning rate does. Check the rate first.

# %% key="decay-claims" tags=["hidden-assertion"]
assert (len(names), len(left_out)) == (72, 44)
assert left_out == [name for name in names if not optimizer._do_use_weight_decay(name)]
_adamw = tf.keras.optimizers.AdamW()
assert math.isclose(float(_adamw.learning_rate), 1e-3, rel_tol=1e-6) and all(map(_adamw._use_weight_decay, good.trainable_variables))
_adamw.exclude_from_weight_decay(var_names=["bias", "LayerNorm", "layer_norm"])
assert [weight.name for weight in good.trainable_variables if not _adamw._use_weight_decay(weight)] == left_out
_filtered = script.load()["train"].filter(lambda row: row["label"] == 0)
assert 0 < len(_filtered) < 2400

# %% [markdown] key="debrief"
# ## Debrief
#
# One argument was the repair of this lesson.

# %% key="debrief-diff"
show_diff(script_after(5), script_after(6))

# %% [markdown] key="whole-arc"
# And these are all repairs since lesson 01. No fault was large, and most of them hid another one.

# %% key="whole-arc-diff"
show_diff(script_after(0), script_after(6))

# %% [markdown] key="train-text"
# The script is healthy now. Take the `#` away to train it for a whole epoch. It takes about 40 seconds on two cores. `val_accuracy` should be above 0.9.

# %% key="train-yourself"
# model = repaired.build_model()
# repaired.compile_model(model)
# history = repaired.fit(model, train, validation)

# %% [markdown] key="summary"
# What to take with you:
#
# * When a training runs and the loss stays at ln C, look at the learning rate that is really used.
# * A string, and an argument that you leave out, have a value all the same. Read it.
# * A sweep shows from where on a rate is ruinous. Take a tenth of that, and compare longer runs.
# * `compile()` keeps the weights. After a failed training call `build_model()` again.
# * Look at the first, the middle and the last rate of a schedule before you train.
#
# **Next:** [exercise 04](../exercises/04_check_your_hyperparameters.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the section "Check your hyperparameters" of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). Changed here: the rate is measured before it is explained; the sweep, the second `compile()`, the schedules and `create_optimizer()` are added, with their traps; and the model that is loaded anew keeps its three outputs.
