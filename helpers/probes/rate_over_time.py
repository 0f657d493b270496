"""The learning rate at the first, the middle and the last step."""

from dataclasses import dataclass

from helpers.guards import CannotExamine, never_raises
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.report import report

USUAL = (5e-6, 3e-4)  # for fine-tuning with Adam, at the highest. 5e-5 is the script's, 1e-3 ruins the encoder


@dataclass(frozen=True)
class RateOverTime:
    """The rate at the first, middle and last of ``steps`` steps · highest: of all that were looked at."""

    first: float
    middle: float
    last: float
    highest: float
    steps: int
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("first step"), self.first), (_("step {number}").format(number=self.steps // 2), self.middle)]
        lines += [(_("step {number}").format(number=self.steps - 1), self.last)]
        return report([(name, f"{rate:.1e}") for name, rate in lines], self.findings)


@never_raises
def rate_over_time(model, steps: int) -> RateOverTime:
    """``model``: a compiled model, or its optimizer. ``steps``: how many steps the whole training has: len(train) * epochs."""
    optimizer = getattr(model, "optimizer", None) or model
    if not hasattr(optimizer, "learning_rate"):
        raise CannotExamine(_("{kind} has no learning rate.").format(kind=describe(model)), _("Pass a compiled model, or its optimizer."))
    if not isinstance(steps, int) or steps < 1:
        raise CannotExamine(
            _("steps is {steps!r}, and must be a number above 0.").format(steps=steps), _("Count them: len(train) * epochs.")
        )
    looked_at = sorted({*range(0, steps, max(1, steps // 100)), steps // 2, steps - 1})
    rates = {step: rate_at(optimizer, step) for step in looked_at}
    first, middle, last, highest = rates[0], rates[steps // 2], rates[steps - 1], max(rates.values())
    findings = {}
    if highest > 1.01 * USUAL[1]:
        findings["too_high"] = _("The rate rises to {rate:.0e}. For fine-tuning, {low:.0e} to {high:.0e} is usual.").format(
            rate=highest, low=USUAL[0], high=USUAL[1]
        )
    elif highest < 0.99 * USUAL[0]:
        findings["too_low"] = _("The rate stays below {low:.0e}: it is at most {rate:.0e}.").format(rate=highest, low=USUAL[0])
    if middle < 0.02 * highest:
        findings["ends_too_soon"] = _("The rate is almost 0 before half of the steps are done.")
    elif last == highest > 1.1 * middle:  # a warm-up is over by then
        findings["rises_to_the_end"] = _("The rate rises to the end: {first:.0e} at first, {last:.0e} at last.").format(
            first=first, last=last
        )
    elif last > 0.5 * highest and last < highest:
        findings["ends_too_late"] = _("The schedule is longer than the training: the rate ends at {share:.0%} of its highest.").format(
            share=last / highest
        )
    return RateOverTime(first, middle, last, highest, steps, findings)


def rate_at(optimizer, step: int) -> float:
    """The learning rate of one step, of a schedule or of a number."""
    import tf_keras

    for rate in (optimizer.learning_rate, getattr(optimizer, "_learning_rate", None)):  # the first may be the schedule's rate of now
        if isinstance(rate, tf_keras.optimizers.schedules.LearningRateSchedule):
            return float(rate(step))
    return float(tf_keras.backend.get_value(optimizer.learning_rate))
