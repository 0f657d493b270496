"""What must stand in the environment before TensorFlow and the Hugging Face libraries are imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import helpers

HEAVY = ("tensorflow", "tf_keras", "keras", "transformers", "datasets", "huggingface_hub", "numpy", "pandas")
SET_BY_HELPERS = ("TF_USE_LEGACY_KERAS", "TF_CPP_MIN_LOG_LEVEL", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
SET_BY_HELPERS += (
    "HF_DATASETS_OFFLINE",
    "HF_DATASETS_DISABLE_PROGRESS_BARS",
    "TRANSFORMERS_VERBOSITY",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_NUM_INTRAOP_THREADS",
    "COURSE_ASSETS",
)
TWO_CORES, EIGHT_CORES = (f"import os; os.cpu_count = lambda: {number}" for number in (2, 8))
# A stand-in for an import of TensorFlow that came first: only the name in sys.modules counts, and this costs nothing.
TENSORFLOW_FIRST = "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow'); "


def after_import(before: str = "", **environment) -> tuple[dict, str]:
    """(variables and heavy modules after ``import helpers`` in a fresh Python, what it printed on stderr)."""
    code = f"""{before}
import sys, os, json
import helpers
print(json.dumps([{{name: os.environ.get(name) for name in {SET_BY_HELPERS!r}}}, [name for name in {HEAVY!r} if name in sys.modules]]))"""
    settings = {name: value for name, value in os.environ.items() if name not in SET_BY_HELPERS}
    done = subprocess.run([sys.executable, "-c", code], env=settings | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    variables, heavy = json.loads(done.stdout)
    return {name: value for name, value in variables.items() if value is not None} | {"heavy": heavy}, done.stderr


def test_import_helpers_sets_keras_2_and_offline_and_loads_no_heavy_library():
    variables, printed = after_import(EIGHT_CORES)
    assert variables == {
        "TF_USE_LEGACY_KERAS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "heavy": [],
    }
    assert printed == ""


def test_with_the_hub_nothing_is_set_offline():
    variables, _printed = after_import(COURSE_ASSETS="hub")
    assert "HF_HUB_OFFLINE" not in variables and "TRANSFORMERS_OFFLINE" not in variables and "HF_DATASETS_OFFLINE" not in variables
    assert "HF_DATASETS_DISABLE_PROGRESS_BARS" not in variables  # from the Hub, progress is shown


def test_a_variable_that_the_learner_set_is_not_changed():
    variables, printed = after_import(TF_CPP_MIN_LOG_LEVEL="0", HF_HUB_OFFLINE="0", TF_USE_LEGACY_KERAS="True")
    assert (variables["TF_CPP_MIN_LOG_LEVEL"], variables["HF_HUB_OFFLINE"], variables["TF_USE_LEGACY_KERAS"]) == ("0", "0", "True")
    assert printed == ""


def test_on_two_cores_tensorflow_computes_with_one_thread_unless_the_learner_says_otherwise():
    assert after_import(TWO_CORES)[0]["TF_NUM_INTRAOP_THREADS"] == "1"
    assert after_import(TWO_CORES, TF_NUM_INTRAOP_THREADS="2")[0]["TF_NUM_INTRAOP_THREADS"] == "2"
    assert "TF_NUM_INTRAOP_THREADS" not in after_import(EIGHT_CORES)[0]


def test_tensorflow_imported_first_is_one_clear_line():
    _variables, printed = after_import(TENSORFLOW_FIRST)
    assert printed == (
        "TensorFlow was imported before helpers, so tf.keras is Keras 3, and this course needs Keras 2. "
        "Restart the kernel, and import helpers first.\n"
    )


def test_tensorflow_imported_first_is_fine_when_keras_2_was_asked_for():
    _variables, printed = after_import(TENSORFLOW_FIRST, TF_USE_LEGACY_KERAS="1")
    assert printed == ""


def test_keras_3_asked_for_is_one_clear_line():
    _variables, printed = after_import(TF_USE_LEGACY_KERAS="0")
    assert printed == "TF_USE_LEGACY_KERAS is 0, but this course needs Keras 2. Set it to 1, restart the kernel, import helpers first.\n"


def test_no_module_of_helpers_has_the_name_of_a_function_that_a_notebook_imports():
    """Once such a module is imported, `from helpers import NAME` would give the module."""
    modules = {path.stem for path in Path(helpers.__file__).parent.glob("*.py")}
    assert modules & set(helpers.__all__) == set()
