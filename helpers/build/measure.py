"""Long measurements, written to figures/measure.json with a hash of what they were made from: `make measure`.

* bias: how far a classifier gets that never compares the two sentences properly (word overlap, hypothesis only).
* probe: how far a linear classifier gets on the frozen encoder. What fine-tuning reaches above it, fine-tuning did.

`make test` fails when the hash no longer fits. Rates are k of n with the 95 % upper bound (Clopper-Pearson).
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from helpers.build import readme_figures
from helpers.build.measuring import rate
from helpers.sources import find_checkpoint, load_mnli

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "figures" / "measure.json"
INPUTS = ("helpers/assets/SHA256SUMS", "helpers/build/measure.py")
TRAIN_ROWS = 2400


def hash_of_inputs() -> str:
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in INPUTS)).hexdigest()


def split_words(text: str) -> list[str]:
    return text.lower().replace(",", "").replace(":", "").strip(".").split()


def overlap_features(rows: dict) -> np.ndarray:
    """(rows, 7): lengths, shared words, words that only one of the two has, and their shares."""
    features = []
    for premise, hypothesis in zip(rows["premise"], rows["hypothesis"], strict=True):
        first, second = split_words(premise), split_words(hypothesis)
        a, b = set(first), set(second)
        features.append([len(first), len(second), len(a & b), len(b - a), len(a - b), len(a & b) / len(a | b), len(b - a) / len(b)])
    return np.array(features)


def bias(raw) -> dict:
    """Right answers on validation_matched, trained on all training rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    train, test = raw["train"].to_dict(), raw["validation_matched"].to_dict()
    labels = np.array(test["label"])

    def right(predicted) -> dict:
        return rate(int((predicted == labels).sum()), len(labels))

    result = {}
    trees = HistGradientBoostingClassifier(random_state=0).fit(overlap_features(train), train["label"])
    result["word overlap, boosted trees"] = right(trees.predict(overlap_features(test)))
    for name, column in (("hypothesis only", "hypothesis"), ("premise only", "premise")):
        words = CountVectorizer(ngram_range=(1, 2))
        model = LogisticRegression(max_iter=3000, C=0.1).fit(words.fit_transform(train[column]), train["label"])
        result[f"{name}, words and pairs of words"] = right(model.predict(words.transform(test[column])))
    return result


def probe(raw) -> dict:
    """Right answers of a logistic regression on the first token of the frozen encoder, on the rows that fine-tuning sees."""
    from sklearn.linear_model import LogisticRegression
    from transformers import AutoTokenizer, TFAutoModel

    checkpoint = find_checkpoint()
    tokenizer, encoder = AutoTokenizer.from_pretrained(checkpoint), TFAutoModel.from_pretrained(checkpoint)

    def first_tokens(rows: dict) -> np.ndarray:
        found = []
        for start in range(0, len(rows["label"]), 64):
            pair = rows["premise"][start : start + 64], rows["hypothesis"][start : start + 64]
            found.append(encoder(tokenizer(*pair, padding=True, return_tensors="tf")).last_hidden_state[:, 0].numpy())
        return np.concatenate(found)

    train, test = raw["train"].select(range(TRAIN_ROWS)).to_dict(), raw["validation_matched"].to_dict()
    model = LogisticRegression(max_iter=5000, C=1.0).fit(first_tokens(train), train["label"])
    predicted = model.predict(first_tokens(test))
    return {"linear probe on the frozen encoder": rate(int((predicted == np.array(test["label"])).sum()), len(test["label"]))}


def main() -> int:
    raw = load_mnli()
    results = {"inputs": hash_of_inputs(), "bias": bias(raw), "probe": probe(raw)}
    for part in ("bias", "probe"):
        for name, figure in results[part].items():
            print(
                f"{name}: {figure['k']} of {figure['n']} right ({figure['k'] / figure['n']:.3f}, 95 % upper bound {figure['upper_95']:.3f})"
            )
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(results, indent=1) + "\n")
    return readme_figures.main([])


if __name__ == "__main__":
    sys.exit(main())
