# %% [markdown] key="title"
# # 03 · Check your model
#
# ★★☆ · 30 minutes
#
# After this lesson you can find out why a loss is NaN (*not a number*). You know why you must look at a fresh model for that, and why the same fault is an error on a CPU.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import audit_labels, draw_losses, explain_error, fault, find_checkpoint, loss_at_start, pipeline_from_script
from helpers import sample_losses, show_diff, show_script, walk
from helpers.arc import script_after

import numpy as np
import tensorflow as tf
from transformers import TFAutoModelForSequenceClassification

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time
tf.get_logger().setLevel("ERROR")  # XLA and enable_check_numerics() log a good deal
tf.autograph.set_verbosity(0)

# %% [markdown] key="script-text"
# ## The script so far
#
# The labels now reach the loss, and the rows are padded. This is the script with the repairs of lessons 01 and 02.
#
# **Predict.** Look at `build_model` and `compile_model`. Will `fit()` run now?

# %% key="script"
show_script(script_after(3))

# %% [markdown] key="run-text"
# ## Run it
#
# The next two cells show what happens on a CPU. On a GPU nothing is raised; we come to that.

# %% key="run" tags=["raises-exception"] error="InvalidArgumentError" device="CPU"
script = pipeline_from_script(script_after(3), "script")
raw = script.load()
train, validation = script.batch(script.tokenize(raw))
model = script.build_model()
script.compile_model(model)
script.fit(model, train, validation)

# %% key="explain" device="CPU"
explain_error()

# %% [markdown] key="explain-text"
# The message says: a label is 2, and only 0 and 1 are allowed. `[0, 2)` is a range that begins with 0 and ends before 2. The last numbers are the labels of the batch.
#
# So two numbers do not fit each other. The message does not say which of them is wrong.
#
# ### Evidence
#
# **Predict.** Which one is wrong: the labels of the data, or the outputs of the model?

# %% key="audit"
names = raw["train"].features["label"].names
print(names)
audit_labels(train, model, names, batches=300)

# %% [markdown] key="audit-text"
# The labels are right: MNLI has three. The model has two outputs. `from_pretrained()` was not told how many labels there are, so it took the default of Transformers, which is 2. The model notes this number in its configuration:

# %% key="num-labels"
model.config.num_labels

# %% key="two-is-the-default" tags=["hidden-assertion"]
from transformers import PretrainedConfig

assert PretrainedConfig().num_labels == 2 and len(names) == 3

# %% [markdown] key="gpu-text"
# ## The same fault on a GPU: `loss: nan`
#
# In 2021 the script ran on a GPU. It raised nothing, and showed `loss: nan`. TensorFlow's documentation of this loss says so: a label outside the range raises an error on a CPU, and gives NaN on a GPU.
#
# You can see the NaN without a GPU. XLA is a compiler of TensorFlow: it makes one program out of many operations. Under XLA, too, no label is refused. `jit_compile=True` turns XLA on.
#
# **Predict.** The next cell evaluates one batch of 8 rows. Some labels are 0 or 1, some are 2. What will the loss of the batch be?

# %% key="nan-is-documented" tags=["hidden-assertion"]
_said = " ".join(tf.nn.sparse_softmax_cross_entropy_with_logits.__doc__.split())
assert "raise an exception when this op is run on CPU, and return `NaN`" in _said and "rows on GPU" in _said

# %% key="nan"
model = script.build_model()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", jit_compile=True)
model.evaluate(train.take(1), return_dict=True, verbose=0)

# %% [markdown] key="rows-text"
# ### Look at the loss of each row
#
# The loss of a batch is the mean over its rows. A mean hides which rows are bad. So compute the loss of each row: `reduction="none"` takes no mean.
#
# **Predict.** How many of the 8 losses will be NaN?

# %% key="rows" tags=["band"]
batch = next(iter(train))
inputs, labels = batch
logits = model(inputs).logits

loss_of_rows = tf.function(tf.keras.losses.SparseCategoricalCrossentropy(reduction="none"), jit_compile=True)
losses = loss_of_rows(labels, logits)

print("all logits finite:", bool(np.isfinite(logits).all()))
for label, loss in zip(labels.numpy(), losses.numpy()):
    print(f"label {label}   loss {loss:.2f}")

# %% key="nan-where-the-label-is-2" tags=["hidden-assertion"]
assert np.isfinite(logits).all()
assert (np.isnan(losses) == (labels.numpy() == 2)).all() and 0 < np.isnan(losses).sum() < 8

# %% [markdown] key="rows-explained"
# The loss is NaN exactly where the label is 2. All logits are finite, so the model computes well. The NaN begins in the loss.
#
# `sample_losses()` does the same for more rows. In the picture, a red edge marks a loss that is not finite. Such rows stand at the top.

# %% key="picture"
seen = sample_losses(model, train, batches=3, xla=True)
draw_losses(seen)

# %% [markdown] key="shared-text"
# ### What do the bad rows share?
#
# This is the question that finds the fault. It can be the label, as here. It can be the length, an empty text, a rare token.

# %% key="shared" device="CPU" tags=["band"]
seen

# %% key="cpu-and-xla-agree" tags=["hidden-assertion"]
assert (np.isnan(seen.xla) == (np.asarray(seen.labels) == 2)).all() and (np.isnan(seen.losses) == np.isnan(seen.xla)).all()
assert seen.error or tf.config.list_physical_devices("GPU")

# %% [markdown] key="spread-text"
# ## How NaN spreads
#
# What happens when you do not look, and train on? The next cell takes one training step by hand, with the same loss.
#
# **Predict.** The model has 72 weight tensors, all without NaN. How many of them will hold a NaN after one step?

# %% key="spread"
def count_nan(tensors):
    return sum(bool(np.isnan(tf.convert_to_tensor(one)).any()) for one in tensors)


before = count_nan(model.weights)
with tf.GradientTape() as tape:
    losses = loss_of_rows(labels, model(inputs, training=True).logits)
    loss = tf.reduce_mean(losses)
gradients = tape.gradient(loss, model.trainable_variables)
model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

print("rows with NaN:     ", count_nan(losses), "of", len(losses))
print("loss of the batch: ", float(loss))
print("gradients with NaN:", count_nan(gradients), "of", len(gradients))
print("weights with NaN:  ", before, "before the step,", count_nan(model.weights), "after it")

# %% [markdown] key="spread-explained"
# A sum with one NaN in it is NaN, and so is a mean. The loss is a mean over the rows. The gradient of a weight is a sum over the rows. So one bad row is enough, and one step is enough.

# %% key="one-nan-is-enough" tags=["hidden-assertion"]
assert np.isnan(tf.reduce_mean([1.0, float("nan")])) and np.isnan(tf.reduce_sum([1.0, float("nan")]))
assert before == 0 and count_nan(gradients) == len(gradients) == count_nan(model.weights) == len(model.weights) == 72

# %% [markdown] key="trained-text"
# ### A model that has trained tells you nothing
#
# Look at the loss of each row again, with this model and with a fresh one.
#
# **Predict.** Which rows are bad now?

# %% key="trained"
fresh = script.build_model()
script.compile_model(fresh)
print("labels:            ", labels.numpy())
print("bad, after a step: ", sample_losses(model, batch).bad)
print("bad, fresh model:  ", sample_losses(fresh, batch).bad)

# %% key="all-rows-are-bad" tags=["hidden-assertion"]
assert sample_losses(model, batch).bad == list(range(8))
assert sample_losses(fresh, batch).bad == np.flatnonzero(labels == 2).tolist()
script.compile_model(model)
assert count_nan(model.weights) == 72

# %% [markdown] key="trained-explained"
# After the step *all* rows are bad, whatever their label. What they shared can no longer be seen. A new `compile()` does not help: the weights stay NaN.
#
# So, when a loss is NaN:
#
# 1. **Load the model anew.** Do not train it.
# 2. **Run one batch.**
# 3. **Look at the loss of each row.** Are the logits finite?
# 4. **Ask what the bad rows share.**
# 5. **Compare the labels with `model.config.num_labels`.**

# %% [markdown] key="eagerly-text"
# ## Two tools, and where they fail
#
# ### `run_eagerly=True`
#
# You know it from lesson 01: the training step runs as plain Python.

# %% key="eagerly" tags=["raises-exception"] error="InvalidArgumentError" device="CPU"
model = script.build_model()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", run_eagerly=True)
model.fit(train, verbose=0)

# %% [markdown] key="eagerly-explained"
# The traceback is short now, and the calls stand in their order. Read it from its end: the operation that failed (behind `Op:`), the loss (`compiled_loss`), `train_step`, `fit`, your own line. So the forward pass went well, and the loss failed.
#
# **Where it fails:** it shows where an error is raised. A NaN raises no error. And it cannot be used with XLA: Keras refuses `run_eagerly=True` together with `jit_compile=True`.

# %% key="eagerly-and-xla" tags=["hidden-assertion"]
try:
    model.compile(optimizer="adam", run_eagerly=True, jit_compile=True)
except ValueError as error:
    _refused = str(error)
assert "run_eagerly" in _refused and "jit_compile" in _refused

# %% [markdown] key="numerics-text"
# ### `tf.debugging.enable_check_numerics()`
#
# It makes every operation check its own result, and raise an error at the first NaN or infinity.
#
# Here is another script. It weighs the rows of a batch by their length. Its labels and its head are right. Nothing raises, and the loss is NaN, on a CPU too.

# %% key="numeric-nan" tags=["band"]
numeric = fault("zero_by_zero").pipeline()
tokenized = numeric.tokenize(numeric.load())
weighted, _ = numeric.batch(tokenized)
model = numeric.build_model()
numeric.compile_model(model)
loss_at_start(model, weighted)  # it runs without a graph

# %% key="eager-shows-no-nan" tags=["hidden-assertion"]
_start = loss_at_start(model, weighted)
assert np.isnan(_start.loss) and 0.85 < _start.cross_entropy < 1.5

# %% [markdown] key="numerics-predict"
# The cross-entropy of the logits is near ln 3, so the logits and the labels are well. Where does the NaN come from?
#
# Turn the check on *before* the data set is built, and off afterwards. Its message is long: the cell prints the lines that count.

# %% key="numerics"
tf.debugging.enable_check_numerics()
try:
    weighted, _ = numeric.batch(tokenized)
    next(iter(weighted))
except tf.errors.InvalidArgumentError as error:
    lines = str(error).splitlines()
    print("\n".join(line for line in lines if "Detected" in line or "zero_by_zero" in line))
finally:
    tf.debugging.disable_check_numerics()

# %% [markdown] key="numerics-explained"
# It names the operation, `RealDiv`: a division. And it names the lines of the script that made it: line 33 (`L33`) of `batch` called `weighted`, and the division is in line 31.

# %% key="line-31"
print("\n".join(fault("zero_by_zero").script.splitlines()[28:33]))

# %% [markdown] key="zero-by-zero"
# All rows of a batch are padded to one length. So `longest - shortest` is 0, and 0 divided by 0 is NaN.
#
# **Where it fails:**
#
# * It sees only what is built after it was turned on. A data set that was there before is seen from outside: the error then names `IteratorGetNext`, which reads a batch.
# * With the two outputs of our script it adds nothing on a CPU: the error about the label comes first, with or without it.
# * It does not work with XLA. TensorFlow then stops with `Detected unsupported operations`.
#
# The loss of each row needs none of this. It is the first thing to look at.

# %% key="where-check-numerics-fails" tags=["hidden-assertion"]
def _raised(function):
    try:
        function()
    except tf.errors.InvalidArgumentError as error:
        return str(error)
    return ""


_before, _ = numeric.batch(tokenized)
tf.debugging.enable_check_numerics()
try:
    _of_data = _raised(lambda: next(iter(_before)))
    _of_label = _raised(lambda: tf.keras.losses.SparseCategoricalCrossentropy()(labels, logits))
    _of_xla = _raised(lambda: tf.function(lambda x: x / x, jit_compile=True)(tf.zeros(2)))
finally:
    tf.debugging.disable_check_numerics()
assert 'op "IteratorGetNext"' in _of_data and "RealDiv" not in _of_data
assert "Received a label value of 2" in _of_label or tf.config.list_physical_devices("GPU")
assert "Detected unsupported operations" in _of_xla

# %% [markdown] key="repair-text"
# ## Repair
#
# Back to our script. Its model needs three outputs: `from_pretrained(checkpoint, num_labels=3)`. You can also give the names of the classes, and the model counts them:

# %% key="by-names"
TFAutoModelForSequenceClassification.from_pretrained(find_checkpoint(), id2label=dict(enumerate(names))).config.num_labels

# %% [markdown] key="repair-predict"
# ### Check
#
# `walk()` runs all stages of the repaired script, with one batch of training.
#
# **Predict.** Will it come to the end? And what should the loss be, before any training?

# %% key="walk-4" tags=["band"]
tf.keras.utils.set_random_seed(1)
repaired = pipeline_from_script(script_after(4), "repaired")
walked = walk(repaired)
walked

# %% [markdown] key="walk-4-explained"
# All stages run. The NaN is gone, and the error too. But look at the line `loss`: it is far from ln 3, the loss of guessing. (The loss in the line `evaluate` was measured after one update. Do not compare that one.) "It runs" does not mean "it is right".
#
# You met this fault in lesson 02. The string `"sparse_categorical_crossentropy"` stands for a loss that takes probabilities, and the model gives logits. Three outputs do not repair that.

# %% key="walk-4-claims" tags=["hidden-assertion"]
_model = repaired.build_model()
repaired.compile_model(_model)
_rows = sample_losses(_model, train, batches=3)
_loss = next(step.came_out[0] for step in walked.steps if step.stage == "loss")
assert walked.failing_stage is None and _rows.bad == [] and _rows.error is None
assert float(_loss.split()[0]) > 2  # with 40 other heads: 1.7 to 9.0, the mean of five batches

# %% [markdown] key="repair-loss"
# Name the loss as an object, with `from_logits=True`. Then train a few batches.

# %% key="fit-5" tags=["band"]
import gc

tf.keras.backend.clear_session()  # let go of what the models above left in memory
gc.collect()

repaired = pipeline_from_script(script_after(5), "repaired")
model = repaired.build_model()
repaired.compile_model(model)
start = loss_at_start(model, train)
print(start)
history = repaired.fit(model, train.take(10), validation.take(5))

# %% key="fit-5-claims" tags=["hidden-assertion"]
assert abs(start.loss - start.chance) < 0.25 and not start.findings
assert all(np.isfinite(value).all() for value in history.history.values())
assert count_nan(model.weights) == 0

# %% [markdown] key="trap"
# The loss begins near ln 3, and training runs. Does the model learn? Ten batches cannot tell. That is lesson 04.
#
# **A trap.** You often load the model anew: after a NaN, for another learning rate, in another notebook. Give `num_labels=3` each time. It is easily forgotten, and then this lesson begins from the start. Exercise 03 has such a script.

# %% [markdown] key="debrief"
# ## Debrief
#
# One argument heals the fault of this lesson. The second change is the one of lesson 02.

# %% key="debrief-diff"
show_diff(script_after(3), script_after(5))

# %% [markdown] key="summary"
# What to take with you:
#
# * A label without an output is an error on a CPU, and a NaN on a GPU and under XLA.
# * One bad row makes the loss NaN. One step makes all weights NaN. So load the model anew before you look.
# * Look at the loss of each row of one batch, and ask what the bad rows share.
# * `num_labels` belongs in every `from_pretrained()`.
# * When the NaN is gone, compare the loss with ln C, for C classes.
#
# **Next:** [exercise 03](../exercises/03_check_your_model.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the section "Check your model" of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). Changed here: the fault is an error first, as it is on a CPU today; the NaN is shown with XLA; how NaN spreads is counted; `run_eagerly` and `enable_check_numerics` are tried, and where they fail; the repaired loss is compared with ln 3.
