"""The exercises' checks: right answers pass, wrong ones are told why, strange ones are answered. Repairs: tests/test_tasks_judged.py."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from test_probes import WRONG_OBJECTS

from helpers.checks import check_diagnosis, check_repair
from helpers.course import lessons
from helpers.exercises import unseen_pipeline
from helpers.faults import fault
from helpers.probes.walk import walk
from helpers.scripts import change_script, show_diff

ROOT = Path(__file__).resolve().parents[1]

TASKS = [task for lesson in lessons() for task in lesson.tasks if getattr(task, "start", None)]
RIGHT_EVIDENCE = {
    "a": ("batch", ("walk", "message", "all input arrays must have the same shape")),
    "b": ("loss", ("look_at_batch", "keys", ["input_ids", "attention_mask"])),
    "c": ("gradients", ("walk", "message", "No gradients provided for any variable")),
}


@pytest.mark.parametrize("name", RIGHT_EVIDENCE)
def test_the_right_stage_with_its_evidence_passes(name):
    verdict = check_diagnosis(name, *RIGHT_EVIDENCE[name])
    assert verdict.passed, repr(verdict)
    assert repr(verdict).startswith("Passed: 3 of 3 points.")


@pytest.mark.parametrize("name", RIGHT_EVIDENCE)
def test_the_right_stage_with_wrong_evidence_does_not_pass(name):
    stage = RIGHT_EVIDENCE[name][0]
    verdict = check_diagnosis(name, stage, ("walk", "message", "the moon is full tonight"))
    assert not verdict.passed and "not what walk() finds in message" in verdict.message
    assert ("the stage is the one that fails first", True) in verdict.points


@pytest.mark.parametrize("name", RIGHT_EVIDENCE)
def test_the_answer_is_not_its_own_evidence_and_a_class_names_no_cause(name):
    seen = walk(unseen_pipeline(name))
    verdict = check_diagnosis(name, seen.failing_stage, ("walk", "failing_stage", seen.failing_stage))
    assert not verdict.passed and "your answer, not the evidence" in verdict.message
    verdict = check_diagnosis(name, seen.failing_stage, ("walk", "error_class", seen.error_class))
    assert not verdict.passed and "does not show this fault" in verdict.message


@pytest.mark.parametrize(
    "evidence",
    [
        ("look_at_batch", "keys", ("attention_mask", "input_ids")),
        ("look_at_batch", "keys", {"attention_mask", "input_ids"}),
        ["look_at_batch", "labels_at", None],
        ("look_at_batch", "labels_at", "nowhere"),
        ("look_at_batch", "labels", None),
        ("walk", "message", "TypeError: Argument `target` should be a list or nested structure"),
    ],
)
def test_the_same_evidence_in_other_words_passes(evidence):
    verdict = check_diagnosis("b", "loss", evidence)
    assert verdict.passed, repr(verdict)


@pytest.mark.parametrize(
    "evidence",
    [
        ("look_at_batch", "keys", ["input_ids"]),
        ("look_at_batch", "keys", np.array(["input_ids", "attention_mask"])),
        ("look_at_batch", "labels_at", "y"),
        ("look_at_batch", "labels", np.zeros(8)),
        ("walk", "message", "TypeError"),
        ("walk", "message", np.zeros(3)),
    ],
)
def test_other_evidence_does_not_pass(evidence):
    verdict = check_diagnosis("b", "loss", evidence)
    assert not verdict.passed and "Your value is not what" in verdict.message


def test_true_evidence_that_a_healthy_pipeline_also_gives_does_not_pass():
    verdict = check_diagnosis("b", "loss", ("look_at_batch", "container", "dict"))
    assert not verdict.passed and "does not show this fault" in verdict.message


@pytest.mark.parametrize("name", RIGHT_EVIDENCE)
def test_the_wrong_stage_with_sound_evidence_does_not_pass(name):
    verdict = check_diagnosis(name, "evaluate", RIGHT_EVIDENCE[name][1])
    assert not verdict.passed and "evaluate is not the stage where the walk stops" in verdict.message


@pytest.mark.parametrize("answer", ["two_outputs", "one_output"])
@pytest.mark.parametrize("evidence", [None, "loss", ("loss_at_start", "loss"), ("no_probe", "loss", 1)])
def test_a_name_without_evidence_is_not_told_whether_it_is_right(answer, evidence):
    verdict = check_diagnosis("03/b", answer, evidence)
    assert len(verdict.points) == 2 and "must be (probe, field, value)" in verdict.message


@pytest.mark.parametrize(("value", "holds"), [(1, True), (np.int64(1), True), (0, False), (2, False), (True, False)])
def test_a_count_is_exact_and_may_be_one_of_numpy(value, holds):
    """Whether the value is taken: what the probe finds in outputs is 1 here, and 3 in a healthy pipeline."""
    verdict = check_diagnosis("03/b", "one_output", ("audit_labels", "outputs", value))
    assert ("not what audit_labels() finds in outputs" not in verdict.message) is holds


def test_long_answers_are_not_said_back_whole():
    long = "x" * 10_000
    for verdict in (
        check_diagnosis(long, "batch", None),
        check_diagnosis("a", long, None),
        check_diagnosis("a", "batch", ("walk", long, 1)),
        check_diagnosis("a", "batch", (long, long, 1)),
        check_repair(long, None),
    ):
        assert not verdict.passed and len(repr(verdict)) < 3_000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("z", "batch", ("walk", "message", "x")), "no unseen pipeline"),
        (("a", "…", ("…", "…", "…")), "is not a stage"),
        (("a", "batch", ("…", "…", "…")), "must be (probe, field, value)"),
        (("a", "batch", None), "must be (probe, field, value)"),
        (("a", "batch", ("walk", "colour", "red")), "has no field"),
    ],
)
def test_an_answer_in_the_wrong_form_is_told_the_right_form(arguments, says):
    verdict = check_diagnosis(*arguments)
    assert not verdict.passed and says in verdict.message and verdict.next_step


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS, WRONG_OBJECTS)
def test_check_diagnosis_answers_any_wrong_object(stage, evidence):
    verdict = check_diagnosis("a", stage, evidence)
    assert not verdict.passed and repr(verdict).startswith("Not yet: ") and verdict.next_step


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS)
def test_check_repair_answers_any_wrong_object(thing):
    verdict = check_repair("01/own_loss", thing)
    assert not verdict.passed and repr(verdict).startswith("Not yet: ") and verdict.next_step


def test_check_repair_names_the_tasks_when_the_name_is_wrong():
    verdict = check_repair("01/own_los", None)
    assert not verdict.passed and "01/own_loss" in verdict.message


def test_a_task_without_a_script_names_its_check():
    assert "check_diagnosis" in check_repair("01/name_the_stage", None).next_step


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_exercise_as_shipped_is_not_passed(task):
    verdict = check_repair(task.name, fault(task.start).pipeline())
    assert not verdict.passed and verdict.message and verdict.next_step
    assert ("walk stops at" in verdict.message) == (fault(task.start).stage is not None)


def changed_lines(task, program) -> int:
    script = fault(task.start).script
    return sum(line[0] in "+-" for line in show_diff(script, change_script(script, program.changes)).splitlines() if line.strip())


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_diff_shown_at_the_end_is_the_smallest_of_the_task(task):
    assert changed_lines(task, task.repairs[0]) == min(changed_lines(task, program) for program in task.repairs)


def test_evidence_is_judged_also_when_the_stage_is_wrong():
    verdict = check_diagnosis("b", "batch", ("look_at_batch", "labels_at", None))
    assert not verdict.passed and "Your evidence is sound. But batch is not" in verdict.message
    assert [holds for _text, holds in verdict.points] == [True, True, False]


def test_when_stage_and_evidence_are_wrong_both_are_told():
    verdict = check_diagnosis("c", "batch", ("look_at_batch", "rows", 8))
    assert "it does not show this fault" in verdict.message and "batch is not the stage" in verdict.message
    assert "Look for a field" in verdict.next_step


def test_capitals_and_spaces_do_not_matter():
    assert check_diagnosis("c", " Gradients", ("walk", "message", "no gradients  provided for ANY variable")).passed


def test_what_the_course_says_about_a_message_is_not_the_message():
    verdict = check_diagnosis("a", "batch", ("walk", "message", walk(unseen_pipeline("a")).explanation.means))
    assert not verdict.passed and "one line above it" in verdict.message


@pytest.mark.parametrize(
    ("name", "stage", "evidence", "says"),
    [
        ("a", "batch", ("look_at_batch", "rows", 8), "cannot look at this pipeline: the dataset raised ValueError"),
        ("b", "loss", ("look_at_batch", "shapes", {"input_ids": (8, 34)}), "shapes is another one in each batch"),
        ("c", "gradients", ("look_at_batch", "labels", [1, 0, 0, 1, 0, 2, 0, 2]), "labels is another one in each batch"),
        ("c", "gradients", ("walk", "message", "ValueError: No"), "not what walk() finds in message"),
    ],
)
def test_evidence_that_can_prove_nothing_is_told_why(name, stage, evidence, says):
    verdict = check_diagnosis(name, stage, evidence)
    assert not verdict.passed and says in verdict.message, repr(verdict)
