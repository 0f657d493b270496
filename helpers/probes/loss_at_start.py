"""The loss before any training, held against what guessing costs."""

import math
from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, labels_of
from helpers.guards import CannotExamine, need_compiled, never_raises, one_batch
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import dataset_of, eagerly, logits_of, owner_of_loss, quiet

FAR = 0.5  # nats; a fresh head of the course's checkpoint stays within 0.15


@dataclass(frozen=True)
class LossAtStart:
    """loss: what evaluate() says of the batch · cross_entropy: of its logits and labels · chance: ln C, for C classes. All in nats."""

    loss: float
    cross_entropy: float
    chance: float
    owner: str
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [
            (_("loss of the batch"), self.loss),
            (_("cross-entropy of its logits"), self.cross_entropy),
            (_("guessing, ln C"), self.chance),
        ]
        return report([(name, f"{value:.3f}") for name, value in lines], self.findings)


@never_raises
def loss_at_start(model, batch) -> LossAtStart:
    """Evaluate a compiled, untrained model on one batch. ``batch``: (x, y), a dict with labels, or a tf.data.Dataset. Trains nothing."""
    need_compiled(model)
    batch = one_batch(batch)
    logits = logits_of(model, batch).astype(np.float64)
    if logits.ndim != 2:
        raise CannotExamine(
            _("the model gives {shape}, not one row of logits for each text.").format(shape=logits.shape),
            _("Take a model with a head for classes."),
        )
    with quiet(), eagerly(model):
        loss = float(model.evaluate(dataset_of(batch), return_dict=True, verbose=0)["loss"])
    ids = class_ids(labels_of(batch), len(logits))
    usable = all(isinstance(label, int) and 0 <= label < logits.shape[1] for label in ids)
    expected = cross_entropy(logits, np.asarray(ids)) if usable else math.nan
    chance = math.log(logits.shape[1])
    findings = {}
    if not math.isfinite(loss):
        findings["not_finite"] = _("The loss is {loss}. Look at the loss of each row.").format(loss=loss)
    elif math.isfinite(expected) and abs(loss - expected) > 1e-2:
        findings["another_loss"] = _(
            "The loss is not the cross-entropy of the logits. Does it take logits for probabilities, or compute something else?"
        )
    elif abs(loss - chance) > FAR:
        findings["far_from_chance"] = _("The loss is far from guessing. Is the model trained already, or is its head not fresh?")
    return LossAtStart(loss, expected, chance, owner_of_loss(model), findings)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    """``logits``: (rows, classes), ``labels``: (rows,) class ids; the mean, in nats."""
    shifted = logits - logits.max(-1, keepdims=True)
    log_probability = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return float(-log_probability[np.arange(len(labels)), labels].mean())
