"""How often does a check that trains err? Of each repair task: right repairs that are refused, wrong ones that are accepted, over 20 seeds.

    python -m helpers.build.check_rates            the tasks whose scripts or check changed; writes figures/check_rates.json
    python -m helpers.build.check_rates 02/mask    only the named tasks, printed

Each seed draws another head and another first batch. The seeds go round the accepted repairs, and round the tempting wrong ones.
A process of its own for each task. `make measure` calls it; tests/test_figures.py fails when the hash no longer fits.
"""

import sys

from helpers.build import readme_figures
from helpers.build.measuring import ROOT, hash_of, json_of, k_of_n, measure_all, pooled, rate, read_results
from helpers.course import lessons, task
from helpers.faults import fault
from helpers.pipeline import pipeline_from_script
from helpers.scripts import change_script

RESULT = ROOT / "figures" / "check_rates.json"
SEEDS = 20
CHECKED_WITH = (
    "helpers/repair.py",
    "helpers/watched.py",
    "helpers/checks.py",
    "helpers/healthy.py",
    "helpers/assets/SHA256SUMS",
    *(f"helpers/probes/{probe}.py" for probe in ("walk", "look_at_batch", "loss_at_start", "rate_over_time", "compare_splits")),
)


def tasks() -> list[str]:
    return [task.name for lesson in lessons() for task in lesson.tasks if task.start]


def scripts_of(name: str) -> tuple[list[str], list[str]]:
    """(the scripts with an accepted repair, those with a tempting wrong one)"""
    of = task(name)
    start = fault(of.start).script
    return tuple([change_script(start, program.changes) for program in programs] for programs in (of.repairs, of.mistakes))


def hash_of_task(name: str) -> str:
    right, wrong = scripts_of(name)
    return hash_of(CHECKED_WITH, *right, "wrong", *wrong)


def errors_of(name: str) -> dict:
    """The task's check on right and on wrong repairs, one of each for every seed."""
    import tensorflow as tf

    from helpers.checks import check_repair

    said = {"refused": [], "accepted": []}
    for scripts, wanted, kind in zip(scripts_of(name), (True, False), said, strict=True):
        for seed in range(SEEDS):
            tf.keras.utils.set_random_seed(seed)
            verdict = check_repair(name, pipeline_from_script(scripts[seed % len(scripts)]))
            if verdict.passed is not wanted:
                said[kind].append({"seed": seed, "program": seed % len(scripts), "message": verdict.message})
    return {kind: {**rate(len(errors), SEEDS), "errors": errors} for kind, errors in said.items()}


def measure(name: str) -> dict:
    inputs = hash_of_task(name)  # before: a file that changes meanwhile makes it stale
    code = f"import json; from helpers.build.check_rates import errors_of; print(json.dumps(errors_of({name!r})))"
    return {"inputs": inputs, **json_of(code, name=name)}


def read() -> dict[str, dict]:
    return read_results(RESULT, tasks())


def main() -> int:
    chosen = sys.argv[1:]
    there = {} if chosen else {name: entry for name, entry in read().items() if entry["inputs"] == hash_of_task(name)}
    wanted = chosen or [name for name in tasks() if name not in there]
    there = measure_all(wanted, measure, there, tasks(), None if chosen else RESULT)
    for name, entry in there.items():
        print(name, *(f"{kind} {entry[kind]['k']} of {entry[kind]['n']}" for kind in ("refused", "accepted")), sep="  ")
    print("all", *(f"{kind} {k_of_n(pooled(there, kind))}" for kind in ("refused", "accepted")), sep="  ")
    return 0 if chosen else readme_figures.main([])


if __name__ == "__main__":
    sys.exit(main())
