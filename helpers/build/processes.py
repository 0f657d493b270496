"""A measurement in a process of its own: what one leaves behind does not reach the next."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "OMP_NUM_THREADS": "1"}  # for workers that share the cores


def json_of(code: str, *arguments: str, name: str):
    """What ``code`` prints as its last line, as JSON. ``arguments``: its sys.argv[1:] · ``name``: of the measurement, for the message when it fails."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, env=os.environ | ONE_THREAD)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
