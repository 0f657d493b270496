"""The pipelines that a learner has not seen: named by a letter, so that the name gives nothing away."""

import functools
import itertools
from dataclasses import dataclass, replace

from helpers.course import lessons
from helpers.faults import Fault, fault
from helpers.guards import shorten
from helpers.messages import _
from helpers.pipeline import Pipeline, pipeline_from_script
from helpers.probes.walk import quiet


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
        self.what = _("There is no unseen pipeline {name}.").format(name=shorten(repr(name)))
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
    """The broken pipeline "a", "b" or "c" of lesson 01, "02/a" of lesson 02, and so on. Any other name is a LookupError that says which there are.

    It draws the same batches and the same head in each run, so that what you measure can be measured again.
    """
    return steady(pipeline_from_script(unseen_case(name).ill.script, f"pipeline {name}"))


def steady(pipeline: Pipeline) -> Pipeline:
    """The same pipeline, with the random seeds set in batch() and in build_model(). The first model after batch() is always the same; the next is another."""
    models = itertools.count(1)

    @functools.wraps(pipeline.batch)
    def batch(tokenized):
        nonlocal models
        models = itertools.count(1)
        set_seed(0)
        with quiet():  # TensorFlow would warn of functions whose source it cannot read, and show them
            return pipeline.batch(tokenized)

    @functools.wraps(pipeline.build_model)
    def build_model():
        set_seed(next(models))
        return pipeline.build_model()

    return replace(pipeline, batch=batch, build_model=build_model)


def set_seed(seed: int) -> None:
    import tensorflow as tf

    tf.keras.utils.set_random_seed(seed)
