"""Is a pipeline repaired? Its batches are compared with the data, its model with the checkpoint, its loss with the formula.

Nothing that the pipeline says of itself is taken as the measure: the data and the checkpoint are loaded here once more.
"""

import contextlib
import functools
import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from helpers.batches import class_ids, inputs_of
from helpers.guards import CannotExamine, first_batches, first_line, release, shorten
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.compare_splits import entropy
from helpers.probes.look_at_batch import look_at_batch
from helpers.probes.loss_at_start import loss_at_start
from helpers.probes.rate_over_time import USUAL, rate_at, rate_over_time
from helpers.probes.walk import logits_of, loss_takes_probabilities, owner_of_loss, quiet, walk
from helpers.sources import LABELS, find_checkpoint, load_mnli
from helpers.verdict import Points, Verdict
from helpers.watched import ROWS, SECONDS_FOR_ALL_BATCHES, SPREAD, STEPS, Watched, cross_entropy_of, is_accuracy, watch

SHORTEST = 64  # tokens: a script may cut its rows here, as the exercise's own does, but not shorter
LEAST_FALL = 100  # nats for a learning rate of 1, times the rates of the steps added up. Adam has 435 to 1480, Adagrad at 3e-4 20 to 35
MIXED = 0.8  # of the label entropy of shuffled batches; shuffled ones have 0.97 to 1.03, a buffer of 16 rows in sorted data 0.2
MOST_DROPOUT, MOST_DECAY = 0.5, 1.0  # the checkpoint's dropout is 0.1; 0.01 to 0.1 is usual for weight decay
LEAST_MEAN_RATE = 0.1  # of the highest: a rate that falls evenly to 0 has 0.5, one that falls as a cosine 0.5
FAR_FROM_CHANCE = 1.0  # nats, of the loss before training: fresh heads are at 1.0 to 1.3
FAR_IN_TRAINING = 0.5  # nats, between the loss of the first step, with dropout, and that without
EPOCHS_IN_ONE = 4  # so many passes over the data may be called one epoch


class Point(NamedTuple):
    """One thing that the check looks at. message and next_step are shown where it does not hold."""

    text: str
    holds: bool
    message: str = ""
    next_step: str = ""


def check_pipeline(pipeline, owner: str | None, ill, diff: str | None = None, eagerly: bool = False) -> Verdict:
    """The points of check_repair. ``owner``: "model" or "keras" must compute the loss; None: either may. ``diff``: shown at the end.

    ``eagerly``: the steps of training without a graph, which is faster, and blind for what fails only in a graph.
    """
    points = Points(total=14)
    for point in points_of(pipeline, owner, eagerly):
        if not points.hold(*point):
            break
    return points.verdict(
        _("Compare your repair with a small one, below. Yours may differ and be as good."),
        _("{explanation}\n\nA small change that repairs it:\n{diff}").format(
            explanation=ill.explanation, diff=ill.diff if diff is None else diff
        ),
    )


def points_of(pipeline, owner: str | None, eagerly: bool):
    """One point after the other. What a point needs is measured only when the points before it held."""
    seen = walk(pipeline)
    yield runs_through(seen)
    made = seen.made
    yield several_rows(look_at_batch(made["batch"]))
    yield from data_points(made["train"], "train", made["batch"])
    yield validation_point(made)
    with quiet():
        model = pipeline.build_model()
    yield model_point(model, made["model"], made["batch"])
    loss = loss_point(made, owner)
    if not loss.holds and (owner not in (None, owner_of_loss(made["model"])) or takes_probabilities(made)):
        yield loss  # known already; such a loss may also move nothing, and that is not the cause
    with quiet():
        fit = watch(pipeline, model, made, eagerly)
    yield fit_point(fit)
    yield moving_point(fit, model)
    yield loss
    yield falling_point(fit, model)
    yield metric_point(made)


def runs_through(seen) -> Point:
    text = _("all stages run, with one batch of training")
    failing = getattr(seen, "failing_stage", None)
    if failing:
        why, *step = next(step.came_out for step in seen.steps if step.ok is False)
        look = _("Look at it with walk() and look_at_batch(). {step}").format(step=step[0] if step else "")
        return Point(text, False, _("The walk stops at {stage}: {why}").format(stage=failing, why=why), look.strip())
    return Point(text, bool(seen), getattr(seen, "why", ""), getattr(seen, "next_step", ""))


def several_rows(view) -> Point:
    return Point(
        _("a batch holds several rows, padded to one length"),
        (view.rows or 0) > 1,
        _("A batch holds one row. That hides rows of different length where they are not padded, and it trains badly."),
        _("Pad the rows, and go back to batches of 8."),
    )


# ---------------------------------------------------------------- the rows


@dataclass
class Audit:
    """What a whole pass over a dataset found, in rows. wrong: (label in the batch, label in the data)."""

    rows: int
    missing: int
    spare: int  # so many may be missing: drop_remainder leaves out less than a batch
    strange: int
    unmasked: int
    wrong: list[tuple]
    padded_first: int = 0
    uneven: bool = False  # rows have different weights
    repeated: int = 0  # texts that come more often than others, by more than one time
    of_batches: list[list] = field(default_factory=list)

    @property
    def mixed(self) -> float:
        """The mean entropy of the labels in a batch, as a share of what it would be if the same labels came in any order."""
        rows = [label for labels in self.of_batches for label in labels]
        random.Random(0).shuffle(rows)
        sizes = itertools.accumulate((len(labels) for labels in self.of_batches), initial=0)
        by_chance = [rows[start:end] for start, end in itertools.pairwise(sizes)]
        here, there = (np.mean([entropy(Counter(labels)) for labels in batches]) for batches in (self.of_batches, by_chance))
        return float(here / there) if there else 1.0


def audit_rows(dataset, split: str, one) -> Audit:
    """Read ``dataset`` once, and compare it with the data's ``split``. ``one``: a batch of it, which tells how many there will be."""
    known, texts, pad = labels_by_text(split, find_checkpoint(), SHORTEST)
    audit, seen, batch_rows, weights = Audit(0, 0, 0, 0, 0, []), Counter(), look_at_batch(one).rows, set()
    endless = int(dataset.cardinality()) == -1  # with repeat(); three times all rows are enough, and until all were seen is enough too
    with quiet():
        batches = first_batches(dataset, 3 * ROWS[split] // batch_rows + 1, SECONDS_FOR_ALL_BATCHES)
    for batch in batches:
        if endless and len(seen) == texts:
            break
        x = inputs_of(batch)
        ids, mask = np.asarray(x["input_ids"]), np.asarray(x["attention_mask"]) if "attention_mask" in x else None
        labels = class_ids(look_at_batch(batch).labels, len(ids))
        audit.of_batches.append(labels)
        audit.rows += len(ids)
        weights.update(np.unique(batch[2]).tolist() if isinstance(batch, tuple) and len(batch) > 2 else ())
        text = ids != pad
        audit.padded_first += int((~text[:, 0]).sum())
        audit.unmasked += len(ids) if mask is None or mask.shape != ids.shape else int((text != (mask == 1)).any(1).sum())
        for row, is_text, label in zip(ids, text, labels, strict=True):
            key = tuple(row[is_text].tolist())
            if key not in known:
                audit.strange += 1
                continue
            number, wanted, _times = known[key]
            seen[number] += 1
            if label not in wanted:
                audit.wrong.append((label, min(wanted)))
    audit.missing, audit.spare, audit.uneven = texts - len(seen), min(batch_rows, 64) - 1, len(weights) > 1
    if int(dataset.cardinality()) >= 0 and seen:
        passes = {number: seen[number] / times for number, _labels, times in known.values() if number in seen}
        audit.repeated = sum(count > min(passes.values()) + 1 for count in passes.values())
    return audit


@functools.cache
def labels_by_text(split: str, checkpoint: str, shortest: int) -> tuple[dict[tuple, tuple], int, int]:
    """token ids of a text -> (its number, its labels, how many rows have it), for the rows of the healthy script; how many texts there are; the padding's id."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    part = load_mnli(train_rows=ROWS["train"], validation_rows=ROWS["validation_matched"])[split].to_dict()
    whole, cut = (
        tokenizer(part["premise"], part["hypothesis"], truncation=True, **options)["input_ids"]
        for options in ({}, {"max_length": shortest})
    )
    labels: dict[tuple, set] = {}
    for ids, label in zip(whole, part["label"], strict=True):
        labels.setdefault(tuple(ids), set()).add(label)
    numbers, times = {ids: number for number, ids in enumerate(labels)}, Counter(map(tuple, whole))
    known = {tuple(ids): (numbers[tuple(ids)], labels[tuple(ids)], times[tuple(ids)]) for ids in whole}
    for ids, short in zip(whole, cut, strict=True):
        known.setdefault(tuple(short), known[tuple(ids)])
    return known, len(numbers), tokenizer.pad_token_id


def takes_probabilities(made: dict) -> bool:
    labels = look_at_batch(made["validation_batch"]).labels
    return loss_takes_probabilities(made["model"], one_hot=np.ndim(labels) == 2 and np.shape(labels)[1] == len(LABELS))


def data_points(dataset, split: str, one):
    """Four points of one dataset, and a fifth of the training rows."""
    texts = {
        "mask": _("the mask covers the text and leaves out the padding"),
        "whole": _("the texts are whole"),
        "labels": _("the labels of all batches are the labels of the data"),
        "rows": _("every training row is used"),
        "mixed": _("the classes come mixed"),
    }
    try:
        audit = audit_rows(dataset, split, one)
    except CannotExamine as stop:
        yield Point(texts["rows"], False, stop.answer.why, stop.answer.next_step)
        return
    except Exception as error:
        release(error)
        said = _("A later batch raised {kind}: {error}").format(kind=type(error).__name__, error=first_line(error))
        yield Point(texts["rows"], False, said, _("Read all batches yourself: for batch in train: pass"))
        return
    yield Point(
        texts["mask"],
        not audit.unmasked,
        _("In {count} of {rows} rows no attention_mask fits the padding, so the model reads the padding as text.").format(count=audit.unmasked, rows=audit.rows),
        _("Keep attention_mask among the columns."),
    )  # fmt: skip
    if audit.padded_first:
        said = _(
            "In {count} of {rows} rows the padding stands before the text. The head reads the first place, where the checkpoint has [CLS]."
        )
        said = said.format(count=audit.padded_first, rows=audit.rows)
        yield Point(texts["mask"], False, said, _("Leave padding_side= out: pad on the right."))
    yield Point(
        texts["whole"],
        not audit.strange,
        _("{count} of {rows} texts are not those of the data: they are cut, changed, tokenized differently, or not of {split}. Expected are its first {wanted} rows.").format(count=audit.strange, rows=audit.rows, split=split, wanted=ROWS[split]),
        _("Use premise and hypothesis, in this order, and truncate only what is longer than the model's limit."),
    )  # fmt: skip
    yield Point(
        texts["labels"],
        not audit.wrong,
        _("{count} of {rows} labels are not the labels of the data. {example}").format(
            count=len(audit.wrong), rows=audit.rows, example=most_common(audit.wrong)
        ),
        _("Take the labels from the data's column `label`."),
    )
    yield Point(
        texts["rows"],
        audit.missing <= audit.spare,
        _("{missing} of {rows} rows of {split} are left out.").format(missing=audit.missing, rows=ROWS[split], split=split),
        _("Repair the cause, and keep the rows."),
    )
    if audit.repeated or audit.uneven:
        said = _("{count} rows of {split} come several times, and others once.").format(count=audit.repeated, split=split)
        said = said if audit.repeated else _("The rows of {split} have different weights.").format(split=split)
        yield Point(texts["rows"], False, said, _("Let each row count the same."))
    if split == "train":
        yield Point(
            texts["mixed"],
            audit.mixed > MIXED,
            _("The rows of a class come together: the labels in a batch are mixed {share:.0%} as well as in a shuffled order.").format(
                share=audit.mixed
            ),
            _("Write: to_tf_dataset(shuffle=True, …). It shuffles all rows, not a small part of them."),
        )


def most_common(wrong: list[tuple]) -> str:
    if not wrong:
        return ""
    (label, wanted), count = Counter(wrong).most_common(1)[0]
    return _("{count} rows have {label} where the data say {wanted}.").format(count=count, label=label, wanted=wanted)


def validation_point(made: dict) -> Point:
    """The four points of the data again, as one."""
    text = _("the validation rows, their masks and their labels are those of the data")
    for point in data_points(made["validation"], "validation_matched", made["validation_batch"]):
        if not point.holds:
            return Point(text, False, _("In the validation data: {why}").format(why=point.message), point.next_step)
    return Point(text, True)


# ---------------------------------------------------------------- the model and its training


def model_point(fresh, trained, batch) -> Point:
    """The encoder of a freshly built model is the checkpoint's, weight by weight."""
    from transformers import TFAutoModelForSequenceClassification

    text = _("the model is the pretrained one, with one output for each label")
    config = getattr(trained, "config", None)
    outputs = getattr(config, "num_labels", None)
    if outputs is None:
        said = _("build_model() returned {kind}, not a Transformers model, so its encoder cannot be compared with the checkpoint.")
        step = _("Return what TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3) gives.")
        return Point(text, False, said.format(kind=describe(trained)), step)
    if outputs != len(LABELS):
        said = _("The model has {outputs} outputs, and the data have {labels} labels.").format(outputs=outputs, labels=len(LABELS))
        return Point(text, False, said, _("Build it with num_labels=3."))
    given = logits_of(trained, batch).shape[-1]
    if given != outputs:
        said = _("config.num_labels of the model is {outputs}, and its head gives {given} numbers: it was built before that was set.")
        return Point(text, False, said.format(outputs=outputs, given=given), _("Build it with num_labels=3."))
    for number, name in names_in(config):
        if not 0 <= number < len(LABELS) or name.casefold() not in (LABELS[number].casefold(), f"label_{number}"):
            said = _("The model calls class {number} {model}, and the data call it {data}.")
            said = said.format(number=number, model=name, data=LABELS[number] if 0 <= number < len(LABELS) else None)
            return Point(text, False, said, _("Give the names in the order of the data, or leave id2label= and label2id= out."))
    if fresh is trained:
        said = _("build_model() gave the same model twice, so it keeps what an earlier training made of it.")
        return Point(text, False, said, _("Build the model inside build_model()."))
    if {id(layer) for layer in fresh.layers} & {id(layer) for layer in trained.layers}:
        said = _("build_model() gave two models that share a layer, so it keeps what an earlier training made of it.")
        return Point(text, False, said, _("Build the model inside build_model(), with its head."))
    with quiet():
        wanted = TFAutoModelForSequenceClassification.from_pretrained(find_checkpoint(), num_labels=len(LABELS))
    encoders = [getattr(model, wanted.base_model_prefix, None) for model in (fresh, wanted)]
    weights = [[weight.numpy() for weight in encoder.weights] if encoder is not None else [] for encoder in encoders]
    same = len(weights[0]) == len(weights[1]) and all(np.array_equal(a, b) for a, b in zip(*weights, strict=True))
    step = _("Build the model with TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3).")
    if not same:
        return Point(text, False, _("The encoder's weights are not those of the checkpoint, so the pretraining is lost."), step)
    for name, value in wanted.config.to_dict().items():
        given = getattr(config, name, value)
        if given != value and (name in ("n_heads", "activation", "sinusoidal_pos_embds") or ("dropout" in name and given > MOST_DROPOUT)):
            said = _("The model is built with {name}={given}; the checkpoint has {value}.").format(name=name, given=given, value=value)
            return Point(text, False, said, step)
    start, chance = cross_entropy_of(fresh, batch), math.log(len(LABELS))
    said = _("Before training the cross-entropy of a batch is {start:.2f}. A new head guesses: {chance:.2f}.")
    return Point(text, abs(start - chance) < FAR_FROM_CHANCE, said.format(start=start, chance=chance), step)


def names_in(config) -> list[tuple[int, str]]:
    """(number, name) of the classes, of both tables of a config."""
    tables = (getattr(config, "id2label", None) or {}).items(), ((n, name) for name, n in (getattr(config, "label2id", None) or {}).items())
    return [(int(number), str(name)) for table in tables for number, name in table]


def fit_point(fit: Watched) -> Point:
    text = _("fit() and evaluate() take all batches that they are given, and each row counts the same")
    step = _("Write: return model.fit(train, validation_data=validation, epochs=1).")
    if fit.error:
        return Point(
            text,
            False,
            _("{stage}() raised {kind}: {error}").format(stage=fit.raised_in, kind=fit.error.error_class, error=shorten(fit.error.message)),
            fit.error.look,
        )
    if fit.others == "model":
        said = _("fit() trains another model than the one that it is given. The given one stays untrained, and evaluate() scores that one.")
        step = _("Train the model that fit() is given. Where it is to be a fresh one, load it in build_model(), with num_labels=3.")
        return Point(text, False, said, step)
    if fit.others == "loop":
        said = _("fit() trains by a loop of its own. This check can only watch a call of model.fit().")
        return Point(text, False, said, step)
    if fit.others == "late":
        return Point(text, False, _("evaluate() trains the model on the rows that it scores."), step)
    if fit.others == "train":
        return Point(text, False, _("fit() trains on other batches than those that it is given."), step)
    if fit.others == "validation":
        return Point(text, False, _("fit() validates on other batches than those that it is given."), step)
    if fit.others == "evaluate":
        whole = _("Write: return model.evaluate(validation, return_dict=True).")
        return Point(text, False, _("evaluate() looks at other batches than those that it is given."), whole)
    if fit.again:
        said = _("In {stage}() some batches of the {data} data come again and again, and others are left out.")
        data = _("training") if fit.again == "train" else _("validation")
        return Point(text, False, said.format(stage="evaluate" if fit.again == "evaluate" else "fit", data=data), step)
    if fit.no_end:
        return Point(
            text,
            False,
            _("The validation data never end, so neither does the evaluation."),
            _("Leave repeat() out, or give validation_steps=."),
        )
    if fit.part:
        stage, taken, batches = fit.part
        said = _("{stage}() takes {taken} of {batches} batches of the validation data.")
        return Point(text, False, said.format(stage=stage, taken=taken, batches=batches), _("Evaluate on all of them."))
    if fit.endless and (fit.steps or 0) > EPOCHS_IN_ONE * fit.batches:
        said = _("fit() calls {steps} steps one epoch. The data have {batches} batches, and then come again.")
        said = said.format(steps=fit.steps, batches=fit.batches)
        return Point(text, False, said, _("Count the steps of an epoch in batches, not in rows."))
    if fit.steps and not fit.endless and fit.steps > fit.batches:
        said = _("fit() is to take {steps} batches in an epoch, and the data end after {batches}.").format(
            steps=fit.steps, batches=fit.batches
        )
        return Point(text, False, said, _("Leave steps_per_epoch= out: fit() counts the batches itself."))
    if fit.waits_for:
        name, names = fit.waits_for
        said = _("A callback waits for {name}, and Keras reports {names}.").format(name=name, names=", ".join(names))
        return Point(text, False, said, _("Give it a name that is reported, monitor=, or leave the callback out."))
    if fit.turned:
        name, mode = fit.turned
        said = _("A callback takes the worst {name} for the best one.").format(name=name)
        return Point(text, False, said, _('Write mode="{mode}", or leave mode= out.').format(mode=mode))
    if fit.scores:
        return Point(text, False, fit.scores, _("Write: return model.evaluate(validation, return_dict=True)."))
    if fit.steps and fit.steps < fit.batches:
        said = _("fit() takes {steps} of {batches} batches in an epoch.").format(steps=fit.steps, batches=fit.batches)
        return Point(text, False, said, step)
    if fit.trained < min(STEPS, fit.batches):
        return Point(
            text,
            False,
            _("fit() trained on {count} batches, and was given {batches}.").format(count=fit.trained, batches=fit.batches),
            step,
        )
    return Point(text, not fit.uneven, _("The rows of a batch have different weights."), _("Leave class_weight and sample weights out."))


def moving_point(fit: Watched, model) -> Point:
    """All weights move, and none that is marked as frozen."""
    text = _("training moves all weights")
    if fit.held:
        said = _("{count} weight tensors are marked as frozen, and moved: they were free when compile() was called.")
        return Point(text, False, said.format(count=fit.held), _("Take trainable = False away, or set it before compile()."))
    said = _(
        "{moved} of {count} weight tensors moved in {steps} steps, at a learning rate of {rate:g} at most. The others get no direction from the loss, are frozen, or move too little to be seen."
    )
    step = _("Use a loss that can be differentiated, a learning rate above 0, and a model that is not frozen.")
    rate = max((rate_at(model.optimizer, number) for number in range(fit.trained)), default=0.0)
    return Point(text, fit.moved >= fit.weights, said.format(moved=fit.moved, count=fit.weights, steps=fit.trained, rate=rate), step)


def falling_point(fit: Watched, model) -> Point:
    """The learning rate fits, and the loss of the batch falls as it should at such rates."""
    text = _("the learning rate fits, and the loss falls")
    if fit.loss is not None and abs(fit.loss - fit.before) > FAR_IN_TRAINING:
        said = _("The first step of training reports the loss {loss:.2f}. The cross-entropy of its batch is {wanted:.2f}.")
        said = said.format(loss=fit.loss, wanted=fit.before)
        return Point(text, False, said, _("Train with the loss of compile(), and leave train_step() as it is."))
    steps = fit.batches * fit.epochs
    rate = rate_over_time(model, steps)
    if not rate:
        return Point(text, False, rate.why, rate.next_step)
    keep = _("Keep the script's rate, 5e-5.")
    rises = rate.first == rate.last and fit.rates[-1] > fit.rates[0]  # a callback sets it step by step, and is not at the end yet
    highest = max(rate.highest, *fit.later, *fit.rates)
    if highest > 1.01 * USUAL[1] or ("too_low" in rate.findings and not rises and not fit.later):
        said = _("The learning rate is {rate:g}. For fine-tuning, {low:g} to {high:g} is usual.")
        return Point(text, False, said.format(rate=highest, low=USUAL[0], high=USUAL[1]), keep)
    of_all = [rate_at(model.optimizer, step) for step in range(0, steps, max(1, steps // 100))]
    if min(of_all) < 0 or np.mean(of_all) < LEAST_MEAN_RATE * max(of_all):
        said = _("Over the training the rate is {mean:.1e} in the mean and {least:.1e} at least; its highest is {highest:.1e}.")
        said = said.format(mean=np.mean(of_all), least=min(of_all), highest=max(of_all))
        if "ends_too_soon" not in rate.findings:
            return Point(text, False, said, keep)
    decay = getattr(model.optimizer, "weight_decay", None) or getattr(model.optimizer, "weight_decay_rate", None) or 0
    if isinstance(decay, (int, float)) and decay > MOST_DECAY:
        said = _("The weight decay is {decay:g}: each step takes so much of the weights that little of the pretraining is left.")
        return Point(text, False, said.format(decay=decay), _("Take 0.01 to 0.1, or Adam, which has none."))
    if "ends_too_soon" in rate.findings:
        said = _("The schedule lets the learning rate fall to {middle:g} before half of the training is over.")
        return Point(text, False, said.format(middle=rate.middle), _("Count the steps of the schedule in batches: len(train) * epochs."))
    if "rises_to_the_end" in rate.findings:
        step = _("Let it fall to 0 by the last step. A PolynomialDecay needs end_learning_rate=0.0 for that: the default is 1e-4.")
        return Point(text, False, rate.findings["rises_to_the_end"], step)
    wanted = LEAST_FALL * sum(fit.rates)
    said = _("After {steps} steps on one batch its loss went from {before:.4f} to {after:.4f}. It should fall by {wanted:.4f} or more.")
    return Point(
        text,
        fit.before - fit.after >= wanted,
        said.format(steps=fit.trained, before=fit.before, after=fit.after, wanted=wanted),
        _("Look at the sign of the loss and of the learning rate, and at the optimizer: the script's is Adam."),
    )


def loss_point(made: dict, owner: str | None) -> Point:
    """The loss has the right owner, and is the cross-entropy of the logits."""
    text = _("the loss is the cross-entropy of the logits, computed where the task asks")
    model, batch = made["model"], made["validation_batch"]
    now = owner_of_loss(model)
    if owner and now != owner:
        wanted = {"model": _("the model's own loss"), "keras": _("a Keras loss")}
        step = {
            "model": _("Leave loss= out of compile(), and hand the labels over under the key `labels` or as y."),
            "keras": _("Name the loss in compile(), and hand the labels over as y: label_cols=."),
        }
        said = _("The loss is computed by {now}; the task asks for {wanted}.").format(now=wanted[now], wanted=wanted[owner])
        return Point(text, False, said, step[owner])
    with wide_logits(model, batch):
        spread = float(np.ptp(logits_of(model, batch), axis=1).mean())
    if abs(spread - SPREAD) > 0.1 * SPREAD:
        said = _(
            "With a head whose weights should make the outputs of a row {wanted} apart, they are {spread:.2f} apart: they are not logits."
        )
        said = said.format(wanted=SPREAD, spread=spread)
        return Point(text, False, said, _("Leave the head as it is loaded: no activation after it."))
    expected, got = cross_entropy_of(model, batch), made["scores"]["loss"]
    said = _("evaluate() says the loss of a batch is {got:.3f}; the cross-entropy of its logits is {expected:.3f}.")
    said = said.format(got=got, expected=expected)
    if takes_probabilities(made):
        said += " " + _("Nothing raises, and the training goes wrong: the loss takes logits for probabilities.")
        return Point(text, False, said, _("Give the loss from_logits=True."))
    rows = look_at_batch(batch).rows
    if abs(got - expected) >= 1e-2 and abs(got - rows * expected) < 1e-2 * got:
        said += " " + _("That is the sum over the rows of the batch.")
        return Point(text, False, said, _("Take their mean: leave reduction= out."))
    step = _("Use the sparse categorical cross-entropy, from logits.")
    if abs(got - expected) >= 1e-2:
        return Point(text, False, said, step)
    with wide_logits(model, batch):  # row by row: in the mean of a batch, what is too high in one row may be too low in another
        of_rows = [loss_at_start(model, filled_with_row(batch, row)) for row in range(min(3, rows))]
    for seen in of_rows:
        if not seen:
            return Point(text, False, seen.why, seen.next_step)
    worst = max(of_rows, key=lambda seen: abs(seen.loss - seen.cross_entropy))
    said = _("With logits that are {spread} apart, the loss of a row is {got:.3f}; the cross-entropy of those logits is {expected:.3f}.")
    said = said.format(spread=SPREAD, got=worst.loss, expected=worst.cross_entropy)
    return Point(text, abs(worst.loss - worst.cross_entropy) < 1e-2, said, step)


def filled_with_row(batch, row: int):
    """A batch of the same shapes that holds this one row, again and again."""
    import tensorflow as tf

    return tf.nest.map_structure(lambda part: tf.repeat(part[row : row + 1], len(part), axis=0), batch)


@contextlib.contextmanager
def wide_logits(model, batch):
    """Inside, the head's weights are so large that the logits of a row lie SPREAD apart, as after training. Near 0, all losses are much alike."""
    head = model.trainable_weights[-2:]  # its kernel and its bias
    before, logits = [weight.numpy() for weight in head], logits_of(model, batch)
    try:
        for weight, value in zip(head, before, strict=True):
            weight.assign(value * SPREAD / max(1e-3, np.ptp(logits, axis=1).mean()))
        yield
    finally:
        for weight, value in zip(head, before, strict=True):
            weight.assign(value)


def metric_point(made: dict) -> Point:
    """Each metric that is called an accuracy is one: asked about made-up logits and labels, in the form that the batches have."""
    import tensorflow as tf

    text = _("the accuracy is the share of right answers")
    model, labels = made["model"], np.asarray(look_at_batch(made["validation_batch"]).labels)
    random = np.random.default_rng(0)
    ids, logits = random.integers(len(LABELS), size=300), random.normal(size=(300, len(LABELS))).astype(np.float32)
    wanted = float((logits.argmax(1) == ids).mean())
    one_hot = labels.ndim == 2 and labels.shape[1] > 1
    form = np.eye(len(LABELS), dtype=np.float32)[ids] if one_hot else ids.reshape(-1, 1)  # as Keras hands labels to a metric
    with quiet():
        model.reset_metrics()
        metrics = [metric for metric in model.compiled_metrics.metrics if is_accuracy(metric.name) or is_accuracy(type(metric).__name__)]
        for metric in metrics:
            metric.update_state(tf.constant(form), tf.constant(logits))
        got = {metric.name: float(metric.result()) for metric in metrics}
        model.reset_metrics()
    for name, value in got.items():
        if abs(value - wanted) > 1e-3:
            said = _("Of {count} made-up answers {wanted:.2f} are right, and the metric {name} says {value:.2f}.")
            return Point(
                text,
                False,
                said.format(count=len(ids), wanted=wanted, name=name, value=value),
                _('Write metrics=["accuracy"], and logits in place of probabilities.'),
            )
    return Point(text, True)
