# %% [markdown] key="title"
# # 02 · Check your data
#
# ★☆☆ · 30 minutes
#
# After this lesson you can look at one batch exactly as it enters the model: its form, its keys, its numbers, its text. You know who computes the loss, and you can hand over the labels in both ways.

# %% key="setup"
import helpers  # before TensorFlow: it chooses Keras 2
from helpers import decode_batch, draw_batch, explain_error, fault, look_at_batch, loss_at_start, padding_invariance, show_diff

import tensorflow as tf

tf.keras.utils.set_random_seed(1)  # the same batches and the same fresh head each time

# %% [markdown] key="script-text"
# ## The script, where lesson 01 left it
#
# Lesson 01 repaired one word: the column is called `label`. Two errors were seen, and are still there. This is the part of the script that makes the data.

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
    options = dict(columns=["input_ids", "attention_mask", "label"], batch_size=8)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


# %% key="script-is-the-arc" tags=["hidden-assertion"]
import inspect

from helpers.arc import script_after

for function in (load, tokenize, batch):
    assert inspect.getsource(function).strip() in script_after(1)

# %% [markdown] key="first-batch-text"
# ## Take one batch
#
# `fit()` takes one batch after the other. Take one yourself.
#
# **Predict.** The rows are sentences of different length. What will happen?

# %% key="first-batch" tags=["raises-exception"] error="InvalidArgumentError"
raw = load()
tokenized = tokenize(raw)
train, validation = batch(tokenized)
next(iter(train))

# %% key="first-batch-explained"
explain_error()

# %% [markdown] key="lengths-text"
# ### Evidence
#
# How long are the first eight rows, in tokens?

# %% key="lengths"
[len(ids) for ids in tokenized["train"][:8]["input_ids"]]

# %% [markdown] key="collator-text"
# A batch is a table of numbers. Rows of different length are no table. Two ways make one:
#
# * **A collator pads each batch** to the length of its longest row: `DataCollatorWithPadding`.
# * **The tokenizer pads all rows** to one length: `padding="max_length"`.
#
# ### Repair
#
# Take the collator. `return_tensors="np"` is the safe choice for `to_tf_dataset`: the collator gets numpy arrays, and gives numpy arrays.

# %% key="batch-padded"
from transformers import DataCollatorWithPadding


def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    options = dict(columns=["input_ids", "attention_mask", "label"], batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


train, validation = batch(tokenized)
one_batch = next(iter(train))
draw_batch(one_batch, tokenizer)

# %% key="batch-padded-is-masked" tags=["hidden-assertion"]
import numpy as np

_ids, _mask = one_batch["input_ids"].numpy(), one_batch["attention_mask"].numpy()
assert ((_ids == tokenizer.pad_token_id) == (_mask == 0)).all() and (_mask == 0).any()

# %% [markdown] key="map-text"
# Each line is a row, each square a token. `[CLS]` opens a row; `[SEP]` stands after each of its two sentences. Grey is padding: numbers that mean nothing, and fill the table up.
#
# ### What does padding cost?
#
# **Predict.** The other way pads every row to one length, here 64. What share of the positions is padding then?

# %% key="padding-share"
def padding_share(dataset):
    batches = [features["attention_mask"].numpy() for features in dataset.take(50)]
    return sum((mask == 0).sum() for mask in batches) / sum(mask.size for mask in batches)


def tokenize_to_64(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, padding="max_length", max_length=64)


all_64 = raw["train"].map(tokenize_to_64, batched=True).to_tf_dataset(columns=["input_ids", "attention_mask"], batch_size=8)
print(f"collator: {padding_share(train):.1f} of the positions are padding, one length: {padding_share(all_64):.1f}")

# %% key="padding-share-true" tags=["hidden-assertion"]
assert 0.1 < padding_share(train) < 0.3 and 0.58 < padding_share(all_64) < 0.72
_lengths = [features["input_ids"].shape[1] for features in train.take(50)]
assert sum(_lengths) / len(_lengths) < 64 / 2 and {features["input_ids"].shape[1] for features in all_64.take(50)} == {64}

# %% [markdown] key="padding-explained"
# The model computes every position, padding too. Here, padding each batch by itself saves about half of the computation.
#
# ## The mask
#
# How does the model know which positions are padding? Not from the number 0 in `input_ids`. Only from `attention_mask`: 1 is text, 0 is padding.
#
# **Predict.** A row gets eight more positions of padding. Should the answer of the model change?

# %% key="mask-kept"
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
with_mask = padding_invariance(model, one_batch)
print(f"{with_mask.change:.4f}")

# %% key="mask-kept-true" tags=["hidden-assertion"]
assert with_mask.change < 1e-4 and not with_mask.findings

# %% [markdown] key="mask-lost-text"
# It does not change. Now the same batch without its mask: the column was forgotten.

# %% key="mask-lost" tags=["band"]
without_mask = padding_invariance(model, {"input_ids": one_batch["input_ids"]})
without_mask

# %% key="mask-lost-band" tags=["hidden-assertion"]
assert 0.01 < without_mask.change < 0.5 and set(without_mask.findings) == {"no_mask"}
assert without_mask.change > 1000 * with_mask.change

# %% key="mask-lost-drawn"
draw_batch({"input_ids": one_batch["input_ids"]}, tokenizer)

# %% [markdown] key="mask-explained"
# Nothing raises, and the answers change. The red squares of the map are padding that the model reads as text. Without a mask the answer for a row depends on the longest row of its batch. So `attention_mask` belongs to the columns, in training and in validation.
#
# ## Every key, against the model
#
# A dict goes into the model by its keys: each key is the name of an argument of `call()`. What does the model take?

# %% key="signature"
print(*inspect.signature(model.call).parameters)

# %% [markdown] key="look-predict"
# **Predict.** We asked for the columns `input_ids`, `attention_mask` and `label`. `label` is not among those names. Will the model take the batch?

# %% key="look"
view = look_at_batch(one_batch, model)
view

# %% [markdown] key="look-text"
# Read it line by line.
#
# * **The container** is a dict: there is no y beside it.
# * **The keys.** We asked for `label`, and the batch has `labels`: the collator renamed it. `labels` is a name that the model takes; `label` is not.
# * **The shapes:** 8 rows, and the same length for ids and mask.
# * **The dtypes** are whole numbers, as ids and classes are.
# * **`labels_at`** says where the labels lie. **`model takes`** says whether the model knows every key.

# %% key="look-true" tags=["hidden-assertion"]
assert view.container == "dict" and view.labels_at == "inputs['labels']" and view.not_taken == [] and view.rows == 8
assert set(view.keys) == {"input_ids", "attention_mask", "labels"} and set(view.dtypes.values()) == {"int64"}
_not_renamed = {"label" if name == "labels" else name: values for name, values in one_batch.items()}
assert look_at_batch(_not_renamed, model).not_taken == ["label"]

# %% [markdown] key="decode-text"
# Then read the text. Can you tell why each row has its label?

# %% key="decode"
names = raw["train"].features["label"].names
for ids, label in list(zip(one_batch["input_ids"], one_batch["labels"].numpy()))[:3]:
    print(names[label], "|", tokenizer.decode(ids, skip_special_tokens=False).replace(" [PAD]", ""))

# %% [markdown] key="decode-probe-text"
# Three rows are soon read. For a whole batch, count: how much is unknown to the tokenizer, and is the largest id inside the model's vocabulary?

# %% key="decode-probe"
decoded = decode_batch(one_batch, tokenizer, model)
print(f"unknown {decoded.unknown:.0%}, cut {decoded.cut:.0%}; {len(decoded.findings)} findings")

# %% key="decode-probe-true" tags=["hidden-assertion"]
assert decoded.unknown == 0 and not decoded.findings

# %% [markdown] key="owner-text"
# ## Who computes the loss?
#
# There are two owners, and each looks for the labels in its own place.
#
# | who | `compile()` | where it looks for the labels |
# | --- | --- | --- |
# | the model | names no loss | under the key `labels`, or in y |
# | Keras | names a loss | in y; today also under the key `labels` |
#
# Our batch has the key `labels`. With no loss in `compile()` the model finds them.
#
# **Predict.** The model has not learnt anything yet. What is its loss?

# %% key="owner-model" tags=["band"]
model.compile(optimizer=tf.keras.optimizers.Adam(5e-5))
own = loss_at_start(model, one_batch)
own

# %% key="owner-model-band" tags=["hidden-assertion"]
assert own.owner == "model" and abs(own.loss - own.cross_entropy) < 1e-3 and not own.findings

# %% [markdown] key="owner-keras-text"
# It is near ln 3, a guess among three classes. (The model here has three outputs. The script's model has two. Lesson 03 comes to that.)
#
# Now the other owner. `label_cols=` makes a pair (x, y) of each batch, and `compile()` names a loss.

# %% key="batch-pair"
def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    options = dict(columns=["input_ids", "attention_mask"], label_cols="labels", batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


train, validation = batch(tokenized)
look_at_batch(train).labels_at

# %% [markdown] key="owner-keras-run"
# **Predict.** Same model, same batch: will the loss that Keras computes be different?

# %% key="owner-keras"
pair = ({name: one_batch[name] for name in ("input_ids", "attention_mask")}, one_batch["labels"])
model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
keras = loss_at_start(model, pair)
print(f"{abs(keras.loss - own.loss):.4f} apart, and the owner is now: {keras.owner}")

# %% key="owner-keras-true" tags=["hidden-assertion"]
assert keras.owner == "keras" and abs(keras.loss - own.loss) < 1e-4
_from_dict = loss_at_start(model, one_batch)
assert _from_dict.owner == "keras" and abs(_from_dict.loss - own.loss) < 1e-4
model.compile(optimizer=tf.keras.optimizers.Adam(5e-5))
_from_y = loss_at_start(model, pair)
assert _from_y.owner == "model" and abs(_from_y.loss - own.loss) < 1e-4
assert inspect.getsource(batch).strip() in script_after(3)

# %% [markdown] key="owner-explained"
# Both compute the same number, and both ways are right. Choose one owner, and hand the labels over in its way. Our script names a loss, so it keeps the pair. What fails is a mixture: lesson 01 met `Could not find label column(s)`, because the labels lay under the key `label`, where neither looks.
#
# ## The fault that does not raise
#
# The script does not write `from_logits=True`. It names its loss by a string: `loss="sparse_categorical_crossentropy"`.
#
# **Predict.** The same batch, the same model: does that make a difference?

# %% key="string-loss" tags=["band"]
model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), loss="sparse_categorical_crossentropy")
string = loss_at_start(model, pair)
string

# %% key="string-loss-band" tags=["hidden-assertion"]
assert set(string.findings) == {"another_loss"} and abs(string.loss - string.cross_entropy) > 1e-2
assert abs(string.cross_entropy - keras.loss) < 1e-3
_from_dict = loss_at_start(model, one_batch)
assert _from_dict.owner == "keras" and abs(_from_dict.loss - string.loss) < 1e-3

# %% [markdown] key="string-text"
# No error, and another number. It is the same number when the labels lie in the dict.
#
# The string stands for a loss that takes *probabilities*: numbers from 0 to 1 that add up to 1. The model gives *logits*: numbers of any size, below zero too. Here are the logits of one row whose label is 0.
#
# **Predict.** All three logits are small. What should the loss be near?

# %% key="one-row"
logits = [[-0.1, 0.1, 0.1]]
for from_logits in (True, False):
    loss = tf.keras.losses.sparse_categorical_crossentropy([0], logits, from_logits=from_logits)
    print(f"from_logits={from_logits}: {loss[0]:.2f}")

# %% [markdown] key="string-explained"
# A fresh head gives small logits, so each class gets about one third, and the loss is near ln 3. But taken for a probability, −0.1 is cut to almost 0: "class 0 is impossible". The label says 0, and the row costs more than 14.
#
# **So look at the loss before you train.** With a fresh head it must be near ln C, for C classes. With this fault it depends on the head that was drawn. Of thirty fresh heads, most start above 2, many above 5, and now and then one starts near ln C by luck. So compare the loss with the cross-entropy of the logits too. `loss_at_start()` does both.

# %% key="string-heads-true" tags=["hidden-assertion"]
assert abs(float(tf.keras.losses.sparse_categorical_crossentropy([0], logits)[0]) - 14.51) < 0.01
_first_token = model.distilbert(pair[0]).last_hidden_state[:, 0]
_losses, _head = [], (model.pre_classifier, model.classifier)
for _number in range(30):
    for _layer in _head:
        _layer.kernel.assign(tf.random.truncated_normal(_layer.kernel.shape, stddev=model.config.initializer_range))
        _layer.bias.assign(tf.zeros_like(_layer.bias))
    _logits = model.classifier(model.pre_classifier(_first_token))
    _losses.append(float(tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(pair[1], _logits))))
assert sum(loss > 2 for loss in _losses) >= 22 and sum(loss > 5 for loss in _losses) >= 8 and min(_losses) < 2, _losses

# %% [markdown] key="string-repair"
# ### Repair
#
# Say what the model gives: `SparseCategoricalCrossentropy(from_logits=True)`, or let the model compute its loss.

# %% key="string-diff"
fault("string_loss").diff

# %% [markdown] key="validation-text"
# ## Look at the validation data too
#
# Training and validation are often made by two calls. A change in one is easily forgotten in the other. Here somebody added the mask for training only.
#
# **Predict.** Will the model take these batches?

# %% key="validation-made"
collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
of_validation = tokenized["validation_matched"].to_tf_dataset(columns=["input_ids"], label_cols="labels", batch_size=8, collate_fn=collator)
look_at_batch(of_validation, model)

# %% [markdown] key="validation-compare"
# It will. Compare it with a batch of the validation data made by `batch()`.

# %% key="validation-well"
look_at_batch(validation, model)

# %% [markdown] key="validation-explained"
# The mask is gone. So is the name `input_ids`: for a single column, `to_tf_dataset` gives no dict. The model takes what has no name for its first argument, the ids, and nothing raises.
#
# Such a model is trained with a mask and scored without one. The training shows nothing of it. So look at a batch of each.

# %% key="validation-true" tags=["hidden-assertion"]
_x, _y = next(iter(of_validation))
assert not isinstance(_x, dict) and next(iter(inspect.signature(model.call).parameters)) == "input_ids"
assert set(padding_invariance(model, of_validation).findings) == {"no_mask"}
assert not padding_invariance(model, validation).findings
assert model.evaluate(of_validation.take(1), verbose=0) > 0

# %% [markdown] key="run-text"
# ## Run the repaired script
#
# The data are right now. The model and `compile()` are still those of the script.
#
# **Predict.** Will it train?

# %% key="run" tags=["raises-exception"] error="InvalidArgumentError"
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train.take(20))

# %% key="run-explained"
explain_error()

# %% key="next-error-true" tags=["hidden-assertion"]
import sys

assert "Received a label value of 2 which is outside the valid range of [0, 2)" in str(sys.last_value)
assert 'optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"]' in script_after(3)

# %% [markdown] key="debrief"
# ## Debrief
#
# The batch is right, and the next error speaks of the *values* of the labels: 2 is outside of [0, 2). That is a matter between the data and the model. Lesson 03 goes on there. The string loss is still in the script too: it raises nothing, and it is repaired after that error.
#
# These lines repaired the data:

# %% key="debrief-diff"
show_diff(script_after(1), script_after(3))

# %% [markdown] key="summary"
# What to take with you:
#
# * Take one batch, and look at it: container, keys, shapes, dtypes, mask, text, labels.
# * Pad each batch, and keep `attention_mask`.
# * The model looks for `labels`, Keras for y. Choose one owner of the loss.
# * Before training the loss must be near ln C, and it must be the cross-entropy of the logits.
# * Look at the validation data in the same way.
#
# **Next:** [exercise 02](../exercises/02_check_your_data.ipynb).

# %% [markdown] key="credit"
# ---
# This lesson follows the section "Check your data" of "Debugging the training pipeline" in the Hugging Face course (chapter 8, TensorFlow). Changed here: the errors are those of today's libraries; padding, the mask and the validation data are looked at too; the optional challenge about the loss is solved.
