"""The pipelines that a learner has not seen: named by a letter, so that the name gives nothing away."""

from helpers.faults import Fault, fault
from helpers.messages import _
from helpers.pipeline import Pipeline, pipeline_from_script

UNSEEN = {"a": "ragged_rows", "b": "no_labels", "c": "no_gradient"}


def unseen_fault(name: str) -> Fault:
    if not isinstance(name, str) or name not in UNSEEN:
        raise LookupError(_("There is no unseen pipeline {name!r}. There are: {names}.").format(name=name, names=", ".join(UNSEEN)))
    return fault(UNSEEN[name])


def unseen_pipeline(name: str) -> Pipeline:
    """Lesson 01: the broken pipeline "a", "b" or "c". Any other name is a LookupError that says so."""
    return pipeline_from_script(unseen_fault(name).script, f"pipeline {name}")
