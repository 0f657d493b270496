"""Each public bug report that is reproduced here shows its symptom, a probe reveals it, and the report's fix ends both."""

import csv
from pathlib import Path

import pytest
from reports import REPORTS
from reports.report import found_by

import helpers
from helpers.guards import NotExamined

TABLE = Path(__file__).with_name("data") / "bug_reports.csv"


@pytest.fixture(autouse=True)
def the_same_numbers_each_time():
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)


def look(report, arguments):
    answer = getattr(helpers, report.probe)(*arguments)
    assert not isinstance(answer, NotExamined), answer
    return answer


@pytest.mark.parametrize("name", REPORTS)
def test_the_symptom_of_a_report_is_there_and_its_probe_reveals_it(name):
    report = REPORTS[name]
    outcome, arguments = report.reproduce(True)
    assert report.is_ill(outcome), outcome
    assert report.is_revealed(look(report, arguments))
    assert helpers.explain_error(outcome).known or not report.known


@pytest.mark.parametrize("name", REPORTS)
def test_the_fix_of_a_report_ends_its_symptom_and_its_probe_finds_nothing(name):
    report = REPORTS[name]
    outcome, arguments = report.reproduce(False)
    assert not report.is_ill(outcome), outcome
    answer = look(report, arguments)
    assert not report.is_revealed(answer)
    assert found_by(answer) == report.left


def test_every_report_is_in_the_table_with_the_group_that_it_claims():
    groups = {row["id"]: row["fault"] for row in csv.DictReader(TABLE.open(encoding="utf-8"))}
    assert len(groups) == 124
    assert {name: report.group for name, report in REPORTS.items()} == {name: groups.get(name) for name in REPORTS}


def test_the_reports_are_many_and_of_most_groups_and_each_has_a_reproduction_of_its_own():
    assert len(REPORTS) >= 40
    assert len({report.group for report in REPORTS.values()}) >= 15
    assert len({report.reproduce for report in REPORTS.values()}) == len(REPORTS)
