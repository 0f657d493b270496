"""A pipeline is seven plain functions, in the order in which the data flow through them."""

import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from helpers.messages import _

STAGES = ("load", "tokenize", "batch", "build_model", "compile_model", "fit", "evaluate")
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Pipeline:
    """The seven stages of a fine-tuning script.

    load() -> raw rows (DatasetDict) · tokenize(raw) -> tokenized rows · batch(tokenized) -> (train, validation), two
    tf.data.Dataset · build_model() -> TF model · compile_model(model) · fit(model, train, validation) -> History ·
    evaluate(model, validation) -> {"loss": …, …}
    """

    load: Callable
    tokenize: Callable
    batch: Callable
    build_model: Callable
    compile_model: Callable
    fit: Callable
    evaluate: Callable

    def __repr__(self) -> str:
        return "Pipeline: " + " -> ".join(STAGES)


def problem_with(pipeline) -> str | None:
    """One line that says why ``pipeline`` is not a Pipeline of seven functions, or None."""
    if not isinstance(pipeline, Pipeline):
        return _("This is {kind}, not a Pipeline. Make one: Pipeline({stages}).").format(kind=describe(pipeline), stages=", ".join(STAGES))
    missing = [field.name for field in fields(pipeline) if not callable(getattr(pipeline, field.name))]
    if missing:
        return _(
            "These stages of the Pipeline are not functions: {names}. Run the cells that define them, then make the Pipeline again."
        ).format(names=", ".join(missing))
    return None


def describe(thing) -> str:
    """What ``thing`` is, in two or three words: "None", "a list of 3", "a Tensor (8, 3)"."""
    if thing is None:
        return "None"
    name = type(thing).__name__
    if isinstance(thing, (list, tuple, dict, set)):
        return f"a {name} of {len(thing)}"
    return f"a {name}"


def without_autotune(dataset):
    """The same batches from a tf.data.Dataset that goes away at once when it was read. Anything else is a TypeError.

    TensorFlow tunes each dataset that is being read in a thread that sleeps 10, 20, 40, … ms in turn. Often what reads the
    dataset ends only when that thread wakes. Measured on TensorFlow 2.21, two cores: 6 of 16 fits of about 33 s returned after
    50 to 55 s; without the tuning 0 of 5.
    """
    import tensorflow as tf

    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError(
            _("without_autotune() got {kind}, and needs one tf.data.Dataset. For two: map(without_autotune, (train, validation)).").format(
                kind=describe(dataset)
            )
        )
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def healthy_script() -> str:
    """The healthy pipeline as text."""
    return Path(__file__).with_name("healthy.py").read_text()


def pipeline_from_script(script: str, name: str = "script") -> Pipeline:
    """Run a script that defines the seven functions, and return them as a Pipeline.

    The text is kept, so that a traceback shows the lines of the script: File "<name 1>", line 12.
    Errors of the script itself come through as they are; a missing function is a NameError that names it.
    """
    filename = f"<{name} {next(_numbers)}>"
    linecache.cache[filename] = (len(script), None, script.splitlines(keepends=True), filename)
    namespace: dict = {"__name__": name}
    exec(compile(script, filename, "exec"), namespace)
    missing = [stage for stage in STAGES if stage not in namespace]
    if missing:
        raise NameError(
            _("The script defines no function {names}. A pipeline needs: {stages}.").format(
                names=", ".join(missing), stages=", ".join(STAGES)
            )
        )
    return Pipeline(*[namespace[stage] for stage in STAGES])
