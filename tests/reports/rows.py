"""Reports of batches, order, splits and shares of the rows: F12 to F16."""

import numpy as np

from reports.report import Report, walked
from reports.text import tokenizer
from reports.tiny import (
    VOCABULARY,
    bag_of_words,
    classes,
    compiled,
    cross_entropy,
    dataset,
    dense,
    distilbert,
    mirrored,
    numbers,
    pipeline,
    tf,
    tokens,
)

# ---------------------------------------------------------------- F12


def fitted(fit, batches: int):
    """(epochs that came to an end, the arguments of look_at_fit)"""
    data = dataset(numbers(8 * batches), classes(8 * batches, 2))

    def model():
        return compiled(dense(2), cross_entropy())

    ended = fit(model(), data, None)
    return len(ended.history["loss"]), (fit, model(), data, data)


def more_steps_than_batches(broken):
    """The data end at 80 % of the first epoch, and so does the training."""
    return fitted(lambda model, train, validation: model.fit(train, epochs=3, steps_per_epoch=10 if broken else None, verbose=0), 8)


def steps_that_do_not_come_out_even(broken):
    """With six steps of seven batches the next epoch goes on at the seventh, and the second epoch has no more than that."""
    return fitted(lambda model, train, validation: model.fit(train, epochs=3, steps_per_epoch=6 if broken else 7, verbose=0), 7)


def batch_size_for_a_dataset(broken):
    """fit() does not batch a Dataset, whatever batch_size says: three rows are three steps, and not one."""
    data = tf.data.Dataset.from_tensor_slices({**tokens(3), "labels": classes(3, 2)})
    data = data if broken else data.batch(8)
    model = compiled(distilbert(num_labels=2))
    model.fit(data, batch_size=8 if broken else None, verbose=0)
    return int(model.optimizer.iterations), (data,)


def batches_that_nobody_keeps(broken):
    """batch() returns another dataset; the old one stays as it was."""

    def data():
        rows = tf.data.Dataset.from_tensor_slices((numbers(), classes(32, 2)))
        batches = rows.batch(10)
        return rows if broken else batches

    return walked(pipeline(data, lambda: dense(2), cross_entropy))


# ---------------------------------------------------------------- F13


def words(rows: int, count: int = 2, seed: int = 2):
    """(ids, labels): texts of eight words, of which one tells the class; sorted by class."""
    labels = np.sort(classes(rows, count))
    ids = np.random.default_rng(seed).integers(count + 1, VOCABULARY, (rows, 8))
    ids[:, 3] = labels + 1
    return ids, labels


def two_classes_one_after_the_other(broken):
    ids, labels = words(128)
    order = np.arange(128) if broken else np.random.default_rng(0).permutation(128)
    train, validation = dataset(ids[order], labels[order]), dataset(*words(16, seed=5))
    model = compiled(bag_of_words(), cross_entropy())
    model.fit(train, verbose=0)
    answers = model.predict(ids, verbose=0).argmax(1)
    return max(np.mean(answers == 0), np.mean(answers == 1)), (train, validation)


def shuffled_by(buffer: int):
    """(kinds of labels in a batch, the arguments of compare_splits)"""
    data = tf.data.Dataset.from_tensor_slices(words(200, 4)).shuffle(buffer, seed=1).batch(8)
    return np.mean([len(set(labels.numpy())) for _ids, labels in data]), (data, dataset(*words(40, 4, seed=5)))


def buffer_of_two(broken):
    return shuffled_by(2 if broken else 200)


def buffer_of_a_fiftieth(broken):
    """The first batches of an epoch hold the first rows of the file."""
    rows = 400
    data = tf.data.Dataset.from_tensor_slices(words(rows)).shuffle(rows // 50 if broken else rows, seed=1).batch(8)
    first = np.concatenate([labels for _ids, labels in data.take(10)])
    return np.mean(first), (data, dataset(*words(40, seed=5)))


# ---------------------------------------------------------------- F14


def split_after_a_shuffle(broken):
    """shuffle() draws again in each epoch, so take() and skip() cut elsewhere each time."""
    ids, labels = words(64)
    data = tf.data.Dataset.from_tensor_slices((ids, labels)).shuffle(64, seed=1, reshuffle_each_iteration=broken).batch(8)
    validation, train = data.take(2), data.skip(2)
    seen = [{tuple(row) for batch, _labels in part for row in batch.numpy()} for part in (train, validation, train, validation)]
    return len((seen[0] | seen[2]) & (seen[1] | seen[3])), (train, validation)


TEXTS = ["A man reads.", "Two dogs run.", "The children sleep.", "A woman eats."]


def texts_that_are_twice_in_the_source(broken):
    """The same texts with other capitals and spaces, in what is held back."""
    held_back = ["a man  reads.", "TWO DOGS RUN."] if broken else ["The man eats.", "Two women run."]
    read = tokenizer()
    parts = [dict(read(texts, padding=True, return_tensors="np")) for texts in (TEXTS, held_back)]
    plain = [{" ".join(text.lower().split()) for text in texts} for texts in (TEXTS, held_back)]
    return len(plain[0] & plain[1]), tuple(dataset(part, classes(len(part["input_ids"]), 2)) for part in parts)


def validation_rows_inside_the_training_file(broken):
    """The labels are drawn by lot: whoever knows them has seen them."""
    random = np.random.default_rng(3)
    ids, labels = random.integers(1, 400, (96, 8)), random.integers(0, 2, 96)
    train, validation = slice(0, 64), slice(32, 64) if broken else slice(64, 96)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Embedding(400, 16, input_length=8), layers.Flatten(), layers.Dense(2)])
    compiled(model, cross_entropy(), tf.keras.optimizers.Adam(0.05), metrics=["accuracy"])
    model.fit(ids[train], labels[train], epochs=4, batch_size=16, verbose=0)
    parts = [dataset(ids[part], labels[part]) for part in (train, validation)]
    return model.evaluate(parts[1], return_dict=True, verbose=0)["accuracy"], parts


# ---------------------------------------------------------------- F15


def scored(evaluate):
    """(the accuracy that a script's evaluate() gives a model that is always right, the arguments of evaluate_again)"""
    x, y, model = mirrored()
    compiled(model, cross_entropy())
    return evaluate(model, dataset(x, y, batch_size=32))["accuracy"], (evaluate, model, (x, y))


def scores_of(model, data, answers, labels):
    loss = model.evaluate(data, return_dict=True, verbose=0)["loss"]
    return {"loss": loss, "accuracy": float(np.mean(np.asarray(answers) == np.asarray(labels)))}


def labels_of_a_second_pass(broken):
    """predict() reads the shuffled rows once, and the labels are read from them once more."""

    def evaluate(model, data):
        again = data.unbatch().shuffle(32) if broken else data.unbatch()
        again = again.batch(8)
        return scores_of(model, data, model.predict(again, verbose=0).argmax(1), np.concatenate([y for _x, y in again]))

    return scored(evaluate)


def confusion_of_files_and_answers(broken):
    """A generator that lists its classes in the order of the files, and gives the files in another."""

    def evaluate(model, data):
        x, files = (np.asarray(part) for part in next(iter(data)))
        order = np.random.default_rng(6).permutation(len(x)) if broken else np.arange(len(x))

        class Pictures(tf.keras.utils.Sequence):
            def __len__(self):
                return 4

            def __getitem__(self, number):
                rows = order[8 * number : 8 * number + 8]
                return x[rows], files[rows]

        answers = model.predict(Pictures(), verbose=0).argmax(1)
        confusion = tf.math.confusion_matrix(files, answers).numpy()
        return {**scores_of(model, data, answers, files), "accuracy": confusion.trace() / confusion.sum()}

    return scored(evaluate)


def flow_that_shuffles_by_default(broken):
    def evaluate(model, data):
        x, y = (np.asarray(part) for part in next(iter(data)))
        pictures = tf.keras.preprocessing.image.ImageDataGenerator()
        flow = pictures.flow(x[:, None, None], y, batch_size=8, **({} if broken else {"shuffle": False}))
        seen = np.concatenate([flow[number][0] for number in range(4)])
        return scores_of(model, data, model.predict(seen[:, 0, 0], verbose=0).argmax(1), y)

    return scored(evaluate)


# ---------------------------------------------------------------- F16


def rare_second_class(rare: int, rows: int = 220):
    """(x, y): two classes that lie close together, one with ``rare`` rows."""
    y = (np.arange(rows) < rare).astype(int)
    x = numbers(rows) + 0.5 * y[:, None]
    order = np.random.default_rng(4).permutation(rows)
    return x[order], y[order]


def everything_is_the_frequent_class(broken):
    """With weights the rare class is found. That costs accuracy, so the model stays below the majority's share."""
    x, y = rare_second_class(10)
    model = compiled(dense(2), cross_entropy(), tf.keras.optimizers.Adam(0.1))
    model.set_weights([np.zeros((4, 2)), np.zeros(2)])
    model.fit(x, y, epochs=8, batch_size=110, class_weight=None if broken else {0: 1.0, 1: 21.0}, verbose=0)
    return np.mean(model.predict(x, verbose=0).argmax(1) == 1), (model, dataset(x, y))


def one_in_eleven(broken):
    x, y = rare_second_class(20)
    kept = np.arange(220) if broken else np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:20]].repeat(2)
    model = compiled(dense(2), cross_entropy(), tf.keras.optimizers.Adam(0.1))
    model.set_weights([np.zeros((4, 2)), np.zeros(2)])
    model.fit(x[kept], y[kept], epochs=8, batch_size=110, verbose=0)
    return np.mean(model.predict(x[y == 1], verbose=0).argmax(1) == 1), (dataset(x[kept], y[kept]),)


def class_weight_for_two_outputs(broken):
    """Two heads, each with its labels. Weights of rows say the same, and Keras takes them."""

    def model():
        row = tf.keras.Input((4,), name="row")
        return tf.keras.Model(row, [tf.keras.layers.Dense(2, name=name)(row) for name in ("tone", "topic")])

    x, y = numbers(), classes(32, 2)
    labels = {"tone": y, "topic": 1 - y}
    weights = {0: 1.0, 1: 3.0}
    given = (x, labels) if broken else (x, labels, np.where(y == 1, 3.0, 1.0))

    def fit(model, train, validation):
        return model.fit(train, class_weight=weights if broken else None, verbose=0)

    return walked(pipeline(lambda: dataset(*given), model, lambda: {name: cross_entropy() for name in labels}, fit=fit))


REPORTS = {
    "B095": Report("F12", more_steps_than_batches, lambda epochs: epochs < 3, "look_at_fit", "out_of_data"),
    "B096": Report("F12", steps_that_do_not_come_out_even, lambda epochs: epochs < 3, "look_at_fit", lambda call: call.epochs * call.steps_per_epoch > call.batches > call.steps_per_epoch),
    "B099": Report("F12", batch_size_for_a_dataset, lambda steps: steps > 1, "look_at_batch", lambda view: view.rows is None),
    "B100": Report("F12", batches_that_nobody_keeps, ("ValueError", "incompatible with the layer"), "walk", "fit"),
    "B104": Report("F13", two_classes_one_after_the_other, lambda share: share > 0.95, "compare_splits", "sorted"),
    "B105": Report("F13", buffer_of_two, lambda kinds: kinds < 1.5, "compare_splits", "sorted"),
    "B106": Report("F13", buffer_of_a_fiftieth, lambda share: share < 0.1, "compare_splits", "sorted"),
    "B108": Report("F14", split_after_a_shuffle, lambda both: both > 0, "compare_splits", "rows_in_both"),
    "B109": Report("F14", texts_that_are_twice_in_the_source, lambda both: both > 0, "compare_splits", "rows_in_both"),
    "B110": Report("F14", validation_rows_inside_the_training_file, lambda accuracy: accuracy > 0.9, "compare_splits", "rows_in_both"),
    "B112": Report("F15", labels_of_a_second_pass, lambda accuracy: accuracy < 0.8, "evaluate_again", "metric_differs"),
    "B113": Report("F15", confusion_of_files_and_answers, lambda accuracy: accuracy < 0.8, "evaluate_again", "metric_differs"),
    "B115": Report("F15", flow_that_shuffles_by_default, lambda accuracy: accuracy < 0.8, "evaluate_again", "metric_differs"),
    "B116": Report("F16", everything_is_the_frequent_class, lambda share: share == 0, "score_against_baseline", "one_answer", left=frozenset({"not_above_majority"})),
    "B118": Report("F16", one_in_eleven, lambda share: share < 0.1, "audit_labels", "imbalanced"),
    "B120": Report("F16", class_weight_for_two_outputs, ("ValueError", "`class_weight` is only supported for Models with a single output"), "walk", lambda seen: "single output" in (seen.message or "")),
}  # fmt: skip
