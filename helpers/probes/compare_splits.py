"""Training against validation: rows that are in both, over two epochs, and labels that come in another order or another share."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, inputs_of, labels_of
from helpers.guards import first_batches, never_raises
from helpers.messages import _
from helpers.probes.report import report

FEW_KINDS = 0.6  # mean label entropy of a batch, as a share of that of the whole data


@dataclass(frozen=True)
class Splits:
    """overlap: validation rows that are also in training, in either epoch · rows: of train and validation ·
    entropy: mean over the batches of training, of the labels of a batch, as a share of the whole data's · same_order: both
    epochs of training are in one order. That is no fault by itself: after tf.random.set_seed(), to_tf_dataset(shuffle=True) shuffles each
    epoch alike (datasets 4, measured).
    """

    rows: tuple[int, int]
    overlap: int
    counts: tuple[dict, dict]
    entropy: float
    same_order: bool
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [
            (_("rows"), _("{train} and {validation}").format(train=self.rows[0], validation=self.rows[1])),
            (_("in both"), self.overlap),
        ]
        lines += [
            (_("labels of training"), self.counts[0]),
            (_("labels of validation"), self.counts[1]),
            (_("entropy in a batch"), f"{self.entropy:.0%}"),
        ]
        return report(lines, self.findings)


@never_raises
def compare_splits(train, validation, batches: int = 1000) -> Splits:
    """Read ``train`` twice and ``validation`` twice, up to ``batches`` batches each time, and compare their rows and labels."""
    epochs = [[texts_and_labels(part, batches) for part in (train, validation)] for _epoch in range(2)]
    (texts, labels, entropies), (v_texts, v_labels, _v_entropies) = epochs[0]
    again = epochs[1][0][0]
    known = {*texts, *again}
    overlap = len({*v_texts, *epochs[1][1][0]} & known)
    counts, v_counts = Counter(labels), Counter(v_labels)
    whole = entropy(counts)
    share = float(np.mean(entropies)) / whole if whole else 1.0
    findings = {}
    if overlap:
        findings["rows_in_both"] = _("{count} validation rows are also in training.").format(count=overlap)
    if share < FEW_KINDS and len(entropies) > 1:
        findings["sorted"] = _("A batch holds few kinds of labels: the data are sorted, or hardly shuffled.")
    if any(abs(counts[label] / len(labels) - v_counts[label] / len(v_labels)) > 0.15 for label in counts | v_counts):
        findings["other_shares"] = _("The labels have other shares in validation than in training.")
    return Splits((len(texts), len(v_texts)), overlap, (dict(counts), dict(v_counts)), share, texts == again, findings)


def texts_and_labels(dataset, batches: int) -> tuple[list[tuple], list, list[float]]:
    """(the ids of each row without its padding, its label, the entropy of the labels of each batch in nats)"""
    texts, labels, entropies = [], [], []
    for batch in first_batches(dataset, batches, seconds=60):
        x = inputs_of(batch)
        ids = np.asarray(x["input_ids"])
        mask = np.asarray(x["attention_mask"]) if "attention_mask" in x else ids != 0
        texts += [tuple(row[there == 1].tolist()) for row, there in zip(ids, mask, strict=True)]
        of_batch = class_ids(labels_of(batch), len(ids))
        labels += of_batch
        entropies.append(entropy(Counter(of_batch)))
    return texts, labels, entropies


def entropy(counts: Counter) -> float:
    """Of the shares in ``counts``, in nats."""
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values()) if total else 0.0
