"""Each probe finds nothing in the healthy pipeline, and finds what it is for where that is wrong."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import small

from helpers.batches import class_ids, inputs_of, labels_of
from helpers.faults import base_script
from helpers.guards import NotExamined, first_batch
from helpers.pipeline import without_autotune
from helpers.probes.audit_labels import audit_labels
from helpers.probes.compare_builds import compare_builds
from helpers.probes.compare_splits import compare_splits
from helpers.probes.compare_with_data import compare_with_data
from helpers.probes.decode_batch import decode_batch
from helpers.probes.evaluate_again import evaluate_again
from helpers.probes.gradients_of import gradients_of
from helpers.probes.look_at_fit import look_at_fit
from helpers.probes.loss_at_start import loss_at_start
from helpers.probes.one_step import one_step
from helpers.probes.overfit_batch import overfit_batch
from helpers.probes.padding_invariance import padding_invariance
from helpers.probes.rate_over_time import rate_over_time
from helpers.probes.sample_losses import sample_losses
from helpers.probes.score_against_baseline import score_against_baseline
from helpers.probes.sweep_rates import sweep_rates

PROBES = {
    "audit_labels": (audit_labels, 3),
    "decode_batch": (decode_batch, 2),
    "padding_invariance": (padding_invariance, 2),
    "sample_losses": (sample_losses, 2),
    "loss_at_start": (loss_at_start, 2),
    "gradients_of": (gradients_of, 2),
    "rate_over_time": (rate_over_time, 2),
    "overfit_batch": (overfit_batch, 2),
    "compare_splits": (compare_splits, 2),
    "score_against_baseline": (score_against_baseline, 2),
    "sweep_rates": (sweep_rates, 2),
    "one_step": (one_step, 2),
    "look_at_fit": (look_at_fit, 4),
    "compare_builds": (compare_builds, 1),
    "evaluate_again": (evaluate_again, 3),
    "compare_with_data": (compare_with_data, 3),
}


@dataclasses.dataclass
class Made:
    pipeline: object
    raw: object
    train: object
    validation: object
    model: object
    batch: object

    def batch_again(self):
        """A dataset of the one batch: the same rows in each step."""
        import tensorflow as tf

        return without_autotune(tf.data.Dataset.from_tensors(self.batch).repeat(5))

    def fresh(self, **compiled):
        """A new model, compiled as the script does or as said."""
        model = self.pipeline.build_model()
        if compiled:
            model.compile(**compiled)
        else:
            self.pipeline.compile_model(model)
        return model


def make(base: str, rows: int = 64) -> Made:
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    pipeline = small(base_script(base), rows)
    raw = pipeline.load()
    train, validation = map(without_autotune, pipeline.batch(pipeline.tokenize(raw)))
    model = pipeline.build_model()
    pipeline.compile_model(model)
    return Made(pipeline, raw, train, validation, model, first_batch(train))


@pytest.fixture(scope="module")
def keras():
    return make("keras_loss")


@pytest.fixture(scope="module")
def own():
    return make("own_loss")


@pytest.fixture(scope="module")
def tokenizer():
    from transformers import AutoTokenizer

    from helpers import find_checkpoint

    return AutoTokenizer.from_pretrained(find_checkpoint())


def with_labels(made: Made, change):
    """The training data with other labels."""
    return made.train.map(lambda x, y: (x, change(y)))


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("made", ["keras", "own"])
def test_audit_labels_finds_nothing_in_healthy_labels(made, request):
    made = request.getfixturevalue(made)
    audit = audit_labels(made.train, made.model, made.raw["train"].features["label"].names)
    assert audit.findings == {} and (audit.rows, audit.form, audit.outputs) == (64, "ids", 3)
    assert sum(audit.counts.values()) == 64 and "Nothing found." in repr(audit)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda y: y + 1, "outside_the_head"),
        (lambda y: y * 0 - 100, "outside_the_head"),
        (lambda y: y * 0, "one_class"),
        (lambda y: y[:1], "not_one_per_row"),
    ],
)
def test_audit_labels_names_what_is_wrong(keras, change, finding):
    audit = audit_labels(with_labels(keras, change), keras.model)
    assert finding in audit.findings, repr(audit)


def test_audit_labels_sees_that_there_are_none(keras):
    assert set(audit_labels(keras.train.map(lambda x, y: x)).findings) == {"no_labels"}


def test_audit_labels_sees_labels_that_start_at_one_in_a_head_that_is_large_enough(keras):
    model = keras.fresh()
    model.config.num_labels = 4
    assert set(audit_labels(with_labels(keras, lambda y: y + 1), model).findings) == {"from_one"}


def test_audit_labels_sees_a_rare_class(keras):
    import tensorflow as tf

    rare = with_labels(keras, lambda y: tf.where(tf.range(tf.shape(y)[0]) < 1, y, tf.ones_like(y)))
    assert set(audit_labels(rare.repeat(4), keras.model).findings) == {"imbalanced"}


def test_audit_labels_compares_the_names(keras):
    names = keras.raw["train"].features["label"].names
    model = keras.fresh()
    model.config.id2label = dict(enumerate(reversed(names)))
    assert set(audit_labels(keras.train, model, names).findings) == {"names_differ"}
    model.config.id2label = dict(enumerate(names))
    assert audit_labels(keras.train, model, names).findings == {}


# ---------------------------------------------------------------- text and mask


def test_decode_batch_finds_nothing_in_a_healthy_batch(own, tokenizer):
    seen = decode_batch(own.batch, tokenizer, own.model)
    assert seen.findings == {} and seen.unknown == 0 and seen.cut == 0
    assert seen.text[0].startswith("[CLS]")


def test_decode_batch_names_what_is_wrong(own, tokenizer):
    ids, mask = (np.asarray(own.batch[name]) for name in ("input_ids", "attention_mask"))
    unknown = np.where(ids > 200, tokenizer.unk_token_id, ids)
    assert set(decode_batch({"input_ids": unknown, "attention_mask": mask}, tokenizer).findings) == {"unknown_words"}
    assert set(decode_batch({"input_ids": ids[:, :8], "attention_mask": mask[:, :8]}, tokenizer).findings) == {"cut"}
    assert set(decode_batch({"input_ids": ids + 4000, "attention_mask": mask}, tokenizer, own.model).findings) >= {"outside_the_vocabulary"}
    whole = mask.sum(1)
    assert set(decode_batch(own.batch, tokenizer, lengths=(whole + 1).tolist()).findings) == {"cut"}
    assert decode_batch(own.batch, tokenizer, lengths=whole.tolist()).findings == {}


def test_padding_invariance_of_a_healthy_batch(own):
    seen = padding_invariance(own.model, own.batch)
    assert seen.findings == {} and seen.change < 1e-4


def test_padding_invariance_names_what_is_wrong(own):
    ids, mask = (np.asarray(own.batch[name]) for name in ("input_ids", "attention_mask"))
    no_mask = padding_invariance(own.model, {"input_ids": ids})
    assert set(no_mask.findings) == {"no_mask"} and no_mask.change > 1e-3
    ones = padding_invariance(own.model, {"input_ids": ids, "attention_mask": np.ones_like(mask)})
    assert set(ones.findings) == {"mask_covers_padding"} and ones.change > 1e-3
    turned = padding_invariance(own.model, {"input_ids": ids, "attention_mask": 1 - mask})
    assert {"mask_covers_padding", "text_left_out"} <= set(turned.findings)


# ---------------------------------------------------------------- loss


@pytest.mark.parametrize("made", ["keras", "own"])
def test_loss_at_start_of_a_healthy_pipeline(made, request):
    made = request.getfixturevalue(made)
    seen = loss_at_start(made.fresh(), made.batch)
    assert seen.findings == {} and abs(seen.loss - np.log(3)) < 0.3
    assert seen.owner == ("keras" if isinstance(made.batch, tuple) else "model")


def test_loss_at_start_names_a_loss_that_is_another(keras):
    wrong = keras.fresh(optimizer="adam", loss="sparse_categorical_crossentropy")
    assert set(loss_at_start(wrong, keras.batch).findings) == {"another_loss"}


def test_loss_at_start_sees_a_model_that_is_not_fresh(keras):
    model = keras.fresh()
    model.classifier.bias.assign([9.0, 0.0, -9.0])
    assert set(loss_at_start(model, keras.batch).findings) == {"far_from_chance"}


def test_loss_at_start_sees_a_loss_that_is_not_finite(keras):
    model = keras.fresh()
    model.classifier.bias.assign([float("nan"), 0.0, 0.0])
    assert set(loss_at_start(model, keras.batch).findings) == {"not_finite"}


@pytest.mark.parametrize("made", ["keras", "own"])
def test_sample_losses_of_a_healthy_batch_are_those_of_the_mean(made, request):
    made = request.getfixturevalue(made)
    model = made.fresh()
    seen = sample_losses(model, made.batch)
    assert seen.findings == {} and len(seen.losses) == 8 and seen.bad == []
    assert abs(seen.losses.mean() - loss_at_start(model, made.batch).loss) < 1e-4
    assert seen.labels == class_ids(labels_of(made.batch), 8)
    assert seen.lengths == np.asarray(inputs_of(made.batch)["attention_mask"]).sum(1).tolist()


def test_sample_losses_name_the_rows_outside_the_head_on_the_cpu_and_under_xla(keras):
    x, y = keras.batch
    y = np.array([0, 1, 2, 3, 0, 1, 2, 3])  # DEVICE: the CPU's kernel raises where a GPU's gives NaN; XLA shows the NaN on a CPU
    seen = sample_losses(keras.fresh(), (x, y), xla=True)
    assert seen.bad == [3, 7] and "exactly the rows with the label 3" in repr(seen)
    assert "outside the valid range" in seen.error
    assert np.flatnonzero(np.isnan(seen.xla)).tolist() == [3, 7]


# ---------------------------------------------------------------- gradients, rate, learning


@pytest.mark.parametrize("made", ["keras", "own"])
def test_gradients_of_a_healthy_pipeline(made, request):
    made = request.getfixturevalue(made)
    model = made.fresh()
    before = [weight.numpy() for weight in model.weights]
    seen = gradients_of(model, made.batch)
    assert seen.findings == {} and seen.trainable == 1 and all(norm > 0 for norm in seen.norms.values())
    assert all(np.array_equal(old, new.numpy()) for old, new in zip(before, model.weights, strict=True))


def test_gradients_of_a_frozen_encoder_are_said_to_be_missing(keras):
    model = keras.fresh()
    model.distilbert.trainable = False
    assert set(gradients_of(model, keras.batch).findings) == {"frozen"}


def test_gradients_that_do_not_flow_are_named(keras):
    import tensorflow as tf

    def error_rate(labels, logits):
        return tf.reduce_mean(tf.cast(tf.argmax(logits, -1) != tf.cast(labels, tf.int64), tf.float32))

    assert set(gradients_of(keras.fresh(optimizer="adam", loss=error_rate), keras.batch).findings) == {"no_gradient"}

    def nothing(labels, logits):
        return 0.0 * tf.reduce_sum(logits, -1)

    assert set(gradients_of(keras.fresh(optimizer="adam", loss=nothing), keras.batch).findings) == {"zero_gradient"}


def warmed_up(steps: int):
    """A schedule that rises to 5e-5 in ``steps`` steps, and stays there."""
    import tensorflow as tf

    class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 5e-5 * tf.minimum(1.0, tf.cast(step, tf.float32) / steps)

    return WarmUp()


def test_rate_over_time_of_constant_rates_and_schedules():
    import tensorflow as tf

    def findings(rate, steps=300):
        return set(rate_over_time(tf.keras.optimizers.Adam(rate), steps).findings)

    falling = tf.keras.optimizers.schedules.PolynomialDecay
    assert findings(5e-5) == set() and findings(falling(5e-5, 300, 0.0)) == set()
    assert findings(1e-3) == {"too_high"} and findings(1e-7) == {"too_low"}
    assert findings(falling(5e-5, 100, 0.0)) == {"ends_too_soon"}
    assert findings(falling(5e-5, 900, 0.0)) == {"ends_too_late"}
    assert findings(falling(1e-5, 300, 5e-5)) == {"rises_to_the_end"} and findings(falling(5e-5, 300)) == {"rises_to_the_end"}
    assert findings(warmed_up(30)) == set() and findings(warmed_up(300)) == {"rises_to_the_end"}
    assert rate_over_time(tf.keras.optimizers.Adam(falling(5e-5, 300, 0.0)), 300).middle == pytest.approx(2.5e-5)


def test_overfit_batch_learns_a_healthy_batch_and_not_one_without_a_signal(keras):
    import tensorflow as tf

    healthy = overfit_batch(keras.fresh(), keras.batch)
    assert healthy.findings == {} and healthy.accuracy == 1.0 and len(healthy.losses) == 30
    still = keras.fresh(optimizer=tf.keras.optimizers.Adam(1e-9), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert set(overfit_batch(still, keras.batch).findings) == {"does_not_learn"}


def test_an_optimizer_of_the_older_kind_is_swept_and_overfitted():
    from transformers import create_optimizer

    many = make("own_loss", rows=96)
    older, _schedule = create_optimizer(5e-5, num_train_steps=300, num_warmup_steps=0, weight_decay_rate=0.01)
    sweep = sweep_rates(many.fresh(optimizer=older), many.train, steps=24)
    assert len(sweep.rates) == len(sweep.losses) == 15
    assert np.isfinite(sweep.losses).all()
    older, _schedule = create_optimizer(5e-5, num_train_steps=300, num_warmup_steps=0, weight_decay_rate=0.01)
    assert overfit_batch(many.fresh(optimizer=older), many.batch).findings == {}


# ---------------------------------------------------------------- splits and scores


def test_compare_splits_of_a_healthy_pipeline_and_of_leaks_and_sorted_data():
    made = make("keras_loss", rows=96)
    assert compare_splits(made.train, made.validation).findings == {}
    assert "rows_in_both" in compare_splits(made.train, made.train.take(2)).findings
    options = {"columns": ["input_ids", "attention_mask"], "label_cols": "labels", "batch_size": 8}
    from transformers import AutoTokenizer, DataCollatorWithPadding

    from helpers import find_checkpoint

    collator = DataCollatorWithPadding(AutoTokenizer.from_pretrained(find_checkpoint()), return_tensors="np")
    tokenized = made.pipeline.tokenize(made.raw)["train"]
    in_order = tokenized.sort("label").to_tf_dataset(**options, collate_fn=collator)
    sorted_rows = compare_splits(in_order, made.validation)
    assert set(sorted_rows.findings) == {"sorted"} and sorted_rows.same_order
    few = tokenized.filter(lambda row: row["label"] != 2).to_tf_dataset(**options, shuffle=True, collate_fn=collator)
    assert "other_shares" in compare_splits(few, made.validation).findings


def test_score_against_baseline_says_what_an_untrained_and_a_trained_model_are_worth():
    import tensorflow as tf

    made = make("keras_loss", rows=8)
    one = without_autotune(tf.data.Dataset.from_tensors(made.batch))
    model = made.fresh()
    model.classifier.bias.assign([9.0, 0.0, 0.0])
    assert "one_answer" in score_against_baseline(model, one).findings
    model = made.fresh()
    overfit_batch(model, made.batch)
    learnt = score_against_baseline(model, one)
    assert learnt.findings == {} and learnt.predicted == learnt.evaluated == 1.0 and learnt.confusion.trace() == 8
    exchanged = one.map(lambda x, y: (x, (y + 1) % 3))
    wrong = score_against_baseline(model, exchanged)
    assert "classes_exchanged" in wrong.findings and wrong.permuted == 1.0
    made.pipeline.compile_model(model)
    model.compile(optimizer="adam", loss=model.loss, metrics=[tf.keras.metrics.CategoricalAccuracy("accuracy")])
    assert "metric_differs" in score_against_baseline(model, one).findings


def test_one_step_counts_what_moves(own):
    import tensorflow as tf

    model = own.fresh()
    step = one_step(model, own.train)
    assert not model.run_eagerly  # as it was compiled
    assert step.findings == {} and step.weights == step.free == step.moved
    assert 4e-5 < step.largest < 6e-5  # Adam's first step is the rate
    still = one_step(own.fresh(optimizer=tf.keras.optimizers.Adam(0.0)), own.batch)
    assert set(still.findings) == {"does_not_move"} and still.moved == 0
    lost = one_step(own.fresh(optimizer=tf.keras.optimizers.Adam(float("nan"))), own.batch)
    assert "not_finite" in lost.findings


def test_look_at_fit_tells_steps_and_names(own):
    def with_steps(model, train, validation):
        return model.fit(train, epochs=2, steps_per_epoch=9)

    healthy = look_at_fit(own.pipeline.fit, own.fresh(), own.train, own.validation)
    assert healthy.findings == {} and (healthy.epochs, healthy.steps_per_epoch, healthy.batches) == (1, None, 8)
    assert {"loss", "accuracy", "val_loss", "val_accuracy"} == set(healthy.reported)
    few = look_at_fit(with_steps, own.fresh(), own.train, own.validation)
    assert set(few.findings) == {"out_of_data"} and "val_loss" not in few.reported
    none = look_at_fit(lambda model, train, validation: None, own.fresh(), own.train, own.validation)
    assert isinstance(none, NotExamined) and "does not call model.fit()" in none.why


def test_compare_builds_tells_encoder_from_head(own):
    builds = compare_builds(own.pipeline.build_model)
    assert builds.findings == {} and builds.encoder[0] == builds.encoder[1] > 0
    assert builds.head[0] < builds.head[1]  # drawn anew


def test_compare_with_data_knows_rows_and_labels(own, keras, tokenizer):
    same = compare_with_data(own.train, own.raw["train"], tokenizer)
    assert same.findings == {} and (same.rows, same.unknown, same.others) == (64, 0, 0)
    others = compare_with_data(with_labels(keras, lambda y: (y + 1) % 3), keras.raw["train"], tokenizer)
    assert set(others.findings) == {"other_labels"} and others.others == 64 and others.example[1] != others.example[2]
    strange = compare_with_data(own.train, own.raw["validation_matched"], tokenizer)
    assert set(strange.findings) == {"unknown_rows"} and strange.unknown == 64


def test_sweep_rates_finds_from_where_the_loss_climbs():
    many = make("own_loss", rows=960)
    sweep = sweep_rates(many.fresh(), many.train)
    assert sweep.findings == {} and len(sweep.rates) == len(sweep.losses)
    assert 2e-4 < sweep.climbs < 1e-3 and sweep.tenth == sweep.climbs / 10
    assert sweep.losses[-1] > 1.0 > 0.85 > sweep.losses.min()


def test_sweep_rates_tells_when_there_is_nothing_to_see(own):
    assert set(sweep_rates(own.fresh(), own.train, lowest=1e-12, highest=1e-11, steps=17).findings) == {"never_falls", "few_batches"}
    assert set(sweep_rates(own.fresh(), own.batch_again(), lowest=1e-12, highest=1e-11, steps=5).findings) == {"never_falls"}


# ---------------------------------------------------------------- wrong objects

WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(
        st.sampled_from(["input_ids", "labels", "attention_mask", "x"]),
        st.one_of(st.none(), st.integers(), st.lists(st.floats(), max_size=2)),
        max_size=3,
    ),
    st.tuples(st.integers(), st.text(max_size=3)),
    st.builds(object),
    st.builds(lambda: print),
    st.builds(lambda: np.zeros((2, 3))),
)


@pytest.mark.parametrize("name", PROBES)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_probe_answers_any_wrong_object_in_two_lines(name, data):
    probe, arguments = PROBES[name]
    answer = probe(*[data.draw(WRONG) for _number in range(arguments)])
    assert isinstance(answer, NotExamined), answer
    assert answer.why and answer.next_step and len(repr(answer).splitlines()) <= 3
