"""The script of lessons 01 to 04: each error is the first one met after the repair before it."""

import pytest
from running import run, small

from helpers.arc import REPAIRS, broken_script, script_after
from helpers.faults import base_script

RAISING = [number for number, repair in enumerate(REPAIRS) if repair.error]


@pytest.mark.parametrize("number", RAISING, ids=[REPAIRS[n].name for n in RAISING])
def test_the_error_is_the_first_one_met_before_this_repair(number):
    repair = REPAIRS[number]
    done = run(small(script_after(number)))
    assert done.error is not None, f"{repair.name}: no error came"
    error_class, text = repair.error
    assert type(done.exception).__name__ == error_class
    assert text in str(done.exception)
    assert done.reached == ("batch" if number == 0 else "fit")


def test_after_the_raising_faults_the_script_runs_with_a_loss_far_from_chance():
    first_silent = RAISING[-1] + 1
    done = run(small(script_after(first_silent)), eagerly=True)
    assert done.error is None
    assert done.scores["loss"] > 1.3  # ln 3 = 1.10 is a guess


def test_the_last_repair_gives_the_healthy_script():
    assert script_after(len(REPAIRS)) == base_script("keras_loss")


def test_the_broken_script_holds_all_its_faults_at_once():
    script = broken_script()
    for sign in ('"labels"]', 'optimizer="adam"', 'loss="sparse_categorical_crossentropy"', "from_pretrained(checkpoint)"):
        assert sign in script
    assert "collator" not in script and "num_labels" not in script
