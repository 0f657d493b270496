"""What is known of a report that is reproduced in small."""

from collections.abc import Callable
from dataclasses import dataclass

from running import run

from helpers.guards import release


@dataclass(frozen=True)
class Report:
    """group: of the fault, as in tests/data/bug_reports.csv · reproduce(broken) -> (what it did: an error, or a value; the arguments of the
    probe), with the mistake or with the report's fix · symptom: class and part of the text of an error, or what tells a wrong
    value · probe: its name in helpers · shows: a finding of the probe, or what tells it from the answer's fields · left: findings that
    stay after the fix, each for a reason told at the reproduction · known: explain_error() knows the error.
    """

    group: str
    reproduce: Callable[[bool], tuple[object, tuple]]
    symptom: tuple[str, str] | Callable[[object], bool]
    probe: str
    shows: str | Callable[[object], bool]
    left: frozenset[str] = frozenset()
    known: bool = False

    def is_ill(self, outcome) -> bool:
        """Whether the symptom is there. An error of another kind is passed on."""
        if not isinstance(self.symptom, tuple):
            return bool(self.symptom(outcome))
        if outcome is None:
            return False
        name, text = self.symptom
        if type(outcome).__name__ != name or text not in str(outcome):
            raise outcome
        return True

    def is_revealed(self, answer) -> bool:
        return self.shows in found_by(answer) if isinstance(self.shows, str) else bool(self.shows(answer))


def found_by(answer) -> set[str]:
    """What a probe's answer is a finding of; of a walk, the stage where it stops."""
    stage = getattr(answer, "failing_stage", None)
    return {stage} if stage else set(getattr(answer, "findings", ()))


def raised(function, *arguments, **options) -> Exception | None:
    """The error that a call ends with, or None."""
    try:
        function(*arguments, **options)
    except Exception as error:
        release(error)
        return error
    return None


def walked(script) -> tuple[Exception | None, tuple]:
    """(the error that a run of a Pipeline ends with, the arguments of walk)"""
    return run(script, eagerly=True).exception, (script,)
