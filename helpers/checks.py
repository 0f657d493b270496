"""Checks of the exercises. They take the learner's objects, say how many points were checked, and end with the next step."""

import functools
from collections.abc import KeysView

from helpers.course import task as find_task
from helpers.exercises import UNSEEN, unseen_fault, unseen_pipeline
from helpers.faults import fault
from helpers.guards import NotExamined, first_line, release
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.walk import STAGES, walk
from helpers.repair import check_pipeline
from helpers.scripts import change_script, show_diff
from helpers.verdict import Points, Verdict

PROBES = {"walk": walk, "look_at_batch": look_at_batch}
FIELDS = {  # that can be named as evidence
    "walk": ("message", "error_class", "failing_stage"),
    "look_at_batch": ("container", "keys", "shapes", "dtypes", "labels_at", "labels", "rows", "padded"),
}
LEAST_OF_A_MESSAGE = 20  # characters: fewer could stand in many messages
CHANGES_EACH_TIME = ("shapes", "padded", "labels")  # the batch is drawn anew


def never_a_traceback(check):
    @functools.wraps(check)
    def checked(*args, **kwargs) -> Verdict:
        try:
            return check(*args, **kwargs)
        except (Exception, SystemExit) as error:  # a stage that calls exit() must not end the kernel
            release(error)
            what = _("The check could not read what it got: {kind}: {error}").format(kind=type(error).__name__, error=first_line(error))
            return Verdict(False, (), 1, what, _("Compare what you passed with help({check}).").format(check=check.__name__))

    return checked


# ---------------------------------------------------------------- diagnosis


@never_a_traceback
def check_diagnosis(name: str, stage: str, evidence: tuple) -> Verdict:
    """Is the diagnosis of the unseen pipeline ``name`` right, and does the evidence show it?

    ``stage``: the stage that fails, as walk() names it. ``evidence``: (probe, field, value), for example
    ("look_at_batch", "rows", 8): the check runs the probe on the pipeline itself and compares the field with your value.
    """
    points = Points(3)
    if not isinstance(name, str) or name not in UNSEEN:
        names = _("Names are: {names}.").format(names=", ".join(UNSEEN))
        return Verdict(False, (), points.total, _("There is no unseen pipeline {name!r}.").format(name=name), names)
    pipeline, ill = unseen_pipeline(name), unseen_fault(name)
    stage = stage.strip().lower() if isinstance(stage, str) else stage
    if not points.hold(
        _("the stage has a name"),
        stage in STAGES,
        _("{stage!r} is not a stage.").format(stage=stage),
        _("Stages are: {stages}.").format(stages=", ".join(STAGES)),
    ):
        return points.verdict()
    shape_ok = isinstance(evidence, (tuple, list)) and len(evidence) == 3 and all(isinstance(part, str) for part in evidence[:2])
    if not shape_ok or evidence[0] not in PROBES:
        what = describe(evidence) if not shape_ok else repr(tuple(evidence))
        sound = (
            False,
            _("The evidence is {what}, and must be (probe, field, value) with the probe walk or look_at_batch.").format(what=what),
            _('The form is, for example: ("look_at_batch", "rows", 8).'),
        )
    else:
        sound = judge_evidence(pipeline, ill, *evidence)
    if points.hold(_("the evidence was measured again, and shows the fault"), *sound):
        said = _("Your evidence is sound. But {stage} is not the stage where the walk stops: it runs, or is not reached.").format(
            stage=stage
        )
    else:
        said = _("{stage} is not the stage where the walk stops.").format(stage=stage)
    look = _("Run walk(unseen_pipeline({name!r})): it marks with FAILS the first stage that fails.").format(name=name)
    points.hold(_("the stage is the one that fails first"), stage == ill.stage, said, look)
    return points.verdict(_("Compare the explanation below with what you thought."), ill.explanation)


def judge_evidence(pipeline, ill, probe: str, field: str, value) -> tuple[bool, str, str]:
    """(holds, message, next step): is ``value`` what the probe measures, and does it show the fault?"""
    if field == "failing_stage":
        return (
            False,
            _("The failing stage is your answer, not the evidence for it."),
            _("Name what you see there: a message, or what a batch holds."),
        )
    if field not in FIELDS[probe]:
        said = _("{probe}() has no field {field!r}.").format(probe=probe, field=field)
        return False, said, _("Its fields are: {fields}.").format(fields=", ".join(FIELDS[probe]))
    seen = PROBES[probe](pipeline)
    if isinstance(seen, NotExamined):
        said = _("{probe}() cannot look at this pipeline: {why}").format(probe=probe, why=seen.why)
        return False, said, _("Take your evidence from another probe.")
    found = getattr(seen, field)
    if field in CHANGES_EACH_TIME and found is not None:
        said = _("{field} is another one in each batch, so it cannot be compared.").format(field=field)
        return False, said, _("Name a field that stays the same.")
    told = getattr(seen, "explanation", None)
    if told and any(same_value(text, value) for text in (told.means, told.look)):
        return (
            False,
            _("That is what the course says about the message. The message itself stands one line above it."),
            _("Copy the message."),
        )
    if not same_value(found, value, getattr(seen, "error_class", None)):
        return (
            False,
            _("Your value is not what {probe}() finds in {field}.").format(probe=probe, field=field),
            _("Run print({probe}(unseen_pipeline(…)).{field}) and copy what it prints, None too.").format(probe=probe, field=field),
        )
    if (probe, field) not in ill.evidence:
        return (
            False,
            _("That is true, but it does not show this fault: a healthy pipeline can answer the same, or it names no cause."),
            _("Look for a field whose value would change if this fault, and no other, were repaired."),
        )
    return True, "", ""


def same_value(found, value, error_class: str | None = None) -> bool:
    """Whether ``value`` says what the probe found: a part of a message will do, names may stand in any order, None may be "nowhere"."""
    if isinstance(found, str) and isinstance(value, str):
        whole, part = (" ".join(text.split()).lower().rstrip(" .") for text in (found, value))
        part = part.strip("'\"… ").removeprefix(f"{error_class}:".lower()).strip()
        return value == found or (len(part) >= LEAST_OF_A_MESSAGE and part in whole)
    if (
        isinstance(found, (list, tuple))
        and isinstance(value, (list, tuple, set, frozenset, KeysView))
        and all(isinstance(one, str) for one in found)
    ):
        return sorted(found) == sorted(map(str, value))
    if found is None:
        return value is None or (isinstance(value, str) and value.lower() in ("nowhere", "none"))
    return type(found) is type(value) and bool(found == value)


# ---------------------------------------------------------------- repair


@never_a_traceback
def check_repair(task_name: str, pipeline) -> Verdict:
    """Is the pipeline repaired? ``task_name``: the task of the exercise, for example "01/own_loss". ``pipeline``: your Pipeline.

    The check reads all your batches and compares them with the data, and trains five steps on one batch (about ten seconds). So a
    repair that only hides the symptom is found. It cannot see how well a whole training goes.
    """
    task = find_task(task_name)
    if task.start is None:
        return Verdict(
            False, (), 1,
            _("The task {task} has no script to repair.").format(task=task_name),
            _("Its check is check_diagnosis(name, stage, evidence)."),
        )  # fmt: skip
    ill = fault(task.start)
    return check_pipeline(pipeline, task.owner, ill, show_diff(ill.script, change_script(ill.script, task.repairs[0].changes)))
