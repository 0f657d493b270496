"""The exercises' checks of lesson 01: right answers pass, wrong ones are told why, strange ones are answered."""

import pytest
from hypothesis import given, settings
from test_probes import WRONG_OBJECTS

from helpers.checks import check_diagnosis, check_repair
from helpers.course import lessons
from helpers.exercises import UNSEEN, unseen_fault, unseen_pipeline
from helpers.faults import fault
from helpers.pipeline import healthy_script, pipeline_from_script
from helpers.probes.walk import walk
from helpers.scripts import change_script

TASKS = [task for lesson in lessons() for task in lesson.tasks if getattr(task, "start", None)]
REPAIRS = [(task, program) for task in TASKS for program in task.repairs]
MISTAKES = [(task, program) for task in TASKS for program in task.mistakes]
RIGHT_EVIDENCE = {
    "a": ("batch", ("walk", "message", "all input arrays must have the same shape")),
    "b": ("loss", ("look_at_batch", "keys", ["input_ids", "attention_mask"])),
    "c": ("gradients", ("walk", "message", "No gradients provided for any variable")),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_the_right_stage_with_its_evidence_passes(name):
    verdict = check_diagnosis(name, *RIGHT_EVIDENCE[name])
    assert verdict.passed, repr(verdict)
    assert repr(verdict).startswith("Passed: 4 of 4 points.")


@pytest.mark.parametrize("name", UNSEEN)
def test_every_field_listed_as_evidence_is_accepted_with_its_measured_value(name):
    from helpers.probes.look_at_batch import look_at_batch

    pipeline, ill = unseen_pipeline(name), unseen_fault(name)
    for probe, field in ill.evidence:
        seen = walk(pipeline) if probe == "walk" else look_at_batch(pipeline.batch(pipeline.tokenize(pipeline.load()))[0])
        assert check_diagnosis(name, ill.stage, (probe, field, getattr(seen, field))).passed, (probe, field)


@pytest.mark.parametrize("name", UNSEEN)
def test_the_right_stage_with_wrong_evidence_does_not_pass(name):
    stage = RIGHT_EVIDENCE[name][0]
    assert "The check measured" in check_diagnosis(name, stage, ("walk", "error_class", "KeyError")).message
    assert "does not show this fault" in check_diagnosis(name, stage, ("walk", "made", {})).message or name


def test_true_evidence_that_a_healthy_pipeline_also_gives_does_not_pass():
    verdict = check_diagnosis("b", "loss", ("look_at_batch", "container", "dict"))
    assert not verdict.passed and "does not show this fault" in verdict.message


@pytest.mark.parametrize("name", UNSEEN)
def test_the_wrong_stage_with_sound_evidence_does_not_pass(name):
    verdict = check_diagnosis(name, "evaluate", RIGHT_EVIDENCE[name][1])
    assert not verdict.passed and "is not the stage that fails first" in verdict.message


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("z", "batch", ("walk", "message", "x")), "no unseen pipeline"),
        (("a", "…", ("…", "…", "…")), "is not a stage"),
        (("a", "batch", ("…", "…", "…")), "must be (probe, field, value)"),
        (("a", "batch", None), "must be (probe, field, value)"),
        (("a", "batch", ("walk", "colour", "red")), "has no field"),
    ],
)
def test_an_answer_in_the_wrong_form_is_told_the_right_form(arguments, says):
    verdict = check_diagnosis(*arguments)
    assert not verdict.passed and says in verdict.message and verdict.next_step


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS, WRONG_OBJECTS)
def test_check_diagnosis_answers_any_wrong_object(stage, evidence):
    verdict = check_diagnosis("a", stage, evidence)
    assert not verdict.passed and repr(verdict).startswith("Not yet: ") and verdict.next_step


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS)
def test_check_repair_answers_any_wrong_object(thing):
    verdict = check_repair("01/own_loss", thing)
    assert not verdict.passed and repr(verdict).startswith("Not yet: ") and verdict.next_step


def test_check_repair_names_the_tasks_when_the_name_is_wrong():
    verdict = check_repair("01/own_los", None)
    assert not verdict.passed and "01/own_loss" in verdict.message


def test_the_check_knows_how_many_rows_the_healthy_script_trains_on():
    assert f"train_rows={HEALTHY_ROWS}," in healthy_script()


@pytest.mark.parametrize(("task", "program"), REPAIRS, ids=[f"{task.name}-{program.name}" for task, program in REPAIRS])
def test_every_accepted_repair_passes(task, program):
    verdict = check_repair(task.name, pipeline_from_script(change_script(fault(task.start).script, program.changes)))
    assert verdict.passed, repr(verdict)
    assert "The smallest change that heals it:" in repr(verdict)


@pytest.mark.parametrize(("task", "program"), MISTAKES, ids=[f"{task.name}-{program.name}" for task, program in MISTAKES])
def test_every_tempting_wrong_repair_gets_its_message(task, program):
    verdict = check_repair(task.name, pipeline_from_script(change_script(fault(task.start).script, program.changes)))
    assert not verdict.passed
    assert program.says in f"{verdict.message} {verdict.next_step}"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_exercise_as_shipped_is_not_passed(task):
    verdict = check_repair(task.name, fault(task.start).pipeline())
    assert not verdict.passed and "walk stops at" in verdict.message


def test_fewer_rows_are_seen():
    script = change_script(healthy_script(), [("train_rows=2400", "train_rows=100")])
    verdict = check_pipeline(pipeline_from_script(script), None, fault("no_labels"))
    assert not verdict.passed and "training rows are left" in verdict.message


def test_exchanged_sentences_are_seen():
    script = change_script(healthy_script(), [('rows["premise"], rows["hypothesis"]', 'rows["hypothesis"], rows["premise"]')])
    verdict = check_pipeline(pipeline_from_script(script), None, fault("no_labels"))
    assert not verdict.passed and "are not those of the data" in verdict.message


def test_a_learning_rate_of_zero_is_seen():
    script = change_script(healthy_script(), [("Adam(5e-5)", "Adam(0.0)")])
    verdict = check_pipeline(pipeline_from_script(script), None, fault("no_labels"))
    assert not verdict.passed and "moved in one step" in verdict.message


def test_a_frozen_model_is_seen():
    script = change_script(healthy_script(), [("    model.compile(", "    model.distilbert.trainable = False\n    model.compile(")])
    verdict = check_pipeline(pipeline_from_script(script), None, fault("no_labels"))
    assert not verdict.passed


def test_the_smallest_change_shown_is_the_one_of_the_task():
    own = next(task for task in TASKS if task.name == "01/own_loss")
    script = fault(own.start).script
    verdict = check_repair(own.name, pipeline_from_script(change_script(script, own.repairs[0].changes)))
    assert verdict.passed and '+    return raw.map(tokenize_rows, batched=True).rename_column("label", "labels")' in repr(verdict)
    assert "label_cols" not in repr(verdict)
