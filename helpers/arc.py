"""The script of lessons 01 to 04, with all its faults at once, and the repairs in the order in which the faults are met.

On today's libraries the faults hide each other: each error is the first one met after the repair before it.
"""

from dataclasses import dataclass

from helpers.faults import COLLATOR, COMPILE, KERAS_LOSS, OPTIONS, Changes
from helpers.pipeline import healthy_script
from helpers.scripts import change_script

BROKEN: Changes = [
    (", DataCollatorWithPadding", ""),
    (COLLATOR, ""),
    (OPTIONS, 'dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8)'),
    (", num_labels=3", ""),
    (COMPILE, 'optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"]'),
]


@dataclass(frozen=True)
class Repair:
    """lesson: where it is made · error: (class, text) that is met before it, None for a fault that raises nothing."""

    name: str
    lesson: str
    error: tuple[str, str] | None
    changes: Changes


REPAIRS = [
    Repair(
        "the column is called label", "01_the_broken_script", ("ValueError", "Column labels not found in dataset!"),
        [('"attention_mask", "labels"]', '"attention_mask", "label"]')],
    ),
    Repair(
        "the labels go where the loss looks", "02_check_your_data", ("ValueError", "Could not find label column(s) in input dict"),
        [('columns=["input_ids", "attention_mask", "label"]', 'columns=["input_ids", "attention_mask"], label_cols="label"')],
    ),
    Repair(
        "the rows are padded", "02_check_your_data", ("InvalidArgumentError", "all input arrays must have the same shape"),
        [
            ("import AutoTokenizer, TF", "import AutoTokenizer, DataCollatorWithPadding, TF"),
            ("def batch(tokenized):\n", "def batch(tokenized):\n" + COLLATOR),
            ('label_cols="label", batch_size=8)', 'label_cols="labels", batch_size=8, collate_fn=collator)'),
        ],
    ),
    Repair(
        "the head has three outputs", "03_check_your_model", ("InvalidArgumentError", "which is outside the valid range of [0, 2)"),
        [("from_pretrained(checkpoint)\n\n\ndef compile_model", "from_pretrained(checkpoint, num_labels=3)\n\n\ndef compile_model")],
    ),
    Repair("the loss takes logits", "02_check_your_data", None, [('loss="sparse_categorical_crossentropy"', KERAS_LOSS)]),
    Repair("the learning rate is 5e-5", "04_check_your_hyperparameters", None, [('optimizer="adam"', "optimizer=tf.keras.optimizers.Adam(5e-5)")]),
]  # fmt: skip


def broken_script() -> str:
    """The whole script with all its faults."""
    return change_script(healthy_script(), BROKEN)


def script_after(repairs: int) -> str:
    """The script after the first ``repairs`` repairs: 0 is the broken one, 6 the healthy one with a Keras loss."""
    script = broken_script()
    for repair in REPAIRS[:repairs]:
        script = change_script(script, repair.changes)
    return script
