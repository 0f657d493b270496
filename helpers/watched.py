"""What fit() and evaluate() of a pipeline do, watched from inside, on one batch and for a few steps. helpers/repair.py judges what is seen."""

import contextlib
import functools
import itertools
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from helpers.batches import class_ids
from helpers.guards import first_batches, is_dataset, release
from helpers.messages import _
from helpers.pipeline import without_autotune
from helpers.probes.evaluate_again import ACCURACIES
from helpers.probes.explain_error import explain_error
from helpers.probes.gradients_of import build_optimizer
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.loss_at_start import cross_entropy
from helpers.probes.rate_over_time import rate_at
from helpers.probes.walk import call_of, dataset_of, eagerly, logits_of, quiet, scores_of

ROWS = {"train": 2400, "validation_matched": 750}  # of the healthy script; a test compares them
STEPS = 5  # on one batch, of each call of model.fit()
CALLS = 4  # of model.fit(): then it is enough
SPREAD = 3  # between the largest and the smallest logit of a row; after one epoch the mean is 3.6 to 3.8, and 90 % of the rows have 2.0 to 5.1 (3 seeds)
SECONDS_FOR_ALL_BATCHES = 60


class Enough(BaseException):
    """Raised when the check has seen enough; no ``except Exception`` of a script hides it."""


@dataclass
class Watched:
    """What fit() did with one batch, given as often as the training data have batches, STEPS of them for each model.fit(); and evaluate().

    trained: batches · steps, batches: of an epoch, as fit() counts them and as they were given · endless: the data have no end, and batches is
    what all rows would give · epochs: how many · others: "train", "validation" or "evaluate" where other data are taken than were given,
    "model" where another model is trained, "loop" where a loop of fit()'s own trains, "late" where evaluate() trains · again: "train", "validation" or "evaluate" where some batches come again, and others are left out · uneven: rows do not count the same ·
    part: ("fit" or "evaluate", batches of validation that it takes, batches of validation) where these are fewer · no_end: validation never ends · loss: what the first step reports ·
    waits_for: (a name that a callback waits for and that is not reported, the names that are) · turned: (a name, "min" or "max") where a callback
    takes the worst for the best · rates: at each step · later: rates that a callback will set · scores: what is wrong with those of evaluate() ·
    error: what was raised, explained · raised_in: "fit" or "evaluate" · before, after: the loss of the batch · moved: weight tensors, held: of them marked as frozen.
    """

    trained: int = 0
    steps: int | None = None
    batches: int | None = None
    endless: bool = False
    epochs: int = 0
    others: str | None = None
    again: str | None = None
    part: tuple[str, int, int] | None = None
    no_end: bool = False
    loss: float | None = None
    uneven: bool = False
    waits_for: tuple[str, tuple] | None = None
    turned: tuple[str, str] | None = None
    rates: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)
    scores: str | None = None
    error: object = None
    raised_in: str = ""
    before: float = 0.0
    after: float = 0.0
    moved: int = 0
    held: int = 0
    weights: int = 0


class StandIn(NamedTuple):
    """In place of a dataset: one batch of it as often as it has batches, and another one at the end.

    batches: how many; of endless data, those of all rows of the split · known: the rows of both batches, last: those of the other one, as text.
    """

    dataset: object
    batches: int
    endless: bool
    known: set[str]
    last: set[str]


def watch(pipeline, model, made: dict, without_graph: bool = False) -> Watched:
    """Compile ``model``, and call the pipeline's fit() and evaluate() with it. ``made``: what the walk made. ``without_graph``: faster, and blind
    for what fails only in a graph.
    """
    pipeline.compile_model(model)
    model.jit_compile = False  # XLA takes most of a minute to compile the step, and changes none of what is looked at
    model.run_eagerly = model.run_eagerly or without_graph
    train = stand_in(made["train"], made["batch"], "train")
    validation = stand_in(made["validation"], made["validation_batch"], "validation_matched")
    seen = Watched(batches=train.batches, endless=train.endless, raised_in="fit")
    weights, seen.before = [weight.numpy() for weight in model.weights], cross_entropy_of(model, made["batch"])
    seen.error = watch_fit(pipeline, model, made["batch"], train, validation, seen)
    seen.after, seen.weights = cross_entropy_of(model, made["batch"]), len(weights)
    moved = [not np.array_equal(old, new.numpy()) for old, new in zip(weights, model.weights, strict=True)]
    free = {id(weight) for weight in model.trainable_variables}
    seen.moved, seen.held = sum(moved), sum(m and id(w) not in free for m, w in zip(moved, model.weights, strict=True))
    if not seen.error:
        seen.raised_in = "evaluate"
        watch_evaluate(pipeline, model, made, validation, seen)
    return seen


# ---------------------------------------------------------------- fit()


def watch_fit(pipeline, model, batch, train: StandIn, validation: StandIn, seen: Watched):
    """Call the pipeline's fit() with the stand-ins: each model.fit() inside ends after STEPS batches. Gives the error, explained, or None."""
    import tensorflow as tf
    import tf_keras

    model_fit, reported, inside, calls = model.fit, {}, [], []

    class Watch(tf_keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.steps = self.params.get("steps")
            self.until = seen.trained + STEPS

        def on_train_batch_end(self, number, logs=None):
            seen.trained += 1
            seen.rates.append(rate_at(model.optimizer, seen.trained - 1))
            seen.loss = (logs or {}).get("loss", 0.0) if seen.loss is None else seen.loss
            reported.update(logs or {})
            if seen.trained >= self.until:
                raise Enough

        def on_test_begin(self, logs=None):  # an epoch that is shorter is over; its validation tells nothing more
            raise Enough

    def watched_fit(*args, **kwargs):
        call = call_of(model_fit, args, kwargs)
        given = call.arguments
        calls.append(given)
        if len(calls) > CALLS:
            raise Enough
        look_at_call(given, batch, train, validation, seen)
        given["callbacks"] = [*callbacks_of(given), Watch()]
        given["verbose"] = 0
        if not model.run_eagerly:
            with contextlib.suppress(Exception):  # what fails here fails in fit() too
                # Makes the variables of optimizer and metrics. A step that makes them itself is traced twice, which takes seconds.
                build_optimizer(model.optimizer, model.trainable_variables)
                model.test_step(batch)
        inside.append(call)
        try:
            return model_fit(*call.args, **call.kwargs)
        except Enough as enough:
            release(enough)
            return history_of(reported, given)
        finally:
            inside.pop()

    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # for so few steps, making the graph faster costs more
    try:
        with no_other_model(model, seen), no_long_loop(inside, seen):
            error = error_of_stage(pipeline.fit, model, (train.dataset, validation.dataset), {"fit": watched_fit})
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": options.get("disable_meta_optimizer", False)})
    look_at_callbacks(calls, reported, seen)
    return error


def look_at_call(given: dict, batch, train: StandIn, validation: StandIn, seen: Watched) -> None:
    """What the arguments of a call of model.fit() tell."""
    seen.epochs += given["epochs"]
    weights = [[*(given["class_weight"] or {}).values()], *(batch[2:3] if isinstance(batch, tuple) else ())]
    seen.uneven = seen.uneven or any(len(np.unique(np.asarray(values))) > 1 for values in weights)
    look_at_rows(given["x"], train, "train", seen)
    if given["validation_data"] is not None:
        look_at_rows(given["validation_data"], validation, "validation", seen)
        look_at_part("fit", given["validation_data"], given["validation_steps"], validation, seen)


def callbacks_of(given: dict) -> list:
    callbacks = given["callbacks"] or []
    return [*callbacks] if isinstance(callbacks, (list, tuple)) else [callbacks]


def history_of(reported: dict, given: dict):
    """The History that fit() would give, with what a few steps reported in place of what an epoch reports."""
    import tf_keras

    history = tf_keras.callbacks.History()
    history.epoch = [0]
    history.history = {name: [value] for name, value in names_with_validation(reported, given).items()}
    return history


def names_with_validation(reported: dict, given: dict) -> dict:
    validated = given["validation_data"] is not None
    return {**reported, **({f"val_{name}": value for name, value in reported.items()} if validated else {})}


def look_at_callbacks(calls: list[dict], reported: dict, seen: Watched) -> None:
    """What the callbacks of all calls of model.fit() wait for, and the rates that they will set."""
    for given in calls:
        names = tuple(names_with_validation(reported, given))
        for callback in callbacks_of(given):
            name, better = getattr(callback, "monitor", None), getattr(callback, "monitor_op", None)
            if name and reported and name not in names:
                seen.waits_for = seen.waits_for or (name, names)
            right = np.greater if name and is_accuracy(name.removeprefix("val_")) else np.less if name in ("loss", "val_loss") else better
            if better in (np.less, np.greater) and better is not right:
                seen.turned = (name, "max" if right is np.greater else "min")
            if callable(getattr(callback, "schedule", None)):  # a LearningRateScheduler
                for epoch in range(given["epochs"]):
                    with contextlib.suppress(Exception):
                        seen.later.append(float(callback.schedule(epoch, *[seen.rates[0]][: callback.schedule.__code__.co_argcount - 1])))


def is_accuracy(name: str) -> bool:
    return name.lower() in ACCURACIES or "accuracy" in name.lower()


@contextlib.contextmanager
def no_other_model(model, seen: Watched):
    """Meanwhile fit() of any other model than ``model`` ends at once: it would train a whole epoch, and evaluate() would not score it."""
    import tf_keras

    fit_of_all = tf_keras.Model.fit

    @functools.wraps(fit_of_all)
    def fit_of_one(self, *args, **kwargs):
        if self is not model:
            seen.others = "model"
            raise Enough
        return fit_of_all(self, *args, **kwargs)

    tf_keras.Model.fit = fit_of_one
    try:
        yield
    finally:
        tf_keras.Model.fit = fit_of_all


@contextlib.contextmanager
def no_long_loop(inside: list, seen: Watched):
    """Meanwhile gradients that are taken outside of model.fit() come to an end after a few: all batches without a graph take minutes."""
    import tensorflow as tf

    gradient, taken = tf.GradientTape.gradient, []

    @functools.wraps(gradient)
    def a_few(self, *args, **kwargs):
        if not inside:
            taken.append(1)
            if len(taken) > CALLS * STEPS:
                seen.others = "loop"
                raise Enough
        return gradient(self, *args, **kwargs)

    tf.GradientTape.gradient = a_few
    try:
        yield
    finally:
        tf.GradientTape.gradient = gradient


# ---------------------------------------------------------------- evaluate()


def watch_evaluate(pipeline, model, made: dict, validation: StandIn, seen: Watched) -> None:
    """Call the pipeline's evaluate() with the stand-in, and look at what it gives to model.evaluate().

    Scores that do not come from there are made by the script: see watch_own_scores.
    """
    model_evaluate, model.test_function = model.evaluate, None  # fit() has left one that is a graph
    batch, of_keras, scores = made["validation_batch"], {}, {}

    def watched_evaluate(*args, **kwargs):
        call = call_of(model_evaluate, args, kwargs)
        given = call.arguments
        look_at_rows(given["x"], validation, "evaluate", seen)
        look_at_part("evaluate", given["x"], given["steps"], validation, seen)
        given.update(x=dataset_of(batch), steps=None, verbose=0)
        said = model_evaluate(*call.args, **call.kwargs)
        of_keras.update(said if given["return_dict"] else zip(model.metrics_names, np.atleast_1d(said), strict=False))
        return said

    def trains(*args, **kwargs):
        seen.others = "late"
        raise Enough

    def score(model, validation):
        scores.update(scores_of(pipeline.evaluate(model, validation)))

    with quiet(), eagerly(model):
        seen.error = error_of_stage(score, model, (validation.dataset,), {"evaluate": watched_evaluate, "fit": trains})
    own = [name for name, value in scores.items() if of_keras.get(name) != value]
    if own and not seen.error and not seen.others:
        watch_own_scores(pipeline, model, made["validation"].take(ROWS["validation_matched"]), own, seen)


def watch_own_scores(pipeline, model, validation, own: list[str], seen: Watched) -> None:
    """Call evaluate() with the script's validation rows, and compare the scores that are its ``own`` with the model's answers."""
    scores = {}

    def score(model, validation):
        scores.update(scores_of(pipeline.evaluate(model, validation)))

    with quiet():
        batches = first_batches(validation, ROWS["validation_matched"], SECONDS_FOR_ALL_BATCHES)
        logits, ids = (np.concatenate(parts) for parts in zip(*(answers_of(model, batch) for batch in batches), strict=True))
        with clear_answers(model, logits, ids) as logits:
            seen.error = error_of_stage(score, model, (validation,), {})
    if seen.error:
        return
    right = float((logits.argmax(1) == ids).mean())
    wanted = {name: right for name in own if is_accuracy(name)} | {"loss": cross_entropy(logits, ids)}
    for name in {*own} & {*wanted}:
        # the mean of the batches' means is not quite that of the rows, where the last batch is smaller
        if abs(scores[name] - wanted[name]) > (1e-2 if name == "loss" else 2e-3):
            seen.scores = _(
                "evaluate() gets its own {name} for the validation rows, {said:.4f}. The answers of the model have {wanted:.4f}."
            ).format(name=name, said=scores[name], wanted=wanted[name])


@contextlib.contextmanager
def clear_answers(model, logits: np.ndarray, ids: np.ndarray):
    """Inside, the head's weights are such that not all rows have the same answer, that many answers are right, and that the logits of a row
    lie SPREAD apart: after five steps that is not so yet, and then many ways to count give one score. Gives the new logits.
    """
    kernel, bias = model.trainable_weights[-2:]
    before, common = [kernel.numpy(), bias.numpy()], logits.mean(0)
    if before[1].shape != common.shape or before[0].shape[-1:] != common.shape:
        yield logits
        return
    factor = SPREAD / max(1e-3, np.ptp(logits - common, axis=1).mean())
    apart = (logits - common) * factor
    order = max(map(list, itertools.permutations(range(len(common)))), key=lambda order: (apart[:, order].argmax(1) == ids).mean())
    try:
        kernel.assign(before[0][..., order] * factor)
        bias.assign(((before[1] - common) * factor)[order])
        yield apart[:, order]
    finally:
        kernel.assign(before[0])
        bias.assign(before[1])


# ---------------------------------------------------------------- both


def error_of_stage(stage, model, data: tuple, watched: dict):
    """Run ``stage`` with ``watched`` in place of ``model``'s methods. What it raised, explained; None where it raised nothing."""
    for name, method in watched.items():
        setattr(model, name, method)
    try:
        stage(model, *data)
    except Enough as enough:
        release(enough)
    except (Exception, SystemExit) as error:  # a stage that calls exit() must not end the kernel
        explained = explain_error(error)
        release(error)
        return explained
    finally:
        for name in watched:
            delattr(model, name)
    return None


def look_at_part(stage: str, given, steps: int | None, stand: StandIn, seen: Watched) -> None:
    """Whether ``steps`` or the length of ``given`` make the batches of the validation data fewer; and whether these have an end."""
    import tensorflow as tf

    count = int(given.cardinality()) if is_dataset(given) else None
    lengths = [number for number in (steps, count) if number and number > 0]
    if lengths and min(lengths) < stand.batches:
        seen.part = seen.part or (stage, min(lengths), stand.batches)
    seen.no_end = seen.no_end or (count == tf.data.INFINITE_CARDINALITY and not steps)


def stand_in(dataset, batch, split: str) -> StandIn:
    """``batch``: one of ``dataset``, which stands for all. It declares its shapes as ``dataset`` does."""
    import tensorflow as tf

    count, endless = int(dataset.cardinality()), int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY
    batches = ROWS[split] // look_at_batch(batch).rows if count < 0 else count
    other = first_batches(dataset, 2)[-1]

    def declared(*parts):
        parts = parts if len(parts) > 1 else parts[0]
        return tf.nest.map_structure(
            lambda part, spec: tf.compat.v1.placeholder_with_default(part, spec.shape), parts, dataset.element_spec
        )

    once, last = (tf.data.Dataset.from_tensors(one).map(declared) for one in (batch, other))
    same = once.repeat(batches - 1).concatenate(last)
    rows, of_other = {*rows_of(batch)}, {*rows_of(other)}
    return StandIn(without_autotune(same.repeat() if endless else same), batches, endless, rows | of_other, of_other)


def look_at_rows(given, stand: StandIn, name: str, seen: Watched) -> None:
    """Whether ``given``, what a model.fit() or model.evaluate() gets, has the rows of the stand-in, and those of its last batch too."""
    try:
        batches = first_batches(given, stand.batches)
        rows = {row for batch in batches for row in rows_of(batch)}
    except Exception as error:
        release(error)
        rows, batches = {""}, []
    if not rows or not rows <= stand.known:
        seen.others = seen.others or name
    elif len(batches) == stand.batches and not stand.last <= rows:
        seen.again = seen.again or name


def rows_of(batch) -> list[str]:
    """Each row of a batch, all of its parts, as text."""
    import tensorflow as tf

    parts = [np.asarray(part) for part in tf.nest.flatten(batch)]
    return [repr([part[row].tolist() for part in parts]) for row in range(min(len(part) for part in parts))]


def answers_of(model, batch) -> tuple[np.ndarray, np.ndarray]:
    """(the model's logits for one batch without dropout, (rows, classes) float64; the class ids of its labels, (rows,))"""
    logits = logits_of(model, batch).astype(np.float64)
    return logits, np.asarray(class_ids(look_at_batch(batch).labels, len(logits)))


def cross_entropy_of(model, batch) -> float:
    """The mean cross-entropy of the model's logits for one batch."""
    return cross_entropy(*answers_of(model, batch))
