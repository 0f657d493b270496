"""The data: what the card says of mini-MNLI, counted."""

import hashlib
import json
from collections import Counter
from random import Random

import pytest

from helpers.build import mini_distilbert, world
from helpers.build.mini_mnli import FOLDER, LABELS, MOST_WORDS, SPLITS, as_bytes, make_all
from helpers.build.scenes import ADDS, BREAKS, KEEPS, Scene, Thing, exchange_roles, general_noun, negate, sentence, tell, turn_voice

ROWS = {split: [json.loads(line) for line in (FOLDER / f"{split}.jsonl").read_text().splitlines()] for split in SPLITS}


def test_a_fresh_build_is_byte_identical():
    made = make_all()
    for split in SPLITS:
        assert hashlib.sha256(as_bytes(made[split])).digest() == hashlib.sha256((FOLDER / f"{split}.jsonl").read_bytes()).digest(), split


def test_there_are_enough_rows():
    assert len(ROWS["train"]) >= 3000 and len(ROWS["validation_matched"]) >= 600 and len(ROWS["validation_mismatched"]) >= 600


@pytest.mark.parametrize("split", SPLITS)
def test_the_classes_are_balanced_and_rows_are_numbered(split):
    assert set(Counter(row["label"] for row in ROWS[split]).values()) == {len(ROWS[split]) // 3}
    assert [row["idx"] for row in ROWS[split]] == list(range(len(ROWS[split])))


def test_the_first_2400_rows_are_nearly_balanced_too():
    counts = Counter(row["label"] for row in ROWS["train"][:2400])
    assert max(counts.values()) / 2400 < 0.36


def test_no_row_is_too_long():
    lengths = [len(row["premise"].split()) + len(row["hypothesis"].split()) for rows in ROWS.values() for row in rows]
    assert max(lengths) == MOST_WORDS


def test_no_sentence_stands_twice_in_the_whole_of_the_data():
    sentences = [row[key] for rows in ROWS.values() for row in rows for key in ("premise", "hypothesis")]
    assert len(sentences) == len(set(sentences))


def test_the_mismatched_genres_are_not_in_training():
    train, matched, mismatched = ({row["genre"] for row in ROWS[split]} for split in SPLITS)
    assert train == matched == set(world.TRAIN_GENRES)
    assert mismatched == set(world.MISMATCHED_GENRES) and not mismatched & train


def test_every_label_is_made_by_several_kinds_of_change():
    kinds = {label: {row["change"] for row in ROWS["train"] if LABELS[row["label"]] == label} for label in LABELS}
    assert kinds["entailment"] == {"hypernym", "dropped detail", "passive", "synonym", "number", "place", "time", "companion"}
    assert kinds["neutral"] == {"hyponym", "added detail", "added reason", "number", "place", "time", "companion"}
    assert kinds["contradiction"] == {"antonym", "negation", "sibling", "role swap", "number", "place", "time", "companion"}


def test_the_pretraining_text_shares_no_sentence_with_the_data():
    taken = mini_distilbert.sentences_of_mini_mnli()
    assert {row[key] for rows in ROWS.values() for row in rows for key in ("premise", "hypothesis")} <= taken
    rng = Random(5)
    for _ in range(5000):
        first, second, answers = mini_distilbert.make_texts(rng, taken)
        assert first not in taken and second not in taken
        assert len(answers) == len(set(answers))
    probe = Random(5)
    free = {text for _ in range(300) for text in mini_distilbert.make_texts(probe, set())[:2]}
    again = Random(5)
    assert not free & {text for _ in range(300) for text in mini_distilbert.make_texts(again, free)[:2]}


SCENE = Scene(Thing("nurse", "person", "young"), "pay", Thing("guide", "person"), place="in Rome", time="on Monday")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (SCENE, "The young nurse paid the guide in Rome on Monday."),
        (turn_voice(Random(0), SCENE), "The guide was paid by the young nurse in Rome on Monday."),
        (negate(Random(0), SCENE), "The young nurse did not pay the guide in Rome on Monday."),
        (exchange_roles(Random(0), SCENE), "The guide paid the young nurse in Rome on Monday."),
        (
            Scene(Thing("actor", "person", None, "three"), "buy", Thing("bus", "vehicle", "old", "two")),
            "Three actors bought two old buses.",
        ),
        (
            Scene(Thing("actor", "person", definite=False), "sleep", manner="quietly", time="in June", time_first=True),
            "In June, an actor slept quietly.",
        ),
    ],
)
def test_a_scene_is_told_in_english(made, told):
    assert sentence(tell(made)) == told


def test_a_general_word_is_not_made_more_general():
    assert general_noun(Random(0), Scene(Thing("person", "person"), "sleep"), "who") is None


def test_every_verb_has_its_forms_and_every_change_its_kind():
    used = {verb for verbs in world.VERBS_FOR.values() for verb in verbs} | {*world.PERSON_VERBS, *world.GIVING_VERBS, *world.INTRANSITIVE}
    assert used <= set(world.VERBS)
    assert {*world.SAME, *world.OPPOSITE, *world.OPPOSITE.values()} <= set(world.VERBS)
    assert all(len(entry) == 4 for entry in (*KEEPS, *ADDS, *BREAKS))
