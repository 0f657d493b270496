"""Reports of losses, numbers and metrics: F04, F05, F07, F08, F22."""

import warnings

import numpy as np

from reports.report import Report, walked
from reports.tiny import classes, compiled, cross_entropy, dataset, dense, distilbert, mirrored, numbers, pipeline, tf, tokens

# ---------------------------------------------------------------- F04


def loss_of(model, data) -> float:
    return model.evaluate(data, return_dict=True, verbose=0)["loss"]


def logits_of_a_transformer_taken_for_probabilities(broken):
    data = dataset(tokens(), classes(8, 3))
    model = compiled(distilbert(num_labels=3), "sparse_categorical_crossentropy" if broken else cross_entropy())
    return loss_of(model, data), (model, data)


def script_whose_loss_forgets_from_logits(broken):
    """One-hot labels, and logits from the last dense layer of a model of one's own."""
    data = dataset(0.1 * numbers(), np.eye(4)[classes(32, 4)])
    model = compiled(dense(8, 4), tf.keras.losses.CategoricalCrossentropy(from_logits=not broken))
    return loss_of(model, data), (model, data)


def softmax_over_one_output(broken):
    """The only share of one output is 1, whatever the weights are, so no gradient is left."""
    x = numbers()
    y = (x[:, :1] > 0).astype(np.float32)
    model = compiled(dense(8, 1, activation="softmax" if broken else "sigmoid"), "mse", tf.keras.optimizers.Adam(0.1))
    model.fit(x, y, verbose=0)
    return np.std(model.predict(x, verbose=0)), (model, (x, y))


def logits_that_keras_keeps(broken):
    """With from_logits=True Keras takes the logits from before the activation, and predict() gives what comes after it."""
    x, y = numbers(), classes(32, 3)
    model = compiled(dense(3, activation="softmax" if broken else None), cross_entropy())
    by_hand = float(cross_entropy()(y, tf.constant(model.predict(x, verbose=0))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras asks whether this was intended
        return abs(loss_of(model, dataset(x, y)) - by_hand), (model, (x, y))


# ---------------------------------------------------------------- F05


def binary_loss_that_chooses_the_metric(broken):
    """Counted by single outputs, nine of ten zeros are right for a model that knows nothing. (The Keras of the report chose the binary
    metric by the loss; today it must be named.)
    """
    y = classes(40, 10)
    x = np.eye(10)[np.where(np.arange(40) < 20, y, (y + 1) % 10)]  # the right answer for half of the rows
    losses = tf.keras.losses.BinaryCrossentropy if broken else tf.keras.losses.CategoricalCrossentropy
    name = "binary_accuracy" if broken else "accuracy"
    model = compiled(dense(10, features=10), losses(from_logits=True), metrics=[name])
    model.set_weights([np.eye(10), np.full(10, -5.0)])  # the largest logit is right, and none is above 0
    data = dataset(x, np.eye(10)[y])
    return model.evaluate(data, return_dict=True, verbose=0)[name], (model, data)


def several_labels_for_a_loss_of_one(broken):
    """A text may have any of four labels. The model's own loss wants exactly one."""
    y = (np.arange(8)[:, None] >> np.arange(4) & 1).astype(np.float32)
    binary = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    return walked(pipeline(lambda: dataset(tokens(), y), lambda: distilbert(num_labels=4), None if broken else lambda: binary))


# ---------------------------------------------------------------- F07


def standardised(x, broken):
    """(x - mean) / std, of columns"""
    with np.errstate(invalid="ignore"):
        return (x - x.mean(0)) / (x.std(0) + (0 if broken else 1e-6))


def column_without_spread(broken):
    x, y = numbers(), numbers(features=1)
    x[:, 2] = 1.0
    model = compiled(dense(8, 1), "mse")
    x = standardised(x, broken)
    return loss_of(model, dataset(x, y)), (model, (x, y))


def pixels_that_are_always_black(broken):
    """Pairs of pictures through one network; the pixels at the edge are 0 in all of them."""
    pictures = np.pad(np.abs(numbers(64)), ((0, 0), (2, 2)))
    x = standardised(pictures, broken).reshape(2, 32, -1).transpose(1, 0, 2)
    y = classes(32, 2)[:, None].astype(np.float32)
    tower, pair = tf.keras.layers.Dense(4, use_bias=False), tf.keras.Input((2, 8), name="input_ids")
    apart = tf.reduce_sum((tower(pair[:, 0]) - tower(pair[:, 1])) ** 2, axis=1, keepdims=True)
    model = compiled(tf.keras.Model(pair, apart), "mse")
    return loss_of(model, dataset(x, y)), (model, (x, y))


def gradient_that_explodes(broken):
    x, y = numbers(), 100 * numbers() @ np.ones((4, 1), np.float32)
    optimizer = tf.keras.optimizers.SGD(50.0, clipnorm=None if broken else 0.3)
    model = compiled(dense(1), "mse", optimizer)
    model.build((None, 4))
    weights = model.get_weights()
    last = model.fit(x, y, batch_size=32, epochs=30, verbose=0).history["loss"][-1]
    model = compiled(model, "mse", type(optimizer).from_config(optimizer.get_config()))
    model.set_weights(weights)
    return last, (model, (x, y))


def logarithm_of_a_share_that_is_zero(broken):
    """A cross-entropy by hand. The softmax of logits that lie far apart is 0, and 0 times log 0 is NaN."""

    def by_hand(labels, logits):
        return -tf.reduce_sum(labels * tf.math.log(tf.nn.softmax(logits)), axis=-1)

    x, y = 1000 * numbers(), np.eye(3)[classes(32, 3)].astype(np.float32)
    model = compiled(dense(3), by_hand if broken else tf.keras.losses.CategoricalCrossentropy(from_logits=True))
    return loss_of(model, dataset(x, y)), (model, (x, y))


# ---------------------------------------------------------------- F08


def threshold_of_a_half_on_logits(broken):
    x, y, model = mirrored()
    metric = tf.keras.metrics.BinaryAccuracy("accuracy", threshold=0.5 if broken else 0.0)
    compiled(model, tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=[metric])
    data = dataset(x, np.eye(2)[y])
    return model.evaluate(data, return_dict=True, verbose=0)["accuracy"], (model, data)


def measured(model, data, loss, metric):
    return walked(pipeline(data, model, compile_model=lambda model: compiled(model, loss(), metrics=[metric()])))


def precision_of_class_ids(broken):
    """Precision() counts yes and no for each output; a class id is neither."""

    def metric():
        return tf.keras.metrics.Precision() if broken else tf.keras.metrics.Precision(class_id=1)

    y = classes(32, 3)
    data = dataset(numbers(), y if broken else np.eye(3)[y])
    losses = tf.keras.losses
    loss = losses.SparseCategoricalCrossentropy() if broken else losses.CategoricalCrossentropy()
    return measured(lambda: dense(3, activation="softmax"), lambda: data, lambda: loss, metric)


def f1_of_class_ids(broken):
    """F1Score wants one column for each class."""
    y = classes(32, 3)[:, None].astype(np.float32)
    data = dataset(numbers(), y if broken else np.eye(3)[y[:, 0].astype(int)])
    loss = cross_entropy() if broken else tf.keras.losses.CategoricalCrossentropy(from_logits=True)
    return measured(lambda: dense(3), lambda: data, lambda: loss, lambda: tf.keras.metrics.F1Score(average="macro"))


# ---------------------------------------------------------------- F22


def half_plus_float(broken):
    """A layer that adds 32-bit positions to 16-bit states."""

    class Positions(tf.keras.layers.Layer):
        def call(self, states):
            wide = tf.range(4, dtype=tf.float32)
            return states + (wide if broken else tf.cast(wide, states.dtype))

    def model():
        half = tf.keras.mixed_precision.Policy("mixed_float16")
        return tf.keras.Sequential([tf.keras.layers.Dense(4, dtype=half), Positions(dtype=half), tf.keras.layers.Dense(2, dtype="float32")])

    return walked(pipeline(lambda: dataset(numbers(), classes(32, 2)), model, cross_entropy))


def attention_in_half(mask_by, dtype="float16"):
    """A model that looks at its tokens by one attention; ``mask_by``(scores, mask): scores with the padding left out."""

    class Attention(tf.keras.layers.Layer):
        def call(self, x):
            mask = tf.cast(x["attention_mask"], tf.float16)[:, :, None]
            states = tf.cast(tf.one_hot(x["input_ids"] % 4, 4), tf.float16)
            shares = tf.nn.softmax(tf.cast(mask_by(tf.reduce_sum(states, -1, keepdims=True), mask), dtype), axis=1)
            return tf.reduce_sum(tf.cast(shares, tf.float32) * tf.cast(states, tf.float32), axis=1)

    return tf.keras.Sequential([Attention(), tf.keras.layers.Dense(2)])


def mask_that_overflows(broken):
    """-1e30 in 16 bits is minus infinity, and 0 times that is NaN. With the scores in 32 bits it is a large number."""
    x, y = tokens(), classes(8, 2)
    kind = "float16" if broken else "float32"

    def mask_by(scores, mask):
        return tf.cast(scores, kind) + (1 - tf.cast(mask, kind)) * tf.cast(tf.constant(-1e30), kind)

    model = compiled(attention_in_half(mask_by, kind), cross_entropy())
    return loss_of(model, dataset(x, y)), (model, (x, y))


def large_number_in_the_mask(broken):
    """A causal mask subtracts a number from what is not to be seen: 1e10 in 16 bits is infinity, 1e4 is not."""
    x, y = tokens(), classes(8, 2)
    large = tf.cast(tf.constant(1e10 if broken else 1e4), tf.float16)
    model = compiled(attention_in_half(lambda scores, mask: scores * mask - large * (1 - mask)), cross_entropy())
    return loss_of(model, dataset(x, y)), (model, (x, y))


FAR_FROM_CHANCE = 0.7  # more than a new head is away from ln C
REPORTS = {
    "B037": Report("F04", logits_of_a_transformer_taken_for_probabilities, lambda loss: abs(loss - np.log(3)) > FAR_FROM_CHANCE, "loss_at_start", "another_loss"),
    "B038": Report("F04", script_whose_loss_forgets_from_logits, lambda loss: abs(loss - np.log(4)) > FAR_FROM_CHANCE, "loss_at_start", "another_loss"),
    "B040": Report("F04", softmax_over_one_output, lambda spread: spread == 0, "overfit_batch", "does_not_learn"),
    "B041": Report("F04", logits_that_keras_keeps, lambda difference: difference > 0.02, "loss_at_start", "another_loss"),
    "B043": Report("F05", binary_loss_that_chooses_the_metric, lambda accuracy: accuracy > 0.85, "score_against_baseline", "metric_differs"),
    "B045": Report("F05", several_labels_for_a_loss_of_one, ("ValueError", "labels.shape=(32,) and logits.shape=(8, 4)"), "walk", "loss", known=True),
    "B058": Report("F07", column_without_spread, np.isnan, "gradients_of", "not_finite"),
    "B059": Report("F07", pixels_that_are_always_black, np.isnan, "one_step", "not_finite"),
    "B062": Report("F07", gradient_that_explodes, lambda loss: not np.isfinite(loss), "overfit_batch", "not_finite"),
    "B063": Report("F07", logarithm_of_a_share_that_is_zero, np.isnan, "sample_losses", "not_finite"),
    "B065": Report("F08", threshold_of_a_half_on_logits, lambda accuracy: accuracy < 0.9, "score_against_baseline", "metric_differs"),
    "B067": Report("F08", precision_of_class_ids, ("ValueError", "are incompatible"), "walk", "fit", known=True),
    "B068": Report("F08", f1_of_class_ids, ("InvalidArgumentError", "Cannot update variable with shape [3]"), "walk", "fit"),
    "B156": Report("F22", half_plus_float, ("InvalidArgumentError", "half tensor but is a float tensor"), "walk", "forward"),
    "B157": Report("F22", mask_that_overflows, np.isnan, "loss_at_start", "not_finite"),
    "B158": Report("F22", large_number_in_the_mask, np.isnan, "gradients_of", "not_finite"),
}  # fmt: skip
