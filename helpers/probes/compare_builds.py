"""Two models from one function: are they two, and do both have the checkpoint's encoder?"""

from dataclasses import dataclass

import numpy as np

from helpers.guards import CannotExamine, need_model, never_raises
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import quiet


@dataclass(frozen=True)
class Builds:
    """Numbers of weight tensors that are equal in both models, of the encoder and of the head. A pretrained encoder is always the same; a
    new head is drawn anew.
    """

    encoder: tuple[int, int]
    head: tuple[int, int]
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("encoder"), self.encoder), (_("head"), self.head)]
        return report([(name, _("{same} of {all} alike").format(same=same, all=all_)) for name, (same, all_) in lines], self.findings)


@never_raises
def compare_builds(build_model) -> Builds:
    """Call ``build_model()`` twice and compare the weights. It must return a Transformers TF model."""
    if not callable(build_model):
        raise CannotExamine(_("this is no function."), _("Pass the function itself, without calling it: compare_builds(build_model)."))
    with quiet():
        first, second = build_model(), build_model()
    need_model(first)
    for model in (first, second):
        if not model.built:
            model(model.dummy_inputs)
    encoder = getattr(first, getattr(first, "base_model_prefix", ""), None)
    if encoder is None:
        raise CannotExamine(
            _("the model has no encoder that can be told from its head."), _("Pass a function that builds a Transformers model.")
        )
    inner = {id(weight) for weight in encoder.weights}
    same = [bool(np.array_equal(a.numpy(), b.numpy())) for a, b in zip(first.weights, second.weights, strict=True)]
    of_encoder = [equal for equal, weight in zip(same, first.weights, strict=True) if id(weight) in inner]
    of_head = [equal for equal, weight in zip(same, first.weights, strict=True) if id(weight) not in inner]
    findings = {}
    if first is second:
        findings["same_model"] = _("Both calls return the same model, so a second run goes on from where the first ended.")
    elif not all(of_encoder):
        findings["encoder_differs"] = _("The encoder is drawn anew each time, so the checkpoint's weights are not loaded.")
    return Builds((sum(of_encoder), len(of_encoder)), (sum(of_head), len(of_head)), findings)
