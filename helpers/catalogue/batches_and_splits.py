"""Faults of the rows: their order, their shares, their splits, and their labels. Lesson 08. Nothing raises."""

from helpers.catalogue.fault import EVALUATE, LOAD, RETURN, Changes, Fault, Mistake, back
from helpers.messages import _

_SORTED: Changes = [(LOAD, LOAD + '.sort("label")'), ("shuffle=True, ", "")]
_TRAIN_AS_VALIDATION: Changes = [('validation = tokenized["validation_matched"]', 'validation = tokenized["train"]')]
_RESHUFFLED: Changes = [(RETURN, "    pool = train.shuffle(300)\n    return pool.skip(8), pool.take(8)\n")]
_RARE: Changes = [(LOAD, LOAD + '.filter(lambda row: row["label"] > 0 or row["idx"] % 10 == 0)')]
_ROLLED: Changes = [(RETURN, '    return train.map(lambda x: {**x, "labels": tf.roll(x["labels"], 1, axis=0)}), validation\n')]
# model.evaluate(), and then the share of right answers once more, by hand
_BY_HAND = """scores = model.evaluate(validation, return_dict=True)
    mixed = validation.unbatch().shuffle(750).batch(8)
    answers = model.predict(mixed).logits.argmax(-1)
    labels = [int(label) for _rows, labels in mixed for label in labels]
    return scores | {"accuracy": float((answers == labels).mean())}"""
_SHUFFLE = "unbatch().shuffle(750).batch(8)"
_IN_ANOTHER_ORDER: Changes = [(EVALUATE, _BY_HAND)]

FAULTS = [
    Fault(
        "sorted_rows", "F13", "own_loss", _SORTED, reveals=("compare_splits", "sorted"),
        evidence=(("compare_splits", "entropy"),),
        explanation=_("All rows of one class come together, and nothing mixes them. The model learns to say that class, then the next, and forgets the one before."),
        repairs={"shuffled": [('tokenized["train"].to_tf_dataset(', 'tokenized["train"].to_tf_dataset(shuffle=True, ')], "not sorted": [('.sort("label")', "")]},
        mistakes=[
            Mistake("a small shuffle buffer", [("return train, validation", "return train.unbatch().shuffle(16).padded_batch(8), validation")], "mixed"),
            Mistake("the batches shuffled", [("return train, validation", "return train.shuffle(300), validation")], "mixed"),
            Mistake("train longer", [("epochs=1", "epochs=3")], "mixed"),
        ],
    ),
    Fault(
        "train_as_validation", "F14", "own_loss", _TRAIN_AS_VALIDATION, reveals=("compare_splits", "rows_in_both"),
        evidence=(("compare_splits", "overlap"), ("compare_splits", "rows")),
        explanation=_("The validation rows are training rows. The score says how much was learnt by heart, not what will hold for new rows."),
        repairs={"its own rows": back(_TRAIN_AS_VALIDATION)},
        mistakes=[Mistake("fewer of them", [("return train, validation", "return train, validation.take(94)")], "In the validation data: ")],
    ),
    Fault(
        "reshuffled_split", "F14", "own_loss", _RESHUFFLED, reveals=("compare_splits", "rows_in_both"),
        evidence=(("compare_splits", "overlap"),),
        explanation=_("shuffle() draws a new order each time the dataset is read, so take() and skip() cut at another place in every epoch. After two epochs many validation rows have been trained on."),
        repairs={"two splits of the data": back(_RESHUFFLED)},
        mistakes=[Mistake("a larger buffer", [("shuffle(300)", "shuffle(3000)")], "rows of train are left out")],
    ),
    Fault(
        "rare_class", "F16", "own_loss", _RARE, reveals=("audit_labels", "imbalanced"),
        evidence=(("audit_labels", "counts"),),
        explanation=_("Nine of ten rows of class 0 are gone. A model that hardly ever says 0 is right often enough, so it says 0 hardly ever."),
        repairs={"all rows": back(_RARE)},
        mistakes=[
            Mistake("the rest of it too", [('row["label"] > 0 or row["idx"] % 10 == 0', 'row["label"] > 0')], "rows of train are left out"),
            Mistake("repeated", [(RETURN, "    return train.repeat(2), validation\n")], "rows of train are left out"),
        ],
    ),
    Fault(
        "labels_of_the_row_before", "F15", "own_loss", _ROLLED, reveals=("compare_with_data", "other_labels"),
        evidence=(("compare_with_data", "others"),),
        explanation=_("Each row has the label of another row of its batch. Everything runs, every count is right, and there is nothing to learn."),
        repairs={"its own labels": back(_ROLLED)},
        mistakes=[
            Mistake("a lower rate", [("Adam(5e-5)", "Adam(5e-6)")], "labels are not the labels of the data"),
            Mistake("train longer", [("epochs=1", "epochs=5")], "labels are not the labels of the data"),
            Mistake("validation turned as well", [("return train.map(", "return [data.map("), ("axis=0)}), validation", "axis=0)}) for data in (train, validation)]")], "labels are not the labels of the data"),
        ],
    ),
    Fault(
        "answers_in_another_order", "F15", "padded_keras_loss", _IN_ANOTHER_ORDER, reveals=("evaluate_again", "metric_differs"),
        evidence=(("evaluate_again", "first"),),
        explanation=_("shuffle() draws a new order each time the dataset is read. predict() reads it once, and the labels are read from it once more: each answer is held against the label of another row. The model is right, and its score is that of a guess."),
        repairs={
            "not shuffled": [("mixed = validation." + _SHUFFLE, "mixed = validation")],
            "one order": [("shuffle(750)", "shuffle(750, reshuffle_each_iteration=False)")],
            "answers and labels in one pass": [(_BY_HAND[_BY_HAND.index("answers = ") :], "right = [(model(rows).logits.numpy().argmax(-1) == labels.numpy()).mean() for rows, labels in mixed]\n    return scores | {\"accuracy\": float(sum(right) / len(right))}")],
            "the accuracy of model.evaluate()": back(_IN_ANOTHER_ORDER),
        },
        mistakes=[
            Mistake("a seed", [("shuffle(750)", "shuffle(750, seed=0)")], "its own accuracy"),
            Mistake("train longer", [("epochs=1", "epochs=5")], "its own accuracy"),
        ],
    ),
]  # fmt: skip
