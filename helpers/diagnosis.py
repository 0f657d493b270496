"""Is a diagnosis right? The answer is compared with the fault, and the evidence is measured again, on the broken pipeline and on a healthy one."""

import functools
import re
from collections.abc import KeysView

import numpy as np

from helpers.exercises import Case, steady
from helpers.faults import base_script
from helpers.guards import NotExamined, shorten
from helpers.messages import _
from helpers.pipeline import describe, pipeline_from_script
from helpers.probes.run_all import Parts, answer_of
from helpers.probes.walk import STAGES

FIELDS = {  # that can be named as evidence, by probe. The findings of a probe are its judgement, and not evidence
    "walk": ("message", "error_class", "failing_stage"),
    "look_at_batch": ("container", "keys", "shapes", "dtypes", "labels_at", "labels", "rows", "padded"),
    "audit_labels": ("rows", "counts", "form", "outputs", "names"),
    "decode_batch": ("unknown", "cut", "longest", "vocabulary"),
    "padding_invariance": ("padded", "masked", "change"),
    "compare_splits": ("rows", "overlap", "entropy", "same_order"),
    "compare_with_data": ("rows", "unknown", "others"),
    "loss_at_start": ("loss", "cross_entropy", "chance", "owner"),
    "sample_losses": ("error",),
    "gradients_of": ("trainable", "loss"),
    "one_step": ("weights", "free", "moved", "largest"),
    "rate_over_time": ("first", "middle", "last", "highest", "steps"),
    "look_at_fit": ("epochs", "steps_per_epoch", "batches", "reported", "monitors"),
    "compare_builds": ("encoder", "head"),
    "overfit_batch": ("accuracy", "last"),
    "evaluate_again": ("first", "second", "loss", "accuracy"),
}
LEAST_OF_A_MESSAGE = 20  # characters: fewer could stand in many messages
CHANGES_EACH_TIME = ("shapes", "padded", "labels")  # of look_at_batch: the batch is drawn anew
EXACT = ("outputs", "vocabulary", "rows", "weights", "free", "steps", "epochs", "steps_per_epoch", "batches")  # counts that no seed changes
NEAR = 0.5  # of the way to the healthy pipeline's number: of another batch, a number may be another, and it is nearer to this one's


def judge_answer(case: Case, answer) -> tuple[tuple, tuple]:
    """Two points: the answer is one of the names that are asked for; it is the right one."""
    if case.choices:
        listed = ", ".join(case.choices)
        known = (
            _("the fault has a name"),
            answer in case.choices,
            _("{answer} is not one of the faults.").format(answer=shorten(repr(answer))),
            _("Faults are: {names}.").format(names=listed),
        )
        look = _("Which of the faults would give the number that you named as evidence?")
        return known, (
            _("the fault is the one of this pipeline"),
            answer == case.ill.name,
            _("{answer} is not the fault of this pipeline.").format(answer=answer),
            look,
        )
    known = (
        _("the stage has a name"),
        answer in STAGES,
        _("{stage} is not a stage.").format(stage=shorten(repr(answer))),
        _("Stages are: {stages}.").format(stages=", ".join(STAGES)),
    )
    said = _("{stage} is not the stage where the walk stops: it runs, or is not reached.").format(stage=answer)
    look = _("Run walk(unseen_pipeline({name!r})): it marks with FAILS the first stage that fails.").format(name=case.name)
    return known, (_("the stage is the one that fails first"), answer == case.ill.stage, said, look)


def wrong_form(case: Case, evidence) -> tuple[str, str] | None:
    """(message, next step) where the evidence is not (probe, field, value) with one of the case's probes."""
    shape_ok = isinstance(evidence, (tuple, list)) and len(evidence) == 3 and all(isinstance(part, str) for part in evidence[:2])
    if not shape_ok or evidence[0] not in case.probes:
        what = describe(evidence) if not shape_ok else shorten(repr(tuple(evidence)))
        said = _("The evidence is {what}, and must be (probe, field, value) with one of the probes {probes}.")
        return said.format(what=what, probes=", ".join(case.probes)), _('The form is, for example: ("look_at_batch", "rows", 8).')
    return None


def judge_evidence(case: Case, evidence, call: str = "{probe}(…)") -> tuple[bool, str, str]:
    """(holds, message, next step): is the value what the probe measures, and does it show the fault? ``call``: how the learner asks the probe."""
    if form := wrong_form(case, evidence):
        return False, *form
    probe, field, value = evidence
    if field == "failing_stage":
        said = _("The failing stage is your answer, not the evidence for it.")
        return False, said, _("Name what you see there: a message, or what a batch holds.")
    if field not in FIELDS[probe]:
        said = _("{probe}() has no field {field}.").format(probe=probe, field=shorten(repr(field)))
        return False, said, _("Its fields are: {fields}.").format(fields=", ".join(FIELDS[probe]))
    seen = answer_of(probe, parts_of(case.ill.script))
    if isinstance(seen, NotExamined):
        said = _("{probe}() cannot look at this pipeline: {why}").format(probe=probe, why=seen.why)
        return False, said, _("Take your evidence from another probe.")
    found, value = getattr(seen, field), plain(value)
    if probe == "look_at_batch" and field in CHANGES_EACH_TIME and found is not None:
        said = _("{field} is another one in each batch, so it cannot be compared.").format(field=field)
        return False, said, _("Name a field that stays the same.")
    told = getattr(seen, "explanation", None)
    if told and any(same_value(text, value) for text in (told.means, told.look)):
        said = _("That is what the course says about the message. The message itself stands one line above it.")
        return False, said, _("Copy the message.")
    healthy = healthy_value(case.ill.base, probe, field)
    close = field not in EXACT and near(found, value, healthy)
    if not (same_value(found, value, getattr(seen, "error_class", None)) or close):
        said = _("Your value is not what {probe}() finds in {field}.").format(probe=probe, field=field)
        look = _("Run print({call}.{field}) for this pipeline, and copy what it prints, None too.")
        return False, said, look.format(call=call.format(probe=probe), field=field)
    if (probe, field) not in case.ill.evidence:
        said = _("That is true, but it does not show this fault: a healthy pipeline can answer the same, or it names no cause.")
        return False, said, _("Look for a field whose value would change if this fault, and no other, were repaired.")
    return True, "", ""


def parts_of(script: str) -> Parts:
    """What the probes want of a script of the course."""
    from transformers import AutoTokenizer

    from helpers.sources import find_checkpoint, load_mnli

    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint())
    return Parts(steady(pipeline_from_script(script)), tokenizer, load_mnli(train_rows=2400, validation_rows=750))


@functools.cache
def healthy_value(base: str, probe: str, field: str):
    """What the probe finds in ``field`` of a healthy pipeline; None where that is nothing."""
    return getattr(answer_of(probe, parts_of(base_script(base))), field, None)


def same_value(found, value, error_class: str | None = None) -> bool:
    """Whether ``value`` says what the probe found: a part of a message will do, names may stand in any order, None may be "nowhere"."""
    if isinstance(found, str) and isinstance(value, str):
        whole, part = (re.sub("0x[0-9a-f]+", "0x", " ".join(text.split()).lower()).rstrip(" .") for text in (found, value))
        part = part.strip("'\"… ").removeprefix(f"{error_class}:".lower()).strip()
        return value == found or (len(part) >= LEAST_OF_A_MESSAGE and part in whole)
    if (
        isinstance(found, (list, tuple))
        and isinstance(value, (list, tuple, set, frozenset, KeysView))
        and all(isinstance(one, str) for one in found)
    ):
        return sorted(found) == sorted(map(str, value))
    if found is None:
        return value is None or (isinstance(value, str) and value.lower() in ("nowhere", "none"))
    if isinstance(found, tuple):
        return isinstance(value, (list, tuple)) and bool(found == tuple(value))
    return type(found) is type(value) and bool(found == value or (found != found and value != value))


def plain(value):
    """A number of numpy as one of Python: 1 for np.int64(1)."""
    return value.item() if isinstance(value, np.generic) else value


def near(found, value, healthy) -> bool:
    """Whether a number, or a dict of numbers, is near the one found, measured on the way from it to the healthy pipeline's."""
    try:
        return distance(found, value) <= NEAR * distance(found, healthy)
    except TypeError:
        return False


def distance(one, other) -> float:
    """Of two numbers, or of two dicts of numbers. TypeError for anything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        return sum(distance(one.get(key, 0), other.get(key, 0)) for key in {*one, *other})
    if isinstance(one, bool) or not all(isinstance(number, (int, float)) for number in (one, other)):
        raise TypeError
    return 0.0 if one != one and other != other else abs(one - other)
