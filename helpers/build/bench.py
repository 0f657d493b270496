"""The figures of the course on this machine: `make bench` prints medians and writes figures/bench.json.

    python -m helpers.build.bench              all of it, about 10 minutes on 2 cores
    python -m helpers.build.bench training     only the named parts: training, start, checks, notebooks, assets

Each run is a process of its own, so that peak memory is that run's alone.
"""

import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

from helpers.build import readme_figures

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "figures" / "bench.json"
SEEDS = (0, 1, 2, 3, 4)


def hash_of_training_inputs() -> str:
    """Of the assets and the healthy script: what the training figures depend on."""
    return hashlib.sha256(b"".join((ROOT / "helpers" / name).read_bytes() for name in ("assets/SHA256SUMS", "healthy.py"))).hexdigest()


def measured(code: str, *arguments: str) -> dict:
    """Run ``code`` in a fresh Python; it prints one JSON object. Adds seconds of the whole process and its peak memory in GB."""
    wrapper = code + "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", wrapper, *arguments], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"A benchmark failed:\n{done.stderr[-2000:]}")
    *_, result, peak = done.stdout.strip().splitlines()
    return {**json.loads(result), "process_seconds": round(time.perf_counter() - start, 1), "peak_gb": round(int(peak) / 1e6, 2)}


TRAIN = """
import json, sys, time
from helpers.pipeline import healthy_script, pipeline_from_script
from helpers.scripts import change_script
from helpers.faults import COMPILE
import datasets; datasets.disable_progress_bars()
import tensorflow as tf
rate, seed = sys.argv[1], int(sys.argv[2])
changes = [] if rate == "5e-5" else [(COMPILE, COMPILE.replace("tf.keras.optimizers.Adam(5e-5)", "'adam'"))]
p = pipeline_from_script(change_script(healthy_script(), changes))
tf.keras.utils.set_random_seed(seed)
train, validation = p.batch(p.tokenize(p.load()))
model = p.build_model(); p.compile_model(model)
start = time.perf_counter()
history = p.fit(model, train, validation).history
print()
print(json.dumps({"rate": rate, "seed": seed, "fit_seconds": round(time.perf_counter() - start, 1),
                  "loss": round(history["loss"][-1], 4), "accuracy": round(history["val_accuracy"][-1], 4)}))
"""


def training() -> dict:
    """The healthy pipeline and the same with the string 'adam', over the seeds: fit seconds, last loss, last validation accuracy."""
    runs = [measured(TRAIN, rate, str(seed)) for seed in SEEDS for rate in ("5e-5", "adam")]
    for run in runs:
        print(
            f"  seed {run['seed']}  {run['rate']:>5}  fit {run['fit_seconds']:5.1f} s  loss {run['loss']:.3f}  accuracy {run['accuracy']:.3f}  peak {run['peak_gb']} GB"
        )
    healthy, adam = ([run for run in runs if run["rate"] == rate] for rate in ("5e-5", "adam"))
    return {
        "runs": runs,
        "healthy_fit_seconds_median": statistics.median(run["fit_seconds"] for run in healthy),
        "healthy_fit_seconds_largest": max(run["fit_seconds"] for run in healthy),
        "healthy_accuracy_lowest": min(run["accuracy"] for run in healthy),
        "adam_loss_lowest": min(run["loss"] for run in adam),
        "adam_accuracy_highest": max(run["accuracy"] for run in adam),
        "gap_smallest": round(min(h["accuracy"] - a["accuracy"] for h, a in zip(healthy, adam, strict=True)), 4),
        "both_seconds_largest": max(h["fit_seconds"] + a["fit_seconds"] for h, a in zip(healthy, adam, strict=True)),
        "peak_gb": max(run["peak_gb"] for run in runs),
    }


IMPORT = "import time; start = time.perf_counter(); import helpers, json; print(json.dumps({'import_seconds': round(time.perf_counter() - start, 3)}))"
FIRST_ERROR = """
import json, time
start = time.perf_counter()
from helpers.arc import broken_script, script_after
from helpers.pipeline import pipeline_from_script
import datasets; datasets.disable_progress_bars()
seconds = []
for repairs in (0, 1):
    p = pipeline_from_script(script_after(repairs))
    try:
        train, validation = p.batch(p.tokenize(p.load()))
        model = p.build_model(); p.compile_model(model); p.fit(model, train, validation)
    except ValueError:
        seconds.append(round(time.perf_counter() - start, 1))
print(json.dumps({"first_error_seconds": seconds[0], "error_in_fit_seconds": seconds[1]}))
"""


def start() -> dict:
    """Seconds to import helpers, and from the start of Python to lesson 01's two errors."""
    result = {
        "import_seconds_median": statistics.median(measured(IMPORT)["import_seconds"] for _ in range(5)),
        **measured(FIRST_ERROR),
    }
    print(
        f"  import helpers {result['import_seconds_median']} s, first error after {result['first_error_seconds']} s, error in fit() after {result['error_in_fit_seconds']} s"
    )
    return result


CHECKS = """
import json, time
from helpers.pipeline import healthy_script, pipeline_from_script
from helpers.probes.walk import walk
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.explain_error import explain_error
from helpers.checks import check_diagnosis
p = pipeline_from_script(healthy_script())
walk(p)
def seconds(call):
    start = time.perf_counter(); call(); return round(time.perf_counter() - start, 2)
train, _ = p.batch(p.tokenize(p.load()))
print(json.dumps({"walk": seconds(lambda: walk(p)), "look_at_batch": seconds(lambda: look_at_batch(train)),
                  "explain_error": seconds(lambda: explain_error(ValueError("x"))),
                  "check_diagnosis_that_is_refused": seconds(lambda: check_diagnosis("a", "nowhere", ()))}))
"""


def checks() -> dict:
    """Seconds of the probes and checks, in a process that has used TensorFlow before."""
    result = measured(CHECKS)
    print("  " + ", ".join(f"{name} {value} s" for name, value in result.items() if name not in ("process_seconds", "peak_gb")))
    return result


NOTEBOOK = """
import json, sys, time, threading, nbformat, psutil
from nbclient import NotebookClient
from pathlib import Path
path = Path(sys.argv[1]); start = time.perf_counter()
client = NotebookClient(nbformat.read(path, 4), timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}, allow_errors=True)
peak, stop = [0], threading.Event()
def watch():
    me = psutil.Process()
    while not stop.wait(0.2):
        total = 0
        for child in me.children(recursive=True):
            try: total += child.memory_info().rss
            except psutil.Error: pass
        peak[0] = max(peak[0], total)
threading.Thread(target=watch, daemon=True).start()
client.execute(); stop.set()
print(json.dumps({"seconds": round(time.perf_counter() - start, 1), "kernel_peak_gb": round(peak[0] / 1e9, 2)}))
"""


def notebooks() -> dict:
    """Seconds and peak memory (kernel with its workers) of every notebook."""
    result = {}
    for path in sorted(path for folder in ("notebooks", "exercises", "solutions") for path in (ROOT / folder).glob("*.ipynb")):
        name = str(path.relative_to(ROOT))
        result[name] = {key: value for key, value in measured(NOTEBOOK, str(path)).items() if key in ("seconds", "kernel_peak_gb")}
        print(f"  {name}: {result[name]['seconds']} s, {result[name]['kernel_peak_gb']} GB", flush=True)
    return result


def assets() -> dict:
    sizes = {
        folder.name: sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        for folder in (ROOT / "helpers" / "assets").iterdir()
        if folder.is_dir()
    }
    print("  " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()))
    return {"bytes": sizes, "total_mb": round(sum(sizes.values()) / 1e6, 2)}


PARTS = {part.__name__: part for part in (assets, start, checks, training, notebooks)}


def machine() -> dict:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no part {unknown[0]!r}. Parts: {', '.join(PARTS)}.")
        return 2
    results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    results["machine"] = machine()
    for name in names or PARTS:
        print(name, flush=True)
        results[name] = PARTS[name]()
        if name == "training":
            results["training_inputs"] = hash_of_training_inputs()
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(results, indent=1) + "\n")
    return readme_figures.main([])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
