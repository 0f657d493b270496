"""The triage table comes from what was measured; a case costs points, and is solved by the fault with evidence from a probe that was asked."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from test_probes import WRONG_OBJECTS

from helpers.exercises import cases
from helpers.faults import CATALOGUE, SYMPTOMS
from helpers.guards import NotExamined
from helpers.investigation import BUDGET, WRONG_NAME, Investigation, check_investigation, investigate
from helpers.probes.run_all import PROBES
from helpers.suspects import Triage, measured, next_probe, points, revealed_by, seconds_in_points, suspects_of, triage

ROOT = Path(__file__).resolve().parents[1]


def test_every_fault_is_a_suspect_of_one_symptom_and_in_its_plan():
    plans = triage().plans
    assert set(plans) == set(SYMPTOMS)
    for symptom, plan in plans.items():
        in_plan = {name for _probe, shown in plan for names in shown.values() for name in names}
        assert in_plan == set(suspects_of(symptom)), symptom
    assert sorted(name for symptom in SYMPTOMS for name in suspects_of(symptom)) == sorted(CATALOGUE)


def test_the_next_probe_reveals_most_for_each_point():
    suspects = suspects_of("learns_nothing")
    worth = {probe: len({name for found in revealed_by(probe, suspects).values() for name in found}) / points(probe) for probe in PROBES}
    assert worth[next_probe(suspects)] == max(worth.values())
    assert next_probe(suspects, used=[next_probe(suspects)]) != next_probe(suspects)
    assert next_probe([]) is None


def test_each_line_of_a_plan_is_what_was_measured():
    for plan in triage().plans.values():
        for probe, shown in plan:
            for finding, names in shown.items():
                assert all(finding in measured()[name]["found"][probe] for name in names)


@pytest.mark.parametrize("symptom", ["it is slow", "…", 3, [1]])
def test_a_wrong_symptom_is_told_which_there_are(symptom):
    answer = triage(symptom)
    assert isinstance(answer, NotExamined) and "learns_nothing" in answer.next_step


def test_a_probe_costs_its_points_once_and_not_more_than_are_left():
    case = investigate("05/a", budget=points("rate_over_time") + 1)
    case.probe("rate_over_time")
    case.probe("rate_over_time")
    assert case.left == 1 and case.asked == ["rate_over_time"]
    dear = max(PROBES, key=points)
    answer = case.probe(dear)
    assert isinstance(answer, NotExamined) and f"{dear} costs {points(dear)} points, and 1 are left" in answer.why
    assert case.left == 1


@pytest.mark.parametrize("name", [name for name in cases() if name.startswith("05/")])
def test_a_case_can_be_solved_within_its_budget_and_says_so(name):
    case = investigate(name)
    probe, field = next(pair for pair in case.case.ill.evidence if pair[0] in PROBES and points(pair[0]) <= BUDGET)
    value = getattr(case.probe(probe), field)
    verdict = check_investigation(case, case.case.ill.name, (probe, field, value))
    assert verdict.passed, repr(verdict)
    assert f"Found with {points(probe)} of {BUDGET} points. Probes asked: 1." in verdict.debrief


def test_a_guess_without_a_probe_does_not_pass():
    case = investigate("05/a")
    verdict = check_investigation(case, case.case.ill.name, ("rate_over_time", "highest", 0.0))
    assert not verdict.passed and "was not asked" in verdict.message
    assert len(verdict.points) == 2 and case.left == BUDGET  # whether the name is right is not told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "05/a", "budget": None}, "investigate(seed=7, budget=20)"),
        ({"seed": -1}, "Write: investigate(seed=7)."),
        ({"name": "05/a", "seed": 3}, "a name and a seed are two cases"),
        ({}, "no case is named"),
    ],
)
def test_a_case_that_cannot_be_opened_says_how_to_open_one(arguments, says):
    assert says in repr(investigate(**arguments))


def test_a_long_name_is_not_said_back_whole():
    for answer in (investigate("x" * 10_000), investigate("05/a").probe("x" * 10_000), triage("x" * 10_000)):
        assert isinstance(answer, NotExamined) and len(repr(answer)) < 2_000


@pytest.mark.parametrize("evidence", ["compare_builds", ("compare_builds", "encoder"), None, ("no_probe", "encoder", 3)])
def test_evidence_of_another_form_is_told_the_form(evidence):
    verdict = check_investigation(investigate("05/a"), "frozen", evidence)
    assert not verdict.passed and "must be (probe, field, value)" in verdict.message


def test_a_wrong_name_costs_points_once_and_no_more_than_there_are():
    case = investigate("05/a", budget=points("rate_over_time") + WRONG_NAME + 1)
    evidence = ("rate_over_time", "highest", case.probe("rate_over_time").highest)
    for _time in range(2):
        check_investigation(case, "frozen", evidence)
    assert case.left == 1 and case.guessed == ["frozen"] and f"frozen ({WRONG_NAME})" in repr(case)
    check_investigation(case, "sorted_rows", evidence)
    verdict = check_investigation(case, case.case.ill.name, evidence)
    assert not verdict.passed and "More points are spent than there were" in verdict.message


@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_costs_what_its_seconds_are_worth(probe):
    assert 0.5 <= points(probe) / seconds_in_points(probe) <= 2


def test_the_exercise_states_the_price_of_each_probe():
    source = (ROOT / "solutions" / "source" / "05_other_potential_issues.py").read_text(encoding="utf-8")
    prices = {probe: int(price) for probe, price in re.findall(r'^# \| `"(\w+)"` \| (\d+) \|', source, re.M)}
    assert prices == {probe: points(probe) for probe in PROBES}
    assert {probe for probe in PROBES if points(probe) > BUDGET} == {"overfit_batch", "evaluate_again"}  # so says task 1


def test_the_right_probe_and_the_wrong_fault_do_not_pass():
    case = investigate("05/a")
    rate = case.probe("rate_over_time")
    verdict = check_investigation(case, "adam_string", ("rate_over_time", "highest", rate.highest))
    assert not verdict.passed and "adam_string is not the fault" in verdict.message


def test_a_seed_gives_the_same_case_each_time_and_any_of_the_catalogue():
    assert investigate(seed=3).case == investigate(seed=3).case
    assert len({investigate(seed=seed).case.ill.name for seed in range(300)}) == len(CATALOGUE)


def test_a_case_does_not_name_its_fault():
    for name in cases():
        if name.startswith("05/"):
            assert cases()[name].ill.name not in repr(investigate(name))


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS, WRONG_OBJECTS)
def test_wrong_objects_are_answered(one, other):
    assert isinstance(investigate(one), (NotExamined, Investigation))
    assert isinstance(investigate("05/a").probe(one), NotExamined)
    assert isinstance(triage(one), Triage if one is None else NotExamined)
    assert isinstance(investigate(seed=one), (NotExamined, Investigation))
    assert isinstance(investigate("05/a", budget=one), (NotExamined, Investigation))
    for case in (one, investigate("05/a")):
        verdict = check_investigation(case, one, other)
        assert not verdict.passed and verdict.next_step
