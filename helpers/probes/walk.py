"""Walk through a pipeline stage by stage and see what comes out of each."""

import contextlib
import functools
import inspect
import io
import math
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from helpers.guards import CannotExamine, NotExamined, first_batch, is_dataset, is_tf_model, never_raises, release, shorten
from helpers.messages import _
from helpers.pipeline import Pipeline, describe, problem_with, without_autotune
from helpers.probes.explain_error import Explanation, explain_error
from helpers.probes.look_at_batch import look_at_batch

STAGES = ("load", "tokenize", "batch", "build_model", "compile_model", "forward", "loss", "gradients", "update", "evaluate")
MOST_ROWS = 128  # of a batch that is walked with
MOST_EPOCHS = 3  # of one batch


@dataclass(frozen=True)
class Step:
    """One stage: what came out of it, as lines. ``ok`` is None where the walk did not get to it."""

    stage: str
    ok: bool | None
    came_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Walk:
    """failing_stage, error_class, message: None when all went well. explanation: the error told, its traceback kept."""

    steps: tuple[Step, ...]
    failing_stage: str | None = None
    error_class: str | None = None
    message: str | None = None
    explanation: Explanation | None = None
    seconds: float = 0.0
    made: dict = field(default_factory=dict, repr=False, compare=False)  # the objects that came out, for the checks

    @property
    def traceback(self) -> str:
        return self.explanation.traceback if self.explanation else ""

    def __repr__(self) -> str:
        lines = []
        for step in self.steps:
            mark = {True: "ok   ", False: "FAILS", None: "  -  "}[step.ok]
            lines.append(f"{mark}  {step.stage:<14} {step.came_out[0] if step.came_out else ''}".rstrip())
            lines += [" " * 22 + line for line in step.came_out[1:]]
        return "\n".join(lines)


@never_raises
def walk(pipeline: Pipeline) -> Walk | NotExamined:
    """Run ``pipeline`` stage by stage, with one batch of training, and tell what came out of each stage.

    The stages: load, tokenize, batch, build_model, compile_model are called as they are. Then the first batch goes through
    the model (forward), and fit() and evaluate() run on that one batch, for three epochs at most and without a graph (run_eagerly). Where fit() fails,
    the stack tells whether it was in the forward pass, the loss, the gradients or the update. It trains nothing else. The
    model is the one that build_model() returns: where that is a model of yours, it is trained by this one step. Never raises.
    """
    problem = problem_with(pipeline)
    if problem:
        return NotExamined(
            problem, _("Define the seven functions, then walk(Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)).")
        )
    start, done, made, as_compiled = time.perf_counter(), [], {}, None

    def ok(stage, *lines):
        done.append(Step(stage, True, lines))

    stage = "load"
    try:
        with quiet():
            raw = pipeline.load()
            ok(stage, *rows_and_example(raw, ("premise", "hypothesis", "label")))
            stage = "tokenize"
            tokenized = pipeline.tokenize(raw)
            ok(stage, *rows_and_example(tokenized, ("input_ids",)))
            stage = "batch"
            train, validation = two_datasets(pipeline.batch(tokenized))
            one = first_batch(train, name=_("the training dataset"))
            one_validation = first_batch(validation, name=_("the validation dataset"))
            made |= {"train": train, "validation": validation, "batch": one, "validation_batch": one_validation}
            view = look_at_batch(one)
            if (view.rows or 0) > MOST_ROWS:
                raise CannotExamine(
                    _("a batch holds {rows} rows; a step with so many takes minutes and much memory.").format(rows=view.rows),
                    _("Take batches of {most} rows or fewer: batch_size=.").format(most=MOST_ROWS),
                )
            ok(stage, *repr(view).splitlines())
            stage = "build_model"
            model = pipeline.build_model()
            if not is_tf_model(model):
                raise CannotExamine(
                    _("build_model() returned {kind}, not a TensorFlow model.").format(kind=describe(model)), _("Return the model.")
                )
            ok(stage, model_line(model))
            stage = "compile_model"
            pipeline.compile_model(model)
            if getattr(model, "optimizer", None) is None:
                raise CannotExamine(
                    _("compile_model() did not compile the model."), _("Call model.compile(…) on the model that it is given.")
                )
            ok(stage, compile_line(model))
            as_compiled = model.run_eagerly, model.jit_compile
            model.run_eagerly, model.jit_compile = True, False
            if not model.built:
                stage = "forward"
                logits_of(model, one)
            before = [weight.numpy() for weight in model.weights]
            stage = "fit"
            with few_epochs(model):
                history = pipeline.fit(model, dataset_of(one), dataset_of(one_validation))
            loss = loss_of(history)
            moved = sum(not np.array_equal(a, b.numpy()) for a, b in zip(before, model.weights, strict=True))
            logits = logits_of(model, one)
            ok("forward", logits_line(logits))
            if not math.isfinite(loss):
                raise CannotExamine(
                    _("the loss is {loss}.").format(loss=loss),
                    _("Look at the loss of each sample: which ones are not finite, and what do they share?"),
                )
            classes = logits.shape[-1]
            ok(
                "loss",
                _("{loss:.3f} (guessing among {classes} classes: ln {classes} = {chance:.3f})").format(
                    loss=loss, classes=classes, chance=math.log(classes)
                ),
            )
            ok("gradients", _("reach {count} weight tensors").format(count=len(before)))
            ok("update", _("{moved} of {count} weight tensors moved").format(moved=moved, count=len(before)))
            made |= {"model": model, "moved": moved, "weights": len(before)}
            stage = "evaluate"
            made["scores"] = scores = scores_of(pipeline.evaluate(model, dataset_of(one_validation)))
            ok(stage, _("{scores} (of one batch)").format(scores=", ".join(f"{key} {value:.3f}" for key, value in scores.items())))
    except CannotExamine as stop:
        failing = "loss" if stage == "fit" else stage
        return failed(done, failing, None, stop.answer.why, (stop.answer.why, stop.answer.next_step), None, start)
    except (Exception, SystemExit) as error:  # a stage that calls exit() must not end the kernel
        told = explain_error(error)
        release(error)
        failing = stage
        if stage == "fit":
            failing = told.stage if told.stage in STAGES else "fit"
            by_hand, loss = forward_by_hand(model, one)
            done += by_hand
            # An error where the gradients are taken can come from one stage before; one of the loss can lose its frames.
            if (failing, loss) in (("gradients", "none"), ("fit", "raised")):
                failing = "loss"
        lines = (f"{told.error_class}: {shorten(told.message)}", told.means if told.known else told.look)
        return failed(done, failing, told.error_class, told.message, lines, told, start)
    finally:
        if as_compiled:
            model.run_eagerly, model.jit_compile = as_compiled
    return Walk(tuple(done), seconds=time.perf_counter() - start, made=made)


def failed(done, failing, error_class, message, lines, told, start) -> Walk:
    """The walk with ``failing`` marked. What is not known to have worked is marked as not reached."""
    ran = {step.stage: step for step in done}
    order = STAGES if failing in STAGES else (*STAGES[:5], failing, "evaluate")
    place = order.index(failing)
    steps = [ran.get(stage, Step(stage, None)) for stage in order[:place]]
    steps += [Step(failing, False, lines), *(Step(stage, None) for stage in order[place + 1 :])]
    return Walk(tuple(steps), failing, error_class, message, told, time.perf_counter() - start)


def forward_by_hand(model, one) -> tuple[list[Step], str]:
    """After a fit() that failed: the forward pass and the loss alone. (what worked, what became of the loss: "none", "raised", or "").

    Where y goes to a model's own loss the loss is not known here: Transformers moves y into the inputs in fit() only.
    """
    x, y = one[:2] if isinstance(one, tuple) else (one, None)
    try:
        output = model(x, training=False)
    except Exception:
        return [], ""
    logits, loss = getattr(output, "logits", output), getattr(output, "loss", None)
    steps = [Step("forward", True, (logits_line(np.asarray(logits)),))]
    if owner_of_loss(model) == "keras":
        if not model.loss:
            return steps, "none"
        if y is None:
            return steps, ""
        try:
            loss = keras_loss(model)(y, logits)
        except Exception:
            return steps, "raised"
    if loss is None:
        return steps, "none" if y is None else ""
    return [*steps, Step("loss", True, (f"{float(np.mean(loss)):.3f}",))], ""


def keras_loss(model):
    """The loss that compile() was given, as a function of (labels, logits). A list or a dict of losses is a ValueError."""
    import tf_keras

    return tf_keras.losses.get(model.loss)


def logits_line(logits: np.ndarray) -> str:
    example = [round(float(value), 3) for value in logits[0].reshape(-1)[:8]]
    return _("logits {shape} {dtype}, for example {example}").format(shape=tuple(logits.shape), dtype=logits.dtype.name, example=example)


@contextlib.contextmanager
def eagerly(model):
    """The model's fit() and evaluate() without a graph: for a step or two a graph costs more than it saves."""
    as_compiled, model.run_eagerly = model.run_eagerly, True
    try:
        yield
    finally:
        model.run_eagerly = as_compiled


@contextlib.contextmanager
def few_epochs(model):
    """Meanwhile model.fit() ends after MOST_EPOCHS, of no more steps than that, whatever it is told."""
    model_fit = model.fit

    @functools.wraps(model_fit)
    def fit_for_a_while(*args, **kwargs):
        try:
            call = call_of(model_fit, args, kwargs)
        except TypeError:
            return model_fit(*args, **kwargs)  # it says itself what is wrong with its arguments
        for name in ("epochs", "steps_per_epoch"):
            if isinstance(call.arguments[name], int):
                call.arguments[name] = min(call.arguments[name], MOST_EPOCHS)
        return model_fit(*call.args, **call.kwargs)

    model.fit = fit_for_a_while
    try:
        yield
    finally:
        del model.fit


def call_of(function, args, kwargs) -> inspect.BoundArguments:
    """The arguments of a call by name, those that were left out too."""
    call = inspect.signature(function).bind(*args, **kwargs)
    call.apply_defaults()
    return call


@contextlib.contextmanager
def quiet():
    """Progress bars of map() and fit(), warnings, and the logs of the libraries do not belong in a walk."""
    import datasets
    import tensorflow as tf
    import transformers

    bars, level = datasets.utils.logging.is_progress_bar_enabled(), transformers.logging.get_verbosity()
    log = tf.get_logger()
    log_level = log.level
    datasets.disable_progress_bars()
    transformers.logging.set_verbosity_error()
    log.setLevel("ERROR")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers.logging.set_verbosity(level)
        log.setLevel(log_level)
        if bars:
            datasets.enable_progress_bars()


def rows_and_example(data, columns) -> list[str]:
    if not hasattr(data, "keys") or not data:
        raise CannotExamine(
            _("this stage returned {kind}, not a DatasetDict.").format(kind=describe(data)), _("Return what load_mnli() or map() gives.")
        )
    lines = [f"{type(data).__name__}: " + ", ".join(f"{split} {len(rows)}" for split, rows in data.items())]
    split = next(iter(data))
    lines.append(_("columns: {names}").format(names=", ".join(data[split].column_names)))
    row = data[split][0]
    for column in columns:
        if column in row:
            value = row[column]
            shown = (
                f"{len(value)} × {type(value[0]).__name__}: {str(value[:8])[:-1]}, …]" if isinstance(value, list) and value else repr(value)
            )
            lines.append(f"{column} = {shown}")
    return lines


def two_datasets(pair):
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(is_dataset(part) for part in pair)):
        kinds = _(" and ").join(describe(part) for part in pair) if isinstance(pair, (tuple, list)) and len(pair) == 2 else describe(pair)
        raise CannotExamine(
            _("batch() returned {kinds}, not two tf.data.Datasets.").format(kinds=kinds),
            _("Write: return train, validation – both made by to_tf_dataset()."),
        )
    return pair


def dataset_of(one):
    """A dataset of one batch: the same rows each time it is read."""
    import tensorflow as tf

    return without_autotune(tf.data.Dataset.from_tensors(one))


def model_line(model) -> str:
    config = getattr(model, "config", None)
    outputs = _(", {count} outputs").format(count=config.num_labels) if hasattr(config, "num_labels") else ""
    weights = f", {model.count_params():,} weights" if model.built else ""
    return f"{type(model).__name__}{outputs}{weights}"


def owner_of_loss(model) -> str:
    """ "model" where the model computes its own loss, "keras" where compile() names one."""
    own = getattr(model, "_using_dummy_loss", False) or (model.loss and model.loss == getattr(model, "hf_compute_loss", None))
    return "model" if own else "keras"


def compile_line(model) -> str:
    rate = model.optimizer.learning_rate
    rate = f"{float(rate.numpy() if hasattr(rate, 'numpy') else rate):g}" if not callable(rate) else type(rate).__name__
    owner = (
        _("the model's own loss")
        if owner_of_loss(model) == "model"
        else _("no loss")
        if not model.loss
        else _("a Keras loss: {name}").format(name=getattr(model.loss, "__name__", None) or getattr(model.loss, "name", None) or model.loss)
    )
    return _("{optimizer}, learning rate {rate}, {owner}").format(optimizer=type(model.optimizer).__name__, rate=rate, owner=owner)


def logits_of(model, one) -> np.ndarray:
    """(rows, classes), float32: the model's answer to the inputs of one batch, without training."""
    x = one[0] if isinstance(one, tuple) else one
    output = model(x, training=False)
    return np.asarray(getattr(output, "logits", output))


def loss_of(history) -> float:
    if not hasattr(history, "history") or "loss" not in history.history:
        raise CannotExamine(
            _("fit() returned {kind}, not the History of model.fit().").format(kind=describe(history)),
            _("Write: return model.fit(…). An error that is caught and hidden also ends here."),
        )
    return float(history.history["loss"][-1])


def scores_of(scores) -> dict[str, float]:
    if not isinstance(scores, dict) or "loss" not in scores:
        raise CannotExamine(
            _("evaluate() returned {kind}, not the scores of model.evaluate(): a dict with the loss.").format(kind=describe(scores)),
            _("Write: return model.evaluate(validation, return_dict=True)."),
        )
    return {name: float(value) for name, value in scores.items() if np.ndim(value) == 0}


def loss_takes_probabilities(model, one_hot: bool = False) -> bool:
    """Whether the compiled Keras loss is right for probabilities and wrong for logits: measured on three classes."""
    if owner_of_loss(model) == "model" or not model.loss:
        return False
    import tensorflow as tf

    labels, logits = tf.constant([0, 1]), tf.constant([[0.2, 0.5, 0.1], [0.3, 0.1, 0.4]])
    wanted = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    labels = tf.one_hot(labels, 3) if one_hot else labels
    try:
        of_logits, of_probabilities = (float(tf.reduce_mean(keras_loss(model)(labels, x))) for x in (logits, tf.nn.softmax(logits)))
    except Exception:
        return False
    return abs(of_probabilities - wanted) < 1e-4 < abs(of_logits - wanted)
