"""What a fault is, and the healthy scripts that the faults break."""

from dataclasses import dataclass, field

from helpers.pipeline import Pipeline, healthy_script, pipeline_from_script
from helpers.scripts import Text, change_script, show_diff

Changes = list[tuple[str, str]]

# ---------------------------------------------------------------- healthy scripts

OPTIONS = 'dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8, collate_fn=collator)'
COLLATOR = '    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")\n'
TRUNCATION = "truncation=True)"
COMPILE = 'optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"]'
KERAS_LOSS = "loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)"
LOAD = "return load_mnli(train_rows=2400, validation_rows=750)"
RETURN = "    return train, validation\n"
BUILD = "return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)"
FIT = "return model.fit(train, validation_data=validation, epochs=1)"
EVALUATE = "return model.evaluate(validation, return_dict=True)"
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
    """group: of the catalogue, see GROUPS in helpers/faults.py · changes: of the healthy script ``base`` · reveals: (probe, its finding) ·
    stage: where a walk stops, None where it goes through · error_class, error_text: what fit() or an earlier stage raises, None
    where nothing raises: a silent fault · eager_text: what a walk meets, where that differs: it runs fit() without a graph · evidence: the (probe, field) pairs that show it in an exercise ·
    repairs: name -> change of the broken script.
    """

    name: str
    group: str
    base: str
    changes: Changes
    reveals: tuple[str, str]
    explanation: str
    repairs: dict[str, Changes]
    mistakes: list[Mistake] = field(default_factory=list)
    stage: str | None = None
    error_class: str | None = None
    error_text: str | None = None
    eager_text: str | None = None
    evidence: tuple[tuple[str, str], ...] = ()

    @property
    def silent(self) -> bool:
        return self.error_class is None

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
        probe, finding = self.reveals
        said = f"{self.error_class}: {self.error_text}" if not self.silent else f"raises nothing; {probe} finds {finding}"
        return f"Fault {self.name}: {said}"


def back(changes: Changes) -> Changes:
    """The change that takes ``changes`` back."""
    return [(new, old) for old, new in reversed(changes)]
