"""The labels of a dataset: how many of each, in which form, and does the model's head fit them?"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, labels_of
from helpers.guards import CannotExamine, first_batches, need_model, never_raises
from helpers.messages import _
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.report import report

RARE = 0.5  # a class with less than half of its even share is rare


@dataclass(frozen=True)
class LabelAudit:
    """rows: that were read · counts: class id -> rows · form: "ids", "one-hot" or "none" · outputs: of the model's head,
    names: class id -> name, as the model's id2label has them; None without a model."""

    rows: int
    counts: dict[int, int]
    form: str
    outputs: int | None
    names: dict[int, str] | None
    findings: dict[str, str]

    def __repr__(self) -> str:
        counts = ", ".join(f"{label}: {count}" for label, count in self.counts.items())
        return report(
            [(_("rows"), self.rows), (_("form"), self.form), (_("counts"), counts or "-"), (_("outputs"), self.outputs or "-")],
            self.findings,
        )


@never_raises
def audit_labels(dataset, model=None, names: list[str] | None = None, batches: int = 100) -> LabelAudit:
    """Read up to ``batches`` batches of a tf.data.Dataset and audit their labels.

    ``model``: a Transformers TF model; its config.num_labels and id2label are compared with the labels. ``names``: the names
    of the data's classes in the order of their ids, for example raw["train"].features["label"].names.
    """
    if model is not None:
        need_model(model)
    outputs = getattr(getattr(model, "config", None), "num_labels", None)
    counts, form, rows = Counter(), "none", 0
    for batch in first_batches(dataset, batches):
        labels, here = labels_of(batch), look_at_batch(batch).rows
        if here is None:
            raise CannotExamine(_("a batch has no batch axis."), _("Give to_tf_dataset() a batch_size."))
        rows += here
        if labels is not None:
            form = "one-hot" if np.ndim(labels) == 2 and np.shape(labels)[1] > 1 else "ids"
            counts.update(class_ids(labels, here))
    counts = dict(sorted(counts.items(), key=str))
    named = getattr(getattr(model, "config", None), "id2label", None)
    named = {id_: named[id_] for id_ in sorted(named)} if named else None
    return LabelAudit(rows, counts, form, outputs, named, dict(label_findings(counts, rows, form, model, outputs, names)))


def label_findings(counts: dict, rows: int, form: str, model, outputs: int | None, names: list[str] | None):
    """(name of the finding, one sentence), one after the other."""
    if form == "none":
        yield "no_labels", _("The batches hold no labels, neither as y nor under the key `labels`.")
        return
    ids = [label for label in counts if isinstance(label, int)]
    if len(ids) < len(counts):
        yield "not_one_per_row", _("There is not one class id for each row.")
        return
    outside = [label for label in ids if label < 0 or (outputs and label >= outputs)]
    if outside and outputs:
        yield "outside_the_head", _("The labels {labels} have no output: the head has {outputs}.").format(labels=outside, outputs=outputs)
    elif outside:
        yield "below_zero", _("The labels {labels} are below 0.").format(labels=outside)
    if outputs and outputs > 1 and len(ids) > 1 and 0 not in ids and max(ids) == outputs - 1 and len(ids) == outputs - 1:
        yield "from_one", _("The labels go from 1, and output 0 has none.")
    classes = len(names) if names else len(ids)
    rare = [label for label, count in counts.items() if count < RARE * rows / classes]
    if len(ids) == 1 and rows > 8:
        yield "one_class", _("All {rows} rows have the label {label}.").format(rows=rows, label=ids[0])
    elif rare and rows >= 32 * classes:
        yield "imbalanced", _("The classes {labels} are rare: less than half of an even share.").format(labels=rare)
    of_model = getattr(getattr(model, "config", None), "id2label", None)
    if names and of_model and not str(of_model.get(0, "")).startswith("LABEL_"):
        differing = [id_ for id_, name in enumerate(names) if str(of_model.get(id_)).lower() != name.lower()]
        if differing:
            yield (
                "names_differ",
                _("The model calls class {id} {model}, the data call it {data}.").format(
                    id=differing[0], model=of_model.get(differing[0]), data=names[differing[0]]
                ),
            )
