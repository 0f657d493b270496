"""The figures that the README states were measured on what is in the repository."""

import json

import pytest
import test_faults

from helpers.build import bench, check_rates, measure, readme_figures, two_ways
from helpers.build.measure import RESULT, ROOT, hash_of_inputs
from helpers.build.measuring import pooled, rate, without_docstrings
from helpers.checks import check_repair

FIGURES = json.loads(RESULT.read_text())
BENCH = json.loads(bench.RESULT.read_text())


def test_the_measurements_are_not_stale():
    assert FIGURES["inputs"] == hash_of_inputs(), "The assets changed. Run: make measure"


def test_the_training_figures_are_of_these_assets():
    assert BENCH["training_inputs"] == bench.hash_of_training_inputs(), "The assets or the healthy script changed. Run: make bench"


def test_every_fault_was_tested_both_ways_on_three_seeds():
    measured = json.loads(two_ways.RESULT.read_text())
    assert measured["inputs"] == two_ways.hash_of_inputs(), "A fault, a probe or its test changed. Run: python -m helpers.build.two_ways"
    assert measured["failed"] == [] and measured["seeds"] == [0, 1, 2]
    of_a_seed = sum(
        map(len, (test_faults.RAISING, test_faults.PROBED, test_faults.RAISING_REPAIRED, test_faults.HEALED, test_faults.HEALED_TO_A_BASE))
    )
    assert measured["passed"] == measured["tests"] == 3 * of_a_seed


@pytest.mark.parametrize("task", check_rates.tasks())
def test_the_check_of_each_task_was_measured_over_twenty_seeds(task):
    measured = check_rates.read()[task]
    assert measured["inputs"] == check_rates.hash_of_task(task), "A task or the check changed. Run: python -m helpers.build.check_rates"
    assert measured["refused"]["n"] >= 20 and measured["accepted"]["n"] >= 20


@pytest.mark.parametrize("kind", ["refused", "accepted"])
def test_the_checks_err_in_two_of_a_hundred_at_most_and_say_how_often(kind):
    measured = check_rates.read()
    figure = pooled(measured, kind)
    assert sum(entry[kind]["n"] for entry in measured.values() for kind in ("refused", "accepted")) >= 300
    assert figure["k"] / figure["n"] <= 0.02
    assert f"{figure['k']} of {figure['n']}" in check_repair.__doc__ and f"{figure['upper_95']:.2%}" in check_repair.__doc__


@pytest.mark.parametrize("name", FIGURES["bias"])
def test_a_classifier_that_does_not_compare_the_sentences_stays_under_060(name):
    figure = FIGURES["bias"][name]
    assert figure["upper_95"] < 0.60


def test_fine_tuning_does_the_work_that_a_linear_probe_cannot():
    probe = FIGURES["probe"]["linear probe on the frozen encoder"]
    assert BENCH["training"]["healthy_accuracy_lowest"] > probe["k"] / probe["n"]


def test_the_healthy_pipeline_reaches_its_figure_on_each_seed():
    runs = [run for run in BENCH["training"]["runs"] if run["rate"] == "5e-5"]
    assert [run["seed"] for run in runs] == [0, 1, 2, 3, 4]
    assert all(run["accuracy"] >= 0.90 for run in runs)


def test_the_string_adam_ruins_the_model_on_each_seed():
    training = BENCH["training"]
    assert training["adam_loss_lowest"] >= 0.95 and training["adam_accuracy_highest"] <= 0.50 and training["gap_smallest"] >= 0.35


def test_the_assets_are_small():
    size = sum(path.stat().st_size for path in (ROOT / "helpers" / "assets").rglob("*") if path.is_file())
    assert size <= 12e6


@pytest.mark.parametrize(("k", "n", "upper"), [(0, 300, 0.0099), (6, 300, 0.0391), (300, 300, 1.0)])
def test_the_upper_bound_is_that_of_clopper_and_pearson(k, n, upper):
    assert rate(k, n)["upper_95"] == pytest.approx(upper, abs=2e-4)


def test_the_readme_states_the_measured_figures(monkeypatch, tmp_path, capsys):
    assert readme_figures.main(["--check"]) == 0, capsys.readouterr().out
    accuracy = f"{BENCH['training']['healthy_accuracy_lowest']:.3f}"
    changed = tmp_path / "README.md"
    changed.write_text(readme_figures.README.read_text(encoding="utf-8").replace(f"| {accuracy} |", "| 0.999 |"), encoding="utf-8")
    monkeypatch.setattr(readme_figures, "README", changed)
    assert readme_figures.main(["--check"]) == 1
    assert readme_figures.main([]) == 0 and f"| {accuracy} |" in changed.read_text(encoding="utf-8")


def test_measure_and_bench_use_the_rows_of_the_healthy_script():
    from helpers.pipeline import healthy_script

    assert f"train_rows={measure.TRAIN_ROWS}," in healthy_script()


def test_a_docstring_is_no_input_of_a_measurement_and_code_is():
    source = '"""Says this."""\n\n\ndef rate():\n    """Says\n    that."""\n    return 1  # one\n'
    other = source.replace("Says this.", "Says\nmore.").replace('    """Says\n    that."""\n', "")
    assert without_docstrings(source) == without_docstrings(other) == "def rate():\n    return 1  # one"
    assert without_docstrings(source) != without_docstrings(source.replace("return 1", "return 2"))
