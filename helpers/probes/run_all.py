"""All probes on one pipeline: what does each find? The table of faults and probes is made of these rows."""

from functools import cached_property

from helpers.guards import NotExamined, first_batch, first_line, release
from helpers.messages import _
from helpers.pipeline import Pipeline, without_autotune
from helpers.probes.audit_labels import audit_labels
from helpers.probes.compare_builds import compare_builds
from helpers.probes.compare_splits import compare_splits
from helpers.probes.compare_with_data import compare_with_data
from helpers.probes.decode_batch import decode_batch
from helpers.probes.evaluate_again import evaluate_again
from helpers.probes.gradients_of import gradients_of
from helpers.probes.look_at_batch import BatchView, look_at_batch
from helpers.probes.look_at_fit import look_at_fit
from helpers.probes.loss_at_start import loss_at_start
from helpers.probes.one_step import one_step
from helpers.probes.overfit_batch import overfit_batch
from helpers.probes.padding_invariance import padding_invariance
from helpers.probes.rate_over_time import rate_over_time
from helpers.probes.sample_losses import sample_losses
from helpers.probes.walk import Walk, quiet, walk


class Parts:
    """What the probes want of a pipeline, made once, when it is first asked for."""

    def __init__(self, pipeline: Pipeline, tokenizer, data=None, steps: int | None = None):
        """``tokenizer``: the one that fits the checkpoint · ``data``: the data as they should be, a DatasetDict; by default the pipeline's own ·
        ``steps``: of the whole training, by default one epoch, counted where the dataset does not know its length.
        """
        self.pipeline, self.tokenizer, self._data, self._steps = pipeline, tokenizer, data, steps

    @cached_property
    def raw(self):
        return self.pipeline.load()

    @cached_property
    def data(self):
        return self.raw if self._data is None else self._data

    @cached_property
    def datasets(self):
        return [without_autotune(part) for part in self.pipeline.batch(self.pipeline.tokenize(self.raw))]

    @cached_property
    def train(self):
        return self.datasets[0]

    @property
    def steps(self) -> int:
        known = int(self.train.cardinality())
        return self._steps or (known if known > 0 else sum(1 for _batch in self.train))

    @property
    def names(self) -> list[str]:
        return self.raw["train"].features["label"].names

    def model(self):
        """A new model, compiled."""
        _train, _validation = self.datasets  # a script may learn there what it needs to compile
        model = self.pipeline.build_model()
        self.pipeline.compile_model(model)
        return model

    @cached_property
    def overfitted(self):
        """(a model that has learnt one batch by heart, what overfit_batch said of it, the batch)"""
        model, batch = self.model(), first_batch(self.train)
        return model, overfit_batch(model, batch), batch


def again(parts: Parts):
    model, _learnt, batch = parts.overfitted
    return evaluate_again(parts.pipeline.evaluate, model, batch)


PROBES = {
    "walk": lambda parts: walk(parts.pipeline),
    "look_at_batch": lambda parts: look_at_batch(parts.pipeline),
    "audit_labels": lambda parts: audit_labels(parts.train, parts.model(), parts.names),
    "decode_batch": lambda parts: decode_batch(parts.train, parts.tokenizer, parts.model()),
    "padding_invariance": lambda parts: padding_invariance(parts.model(), parts.train),
    "compare_splits": lambda parts: compare_splits(*parts.datasets),
    "compare_with_data": lambda parts: compare_with_data(parts.train, parts.data["train"], parts.tokenizer),
    "loss_at_start": lambda parts: loss_at_start(parts.model(), parts.train),
    "sample_losses": lambda parts: sample_losses(parts.model(), parts.train, batches=4),
    "gradients_of": lambda parts: gradients_of(parts.model(), parts.train),
    "one_step": lambda parts: one_step(parts.model(), parts.train),
    "rate_over_time": lambda parts: rate_over_time(parts.model(), parts.steps),
    "look_at_fit": lambda parts: look_at_fit(parts.pipeline.fit, parts.model(), *parts.datasets),
    "compare_builds": lambda parts: compare_builds(parts.pipeline.build_model),
    "overfit_batch": lambda parts: parts.overfitted[1],
    "evaluate_again": again,
}


def answer_of(probe: str, parts: Parts):
    """What the probe of this name says of the pipeline; NotExamined where a stage raises before the probe can look."""
    try:
        with quiet():
            return PROBES[probe](parts)
    except (Exception, SystemExit) as error:
        release(error)
        why = _("a stage raises {kind}: {error}").format(kind=type(error).__name__, error=first_line(error))
        return NotExamined(why, _("See where it stops: walk(pipeline)."))


def names_of(answer) -> set[str] | None:
    """The names of what a probe found. The walk's is the stage where it stops; None where the probe could not look."""
    if isinstance(answer, NotExamined):
        return None
    if isinstance(answer, Walk):
        return {answer.failing_stage} - {None}
    if isinstance(answer, BatchView):
        return {"no_labels"} if answer.labels_at is None else set()
    return set(answer.findings)


def findings_of(pipeline: Pipeline, tokenizer, data=None, steps=None, probes=None) -> dict[str, set[str] | None]:
    """Probe -> the names of its findings; None where it could not look.

    ``tokenizer``, ``data``, ``steps``: see Parts. ``probes``: names, all by default. About fifteen seconds in all.
    """
    parts = Parts(pipeline, tokenizer, data, steps)
    return {probe: names_of(answer_of(probe, parts)) for probe in probes or PROBES}
