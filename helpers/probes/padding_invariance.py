"""Does the model answer the same when a row is padded more? It must: padding is not text."""

from dataclasses import dataclass

import numpy as np

from helpers.batches import inputs_of
from helpers.guards import CannotExamine, need_model, never_raises, one_batch
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import logits_of

SAME = 1e-3  # logits that differ by less are the same: sums in another order differ by 1e-6


@dataclass(frozen=True)
class PaddingInvariance:
    """padded, masked: share of the positions that are padding, and that the mask leaves out (None without a mask) · change: of the logits."""

    padded: float
    masked: float | None
    change: float
    findings: dict[str, str]

    def __repr__(self) -> str:
        masked = _("no mask") if self.masked is None else f"{self.masked:.0%}"
        lines = [
            (_("padding"), f"{self.padded:.0%}"),
            (_("left out by the mask"), masked),
            (_("change of the logits"), f"{self.change:.1e}"),
        ]
        return report(lines, self.findings)


@never_raises
def padding_invariance(model, batch, pad_token_id: int = 0, extra: int = 8) -> PaddingInvariance:
    """Compare the logits of one batch with those of the same batch, ``extra`` positions of padding longer.

    The batch keeps its own way of masking: where its mask covers padding, or where it has none, the added positions do so too.
    """
    need_model(model)
    x = inputs_of(one_batch(batch))
    ids = np.asarray(x.get("input_ids"))
    if ids.ndim != 2:
        raise CannotExamine(_("the batch has no input_ids of the form (rows, length)."), _("Pass one batch of to_tf_dataset()."))
    mask = np.asarray(x["attention_mask"]) if "attention_mask" in x else None
    padding = ids == pad_token_id
    ignores = mask is None or bool((mask[padding] == 1).any())  # a batch without padding is masked well
    longer = {"input_ids": np.pad(ids, ((0, 0), (0, extra)), constant_values=pad_token_id)}
    if mask is not None:
        longer["attention_mask"] = np.pad(mask, ((0, 0), (0, extra)), constant_values=int(ignores))
    now = {"input_ids": ids} | ({"attention_mask": mask} if mask is not None else {})
    change = float(np.abs(logits_of(model, longer) - logits_of(model, now)).max())
    findings = {}
    if mask is None:
        findings["no_mask"] = _("The batch has no attention_mask, so the model reads the padding as text.")
    elif ignores:
        findings["mask_covers_padding"] = _("The attention_mask is 1 at padding, so the model reads the padding as text.")
    if bool((mask is not None) and (mask[~padding] == 0).any()):
        findings["text_left_out"] = _("The attention_mask is 0 at text, so the model does not read it.")
    if not ignores and change > SAME:
        findings["not_invariant"] = _("The mask is right, and the model still answers otherwise when a row is padded more.")
    return PaddingInvariance(float(padding.mean()), None if mask is None else float((mask == 0).mean()), change, findings)
