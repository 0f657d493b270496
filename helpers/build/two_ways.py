"""Every fault both ways over three seeds: it bites and its probe finds it; after each repair it trains and the probe finds nothing.

    python -m helpers.build.two_ways    the tests of tests/test_faults.py on seeds 0, 1 and 2; writes figures/two_ways.json

`make test` runs them on seed 0, and fails when what was measured no longer fits. `make measure` calls this. About ten minutes.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from helpers.build.measuring import ONE_THREAD, ROOT, hash_of
from helpers.faults import CATALOGUE

RESULT = ROOT / "figures" / "two_ways.json"
SEEDS = (0, 1, 2)
TESTS = "tests/test_faults.py"
INPUTS = (
    TESTS,
    "tests/one_layer.py",
    "tests/running.py",
    "helpers/probes/*.py",
    "helpers/healthy.py",
    "helpers/pipeline.py",
    "helpers/assets/SHA256SUMS",
)


def hash_of_inputs() -> str:
    faults = [(fault.name, fault.script, fault.repairs, fault.reveals, fault.error_class, fault.error_text) for fault in CATALOGUE.values()]
    return hash_of(INPUTS, repr(faults))


def run_tests() -> dict[str, bool]:
    """Test with its seed -> whether it passed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "load", f"--junitxml={report}", TESTS]
        subprocess.run(command, cwd=ROOT, env=os.environ | ONE_THREAD | {"COURSE_SEEDS": " ".join(map(str, SEEDS))})
        cases = ElementTree.parse(report).iter("testcase")
        return {case.get("name"): case.find("failure") is None and case.find("error") is None for case in cases}


def main() -> int:
    inputs = hash_of_inputs()  # before: a file that changes meanwhile makes it stale
    passed = {name: ok for name, ok in run_tests().items() if any(name.endswith(f"-{seed}]") for seed in SEEDS)}
    failed = [name for name, ok in passed.items() if not ok]
    RESULT.write_text(
        json.dumps(
            {"inputs": inputs, "seeds": SEEDS, "passed": len(passed) - len(failed), "tests": len(passed), "failed": failed}, indent=1
        )
        + "\n"
    )
    print(f"{len(passed) - len(failed)} of {len(passed)} passed on seeds {SEEDS}", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
