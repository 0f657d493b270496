"""What walk() and check_repair() say of each fault, of its right repairs and of the tempting wrong ones. A file of its own, for a worker of its own."""

import pytest
from one_layer import one_layer  # noqa: F401 - a fixture, for every test here
from test_faults import FAULTS, LESSON_01, OTHERWISE, RAISING, SILENT, named

from helpers.course import lessons
from helpers.faults import BASES, base_script
from helpers.pipeline import pipeline_from_script
from helpers.probes.walk import walk
from helpers.repair import check_pipeline
from helpers.scripts import change_script

IN_EXERCISES = [(task.start, program.name) for lesson in lessons() for task in lesson.tasks for program in (*task.repairs, *task.mistakes)]
# What an exercise uses is judged in tests/test_tasks_judged.py, by the check of its task.
ACCEPTED = [repair for repair in OTHERWISE if (repair[0].name, repair[1]) not in IN_EXERCISES]
MISTAKES = [(fault, mistake) for fault in FAULTS for mistake in fault.mistakes if (fault.name, mistake.name) not in IN_EXERCISES]


@pytest.mark.parametrize(("fault", "repair", "script"), ACCEPTED, ids=named(ACCEPTED))
def test_the_check_accepts_the_repair(fault, repair, script):
    verdict = check_pipeline(pipeline_from_script(script), None, fault, eagerly=True)
    assert verdict.passed, repr(verdict)
    assert len(verdict.points) == verdict.total


@pytest.mark.parametrize(("fault", "mistake"), MISTAKES, ids=named(MISTAKES))
def test_the_check_refuses_the_mistake_and_says_why(fault, mistake):
    changed = pipeline_from_script(change_script(fault.script, mistake.changes))
    verdict = check_pipeline(changed, None, fault, eagerly=fault.name not in LESSON_01)
    assert not verdict.passed
    assert mistake.says in f"{verdict.message} {verdict.next_step}", repr(verdict)
    assert verdict.next_step


@pytest.mark.parametrize("fault", RAISING, ids=lambda fault: fault.name)
def test_the_broken_pipeline_is_not_passed_and_the_walk_stops_at_its_stage(fault):
    seen = walk(fault.pipeline())
    assert seen.failing_stage == fault.stage
    assert (fault.eager_text or fault.error_text) in seen.message
    assert seen.explanation.known
    assert "Traceback (most recent call last)" in seen.traceback
    assert not check_pipeline(fault.pipeline(), None, fault).passed


@pytest.mark.parametrize("fault", SILENT, ids=lambda fault: fault.name)
def test_a_silent_fault_raises_nothing_and_is_not_passed(fault):
    seen = walk(fault.pipeline())
    assert seen.failing_stage == fault.stage and getattr(seen, "error_class", None) is None
    verdict = check_pipeline(fault.pipeline(), None, fault, eagerly=True)
    assert not verdict.passed and verdict.message and verdict.next_step


@pytest.mark.parametrize("base", BASES)
def test_the_walk_goes_through_every_healthy_script(base):
    seen = walk(pipeline_from_script(base_script(base)))
    assert seen.failing_stage is None
    assert [step.ok for step in seen.steps] == [True] * 10
    assert check_pipeline(pipeline_from_script(base_script(base)), None, FAULTS[0], eagerly=True).passed
