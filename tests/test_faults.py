"""The bug bites, the repair heals, and a tempting wrong repair is told from a right one."""

import pytest
from running import run, small

from helpers.faults import BASES, CATALOGUE, base_script
from helpers.pipeline import pipeline_from_script
from helpers.probes.walk import walk
from helpers.repair import check_pipeline
from helpers.scripts import change_script

FAULTS = list(CATALOGUE.values())
REPAIRS = [(fault, name) for fault in FAULTS for name in fault.repairs]
MISTAKES = [(fault, mistake) for fault in FAULTS for mistake in fault.mistakes]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_bug_bites(fault, seed):
    done = run(small(fault.script), seed)  # with a graph, as in a notebook
    assert done.error is not None
    assert fault.error_text in str(done.exception)
    assert done.error[0] == fault.error_class


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("fault", "repair"), REPAIRS, ids=[f"{fault.name}-{name}" for fault, name in REPAIRS])
def test_the_repair_heals(fault, repair, seed):
    done = run(small(change_script(fault.script, fault.repairs[repair]), rows=16), seed, eagerly=True)
    assert done.error is None
    assert 0.8 < done.scores["loss"] < 1.4  # near ln 3: two batches train nothing


@pytest.mark.parametrize(("fault", "repair"), REPAIRS, ids=[f"{fault.name}-{name}" for fault, name in REPAIRS])
def test_the_check_accepts_the_repair(fault, repair):
    verdict = check_pipeline(pipeline_from_script(change_script(fault.script, fault.repairs[repair])), None, fault, eagerly=True)
    assert verdict.passed, repr(verdict)
    assert len(verdict.points) == verdict.total


@pytest.mark.parametrize(("fault", "mistake"), MISTAKES, ids=[f"{fault.name}-{mistake.name}" for fault, mistake in MISTAKES])
def test_the_check_refuses_the_mistake_and_says_why(fault, mistake):
    verdict = check_pipeline(pipeline_from_script(change_script(fault.script, mistake.changes)), None, fault)
    assert not verdict.passed
    assert mistake.says in f"{verdict.message} {verdict.next_step}"
    assert verdict.next_step


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_broken_pipeline_is_not_passed_and_the_walk_stops_at_its_stage(fault):
    seen = walk(fault.pipeline())
    assert seen.failing_stage == fault.stage
    assert fault.error_text in seen.message
    assert seen.explanation.known
    assert "Traceback (most recent call last)" in seen.traceback
    assert not check_pipeline(fault.pipeline(), None, fault).passed


@pytest.mark.parametrize("base", BASES)
def test_the_walk_goes_through_every_healthy_script(base):
    seen = walk(pipeline_from_script(base_script(base)))
    assert seen.failing_stage is None
    assert [step.ok for step in seen.steps] == [True] * 10
    assert check_pipeline(pipeline_from_script(base_script(base)), None, FAULTS[0], eagerly=True).passed


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_diff_shows_only_what_heals(fault):
    changed = [line for line in fault.diff.splitlines() if line[:1] in "+-" and line[1:].strip()]
    assert 1 <= len(changed) <= 9
    assert fault.evidence and fault.explanation and len(fault.mistakes) >= 1
