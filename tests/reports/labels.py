"""Reports of labels that do not reach the loss, or that the head does not fit: F01, F02, F03, F24, F25."""

import tempfile

import numpy as np

from reports.report import Report, raised, walked
from reports.tiny import (
    VOCABULARY,
    bag_of_words,
    classes,
    compiled,
    cross_entropy,
    dataset,
    dense,
    distilbert,
    numbers,
    pipeline,
    taught,
    tf,
    tokens,
    transformers,
)

NAMES = ["entailment", "neutral", "contradiction"]  # of MNLI in datasets, in the order of the ids

# ---------------------------------------------------------------- F01


def masked_lm_labels_under_a_name_of_their_own(broken):
    """The loss of compile() looks for y. (The library of the report gave "No gradients"; today it says that it found no labels.)"""
    x = tokens()
    batch = {**x, "masked_lm_labels": x["input_ids"]} if broken else (x, x["input_ids"])
    model = compiled(distilbert("ForMaskedLM"), cross_entropy())
    data = dataset(*batch) if isinstance(batch, tuple) else dataset(batch)
    return raised(model.fit, data, verbose=0), (batch,)


def cost_made_before_the_tape(broken):
    model, x, y = dense(1), numbers(), numbers(features=1)

    def cost():
        return tf.reduce_mean((model(x) - y) ** 2)

    early = cost()
    minimized = (lambda: early) if broken else cost
    compiled(model, lambda labels, answers: early if broken else tf.reduce_mean((answers - labels) ** 2))
    return raised(model.optimizer.minimize, minimized, model.trainable_variables), (model, (x, y))


def loss_of_ranks(broken):
    def of_ranks(labels, scores):
        ranks = [tf.cast(tf.argsort(tf.argsort(values[:, 0])), tf.float32) for values in (labels, scores)]
        return tf.reduce_mean((ranks[0] - ranks[1]) ** 2)

    def of_pairs(labels, scores):
        above = tf.cast(labels > tf.transpose(labels), tf.float32)
        return tf.reduce_mean(above * tf.nn.softplus(tf.transpose(scores) - scores))

    x, y = tokens(), numbers(rows=8, features=1)
    model = compiled(distilbert(num_labels=1), of_ranks if broken else of_pairs)
    return raised(model.fit, dataset(x, y), verbose=0), (model, (x, y))


def loss_that_ignores_the_answers(broken):
    x, y = numbers(), numbers(features=1)
    model = compiled(dense(8, 1), lambda labels, answers: tf.reduce_mean((labels - (labels if broken else answers)) ** 2))
    return raised(model.fit, x, y, verbose=0), (model, (x, y))


def pooler_that_no_head_reads(broken):
    """Harmless: the warning names weights that the answers do not use. The fix of the report leaves them out."""
    from transformers.models.bert.modeling_tf_bert import TFBertMainLayer

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    settings = transformers.BertConfig(vocab_size=VOCABULARY, **sizes)

    class Tagger(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.bert = TFBertMainLayer(settings, add_pooling_layer=broken, name="bert")
            self.head = tf.keras.layers.Dense(3)

        def call(self, x, training=False):
            return self.head(self.bert(x["input_ids"], attention_mask=x["attention_mask"], training=training)[0][:, 0])

    x, y = tokens(), classes(8, 3)
    model = compiled(Tagger(), cross_entropy())
    model(x)
    before = [weight.numpy() for weight in model.weights]
    model.fit(dataset(x, y), verbose=0)
    still = [weight.name for weight, old in zip(model.weights, before, strict=True) if np.array_equal(weight, old)]
    return still, (model, (x, y))


def labels_for_an_encoder_without_head(broken):
    batch = {**tokens(), "labels": classes(8, 2)}
    model = compiled(distilbert("Model") if broken else distilbert(num_labels=2))
    return raised(model.fit, dataset(batch), verbose=0), (batch, model)


def trainer_that_drops_the_label(broken):
    """A column that is not named as labels is dropped, and the model has nothing to make a loss of."""
    batch = {**tokens(), "labels": classes(8, 2)}
    kept = {name: batch[name] for name in ("input_ids", "attention_mask")} if broken else batch
    model = compiled(distilbert(num_labels=2))
    return raised(model.fit, dataset(kept), verbose=0), (dataset(kept),)


# ---------------------------------------------------------------- F02


def head_of_the_saved_config(broken):
    with tempfile.TemporaryDirectory() as folder:
        distilbert(num_labels=2).save_pretrained(folder)
        options = {} if broken else {"num_labels": 3, "ignore_mismatched_sizes": True}
        model = compiled(transformers.TFDistilBertForSequenceClassification.from_pretrained(folder, **options))
    data = dataset({**tokens(), "labels": classes(8, 3)})
    return raised(model.fit, data, verbose=0), (data, model)


def classes_counted_from_one(broken):
    """101 classes, 1 … 101. On a GPU the loss is NaN, on a CPU it raises."""
    x, y = numbers(202), classes(202, 101) + (1 if broken else 0)
    model = compiled(dense(16, 101), cross_entropy())
    return raised(model.fit, dataset(x, y, batch_size=101), verbose=0), (model, (x, y))


def tokens_marked_minus_one(broken):
    """Word pieces without a tag. A plain loss takes -1 for a class; the model's own leaves -100 out."""
    x = tokens()
    y = np.where(x["attention_mask"] == 1, x["input_ids"] % 25, -1 if broken else -100)
    model = compiled(distilbert("ForTokenClassification", num_labels=25), cross_entropy() if broken else None)
    return raised(model.fit, dataset(x, y), verbose=0), (model, (x, y))


def fourteen_classes_two_outputs(broken):
    model = compiled(distilbert(**({} if broken else {"num_labels": 14})))
    data = dataset({**tokens(16), "labels": classes(16, 14)})
    return raised(model.fit, data, verbose=0), (data, model)


def alphabet_larger_than_the_output(broken):
    """A recognizer that writes 49 signs, one in each time step."""
    x, y = numbers(80).reshape(8, 10, -1), classes(80, 49).reshape(8, 10)
    model = compiled(tf.keras.Sequential([tf.keras.layers.Dense(40 if broken else 49)]), cross_entropy())
    return raised(model.fit, dataset(x, y), verbose=0), (model, (x, y))


def four_classes_two_outputs_under_xla(broken):
    """What the report saw on a GPU is seen under XLA on a CPU: nothing raises, the loss is NaN."""
    x, y = tokens(), classes(8, 4)
    model = compiled(distilbert(**({} if broken else {"num_labels": 4})))
    loss = tf.function(model.hf_compute_loss, jit_compile=True)(tf.constant(y), model(x).logits)
    return float(tf.reduce_mean(loss)), (dataset({**x, "labels": y}), model)


def ignored_id_of_the_other_library(broken):
    """A loss that leaves out -1, and labels that say -100."""
    x = tokens()
    y = np.where(x["attention_mask"] == 1, x["input_ids"] % 5, -100)
    ignored = -1 if broken else -100

    def masked(labels, logits):
        there = labels != ignored
        return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.boolean_mask(labels, there), tf.boolean_mask(logits, there))

    model = compiled(distilbert("ForTokenClassification", num_labels=5), masked)
    return raised(model.fit, dataset(x, y), verbose=0), (model, (x, y))


# ---------------------------------------------------------------- F03


def token_head_for_whole_texts(broken):
    head = "ForTokenClassification" if broken else "ForSequenceClassification"
    return walked(pipeline(lambda: dataset(tokens(), classes(8, 2)), lambda: distilbert(head, num_labels=2), cross_entropy))


def one_hot_labels_for_a_sparse_loss(broken):
    x, y = numbers(), classes(32, 5)
    data = dataset(x, np.eye(5)[y] if broken else y)
    return raised(compiled(dense(5), cross_entropy()).fit, data, verbose=0), (data,)


def last_step_for_a_target_in_each(broken):
    def model():
        return tf.keras.Sequential([tf.keras.layers.Embedding(VOCABULARY, 8), tf.keras.layers.GRU(8, return_sequences=not broken), tf.keras.layers.Dense(VOCABULARY)])  # fmt: skip

    ids = tokens()["input_ids"]
    return walked(pipeline(lambda: dataset(ids, np.roll(ids, -1, axis=1)), model, cross_entropy))


def class_ids_for_a_categorical_loss(broken):
    y = classes(32, 2)[:, None]
    data = dataset(numbers(), y if broken else np.eye(2)[y[:, 0]])
    model = compiled(dense(2), tf.keras.losses.CategoricalCrossentropy(from_logits=True))
    return raised(model.fit, data, verbose=0), (data,)


def one_hot_of_labels_from_one(broken):
    """Seven classes, 1 … 7: to_categorical() makes eight columns of them."""
    y = classes(32, 7) + 1

    def data():
        return dataset(numbers(), tf.keras.utils.to_categorical(y if broken else y - 1))

    return walked(pipeline(data, lambda: dense(7), lambda: tf.keras.losses.CategoricalCrossentropy(from_logits=True)))


def one_text_taken_for_many(broken):
    """Ids without a batch axis: predict() takes each for a text of one token."""
    ids = tokens(rows=1, length=16)["input_ids"]
    x = {"input_ids": ids[0] if broken else ids}
    model = compiled(distilbert(num_labels=2))
    return model.predict(x, batch_size=1, verbose=0).logits.shape[0], (x,)


# ---------------------------------------------------------------- F24


def nli_checkpoint():
    """A model that answers twelve texts rightly, with the classes in an order of its own."""
    x, truth = tokens(12), classes(12, 3)  # truth: ids of NAMES
    own = ["contradiction", "neutral", "entailment"]
    model = distilbert(num_labels=3, id2label=dict(enumerate(own)), label2id={name: id_ for id_, name in enumerate(own)})
    return compiled(taught(model, x, [own.index(NAMES[label]) for label in truth]), metrics=["accuracy"]), x, truth


def classes_of_the_checkpoint_in_another_order(broken):
    model, x, truth = nli_checkpoint()
    y = truth if broken else np.asarray([model.config.label2id[NAMES[label]] for label in truth])
    data = dataset({**x, "labels": y})
    return model.evaluate(data, return_dict=True, verbose=0)["accuracy"], (model, data)


def answers_read_by_the_names_of_the_data(broken):
    """Far below guessing: every class has moved by one place. The fix reads the answers by the names that the checkpoint has."""
    model, x, truth = nli_checkpoint()
    moved = [1, 2, 0]
    taught(model, x, [moved.index(label) for label in truth])
    data_names = NAMES if broken else [NAMES[label] for label in moved]
    model.config.id2label = {id_: NAMES[label] for id_, label in enumerate(moved)}
    answers = model(x).logits.numpy().argmax(1)
    right = np.mean([data_names[answer] == NAMES[label] for answer, label in zip(answers, truth, strict=True)])
    return right, (dataset({**x, "labels": truth}), model, data_names)


def labels_in_the_order_of_the_task(broken):
    """The task lists its classes in an order of its own, and the rows' ids are read with that list."""
    import helpers

    task = ["contradiction", "entailment", "neutral"] if broken else NAMES
    rows = helpers.load_mnli(train_rows=16, validation_rows=4)["train"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(_checkpoint())
    x = tokenizer(rows["premise"][:], rows["hypothesis"][:], truncation=True, padding=True, return_tensors="np")
    labels = np.asarray([task.index(NAMES[label]) for label in rows["label"]])
    return np.mean(labels == rows["label"]), (dataset(dict(x), labels), rows, tokenizer)


# ---------------------------------------------------------------- F25


def rows_of_different_length_as_objects(broken):
    rows = [[3, 4], [5, 6, 7], [8], [9, 10]]
    padded = np.zeros((4, 3), np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    x = np.asarray([list(row) for row in rows], dtype=object) if broken else padded
    return walked(pipeline(lambda: dataset(x, classes(4, 2)), bag_of_words, cross_entropy))


def labels_that_are_words(broken):
    y = np.asarray(["no", "yes"])[classes(32, 2)]
    y = y if broken else tf.keras.layers.StringLookup(vocabulary=["no", "yes"], num_oov_indices=0)(y)
    data = dataset(numbers(), y)
    return raised(compiled(dense(2), cross_entropy()).fit, data, verbose=0), (data,)


def _checkpoint():
    import helpers

    return helpers.find_checkpoint()


NO_GRADIENT = ("ValueError", "No gradients provided for any variable")
OUTSIDE = "which is outside the valid range of"
REPORTS = {
    "B001": Report("F01", masked_lm_labels_under_a_name_of_their_own, ("ValueError", "Could not find label column(s)"), "look_at_batch", lambda view: view.labels_at is None, known=True),
    "B004": Report("F01", cost_made_before_the_tape, NO_GRADIENT, "gradients_of", "no_gradient", known=True),
    "B005": Report("F01", loss_of_ranks, NO_GRADIENT, "gradients_of", "no_gradient", known=True),
    "B008": Report("F01", loss_that_ignores_the_answers, NO_GRADIENT, "gradients_of", "no_gradient", known=True),
    "B009": Report("F01", pooler_that_no_head_reads, lambda still: still and all("pooler" in name for name in still), "gradients_of", lambda seen: seen.none and all("pooler" in name for name in seen.none)),
    "B013": Report("F01", labels_for_an_encoder_without_head, ("TypeError", "got an unexpected keyword argument 'labels'"), "look_at_batch", lambda view: view.not_taken == ["labels"]),
    "B015": Report("F01", trainer_that_drops_the_label, ("TypeError", "Argument `target` should be a list"), "look_at_batch", lambda view: view.labels_at is None, known=True),
    "B018": Report("F02", head_of_the_saved_config, ("InvalidArgumentError", f"{OUTSIDE} [0, 2)"), "audit_labels", "outside_the_head", known=True),
    "B019": Report("F02", classes_counted_from_one, ("InvalidArgumentError", f"label value of 101 {OUTSIDE} [0, 101)"), "sample_losses", "not_finite", known=True),
    "B020": Report("F02", tokens_marked_minus_one, ("InvalidArgumentError", f"label value of -1 {OUTSIDE} [0, 25)"), "sample_losses", "not_finite", known=True),
    "B021": Report("F02", fourteen_classes_two_outputs, ("InvalidArgumentError", OUTSIDE), "audit_labels", "outside_the_head", known=True),
    "B023": Report("F02", alphabet_larger_than_the_output, ("InvalidArgumentError", f"{OUTSIDE} [0, 40)"), "sample_losses", "not_finite", known=True),
    "B024": Report("F02", four_classes_two_outputs_under_xla, np.isnan, "audit_labels", "outside_the_head"),
    "B025": Report("F02", ignored_id_of_the_other_library, ("InvalidArgumentError", f"label value of -100 {OUTSIDE} [0, 5)"), "sample_losses", "not_finite", known=True),
    "B026": Report("F03", token_head_for_whole_texts, ("ValueError", "labels.shape=(8,) and logits.shape=(80, 2)"), "walk", "loss", known=True),
    "B027": Report("F03", one_hot_labels_for_a_sparse_loss, ("ValueError", "`labels.shape` must equal `logits.shape`"), "audit_labels", lambda audit: audit.form == "one-hot", known=True),
    "B029": Report("F03", last_step_for_a_target_in_each, ("ValueError", "`labels.shape` must equal `logits.shape`"), "walk", "loss", known=True),
    "B030": Report("F03", class_ids_for_a_categorical_loss, ("ValueError", "Shapes (8, 1) and (8, 2) are incompatible"), "audit_labels", lambda audit: audit.form == "ids", known=True),
    "B031": Report("F03", one_hot_of_labels_from_one, ("ValueError", "Shapes (8, 8) and (8, 7) are incompatible"), "walk", "loss", known=True),
    "B034": Report("F03", one_text_taken_for_many, lambda rows: rows == 16, "look_at_batch", lambda view: view.rows is None),
    "B164": Report("F24", classes_of_the_checkpoint_in_another_order, lambda accuracy: accuracy < 0.4, "score_against_baseline", "classes_exchanged"),
    "B166": Report("F24", answers_read_by_the_names_of_the_data, lambda accuracy: accuracy < 0.1, "audit_labels", "names_differ"),
    "B167": Report("F24", labels_in_the_order_of_the_task, lambda same: same < 0.1, "compare_with_data", "other_labels"),
    "B168": Report("F25", rows_of_different_length_as_objects, ("ValueError", "Unsupported object type list"), "walk", "batch"),
    "B169": Report("F25", labels_that_are_words, ("UnimplementedError", "Cast string to"), "audit_labels", "not_one_per_row"),
}  # fmt: skip
