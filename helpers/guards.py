"""Guarding probes and checks against wrong input, in one place: what was got, what is needed, what to do next."""

import functools
import threading
import traceback
import warnings
from dataclasses import dataclass

from helpers.messages import _
from helpers.pipeline import describe, without_autotune

SECONDS_FOR_A_BATCH = 30


@dataclass(frozen=True)
class NotExamined:
    """The answer of a probe that could not look: why, and what to do next. It is false, so ``if`` can test for it."""

    why: str
    next_step: str

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return _("Not examined: {why}\nNext: {next_step}").format(why=self.why, next_step=self.next_step)


class CannotExamine(Exception):
    """Raised inside a probe; ``never_raises`` turns it into a NotExamined."""

    def __init__(self, why: str, next_step: str):
        super().__init__(why)
        self.answer = NotExamined(why, next_step)


def never_raises(probe):
    """A probe that meets something it cannot work with answers NotExamined instead of a traceback of its own."""

    @functools.wraps(probe)
    def guarded(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return probe(*args, **kwargs)
            except CannotExamine as stop:
                release(stop)
                return stop.answer
            except (Exception, SystemExit) as error:  # a stage that calls exit() must not end the kernel
                release(error)
                return NotExamined(
                    _("{probe}() could not work with this: {kind}: {error}").format(
                        probe=probe.__name__, kind=type(error).__name__, error=first_line(error)
                    ),
                    _("Compare what you passed with help({probe}).").format(probe=probe.__name__),
                )

    return guarded


def release(error: BaseException) -> None:
    """Let go of what the frames of ``error`` hold: a dataset's iterator, most of all. Its traceback can still be read.

    What only garbage collection finds is taken away by the thread that collects. When that is the very thread that is filling
    the iterator, TensorFlow waits there for itself, and the kernel hangs (TensorFlow 2.21; the stack is that of
    ParallelMapDatasetOp::Dataset::Iterator::~Iterator under numpy_function). So it is let go here, where it is no longer used.
    """
    chain, seen = [error], set()
    while chain:
        error = chain.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            traceback.clear_frames(error.__traceback__)
            chain += [error.__cause__, error.__context__]


def first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    return lines[0][:200] if lines else ""


def shorten(text: str, most: int = 300) -> str:
    """``text``, cut where it is longer than a reader will read."""
    return text if len(text) <= most else text[:most] + " …"


def is_dataset(thing) -> bool:
    import tensorflow as tf

    return isinstance(thing, tf.data.Dataset)


def is_tf_model(thing) -> bool:
    import tf_keras

    return isinstance(thing, tf_keras.Model)


def first_batch(dataset, seconds: float = SECONDS_FOR_A_BATCH, name: str = ""):
    """The first element of a tf.data.Dataset. Its own error is passed on; an empty or a silent one is a CannotExamine.

    ``name``: what the messages call the dataset.
    """
    batches = first_batches(dataset, 1, seconds, name)
    if not batches:
        raise CannotExamine(
            _("{name} is empty.").format(name=name or _("the dataset")),
            _("Count the rows before you batch them: len(tokenized['train'])."),
        )
    return batches[0]


def one_batch(batch):
    """``batch`` itself, or the first one of a tf.data.Dataset."""
    return first_batch(batch) if is_dataset(batch) else batch


def first_batches(dataset, most: int, seconds: float = SECONDS_FOR_A_BATCH, name: str = "") -> list:
    """Up to ``most`` elements of a tf.data.Dataset, read within ``seconds`` in all. Its own error is passed on."""
    if not is_dataset(dataset):
        raise CannotExamine(
            _("this is {kind}, not a tf.data.Dataset.").format(kind=describe(dataset)),
            _("Pass what to_tf_dataset() returns, for example the train of `train, validation = batch(tokenized)`."),
        )
    got, errors, late = [], [], threading.Event()

    def fetch():
        try:
            for batch in without_autotune(dataset.take(most)):
                if late.is_set():
                    break
                got.append(batch)
        except BaseException as error:
            release(error)
            errors.append(error)

    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        late.set()
        raise CannotExamine(
            _("{name} gave {count} batches in {seconds} seconds.").format(
                name=name or _("the dataset"), count=len(got) or _("no"), seconds=seconds
            ),
            _("Look for an endless loop or a wait in what feeds it; interrupt the kernel if it stays busy."),
        )
    if errors:
        raise errors[0]
    return got


def need_model(model) -> None:
    if not is_tf_model(model):
        raise CannotExamine(
            _("this is {kind}, not a TensorFlow model.").format(kind=describe(model)),
            _("Pass what TFAutoModelForSequenceClassification.from_pretrained() returns (the name begins with TF)."),
        )


def need_compiled(model) -> None:
    need_model(model)
    if getattr(model, "optimizer", None) is None:
        raise CannotExamine(_("the model is not compiled."), _("Call compile_model(model) first."))
