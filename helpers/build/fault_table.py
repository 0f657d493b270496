"""Which probe reveals which fault? Measured, not declared: `make fault-table` runs all probes on all faults and on the healthy scripts.

    python -m helpers.build.fault_table            all faults, one seed: writes figures/fault_table.json and prints the table
    python -m helpers.build.fault_table no_mask    only the named faults, printed

The scripts run on 240 training rows. A process of its own for each script: what one leaves behind does not reach the next.
"""

import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "figures" / "fault_table.json"
ROWS, STEPS = 240, 300  # training rows, and the steps of a whole epoch, which schedules are held against
INPUTS = ("helpers/catalogue/*.py", "helpers/probes/*.py", "helpers/healthy.py", "helpers/batches.py", "helpers/assets/SHA256SUMS")
SMALL = ("train_rows=2400, validation_rows=750", f"train_rows={ROWS}, validation_rows=64")

ONE = """
import json, sys
from helpers.build.fault_table import findings_of_script, script_of
print(json.dumps(findings_of_script(script_of(sys.argv[1]), int(sys.argv[2]))))
"""


def hash_of_inputs() -> str:
    """Of the faults, the probes and the data. tests/test_fault_table.py compares it."""
    paths = sorted(path for pattern in INPUTS for path in ROOT.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def script_of(name: str) -> str:
    """The script of a fault, or of a healthy base: "healthy: own_loss"."""
    from helpers.faults import base_script, fault

    return base_script(name.removeprefix("healthy: ")) if name.startswith("healthy: ") else fault(name).script


def findings_of_script(script: str, seed: int, probes=None) -> dict[str, list[str] | None]:
    """Probe -> its findings on the script with few rows, None where it could not look."""
    import tensorflow as tf
    from transformers import AutoTokenizer

    from helpers import find_checkpoint, load_mnli
    from helpers.pipeline import pipeline_from_script
    from helpers.probes.run_all import findings_of

    tf.keras.utils.set_random_seed(seed)
    if SMALL[0] not in script:
        raise ValueError(f"The script does not load {SMALL[0]}.")
    pipeline = pipeline_from_script(script.replace(*SMALL))
    tokenizer, data = AutoTokenizer.from_pretrained(find_checkpoint()), load_mnli(train_rows=ROWS, validation_rows=64)
    found = findings_of(pipeline, tokenizer, data, STEPS, probes)
    return {probe: None if names is None else sorted(names) for probe, names in found.items()}


def measure(name: str, seed: int = 0) -> dict:
    done = subprocess.run([sys.executable, "-c", ONE, name, str(seed)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    print(f"  {name}", file=sys.stderr, flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(measured: dict[str, dict]) -> str:
    """One line for each script: the probes that find something, and what."""
    lines = []
    for name, found in measured.items():
        said = [f"{probe}: {', '.join(names)}" for probe, names in found.items() if names]
        lines.append(f"{name:<28} " + (" · ".join(said) or "nothing"))
    return "\n".join(lines)


def main() -> None:
    from helpers.faults import BASES, CATALOGUE

    names = sys.argv[1:] or [f"healthy: {base}" for base in BASES] + list(CATALOGUE)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = dict(zip(names, pool.map(measure, names), strict=True))
    print(table(measured))
    if not sys.argv[1:]:
        RESULT.write_text(json.dumps({"inputs": hash_of_inputs(), "rows": ROWS, "found": measured}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
