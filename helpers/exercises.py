"""The pipelines that a learner has not seen: named by a letter, so that the name gives nothing away."""

from dataclasses import dataclass

from helpers.course import lessons
from helpers.faults import Fault, fault
from helpers.messages import _
from helpers.pipeline import Pipeline, pipeline_from_script


@dataclass(frozen=True)
class Case:
    """ill: its fault · choices: the names of the faults among which the learner looks, none where the failing stage is asked for ·
    probes: the names of those that may give evidence.
    """

    name: str
    ill: Fault
    choices: tuple[str, ...]
    probes: tuple[str, ...]


class UnknownPipeline(LookupError):
    """A name that no unseen pipeline has. what: one line · names: those that there are."""

    def __init__(self, name):
        self.what = _("There is no unseen pipeline {name!r}.").format(name=name)
        self.names = _("Names are: {names}.").format(names=", ".join(cases()))
        super().__init__(f"{self.what} {self.names}")


def cases() -> dict[str, Case]:
    """name -> the case, of all lessons, from course.toml."""
    return {
        name: Case(name, fault(ill), task.choices, task.probes)
        for lesson in lessons()
        for task in lesson.tasks
        for name, ill in task.unseen.items()
    }


def unseen_case(name: str) -> Case:
    if not isinstance(name, str) or name not in cases():
        raise UnknownPipeline(name)
    return cases()[name]


def unseen_pipeline(name: str) -> Pipeline:
    """The broken pipeline "a", "b" or "c" of lesson 01, "02/a" of lesson 02, and so on. Any other name is a LookupError that says which there are."""
    return pipeline_from_script(unseen_case(name).ill.script, f"pipeline {name}")
