"""One batch, exactly as it enters the model."""

import inspect
from dataclasses import dataclass, field

import numpy as np

from helpers.batches import labels_of
from helpers.guards import CannotExamine, first_batch, is_dataset, need_model, never_raises, shorten
from helpers.messages import _
from helpers.pipeline import Pipeline, describe


@dataclass(frozen=True)
class BatchView:
    """What one batch is.

    container: "dict" (labels, if any, among the inputs), "(x, y)" or "(x, y, sample_weight)" · keys: the names in the inputs · shapes, dtypes:
    per name; what is not in the inputs is called "y" · labels_at: "inputs['labels']", "y" or None · rows: how many,
    None where there is no batch axis ·
    padded: share of positions that are padding, None without a mask · not_taken: keys that the model's signature does
    not have, None without a model · text: the first rows decoded, None without a tokenizer.
    """

    container: str
    keys: list[str]
    shapes: dict[str, tuple]
    dtypes: dict[str, str]
    labels_at: str | None
    labels: list | None
    rows: int | None
    padded: float | None
    not_taken: list[str] | None = None
    text: list[str] | None = field(default=None)

    def __repr__(self) -> str:
        rows = _("{rows} rows").format(rows=self.rows) if self.rows is not None else _("one row without a batch axis")
        lines = [_("container:   {container}, {rows}").format(container=self.container, rows=rows)]
        width = max((len(name) for name in self.shapes), default=0)
        lines += [f"  {name:<{width}}  {str(self.shapes[name]):<12} {self.dtypes[name]}" for name in self.shapes]
        lines.append(_("labels_at:   {place}").format(place=self.labels_at or _("nowhere")))
        if self.labels is not None:
            shown = str(self.labels) if len(str(self.labels)) <= 200 else f"{shorten(str(self.labels[:32])[:-1], 200)}, …]"
            lines.append(_("labels:      {labels}").format(labels=shown))
        if self.padded is not None:
            lines.append(_("padded:      {share:.0%} of the positions").format(share=self.padded))
        if self.not_taken is not None:
            lines.append(
                _("model takes: {answer}").format(
                    answer=_("every key") if not self.not_taken else _("not {keys}").format(keys=", ".join(self.not_taken))
                )
            )
        for row in self.text or []:
            lines.append(f"  {row}")
        return "\n".join(lines)


@never_raises
def look_at_batch(batch, model=None, tokenizer=None, rows: int = 2) -> BatchView:
    """Look at one batch.

    ``batch``: a batched tf.data.Dataset (its first batch is taken), a dict of tensors, a tuple (x, y), or a Pipeline (its
    load, tokenize and batch are called, and the first training batch is taken).
    ``model``: a TF model, to compare the keys with its signature. ``tokenizer``: to decode the first ``rows`` rows.
    A dataset that raises when it is read is answered with its error.
    """
    if isinstance(batch, Pipeline):
        batch = batch.batch(batch.tokenize(batch.load()))[0]
    if is_dataset(batch):
        batch = _first_or_its_error(batch)
    x, y, *weight = batch if isinstance(batch, tuple) and len(batch) in (2, 3) else (batch, None)
    parts = dict(x) if hasattr(x, "keys") else {"x": x}
    if y is not None:
        parts |= {f"y['{key}']": value for key, value in y.items()} if hasattr(y, "keys") else {"y": y}
    parts |= {"sample_weight": weight[0]} if weight else {}
    if not parts or not all(hasattr(value, "shape") and hasattr(value, "dtype") for value in parts.values()):
        raise CannotExamine(
            _("this is {kind}, not a batch: its parts are not tensors.").format(kind=describe(batch)),
            _("Pass a batched tf.data.Dataset, or one batch of it: next(iter(train))."),
        )
    keys = list(x.keys()) if hasattr(x, "keys") else []
    labels_at = "y" if y is not None else next((f"inputs['{key}']" for key in ("labels", "label") if key in keys), None)
    labels = labels_of(batch)
    shapes = {name: tuple(value.shape) for name, value in parts.items()}
    return BatchView(
        container="(x, y, sample_weight)" if weight else "(x, y)" if y is not None else "dict" if keys else type(x).__name__,
        keys=keys,
        shapes=shapes,
        dtypes={name: getattr(value.dtype, "name", str(value.dtype)) for name, value in parts.items()},
        labels_at=labels_at,
        labels=None if labels is None else np.asarray(labels).tolist(),
        rows=rows_of(shapes),
        padded=float(1 - np.mean(x["attention_mask"])) if "attention_mask" in keys else None,
        not_taken=None if model is None or not keys else keys_not_taken(model, keys),
        text=None if tokenizer is None or "input_ids" not in keys else [tokenizer.decode(ids) for ids in np.asarray(x["input_ids"])[:rows]],
    )


def rows_of(shapes: dict[str, tuple]) -> int | None:
    """How many rows a batch has: None where input_ids, or else all parts, have no batch axis."""
    if len(shapes.get("input_ids", (0, 0))) < 2:
        return None
    return next((shape[0] for shape in shapes.values() if shape), None)


def keys_not_taken(model, keys: list[str]) -> list[str]:
    """The keys of a batch that the model has no input for: no argument of call(), no Input of that name in a Keras graph."""
    need_model(model)
    graph = getattr(model, "_is_graph_network", False)
    taken = model.input_names if graph else inspect.signature(model.call).parameters
    return [key for key in keys if key not in taken]


def _first_or_its_error(dataset):
    try:
        return first_batch(dataset)
    except CannotExamine:
        raise
    except Exception as error:
        from helpers.probes.frames import core_message

        raise CannotExamine(
            _("the dataset raised {error} while its first batch was read.").format(error=": ".join(core_message(error))),
            _("walk() of the pipeline tells what the message means."),
        ) from None
