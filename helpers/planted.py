"""mini-MNLI with planted errors: labels that are wrong, and validation rows that were copied into training.

Real data have both. Here it is known which rows they are, so it can be said how many of them an audit finds.
"""

import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from helpers.guards import shorten
from helpers.messages import _
from helpers.pipeline import describe
from helpers.sources import LABELS, SPLITS, load_mnli
from helpers.verdict import Points, Verdict, never_a_traceback

ROWS = {"train": 1200, "validation_matched": 300, "validation_mismatched": 300}
MISLABELLED = 48  # of the training rows: 4 %
LEAKED = 36  # of the training rows: 3 %
AUDITS = {"08/audit": 2}  # name of the exercise's task -> the seed of its rows

# What is asked of an audit, and why. Measured: a model was trained on the rows for one epoch, and the 60 rows of the highest loss (5 %) were looked
# at. On eleven runs, three seeds of rows, 27 to 38 of the 48 were among them: a recall of 0.56 to 0.79. Read without knowing the labels, 2 of 60 rows
# were misjudged; of 60 ranked ones, with their labels, 1.
MISLABELLED_PRECISION, MISLABELLED_RECALL = 0.85, 0.5
# Texts compared in lower case, without blanks and the final dot: all copies, and nothing else. One slip is allowed.
LEAKED_PRECISION, LEAKED_RECALL = 0.95, 0.95


def lower_case(text: str) -> str:
    return text.lower()


def wide_blanks(text: str) -> str:
    return text.replace(" ", "  ")


def no_final_dot(text: str) -> str:
    return text.removesuffix(".")


# The same text collected twice is seldom the same string: one copy went through a spreadsheet, another through a web page. Each of
# these is a text that no reader would call another one, and that == does.
WRITINGS: list[Callable[[str], str]] = [str, lower_case, wide_blanks, no_final_dot]


@dataclass(frozen=True)
class Planted:
    """The rows of training that are planted, by their numbers. rows: of all splits · mislabelled: number -> its right label ·
    leaked: number -> the row of validation_matched that it is a copy of.
    """

    rows: dict[str, list[dict]]
    mislabelled: dict[int, int]
    leaked: dict[int, int]


def load_planted(seed: int):
    """A DatasetDict like that of load_mnli(), with errors planted in ``train``. The same seed gives the same rows.

    1200 rows of training, 300 of each validation split. 48 rows of training have another label than theirs. 36 are rows of validation_matched,
    a quarter of them letter by letter, the others with other capitals, blanks, or without the final dot. 36 more are written in such a way and are
    no copies. idx is the number of the row.
    """
    from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

    features = Features(
        {
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=list(LABELS)),
            "idx": Value("int32"),
        }
    )
    rows = plant(seed).rows
    return DatasetDict({split: Dataset.from_list(rows[split], features=features, split=split) for split in SPLITS})


def plant(seed: int) -> Planted:
    """The rows of ``load_planted(seed)``, and which of them are planted."""
    random = Random(seed)
    clean = load_mnli(train_rows=ROWS["train"] - LEAKED, validation_rows=ROWS["validation_matched"])
    rows = {split: clean[split].to_list() for split in SPLITS}
    own = in_random_order(random, len(rows["train"]))
    wrong, odd = own[:MISLABELLED], own[MISLABELLED : MISLABELLED + LEAKED]
    copied = in_random_order(random, len(rows["validation_matched"]))[:LEAKED]

    train = [{**row, "right": row["label"], "copy_of": None} for row in rows["train"]]
    for number in wrong:
        train[number]["label"] = (train[number]["right"] + 1 + int(random.random() * 2)) % len(LABELS)
    for turn, number in enumerate(odd):  # so that an odd writing alone is no sign of a copy
        train[number] = written(train[number], WRITINGS[turn % len(WRITINGS)])
    for turn, number in enumerate(copied):
        row = rows["validation_matched"][number]
        train.append(written({**row, "right": row["label"], "copy_of": number}, WRITINGS[turn % len(WRITINGS)]))

    train = [{**train[place], "idx": number} for number, place in enumerate(in_random_order(random, len(train)))]
    return Planted(
        rows={**rows, "train": [{name: row[name] for name in rows["train"][0]} for row in train]},
        mislabelled={row["idx"]: row["right"] for row in train if row["label"] != row["right"]},
        leaked={row["idx"]: row["copy_of"] for row in train if row["copy_of"] is not None},
    )


def in_random_order(random: Random, count: int) -> list[int]:
    """The numbers below ``count``, shuffled with ``random.random()`` alone: the only call whose sequence Python promises to keep."""
    return sorted(range(count), key=lambda _number: random.random())


def written(row: dict, writing: Callable[[str], str]) -> dict:
    return {**row, "premise": writing(row["premise"]), "hypothesis": writing(row["hypothesis"])}


# ---------------------------------------------------------------- the check of an audit


@dataclass(frozen=True)
class Found:
    """How an audit stands: rows that were named, of them planted, and all planted."""

    named: int
    right: int
    planted: int

    @property
    def precision(self) -> float:
        return self.right / self.named if self.named else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.planted

    def __str__(self) -> str:
        said = _(
            "{right} of the {named} that you named are (precision {precision:.2f}); you found {right} of {planted} (recall {recall:.2f})"
        )
        return said.format(**vars(self), precision=self.precision, recall=self.recall)


@never_a_traceback
def check_audit(name: str, mislabelled, leaked) -> Verdict:
    """Does an audit of the planted rows find what is planted? ``name``: the task of the exercise, "08/audit".

    ``mislabelled``, ``leaked``: lists of row numbers of train, from 0. The check counts; it does not say which rows are right before it is passed.
    Whoever asks it row by row can find them out: it is made for those who want to learn.
    """
    if not isinstance(name, str) or name not in AUDITS:
        return Verdict(
            False,
            (),
            1,
            _("There is no audit {name}.").format(name=shorten(repr(name))),
            _("Names are: {names}.").format(names=", ".join(AUDITS)),
        )
    points = Points(5)
    wrong, copies = row_numbers(mislabelled), row_numbers(leaked)
    bad = mislabelled if wrong is None else leaked
    said = _("One of them is {kind}, and must be a list of whole numbers from 0 to {last}.").format(
        kind=describe(bad), last=ROWS["train"] - 1
    )
    step = _('Pass the numbers of rows, for example [3, 17, 240]: the row is raw["train"][3].')
    if not points.hold(_("both are lists of row numbers of train"), wrong is not None and copies is not None, said, step):
        return points.verdict()
    planted = plant(AUDITS[name])
    labels, leaks = found(wrong, planted.mislabelled), found(copies, planted.leaked)
    hold_labels(points, labels)
    hold_leaks(points, leaks)
    return points.verdict(_("Look at the rows that you missed."), debrief(labels, leaks, planted, wrong))


def row_numbers(given) -> set[int] | None:
    """The numbers in ``given``; None where it is no list of row numbers of train."""
    if isinstance(given, (str, bytes, dict)):
        return None
    try:
        numbers = [operator.index(one) for one in itertools.islice(given, 10 * ROWS["train"]) if not isinstance(one, bool)]
    except TypeError:
        return None
    return {*numbers} if all(0 <= number < ROWS["train"] for number in numbers) else None


def found(named: set[int], planted: dict[int, int]) -> Found:
    return Found(len(named), len(named & planted.keys()), len(planted))


def hold_labels(points: Points, labels: Found) -> None:
    points.hold(
        _("at least {share:.0%} of the rows that you call mislabelled are").format(share=MISLABELLED_PRECISION),
        labels.precision >= MISLABELLED_PRECISION,
        _("Of the {named} rows that you call mislabelled, {right} are.").format(**vars(labels)),
        _("Read them again. A high loss alone is no wrong label: the row can also be difficult. Name only those where you disagree."),
    )
    points.hold(
        _("at least {share:.0%} of the mislabelled rows are found").format(share=MISLABELLED_RECALL),
        labels.recall >= MISLABELLED_RECALL,
        _("You found {right} of the {planted} mislabelled rows.").format(**vars(labels)),
        _("Sort all rows by their loss, and read more of them, from the highest loss down."),
    )


def hold_leaks(points: Points, leaks: Found) -> None:
    points.hold(
        _("at least {share:.0%} of the rows that you call copies are").format(share=LEAKED_PRECISION),
        leaks.precision >= LEAKED_PRECISION,
        _("Of the {named} rows that you call copies of validation rows, {right} are.").format(**vars(leaks)),
        _("A copy has the premise and the hypothesis of one row of validation_matched. Compare both."),
    )
    points.hold(
        _("at least {share:.0%} of the copies are found").format(share=LEAKED_RECALL),
        leaks.recall >= LEAKED_RECALL,
        _("You found {right} of the {planted} copies.").format(**vars(leaks)),
        _("Two texts can be the same for a reader and not for ==: look at capitals, at blanks, at the final dot."),
    )


def debrief(labels: Found, leaks: Found, planted: Planted, wrong: set[int]) -> str:
    """The counts, and some of the mislabelled rows that were missed. Shown after success only."""
    lines = [_("mislabelled: {found}").format(found=labels), _("copies: {found}").format(found=leaks)]
    for number in sorted(planted.mislabelled.keys() - wrong)[:3]:
        row = planted.rows["train"][number]
        said = _("missed, row {number}: {premise} / {hypothesis} is {right}, and is labelled {label}")
        lines.append(said.format(number=number, **row | {"label": LABELS[row["label"]]}, right=LABELS[planted.mislabelled[number]]))
    return "\n".join(lines)
