"""Makes mini-MNLI: English sentence pairs with MNLI's columns, label names, genres and split names.

    python -m helpers.build.mini_mnli            write helpers/assets/mini_mnli/
    python -m helpers.build.mini_mnli --check    rebuild in memory and compare byte by byte

The same bytes come out on every Python from 3.11 on: only ``Random.random`` is used, and JSON Lines is written here.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

from helpers.build import world
from helpers.build.scenes import ADDS, BREAKS, KEEPS, UNDER_NEGATION, chance, change, make_scene, pick, sentence, tell

LABELS = ["entailment", "neutral", "contradiction"]
# split: (rows made, seed). Those that tell two events are left out afterwards: in 3,000 rows a small model does not learn
# to find the event that the second sentence speaks of.
SPLITS = {"train": (6000, 1), "validation_matched": (900, 2), "validation_mismatched": (900, 3)}
FOLDER = Path(__file__).resolve().parents[1] / "assets" / "mini_mnli"


def changed_scene(rng: Random, scene, label: str):
    """A second scene that stands in the relation ``label`` to ``scene``. Returns (names of the changes, scene) or None.

    The shapes are alike for the three labels: details are dropped and words exchanged in all of them, and details
    are added in two of them, so that counting words does not tell the label.
    """
    used, names = set(), []
    keeps = 1 + (rng.random() < 0.6) + (rng.random() < 0.35) if label == "entailment" else (rng.random() < 0.75) + (rng.random() < 0.4)
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
    told, scene, events = tell(first), first, 1
    if chance(rng, 0.22) and not first.passive and not first.reason:
        second = replace(make_scene(rng, genre), who=first.who, passive=False, time_first=False)
        if second.verb != first.verb and not (second.what and second.what.noun == first.who.noun):
            told += (" but " if second.negated != first.negated else " and ") + tell(second, subject=False)
            scene, events = pick(rng, [first, second]), 2
    made = changed_scene(rng, scene, label)
    if made is None:
        return None
    names, new = made
    hypothesis = tell(replace(new, time_first=chance(rng, 0.2)))
    if hypothesis == told:
        return None
    opening = pick(rng, world.GENRES[genre][2]) if chance(rng, 0.35) else ""
    return {
        "premise": sentence(opening + told),
        "hypothesis": sentence(hypothesis),
        "label": LABELS.index(label),
        "genre": genre,
        "change": names[0],
        "events": events,
    }


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
    return made


def make_surplus() -> dict[str, list[dict]]:
    """All rows that are made, those about two events too."""
    taken: set[str] = set()
    genres = {"validation_mismatched": world.MISMATCHED_GENRES}
    return {split: make_split(Random(seed), genres.get(split, world.TRAIN_GENRES), rows, taken) for split, (rows, seed) in SPLITS.items()}


def make_all() -> dict[str, list[dict]]:
    """split -> its rows: about one event each, the labels in equal parts, numbered."""
    return {split: thin(rows) for split, rows in make_surplus().items()}


def thin(rows: list[dict]) -> list[dict]:
    rows = [row for row in rows if row["events"] == 1]
    each = min(sum(row["label"] == label for row in rows) for label in range(len(LABELS)))
    left, kept = [each] * len(LABELS), []
    for row in rows:
        if left[row["label"]]:
            left[row["label"]] -= 1
            kept.append({key: row[key] for key in ("premise", "hypothesis", "label", "genre", "change")} | {"idx": len(kept)})
    return kept


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
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
