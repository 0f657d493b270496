"""Faults of the weights: frozen, not loaded, kept from before, or not the ones that are scored. Lessons 04 and 05. Nothing raises."""

from helpers.catalogue.fault import BUILD, EVALUATE, Changes, Fault, Mistake, back
from helpers.messages import _

_COMPILED = 'model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])\n'
_FROZEN: Changes = [(BUILD, BUILD.replace("return ", "model = ") + "\n    model.distilbert.trainable = False\n    return model")]
_FROZEN_LATE: Changes = [(_COMPILED, _COMPILED + "    model.distilbert.trainable = False\n")]
_KEPT: Changes = [
    ("from helpers import", "import functools\n\nfrom helpers import"),
    ("def build_model():", "@functools.cache\ndef build_model():"),
]
_COPY = """


def build_model():
    model = TFAutoModelForSequenceClassification.from_config(pretrained().config)
    model(model.dummy_inputs)
    model.set_weights(pretrained().get_weights())
    return model"""
_NOT_LOADED: Changes = [
    ("import AutoTokenizer", "import AutoConfig, AutoTokenizer"),
    (
        BUILD,
        "config = AutoConfig.from_pretrained(checkpoint, num_labels=3)\n    return TFAutoModelForSequenceClassification.from_config(config)",
    ),
]
_ANOTHER_SCORED: Changes = [
    (EVALUATE, f"again = build_model()\n    compile_model(again)\n    {EVALUATE.replace('model.', 'again.')}"),
]
_WITH_DROPOUT: Changes = [
    ("num_labels=3", "num_labels=3, seq_classif_dropout=0.2"),
    (
        EVALUATE,
        """losses = [float(tf.reduce_mean(model(batch, training=True).loss)) for batch in validation]
    return {"loss": sum(losses) / len(losses)}""",
    ),
]

FAULTS = [
    Fault(
        "frozen", "F17", "own_loss", _FROZEN, reveals=("gradients_of", "frozen"),
        evidence=(("gradients_of", "trainable"), ("one_step", "free"), ("one_step", "moved")),
        explanation=_("The encoder is frozen, so only the head learns. Fine-tuning is meant to change the encoder."),
        repairs={"not frozen": [("    model.distilbert.trainable = False\n", "")], "set free again": [("trainable = False", "trainable = True")]},
        mistakes=[Mistake("a higher rate", [("Adam(5e-5)", "Adam(3e-4)")], "moved"), Mistake("train longer", [("epochs=1", "epochs=5")], "moved")],
    ),
    Fault(
        "frozen_after_compile", "F17", "own_loss", _FROZEN_LATE, reveals=("one_step", "frozen_but_moves"),
        evidence=(("one_step", "free"),),
        explanation=_("The encoder is frozen after compile(). Keras trains what was free when compile() was called, so all weights move."),
        repairs={"not frozen": back(_FROZEN_LATE)},
        mistakes=[Mistake("frozen before compile()", [(_COMPILED + "    model.distilbert.trainable = False\n", "model.distilbert.trainable = False\n    " + _COMPILED)], "moved")],
    ),
    Fault(
        "kept_model", "F20", "own_loss", _KEPT, reveals=("compare_builds", "same_model"),
        evidence=(("compare_builds", "head"),),
        explanation=_("build_model() gives the same model each time. A second compile() does not reset weights, so every run goes on from where the last one ended."),
        repairs={"a new model each time": back(_KEPT), "a new model with the weights that were loaded": [("def build_model():", "def pretrained():"), ("\n\n\ndef compile_model", _COPY + "\n\n\ndef compile_model")]},
        mistakes=[
            Mistake("compile it anew", [("def fit(model, train, validation):\n", "def fit(model, train, validation):\n    compile_model(model)\n")], "the same model twice"),
            Mistake("the session cleared", [("    model.compile(", "    tf.keras.backend.clear_session()\n    model.compile(")], "the same model twice"),
            Mistake("train longer", [("epochs=1", "epochs=3")], "the same model twice"),
        ],
    ),
    Fault(
        "weights_not_loaded", "F21", "own_loss", _NOT_LOADED, reveals=("compare_builds", "encoder_differs"),
        evidence=(("compare_builds", "encoder"),),
        explanation=_("from_config() builds the model with random weights. The checkpoint's weights are not read, so the pretraining is lost."),
        repairs={"from_pretrained": back(_NOT_LOADED)},
        mistakes=[Mistake("train longer", [("epochs=1", "epochs=5")], "not those of the checkpoint")],
    ),
    Fault(
        "another_model_scored", "F21", "own_loss", _ANOTHER_SCORED, reveals=("evaluate_again", "loss_differs"),
        evidence=(("evaluate_again", "first"), ("evaluate_again", "second")),
        explanation=_("evaluate() builds a new model and scores that one. It has an untrained head, so the score stays at guessing, however well the training went."),
        repairs={"the trained model": back(_ANOTHER_SCORED), "the weights carried over": [("compile_model(again)", "compile_model(again)\n    again.set_weights(model.get_weights())")]},
        mistakes=[Mistake("train longer", [("epochs=1", "epochs=5")], "its own loss")],
    ),
    Fault(
        "scored_with_dropout", "F23", "own_loss", _WITH_DROPOUT, reveals=("evaluate_again", "not_repeatable"),
        evidence=(("evaluate_again", "first"), ("evaluate_again", "second")),
        explanation=_("training=True switches dropout on, so each score is another one, and all are too low."),
        repairs={"training=False": [("training=True", "training=False")], "model.evaluate, no dropout": back(_WITH_DROPOUT)},
        mistakes=[Mistake("train longer", [("epochs=1", "epochs=5")], "its own loss")],
    ),
]  # fmt: skip
