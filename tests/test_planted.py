"""The planted errors, and the check that counts how many of them an audit finds."""

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from test_probes import WRONG_OBJECTS

from helpers import check_audit, load_mnli, load_planted
from helpers.planted import AUDITS, LEAKED, MISLABELLED, ROWS, WRITINGS, plant

NAME = "08/audit"
PLANTED = plant(AUDITS[NAME])
SEEDS = (*AUDITS.values(), 1, 5)


def normal(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def pair(row: dict) -> tuple[str, str]:
    return normal(row["premise"]), normal(row["hypothesis"])


def copies_in(train, validation, form=pair) -> list[int]:
    known = {form(row) for row in validation}
    return [number for number, row in enumerate(train) if form(row) in known]


def some_of(rows, share: float) -> list[int]:
    return sorted(rows)[: round(share * len(rows))]


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_like_load_mnli_and_the_same_seed_gives_the_same_rows(seed):
    raw, again, real = load_planted(seed), load_planted(seed), load_mnli(train_rows=8, validation_rows=8)
    assert {split: len(rows) for split, rows in raw.items()} == ROWS
    assert raw["train"].features == real["train"].features and list(raw) == list(real)
    assert raw["train"].to_list() == again["train"].to_list() == plant(seed).rows["train"]
    assert raw["train"]["idx"][:] == list(range(ROWS["train"]))
    assert raw["train"].to_list() != load_planted(seed + 1)["train"].to_list()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_planted_is_what_is_said(seed):
    planted, right = plant(seed), {}
    for row in itertools.chain(*(load_mnli()[split].to_list() for split in ROWS)):
        right[pair(row)] = row["label"]
    train, validation = planted.rows["train"], planted.rows["validation_matched"]
    wrong = {number: right[pair(row)] for number, row in enumerate(train) if row["label"] != right[pair(row)]}
    assert wrong == planted.mislabelled and len(wrong) == MISLABELLED
    assert copies_in(train, validation) == sorted(planted.leaked) and len(planted.leaked) == LEAKED
    assert all(pair(train[number]) == pair(validation[of]) for number, of in planted.leaked.items())
    assert not planted.leaked.keys() & planted.mislabelled.keys()
    assert max(Counter(row["label"] for row in train).values()) < 0.4 * len(train)


def test_a_quarter_of_the_copies_is_letter_by_letter_and_an_odd_writing_alone_is_no_sign():
    train, validation = PLANTED.rows["train"], PLANTED.rows["validation_matched"]
    same = copies_in(train, validation, lambda row: (row["premise"], row["hypothesis"]))
    assert len(same) == LEAKED // len(WRITINGS)
    odd = [
        number for number, row in enumerate(train) if not row["premise"].endswith(".") or "  " in row["premise"] or row["premise"].islower()
    ]
    assert len(odd) == 2 * LEAKED * 3 // 4 and len(PLANTED.leaked.keys() & odd) == LEAKED * 3 // 4


def test_no_row_is_a_copy_before_something_is_planted():
    data = load_mnli()
    rows = [pair(row) for split in ROWS for row in data[split].to_list()]
    assert len(rows) == len(set(rows))


def test_an_honest_audit_passes_and_is_told_what_it_missed():
    wrong = some_of(PLANTED.mislabelled, 0.6)
    verdict = check_audit(NAME, wrong, copies_in(PLANTED.rows["train"], PLANTED.rows["validation_matched"]))
    assert verdict.passed, repr(verdict)
    assert "you found 29 of 48 (recall 0.60)" in verdict.debrief and "you found 36 of 36" in verdict.debrief
    missed = min(PLANTED.mislabelled.keys() - {*wrong})
    assert f"missed, row {missed}: {PLANTED.rows['train'][missed]['premise']}" in verdict.debrief


def test_a_few_slips_of_a_reader_are_allowed():
    right = sorted({*range(ROWS["train"])} - PLANTED.mislabelled.keys() - PLANTED.leaked.keys())
    assert check_audit(NAME, some_of(PLANTED.mislabelled, 0.6) + right[:4], sorted(PLANTED.leaked)[1:]).passed
    verdict = check_audit(NAME, some_of(PLANTED.mislabelled, 0.6) + right[:9], PLANTED.leaked.keys())
    assert not verdict.passed and "Of the 38 rows that you call mislabelled, 29 are." in verdict.message


@pytest.mark.parametrize(
    ("mislabelled", "leaked", "says"),
    [
        (range(ROWS["train"]), PLANTED.leaked.keys(), "Of the 1200 rows that you call mislabelled, 48 are."),
        (PLANTED.mislabelled.keys(), range(ROWS["train"]), "Of the 1200 rows that you call copies of validation rows, 36 are."),
        ([], PLANTED.leaked.keys(), "You found 0 of the 48 mislabelled rows."),
        (PLANTED.mislabelled.keys(), [], "You found 0 of the 36 copies."),
        (some_of(PLANTED.mislabelled, 0.4), PLANTED.leaked.keys(), "You found 19 of the 48 mislabelled rows."),
        (PLANTED.leaked.keys(), PLANTED.mislabelled.keys(), "You found 0 of the 48 mislabelled rows."),
    ],
)
def test_all_rows_no_rows_and_too_few_rows_do_not_pass(mislabelled, leaked, says):
    verdict = check_audit(NAME, mislabelled, leaked)
    assert not verdict.passed and says in verdict.message and verdict.next_step


@pytest.mark.parametrize("seed", range(20))
def test_rows_drawn_at_random_do_not_pass(seed):
    random = Random(seed)
    wrong, copies = (random.sample(range(ROWS["train"]), count) for count in (MISLABELLED, LEAKED))
    verdict = check_audit(NAME, wrong, copies)
    assert not verdict.passed and sum(holds for _text, holds in verdict.points) == 1


@pytest.mark.parametrize(("form", "finds"), [(lambda row: (row["premise"], row["hypothesis"]), 9), (lambda row: tuple(" ".join(row[name].lower().split()) for name in ("premise", "hypothesis")), 27)])  # fmt: skip
def test_copies_that_are_compared_too_strictly_do_not_pass(form, finds):
    leaked = copies_in(PLANTED.rows["train"], PLANTED.rows["validation_matched"], form)
    verdict = check_audit(NAME, PLANTED.mislabelled.keys(), leaked)
    assert not verdict.passed and f"You found {finds} of the 36 copies." in verdict.message and "the final dot" in verdict.next_step


def test_before_it_is_passed_no_row_is_named():
    texts = [row["premise"] for row in PLANTED.rows["train"]]
    for wrong, copies in (([], []), (some_of(PLANTED.mislabelled, 0.4), PLANTED.leaked), (range(1200), range(1200))):
        said = repr(check_audit(NAME, wrong, copies))
        assert "missed, row" not in said and not any(text in said for text in texts)


@pytest.mark.parametrize("name", ["08/audi", None, 3, ["08/audit"]])
def test_a_name_that_is_no_audit_is_told_which_there_are(name):
    verdict = check_audit(name, [], [])
    assert not verdict.passed and NAME in verdict.next_step


@pytest.mark.parametrize("rows", [[-1], [1200], ["3"], [True, 2.5], itertools.count(), "12", {3: 1}, None])
def test_what_is_no_list_of_row_numbers_is_told_so(rows):
    verdict = check_audit(NAME, rows, [])
    assert not verdict.passed and "a list of whole numbers from 0 to 1199" in verdict.message


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS, WRONG_OBJECTS)
def test_check_audit_answers_any_wrong_object(mislabelled, leaked):
    verdict = check_audit(NAME, mislabelled, leaked)
    assert not verdict.passed and repr(verdict).startswith("Not yet: ") and verdict.next_step
