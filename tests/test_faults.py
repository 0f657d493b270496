"""The bug bites, the repair heals, and a tempting wrong repair is told from a right one.

A fault that raises bites in fit(). A silent one bites where its probe finds it, and nowhere else is there an error.
Here on seed 0; `python -m helpers.build.two_ways` has the same tests on three seeds, and tests/test_figures.py what came of it.
"""

import os

import pytest
from one_layer import one_layer, whole_checkpoint  # noqa: F401 - fixtures; the first is for every test here
from running import run, small

from helpers.build.fault_table import findings_of_script
from helpers.faults import BASES, CATALOGUE, GROUPS, base_script
from helpers.scripts import change_script

FAULTS = list(CATALOGUE.values())
RAISING = [fault for fault in FAULTS if not fault.silent]
SILENT = [fault for fault in FAULTS if fault.silent]
LESSON_01 = ("no_such_column", "wrong_key_keras_loss", "wrong_key_own_loss", "no_labels", "no_gradient", "ragged_rows")
HEALTHY = [base_script(base) for base in BASES]
REPAIRED = [(fault, name, change_script(fault.script, changes)) for fault in FAULTS for name, changes in fault.repairs.items()]
# A repair that only takes the change back gives a healthy script. All of these are checked once, in test_the_walk_goes_through_every_healthy_script.
OTHERWISE = [repair for repair in REPAIRED if repair[2] not in HEALTHY]
RAISING_REPAIRED = [repair for repair in REPAIRED if not repair[0].silent]
# Seen by a probe other than the walk, which test_the_bug_bites and the test of the stage stand for.
PROBED = [fault for fault in FAULTS if fault.reveals[0] != "walk"]
HEALED = {(fault.reveals[0], script): f"{fault.name}-{name}" for fault, name, script in OTHERWISE if fault in PROBED}
HEALED_TO_A_BASE = {f"{fault.reveals[0]}-{fault.base}": (fault.reveals[0], base_script(fault.base)) for fault in PROBED}
SEEDS = pytest.mark.parametrize("seed", [int(seed) for seed in os.environ.get("COURSE_SEEDS", "0").split()])


def named(cases) -> list[str]:
    return [f"{fault.name}-{getattr(of, 'name', of)}" for fault, of, *_more in cases]


def found_by(probe: str, script: str, seed: int, request) -> list[str] | None:
    if probe == "overfit_batch":  # one layer does not learn a batch by heart in thirty steps
        request.getfixturevalue("whole_checkpoint")
    return findings_of_script(script, seed, [probe])[probe]


def test_the_catalogue_has_every_group_and_half_of_it_is_silent():
    assert {fault.group for fault in FAULTS} == set(GROUPS)
    assert len(FAULTS) >= 24 and len(SILENT) >= len(FAULTS) / 2


@SEEDS
@pytest.mark.parametrize("fault", RAISING, ids=lambda fault: fault.name)
def test_the_bug_bites(fault, seed):
    done = run(small(fault.script), seed)  # with a graph, as in a notebook
    assert done.error is not None
    assert fault.error_text in str(done.exception)
    assert done.error[0] == fault.error_class


@SEEDS
@pytest.mark.parametrize("fault", PROBED, ids=lambda fault: fault.name)
def test_the_probe_finds_the_fault(fault, seed, request):
    probe, finding = fault.reveals
    assert finding in (found_by(probe, fault.script, seed, request) or ())


@SEEDS
@pytest.mark.parametrize(("fault", "repair", "script"), RAISING_REPAIRED, ids=named(RAISING_REPAIRED))
def test_the_repair_heals(fault, repair, script, seed):
    done = run(small(script, rows=16), seed, eagerly=True)
    assert done.error is None
    assert 0.8 < done.scores["loss"] < 1.4  # near ln 3: two batches train nothing


@SEEDS
@pytest.mark.parametrize(("probe", "script"), [*HEALED, *HEALED_TO_A_BASE.values()], ids=[*HEALED.values(), *HEALED_TO_A_BASE])
def test_the_probe_finds_nothing_after_the_repair(probe, script, seed, request):
    assert found_by(probe, script, seed, request) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_diff_shows_only_what_heals(fault):
    changed = [line for line in fault.diff.splitlines() if line[:1] in "+-" and line[1:].strip()]
    assert 1 <= len(changed) <= 9
    assert fault.explanation and len(fault.mistakes) >= 1
    assert fault.evidence or fault.silent
