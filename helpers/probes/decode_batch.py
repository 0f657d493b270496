"""A batch turned back into text: how much of it does the tokenizer know, and how much was cut off?"""

from dataclasses import dataclass

import numpy as np

from helpers.batches import inputs_of
from helpers.guards import CannotExamine, never_raises, one_batch
from helpers.messages import _
from helpers.probes.report import report

MUCH = 0.05  # of the tokens unknown, or of the rows cut
ALIKE = 0.75  # of the rows of a batch as long as its longest: texts differ in length, cut ones do not
SHOWN = 2


@dataclass(frozen=True)
class Decoded:
    """unknown: share of the text's tokens that are [UNK] · cut: share of the rows that were cut · longest: the largest id · vocabulary: of the model, or of the tokenizer."""

    text: list[str]
    unknown: float
    cut: float
    longest: int
    vocabulary: int
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("unknown"), f"{self.unknown:.1%}"), (_("cut"), f"{self.cut:.0%}")]
        lines += [(_("largest id"), _("{id} of {count}").format(id=self.longest, count=self.vocabulary))]
        return report([*lines, *((_("row {number}").format(number=n), text) for n, text in enumerate(self.text))], self.findings)


@never_raises
def decode_batch(batch, tokenizer, model=None, lengths: list[int] | None = None) -> Decoded:
    """Decode one batch, and count what the tokenizer does not know.

    ``model``: to compare the ids with its vocabulary. ``lengths``: tokens of each row before anything was cut, in the order of the batch;
    without them, the rows count as cut where nearly all of four or more are as long as the longest.
    """
    if not hasattr(tokenizer, "decode") or not hasattr(tokenizer, "unk_token_id"):
        raise CannotExamine(_("this is no tokenizer."), _("Pass what AutoTokenizer.from_pretrained() returns."))
    x = inputs_of(one_batch(batch))
    ids = np.asarray(x.get("input_ids"))
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise CannotExamine(_("the batch has no input_ids of the form (rows, length)."), _("Pass one batch of to_tf_dataset()."))
    mask = np.asarray(x["attention_mask"]) == 1 if "attention_mask" in x else ids != tokenizer.pad_token_id
    vocabulary = getattr(getattr(model, "config", None), "vocab_size", None) or len(tokenizer)
    unknown = float((ids[mask] == tokenizer.unk_token_id).mean()) if mask.any() else 0.0
    if lengths is not None:
        cut = float(np.mean([long > row.sum() for long, row in zip(lengths, mask, strict=True)]))
    else:
        tokens = (ids != tokenizer.pad_token_id).sum(1)
        full = float((tokens == tokens.max()).mean())
        cut = full if full >= ALIKE and len(ids) >= 4 else 0.0
    findings = {}
    if unknown > MUCH:
        findings["unknown_words"] = _(
            "{share:.0%} of the tokens are unknown to the tokenizer. Does it fit the text, and its casing?"
        ).format(share=unknown)
    if cut > MUCH:
        findings["cut"] = _("{share:.0%} of the rows are cut.").format(share=cut)
    if ids.max() >= vocabulary:
        findings["outside_the_vocabulary"] = _("The id {id} is outside the model's vocabulary of {count}.").format(
            id=int(ids.max()), count=vocabulary
        )
    return Decoded([tokenizer.decode(row) for row in ids[:SHOWN]], unknown, cut, int(ids.max()), vocabulary, findings)
