"""The table of faults and probes: measured on what is in the repository, and every fault is in it, revealed by a probe."""

import pytest

from helpers.build.fault_table import names, read, stale, symptom_of, table
from helpers.faults import BASES, CATALOGUE, SYMPTOMS

TABLE = read()


@pytest.mark.parametrize("name", names())
def test_the_table_is_not_stale(name):
    assert stale(name, TABLE[name]) == [], "The fault, a probe or the data changed. Run: make fault-table"
    assert TABLE[name]["symptom"] == symptom_of(TABLE[name]["run"])


@pytest.mark.parametrize("base", BASES)
def test_no_probe_finds_anything_in_a_healthy_script_and_it_trains_well(base):
    entry = TABLE[f"healthy: {base}"]
    assert {probe: found for probe, found in entry["found"].items() if found != []} == {}
    assert entry["symptom"] == "looks_well" and entry["run"]["accuracy"] >= 0.9


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_fault_is_revealed_by_the_probe_that_it_names(name):
    probe, finding = CATALOGUE[name].reveals
    assert finding in TABLE[name]["found"][probe]
    assert (TABLE[name]["symptom"] == "stops") is not CATALOGUE[name].silent


def test_every_symptom_is_shown_by_a_fault():
    assert {entry["symptom"] for entry in TABLE.values()} == set(SYMPTOMS)


def test_the_printed_table_has_a_line_for_each_script():
    lines = table(TABLE).splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == names()
    assert lines[0].endswith(" nothing") and not any(line.endswith(" nothing") for line in lines[len(BASES) :])


@pytest.mark.parametrize(
    ("run", "symptom"),
    [
        ({"error": "ValueError"}, "stops"),
        ({"start": 1.1, "loss": float("nan"), "val_loss": float("nan"), "evaluate_loss": float("nan"), "accuracy": 0.3}, "nan"),
        ({"start": 4.0, "loss": 1.0, "val_loss": 1.0, "evaluate_loss": 1.0, "accuracy": 0.9}, "odd_start"),
        ({"start": 1.1, "loss": 0.5, "val_loss": 0.5, "evaluate_loss": 1.1, "accuracy": 0.9}, "two_scores"),
        ({"start": 1.1, "loss": 0.5, "val_loss": 0.5, "evaluate_loss": 0.5, "evaluate_accuracy": 0.3, "accuracy": 0.9}, "two_scores"),
        ({"start": 1.1, "loss": 1.1, "val_loss": 1.1, "evaluate_loss": 1.1, "accuracy": 0.34}, "learns_nothing"),
        ({"start": 1.1, "loss": 0.8, "val_loss": 0.8, "evaluate_loss": 0.8, "accuracy": 0.7}, "learns_little"),
        ({"start": 1.1, "loss": 0.3, "val_loss": 0.3, "evaluate_loss": 0.3, "accuracy": 0.95}, "looks_well"),
    ],
)
def test_a_symptom_is_named_by_what_the_run_shows(run, symptom):
    assert symptom_of(run) == symptom
