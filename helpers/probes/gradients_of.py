"""Which weights get a gradient from one batch, and how large is it, layer by layer?"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from helpers.guards import CannotExamine, need_compiled, never_raises, one_batch
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import keras_loss, owner_of_loss


@dataclass(frozen=True)
class Gradients:
    """norms: layer -> norm of its gradients · none, zero: names of the weight tensors without a gradient, and with one that is 0
    everywhere · trainable: share of the weights that may move · loss: of the batch, with dropout."""

    norms: dict[str, float]
    none: list[str]
    zero: list[str]
    trainable: float
    loss: float
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("loss"), f"{self.loss:.3f}"), (_("trainable"), f"{self.trainable:.0%}")]
        return report(lines + [(layer, f"{norm:.2e}") for layer, norm in self.norms.items()], self.findings)


@never_raises
def gradients_of(model, batch) -> Gradients:
    """Take the gradients of a compiled model's loss for one batch. ``batch``: (x, y), a dict with labels, or a dataset. No weight moves."""
    import tensorflow as tf

    need_compiled(model)
    batch = one_batch(batch)
    with tf.GradientTape() as tape:
        loss = loss_of_batch(model, batch)
    weights = model.trainable_variables
    gradients = [None if g is None else tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, weights)]
    squares = defaultdict(float)
    for weight, gradient in zip(weights, gradients, strict=True):
        squares["/".join(weight.name.split("/")[1:-1]) or weight.name] += (
            0.0 if gradient is None else float(np.square(gradient, dtype=np.float64).sum())
        )
    none = [weight.name for weight, g in zip(weights, gradients, strict=True) if g is None]
    zero = [weight.name for weight, g in zip(weights, gradients, strict=True) if g is not None and not g.any()]
    share = sum(int(tf.size(w)) for w in weights) / max(1, sum(int(tf.size(w)) for w in model.weights))
    bad = [weight.name for weight, g in zip(weights, gradients, strict=True) if g is not None and not np.isfinite(g).all()]
    findings = {}
    if share < 1:
        findings["frozen"] = _("{share:.0%} of the weights are frozen.").format(share=1 - share)
    if none:
        findings["no_gradient"] = _("{count} of {all} weight tensors get no gradient.").format(count=len(none), all=len(weights))
    if len(zero) > len(weights) / 2:
        findings["zero_gradient"] = _("{count} of {all} weight tensors have a gradient of 0.").format(count=len(zero), all=len(weights))
    if bad:
        findings["not_finite"] = _("{count} of {all} weight tensors have a gradient that is not finite.").format(
            count=len(bad), all=len(weights)
        )
    return Gradients({layer: value**0.5 for layer, value in squares.items()}, none, zero, share, float(loss), findings)


def loss_of_batch(model, batch):
    """The loss of one batch as a tensor, with dropout, as fit() computes it: by the model itself, or by the loss that compile() names."""
    import tensorflow as tf

    x, y, weights = (*batch, None)[:3] if isinstance(batch, tuple) else (batch, None, None)
    if owner_of_loss(model) == "model":
        if y is not None:
            x = {**x, **(y if hasattr(y, "keys") else {"labels": y})}
        loss = getattr(model(x, training=True), "loss", None)
    else:
        if y is None:
            y = x.get("labels") if hasattr(x, "get") else None
            x = {name: value for name, value in x.items() if name != "labels"} if y is not None else x
        output = model(x, training=True)
        loss = None if y is None or not model.loss else weighted(keras_loss(model), y, getattr(output, "logits", output), weights)
    if loss is None:
        raise CannotExamine(
            _("there is no loss: no labels reach it, or compile() names none."), _("Look at one batch: look_at_batch(batch).")
        )
    return tf.reduce_mean(loss)


def build_optimizer(optimizer, weights) -> None:
    """Make the optimizer's variables before its first step. One of the older kind, such as AdamWeightDecay, has no build(), and makes them there."""
    if hasattr(optimizer, "build"):
        optimizer.build(weights)


def weighted(loss, labels, logits, weights):
    """The loss of the rows, each with its weight where the batch has weights. ``loss``: a Keras loss or a function."""
    import tf_keras

    if weights is None:
        return loss(labels, logits)
    if isinstance(loss, tf_keras.losses.Loss):
        return loss(labels, logits, sample_weight=weights)
    return loss(labels, logits) * weights  # a function gives one loss for each row
