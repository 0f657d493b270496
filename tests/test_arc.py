"""The script of lessons 01 to 04: each error is the first one met after the repair before it."""

import math

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


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_after_the_raising_faults_the_script_runs_and_starts_with_a_loss_far_from_chance(seed):
    import tensorflow as tf

    pipeline = small(script_after(RAISING[-1] + 1))
    assert run(pipeline, seed, eagerly=True).error is None
    tf.keras.utils.set_random_seed(seed)
    model = pipeline.build_model()
    pipeline.compile_model(model)
    _train, validation = pipeline.batch(pipeline.tokenize(pipeline.load()))
    assert pipeline.evaluate(model, validation)["loss"] > 2 * math.log(3)  # before training, where a guess costs ln 3


def test_the_last_repair_gives_the_healthy_script():
    assert script_after(len(REPAIRS)) == base_script("keras_loss")


def test_the_broken_script_holds_all_its_faults_at_once():
    script = broken_script()
    for sign in ('"labels"]', 'optimizer="adam"', 'loss="sparse_categorical_crossentropy"', "from_pretrained(checkpoint)"):
        assert sign in script
    assert "collator" not in script and "num_labels" not in script
