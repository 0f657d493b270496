"""The learning rate, raised a little with every step: where does the loss fall fastest, and where does it climb?"""

from dataclasses import dataclass

import numpy as np

from helpers.guards import first_batches, need_compiled, never_raises
from helpers.messages import _
from helpers.probes.gradients_of import loss_of_batch
from helpers.probes.report import report

TOO_MUCH = 1.5  # times the lowest loss so far: the sweep ends


@dataclass(frozen=True)
class Sweep:
    """rates, losses: one for each step, the losses smoothed, in nats · steepest: the rate at which the loss fell fastest · climbs: the rate
    from which on it rose, None where it did not.
    """

    rates: np.ndarray
    losses: np.ndarray
    steepest: float
    climbs: float | None
    findings: dict[str, str]

    def __repr__(self) -> str:
        climbs = "-" if self.climbs is None else f"{self.climbs:.0e}"
        lines = [(_("steps"), len(self.rates)), (_("falls fastest at"), f"{self.steepest:.0e}"), (_("climbs from"), climbs)]
        return report(lines, self.findings)


@never_raises
def sweep_rates(model, train, lowest: float = 1e-6, highest: float = 1e-1, steps: int = 60) -> Sweep:
    """Train ``steps`` steps, each at a higher rate, from ``lowest`` to ``highest``. It ruins the model: give it one made for this.

    The method: Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017, section 3.3.
    """
    import tensorflow as tf

    need_compiled(model)
    batches = first_batches(train, steps)
    rates, losses, smooth = np.geomspace(lowest, highest, steps), [], None
    weights = model.trainable_variables
    optimizer = type(model.optimizer).from_config({**model.optimizer.get_config(), "learning_rate": lowest})
    optimizer.build(weights)

    @tf.function(reduce_retracing=True)
    def step(batch):
        with tf.GradientTape() as tape:
            loss = loss_of_batch(model, batch)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    for number, rate in enumerate(rates):
        optimizer.learning_rate.assign(rate)
        loss = float(step(batches[number % len(batches)]))
        smooth = loss if smooth is None else 0.8 * smooth + 0.2 * loss
        losses.append(smooth)
        if not np.isfinite(loss) or smooth > TOO_MUCH * min(losses):
            break
    rates, losses = rates[: len(losses)], np.asarray(losses)
    lowest_at = int(np.nanargmin(losses))
    slope = np.gradient(losses[: lowest_at + 1]) if lowest_at else np.zeros(1)
    climbs = float(rates[lowest_at]) if lowest_at < len(losses) - 1 else None
    findings = {}
    if losses[lowest_at] > 0.98 * losses[0]:
        findings["never_falls"] = _("The loss falls at no rate.")
    return Sweep(rates, losses, float(rates[int(np.argmin(slope))]), climbs, findings)
