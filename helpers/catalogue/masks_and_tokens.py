"""Faults of the tokens, the attention mask and the padding: lessons 02 and 08."""

from helpers.catalogue.fault import RETURN, TRUNCATION, Changes, Fault, Mistake, back
from helpers.messages import _

_NO_MASK: Changes = [('["input_ids", "attention_mask", "labels"]', '["input_ids", "labels"]')]
_MASK_OF_ONES: Changes = [
    (RETURN, '    return [data.map(lambda x: {**x, "attention_mask": tf.ones_like(x["input_ids"])}) for data in (train, validation)]\n')
]
_CASED: Changes = [("AutoTokenizer.from_pretrained(checkpoint)", "AutoTokenizer.from_pretrained(checkpoint, do_lower_case=False)")]
_CUT: Changes = [(TRUNCATION, "truncation=True, max_length=8)")]
_TOO_LONG: Changes = [(TRUNCATION, 'padding="max_length", max_length=600)')]
_BY_HAND = '[text.lower() for text in rows["premise"]], [text.lower() for text in rows["hypothesis"]]'

FAULTS = [
    Fault(
        "no_mask", "F10", "own_loss", _NO_MASK, reveals=("padding_invariance", "no_mask"),
        evidence=(("look_at_batch", "keys"), ("padding_invariance", "masked"), ("padding_invariance", "change")),
        explanation=_("Without a mask the model reads the padding as text. The answer for a row then depends on how long the longest row of its batch is."),
        repairs={"the mask among the columns": back(_NO_MASK)},
        mistakes=[
            Mistake("a mask of ones", [(RETURN, _MASK_OF_ONES[0][1])], "attention_mask fits the padding"),
            Mistake("all rows padded to one length", [(TRUNCATION, 'truncation=True, padding="max_length", max_length=64)')], "attention_mask fits the padding"),
            Mistake("train longer", [("epochs=1", "epochs=3")], "attention_mask fits the padding"),
        ],
    ),
    Fault(
        "mask_of_ones", "F10", "own_loss", _MASK_OF_ONES, reveals=("padding_invariance", "mask_covers_padding"),
        evidence=(("padding_invariance", "masked"), ("padding_invariance", "change")),
        explanation=_("A mask that is 1 everywhere says that the padding is text. It is as if there were no mask."),
        repairs={
            "the tokenizer's mask": back(_MASK_OF_ONES),
            "made of the ids": [('tf.ones_like(x["input_ids"])', 'tf.cast(x["input_ids"] != tokenizer.pad_token_id, tf.int64)')],
        },
        mistakes=[Mistake("no mask at all", [('"attention_mask": tf.ones_like(x["input_ids"])', '"labels": x["labels"]'), ('"attention_mask", "labels"]', '"labels"]')], "attention_mask fits the padding")],
    ),
    Fault(
        "cased_tokenizer", "F11", "own_loss", _CASED, reveals=("decode_batch", "unknown_words"),
        evidence=(("decode_batch", "unknown"), ("compare_with_data", "unknown")),
        explanation=_("The vocabulary of the checkpoint has lower-case words only. A tokenizer that keeps capitals turns each word with one into [UNK]."),
        repairs={"the checkpoint's tokenizer": back(_CASED), "lower case by hand": [('rows["premise"], rows["hypothesis"]', _BY_HAND)]},
        mistakes=[
            Mistake("lower case for the premise only", [('rows["premise"], rows', '[text.lower() for text in rows["premise"]], rows')], "texts are not those of the data"),
            Mistake("train longer", [("epochs=1", "epochs=3")], "texts are not those of the data"),
        ],
    ),
    Fault(
        "cut_at_eight", "F09", "own_loss", _CUT, reveals=("decode_batch", "cut"),
        evidence=(("decode_batch", "cut"), ("compare_with_data", "unknown")),
        explanation=_("With eight tokens for two sentences, most of both is gone. What is left of many rows is the same, with different labels."),
        repairs={"not cut": back(_CUT), "cut at 64": [("max_length=8", "max_length=64")]},
        mistakes=[
            Mistake("a little longer", [("max_length=8", "max_length=16")], "texts are not those of the data"),
            Mistake("a higher rate", [("Adam(5e-5)", "Adam(1e-4)")], "texts are not those of the data"),
        ],
    ),
    Fault(
        "too_long", "F09", "own_loss", _TOO_LONG, reveals=("walk", "forward"), stage="forward",
        error_class="InvalidArgumentError", error_text="is not in [0, 128)",
        evidence=(("walk", "message"),),
        explanation=_("The model has 128 positions, and the batch has 600. Position 128 and all after it have no embedding."),
        repairs={"as long as the longest": back(_TOO_LONG), "128": [("max_length=600", "max_length=128")]},
        mistakes=[Mistake("cut at twenty", [("max_length=600", "truncation=True, max_length=20")], "texts are not those of the data")],
    ),
]  # fmt: skip
