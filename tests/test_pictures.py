"""Each picture is one, and says its numbers in words."""

import math

import numpy as np
import pytest

from helpers.pictures import (
    Picture,
    draw_batch,
    draw_confusion,
    draw_curves,
    draw_labels,
    draw_losses,
    draw_sweep,
    parting_step,
    smoothed,
)
from helpers.probes.sample_losses import SampleLosses
from helpers.probes.score_against_baseline import Scores

NAMES = ["entailment", "neutral", "contradiction"]


class Tokens:
    pad_token_id, cls_token_id, sep_token_id = 0, 1, 2


class Sweep:
    rates, losses, climbs, tenth = np.geomspace(1e-5, 1e-1, 5), np.array([1.1, 1.0, 0.8, 0.9, 2.0]), 1e-3, 1e-4


def picture_of_losses(bad=True):
    losses = np.array([1.0, np.nan if bad else 0.9, 0.8])
    return draw_losses(SampleLosses(losses, [0, 2, 1], [5, 5, 5], [1] if bad else [], None, None, {}))


PICTURES = {
    "losses": picture_of_losses,
    "sweep": lambda: draw_sweep(Sweep),
    "curves": lambda: draw_curves({"broken": [1.1] * 40, "repaired": [1.1] * 10 + [0.5] * 30}, math.log(3)),
    "labels": lambda: draw_labels({0: 10, 1: 20, 2: 30}, NAMES),
    "confusion": lambda: draw_confusion(Scores(0.6, 0.6, 0.4, 0.6, np.array([[3, 1, 0], [0, 2, 1], [1, 1, 1]]), {}), NAMES),
    "batch": lambda: draw_batch({"input_ids": np.array([[1, 5, 2, 0], [1, 5, 6, 2]]), "attention_mask": np.array([[1, 1, 1, 0], [1, 1, 1, 1]])}, Tokens),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_an_image_and_the_same_words_for_who_cannot_see_it(name):
    picture = PICTURES[name]()
    assert isinstance(picture, Picture)
    data, metadata = picture._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and len(data["image/png"]) < 60_000
    assert data["text/plain"] == repr(picture) == metadata["image/png"]["alt"] and len(repr(picture)) > 20


def test_the_words_tell_the_numbers():
    assert repr(picture_of_losses()) == "1 of 3 rows have a loss that is not finite: rows 1."
    assert repr(picture_of_losses(bad=False)) == "All 3 losses are finite."
    assert repr(PICTURES["labels"]()) == "0 entailment: 10, 1 neutral: 20, 2 contradiction: 30."
    assert repr(PICTURES["batch"]()) == "2 rows of 4 positions. padding, left out: 1, text: 3, [CLS], [SEP]: 4."
    assert "Accuracy 0.60, majority 0.40" in repr(PICTURES["confusion"]())


def test_padding_that_the_mask_lets_through_is_told():
    ids = np.array([[1, 5, 2, 0]])
    assert "padding, read as text: 1" in repr(draw_batch({"input_ids": ids, "attention_mask": np.ones_like(ids)}, Tokens))
    assert "padding, read as text: 1" in repr(draw_batch({"input_ids": ids}, Tokens))


def test_curves_part_where_they_stay_apart():
    same, fallen = [1.0] * 50, [1.0] * 20 + [0.5] * 30
    assert parting_step(same, same) is None
    assert parting_step(same, fallen, smooth=1) == 20
    assert parting_step(same, [1.0] * 20 + [0.5] * 5 + [1.0] * 25, smooth=1) is None
    assert list(smoothed([1.0, 3.0, 5.0], 2)) == [1.0, 2.0, 4.0]
