"""Can the model learn one batch by heart? If it cannot, more data will not help."""

from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, labels_of
from helpers.guards import need_compiled, never_raises, one_batch
from helpers.messages import _
from helpers.probes.gradients_of import build_optimizer, loss_of_batch
from helpers.probes.report import report
from helpers.probes.walk import logits_of

FALLS_TO = 0.5  # of the loss at the start, after the given steps


@dataclass(frozen=True)
class Overfit:
    """losses: before each step, in nats · last: of them · accuracy: of the batch at the end, without dropout."""

    losses: list[float]
    accuracy: float
    findings: dict[str, str]

    @property
    def last(self) -> float:
        return self.losses[-1]

    def __repr__(self) -> str:
        lines = [
            (_("first loss"), f"{self.losses[0]:.3f}"),
            (_("last loss"), f"{self.last:.3f}"),
            (_("accuracy"), f"{self.accuracy:.2f}"),
        ]
        return report([(_("steps"), len(self.losses)), *lines], self.findings)


@never_raises
def overfit_batch(model, batch, steps: int = 30) -> Overfit:
    """Train ``steps`` steps on one batch with the model's own optimizer and loss. It changes the model: give it one made for this."""
    import tensorflow as tf

    need_compiled(model)
    batch = one_batch(batch)
    weights, losses = model.trainable_variables, []
    build_optimizer(model.optimizer, weights)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of_batch(model, batch)
        model.optimizer.apply_gradients((g, w) for g, w in zip(tape.gradient(loss, weights), weights, strict=True) if g is not None)
        return loss

    for _number in range(steps):
        losses.append(float(step()))
    logits = logits_of(model, batch)
    accuracy = float(np.mean([a == b for a, b in zip(logits.argmax(-1), class_ids(labels_of(batch), len(logits)), strict=True)]))
    findings = {}
    if not np.isfinite(losses).all():
        findings["not_finite"] = _("The loss is not finite from step {number} on.").format(number=int(np.argmin(np.isfinite(losses))))
    elif losses[-1] > FALLS_TO * losses[0]:
        findings["does_not_learn"] = _("The loss went from {first:.3f} to {last:.3f} only. The model cannot learn even this batch.").format(
            first=losses[0], last=losses[-1]
        )
    return Overfit(losses, accuracy, findings)
