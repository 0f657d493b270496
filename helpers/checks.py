"""Checks of the exercises. They take the learner's objects, say how many points were checked, and end with the next step."""

import functools

import numpy as np

from helpers.course import task as find_task
from helpers.exercises import unseen_fault, unseen_pipeline
from helpers.faults import fault
from helpers.guards import first_line, release
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.walk import STAGES, logits_of, loss_takes_probabilities, owner_of_loss, walk
from helpers.scripts import change_script, show_diff
from helpers.verdict import Points, Verdict

HEALTHY_ROWS = 2400  # train_rows of the healthy script; a test compares them


def never_a_traceback(check):
    @functools.wraps(check)
    def checked(*args, **kwargs) -> Verdict:
        try:
            return check(*args, **kwargs)
        except Exception as error:
            release(error)
            what = _("The check could not read what it got: {kind}: {error}").format(kind=type(error).__name__, error=first_line(error))
            return Verdict(False, (), 1, what, _("Compare what you passed with help({check}).").format(check=check.__name__))

    return checked


# ---------------------------------------------------------------- diagnosis


@never_a_traceback
def check_diagnosis(name: str, stage: str, evidence: tuple) -> Verdict:
    """Is the diagnosis of the unseen pipeline ``name`` right, and does the evidence show it?

    ``stage``: the stage that fails, as walk() names it. ``evidence``: (probe, field, value), for example
    ("walk", "error_class", "ValueError"): the check runs the probe itself and compares the field with your value.
    """
    points = Points(4)
    pipeline, ill = unseen_pipeline(name), unseen_fault(name)
    if pipeline is None:
        points.hold(
            _("the pipeline has a name"), False, _("There is no unseen pipeline {name!r}.").format(name=name), _("Names are: a, b, c.")
        )
        return points.verdict()
    if not points.hold(
        _("the stage has a name"),
        stage in STAGES,
        _("{stage!r} is not a stage.").format(stage=stage),
        _("Stages are: {stages}.").format(stages=", ".join(STAGES)),
    ):
        return points.verdict()
    shape_ok = isinstance(evidence, (tuple, list)) and len(evidence) == 3 and all(isinstance(part, str) for part in evidence[:2])
    probes = {"walk": walk, "look_at_batch": lambda p: look_at_batch(p.batch(p.tokenize(p.load()))[0])}
    if not points.hold(
        _("the evidence is (probe, field, value)"),
        shape_ok and evidence[0] in probes,
        _("The evidence is {kind}, and must be (probe, field, value) with the probe walk or look_at_batch.").format(
            kind=describe(evidence)
        ),
        _('For example: ("walk", "error_class", "ValueError").'),
    ):
        return points.verdict()
    probe, field_name, value = evidence
    seen = probes[probe](pipeline)
    if not hasattr(seen, field_name):
        points.hold(
            _("the evidence was measured again"),
            False,
            _("{probe}() has no field {field!r} for this pipeline.").format(probe=probe, field=field_name),
            _("Call {probe}() on the pipeline and read the names of its fields with help().").format(probe=probe),
        )
        return points.verdict()
    found = getattr(seen, field_name)
    agrees = found == value or (isinstance(found, str) and isinstance(value, str) and len(value) >= 12 and value in found)
    shows = (probe, field_name) in ill.evidence
    message, step = "", ""
    if not agrees:
        message = _("The check measured {found!r} there, and you say {value!r}.").format(found=found, value=value)
        step = _("Call the probe again and copy its value.")
    elif not shows:
        message = _("That is true, but it does not show this fault: a healthy pipeline can answer the same, or it names no cause.")
        step = _("Look for a field whose value would change if the fault were repaired.")
    if not points.hold(_("the evidence was measured again, and shows the fault"), agrees and shows, message, step):
        return points.verdict()
    right = stage == ill.stage
    if right:
        points.points.insert(0, (_("the stage is right"), True))
        points.total = 4
    else:
        points.hold(
            _("the stage is right"),
            False,
            _("The evidence is sound, but {stage} is not the stage that fails first.").format(stage=stage),
            _("walk() marks the first stage that fails."),
        )
    return points.verdict(_("Write down in one sentence what is wrong, then compare it with the explanation."), ill.explanation)


# ---------------------------------------------------------------- repair


@never_a_traceback
def check_repair(task_name: str, pipeline) -> Verdict:
    """Is the pipeline repaired? ``task_name``: the task of the exercise, for example "01/own_loss". ``pipeline``: your Pipeline.

    The check walks through it with one batch of training (a few seconds). It then compares the batch with the data and the
    loss with its formula, so that a repair that only hides the symptom is found. It cannot see how well a long training goes.
    """
    task = find_task(task_name)
    ill = fault(task.start)
    return check_pipeline(pipeline, task.owner, ill, show_diff(ill.script, change_script(ill.script, task.repairs[0].changes)))


def check_pipeline(pipeline, owner: str | None, ill, diff: str | None = None) -> Verdict:
    """The points of check_repair. ``owner``: "model" or "keras" must compute the loss; None: either may. ``diff``: shown at the end."""
    points = Points(8)
    seen = walk(pipeline)
    failing = getattr(seen, "failing_stage", None)
    why = (
        seen.steps[[s.ok for s in seen.steps].index(False)].came_out
        if failing
        else (getattr(seen, "why", ""), getattr(seen, "next_step", ""))
    )
    if not points.hold(
        _("all stages run, with one batch of training"),
        bool(getattr(seen, "made", {}).get("scores")),
        _("The walk stops at {stage}: {why}").format(stage=failing, why=why[0]) if failing else why[0],
        why[1] if len(why) > 1 else "",
    ):
        return points.verdict()
    made, batch = seen.made, look_at_batch(seen.made["batch"])
    x = made["batch"][0] if isinstance(made["batch"], tuple) else made["batch"]
    if not points.hold(
        _("a batch holds several rows, padded to one length"), batch.rows > 1,
        _("A batch holds one row. Rows of different length are still not padded; a batch of one only hides it, and trains badly."),
        _("Pad the rows, and go back to batches of 8."),
    ):  # fmt: skip
        return points.verdict()
    rows = row_count(made["train"], batch.rows)
    if not points.hold(
        _("every training row is used"),
        rows >= HEALTHY_ROWS,
        _("About {rows} of {all} training rows are left.").format(rows=rows, all=HEALTHY_ROWS),
        _("Repair the cause, and keep the rows."),
    ):
        return points.verdict()
    from transformers import AutoTokenizer

    from helpers.sources import find_checkpoint

    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint())
    ids = np.asarray(x["input_ids"]) if "input_ids" in batch.keys else None
    mask = np.asarray(x["attention_mask"]) if "attention_mask" in batch.keys else None
    masked = (
        ids is not None and mask is not None and mask.shape == ids.shape and bool(((ids != tokenizer.pad_token_id) == (mask == 1)).all())
    )
    if not points.hold(
        _("the mask covers the text and leaves out the padding"), masked,
        _("The batch has no attention_mask that fits its padding, so the model reads the padding as text. The symptom is gone, and a new fault is there."),
        _("Keep attention_mask among the columns."),
    ):  # fmt: skip
        return points.verdict()
    known = labels_by_text(made["raw"], tokenizer)
    texts = [tuple(row[row != tokenizer.pad_token_id].tolist()) for row in ids]
    cut = sum(text not in known for text in texts)
    if not points.hold(
        _("the texts are whole"),
        not cut,
        _("{cut} of {rows} texts of the batch are not those of the data: they are cut, or tokenized differently.").format(
            cut=cut, rows=len(texts)
        ),
        _("Truncate only what is longer than the model's limit; use premise and hypothesis, in this order."),
    ):
        return points.verdict()
    wanted = [known[text] for text in texts]
    if not points.hold(
        _("the labels of the batch are the labels of the data"), batch.labels == wanted,
        _("The labels of the batch are {labels}; the labels of the data for these rows are {wanted}.").format(labels=shorten(batch.labels), wanted=shorten(wanted)),
        _("Take the labels from the data's column `label`."),
    ):  # fmt: skip
        return points.verdict()
    if loss_takes_probabilities(made["model"]):  # such a loss may also move nothing; that is not the cause
        points.hold(*loss_point(made, owner))
        return points.verdict()
    share = made["moved"] / made["weights"]
    if not points.hold(
        _("one step of training moves the weights"),
        share > 0.9,
        _("Only {moved} of {count} weight tensors moved in one step: the loss gives them no direction.").format(
            moved=made["moved"], count=made["weights"]
        ),
        _("Use a loss that can be differentiated, and a learning rate above 0."),
    ):
        return points.verdict()
    points.hold(*loss_point(made, owner))
    return points.verdict(
        _("Compare your repair with the smallest one, below."),
        _("{explanation}\n\nThe smallest change that heals it:\n{diff}").format(
            explanation=ill.explanation, diff=ill.diff if diff is None else diff
        ),
    )


def loss_point(made: dict, owner: str | None):
    """(text, holds, message, next step): the loss has the right owner, and is the cross-entropy of the logits."""
    text = _("the loss is the cross-entropy of the logits, computed where the task asks")
    owner_now = owner_of_loss(made["model"])
    if owner and owner_now != owner:
        wanted = {"model": _("the model's own loss"), "keras": _("a Keras loss")}
        step = {
            "model": _("Leave loss= out of compile(), and let the labels stand in the batch under `labels`."),
            "keras": _("Name the loss in compile(), and hand the labels over as y: label_cols=."),
        }
        return (
            text,
            False,
            _("The loss is computed by {now}; the task asks for {wanted}.").format(now=wanted[owner_now], wanted=wanted[owner]),
            step[owner],
        )
    one = next(iter(made["validation"]))
    view = look_at_batch(one)
    logits, labels = logits_of(made["model"], one).astype(np.float64), np.asarray(view.labels)
    expected = cross_entropy(logits, labels)
    got = float(made["scores"].get("loss", np.nan))
    message = _("evaluate() says the loss of a batch is {got:.3f}; the cross-entropy of its logits is {expected:.3f}.").format(
        got=got, expected=expected
    )
    if loss_takes_probabilities(made["model"]):
        message += " " + _("The symptom is gone, and the fault is still there: the loss takes logits for probabilities.")
        return text, False, message, _("Give the loss from_logits=True.")
    return text, abs(got - expected) < 1e-2, message, _("Use the sparse categorical cross-entropy, from logits.")


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    shifted = logits - logits.max(-1, keepdims=True)
    log_probability = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return float(-log_probability[np.arange(len(labels)), labels].mean())


def labels_by_text(raw, tokenizer) -> dict[tuple, int]:
    """token ids of a row -> its label, for every row of the training data."""
    rows = raw["train"].to_dict()
    encoded = tokenizer(rows["premise"], rows["hypothesis"], truncation=True)["input_ids"]
    return {tuple(ids): label for ids, label in zip(encoded, rows["label"], strict=True)}


def row_count(dataset, batch_rows: int) -> int:
    batches = int(dataset.cardinality())
    return batches * batch_rows if batches > 0 else 0


def shorten(values, most: int = 8) -> str:
    values = list(values) if values is not None else []
    return str(values[:most])[:-1] + (", …]" if len(values) > most else "]")
