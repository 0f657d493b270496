"""The fault catalogue: each fault is the smallest change that breaks a healthy script, with all that a lesson needs to know of it.

The faults stand in helpers/catalogue/, by what they touch. A fault is looked up by its name.
"""

from helpers.catalogue import batches_and_splits, labels_and_heads, labels_and_loss, loss_and_rate, masks_and_tokens, weights_and_state
from helpers.catalogue.fault import BASES, COLLATOR, COMPILE, KERAS_LOSS, OPTIONS, Changes, Fault, Mistake, back, base_script
from helpers.guards import shorten
from helpers.messages import _

__all__ = ["BASES", "CATALOGUE", "COLLATOR", "COMPILE", "GROUPS", "KERAS_LOSS", "OPTIONS", "SYMPTOMS", "Changes", "Fault", "Mistake", "back", "base_script", "fault"]  # fmt: skip

# The groups of the public reports in tests/data/bug_reports.csv that can be met here. Not here: F18 memory (lessons 06 and 07),
# F22 mixed precision (needs a GPU), F25 dtypes (an error of the library that is plain by itself).
GROUPS = {
    "F01": _("labels never reach the loss, or no gradient does"),
    "F02": _("label ids outside the head"),
    "F03": _("shapes of labels and logits do not match"),
    "F04": _("logits taken for probabilities, or the reverse"),
    "F05": _("a loss that does not fit the task"),
    "F06": _("learning rate, optimizer, schedule"),
    "F07": _("NaN from data or numerics"),
    "F08": _("a metric that counts something else"),
    "F09": _("truncation and padding"),
    "F10": _("the attention mask"),
    "F11": _("a tokenizer that does not fit the checkpoint"),
    "F12": _("batches and steps"),
    "F13": _("order of the rows"),
    "F14": _("training rows in validation"),
    "F15": _("labels of other rows"),
    "F16": _("rare classes and class weights"),
    "F17": _("frozen weights"),
    "F19": _("Keras 2 and Keras 3 mixed"),
    "F20": _("state kept from before"),
    "F21": _("saved, loaded, or another model"),
    "F23": _("training and inference behave differently"),
    "F24": _("order of the classes"),
    "F26": _("the name that a callback waits for"),
}

# What is seen first, before any probe. helpers/fault_table.json has it for each fault, measured by `make fault-table`.
SYMPTOMS = {
    "stops": _("an error stops it"),
    "nan": _("the loss is nan"),
    "odd_start": _("before training the loss is far from ln C"),
    "learns_nothing": _("after training the model is no better than a guess"),
    "learns_little": _("the model learns, and less than it should"),
    "two_scores": _("two scores of the same model do not agree"),
    "looks_well": _("all numbers look good"),
}

CATALOGUE: dict[str, Fault] = {
    fault.name: fault
    for group in (labels_and_loss, labels_and_heads, loss_and_rate, masks_and_tokens, batches_and_splits, weights_and_state)
    for fault in group.FAULTS
}


def fault(name: str) -> Fault:
    """The fault of this name. Any other name is a LookupError that says which there are."""
    if not isinstance(name, str) or name not in CATALOGUE:
        raise LookupError(_("There is no fault {name}. There are: {names}.").format(name=shorten(repr(name)), names=", ".join(CATALOGUE)))
    return CATALOGUE[name]
