"""The rows of the batches, looked up in the data that they came from: does each still have its label?"""

from dataclasses import dataclass

import numpy as np

from helpers.batches import class_ids, inputs_of, labels_of
from helpers.guards import CannotExamine, first_batches, never_raises
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.report import report


@dataclass(frozen=True)
class ComparedWithData:
    """rows: that were read · unknown: of them not among the data · others: of them with a label that the data do not have for this
    text · example: (text, its label in the batch, its label in the data), None where all agree.
    """

    rows: int
    unknown: int
    others: int
    example: tuple[str, int, int] | None
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("rows"), self.rows), (_("not in the data"), self.unknown), (_("another label"), self.others)]
        if self.example:
            said = _("{text} has {here}, in the data {there}").format(text=self.example[0], here=self.example[1], there=self.example[2])
            lines.append((_("example"), said))
        return report(lines, self.findings)


@never_raises
def compare_with_data(dataset, rows, tokenizer, batches: int = 1000) -> ComparedWithData:
    """Compare up to ``batches`` batches with ``rows``: a split of the raw data, with the columns premise, hypothesis and label."""
    if not {"premise", "hypothesis", "label"} <= set(getattr(rows, "column_names", ())):
        raise CannotExamine(
            _("{kind} has no columns premise, hypothesis and label.").format(kind=describe(rows)), _('Pass a split: raw["train"].')
        )
    columns = rows.to_dict()
    ids = tokenizer(columns["premise"], columns["hypothesis"], truncation=True)["input_ids"]
    known = {}
    for row, label in zip(ids, columns["label"], strict=True):
        known.setdefault(tuple(row), set()).add(label)
    read, unknown, others = 0, 0, []
    for batch in first_batches(dataset, batches, seconds=60):
        tokens = np.asarray(inputs_of(batch)["input_ids"])
        for row, label in zip(tokens, class_ids(labels_of(batch), len(tokens)), strict=True):
            read += 1
            text = tuple(row[row != tokenizer.pad_token_id].tolist())
            if text not in known:
                unknown += 1
            elif label not in known[text]:
                others.append((tokenizer.decode(text, skip_special_tokens=True), label, min(known[text])))
    findings = {}
    if unknown:
        findings["unknown_rows"] = _("{count} of {rows} rows are not among the data.").format(count=unknown, rows=read)
    if others:
        findings["other_labels"] = _("{count} of {rows} rows have a label that is not theirs.").format(count=len(others), rows=read)
    return ComparedWithData(read, unknown, len(others), others[0] if others else None, findings)
