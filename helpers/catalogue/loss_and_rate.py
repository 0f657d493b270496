"""Faults of the loss, the learning rate and the optimizer: lessons 02 and 04."""

from helpers.catalogue.fault import KERAS_LOSS, RETURN, Changes, Fault, Mistake, back
from helpers.messages import _

_ADAM = "optimizer=tf.keras.optimizers.Adam(5e-5)"
_STRING_LOSS: Changes = [(KERAS_LOSS, 'loss="sparse_categorical_crossentropy"')]
_SOFTMAX_LOSS = """def loss_of_answers(labels, logits):
    answers = tf.nn.softmax(logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(labels, [-1]), answers)


def compile_model(model):"""
_SOFTMAX_TWICE: Changes = [("def compile_model(model):", _SOFTMAX_LOSS), (KERAS_LOSS, "loss=loss_of_answers")]
_SQUARES: Changes = [(KERAS_LOSS, 'loss="mse"')]
_BINARY: Changes = [(KERAS_LOSS, "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)")]
_ADAM_STRING: Changes = [(_ADAM, 'optimizer="adam"')]
_UNKNOWN_STEPS: Changes = [
    (
        RETURN,
        '    global steps\n    train = train.filter(lambda x: tf.shape(x["input_ids"])[1] < 100)\n    steps = int(train.cardinality())\n'
        + RETURN,
    ),
    ("Adam(5e-5)", "Adam(tf.keras.optimizers.schedules.PolynomialDecay(5e-5, steps, 0.0))"),
]
_TOO_FEW_STEPS: Changes = [
    ("Adam(5e-5)", "Adam(tf.keras.optimizers.schedules.PolynomialDecay(5e-5, decay_steps=2400 // 64, end_learning_rate=0.0))")
]
_WEIGHTED_ROWS = """    def weighted(x, y):
        lengths = tf.reduce_sum(tf.ones_like(x["input_ids"], tf.float32), axis=1)
        shortest, longest = tf.reduce_min(lengths), tf.reduce_max(lengths)
        return x, y, (lengths - shortest) / (longest - shortest)

    return train.map(weighted), validation
"""
_ZERO_BY_ZERO: Changes = [(RETURN, _WEIGHTED_ROWS)]
_KERAS_3: Changes = [
    ("import tensorflow as tf\n", "import keras\nimport tensorflow as tf\n"),
    ("tf.keras.optimizers.Adam", "keras.optimizers.Adam"),
]
_CLASS_WEIGHT: Changes = [("epochs=1", "epochs=1, class_weight={0: 1.0, 1: 1.0, 2: 2.0}")]
_VALIDATION_SPLIT: Changes = [("validation_data=validation", "validation_split=0.2")]
_MONITOR: Changes = [("epochs=1", 'epochs=1, callbacks=[tf.keras.callbacks.EarlyStopping(monitor="val_acc")]')]
_TOO_MANY_STEPS: Changes = [("epochs=1", "epochs=1, steps_per_epoch=2400")]

_LOWER_RATE = Mistake("a lower rate", [("Adam(5e-5)", "Adam(5e-6)")], "cross-entropy of its logits")
_LONGER = ("epochs=1", "epochs=3")

FAULTS = [
    Fault(
        "string_loss", "F04", "keras_loss", _STRING_LOSS, reveals=("loss_at_start", "another_loss"),
        evidence=(("loss_at_start", "loss"),),
        explanation=_("The string stands for a loss that takes probabilities. The model gives logits: numbers of any size, below zero too."),
        repairs={"from logits": back(_STRING_LOSS), "the model's own loss": [('loss="sparse_categorical_crossentropy", ', "")]},
        mistakes=[_LOWER_RATE, Mistake("train longer", [_LONGER], "logits for probabilities")],
    ),
    Fault(
        "softmax_twice", "F04", "keras_loss", _SOFTMAX_TWICE, reveals=("overfit_batch", "does_not_learn"),
        evidence=(("overfit_batch", "last"),),
        explanation=_("The answers have gone through a softmax, and the loss takes them for logits and applies it again. The loss cannot fall below 0.55, however right the answers are."),
        repairs={
            "no softmax": [("answers = tf.nn.softmax(logits)", "answers = logits")],
            "a Keras loss": back(_SOFTMAX_TWICE),
        },
        mistakes=[_LOWER_RATE],
    ),
    Fault(
        "mean_squared_error", "F05", "keras_loss", _SQUARES, reveals=("loss_at_start", "another_loss"),
        evidence=(("loss_at_start", "loss"),),
        explanation=_("The squared error pulls each logit to the number of the class, as if contradiction were twice as much as neutral."),
        repairs={"cross-entropy": back(_SQUARES), "the model's own loss": [('loss="mse", ', "")]},
        mistakes=[_LOWER_RATE, Mistake("the mean absolute error", [('"mse"', '"mae"')], "cross-entropy of its logits")],
    ),
    Fault(
        "binary_loss", "F05", "keras_loss", _BINARY, reveals=("walk", "loss"), stage="loss",
        error_class="ValueError", error_text="`logits` and `labels` must have the same shape",
        evidence=(("walk", "message"),),
        explanation=_("The binary loss asks of each output by itself: yes or no? So it wants as many labels as outputs. Of three classes exactly one is right, and one label says which."),
        repairs={"cross-entropy": back(_BINARY), "the model's own loss": [("loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), ", "")]},
        mistakes=[Mistake("one-hot labels", [(RETURN, "    return [data.map(lambda x, y: (x, tf.one_hot(y, 3))) for data in (train, validation)]\n")], "cross-entropy of its logits")],
    ),
    Fault(
        "adam_string", "F06", "own_loss", _ADAM_STRING, reveals=("rate_over_time", "too_high"),
        evidence=(("rate_over_time", "first"), ("rate_over_time", "middle"), ("rate_over_time", "last"), ("rate_over_time", "highest"), ("one_step", "largest")),
        explanation=_("The string stands for Adam with its default rate, 0.001. That is twenty times the rate of fine-tuning, and it overwrites what pretraining has learnt."),
        repairs={
            "5e-5": back(_ADAM_STRING),
            "AdamW": [('optimizer="adam"', "optimizer=tf.keras.optimizers.AdamW(3e-5, weight_decay=0.01)")],
            "create_optimizer": [
                ("TFAutoModelForSequenceClassification\n\ncheckpoint", "TFAutoModelForSequenceClassification, create_optimizer\n\ncheckpoint"),
                ('    model.compile(optimizer="adam"', "    optimizer, schedule = create_optimizer(5e-5, num_train_steps=300, num_warmup_steps=0, weight_decay_rate=0.01)\n    model.compile(optimizer=optimizer"),
            ],
        },
        mistakes=[
            Mistake("train longer", [_LONGER], "The learning rate is 0.001"),
            Mistake("larger batches", [("batch_size=8", "batch_size=32")], "The learning rate is 0.001"),
            Mistake("another string", [('"adam"', '"sgd"')], "The learning rate is 0.01."),
            Mistake("a string with weight decay", [('"adam"', '"adamw"')], "The learning rate is 0.001"),
            Mistake("the gradients clipped", [('optimizer="adam"', "optimizer=tf.keras.optimizers.Adam(clipnorm=1.0)")], "The learning rate is 0.001"),
            Mistake("a rate that moves nothing", [('optimizer="adam"', "optimizer=tf.keras.optimizers.Adam(5e-9)")], "move too little to be seen"),
        ],
    ),
    Fault(
        "unknown_steps", "F06", "own_loss", _UNKNOWN_STEPS, reveals=("rate_over_time", "too_low"),
        evidence=(("rate_over_time", "first"), ("rate_over_time", "middle"), ("rate_over_time", "last"), ("rate_over_time", "highest"), ("one_step", "moved"), ("one_step", "largest")),
        explanation=_("After filter() a dataset does not know its length: its cardinality is -2. A schedule of -2 steps is over before the first, so the rate is 0 and nothing moves."),
        repairs={"a constant rate": [("Adam(tf.keras.optimizers.schedules.PolynomialDecay(5e-5, steps, 0.0))", "Adam(5e-5)")], "counted before the filter": [('    train = train.filter(lambda x: tf.shape(x["input_ids"])[1] < 100)\n    steps = int(train.cardinality())\n', "    steps = int(train.cardinality())\n")]},
        mistakes=[Mistake("a higher rate to begin with", [("PolynomialDecay(5e-5", "PolynomialDecay(5e-3")], "moved")],
    ),
    Fault(
        "too_few_steps", "F06", "own_loss", _TOO_FEW_STEPS, reveals=("rate_over_time", "ends_too_soon"),
        evidence=(("rate_over_time", "middle"), ("rate_over_time", "last")),
        explanation=_("The schedule counts batches of 64 rows, and the batches have 8. After 37 of 300 steps the rate is 0, and the rest of the epoch trains nothing."),
        repairs={"batches of 8": [("2400 // 64", "2400 // 8")], "a constant rate": back(_TOO_FEW_STEPS)},
        mistakes=[
            Mistake("train longer", [_LONGER], "before half of the training is over"),
            Mistake("a higher rate to begin with", [("PolynomialDecay(5e-5", "PolynomialDecay(2e-4")], "before half of the training is over"),
        ],
    ),
    Fault(
        "zero_by_zero", "F07", "keras_loss", _ZERO_BY_ZERO, reveals=("loss_at_start", "not_finite"), stage="loss",
        evidence=(("loss_at_start", "loss"), ("gradients_of", "loss"), ("walk", "message")),
        explanation=_("The rows of a batch are padded to one length, so longest minus shortest is 0, and 0 divided by 0 is NaN. One weight that is NaN makes the loss NaN, and one step makes all weights of the model NaN."),
        repairs={"no weights": back(_ZERO_BY_ZERO)},
        mistakes=[
            Mistake("clip the gradients", [("Adam(5e-5)", "Adam(5e-5, clipnorm=1.0)")], "the loss is nan"),
            Mistake("a lower rate", [("Adam(5e-5)", "Adam(5e-6)")], "the loss is nan"),
            Mistake("zero where it is not a number", [("return x, y, (lengths - shortest) / (longest - shortest)", "return x, y, tf.math.divide_no_nan(lengths - shortest, longest - shortest)")], "moved"),
        ],
    ),
    Fault(
        "keras_3_optimizer", "F19", "own_loss", _KERAS_3, reveals=("walk", "compile_model"), stage="compile_model",
        error_class="ValueError", error_text="Could not interpret optimizer identifier",
        evidence=(("walk", "message"),),
        explanation=_("`keras` is Keras 3. The TensorFlow models of Transformers are built on Keras 2, which here is `tf.keras`, and does not know an optimizer of Keras 3."),
        repairs={"tf.keras": back(_KERAS_3)},
        mistakes=[Mistake("the string", [("keras.optimizers.Adam(5e-5)", '"adam"')], "The learning rate is 0.001")],
    ),
    Fault(
        "class_weight_own_loss", "F16", "own_loss", _CLASS_WEIGHT, reveals=("walk", "fit"), stage="fit",
        error_class="AttributeError", error_text="'NoneType' object has no attribute 'shape'",
        evidence=(("walk", "message"),),
        explanation=_("class_weight looks for y, to weigh each row by its class. With the model's own loss the labels are among the inputs, and y is None."),
        repairs={"without": back(_CLASS_WEIGHT)},
        mistakes=[Mistake("labels in y", [('"attention_mask", "labels"]', '"attention_mask"], label_cols="labels"')], "different weights")],
    ),
    Fault(
        "validation_split", "F13", "own_loss", _VALIDATION_SPLIT, reveals=("walk", "fit"), stage="fit",
        error_class="ValueError", error_text="`validation_split` is only supported for Tensors or NumPy arrays",
        evidence=(("walk", "message"),),
        explanation=_("validation_split cuts arrays, and always takes their last rows, before any shuffling. A dataset it cannot cut."),
        repairs={"validation_data": back(_VALIDATION_SPLIT)},
        mistakes=[Mistake("validate on training rows", [("validation_split=0.2", "validation_data=train.take(60)")], "fit() validates on other batches")],
    ),
    Fault(
        "monitor_of_no_metric", "F26", "own_loss", _MONITOR, reveals=("look_at_fit", "monitor_missing"),
        evidence=(("look_at_fit", "monitors"),),
        explanation=_("The callback waits for val_acc. The metric is called accuracy, so Keras reports val_accuracy. It warns, and the callback never stops anything."),
        repairs={"its name": [("val_acc", "val_accuracy")], "the loss": [("val_acc", "val_loss")], "no callback": back(_MONITOR)},
        mistakes=[Mistake("another name", [("val_acc", "validation_accuracy")], "validation_accuracy")],
    ),
    Fault(
        "too_many_steps", "F12", "own_loss", _TOO_MANY_STEPS, reveals=("look_at_fit", "out_of_data"),
        evidence=(("look_at_fit", "steps_per_epoch"),),
        explanation=_("steps_per_epoch counts batches, and 2400 is the number of rows. The data end after 300 batches: Keras warns, and stops the training there, whatever epochs= says."),
        repairs={"left out": back(_TOO_MANY_STEPS), "counted in batches": [("steps_per_epoch=2400", "steps_per_epoch=300")]},
        mistakes=[Mistake("fewer, and still rows", [("steps_per_epoch=2400", "steps_per_epoch=1200")], "300")],
    ),
]  # fmt: skip
