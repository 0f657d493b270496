"""Evidence: each field that is listed shows its fault, on every seed; a healthy pipeline's value does not; a value made up does not."""

import functools
import re
from pathlib import Path

import pytest
from one_layer import found_everywhere, one_layer_checkpoint

from helpers.checks import check_diagnosis
from helpers.diagnosis import FIELDS, distance, near, parts_of, same_value
from helpers.exercises import Case, cases
from helpers.faults import CATALOGUE, base_script
from helpers.guards import NotExamined
from helpers.probes.run_all import PROBES, answer_of

ROOT = Path(__file__).resolve().parents[1]
SHOWN = sorted({(fault.name, probe) for fault in CATALOGUE.values() for probe, _field in fault.evidence})
UNSEEN = [case for case in cases().values() if case.choices]


OF_A_LEARNT_BATCH = ("overfit_batch", "evaluate_again")  # one layer does not learn a batch by heart in thirty steps


@pytest.fixture
def small_checkpoint(monkeypatch, probe):
    """One layer for the probes that see as much with it."""
    if probe not in OF_A_LEARNT_BATCH:
        found_everywhere(monkeypatch, one_layer_checkpoint())


def answer(script: str, probe: str, seed: int):
    import tensorflow as tf

    tf.keras.utils.set_random_seed(seed)
    seen = answer_of(probe, parts_of(script))
    assert not isinstance(seen, NotExamined), repr(seen)
    return seen


@functools.cache
def healthy_answer(base: str, probe: str):
    return answer(base_script(base), probe, 0)


def test_every_fault_has_evidence_and_every_field_is_one_of_its_probe():
    assert set(FIELDS) == set(PROBES)
    for fault in CATALOGUE.values():
        assert fault.evidence
        assert [pair for pair in fault.evidence if pair[1] not in FIELDS[pair[0]]] == []


@pytest.mark.parametrize(("name", "probe"), SHOWN)
def test_a_field_of_evidence_differs_from_the_healthy_one_and_is_found_again_with_another_seed(name, probe, small_checkpoint):
    fault = CATALOGUE[name]
    healthy = healthy_answer(fault.base, probe)
    first, second = (answer(fault.script, probe, seed) for seed in (1, 2))
    for field in [field for of, field in fault.evidence if of == probe]:
        found, again, well = (getattr(seen, field, None) for seen in (first, second, healthy))
        assert same_value(found, again) or near(found, again, well), (field, found, again, well)
        assert not same_value(found, well), (field, found)


def test_a_number_is_near_within_half_of_the_way_to_the_healthy_one():
    assert near(4.0, 5.2, 1.0) and near(4.0, 2.8, 1.0)
    assert not near(4.0, 2.0, 1.0) and not near(4.0, 1.0, 1.0) and not near(4.0, 100.0, 1.0)
    assert near({0: 30, 1: 400}, {0: 34, 1: 396}, {0: 215, 1: 215}) and not near({0: 30, 1: 400}, {0: 215, 1: 215}, {0: 215, 1: 215})
    assert same_value(float("nan"), float("nan")) and not near(float("nan"), 1.1, 1.1)
    assert not near("a", "b", "c") and not near(True, False, 1) and distance(2, 5) == 3


@pytest.mark.parametrize("case", UNSEEN, ids=lambda case: case.name)
def test_the_right_fault_with_its_evidence_passes_and_another_fault_or_a_made_up_value_does_not(case: Case):
    probe, field = next(pair for pair in case.ill.evidence if pair[0] in case.probes)
    value = getattr(answer_of(probe, parts_of(case.ill.script)), field)
    verdict = check_diagnosis(case.name, case.ill.name, (probe, field, value))
    assert verdict.passed, repr(verdict)
    assert verdict.debrief == case.ill.explanation
    wrong = check_diagnosis(case.name, case.ill.name, (probe, field, "made up"))
    assert not wrong.passed and f"not what {probe}() finds in {field}" in wrong.message
    other = next(name for name in case.choices if name != case.ill.name)
    verdict = check_diagnosis(case.name, other, (probe, field, value))
    assert not verdict.passed and f"Your evidence is sound. But {other} is not the fault" in verdict.message


def rows_of_evidence() -> list[tuple[str, str, list[str]]]:
    """(exercise, probe, fields) of each row of a table of evidence: | `"probe"` | call | `field`, `field` |"""
    rows = []
    for path in sorted((ROOT / "solutions" / "source").glob("*.py")):
        for probe, fields in re.findall(r'^# \| `"(\w+)"` \|[^|]*\|([^|]*)\|$', path.read_text(), re.M):
            rows.append((path.stem, probe, [name.strip("` ") for name in fields.split(",")]))
    return rows


def test_an_exercise_names_the_fields_that_the_check_takes():
    rows = rows_of_evidence()
    assert rows
    for exercise, probe, fields in rows:
        assert fields == list(FIELDS[probe]), (exercise, probe)
    for case in cases().values():
        number = case.name[:2] if "/" in case.name else "01"
        assert set(case.probes) <= {probe for exercise, probe, _fields in rows if exercise.startswith(number)}, case.name
