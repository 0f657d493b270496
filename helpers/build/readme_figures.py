"""Writes the figures of bench.json, measure.json and check_rates.json in figures/ into the README, between two marks.

    python -m helpers.build.readme_figures            write
    python -m helpers.build.readme_figures --check    compare; exit code 1 when the README says something else

`make bench` and `make measure` call it, so that no figure in the README is typed by hand.
"""

import json
import sys

from helpers.build.measuring import ROOT, k_of_n, pooled

README = ROOT / "README.md"
BEGIN, END = "<!-- figures: begin (written by make bench and make measure) -->", "<!-- figures: end -->"


def section(bench: dict, measure: dict, rates: dict) -> str:
    """The markdown of the section, from the three JSON files."""
    machine, training, start, checks = bench["machine"], bench["training"], bench["start"], bench["checks"]
    seeds = len({run["seed"] for run in training["runs"]})
    slowest = max(seconds for name, seconds in checks.items() if name not in ("walk", "process_seconds", "peak_gb"))
    rows = [
        (f"healthy pipeline, one epoch, {seeds} seeds: lowest accuracy on `validation_matched`", f"{training['healthy_accuracy_lowest']:.3f}"),
        ("its `fit()`, median and longest", f"{training['healthy_fit_seconds_median']:.0f} s, {training['healthy_fit_seconds_largest']:.0f} s"),
        ("the same with the optimizer string `'adam'`: highest accuracy", f"{training['adam_accuracy_highest']:.3f}"),
        ("its lowest training loss (ln 3 = 1.099 is a guess)", f"{training['adam_loss_lowest']:.3f}"),
        ("healthy accuracy minus that of `'adam'`, smallest of the seeds", f"{training['gap_smallest']:.3f}"),
        ("`fit()` of both, one after the other, longest of the seeds", f"{training['both_seconds_largest']:.0f} s"),
        ("linear probe on the frozen encoder, same rows", k_of_n(measure["probe"]["linear probe on the frozen encoder"])),
        *((f"not comparing the sentences: {name}", k_of_n(figure)) for name, figure in measure["bias"].items()),
        ("`check_repair()`, a right repair refused", k_of_n(pooled(rates, "refused"))),
        ("`check_repair()`, a wrong repair accepted", k_of_n(pooled(rates, "accepted"))),
        ("`import helpers`", f"{start['import_seconds_median']:.2f} s"),
        ("start of Python → lesson 01's first error; → the error in `fit()`", f"{start['first_error_seconds']:.0f} s; {start['error_in_fit_seconds']:.0f} s"),
        ("`walk()`, with one batch of training", f"{checks['walk']:.1f} s"),
        ("`look_at_batch()`, `explain_error()`, `check_diagnosis()`: the slowest", f"{slowest:.2f} s"),
        ("most memory of a process that trains", f"{training['peak_gb']:.2f} GB"),
        *((f"`{name}`, all cells", f"{run['seconds']:.0f} s, {run['kernel_peak_gb']:.2f} GB") for name, run in bench["notebooks"].items()),
        ("data and checkpoint", f"{bench['assets']['total_mb']:.1f} MB"),
    ]  # fmt: skip
    lines = [
        f"Measured by `make bench` and `make measure` on {machine['cores']} cores ({machine['cpu']}), no GPU, {machine['system']}, "
        f"Python {machine['python']}. All of them stand in `figures/`.",
        "",
        "| what | figure |",
        "| --- | --- |",
        *(f"| {what} | {figure} |" for what, figure in rows),
    ]
    return "\n".join(lines)


def with_section(readme: str, text: str) -> str:
    before, _, rest = readme.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"README.md lost its marks. Put these two lines where the figures belong:\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    files = [ROOT / "figures" / name for name in ("bench.json", "measure.json", "check_rates.json")]
    missing = [path for path in files if not path.exists()]
    if missing:
        print(f"{missing[0].relative_to(ROOT)} is not there yet. Run: make bench && make measure")
        return 1 if "--check" in arguments else 0
    readme = README.read_text(encoding="utf-8")
    fresh = with_section(readme, section(*(json.loads(path.read_text()) for path in files)))
    if "--check" in arguments:
        if readme != fresh:
            print("README.md states other figures than figures/*.json. Run: python -m helpers.build.readme_figures")
        return int(readme != fresh)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
