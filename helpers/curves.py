"""The loss of each batch while a model trains. Keras shows the mean since the epoch began; a curve needs the losses themselves."""

import contextlib

import numpy as np

from helpers.guards import first_batch, need_compiled, never_raises
from helpers.probes.gradients_of import build_optimizer


@never_raises
def batch_losses(model, train, steps: int = 100) -> list[float]:
    """Train a compiled model with fit() on the first ``steps`` batches of ``train``, and return the loss of each, in nats. It changes the model."""
    import tf_keras

    need_compiled(model)
    losses = []

    class Keep(tf_keras.callbacks.Callback):
        def on_train_batch_begin(self, number, logs=None):
            model.reset_metrics()  # else Keras reports the mean since the epoch began

        def on_train_batch_end(self, number, logs=None):
            losses.append(float(logs["loss"]))

    if not model.run_eagerly:
        with contextlib.suppress(Exception):  # what fails here fails in fit() too
            # Makes the variables of optimizer and metrics. A step that makes them itself is traced twice, which takes seconds.
            build_optimizer(model.optimizer, model.trainable_variables)
            model.test_step(first_batch(train))
    model.fit(train.take(steps), callbacks=[Keep()], verbose=0)
    return losses


def smoothed(losses, smooth: int = 10) -> np.ndarray:
    """The mean of the last ``smooth`` losses at each step."""
    sums = np.cumsum(np.concatenate([[0.0], losses]))
    steps = np.arange(1, len(losses) + 1)
    first = np.maximum(steps - smooth, 0)
    return (sums[steps] - sums[first]) / (steps - first)


def parting_step(one, other, smooth: int = 10, apart: float = 0.1) -> int | None:
    """The first step from which the smoothed losses stay more than ``apart`` nats from each other; None where they do not part."""
    shorter = min(len(one), len(other))
    near = np.abs(smoothed(one, smooth)[:shorter] - smoothed(other, smooth)[:shorter]) <= apart
    step = int(np.flatnonzero(near)[-1]) + 1 if near.any() else 0
    return step if step < shorter else None
