"""Reports of tokens, padding and masks: F09, F10, F11."""

import json
import tempfile
from pathlib import Path

import numpy as np

from helpers import find_checkpoint
from reports.report import Report, raised, walked
from reports.tiny import (
    VOCABULARY,
    bag_of_words,
    classes,
    compiled,
    cross_entropy,
    dataset,
    datasets,
    distilbert,
    pipeline,
    tf,
    tokens,
    transformers,
)

SHORT, LONG = "A man reads.", "A man reads a book to the children in the park. " * 8


def tokenizer(**options):
    """The checkpoint's tokenizer; ``options``: other than its own."""
    return transformers.AutoTokenizer.from_pretrained(find_checkpoint(), **options)


# ---------------------------------------------------------------- F09


def text_longer_than_the_positions(broken):
    short = {} if broken else {"truncation": True, "max_length": 32}
    x = tokenizer()([SHORT, LONG], padding=True, return_tensors="np", **short)

    def model():
        return distilbert(num_labels=2, vocab_size=1288, max_position_embeddings=32)

    return walked(pipeline(lambda: dataset(dict(x), classes(2, 2)), model, cross_entropy))


def one_long_text_late_in_the_data(broken):
    """Nothing is wrong in the first batches, so the walk, which takes one, comes through. The error says what happened."""
    texts = [SHORT] * 15 + [LONG]
    read = tokenizer()
    rows = [read(text, truncation=not broken, max_length=32)["input_ids"] for text in texts]
    data = tf.data.Dataset.from_generator(lambda: zip(rows, classes(16, 2), strict=True), output_signature=(tf.TensorSpec((None,), tf.int64), tf.TensorSpec((), tf.int64)))  # fmt: skip
    model = compiled(distilbert(num_labels=2, vocab_size=1288, max_position_embeddings=32), cross_entropy())
    error = raised(model.fit, data.padded_batch(4), verbose=0)
    return error, (error,)


def column_that_is_ragged_only_sometimes(broken):
    """datasets gives a RaggedTensor where the rows differ in length, and a plain one where they do not."""
    rows = datasets.Dataset.from_dict({"input_ids": [[5, 6, 7], [8, 9, 7], [5, 6], [7]]}).with_format("tf")

    def batch(tokenized):
        parts = [rows[start : start + 2]["input_ids"] for start in (0, 2)]
        parts = [part.to_tensor() if broken or hasattr(part, "to_tensor") else part for part in parts]
        return tuple(dataset(part, classes(2, 2)) for part in parts)

    return walked(pipeline(None, bag_of_words, cross_entropy, batch=batch))


def padded_batch_of_ragged_rows(broken):
    rows = [[5, 6, 7], [8, 9], [7], [6, 7]]

    def batch(tokenized):
        ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows, dtype=tf.int64))
        data = ragged if broken else ragged.map(lambda row: row if isinstance(row, tf.Tensor) else row.to_tensor())
        both = tf.data.Dataset.zip((data.padded_batch(2), tf.data.Dataset.from_tensor_slices(classes(4, 2)).batch(2)))
        return both, both

    return walked(pipeline(None, bag_of_words, cross_entropy, batch=batch))


# ---------------------------------------------------------------- F10


def alone_and_in_a_batch(model, x) -> float:
    """The largest difference between the answers to short rows in their batch and to the same rows without padding."""
    together = model(x).logits.numpy()
    alone = []
    for ids in x["input_ids"]:
        length = int(np.sum(ids != model.config.pad_token_id))
        alone.append(model({"input_ids": ids[None, :length]}).logits.numpy()[0])
    return max(np.abs(one[: len(single)] - single).max() for one, single in zip(together, alone, strict=True))


def padded_ids_without_a_mask(broken):
    x = tokens()
    given = {"input_ids": x["input_ids"]} if broken else x
    model = distilbert(num_labels=2)
    return alone_and_in_a_batch(model, given), (model, given)


def padding_that_has_another_id(broken):
    """CamemBERT pads with 1. A mask of what is not 0 is 1 everywhere."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "initializer_range": 0.2}
    settings = transformers.CamembertConfig(vocab_size=VOCABULARY, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **sizes)
    model = transformers.TFCamembertForSequenceClassification(settings)
    x = tokens()
    ids = np.where(x["attention_mask"] == 1, np.maximum(x["input_ids"], 2), settings.pad_token_id)
    given = {"input_ids": ids, "attention_mask": (ids != (0 if broken else settings.pad_token_id)).astype(np.int64)}
    return alone_and_in_a_batch(model, given), (model, given, settings.pad_token_id)


def names_found_in_a_batch_and_not_alone(broken):
    """A tagger that is given the ids alone: the words next to padding get other tags."""
    x = tokens()
    given = {"input_ids": x["input_ids"]} if broken else x
    model = distilbert("ForTokenClassification", num_labels=5)
    return alone_and_in_a_batch(model, given), (given,)


def padding_that_is_to_be_guessed(broken):
    """Most of the labels are padding, so to say "padding" everywhere is a good guess."""
    ids = np.zeros((8, 24), np.int64)
    ids[:, :6] = 4 + np.arange(48).reshape(8, 6) % (VOCABULARY - 4)
    labels = ids if broken else np.where(ids == 0, -100, ids)
    batch = {"input_ids": np.where(np.arange(24) == 2, 3, ids), "labels": labels}  # id 3 masks the third token
    model = compiled(distilbert("ForMaskedLM"), optimizer=tf.keras.optimizers.SGD(0.3))
    model.fit(dataset(batch), epochs=4, verbose=0)
    guesses = model({"input_ids": batch["input_ids"]}).logits.numpy()[:, 2].argmax(1)
    return np.mean(guesses == 0), (batch,)


# ---------------------------------------------------------------- F11

CASED = "The Man Reads A Book To The Children."


def cased_tokenizer_for_an_uncased_model(broken):
    read = tokenizer(do_lower_case=False) if broken else tokenizer()
    x = [dict(read(text, return_tensors="np")) for text in (CASED, CASED.lower())]
    model = distilbert(num_labels=2, vocab_size=1288)
    answers = [model(one).logits.numpy() for one in x]
    return np.abs(answers[0] - answers[1]).max(), (x[0], read)


def cased_vocabulary_read_in_lower_case(broken):
    """A vocabulary with capitals, and no tokenizer_config.json to say so: the tokenizer makes everything small."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "The", "Cell", "RNA", "DNA", "binds", "to"]
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder, "vocab.txt")
        vocabulary.write_text("\n".join(words))
        read = transformers.BertTokenizerFast(str(vocabulary), **({} if broken else {"do_lower_case": False}))
    text = "The Cell binds DNA to RNA"
    x = dict(read([text], return_tensors="np"))
    return read.decode(x["input_ids"][0], skip_special_tokens=True) == text, (x, read)


def gpt_tokenizer(**options):
    """A byte-level tokenizer with a few words, of the kind that GPT-2 has: no token for padding."""
    letters = {letter: id_ for id_, letter in enumerate(["<|endoftext|>", *"abcdefghijklmnopqrstuvwxyz", "Ġ"])}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "vocab.json").write_text(json.dumps(letters))
        Path(folder, "merges.txt").write_text("#version: 0.2\n")
        return transformers.GPT2TokenizerFast(f"{folder}/vocab.json", f"{folder}/merges.txt", **options)


def gpt_config(**options):
    return transformers.GPT2Config(vocab_size=28, n_positions=32, n_embd=16, n_layer=1, n_head=2, num_labels=3, **options)


def padding_without_a_token_for_it(broken):
    read = gpt_tokenizer(**({} if broken else {"pad_token": "<|endoftext|>"}))
    rows = datasets.DatasetDict({"train": datasets.Dataset.from_dict({"text": ["a man reads", "a man"], "label": [0, 1]})})

    def tokenize(raw):
        return raw.map(lambda batch: read(batch["text"], padding=True), batched=True)

    def batch(tokenized):
        return (tokenized["train"].to_tf_dataset(columns=["input_ids", "attention_mask"], label_cols="label", batch_size=2),) * 2

    def model():
        return transformers.TFGPT2ForSequenceClassification(gpt_config(pad_token_id=0))

    return walked(pipeline(None, model, cross_entropy, load=lambda: rows, tokenize=tokenize, batch=batch))


def model_that_knows_no_padding(broken):
    x = tokens(4)
    batch = {**x, "input_ids": x["input_ids"] % 28, "labels": classes(4, 3)}
    settings = gpt_config(**({} if broken else {"pad_token_id": 0}))
    return walked(pipeline(lambda: dataset(batch), lambda: transformers.TFGPT2ForSequenceClassification(settings)))


def moves(change):
    return change > 1e-2


REPORTS = {
    "B073": Report("F09", text_longer_than_the_positions, ("InvalidArgumentError", "is not in [0, 32)"), "walk", "forward", known=True),
    "B074": Report("F09", one_long_text_late_in_the_data, ("InvalidArgumentError", "is not in [0, 32)"), "explain_error", lambda told: told.known and told.stage == "forward", known=True),
    "B077": Report("F09", column_that_is_ragged_only_sometimes, ("AttributeError", "to_tensor"), "walk", "batch"),
    "B078": Report("F09", padded_batch_of_ragged_rows, ("TypeError", "agged"), "walk", "batch"),
    "B081": Report("F10", padded_ids_without_a_mask, moves, "padding_invariance", "no_mask"),
    "B082": Report("F10", padding_that_has_another_id, moves, "padding_invariance", "mask_covers_padding"),
    "B083": Report("F10", names_found_in_a_batch_and_not_alone, moves, "look_at_batch", lambda view: view.padded is None),
    "B084": Report("F10", padding_that_is_to_be_guessed, lambda share: share > 0.9, "look_at_batch", lambda view: np.mean(np.equal(view.labels, 0)) > 0.5),
    "B090": Report("F11", cased_tokenizer_for_an_uncased_model, moves, "decode_batch", "unknown_words"),
    "B092": Report("F11", cased_vocabulary_read_in_lower_case, lambda same: not same, "decode_batch", "unknown_words"),
    "B093": Report("F11", padding_without_a_token_for_it, ("ValueError", "Asking to pad but the tokenizer does not have a padding token"), "walk", "tokenize"),
    "B094": Report("F11", model_that_knows_no_padding, ("ValueError", "Cannot handle batch sizes > 1 if no padding token is defined"), "walk", "forward"),
}  # fmt: skip
