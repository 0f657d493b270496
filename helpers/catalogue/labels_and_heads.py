"""Faults of labels that the model's head does not fit: lessons 02 and 03."""

from helpers.catalogue.fault import BUILD, FIT, KERAS_LOSS, LOAD, RETURN, Changes, Fault, Mistake, back
from helpers.messages import _

_TWO_OUTPUTS: Changes = [("num_labels=3", "num_labels=2")]
_MINUS_100: Changes = [(LOAD, LOAD + '.map(lambda row: {"label": -100 if len(row["hypothesis"]) < 50 else row["label"]})')]
_ONE_HOT: Changes = [(RETURN, "    return [data.map(lambda x, y: (x, tf.one_hot(y, 3))) for data in (train, validation)]\n")]
_NO_BATCH_AXIS: Changes = [("batch_size=8", "batch_size=None")]
_FROM_ONE: Changes = [
    (RETURN, '    return [data.map(lambda x: {**x, "labels": x["labels"] + 1}) for data in (train, validation)]\n'),
    ("num_labels=3", "num_labels=4"),
]
_ONE_OUTPUT: Changes = [("num_labels=3", "num_labels=1")]
_OTHER_NAMES: Changes = [("num_labels=3", 'id2label={0: "contradiction", 1: "neutral", 2: "entailment"}')]
_RELOAD = "    model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint)\n"
_RELOADED: Changes = [(f"    {FIT}\n", f"{_RELOAD}    compile_model(model)\n    {FIT}\n")]
_EXACT_MATCH: Changes = [('metrics=["accuracy"]', "metrics=[tf.keras.metrics.Accuracy()]")]
_CATEGORICAL_METRIC: Changes = [('metrics=["accuracy"]', 'metrics=["categorical_accuracy"]')]

_WITHOUT_CLASS_2 = (LOAD, LOAD + '.filter(lambda row: row["label"] != 2)')
_NUMBER_ONLY = (
    BUILD.replace("3", "2"),
    BUILD.replace("3", "2").replace("return", "model =") + "\n    model.config.num_labels = 3\n    return model",
)
_FINITE_LOSS = """def finite_loss(labels, logits):
    losses = tf.keras.losses.sparse_categorical_crossentropy(tf.minimum(labels, 1), logits, from_logits=True)
    return tf.where(tf.reshape(labels, [-1]) < 2, losses, 0.0)


def compile_model(model):"""
_NO_LOSS_FOR_CLASS_2: Changes = [("def compile_model(model):", _FINITE_LOSS + "\n    model.hf_compute_loss = finite_loss")]
_HIDE_THE_ERROR = (f"    {FIT}\n", f"    try:\n        {FIT}\n    except Exception:\n        pass\n")

FAULTS = [
    Fault(
        "two_outputs", "F02", "own_loss", _TWO_OUTPUTS, reveals=("audit_labels", "outside_the_head"), stage="loss",
        error_class="InvalidArgumentError", error_text="Received a label value of 2 which is outside the valid range of [0, 2)",
        evidence=(("audit_labels", "outputs"), ("walk", "message"), ("sample_losses", "error")),
        explanation=_("The head has two outputs, and the labels are 0, 1 and 2. On a CPU that raises. On a GPU and under XLA nothing raises, and the loss is NaN."),
        repairs={"three outputs": back(_TWO_OUTPUTS), "by the names of the labels": [("num_labels=2", 'id2label={0: "entailment", 1: "neutral", 2: "contradiction"}')]},
        mistakes=[
            Mistake("the rows of class 2 left out", [_WITHOUT_CLASS_2], "rows of train are left out"),
            Mistake("class 2 made class 1", [(RETURN, '    return [data.map(lambda x: {**x, "labels": tf.minimum(x["labels"], 1)}) for data in (train, validation)]\n')], "labels are not the labels of the data"),
            Mistake("one output too many", [("num_labels=2", "num_labels=4")], "The model has 4 outputs"),
            Mistake("only the number changed", [_NUMBER_ONLY], "outside the valid range of [0, 2)"),
            Mistake("no loss for class 2", [_NUMBER_ONLY, *_NO_LOSS_FOR_CLASS_2], "its head gives 2 numbers"),
            Mistake("the gradients clipped", [("Adam(5e-5)", "Adam(5e-5, clipnorm=1.0)")], "outside the valid range of [0, 2)"),
            Mistake("the error hidden", [_HIDE_THE_ERROR], "History"),
        ],
    ),
    Fault(
        "rows_to_ignore", "F02", "own_loss", _MINUS_100, reveals=("audit_labels", "outside_the_head"), stage="loss",
        error_class="InvalidArgumentError", error_text="Received a label value of -100 which is outside the valid range of [0, 3)",
        evidence=(("audit_labels", "counts"), ("walk", "message"), ("sample_losses", "error")),
        explanation=_("-100 means “leave this out” for the losses of single tokens. The loss of a whole text knows no such label: for it, -100 is a class that is not there."),
        repairs={"the labels of the data": back(_MINUS_100)},
        mistakes=[
            Mistake("more outputs", [("num_labels=3", "num_labels=101")], "-100"),
            Mistake("called class 0", [("-100 if", "0 if")], "labels are not the labels of the data"),
            Mistake("the rows left out", [('["label"]})', '["label"]}).filter(lambda row: row["label"] >= 0)')], "rows of train are left out"),
        ],
    ),
    Fault(
        "reloaded_without_head", "F21", "own_loss", _RELOADED, reveals=("walk", "loss"), stage="loss",
        error_class="InvalidArgumentError", error_text="Received a label value of 2 which is outside the valid range of [0, 2)",
        evidence=(("walk", "message"),),
        explanation=_("fit() loads the model anew, and without num_labels=3 a new head has two outputs. There is a second fault: the model that fit() is given stays untrained, and that one is evaluated."),
        repairs={"nothing reloaded": [(_RELOAD, "")], "the model that is given": back(_RELOADED)},
        mistakes=[
            Mistake("three outputs, and still another model", [("from_pretrained(checkpoint)\n    compile_model", "from_pretrained(checkpoint, num_labels=3)\n    compile_model")], "fit() trains another model than the one that it is given"),
            Mistake("built in fit()", [(_RELOAD, "    model = build_model()\n")], "fit() trains another model than the one that it is given"),
            Mistake("only the number changed", [(_RELOAD, _RELOAD + "    model.config.num_labels = 3\n")], "outside the valid range of [0, 2)"),
            Mistake("the rows of class 2 left out", [_WITHOUT_CLASS_2], "rows of train are left out"),
        ],
    ),
    Fault(
        "one_hot_labels", "F03", "keras_loss", _ONE_HOT, reveals=("walk", "loss"), stage="loss",
        error_class="InvalidArgumentError", error_text="logits and labels must have the same first dimension",
        eager_text="`labels.shape` must equal `logits.shape` except for the last dimension",
        evidence=(("audit_labels", "form"), ("walk", "message")),
        explanation=_("A sparse loss wants one class id for each row. The batch has a row of three numbers for each: one-hot labels."),
        repairs={"class ids": back(_ONE_HOT), "a loss for one-hot labels": [("SparseCategoricalCrossentropy", "CategoricalCrossentropy")]},
        mistakes=[
            Mistake("the string loss", [(KERAS_LOSS, 'loss="categorical_crossentropy"')], "logits for probabilities"),
            Mistake("a mean squared error", [(KERAS_LOSS, 'loss="mse"')], "cross-entropy of its logits"),
        ],
    ),
    Fault(
        "no_batch_axis", "F12", "padded_keras_loss", _NO_BATCH_AXIS, reveals=("walk", "fit"), stage="fit",
        error_class="ValueError", error_text="slice index 0 of dimension 0 out of bounds",
        evidence=(("look_at_batch", "rows"), ("walk", "message")),
        explanation=_("With batch_size=None the dataset gives one row at a time, without a batch axis. The model wants (rows, length)."),
        repairs={"batches": back(_NO_BATCH_AXIS)},
        mistakes=[Mistake("batches of one row", [("batch_size=None", "batch_size=1")], "one row")],
    ),
    Fault(
        "labels_from_one", "F02", "own_loss", _FROM_ONE, reveals=("audit_labels", "from_one"),
        evidence=(("audit_labels", "counts"), ("audit_labels", "outputs")),
        explanation=_("The labels are 1, 2 and 3, and the head has a fourth output, 0, that no row uses. It trains, but each answer means the class before it."),
        repairs={"from zero": back(_FROM_ONE)},
        mistakes=[Mistake("only the head made smaller", [("num_labels=4", "num_labels=3")], "outside the valid range")],
    ),
    Fault(
        "one_output", "F03", "own_loss", _ONE_OUTPUT, reveals=("audit_labels", "outside_the_head"),
        evidence=(("audit_labels", "outputs"),),
        explanation=_("With num_labels=1 the model takes its task for a regression: its own loss is the squared difference between its one number and the label."),
        repairs={"three outputs": back(_ONE_OUTPUT)},
        mistakes=[
            Mistake("two outputs", [("num_labels=1", "num_labels=2")], "outside the valid range"),
            Mistake("the metric turned off", [(', metrics=["accuracy"]', "")], "The model has 1 outputs"),
        ],
    ),
    Fault(
        "other_class_names", "F24", "own_loss", _OTHER_NAMES, reveals=("audit_labels", "names_differ"),
        evidence=(("audit_labels", "names"),),
        explanation=_("The model's id2label says that class 0 is contradiction. The data say that 0 is entailment. It trains well, and whoever reads its answers by name reads them wrongly."),
        repairs={"without names": back(_OTHER_NAMES), "the names of the data": [('0: "contradiction", 1: "neutral", 2: "entailment"', '0: "entailment", 1: "neutral", 2: "contradiction"')]},
        mistakes=[Mistake("the labels turned round", [(RETURN, '    return [data.map(lambda x: {**x, "labels": 2 - x["labels"]}) for data in (train, validation)]\n')], "labels are not the labels of the data")],
    ),
    Fault(
        "exact_match_metric", "F08", "keras_loss", _EXACT_MATCH, reveals=("walk", "fit"), stage="fit",
        error_class="ValueError", error_text="are incompatible",
        evidence=(("walk", "message"),),
        explanation=_("tf.keras.metrics.Accuracy counts where two arrays are equal. The model gives three logits a row, and the label is one number."),
        repairs={"the string": back(_EXACT_MATCH), "the class for class ids": [("tf.keras.metrics.Accuracy()", "tf.keras.metrics.SparseCategoricalAccuracy()")]},
        mistakes=[Mistake("a metric for one-hot labels", [("[tf.keras.metrics.Accuracy()]", '["categorical_accuracy"]')], "the metric categorical_accuracy says")],
    ),
    Fault(
        "one_hot_metric", "F08", "keras_loss", _CATEGORICAL_METRIC, reveals=("evaluate_again", "metric_differs"),
        evidence=(("evaluate_again", "first"),),
        explanation=_("categorical_accuracy compares the largest logit with the largest of one-hot labels. The labels are class ids, so it counts something else."),
        repairs={"the string": back(_CATEGORICAL_METRIC), "the metric for class ids": [("categorical_accuracy", "sparse_categorical_accuracy")]},
        mistakes=[Mistake("binary accuracy", [("categorical_accuracy", "binary_accuracy")], "the metric binary_accuracy says")],
    ),
]  # fmt: skip
