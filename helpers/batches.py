"""What a batch holds: its inputs by name, its labels, one class id for each row."""

import numpy as np


def inputs_of(batch) -> dict:
    """The inputs by name. to_tf_dataset() gives a single column without its name: that is input_ids."""
    x = batch[0] if isinstance(batch, tuple) else batch
    return x if hasattr(x, "keys") else {"input_ids": x}


def labels_of(batch):
    """The labels as they are: y, or what lies under `labels` or `label` among the inputs, or None."""
    labels = batch[1] if isinstance(batch, tuple) and len(batch) > 1 else None
    if labels is None:
        x = inputs_of(batch)
        labels = next((x[key] for key in ("labels", "label") if key in x), None)
    return next(iter(labels.values()), None) if hasattr(labels, "keys") else labels


def class_ids(labels, rows: int) -> list:
    """One class id a row, also of one-hot labels and of labels in a column; [None, …] where there are none."""
    values = np.asarray(labels if labels is not None else [None] * rows)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        values = np.where(values.sum(1) == 1, values.argmax(1), -1)
    if values.dtype.kind == "f" and (values == values.astype(int)).all():
        values = values.astype(int)
    return values.tolist() if values.ndim == 1 and len(values) == rows else [None] * rows
