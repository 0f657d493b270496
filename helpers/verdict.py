"""The answer of a check."""

import functools
from dataclasses import dataclass

from helpers.guards import first_line, release
from helpers.messages import _


@dataclass(frozen=True)
class Verdict:
    """points: (what was checked, whether it holds), up to the first that does not · message: what is wrong, what is
    expected · next_step: what to do now · debrief: shown after success, for example the diff.
    """

    passed: bool
    points: tuple[tuple[str, bool], ...]
    total: int
    message: str = ""
    next_step: str = ""
    debrief: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        held = sum(ok for _text, ok in self.points)
        head = (
            _("Passed: {held} of {total} points.")
            if self.passed
            else _("Not yet: {held} of {total} points hold, {later} were not looked at.")
        )
        lines = [head.format(held=held, total=self.total, later=self.total - len(self.points))]
        lines += [f"  {'✓' if ok else '✗'} {text}" for text, ok in self.points]
        lines += [self.message] if self.message else []
        lines += [_("Next: {step}").format(step=self.next_step)] if self.next_step else []
        lines += ["", self.debrief] if self.debrief else []
        return "\n".join(lines)


class Points:
    """Collects points one by one. ``hold`` returns whether it holds; all messages are kept, and the first next step."""

    def __init__(self, total: int):
        self.total, self.points, self.message, self.next_step = total, [], "", ""

    def hold(self, text: str, ok: bool, message: str = "", next_step: str = "") -> bool:
        self.points.append((text, bool(ok)))
        if not ok:
            self.message = f"{self.message}\n{message}".strip()
            self.next_step = self.next_step or next_step
        return bool(ok)

    def verdict(self, next_step: str = "", debrief: str = "") -> Verdict:
        passed = len(self.points) == self.total and all(ok for _text, ok in self.points)
        return Verdict(
            passed, tuple(self.points), self.total, self.message, next_step if passed else self.next_step, debrief if passed else ""
        )


def never_a_traceback(check):
    """A check that meets something it cannot read answers a Verdict that says so instead of a traceback of its own."""

    @functools.wraps(check)
    def checked(*args, **kwargs) -> Verdict:
        try:
            return check(*args, **kwargs)
        except (Exception, SystemExit) as error:  # a stage that calls exit() must not end the kernel
            release(error)
            what = _("The check could not read what it got: {kind}: {error}").format(kind=type(error).__name__, error=first_line(error))
            return Verdict(False, (), 1, what, _("Compare what you passed with help({check}).").format(check=check.__name__))

    return checked
