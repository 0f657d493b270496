"""Checks of the exercises. They take the learner's objects, say how many points were checked, and end with the next step."""

from helpers.course import task as find_task
from helpers.diagnosis import judge_answer, judge_evidence, wrong_form
from helpers.exercises import UnknownPipeline, unseen_case
from helpers.faults import fault
from helpers.messages import _
from helpers.repair import check_pipeline
from helpers.scripts import change_script, show_diff
from helpers.verdict import Points, Verdict, never_a_traceback


@never_a_traceback
def check_diagnosis(name: str, answer: str, evidence: tuple) -> Verdict:
    """Is the diagnosis of the unseen pipeline ``name`` right, and does the evidence show it?

    ``answer``: the name of the fault, one of those that the exercise lists. In lesson 01: the stage that fails, as walk() names it.
    ``evidence``: (probe, field, value), for example ("look_at_batch", "rows", 8): the check runs the probe on the pipeline itself and
    compares the field with your value. A number that is drawn anew in each run need not be the same: it must lie near. Without evidence
    in this form, the check does not say whether the fault is right.
    """
    points = Points(3)
    try:
        case = unseen_case(name)
    except UnknownPipeline as unknown:
        return Verdict(False, (), points.total, unknown.what, unknown.names)
    answer = answer.strip().lower() if isinstance(answer, str) else answer
    known, right = judge_answer(case, answer)
    if not points.hold(*known):
        return points.verdict()
    sound = points.hold(_("the evidence was measured again, and shows the fault"), *judge_evidence(case, evidence))
    if wrong_form(case, evidence):
        return points.verdict()  # a name without evidence is a guess: it is not told whether it is right
    text, holds, message, next_step = right
    points.hold(text, holds, _("Your evidence is sound. But {message}").format(message=message) if sound else message, next_step)
    return points.verdict(_("Compare the explanation below with what you thought."), case.ill.explanation)


@never_a_traceback
def check_repair(task_name: str, pipeline) -> Verdict:
    """Is the pipeline repaired? ``task_name``: the task of the exercise, for example "01/own_loss". ``pipeline``: your Pipeline.

    The check reads all your batches and compares them with the data, and trains five steps on one batch (about ten seconds). So a
    repair that only hides the symptom is found. It cannot see how well a whole training goes.

    How often it errs, over twenty seeds of each task (figures/check_rates.json): a right repair was refused in 0 of 220 runs, a wrong one
    accepted in 0 of 220; the upper bound of 95 % is 1.35% for both.
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
