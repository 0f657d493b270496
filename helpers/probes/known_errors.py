"""Errors that the course knows: a part of the message, the stage it belongs to, what it means today, where to look.

Each is raised live by a test, on the pinned libraries.
"""

from dataclasses import dataclass

from helpers.messages import _


@dataclass(frozen=True)
class KnownError:
    text: str  # stands in the message
    stage: str
    means: str
    look: str


def known_errors() -> list[KnownError]:
    return [
        KnownError(
            "not found in dataset!",
            "batch",
            _("to_tf_dataset() was asked for a column that the data set does not have."),
            _(
                "Compare columns= with the data set's column names. MNLI calls its column `label`; a collator such as DataCollatorWithPadding renames it to `labels`."
            ),
        ),
        KnownError(
            "Could not find label column(s) in input dict",
            "loss",
            _("compile() names a Keras loss, but no labels arrive where it looks: there is no second element y and no key `labels`."),
            _("Look at one batch: is it a dict or (x, y), and what are its keys?"),
        ),
        KnownError(
            "call() got an unexpected keyword argument 'label'",
            "forward",
            _("The batch has a key `label`. The model takes `labels`, so it refuses the batch."),
            _("Compare the batch's keys with the model's signature."),
        ),
        KnownError(
            "Argument `target` should be a list or nested structure",
            "gradients",
            _(
                "The loss is None. Either no labels reached the model, neither under the key `labels` nor as y, or compile(loss=None) turned its loss off."
            ),
            _("Look at one batch: where are the labels? And at compile(): leave loss= out."),
        ),
        KnownError(
            "No gradients provided for any variable",
            "gradients",
            _("There is a loss, but it does not depend on any weight in a way that can be differentiated (argmax, round, a comparison)."),
            _("Read the loss function: which operation loses the gradient?"),
        ),
        KnownError(
            "all input arrays must have the same shape",
            "batch",
            _("Rows of different length cannot be stacked into one batch."),
            _("Compare the lengths of a few tokenized rows. A collator that pads, or padding in the tokenizer, makes them equal."),
        ),
        KnownError(
            "which is outside the valid range of",
            "loss",
            _(
                "A label has no output of its own. Either the head has fewer outputs than there are labels, or a label is below 0: -1 marks a row without a label."
            ),
            _("Compare model.config.num_labels with the labels of the data, and look for -1 among them."),
        ),
        KnownError(
            "Target data is missing",
            "loss",
            _("compile() names a loss for a Keras model, and the labels were left among the inputs instead of in y."),
            _("Make the data set give (x, y): label_cols= in to_tf_dataset()."),
        ),
        KnownError(
            "Could not interpret optimizer identifier",
            "compile_model",
            _("The optimizer comes from Keras 3, and the model is built on tf_keras (Keras 2)."),
            _("Take the optimizer from tf.keras with TF_USE_LEGACY_KERAS=1 set, or from tf_keras."),
        ),
        KnownError(
            "logits and labels must have the same first dimension",
            "loss",
            _(
                "There is not one label for each row of logits: one-hot labels met a sparse loss, a batch axis is missing, or the model has no head for classes."
            ),
            _("Compare the shapes of the labels and of the logits, and the class of the model."),
        ),
        KnownError(
            "`labels.shape` must equal `logits.shape` except for the last dimension",
            "loss",
            _(
                "There is not one label for each row of logits: one-hot labels met a sparse loss, a batch axis is missing, or the model has no head for classes."
            ),
            _("Compare the shapes of the labels and of the logits, and the class of the model."),
        ),
        KnownError(
            "`logits` and `labels` must have the same shape",
            "loss",
            _("The loss wants one label for each output, as a binary loss does, and there is one class id for each row."),
            _("Use the sparse categorical cross-entropy: it takes class ids."),
        ),
        KnownError(
            "'NoneType' object has no attribute 'shape'",
            "fit",
            _(
                "Something was asked for its shape that is not there. With class_weight it is y: with the model's own loss the labels are among the inputs."
            ),
            _("Leave class_weight out, or give the labels as y and name a Keras loss."),
        ),
        KnownError(
            "slice index 0 of dimension 0 out of bounds",
            "fit",
            _("A batch axis is missing: the dataset gives one row at a time, and its label is a single number."),
            _("Look at one batch: its first axis must count the rows. Give to_tf_dataset() a batch_size."),
        ),
        KnownError(
            "are incompatible",
            "fit",
            _("Two things that are compared differ in shape. In a metric: one class id for each row, and one number for each output."),
            _('Compare the shapes in the message with the labels and the logits. Write metrics=["accuracy"].'),
        ),
        KnownError(
            "`validation_split` is only supported for",
            "fit",
            _("validation_split cuts arrays. A tf.data.Dataset it cannot cut."),
            _("Give fit() the validation rows: validation_data=validation."),
        ),
        KnownError(
            "Detected Infinity or NaN in output",
            "loss",
            _("enable_check_numerics() found the first operation whose result is not finite. The message names it, and where it was made."),
            _(
                "Look at what goes into that operation: a logarithm or a division of 0, a label outside the head, a weight that is NaN already."
            ),
        ),
        KnownError(
            "is not in [0,",
            "forward",
            _(
                "An embedding was asked for a row that it has not: a text longer than the model's positions, or an id outside its vocabulary."
            ),
            _("Compare the length of a batch with config.max_position_embeddings, and its largest id with config.vocab_size."),
        ),
    ]
