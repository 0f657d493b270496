"""Three accuracies that must agree or differ for a reason: of predict(), of evaluate(), and of always saying the most frequent class."""

from collections import Counter
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from helpers.batches import class_ids, labels_of
from helpers.guards import CannotExamine, first_batches, need_model, never_raises
from helpers.messages import _
from helpers.pipeline import without_autotune
from helpers.probes.evaluate_again import ACCURACIES
from helpers.probes.report import report
from helpers.probes.walk import logits_of, quiet

MARGIN = 0.05  # above the majority; 0.05 are about three standard errors for 750 rows


@dataclass(frozen=True)
class Scores:
    """Accuracies in 0 … 1: predicted (argmax of the logits), evaluated (None without such a metric), majority, and permuted: the best that
    exchanging the names of the classes could give · confusion: (classes, classes), rows: label, columns: answer · answers: class -> rows.
    """

    predicted: float
    evaluated: float | None
    majority: float
    permuted: float
    confusion: np.ndarray
    findings: dict[str, str]

    def __repr__(self) -> str:
        evaluated = "-" if self.evaluated is None else f"{self.evaluated:.3f}"
        lines = [(_("predict"), f"{self.predicted:.3f}"), (_("evaluate"), evaluated), (_("majority"), f"{self.majority:.3f}")]
        return report([*lines, (_("with classes exchanged"), f"{self.permuted:.3f}")], self.findings)


@never_raises
def score_against_baseline(model, dataset, batches: int = 200) -> Scores:
    """Let a trained, compiled model answer up to ``batches`` batches of a tf.data.Dataset, and hold its accuracies against each other."""
    need_model(model)
    read = first_batches(dataset, batches, seconds=60)
    of_batches = [logits_of(model, batch) for batch in read]
    labels = [label for batch, part in zip(read, of_batches, strict=True) for label in class_ids(labels_of(batch), len(part))]
    logits = np.concatenate(of_batches)
    if logits.ndim != 2 or not all(isinstance(label, int) and 0 <= label < logits.shape[1] for label in labels):
        raise CannotExamine(
            _("there is not one class id for each row of logits."), _("Look at the labels first: audit_labels(dataset, model).")
        )
    labels, answers, classes = np.asarray(labels), logits.argmax(1), logits.shape[1]
    confusion = np.zeros((classes, classes), int)
    np.add.at(confusion, (labels, answers), 1)
    with quiet():
        scores = model.evaluate(without_autotune(dataset.take(batches)), return_dict=True, verbose=0)
    evaluated = next((value for name, value in scores.items() if name in ACCURACIES), None)
    predicted, majority = float((answers == labels).mean()), max(Counter(labels.tolist()).values()) / len(labels)
    few = permutations(range(classes)) if classes <= 6 else [range(classes)]
    permuted = max(float(sum(confusion[label, answer] for label, answer in enumerate(order)) / len(labels)) for order in few)
    findings = {}
    if evaluated is not None and abs(evaluated - predicted) > 1e-3:
        findings["metric_differs"] = _("evaluate() says {evaluated:.3f}, the answers have {predicted:.3f}.").format(
            evaluated=evaluated, predicted=predicted
        )
    if permuted > predicted + 2 * MARGIN:
        findings["classes_exchanged"] = _(
            "With classes exchanged the accuracy would be {permuted:.2f}: the order of the classes differs."
        ).format(permuted=permuted)
    if len(set(answers.tolist())) == 1:
        findings["one_answer"] = _("The model gives one class for every row.")
    elif predicted < majority + MARGIN:
        findings["not_above_majority"] = _("The model is not better than saying the most frequent class.")
    return Scores(predicted, evaluated, majority, permuted, confusion, findings)
