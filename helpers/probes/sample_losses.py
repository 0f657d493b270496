"""The loss of each row. A mean hides a single NaN's row; the rows tell what they share."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, inputs_of, labels_of
from helpers.guards import CannotExamine, first_batches, is_dataset, need_model, never_raises
from helpers.messages import _
from helpers.probes.frames import core_message
from helpers.probes.report import report
from helpers.probes.walk import keras_loss, owner_of_loss


@dataclass(frozen=True)
class SampleLosses:
    """losses: (rows,) in nats, NaN where the loss raised · labels, lengths: of the same rows · bad: numbers of the rows whose loss is not finite ·
    error: what the loss of a row raised, the first · xla: the same losses compiled by XLA, None where that was not asked for.
    """

    losses: np.ndarray
    labels: list
    lengths: list[int]
    bad: list[int]
    error: str | None
    xla: np.ndarray | None
    findings: dict[str, str]

    def __repr__(self) -> str:
        finite = self.losses[np.isfinite(self.losses)]
        middle = f"{np.median(finite):.3f}" if len(finite) else "-"
        lines = [
            (_("rows"), len(self.losses)),
            (_("median loss"), middle),
            (_("not finite"), _("{count} rows").format(count=len(self.bad))),
        ]
        return report(lines + ([(_("the loss raised"), self.error)] if self.error else []), self.findings)


@never_raises
def sample_losses(model, batch, batches: int = 1, xla: bool = False) -> SampleLosses:
    """The loss of each row of one batch, or of the first ``batches`` of a dataset. ``xla``: compute them a second time, compiled by XLA.

    On the CPU a label outside the head raises; under XLA, as on a GPU, its loss is NaN and nothing raises.
    """
    need_model(model)
    read = first_batches(batch, batches) if is_dataset(batch) else [batch]
    losses, labels, lengths, compiled, error = [], [], [], [], None
    loss = loss_of_row(model)
    for one in read:
        x = inputs_of(one)
        y = np.asarray(labels_of(one))
        features = {name: value for name, value in x.items() if name not in ("labels", "label")}
        output = model(features, training=False)
        logits = np.asarray(getattr(output, "logits", output))
        if y.ndim == 0 or len(y) != len(logits):
            raise CannotExamine(_("there is not one label for each row."), _("Look at the batch: look_at_batch(batch)."))
        for label, row in zip(y, logits, strict=True):
            value, raised = one_loss(loss, label[None], row[None])
            losses.append(value)
            error = error or raised
            compiled += [one_loss(loss, label[None], row[None], jit=True)[0]] if xla else []
        labels += class_ids(y, len(y))
        lengths += (
            np.asarray(x["attention_mask"]).sum(1).tolist()
            if "attention_mask" in x
            else [len(row) for row in np.asarray(next(iter(features.values())))]
        )
    losses = np.asarray(losses)
    bad = np.flatnonzero(~np.isfinite(losses)).tolist()
    return SampleLosses(losses, labels, lengths, bad, error, np.asarray(compiled) if xla else None, dict(findings_of(losses, labels, bad)))


def loss_of_row(model):
    """(labels, logits) -> the loss, of the model itself or of compile()."""
    return model.hf_compute_loss if owner_of_loss(model) == "model" else keras_loss(model)


def one_loss(loss, label: np.ndarray, logits: np.ndarray, jit: bool = False) -> tuple[float, str | None]:
    """(the loss of one row, or NaN where it raises; what it raised). ``label``: (1, …), ``logits``: (1, classes)."""
    import tensorflow as tf

    try:
        compute = tf.function(loss, jit_compile=True) if jit else loss
        return float(tf.reduce_mean(compute(tf.constant(label), tf.constant(logits)))), None
    except Exception as raised:
        return np.nan, ": ".join(core_message(raised))


def findings_of(losses: np.ndarray, labels: list, bad: list[int]):
    if not bad:
        return
    shared = Counter(labels[row] for row in bad)
    label, count = shared.most_common(1)[0]
    said = _("{count} of {rows} rows have a loss that is not finite.").format(count=len(bad), rows=len(losses))
    if len(shared) == 1 and count == labels.count(label) and count < len(losses):
        said += " " + _("They are exactly the rows with the label {label}.").format(label=label)
    yield "not_finite", said
