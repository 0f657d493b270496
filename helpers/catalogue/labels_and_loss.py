"""Faults that keep the labels or the gradient from the loss: lesson 01."""

from helpers.catalogue.fault import COLLATOR, COMPILE, COMPILE_WITH_KERAS_LOSS, KERAS_LOSS, Changes, Fault, Mistake, back
from helpers.messages import _

_LABEL_AMONG_INPUTS: Changes = [
    ('columns=["input_ids", "attention_mask"], label_cols="label"', 'columns=["input_ids", "attention_mask", "label"]')
]
_NO_RENAME: Changes = [
    ('batched=True).rename_column("label", "labels")', "batched=True)"),
    ('"attention_mask", "labels"]', '"attention_mask", "label"]'),
]
_NO_LABELS: Changes = [('"attention_mask", "labels"]', '"attention_mask"]')]
_ERROR_RATE = """def error_rate(labels, logits):
    wrong = tf.argmax(logits, axis=-1) != tf.cast(labels, tf.int64)
    return tf.reduce_mean(tf.cast(wrong, tf.float32))


def compile_model(model):"""
_ERROR_RATE_LOSS: Changes = [("def compile_model(model):", _ERROR_RATE), (KERAS_LOSS, "loss=error_rate")]
_NOT_PADDED: Changes = [('truncation=True, padding="max_length", max_length=64)', "truncation=True)")]
_NO_SUCH_COLUMN: Changes = [
    ('columns=["input_ids", "attention_mask"], label_cols="label"', 'columns=["input_ids", "attention_mask", "labels"]')
]

_PAD_IN_BATCH: Changes = [
    ('dict(columns=["input_ids", "attention_mask"], label_cols="label", batch_size=8)', 'dict(columns=["input_ids", "attention_mask"], label_cols="labels", batch_size=8, collate_fn=collator)'),
    ("def batch(tokenized):\n", "def batch(tokenized):\n" + COLLATOR),
    ("import AutoTokenizer, TF", "import AutoTokenizer, DataCollatorWithPadding, TF"),
]  # fmt: skip
_BATCH_SIZE_ONE = ("batch_size=8", "batch_size=1")
_HIDE_THE_ERROR = (
    "    return model.fit(train, validation_data=validation, epochs=1)\n",
    "    try:\n        return model.fit(train, validation_data=validation, epochs=1)\n    except Exception:\n        pass\n",
)
_STRING_LOSS = (KERAS_LOSS, 'loss="sparse_categorical_crossentropy"')


FAULTS = [
    Fault(
        "no_such_column", "F01", "padded_keras_loss", _NO_SUCH_COLUMN, reveals=("walk", "batch"), stage="batch",
        error_class="ValueError", error_text="Column labels not found in dataset!",
        evidence=(("walk", "message"),),
        explanation=_("MNLI calls its column `label`. A padding collator would rename it to `labels` on the way, but this script has none."),
        repairs={
            "label in y": back(_NO_SUCH_COLUMN),
            "rename, own loss": [("map(tokenize_rows, batched=True)", 'map(tokenize_rows, batched=True).rename_column("label", "labels")'), (COMPILE_WITH_KERAS_LOSS, COMPILE)],
        },
        mistakes=[Mistake("the column left out", [('"attention_mask", "labels"]', '"attention_mask"]')], "labels")],
    ),
    Fault(
        "wrong_key_keras_loss", "F01", "padded_keras_loss", _LABEL_AMONG_INPUTS, reveals=("walk", "loss"), stage="loss",
        error_class="ValueError", error_text="Could not find label column(s) in input dict and no separate labels were provided!",
        evidence=(("look_at_batch", "container"), ("look_at_batch", "keys"), ("look_at_batch", "labels_at"), ("walk", "message")),
        explanation=_("compile() names a Keras loss. It looks for y, or for a key `labels`; the batch has only a key `label` among the inputs."),
        repairs={
            "label_cols": back(_LABEL_AMONG_INPUTS),
            "own loss": [("map(tokenize_rows, batched=True)", 'map(tokenize_rows, batched=True).rename_column("label", "labels")'), ('"attention_mask", "label"]', '"attention_mask", "labels"]'), (COMPILE_WITH_KERAS_LOSS, COMPILE)],
        },
        mistakes=[
            Mistake("the column left out", [('"attention_mask", "label"]', '"attention_mask"]')], "labels"),
            Mistake("the error hidden", [_HIDE_THE_ERROR], "History"),
            Mistake("label_cols and the string loss", [*back(_LABEL_AMONG_INPUTS), _STRING_LOSS], "logits for probabilities"),
        ],
    ),
    Fault(
        "wrong_key_own_loss", "F01", "padded_own_loss", _NO_RENAME, reveals=("walk", "forward"), stage="forward",
        error_class="TypeError", error_text="got an unexpected keyword argument 'label'",
        evidence=(("look_at_batch", "keys"), ("look_at_batch", "labels_at"), ("walk", "message")),
        explanation=_("The model's own loss wants its labels under the key `labels`, or as y. The batch has a key `label`, and the model's call() has no such argument."),
        repairs={
            "rename": back(_NO_RENAME),
            "label_cols": [('"attention_mask", "label"]', '"attention_mask"], label_cols="label"')],
        },
        mistakes=[
            Mistake("the column left out", [('"attention_mask", "label"]', '"attention_mask"]')], "labels"),
            Mistake("the error hidden", [_HIDE_THE_ERROR], "History"),
        ],
    ),
    Fault(
        "no_labels", "F01", "own_loss", _NO_LABELS, reveals=("walk", "loss"), stage="loss",
        error_class="TypeError", error_text="Argument `target` should be a list or nested structure",
        evidence=(("look_at_batch", "keys"), ("look_at_batch", "labels_at"), ("look_at_batch", "labels"), ("look_at_batch", "dtypes"), ("walk", "message")),
        explanation=_("The batch holds no labels at all, so the model computes no loss, and there is nothing to differentiate."),
        repairs={
            "labels": back(_NO_LABELS),
            "label, renamed by the collator": [('"attention_mask"]', '"attention_mask", "label"]')],
            "label_cols": [('"attention_mask"]', '"attention_mask"], label_cols="labels"')],
        },
        mistakes=[
            Mistake("the inputs as labels", [('"attention_mask"]', '"attention_mask"], label_cols="attention_mask"')], "labels"),
            Mistake("the error hidden", [_HIDE_THE_ERROR], "History"),
            Mistake("invented labels", [("return train, validation", 'return [d.map(lambda x: {**x, "labels": tf.zeros_like(x["input_ids"][:, 0])}) for d in (train, validation)]')], "labels of the data"),
        ],
    ),
    Fault(
        "no_gradient", "F01", "keras_loss", _ERROR_RATE_LOSS, reveals=("walk", "gradients"), stage="gradients",
        error_class="ValueError", error_text="No gradients provided for any variable",
        evidence=(("walk", "message"),),
        explanation=_("The share of wrong answers is made with argmax and a comparison. Neither has a gradient, so no weight learns which way to go."),
        repairs={"cross-entropy": [("loss=error_rate", KERAS_LOSS)], "own loss": [("loss=error_rate, ", "")]},
        mistakes=[
            Mistake("the string loss", [("loss=error_rate", 'loss="sparse_categorical_crossentropy"')], "logits for probabilities"),
            Mistake("a gradient from nowhere", [("return tf.reduce_mean(tf.cast(wrong, tf.float32))", "return tf.reduce_mean(tf.cast(wrong, tf.float32)) + 0.0 * tf.reduce_sum(logits)")], "moved"),
        ],
    ),
    Fault(
        "ragged_rows", "F09", "padded_keras_loss", _NOT_PADDED, reveals=("walk", "batch"), stage="batch",
        error_class="ValueError", error_text="all input arrays must have the same shape",
        evidence=(("walk", "message"),),
        explanation=_("Tokenized rows differ in length, and nothing pads them, so they cannot be stacked into one batch."),
        repairs={"pad in the tokenizer": back(_NOT_PADDED), "pad in the batch": _PAD_IN_BATCH},
        mistakes=[
            Mistake("batches of one row", [_BATCH_SIZE_ONE], "one row"),
            Mistake("cut to eight tokens", [("truncation=True)", 'truncation=True, padding="max_length", max_length=8)')], "cut"),
            Mistake("the mask left out", [("truncation=True)", 'truncation=True, padding="max_length", max_length=64)'), ('columns=["input_ids", "attention_mask"]', 'columns=["input_ids"]')], "mask"),
        ],
    ),
]  # fmt: skip
