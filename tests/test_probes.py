"""Probes: what they see, and what they answer to things that they cannot work with."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import explain_error, fault, hint, look_at_batch, unseen_pipeline, walk
from helpers.faults import KERAS_LOSS, base_script
from helpers.guards import NotExamined, first_batch
from helpers.pipeline import STAGES, Pipeline, healthy_script, pipeline_from_script, without_autotune
from helpers.probes.frames import core_message, own_frame
from helpers.probes.known_errors import known_errors
from helpers.scripts import change_script

WRONG_OBJECTS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.lists(st.integers()), st.dictionaries(st.text(), st.integers()),
    st.tuples(st.text(), st.text()), st.sampled_from([object(), int, print, np.zeros(3), np.array("x"), ValueError("x"), iter([]), {"input_ids": None}, range(3), Ellipsis]),
)  # fmt: skip


def wrong(probe, thing):
    answer = probe(thing)
    assert isinstance(answer, NotExamined), answer
    assert not answer
    text = repr(answer)
    assert text.startswith("Not examined: ") and "\nNext: " in text and "Traceback" not in text
    return answer


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WRONG_OBJECTS)
def test_look_at_batch_answers_any_wrong_object(thing):
    answer = look_at_batch(thing)
    assert "Traceback" not in repr(answer)
    if not hasattr(thing, "shape"):
        wrong(look_at_batch, thing)


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS)
def test_walk_answers_any_wrong_object(thing):
    wrong(walk, thing)


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS)
def test_explain_error_answers_any_wrong_object(thing):
    told = explain_error(thing)
    assert told.known is False
    if not isinstance(thing, BaseException):
        assert repr(told)
        assert thing is None or "needs the exception object" in told.message


@pytest.mark.parametrize(("probe", "arguments"), [(walk, ()), (walk, (1, 2)), (explain_error, (1, 2)), (look_at_batch, ())])
def test_a_wrong_number_of_arguments_is_answered(probe, arguments):
    answer = probe(*arguments)
    assert isinstance(answer, NotExamined) and "argument" in answer.why and "help(" in answer.next_step


@pytest.mark.parametrize("name", ["zz", None, [], 3])
def test_a_name_that_is_not_there_is_told_in_one_line(name):
    for find, there in ((fault, "no_labels"), (unseen_pipeline, "a, b, c")):
        with pytest.raises(LookupError) as caught:
            find(name)
        assert there in str(caught.value) and "\n" not in str(caught.value)
    assert "Tasks are: 01/" in str(hint(name))
    assert "Tasks are: 01/" in str(hint())


def test_a_half_run_notebook_is_told_which_functions_are_missing():
    answer = walk(Pipeline(*[None if stage in ("batch", "fit") else print for stage in STAGES]))
    assert "batch, fit" in answer.why


def test_a_pytorch_like_model_is_refused_by_name():
    class DistilBertForSequenceClassification:
        pass

    healthy = pipeline_from_script(healthy_script())
    answer = look_at_batch({"input_ids": np.zeros((2, 3), np.int64)}, model=DistilBertForSequenceClassification())
    assert "not a TensorFlow model" in answer.why
    seen = walk(Pipeline(healthy.load, healthy.tokenize, healthy.batch, DistilBertForSequenceClassification, print, print, print))
    assert seen.failing_stage == "build_model" and "not a TensorFlow model" in seen.message


def test_an_unbatched_dataset_is_seen_as_one():
    import tensorflow as tf

    view = look_at_batch(tf.data.Dataset.from_tensor_slices({"input_ids": np.zeros((4, 7), np.int64), "labels": [0, 1, 2, 0]}))
    assert view.shapes == {"input_ids": (7,), "labels": ()}
    assert view.rows is None and "without a batch axis" in repr(view)


def test_a_pipeline_in_place_of_a_batch_gives_its_first_training_batch():
    view = look_at_batch(pipeline_from_script(healthy_script()))
    assert view.rows == 8 and view.labels_at == "inputs['labels']"
    assert "same shape" in look_at_batch(unseen_pipeline("a")).why


def altered(**stages):
    healthy = pipeline_from_script(healthy_script())
    return dataclasses.replace(healthy, **{name: stage(healthy) for name, stage in stages.items()})


def test_walk_asks_each_dataset_once_and_for_one_batch():
    """So the limit of seconds holds for the whole walk: fit() and evaluate() are given what was read."""
    import tensorflow as tf

    def one_batch_and_no_more(dataset):
        one, reads = next(iter(dataset)), []

        def rows():
            reads.append(1)
            if len(reads) > 1:
                raise RuntimeError("the dataset was read again")
            yield one
            raise RuntimeError("a second batch was asked for")

        return tf.data.Dataset.from_generator(rows, output_signature=dataset.element_spec)

    def batch(healthy):
        return lambda tokenized: tuple(map(one_batch_and_no_more, healthy.batch(tokenized)))

    assert walk(altered(batch=batch)).failing_stage is None


def test_walk_names_the_dataset_that_is_empty():
    def batch(healthy):
        return lambda tokenized: (healthy.batch(tokenized)[0], healthy.batch(tokenized)[1].take(0))

    seen = walk(altered(batch=batch))
    assert seen.failing_stage == "batch" and "the validation dataset is empty" in seen.message


def test_walk_takes_a_model_that_is_not_built():
    from transformers import TFAutoModelForSequenceClassification

    def build(healthy):
        return lambda: TFAutoModelForSequenceClassification.from_config(healthy.build_model().config)

    seen = walk(altered(build_model=build))
    assert seen.failing_stage is None and "72 of 72" in repr(seen)


def test_a_loss_that_compile_turned_off_is_called_so_and_the_walk_stops_there():
    seen = walk(pipeline_from_script(change_script(healthy_script(), [("metrics=", "loss=None, metrics=")])))
    assert seen.failing_stage == "loss" and "compile(loss=None)" in repr(seen)
    assert next(step for step in seen.steps if step.stage == "compile_model").came_out[0].endswith(", no loss")


@pytest.mark.parametrize(
    "loss", ["tf.keras.losses.CategoricalCrossentropy(from_logits=True)", '"sparse_crossentropy"', "lambda y, p: p.logits"]
)
def test_a_loss_that_raises_is_the_stage_loss(loss):
    seen = walk(pipeline_from_script(change_script(base_script("keras_loss"), [(KERAS_LOSS, f"loss={loss}")])))
    assert seen.failing_stage == "loss", repr(seen)


def test_a_keyword_that_to_tf_dataset_does_not_have_is_not_told_as_one_of_the_model():
    script = change_script(base_script("padded_own_loss"), [("batch_size=8", 'batch_size=8, label="label"')])
    seen = walk(pipeline_from_script(script))
    assert seen.failing_stage == "batch" and not seen.explanation.known


def test_exit_in_a_stage_does_not_end_the_kernel():
    def load(healthy):
        def load():
            raise SystemExit("bye")

        return load

    answer = look_at_batch(altered(load=load))
    assert isinstance(answer, NotExamined) and "SystemExit: bye" in answer.why


def test_a_long_message_is_shown_cut_and_kept_whole():
    def load(healthy):
        def load():
            raise ValueError("x" * 5000)

        return load

    seen = walk(altered(load=load))
    assert len(repr(seen)) < 2000 and len(seen.message) == 5000


def test_a_model_made_before_the_walk_is_given_back_as_it_was_compiled():
    healthy = pipeline_from_script(healthy_script())
    model = healthy.build_model()
    healthy.compile_model(model)
    for fit in (lambda healthy: healthy.fit, lambda healthy: None):  # a walk to the end, and one that fails
        walk(altered(build_model=lambda healthy: lambda: model, compile_model=lambda healthy: lambda model: None, fit=fit))
        assert not model.run_eagerly


def test_walk_is_silent(capfd, caplog):
    import tensorflow as tf

    def fit(healthy):
        def fit(model, train, validation):
            tf.get_logger().warning("a wall of TensorFlow")
            print("a progress bar")
            print("a progress bar of tqdm", file=sys.stderr)
            return healthy.fit(model, train, validation)

        return fit

    assert walk(altered(fit=fit)).failing_stage is None
    out, err = capfd.readouterr()
    assert "wall" not in out + err + caplog.text and "progress" not in out + err
    tf.get_logger().warning("heard again")
    assert "heard again" in caplog.text


def test_a_dataset_that_raises_while_iterating_is_answered_with_its_error():
    import tensorflow as tf

    def rows():
        yield np.zeros(3)
        raise RuntimeError("row 2 is broken")

    dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((3,), tf.float64)).batch(2)
    answer = look_at_batch(dataset)
    assert isinstance(answer, NotExamined) and "row 2 is broken" in answer.why


def test_an_empty_dataset_is_said_to_be_empty():
    import tensorflow as tf

    assert "empty" in look_at_batch(tf.data.Dataset.from_tensor_slices(np.zeros((0, 3)))).why


def test_a_dataset_that_never_answers_does_not_hang_the_probe():
    import time

    import tensorflow as tf

    def rows():
        time.sleep(5)
        yield 1.0

    dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.float64))
    start = time.perf_counter()
    with pytest.raises(Exception) as caught:
        first_batch(dataset, seconds=0.5)
    assert time.perf_counter() - start < 4
    assert "gave no batches in 0.5 seconds" in str(caught.value)


def test_without_autotune_gives_the_same_batches_and_names_what_is_no_dataset():
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices({"labels": [0, 1, 2]}).batch(2)
    calm = without_autotune(dataset)
    assert calm.options().autotune.enabled is False
    assert calm.element_spec == dataset.element_spec and int(calm.cardinality()) == 2
    assert [part["labels"].numpy().tolist() for part in calm] == [[0, 1], [2]]
    with pytest.raises(TypeError, match="got a list of 1, and needs one tf.data.Dataset"):
        without_autotune([dataset])


def test_look_at_batch_sees_labels_in_the_dict_in_y_and_nowhere():
    ids, labels = np.zeros((2, 3), np.int64), np.array([1, 2])
    among_inputs = look_at_batch({"input_ids": ids, "labels": labels})
    assert (among_inputs.container, among_inputs.labels_at, among_inputs.labels) == ("dict", "inputs['labels']", [1, 2])
    apart = look_at_batch(({"input_ids": ids}, labels))
    assert (apart.container, apart.labels_at, apart.keys) == ("(x, y)", "y", ["input_ids"])
    none = look_at_batch({"input_ids": ids})
    assert none.labels_at is None and "nowhere" in repr(none)


def test_look_at_batch_measures_the_padding():
    view = look_at_batch({"input_ids": np.array([[5, 0], [5, 5]]), "attention_mask": np.array([[1, 0], [1, 1]])})
    assert view.padded == 0.25


def test_look_at_batch_knows_the_inputs_of_a_keras_graph():
    import tf_keras

    made = [tf_keras.Input((3,), name=name) for name in ("input_ids", "attention_mask")]
    model = tf_keras.Model(made, tf_keras.layers.Concatenate()(made))
    ids = np.zeros((2, 3), np.int64)
    assert look_at_batch({"input_ids": ids, "attention_mask": ids}, model=model).not_taken == []
    assert look_at_batch({"input_ids": ids, "label": ids}, model=model).not_taken == ["label"]
    assert "model takes" not in repr(look_at_batch((ids, ids), model=model))  # a bare tensor has no keys


def test_the_learners_own_frame_is_found_and_the_libraries_frames_are_not():
    script = healthy_script().replace("labels", "lables")
    pipeline = pipeline_from_script(script, "mine")
    with pytest.raises(ValueError, match="lables") as caught:
        pipeline.batch(pipeline.tokenize(pipeline.load()))
    frame = own_frame(caught.value)
    assert frame.filename.startswith("<mine") and frame.name == "batch" and "to_tf_dataset" in frame.line
    told = explain_error(caught.value)
    assert told.known and told.stage == "batch" and "to_tf_dataset" in told.own_frame


def test_an_unknown_error_is_said_to_be_unknown():
    told = explain_error(RuntimeError("the moon is full"))
    assert not told.known and told.error_class == "RuntimeError" and told.message == "the moon is full"
    assert "does not know this error" in repr(told)


def test_without_an_error_explain_error_says_so(monkeypatch):
    for name in ("last_exc", "last_value"):
        monkeypatch.setattr(sys, name, None, raising=False)
    assert "No error has been raised" in explain_error().message


def test_an_error_whose_text_cannot_be_read_is_still_explained():
    class Silent(Exception):
        def __str__(self):
            raise ValueError("no text")

    told = explain_error(Silent())
    assert not told.known and told.error_class == "Silent"


@pytest.mark.parametrize(
    ("message", "core"),
    [
        ("in user code:\n\n    File 'x.py', line 3, in f\n        g()\n\n    ValueError: too short\n", ("ValueError", "too short")),
        (
            "Graph execution error:\n\nDetected at node EagerPyFunc\nValueError: all wet\n\n\t [[{{node EagerPyFunc}}]] [Op:__inference_1]",
            ("ValueError", "all wet"),
        ),
        (
            "in user code:\n\n    ValueError: Exception encountered when calling layer 'norm' (type LayerNormalization).\n    \n    rank 4, not 3\n    \n    Call arguments received by layer 'norm':\n      • inputs=x",
            ("ValueError", "rank 4, not 3"),
        ),
        ("{{function_node __wrapped__X}} Received a label value of 2 [Op:X]", ("InvalidArgumentError", "Received a label value of 2")),
    ],
)
def test_the_line_that_counts_is_dug_out_of_a_wall_of_text(message, core):
    class InvalidArgumentError(Exception):
        pass

    assert core_message(InvalidArgumentError(message)) == core


# ---------------------------------------------------------------- every known error, raised live


def raise_optimizer_of_keras_3():
    import keras
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(2)])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")


def raise_target_data_missing():
    import tf_keras

    inputs = {name: tf_keras.Input((1,), name=name) for name in ("a", "labels")}
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(2)(inputs["a"]))
    model.compile(loss="mse")
    model.fit({name: np.zeros((4, 1)) for name in inputs}, verbose=0)


def raise_one_hot_with_sparse_loss():
    import tensorflow as tf

    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(np.eye(3)[[0, 1]], np.zeros((2, 3), np.float32))


def raise_one_hot_with_sparse_loss_in_a_graph():
    import tensorflow as tf

    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    shapes_unknown = [tf.TensorSpec((None,)), tf.TensorSpec((None, 3))]
    tf.function(lambda labels, logits: loss(labels, logits), input_signature=shapes_unknown)(tf.zeros(6), tf.zeros((2, 3)))


def raise_label_outside_the_head():
    import tensorflow as tf

    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(np.array([0, 2]), np.zeros((2, 2), np.float32))


def raise_not_finite_under_check_numerics():
    import tensorflow as tf

    tf.debugging.enable_check_numerics()
    try:
        tf.math.log(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()


LIVE = {
    "Could not interpret optimizer identifier": raise_optimizer_of_keras_3,
    "Target data is missing": raise_target_data_missing,
    "`labels.shape` must equal `logits.shape` except for the last dimension": raise_one_hot_with_sparse_loss,
    "logits and labels must have the same first dimension": raise_one_hot_with_sparse_loss_in_a_graph,
    "which is outside the valid range of": raise_label_outside_the_head,
    "Detected Infinity or NaN in output": raise_not_finite_under_check_numerics,
}


@pytest.mark.parametrize("text", LIVE)
def test_a_known_error_is_raised_live_and_recognised(text):
    with pytest.raises(Exception) as caught:
        LIVE[text]()
    told = explain_error(caught.value)
    assert told.known and text in str(caught.value)
    assert told.means == next(known.means for known in known_errors() if known.text == text)


def test_every_known_error_is_raised_by_a_test():
    from helpers.faults import CATALOGUE

    raised = [fault.error_text for fault in CATALOGUE.values() if not fault.silent] + list(LIVE)
    for known in known_errors():
        assert any(known.text in text or text in known.text for text in raised), known.text


# A dataset whose first batch is broken, while another thread still works at the second one. Garbage is collected in that
# thread, and nowhere else: were the iterator garbage by then, the thread would wait for itself.
COLLECTS_WHILE_IT_FILLS = """
import dataclasses, gc, os, sys, threading, time
gc.disable()
import numpy as np, tensorflow as tf
from helpers import fault, look_at_batch, walk
entered, left = [], []
def slow(i):
    if i == 0:
        time.sleep(0.1)
        raise ValueError("the first batch is broken")
    entered.append(i)
    time.sleep(0.5)
    gc.collect()
    left.append(i)
    return np.int64(i)
data = tf.data.Dataset.range(8).map(lambda i: tf.numpy_function(slow, [i], tf.int64), num_parallel_calls=2)
if sys.argv[1] == "walk":
    print(walk(dataclasses.replace(fault("ragged_rows").pipeline(), batch=lambda tokenized: (data, data))).failing_stage)
else:
    print(look_at_batch(data).why)
deadline = time.monotonic() + 10
while time.monotonic() < deadline and not 0 < len(entered) == len(left):
    time.sleep(0.1)
print("all threads came back:", 0 < len(entered) == len(left), flush=True)
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("probe", ["walk", "look_at_batch"])
def test_a_probe_leaves_no_iterator_to_the_garbage_collection_that_would_hang_on_it(probe):
    done = subprocess.run([sys.executable, "-c", COLLECTS_WHILE_IT_FILLS, probe], capture_output=True, text=True, timeout=120)
    assert "all threads came back: True" in done.stdout, done.stdout + done.stderr[-500:]


def test_an_error_that_is_its_own_cause_is_explained():
    error = ValueError("raised from itself")
    error.__cause__ = error
    assert explain_error(error).message == "raised from itself"


def test_a_line_of_a_plain_message_is_not_taken_for_the_error():
    error = RuntimeError("the log of the run ends with:\nValueError: too short")
    assert core_message(error) == ("RuntimeError", "the log of the run ends with:")


def test_the_guess_that_python_3_13_adds_is_left_out():
    error = TypeError("call() got an unexpected keyword argument 'label'. Did you mean 'labels'?")
    assert core_message(error) == ("TypeError", "call() got an unexpected keyword argument 'label'")
