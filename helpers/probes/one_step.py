"""The weights before and after one step of training: which of them move, and how far?"""

from dataclasses import dataclass

import numpy as np

from helpers.guards import need_compiled, never_raises, one_batch
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import dataset_of, eagerly, quiet


@dataclass(frozen=True)
class OneStep:
    """weights, free, moved: numbers of weight tensors, in all, those that may move, those that did · largest: the largest change of a weight.
    Adam's first step moves a weight by the learning rate, whatever the size of its gradient.
    """

    weights: int
    free: int
    moved: int
    largest: float
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("weight tensors"), self.weights), (_("may move"), self.free), (_("moved"), self.moved)]
        return report([*lines, (_("largest change"), f"{self.largest:.1e}")], self.findings)


@never_raises
def one_step(model, batch) -> OneStep:
    """Train one step with model.fit() and compare the weights. ``batch``: (x, y), a dict with labels, or a dataset. It changes the model."""
    need_compiled(model)
    batch = one_batch(batch)
    free = {id(weight) for weight in model.trainable_variables}
    before = [weight.numpy() for weight in model.weights]
    with quiet(), eagerly(model):
        model.fit(dataset_of(batch), verbose=0)
    changes = [float(np.abs(weight.numpy() - old).max()) for weight, old in zip(model.weights, before, strict=True)]
    moved = [change != 0 for change in changes]  # NaN counts as moved
    held = [id(weight) not in free for weight in model.weights]
    findings = {}
    if np.isnan(changes).any():
        findings["not_finite"] = _("After the step {count} weight tensors are not finite.").format(count=int(np.isnan(changes).sum()))
    if any(m and h for m, h in zip(moved, held, strict=True)):
        findings["frozen_but_moves"] = _("{count} weight tensors are frozen and moved: they were free when compile() was called.").format(
            count=sum(m and h for m, h in zip(moved, held, strict=True))
        )
    still = sum(not m and not h for m, h in zip(moved, held, strict=True))
    if still:
        findings["does_not_move"] = _("{count} of {free} weight tensors that may move did not.").format(count=still, free=len(free))
    return OneStep(len(before), len(free), sum(moved), float(np.nanmax(changes)), findings)
