"""Every repair and every tempting wrong repair of the exercises' tasks, judged by the check of its task.

Here with one layer and, where no error of a graph is asked for, without a graph. `python -m helpers.build.check_rates` judges the same programs
as an exercise does, over twenty seeds; tests/test_figures.py has what came of it.
"""

import functools

import pytest
from one_layer import one_layer  # noqa: F401 - a fixture, for every test here
from test_checks import TASKS
from test_faults import LESSON_01

from helpers import checks
from helpers.checks import check_repair
from helpers.faults import fault
from helpers.pipeline import pipeline_from_script
from helpers.scripts import change_script, show_diff

REPAIRS = [(task, program) for task in TASKS for program in task.repairs]
MISTAKES = [(task, program) for task in TASKS for program in task.mistakes]


def named(cases) -> list[str]:
    return [f"{task.name}-{program.name}" for task, program in cases]


def judged(task, program, monkeypatch):
    eagerly = task.start not in LESSON_01
    monkeypatch.setattr(checks, "check_pipeline", functools.partial(checks.check_pipeline, eagerly=eagerly))
    return check_repair(task.name, pipeline_from_script(change_script(fault(task.start).script, program.changes)))


@pytest.mark.parametrize(("task", "program"), REPAIRS, ids=named(REPAIRS))
def test_every_accepted_repair_passes(task, program, monkeypatch):
    verdict = judged(task, program, monkeypatch)
    assert verdict.passed, repr(verdict)
    script = fault(task.start).script
    smallest = show_diff(script, change_script(script, task.repairs[0].changes))
    assert repr(verdict).endswith(f"A small change that repairs it:\n{smallest}")


@pytest.mark.parametrize(("task", "program"), MISTAKES, ids=named(MISTAKES))
def test_every_tempting_wrong_repair_gets_its_message(task, program, monkeypatch):
    verdict = judged(task, program, monkeypatch)
    assert not verdict.passed
    assert program.says in f"{verdict.message} {verdict.next_step}"
