"""The loss of each batch while a model trains. Keras shows the mean since the epoch began; a curve needs the losses themselves."""

from helpers.guards import need_compiled, never_raises


@never_raises
def batch_losses(model, train, steps: int = 100) -> list[float]:
    """Train a compiled model for up to ``steps`` batches of ``train``, as fit() would, and return the loss of each, in nats. It changes the model."""
    need_compiled(model)
    losses = []
    for batch in train.take(steps):
        inputs = batch if isinstance(batch, (tuple, list)) else (batch,)
        losses.append(float(model.train_on_batch(*inputs, reset_metrics=True, return_dict=True)["loss"]))
    return losses
