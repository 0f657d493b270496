"""Reports of the rate, the weights and the state of a training: F06, F17, F19, F20, F21, F23, F26."""

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np

from helpers import find_checkpoint, load_mnli
from reports.report import Report, walked
from reports.text import CASED, tokenizer
from reports.tiny import (
    RATE,
    Later,
    classes,
    compiled,
    cross_entropy,
    dataset,
    datasets,
    dense,
    distilbert,
    mirrored,
    numbers,
    pipeline,
    taught,
    tf,
    tokens,
    transformers,
)

keras_3 = Later("keras")

# ---------------------------------------------------------------- F06


def adam_by_its_name(broken):
    """The report's loss stayed flat. Four steps show why: the states of texts that were not trained on are no longer what they were."""
    rows = load_mnli(train_rows=4, validation_rows=4)
    read = tokenizer()
    x, other = (dict(read(rows[split]["premise"][:], rows[split]["hypothesis"][:], padding=True, return_tensors="np")) for split in ("train", "validation_matched"))  # fmt: skip
    model = transformers.TFAutoModelForSequenceClassification.from_pretrained(find_checkpoint(), num_labels=3)
    compiled(model, optimizer="adam" if broken else tf.keras.optimizers.Adam(2e-5))

    def states():
        return model.distilbert(other)[0].numpy()[other["attention_mask"] == 1]

    before = states()
    model.fit(dataset({**x, "labels": np.asarray(rows["train"]["label"][:])}), epochs=4, verbose=0)
    after = states()
    alike = np.sum(before * after, -1) / np.linalg.norm(before, axis=-1) / np.linalg.norm(after, axis=-1)
    return np.mean(alike), (model, 4)


def decayed(schedule, epochs: int, **options):
    """(how far each epoch of four batches moves the weights, the arguments of rate_over_time)"""
    x, y, _model = mirrored()
    model, moves = compiled(dense(2, features=1), cross_entropy(), tf.keras.optimizers.Adam(schedule)), []
    for _epoch in range(epochs):
        before = model.get_weights()[0]
        model.fit(dataset(x, y), verbose=0)
        moves.append(float(np.abs(model.get_weights()[0] - before).max()))
    return moves, (model, 4 * epochs)


def decay_that_forgets_the_epochs(broken):
    batches, epochs = 4, 3
    steps = batches if broken else batches * epochs
    return decayed(tf.keras.optimizers.schedules.PolynomialDecay(1e-4, steps, 0.0), epochs)


def decay_that_starts_with_the_warm_up(broken):
    """Ten steps up and ten down, to 5e-5. Multiplied with each other they meet at half of it."""

    class Both(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 5e-5 * tf.minimum(tf.cast(step, tf.float32) / 10, 1.0) * (1 - tf.cast(step, tf.float32) / 20)

    schedule = Both() if broken else transformers.create_optimizer(5e-5, num_train_steps=20, num_warmup_steps=10)[1]
    optimizer, weight, moves = tf.keras.optimizers.SGD(schedule), tf.Variable(0.0), []
    for _step in range(20):
        before = float(weight)
        optimizer.apply_gradients([(tf.constant(1.0), weight)])  # so a step is as long as the rate
        moves.append(before - float(weight))
    return max(moves), (optimizer, 20)


def steps_of_a_generator(broken):
    """A dataset of a generator does not know its length: its cardinality is -2."""
    x, y, _model = mirrored()
    data = tf.data.Dataset.from_generator(lambda: zip(x, y, strict=True), output_signature=(tf.TensorSpec((1,)), tf.TensorSpec((), tf.int64))).batch(8)  # fmt: skip
    steps = int(data.cardinality()) if broken else sum(1 for _batch in data)
    return decayed(tf.keras.optimizers.schedules.CosineDecay(1e-4, steps), 1)


# ---------------------------------------------------------------- F17


def discriminator_frozen_too_late(broken):
    """A generator is trained through a discriminator that must stay as it is."""
    generator, discriminator = dense(4, features=4), dense(4, 2, features=4)
    both = tf.keras.Sequential([generator, discriminator])
    discriminator.trainable = broken
    compiled(both, cross_entropy())
    discriminator.trainable = False
    x, y = numbers(), classes(32, 2)
    before = discriminator.get_weights()
    both.fit(x, y, verbose=0)
    moved = sum(not np.array_equal(old, new) for old, new in zip(before, discriminator.get_weights(), strict=True))
    return moved, (both, (x, y))


def body_set_free_after_compile(broken):
    """First the head is trained alone, then the body is set free: without a new compile() it stays still."""
    body, head = dense(4, activation="tanh"), dense(2)
    model = tf.keras.Sequential([body, head])
    body.trainable = False
    compiled(model, cross_entropy())
    x, y = numbers(), classes(32, 2)
    model.fit(x, y, verbose=0)
    body.trainable = True
    if not broken:
        compiled(model, cross_entropy())
    before = body.get_weights()[0]
    model.fit(x, y, verbose=0)
    return np.array_equal(before, body.get_weights()[0]), (model, (x, y))


def encoder_that_stays_frozen(broken):
    """What the head alone can make of random states is little."""
    x, y = tokens(32, padded=False), classes(32, 4)
    model = distilbert(num_labels=4)
    model.distilbert.trainable = not broken
    compiled(model)
    losses = model.fit(dataset({**x, "labels": y}, batch_size=32), epochs=8, verbose=0).history["loss"]
    return losses[-1] / losses[0], (model, {**x, "labels": y})


# ---------------------------------------------------------------- F19


def optimizer_of_keras_3(broken):
    adam = (keras_3 if broken else tf.keras).optimizers.Adam

    def compile_model(model):
        model.compile(optimizer=adam(1e-3))

    data = {**tokens(), "labels": classes(8, 2)}
    return walked(pipeline(lambda: dataset(data), lambda: distilbert(num_labels=2), compile_model=compile_model))


def inputs_of_keras_3_for_a_transformer(broken):
    def model():
        ids = (keras_3 if broken else tf.keras).Input((10,), dtype="int64", name="input_ids")
        states = distilbert("Model")(ids)[0]
        return tf.keras.Model(ids, tf.keras.layers.Dense(2)(states[:, 0]))

    return walked(pipeline(lambda: dataset(tokens()["input_ids"], classes(8, 2)), model, cross_entropy))


def legacy_optimizer(broken):
    def compile_model(model):
        adam = (keras_3 if broken else tf.keras).optimizers.legacy.Adam
        compiled(model, cross_entropy(), adam(1e-3))

    return walked(pipeline(lambda: dataset(numbers(), classes(32, 2)), lambda: dense(2), compile_model=compile_model))


def operation_on_an_input_of_keras_3(broken):
    def model():
        row = (keras_3 if broken else tf.keras).Input((4,))
        return tf.keras.Model(row, tf.keras.layers.Dense(2)(tf.math.abs(row)))

    return walked(pipeline(lambda: dataset(numbers(), classes(32, 2)), model, cross_entropy))


# ---------------------------------------------------------------- F20


def second_optimizer_in_one_notebook(broken):
    """compile() changes the optimizer and not the weights, so whoever comes second starts where the first has ended."""
    x, y, _model = mirrored()
    model = compiled(dense(2, features=1), cross_entropy(), tf.keras.optimizers.Adam(3.0))
    model.fit(x, y, epochs=30, verbose=0)
    second = compiled(model if broken else dense(2, features=1), cross_entropy(), tf.keras.optimizers.SGD(RATE))
    return second.evaluate(x, y, verbose=0), (second, (x, y))


def weights_that_build_does_not_draw_anew(broken):
    """build() does nothing to a model that is built. (No checkpoint is loaded here, so the fix draws a new encoder as well.)"""
    x, y = tokens(), classes(8, 2)
    model = distilbert(num_labels=2)
    taught(model, x, y)

    def fresh():
        if not broken:
            return distilbert(num_labels=2)
        model.build()
        return model

    return compiled(fresh()).evaluate(dataset({**x, "labels": y}), verbose=0), (fresh,)


def optimizer_that_goes_on_counting(broken):
    """The schedule was over when the first training was, and compile() leaves the optimizer's counter as it is."""

    def adam():
        return tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.PolynomialDecay(0.1, 4, 0.0))

    x, y, _model = mirrored()
    model, optimizer = dense(2, features=1), adam()
    compiled(model, cross_entropy(), optimizer).fit(dataset(x, y), verbose=0)
    compiled(model, cross_entropy(), optimizer if broken else adam())
    return int(model.optimizer.iterations), (model, (x, y))


def imported(path: Path, text: str):
    """The module of that text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def map_of_a_function_that_was_changed(broken):
    """datasets knows an imported function by its name, so after a change of the file it takes the old result from its cache."""
    read = tokenizer()
    texts = [f"A man reads {'a book to the children ' * count}." for count in range(1, 5)]
    with tempfile.TemporaryDirectory() as folder:
        datasets.Dataset.from_dict({"text": texts}).save_to_disk(f"{folder}/rows")
        for length in (6, 64):  # a first version cuts too much; the second is the one that should count
            module = imported(Path(folder, "my_cells.py"), f"def ids(row, read):\n    return read(row['text'], truncation=True, max_length={length})\n")  # fmt: skip
            rows = datasets.load_from_disk(f"{folder}/rows").map(module.ids, fn_kwargs={"read": read}, load_from_cache_file=broken)
        ids = [list(row) for row in rows["input_ids"]]
        del rows
    del sys.modules["my_cells"]
    x = dict(read.pad({"input_ids": ids}, return_tensors="np"))
    return max(len(row) for row in ids), (x, read, None, [len(read(text)["input_ids"]) for text in texts])


def cache_whose_key_leaves_out_the_tokenizer(broken):
    cased, read = tokenizer(do_lower_case=False), tokenizer()
    with tempfile.TemporaryDirectory() as folder:

        def cached(text, read, name):
            place = Path(folder, "rows.npy" if broken else f"{name}.npy")
            if not place.exists():
                np.save(place, read(text, return_tensors="np")["input_ids"])
            return {"input_ids": np.load(place)}

        cached(CASED, cased, "cased")
        x = cached(CASED, read, "uncased")
    return read.decode(x["input_ids"][0], skip_special_tokens=True) == CASED.lower(), (x, read)


# ---------------------------------------------------------------- F21


def weights_saved_and_another_folder_loaded(broken):
    """save_weights() writes a file of its own; from_pretrained() reads the folder that the training started from."""
    x, y = tokens(), classes(8, 2)
    with tempfile.TemporaryDirectory() as folder:
        distilbert(num_labels=2).save_pretrained(folder)
        start = transformers.TFDistilBertForSequenceClassification.from_pretrained
        model = taught(start(folder), x, y)
        if broken:
            model.save_weights(f"{folder}/trained.h5")
        else:
            model.save_pretrained(folder)
        again = start(folder)

    def evaluate(model, data):
        return compiled(again).evaluate(data, return_dict=True, verbose=0)

    batch = {**x, "labels": y}
    return evaluate(model, dataset(batch))["loss"], (evaluate, compiled(model), batch)


def kept(save):
    """A script that saves its model when it is scored; ``save``(model, folder) returns the model that is scored."""

    def evaluate(model, validation):
        with tempfile.TemporaryDirectory() as folder:
            return save(model, folder).evaluate(validation, return_dict=True, verbose=0)

    return evaluate


def subclass_saved_as_h5(broken):
    class Reader(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder, self.head = distilbert("Model"), tf.keras.layers.Dense(2)

        def call(self, x, training=False):
            return self.head(self.encoder(x, training=training)[0][:, 0])

    def save(model, folder):
        if broken:
            model.save(f"{folder}/model.h5")
        model.save_weights(f"{folder}/weights.h5")
        again = compiled(Reader(), cross_entropy())
        again(tokens())
        again.load_weights(f"{folder}/weights.h5")
        return again

    return walked(pipeline(lambda: dataset(tokens(), classes(8, 2)), Reader, cross_entropy, evaluate=kept(save)))


def functional_model_saved_as_a_transformer(broken):
    encoder = distilbert("Model")

    def model():
        ids = tf.keras.Input((10,), dtype="int64", name="input_ids")
        return tf.keras.Model(ids, tf.keras.layers.Dense(2)(encoder(ids)[0][:, 0]))

    def save(model, folder):
        (model if broken else encoder).save_pretrained(folder)
        return model

    return walked(pipeline(lambda: dataset(tokens()["input_ids"], classes(8, 2)), model, cross_entropy, evaluate=kept(save)))


# ---------------------------------------------------------------- F23


def score_of_the_training_itself(broken):
    """fit() reports the loss with dropout, and of weights that still moved."""
    x, y, sure = mirrored()
    model = tf.keras.Sequential([tf.keras.Input((1,), name="input_ids"), tf.keras.layers.Dropout(0.5), sure])
    compiled(model, cross_entropy())
    x = 8 * x

    def evaluate(model, data):
        if broken:
            return {"loss": model.fit(data, verbose=0).history["loss"][0]}
        return model.evaluate(data, return_dict=True, verbose=0)

    said = evaluate(model, dataset(x, y, batch_size=32))["loss"]
    return abs(said - model.evaluate(x, y, verbose=0)), (evaluate, model, (x, y))


def normalised(broken):
    """(x, y, a model whose BatchNormalization follows the rows' mean slowly, or at once)"""
    x, y, _model = mirrored()
    layers = tf.keras.layers
    norm = layers.BatchNormalization(momentum=0.99 if broken else 0.5)
    model = tf.keras.Sequential([tf.keras.Input((1,), name="input_ids"), norm, layers.Dense(2)])
    return x + 30.0, y, compiled(model, cross_entropy(), tf.keras.optimizers.Adam(0.1), metrics=["accuracy"])


def statistics_that_lag_behind(broken):
    """The loss of the training is low, and the answers without training=True are not right."""
    x, y, model = normalised(broken)
    losses = model.fit(x, y, batch_size=32, epochs=15, verbose=0).history["loss"]
    return model.evaluate(x, y, verbose=0)[0] / losses[-1], (normalised(broken)[2], (x, y))


def all_right_in_training_half_right_after(broken):
    x, y, model = normalised(broken)
    history = model.fit(x, y, batch_size=32, epochs=12, verbose=0).history
    return history["accuracy"][-1] - model.evaluate(x, y, verbose=0)[1], (model, dataset(x, y))


# ---------------------------------------------------------------- F26


def waited_for(callback, outcome):
    """(what came of a fit() with the callback, the arguments of look_at_fit)"""
    x, y, _model = mirrored()
    data = dataset(x, y)

    def model():
        return compiled(dense(2, features=1), cross_entropy(), metrics=["accuracy"])

    def fit(model, train, validation):
        return model.fit(train, validation_data=validation, epochs=4, callbacks=[callback()], verbose=0)

    return outcome(fit(model(), data, data)), (fit, model(), data, data)


def best_model_by_a_name_of_old(broken):
    with tempfile.TemporaryDirectory() as folder:

        def callback():
            monitor = "val_acc" if broken else "val_accuracy"
            return tf.keras.callbacks.ModelCheckpoint(f"{folder}/best.h5", monitor=monitor, save_best_only=True, save_weights_only=True)

        return waited_for(callback, lambda history: Path(folder, "best.h5").exists())


def early_stop_with_a_typing_error(broken):
    """The Keras of the report stopped at once; today's warns and never stops. min_delta says that no epoch is good enough."""

    def callback():
        return tf.keras.callbacks.EarlyStopping(monitor="value_loss" if broken else "val_loss", min_delta=100.0)

    return waited_for(callback, lambda history: len(history.epoch))


REPORTS = {
    "B048": Report("F06", adam_by_its_name, lambda alike: alike < 0.95, "rate_over_time", "too_high"),
    "B053": Report("F06", decay_that_forgets_the_epochs, lambda moves: moves[0] > 0 and moves[1] == 0, "rate_over_time", "ends_too_soon"),
    "B054": Report("F06", decay_that_starts_with_the_warm_up, lambda largest: largest < 3e-5, "rate_over_time", lambda seen: seen.highest < 3e-5),
    "B055": Report("F06", steps_of_a_generator, lambda moves: moves[0] == 0, "rate_over_time", "too_low"),
    "B121": Report("F17", discriminator_frozen_too_late, lambda moved: moved > 0, "one_step", "frozen_but_moves"),
    "B122": Report("F17", body_set_free_after_compile, lambda same: same, "one_step", "does_not_move"),
    "B124": Report("F17", encoder_that_stays_frozen, lambda share: share > 0.4, "gradients_of", "frozen"),
    "B139": Report("F19", optimizer_of_keras_3, ("ValueError", "Could not interpret optimizer identifier"), "walk", "compile_model", known=True),
    "B141": Report("F19", inputs_of_keras_3_for_a_transformer, ("ValueError", "KerasTensor"), "walk", "build_model"),
    "B142": Report("F19", legacy_optimizer, ("ImportError", "`keras.optimizers.legacy` is not supported in Keras 3"), "walk", "compile_model"),
    "B143": Report("F19", operation_on_an_input_of_keras_3, ("ValueError", "A KerasTensor cannot be used as input to a TensorFlow function"), "walk", "build_model"),
    "B144": Report("F20", second_optimizer_in_one_notebook, lambda loss: loss < 0.2, "loss_at_start", "far_from_chance"),
    "B146": Report("F20", weights_that_build_does_not_draw_anew, lambda loss: loss < 0.2, "compare_builds", "same_model", left=frozenset({"encoder_differs"})),
    "B147": Report("F20", optimizer_that_goes_on_counting, lambda steps: steps > 0, "one_step", "does_not_move"),
    "B148": Report("F20", map_of_a_function_that_was_changed, lambda longest: longest == 6, "decode_batch", "cut"),
    "B149": Report("F20", cache_whose_key_leaves_out_the_tokenizer, lambda same: not same, "decode_batch", "unknown_words"),
    "B151": Report("F21", weights_saved_and_another_folder_loaded, lambda loss: loss > 0.5, "evaluate_again", "loss_differs"),
    "B152": Report("F21", subclass_saved_as_h5, ("NotImplementedError", "HDF5 format requires the model to be a Functional model"), "walk", "evaluate"),
    "B154": Report("F21", functional_model_saved_as_a_transformer, ("AttributeError", "no attribute 'save_pretrained'"), "walk", "evaluate"),
    "B160": Report("F23", score_of_the_training_itself, lambda difference: difference > 0.05, "evaluate_again", "loss_differs"),
    "B161": Report("F23", statistics_that_lag_behind, lambda times: times > 5, "overfit_batch", lambda seen: seen.losses[-1] < 0.3 and seen.accuracy < 0.7),
    "B162": Report("F23", all_right_in_training_half_right_after, lambda difference: difference > 0.3, "score_against_baseline", "one_answer"),
    "B172": Report("F26", best_model_by_a_name_of_old, lambda there: not there, "look_at_fit", "monitor_missing"),
    "B173": Report("F26", early_stop_with_a_typing_error, lambda epochs: epochs == 4, "look_at_fit", "monitor_missing"),
}  # fmt: skip
