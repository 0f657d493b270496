"""Makes mini-MNLI: English sentence pairs with MNLI's columns, label names, genres and split names.

    python -m helpers.build.mini_mnli            write helpers/assets/mini_mnli/, and SHA256SUMS
    python -m helpers.build.mini_mnli --check    rebuild in memory and compare byte by byte

The same bytes come out on every Python from 3.11 on: only ``Random.random`` is used, and JSON Lines is written here.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

from helpers import sources
from helpers.build import world
from helpers.build.scenes import ADDS, BREAKS, KEEPS, UNDER_NEGATION, chance, change, make_scene, pick, sentence, tell

LABELS = ["entailment", "neutral", "contradiction"]
SPLITS = {"train": (4500, 1), "validation_matched": (750, 2), "validation_mismatched": (750, 3)}  # split: (rows, seed)
MOST_WORDS = 28  # of both sentences together: a batch is as long as its longest row, and length costs training time
FOLDER = Path(__file__).resolve().parents[1] / "assets" / "mini_mnli"


def changed_scene(rng: Random, scene, label: str):
    """A second scene that stands in the relation ``label`` to ``scene``. Returns (names of the changes, scene) or None.

    The shapes are alike for the three labels: details are dropped and words exchanged in all of them, and details
    are added in two of them, so that counting words does not tell the label.
    """
    used, names = set(), []
    keeps = 1 + (rng.random() < 0.5) + (rng.random() < 0.2) if label == "entailment" else (rng.random() < 0.7) + (rng.random() < 0.3)
    if label == "contradiction":
        found = change(rng, scene, BREAKS, used, UNDER_NEGATION if scene.negated else None)
        if not found:
            return None
        name, slot, new = found
        names.append(name)
        used.add(slot)
        if slot == "role":
            used |= {"who", "what", "to", "look", "number"}
        adds = chance(rng, 0.4) and not new.negated  # "did not run" is not contradicted by "did not run in the park"
        keep_only = UNDER_NEGATION if scene.negated else None
    else:
        new, adds = scene, label == "neutral"
        keep_only = UNDER_NEGATION if scene.negated else None
    if adds:
        found = change(rng, new, ADDS, used, keep_only)
        if not found and label == "neutral":
            return None
        if found:
            name, slot, new = found
            names.append(name)
            used.add(slot)
    for _ in range(int(keeps)):
        found = change(rng, new, KEEPS, used, keep_only)
        if found:
            name, slot, new = found
            names.append(name)
            used.add(slot)
    return (names, new) if names else None


def make_pair(rng: Random, genre: str, label: str) -> dict | None:
    """One row, or None where the first scene drawn does not allow this label."""
    first = make_scene(rng, genre)
    made = changed_scene(rng, first, label)
    if made is None:
        return None
    names, new = made
    premise, hypothesis = tell_both(rng, genre, first, new)
    if tell(new) == tell(first) or too_long(premise, hypothesis):
        return None
    return {
        "premise": premise,
        "hypothesis": hypothesis,
        "label": LABELS.index(label),
        "genre": genre,
        "change": names[0],
    }


def tell_both(rng: Random, genre: str, first, second) -> tuple[str, str]:
    """The two scenes as sentences, the first sometimes with an opening of its genre."""
    opening = pick(rng, world.GENRES[genre][2]) if chance(rng, 0.25) else ""
    return sentence(opening + tell(first)), sentence(tell(replace(second, time_first=chance(rng, 0.2))))


def too_long(first: str, second: str) -> bool:
    return len(first.split()) + len(second.split()) > MOST_WORDS


def make_split(rng: Random, genres: list[str], rows: int, taken: set) -> list[dict]:
    """``rows`` rows, the labels in equal parts and in random order. No sentence of ``taken`` is used again; ``taken`` grows."""
    made = []
    while len(made) < rows:
        label = LABELS[len(made) % 3]
        row = make_pair(rng, pick(rng, genres), label)
        if row is None or row["premise"] in taken or row["hypothesis"] in taken:
            continue
        taken |= {row["premise"], row["hypothesis"]}
        made.append(row)
    made.sort(key=lambda _: rng.random())
    return [row | {"idx": number} for number, row in enumerate(made)]


def make_all() -> dict[str, list[dict]]:
    """split -> its rows, the labels in equal parts, numbered."""
    taken: set[str] = set()
    made = {}
    for split, (rows, seed) in SPLITS.items():
        genres = world.MISMATCHED_GENRES if split == "validation_mismatched" else world.TRAIN_GENRES
        made[split] = make_split(Random(seed), genres, rows, taken)
    return made


def as_bytes(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def main(arguments: list[str]) -> int:
    for split, rows in make_all().items():
        path = FOLDER / f"{split}.jsonl"
        if "--check" in arguments:
            if not path.is_file() or path.read_bytes() != as_bytes(rows):
                print(f"{path.name} differs from a fresh build. Run: make assets-data")
                return 1
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(rows))
        print(f"{split}: {len(rows)} rows")
    return 0 if "--check" in arguments else sources.main(["--write-sums"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
