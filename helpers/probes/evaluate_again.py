"""The script's evaluate(), held against the model's own answers, and against itself."""

from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, labels_of
from helpers.guards import CannotExamine, need_model, never_raises, one_batch
from helpers.messages import _
from helpers.probes.loss_at_start import cross_entropy
from helpers.probes.report import report
from helpers.probes.walk import dataset_of, logits_of, quiet, scores_of

ACCURACIES = ("accuracy", "acc", "categorical_accuracy", "sparse_categorical_accuracy", "binary_accuracy")  # names of one thing


@dataclass(frozen=True)
class EvaluatedAgain:
    """first, second: what evaluate() said of one batch, twice · loss: the cross-entropy of the model's logits, in nats · accuracy: the share of
    rows whose largest logit is at the label.
    """

    first: dict[str, float]
    second: dict[str, float]
    loss: float
    accuracy: float
    findings: dict[str, str]

    def __repr__(self) -> str:
        said = [", ".join(f"{name} {value:.3f}" for name, value in scores.items()) for scores in (self.first, self.second)]
        own = _("loss {loss:.3f}, accuracy {accuracy:.3f}").format(loss=self.loss, accuracy=self.accuracy)
        return report([(_("evaluate()"), said[0]), (_("once more"), said[1]), (_("the logits"), own)], self.findings)


@never_raises
def evaluate_again(evaluate, model, batch) -> EvaluatedAgain:
    """Call ``evaluate(model, dataset)`` twice on one batch. A model that knows the batch by heart (overfit_batch) shows a difference best.

    ``evaluate``: the script's function, which returns a dict with the loss. ``model``: compiled. ``batch``: one batch, or a tf.data.Dataset.
    """
    need_model(model)
    batch = one_batch(batch)
    logits = logits_of(model, batch).astype(np.float64)
    ids = class_ids(labels_of(batch), len(logits))
    if logits.ndim != 2 or not all(isinstance(label, int) and 0 <= label < logits.shape[1] for label in ids):
        raise CannotExamine(
            _("there is not one class id for each row of logits."), _("Look at the labels first: audit_labels(dataset, model).")
        )
    with quiet():
        first, second = (scores_of(evaluate(model, dataset_of(batch))) for _time in range(2))
    loss, accuracy = cross_entropy(logits, np.asarray(ids)), float((logits.argmax(1) == ids).mean())
    findings = {}
    if any(abs(first[name] - second[name]) > 1e-4 for name in first):
        findings["not_repeatable"] = _("The same model and the same rows got two different scores.")
    if abs(first["loss"] - loss) > 1e-2:
        findings["loss_differs"] = _("evaluate() says the loss is {said:.3f}, and the model's logits have {loss:.3f}.").format(
            said=first["loss"], loss=loss
        )
    for name, value in first.items():
        if name in ACCURACIES and abs(value - accuracy) > 1e-3:
            findings["metric_differs"] = _("{name} says {value:.3f}, and {accuracy:.3f} of the answers are right.").format(
                name=name, value=value, accuracy=accuracy
            )
    return EvaluatedAgain(first, second, loss, accuracy, findings)
