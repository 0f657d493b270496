"""Environment variables that must stand before TensorFlow and the Hugging Face libraries are imported.

Only ``os`` and ``sys`` are used here: ``import helpers`` calls prepare() and must stay fast.
"""

import os
import sys

from helpers.messages import _

# Keras 2, which the TensorFlow models of transformers need. transformers' own level of logging stays as it is: its warnings
# ("newly initialized", "input ran out of data") are evidence in this course.
ALWAYS = {
    "TF_USE_LEGACY_KERAS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",  # TensorFlow's C++ errors stay, its C++ notes and warnings go; Python's warnings are another channel
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
EMBEDDED = {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}  # three bars for a second of work; from the Hub, progress is shown
# On two cores (Binder, many laptops, CI) two threads that share each small multiplication wait for one another more than they
# compute: the healthy pipeline took 100 s with TensorFlow's default and 45 s with one thread, on the same two cores.
TWO_CORES = {"TF_NUM_INTRAOP_THREADS": "1"}
TRUE = ("1", "true", "True")  # the spellings that TensorFlow itself accepts

_set_here: set[str] = set()  # variables that prepare() set, so that going to the Hub can take back exactly those


def wanted_source() -> str:
    """The value of COURSE_ASSETS, "embedded" where it is not set. It is not checked here."""
    return os.environ.get("COURSE_ASSETS", "").strip() or "embedded"


def prepare() -> str | None:
    """Set what is not set yet. Returns one line, and prints it, when it is too late for Keras 2; otherwise None.

    A variable that you set yourself is never changed.
    """
    wanted = {
        **ALWAYS,
        **(TWO_CORES if (os.cpu_count() or 1) <= 2 else {}),
        **({**OFFLINE, **EMBEDDED} if wanted_source() != "hub" else {}),
    }
    keras_2_asked = os.environ.get("TF_USE_LEGACY_KERAS") in TRUE
    for name, value in wanted.items():
        if name not in os.environ:
            os.environ[name] = value
            _set_here.add(name)
    problem = _keras_problem(keras_2_asked)
    if problem:
        print(problem, file=sys.stderr)
    return problem


def go_online() -> None:
    """Take back the switches that prepare() set for embedded assets. They count only in libraries that are imported later."""
    for name in (*OFFLINE, *EMBEDDED):
        if name in _set_here:
            os.environ.pop(name, None)
            _set_here.discard(name)


def _keras_problem(keras_2_asked: bool) -> str | None:
    if os.environ.get("TF_USE_LEGACY_KERAS") not in TRUE:
        line = _("TF_USE_LEGACY_KERAS is {value}, but this course needs Keras 2. Set it to 1, restart the kernel, import helpers first.")
        return line.format(value=os.environ.get("TF_USE_LEGACY_KERAS"))
    if "tensorflow" in sys.modules and not keras_2_asked:
        return _(
            "TensorFlow was imported before helpers, so tf.keras is Keras 3, and this course needs Keras 2. "
            "Restart the kernel, and import helpers first."
        )
    return None
