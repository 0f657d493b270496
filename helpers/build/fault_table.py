"""Which probe reveals which fault, what does each cost, and what does training show? Measured, not declared: `make fault-table`.

    python -m helpers.build.fault_table            what changed since the last time; writes helpers/fault_table.json, prints the table
    python -m helpers.build.fault_table no_mask    only the named faults, printed

The probes look at scripts of 240 training rows, those that count steps at all. The symptom is that of the whole script, trained as it stands.
A probe that changed does not change the training: each half is measured again when its own inputs changed. A process of its own for each
script: what one leaves behind does not reach the next.
"""

import inspect
import math
import sys
import time

from helpers.build.measuring import ROOT, hash_of, json_of, measure_all, read_results
from helpers.faults import BASES, CATALOGUE, base_script, fault

RESULT = ROOT / "helpers" / "fault_table.json"
ROWS, STEPS = 240, 300  # training rows, and the steps of a whole epoch, which schedules are held against
OF_NO_PROBE_HERE = ("sweep_rates.py", "score_against_baseline.py", "known_errors.py")
LOOKED_AT = (
    *(f"helpers/probes/{path.name}" for path in (ROOT / "helpers" / "probes").glob("*.py") if path.name not in OF_NO_PROBE_HERE),
    "helpers/batches.py",
    "helpers/guards.py",
    "helpers/assets/SHA256SUMS",
)
ON_ALL_ROWS = ("rate_over_time", "look_at_fit")  # they count steps
SMALL = ("train_rows=2400, validation_rows=750", f"train_rows={ROWS}, validation_rows=64")

ONE = """
import json, sys
from helpers.build.fault_table import HALVES, script_of
print(json.dumps([HALVES[half](script_of(sys.argv[1])) for half in sys.argv[2:]]))
"""


def hashes_of(name: str) -> dict[str, str]:
    """Half of the measurement -> hash of the script and of all that it is measured with. tests/test_fault_table.py compares them."""
    return {
        "probed": hash_of(LOOKED_AT, script_of(name), inspect.getsource(look_at)),
        "trained": hash_of(["helpers/assets/SHA256SUMS"], script_of(name), inspect.getsource(train)),
    }


def names() -> list[str]:
    return [f"healthy: {base}" for base in BASES] + list(CATALOGUE)


def script_of(name: str) -> str:
    """The script of a fault, or of a healthy base: "healthy: own_loss"."""
    return base_script(name.removeprefix("healthy: ")) if name.startswith("healthy: ") else fault(name).script


# ---------------------------------------------------------------- probes


def findings_of_script(script: str, seed: int, probes=None) -> dict[str, list[str] | None]:
    """Probe -> its findings on the script with few rows, None where it could not look."""
    return {probe: found for probe, (found, _seconds) in look_at(script, seed, probes).items()}


def look_at(script: str, seed: int, probes=None) -> dict[str, tuple[list[str] | None, float]]:
    """Probe -> (its findings, the seconds that it took, with the stages that it needs)."""
    import tensorflow as tf
    from transformers import AutoTokenizer

    from helpers import find_checkpoint, load_mnli
    from helpers.pipeline import pipeline_from_script
    from helpers.probes.run_all import PROBES, Parts, answer_of, names_of

    if SMALL[0] not in script:
        raise ValueError(f"The script does not load {SMALL[0]}.")
    tf.keras.utils.set_random_seed(seed)
    whole, few = pipeline_from_script(script), pipeline_from_script(script.replace(*SMALL))
    tokenizer, data = AutoTokenizer.from_pretrained(find_checkpoint()), load_mnli(train_rows=ROWS, validation_rows=64)
    seen = {}
    for probe in probes or PROBES:
        start = time.perf_counter()
        found = names_of(answer_of(probe, Parts(whole if probe in ON_ALL_ROWS else few, tokenizer, data, STEPS)))
        seen[probe] = (None if found is None else sorted(found), round(time.perf_counter() - start, 1))
    return seen


# ---------------------------------------------------------------- symptoms


def train(script: str, seed: int) -> dict:
    """What a whole run shows. start: the loss of a validation batch before training · loss, val_loss: of the last epoch · evaluate: what the
    script says at its end · accuracy: of the largest logits, on the script's validation rows · error: its class.
    """
    import numpy as np
    import tensorflow as tf

    from helpers.batches import class_ids, labels_of
    from helpers.guards import first_batches
    from helpers.pipeline import pipeline_from_script, without_autotune
    from helpers.probes.walk import logits_of, quiet

    tf.keras.utils.set_random_seed(seed)
    pipeline = pipeline_from_script(script)
    try:
        with quiet():
            train, validation = map(without_autotune, pipeline.batch(pipeline.tokenize(pipeline.load())))
            model = pipeline.build_model()
            pipeline.compile_model(model)
            start = model.evaluate(validation.take(4), return_dict=True, verbose=0)["loss"]
            history = pipeline.fit(model, train, validation).history
            scores = pipeline.evaluate(model, validation)
            batches = first_batches(validation, 100, seconds=120)
            right = [a == b for batch in batches for a, b in zip(logits_of(model, batch).argmax(-1), class_ids(labels_of(batch), len(labels_of(batch))), strict=True)]  # fmt: skip
    except Exception as error:
        return {"error": type(error).__name__}
    shown = {"start": start, "loss": history["loss"][-1], "val_loss": history["val_loss"][-1]}
    shown |= {f"evaluate_{name}": value for name, value in scores.items()}
    return {name: round(float(value), 3) for name, value in shown.items()} | {"accuracy": round(float(np.mean(right)), 3)}


def symptom_of(run: dict) -> str:
    """What a learner sees first of all that ``run`` shows, by name: see SYMPTOMS in helpers/faults.py."""
    if "error" in run:
        return "stops"
    if not math.isfinite(run["loss"]):
        return "nan"
    if abs(run["start"] - math.log(3)) > 0.35:
        return "odd_start"
    reported = [value for name, value in run.items() if name.startswith("evaluate_") and name != "evaluate_loss"]
    if abs(run["evaluate_loss"] - run["val_loss"]) > 0.05 or any(abs(value - run["accuracy"]) > 0.05 for value in reported):
        return "two_scores"
    return "learns_nothing" if run["accuracy"] < 0.45 else "learns_little" if run["accuracy"] < 0.85 else "looks_well"


# ---------------------------------------------------------------- all


def probed(script: str, seed: int = 0) -> dict:
    looked = look_at(script, seed)
    return {
        "found": {probe: found for probe, (found, _seconds) in looked.items()},
        "seconds": {probe: seconds for probe, (_found, seconds) in looked.items()},
    }


def trained(script: str, seed: int = 0) -> dict:
    return {"run": train(script, seed)}


HALVES = {"probed": probed, "trained": trained}


def stale(name: str, entry: dict) -> list[str]:
    """The halves whose inputs changed since they were measured."""
    now = hashes_of(name)
    return [half for half in HALVES if entry.get("inputs", {}).get(half) != now[half]]


def measure(name: str, entry: dict, halves: list[str]) -> dict:
    """The entry with these halves measured anew, in a process of its own."""
    now = hashes_of(name)  # before: a file that changes meanwhile makes it stale
    answers = json_of(ONE, name, *halves, name=name)
    print(f"  {name}: {', '.join(halves)}", file=sys.stderr, flush=True)
    entry = {**entry, "inputs": {**entry.get("inputs", {}), **{half: now[half] for half in halves}}}
    for measured in answers:
        entry |= measured
    return entry | {"symptom": symptom_of(entry["run"])}


def read() -> dict[str, dict]:
    return read_results(RESULT, names())


def table(measured: dict[str, dict]) -> str:
    """One line for each script: its symptom, the probes that find something, and what."""
    lines = []
    for name, entry in measured.items():
        said = [f"{probe}: {', '.join(found)}" for probe, found in entry["found"].items() if found]
        lines.append(f"{name:<28} {entry['symptom']:<15} " + (" · ".join(said) or "nothing"))
    return "\n".join(lines)


def main() -> None:
    chosen = sys.argv[1:]
    there = {} if chosen else read()
    halves = {name: stale(name, there.get(name, {})) for name in chosen or names()}
    wanted = [name for name in halves if halves[name]]
    print(
        table(
            measure_all(wanted, lambda name: measure(name, there.get(name, {}), halves[name]), there, names(), None if chosen else RESULT)
        )
    )


if __name__ == "__main__":
    main()
