"""The pipelines that a learner has not seen: named by a letter, so that the name gives nothing away."""

from helpers.faults import Fault, fault
from helpers.pipeline import Pipeline, pipeline_from_script

UNSEEN = {"a": "ragged_rows", "b": "no_labels", "c": "no_gradient"}


def unseen_fault(name: str) -> Fault | None:
    return fault(UNSEEN[name]) if name in UNSEEN else None


def unseen_pipeline(name: str) -> Pipeline | None:
    """Lesson 01: the broken pipeline "a", "b" or "c"."""
    ill = unseen_fault(name)
    return pipeline_from_script(ill.script, f"pipeline {name}") if ill else None
