"""What the long measurements share: a process of its own for each, results kept after each, a hash of what they were made from, rates."""

import ast
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 2  # about 1.2 GB each
ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "OMP_NUM_THREADS": "1"}  # the workers share the cores


def json_of(code: str, *arguments: str, name: str):
    """What ``code`` prints as its last line, as JSON. ``arguments``: its sys.argv[1:] · ``name``: of the measurement, for the message when it fails."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, env=os.environ | ONE_THREAD)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure_all(
    wanted: Iterable[str], measure: Callable[[str], dict], there: dict, order: list[str], result: Path | None
) -> dict[str, dict]:
    """``there`` with each of ``wanted`` measured, in ``order``; written to ``result`` after each, so that a run that is stopped goes on later."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        running = {pool.submit(measure, name): name for name in wanted}
        for done in concurrent.futures.as_completed(running):
            there = {**there, running[done]: done.result()}
            if result:
                result.write_text(json.dumps(in_order(there, order), indent=1) + "\n", encoding="utf-8")
    return in_order(there, order)


def read_results(result: Path, order: list[str]) -> dict[str, dict]:
    """What was measured, of all names that still exist."""
    return in_order(json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}, order)


def in_order(there: dict, order: list[str]) -> dict:
    return {name: there[name] for name in order if name in there}


def hash_of(patterns: Iterable[str], *more: str) -> str:
    """Of files of the repository, by pattern, and of more text. What a docstring says changes no measurement, so it does not count."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    texts = [
        without_docstrings(path.read_text(encoding="utf-8")) if path.suffix == ".py" else path.read_text(encoding="utf-8") for path in paths
    ]
    return hashlib.sha256("\0".join([*texts, *more]).encode()).hexdigest()[:16]


def without_docstrings(source: str) -> str:
    """The lines of ``source`` that are not blank, and in no docstring."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines[docstring.lineno - 1 : docstring.end_lineno] = [""] * (docstring.end_lineno - docstring.lineno + 1)
    return "\n".join(line for line in lines if line.strip())


def rate(k: int, n: int) -> dict:
    """k of n, and the upper end of the one-sided 95 % interval (Clopper and Pearson, 1934)."""
    from scipy.stats import beta

    return {"k": int(k), "n": int(n), "upper_95": 1.0 if k == n else round(float(beta.ppf(0.95, k + 1, n - k)), 4)}


def pooled(measured: dict[str, dict], kind: str) -> dict:
    """The rate of all entries together. ``measured``: entry -> kind -> its rate."""
    return rate(sum(entry[kind]["k"] for entry in measured.values()), sum(entry[kind]["n"] for entry in measured.values()))


def k_of_n(figure: dict) -> str:
    return f"{figure['k']} of {figure['n']} ({figure['k'] / figure['n']:.3f}; 95 % upper bound {figure['upper_95']:.3f})"
