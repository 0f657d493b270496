"""The learning rate, raised a little with every step: from which rate on does the loss climb?"""

from dataclasses import dataclass

import numpy as np

from helpers.guards import first_batches, need_compiled, never_raises
from helpers.messages import _
from helpers.probes.gradients_of import build_optimizer, loss_of_batch
from helpers.probes.report import report

SMOOTH = 10  # steps
FALLS_TO = 0.85  # of the loss at low rates. Smoothed losses that only vary stay above 0.91 of it, in 999 of 1000 sweeps


@dataclass(frozen=True)
class Sweep:
    """losses: means of ten steps, in nats · rates: those in the middle of the ten · climbs: the rate at the lowest loss: from there on it climbs;
    None where it does not · tenth: of that rate, the one to try first.
    """

    rates: np.ndarray
    losses: np.ndarray
    climbs: float | None
    findings: dict[str, str]

    @property
    def tenth(self) -> float | None:
        return None if self.climbs is None else self.climbs / 10

    def __repr__(self) -> str:
        shown = ["-" if rate is None else f"{rate:.0e}" for rate in (self.climbs, self.tenth)]
        return report([(_("climbs from"), shown[0]), (_("a tenth of that"), shown[1])], self.findings)


@never_raises
def sweep_rates(model, train, lowest: float = 1e-5, highest: float = 1e-2, steps: int = 120) -> Sweep:
    """Train ``steps`` steps, each at a higher rate, from ``lowest`` to ``highest``. It ruins the model: give it one made for this.

    The method: Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017, section 3.3. The tenth is a rule of thumb: each
    rate gets a few steps only, and what ruins a model in hundreds of steps may look well in ten.
    """
    import tensorflow as tf

    need_compiled(model)
    batches, weights, losses = first_batches(train, steps), model.trainable_variables, []
    rates, window = np.geomspace(lowest, highest, steps), min(SMOOTH, steps)
    optimizer = type(model.optimizer).from_config({**model.optimizer.get_config(), "learning_rate": lowest})
    build_optimizer(optimizer, weights)

    @tf.function(input_signature=[train.element_spec])
    def step(batch):
        with tf.GradientTape() as tape:
            loss = loss_of_batch(model, batch)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    for number, rate in enumerate(rates):
        tf.keras.backend.set_value(optimizer.learning_rate, rate)
        losses.append(float(step(batches[number % len(batches)])))
    losses = np.convolve(losses, np.ones(window) / window, "valid")
    rates = rates[window // 2 :][: len(losses)]
    start, lowest_loss = np.nanmedian(losses[: len(losses) // 3 + 1]), np.nanmin(losses)
    climbs, findings = None, {}
    if 2 * len(batches) < steps:
        findings["few_batches"] = _(
            "There are {batches} batches for {steps} steps. The model learns them by heart, also at rates that are too high."
        ).format(batches=len(batches), steps=steps)
    if lowest_loss > FALLS_TO * start:
        findings["never_falls"] = _("The loss falls at no rate.")
    elif not losses[-1] < lowest_loss / FALLS_TO:  # NaN has climbed too
        climbs = float(rates[np.nanargmin(losses)])
    return Sweep(rates, losses, climbs, findings)
