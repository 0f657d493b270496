"""The learning rate at the first, the middle and the last step."""

from dataclasses import dataclass

from helpers.guards import CannotExamine, never_raises
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.report import report

USUAL = (5e-6, 3e-4)  # for fine-tuning with Adam, at the highest


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
    rate_at = schedule_of(optimizer)
    looked_at = sorted({*range(0, steps, max(1, steps // 100)), steps // 2, steps - 1})
    rates = {step: rate_at(step) for step in looked_at}
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
    elif last > 0.5 * highest and last < highest:
        findings["ends_too_late"] = _("The schedule is longer than the training: the rate ends at {share:.0%} of its highest.").format(
            share=last / highest
        )
    return RateOverTime(first, middle, last, highest, steps, findings)


def schedule_of(optimizer):
    """A function from the number of the step to the rate."""
    rate = getattr(optimizer, "_learning_rate", None)  # what compile() was given: a schedule, or a variable
    rate = optimizer.learning_rate if rate is None else rate
    if callable(rate) and not hasattr(rate, "numpy"):
        return lambda step: float(rate(step))
    value = float(rate.numpy() if hasattr(rate, "numpy") else rate)
    return lambda step: value
