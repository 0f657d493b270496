"""The fault catalogue: each fault is the smallest change that breaks a healthy script, with all that a lesson needs to know of it.

There are several healthy ways to write the same script. A fault names the one that it breaks (``base``).
"""

from dataclasses import dataclass, field

from helpers.messages import _
from helpers.pipeline import Pipeline, healthy_script, pipeline_from_script
from helpers.scripts import Text, change_script, show_diff

Changes = list[tuple[str, str]]

# ---------------------------------------------------------------- healthy scripts

OPTIONS = 'dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8, collate_fn=collator)'
COLLATOR = '    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")\n'
TRUNCATION = "truncation=True)"
COMPILE = 'optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"]'
KERAS_LOSS = "loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)"
COMPILE_WITH_KERAS_LOSS = COMPILE.replace("metrics", KERAS_LOSS + ", metrics")

BASES: dict[str, Changes] = {
    # labels inside the inputs, the model's own loss, a collator that pads
    "own_loss": [],
    # (x, y) and a Keras loss, a collator that pads
    "keras_loss": [
        (OPTIONS, 'dict(columns=["input_ids", "attention_mask"], label_cols="labels", batch_size=8, collate_fn=collator)'),
        (COMPILE, COMPILE_WITH_KERAS_LOSS),
    ],
    # padded by the tokenizer, so no collator: the column keeps its name `label`
    "padded_own_loss": [
        (TRUNCATION, 'truncation=True, padding="max_length", max_length=64)'),
        ("return raw.map(tokenize_rows, batched=True)", 'return raw.map(tokenize_rows, batched=True).rename_column("label", "labels")'),
        (COLLATOR, ""),
        (", DataCollatorWithPadding", ""),
        (OPTIONS, 'dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8)'),
    ],
    "padded_keras_loss": [
        (TRUNCATION, 'truncation=True, padding="max_length", max_length=64)'),
        (COLLATOR, ""),
        (", DataCollatorWithPadding", ""),
        (OPTIONS, 'dict(columns=["input_ids", "attention_mask"], label_cols="label", batch_size=8)'),
        (COMPILE, COMPILE_WITH_KERAS_LOSS),
    ],
}


def base_script(name: str) -> str:
    return change_script(healthy_script(), BASES[name])


# ---------------------------------------------------------------- faults


@dataclass(frozen=True)
class Mistake:
    """A tempting wrong repair: a change of the broken script, and a part of the message that the learner must get."""

    name: str
    changes: Changes
    says: str


@dataclass(frozen=True)
class Fault:
    """stage: where a walk finds it · error_class, error_text: what fit() (or an earlier stage) raises ·
    evidence: the (probe, field) pairs that show it · repairs: name -> change of the broken script ·
    owner: who computes the loss in the repaired script, "model" or "keras".
    """

    name: str
    base: str
    changes: Changes
    stage: str
    error_class: str
    error_text: str
    evidence: tuple[tuple[str, str], ...]
    explanation: str
    repairs: dict[str, Changes]
    mistakes: list[Mistake] = field(default_factory=list)

    @property
    def script(self) -> str:
        return change_script(base_script(self.base), self.changes)

    @property
    def diff(self) -> Text:
        """The smallest change that repairs it."""
        return show_diff(self.script, base_script(self.base))

    def pipeline(self) -> Pipeline:
        return pipeline_from_script(self.script, self.name)

    def __repr__(self) -> str:
        return f"Fault {self.name}: {self.error_class}: {self.error_text}"


def back(changes: Changes) -> Changes:
    """The change that takes ``changes`` back."""
    return [(new, old) for old, new in reversed(changes)]


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


def catalogue() -> dict[str, Fault]:
    """All faults by name, in the order of the lessons."""
    faults = [
        Fault(
            "no_such_column", "padded_keras_loss", _NO_SUCH_COLUMN, "batch", "ValueError", "Column labels not found in dataset!",
            evidence=(("walk", "message"),),
            explanation=_("MNLI calls its column `label`. A padding collator would rename it to `labels` on the way, but this script has none."),
            repairs={
                "label in y": back(_NO_SUCH_COLUMN),
                "rename, own loss": [("map(tokenize_rows, batched=True)", 'map(tokenize_rows, batched=True).rename_column("label", "labels")'), (COMPILE_WITH_KERAS_LOSS, COMPILE)],
            },
            mistakes=[Mistake("the column left out", [('"attention_mask", "labels"]', '"attention_mask"]')], "labels")],
        ),
        Fault(
            "wrong_key_keras_loss", "padded_keras_loss", _LABEL_AMONG_INPUTS, "loss", "ValueError", "Could not find label column(s) in input dict and no separate labels were provided!",
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
            "wrong_key_own_loss", "padded_own_loss", _NO_RENAME, "forward", "TypeError", "got an unexpected keyword argument 'label'",
            evidence=(("look_at_batch", "not_taken"), ("look_at_batch", "keys"), ("look_at_batch", "labels_at"), ("walk", "message")),
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
            "no_labels", "own_loss", _NO_LABELS, "loss", "TypeError", "Argument `target` should be a list or nested structure",
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
            "no_gradient", "keras_loss", _ERROR_RATE_LOSS, "gradients", "ValueError", "No gradients provided for any variable",
            evidence=(("walk", "message"),),
            explanation=_("The share of wrong answers is made with argmax and a comparison. Neither has a gradient, so no weight learns which way to go."),
            repairs={"cross-entropy": [("loss=error_rate", KERAS_LOSS)], "own loss": [("loss=error_rate, ", "")]},
            mistakes=[
                Mistake("the string loss", [("loss=error_rate", 'loss="sparse_categorical_crossentropy"')], "logits for probabilities"),
                Mistake("a gradient from nowhere", [("return tf.reduce_mean(tf.cast(wrong, tf.float32))", "return tf.reduce_mean(tf.cast(wrong, tf.float32)) + 0.0 * tf.reduce_sum(logits)")], "moved"),
            ],
        ),
        Fault(
            "ragged_rows", "padded_keras_loss", _NOT_PADDED, "batch", "ValueError", "all input arrays must have the same shape",
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
    return {fault.name: fault for fault in faults}


CATALOGUE = catalogue()


def fault(name: str) -> Fault:
    """The fault of this name. Any other name is a LookupError that says which there are."""
    if not isinstance(name, str) or name not in CATALOGUE:
        raise LookupError(_("There is no fault {name!r}. There are: {names}.").format(name=name, names=", ".join(CATALOGUE)))
    return CATALOGUE[name]
