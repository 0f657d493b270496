"""Models and data that are small enough to break in a second."""

from importlib import import_module

import numpy as np

from helpers.pipeline import Pipeline, without_autotune


class Later:
    """A module that is imported when it is first used: to collect the tests starts no TensorFlow, and helpers comes before it."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, part: str):
        return getattr(import_module(self._name), part)


tf, transformers, datasets = Later("tensorflow"), Later("transformers"), Later("datasets")

VOCABULARY = 40  # ids of a tiny encoder; 0 is padding
RATE = 1e-2  # random weights that are this few bear a high one


def config(**options):
    sizes = {"dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 64, "vocab_size": VOCABULARY, "max_position_embeddings": 64}
    calm = {"dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0, "initializer_range": 0.2}
    return transformers.DistilBertConfig(**{**sizes, **calm, **options})


def distilbert(head: str = "ForSequenceClassification", **options):
    """A DistilBERT with random weights, built; ``options``: of its config."""
    model = getattr(transformers, f"TFDistilBert{head}")(config(**options))
    model(model.dummy_inputs)
    return model


def dense(*units: int, features: int = 4, activation=None):
    """A Keras model of dense layers; ``activation``: of the last. Its input has the name by which the probes call a single column."""
    layers = [tf.keras.layers.Dense(width, "relu") for width in units[:-1]]
    return tf.keras.Sequential([tf.keras.Input((features,), name="input_ids"), *layers, tf.keras.layers.Dense(units[-1], activation)])


def bag_of_words(count: int = 2):
    """A Keras model that reads ids, wherever they stand; ``count``: of classes."""
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Embedding(VOCABULARY, 8), layers.GlobalAveragePooling1D(), layers.Dense(count)])


def tokens(rows: int = 8, length: int = 10, padded: bool = True) -> dict:
    """Inputs of random ids; with ``padded`` each row but the first ends in padding."""
    random = np.random.default_rng(0)
    ids = random.integers(1, VOCABULARY, (rows, length))
    lengths = np.r_[length, random.integers(length // 2, length, rows - 1)] if padded else np.full(rows, length)
    mask = (np.arange(length) < lengths[:, None]).astype(np.int64)
    return {"input_ids": ids * mask, "attention_mask": mask}


def numbers(rows: int = 32, features: int = 4) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(rows, features)).astype(np.float32)


def classes(rows: int, count: int) -> np.ndarray:
    """(rows,) class ids, each as often as the others."""
    return np.arange(rows) % count


def dataset(*parts, batch_size: int = 8):
    """A tf.data.Dataset of (x, y), or of a dict alone."""
    return without_autotune(tf.data.Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0]).batch(batch_size))


def cross_entropy(**options):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, **options)


def compiled(model, loss=None, optimizer=None, **options):
    """The model, compiled to run without a graph. Without ``loss`` the model's own loss counts, as Transformers has it."""
    own = {} if loss is None else {"loss": loss}
    model.compile(optimizer=optimizer or tf.keras.optimizers.Adam(RATE), run_eagerly=True, **own, **options)
    return model


def taught(model, x, answers):
    """The model with a head that answers exactly so, for few rows: a checkpoint that was trained well, without the training."""
    hidden = model.distilbert(x)[0][:, 0]
    features = np.asarray(model.pre_classifier(hidden), np.float64)
    wanted = 8.0 * np.eye(model.config.num_labels)[answers]
    model.classifier.kernel.assign(np.linalg.pinv(features) @ wanted)
    model.classifier.bias.assign(np.zeros(model.config.num_labels))
    return model


def mirrored(rows: int = 32):
    """(x, class ids, a model that is always right: its logits are -z and z)"""
    x = numbers(rows, 1) / 4
    model = dense(2, features=1)
    model.set_weights([np.asarray([[-1.0, 1.0]]), np.zeros(2)])
    return x, (x[:, 0] > 0).astype(int), model


def pipeline(data, model, loss=None, fit=None, **stages) -> Pipeline:
    """A script around ``data`` and ``model``, two functions, that is walked; ``fit``, ``stages``: in place of the plain ones."""
    rows = datasets.DatasetDict({"train": datasets.Dataset.from_dict({"row": [0]})})
    plain = {
        "load": lambda: rows,
        "tokenize": lambda raw: raw,
        "batch": lambda tokenized: (data(), data()),
        "build_model": model,
        "compile_model": lambda model: compiled(model, loss() if callable(loss) else loss),
        "fit": fit or (lambda model, train, validation: model.fit(train, verbose=0)),
        "evaluate": lambda model, validation: model.evaluate(validation, return_dict=True, verbose=0),
    }
    return Pipeline(**{**plain, **stages})
