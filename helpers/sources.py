"""Where the course's data and checkpoint come from: the folder ``helpers/assets``, or the Hugging Face Hub.

COURSE_ASSETS=embedded (default)  mini-MNLI and mini-DistilBERT from helpers/assets. Nothing touches the network.
COURSE_ASSETS=hub                 nyu-mll/glue (mnli) and distilbert/distilbert-base-uncased, through the libraries' own loaders.

    python -m helpers.sources --write-sums      after the assets were rebuilt on purpose: write SHA256SUMS anew
    python -m helpers.sources --check           check every file of helpers/assets
"""

import argparse
import hashlib
import json
import operator
import sys
from pathlib import Path

from helpers import environment
from helpers.messages import _

ASSETS = Path(__file__).resolve().parent / "assets"
SPLITS = ("train", "validation_matched", "validation_mismatched")
LABELS = ("entailment", "neutral", "contradiction")
CHECKPOINT_FILES = ("config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
TEXT_COLUMNS = ("premise", "hypothesis", "genre", "change")


class CourseAssetError(RuntimeError):
    """The data or the checkpoint cannot be used. The message is one line: what happened, and what to do next.

    ``cause`` is the library's own error, or None.
    """

    def __init__(self, message: str, cause: BaseException | None = None):
        super().__init__(message)
        self.cause = cause


def assets_source() -> str:
    """ "embedded" or "hub": the value of COURSE_ASSETS. Any other value is a CourseAssetError."""
    source = environment.wanted_source()
    if source not in ("embedded", "hub"):
        raise CourseAssetError(
            _("COURSE_ASSETS is {value!r}. It can be 'embedded' (the default) or 'hub'. Set one of them, or unset it.").format(value=source)
        )
    return source


def load_mnli(train_rows: int | None = None, validation_rows: int | None = None):
    """Sentence pairs with their relation: a DatasetDict of train, validation_matched and validation_mismatched.

    Columns, as in GLUE: premise, hypothesis (string) · label (ClassLabel: entailment, neutral, contradiction) · idx (int32).
    ``train_rows`` and ``validation_rows``: take the first rows only (validation: of each of the two splits). None means all
    embedded rows, or 3,000 and 750 from the Hub.
    Raises TypeError or ValueError for a count that makes no sense, CourseAssetError for files that cannot be used.
    """
    train_rows = _row_count("train_rows", train_rows)
    validation_rows = _row_count("validation_rows", validation_rows)
    counts = dict(zip(SPLITS, (train_rows, validation_rows, validation_rows), strict=True))
    if assets_source() == "hub":
        from helpers import hub

        return hub.load_mnli(counts)
    from datasets import DatasetDict

    rows = {split: _first(_read_rows(split), count, split) for split, count in counts.items()}
    return DatasetDict({split: _dataset(rows[split], ("premise", "hypothesis", "label", "idx"), split) for split in SPLITS})


def mnli_details(split: str):
    """One split of mini-MNLI with two columns more: genre, and change (how the hypothesis was made from the premise).

    ``split``: train, validation_matched or validation_mismatched; anything else is a ValueError. Not from the Hub: CourseAssetError.
    """
    if split not in SPLITS:
        raise ValueError(_("There is no split {split!r}. There are: {splits}.").format(split=split, splits=", ".join(SPLITS)))
    if assets_source() == "hub":
        raise CourseAssetError(_("mnli_details() knows only the embedded data. {switch}").format(switch=switch_back()))
    return _dataset(_read_rows(split), ("premise", "hypothesis", "label", "idx", "genre", "change"), split)


def find_checkpoint() -> str:
    """What to hand to ``from_pretrained``: the folder of mini-DistilBERT, or the name of DistilBERT on the Hub.

    Embedded: every file is looked at first. Hub: the files are downloaded first, so that ``from_pretrained`` finds them whole.
    Raises CourseAssetError that names the file, what was found, and the command that restores it.
    """
    if assets_source() == "hub":
        from helpers import hub

        return hub.find_checkpoint()
    folder = ASSETS / "mini_distilbert"
    for name in CHECKPOINT_FILES:
        check_checkpoint_file(folder / name)
    return str(folder)


def switch_back() -> str:
    return _('To use the embedded assets: `unset COURSE_ASSETS`, or os.environ["COURSE_ASSETS"] = "embedded" in the notebook.')


# ---------------------------------------------------------------- row counts


def _row_count(name: str, value) -> int | None:
    if value is None:
        return None
    try:
        count = operator.index(value)
    except TypeError:
        count = None
    if count is None or isinstance(value, bool):
        advice = _("{name} is {value!r}. Give a whole number, for example {name}=300, or None for the default.")
        raise TypeError(advice.format(name=name, value=value))
    if count < 1:
        raise ValueError(_("{name} is {value}. Give 1 or more, or None for the default.").format(name=name, value=count))
    return count


def too_many_rows(split: str, wanted: int, there: int) -> ValueError:
    name = "train_rows" if split == "train" else "validation_rows"
    advice = _("{name} is {wanted}, but {split} has {there} rows. Give {there} or fewer.")
    return ValueError(advice.format(name=name, wanted=wanted, split=split, there=there))


def _first(rows: list, count: int | None, split: str) -> list:
    if count is not None and count > len(rows):
        raise too_many_rows(split, count, len(rows))
    return rows[:count]


# ---------------------------------------------------------------- embedded files


def _unusable(path: Path, found: str, cause: BaseException | None = None) -> CourseAssetError:
    message = _(
        "{file} cannot be used: {found}. Restore it in the course's folder: `git checkout -- helpers/assets`, or rebuild it: `make assets`."
    )
    return CourseAssetError(message.format(file=_short(path), found=found), cause)


def _short(path: Path) -> str:
    """The path as seen from the course's folder."""
    return path.relative_to(ASSETS.parents[1]).as_posix()


def _read_bytes(path: Path) -> bytes:
    """The file's bytes, after the checks that hold for every asset. None of them needs a library."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise _unusable(path, _("the file is missing"), error) from None
    except OSError as error:
        raise _unusable(path, _("it cannot be read ({error})").format(error=error.strerror or error), error) from None
    if not data:
        raise _unusable(path, _("the file is empty"))
    if data.startswith(b"version https://git-lfs"):
        raise _unusable(path, _("it is a Git LFS pointer, not the file itself"))
    return data


def _check_sum(path: Path, data: bytes) -> None:
    """Last of the checks: the others say better what is wrong."""
    expected = _expected_sums().get(path.relative_to(ASSETS).as_posix())
    if hashlib.sha256(data).hexdigest() != expected:
        raise _unusable(path, _("its content is not the one that the course ships (SHA-256 differs from SHA256SUMS)"))


def _expected_sums() -> dict[str, str]:
    path = ASSETS / "SHA256SUMS"
    sums = {}
    for line in _read_bytes(path).decode("utf-8", "replace").splitlines():
        digest, _space, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise _unusable(path, _("a line in it is not a SHA-256 and a file name"))
        sums[name] = digest
    return sums


def _read_rows(split: str) -> list[dict]:
    path = ASSETS / "mini_mnli" / f"{split}.jsonl"
    data = _read_bytes(path)
    try:
        lines = data.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise _unusable(path, _("it is not UTF-8 text"), error) from None
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise _unusable(path, _("line {number} is not JSON").format(number=number), error) from None
        if not _is_pair(row):
            found = _("line {number} is not a sentence pair with premise, hypothesis, label 0–2, genre, change and idx")
            raise _unusable(path, found.format(number=number))
        rows.append(row)
    _check_sum(path, data)
    return rows


def _is_pair(row) -> bool:
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in TEXT_COLUMNS)
        and all(type(row.get(name)) is int for name in ("label", "idx"))
        and 0 <= row["label"] < len(LABELS)
    )


def _dataset(rows: list[dict], columns: tuple[str, ...], split: str):
    from datasets import ClassLabel, Dataset, Features, Value

    kinds = {"label": ClassLabel(names=list(LABELS)), "idx": Value("int32")}
    features = Features({name: kinds.get(name, Value("string")) for name in columns})
    return Dataset.from_dict({name: [row[name] for row in rows] for name in columns}, features=features, split=split)


def check_checkpoint_file(path: Path) -> None:
    """Raises CourseAssetError when this file of mini-DistilBERT cannot be what its name says."""
    data = _read_bytes(path)
    if path.suffix == ".safetensors":
        problem = safetensors_problem(path)
        if problem:
            raise _unusable(path, problem)
    else:
        try:
            text = data.decode("utf-8")
            content = json.loads(text) if path.suffix == ".json" else text
        except UnicodeDecodeError as error:
            raise _unusable(path, _("it is not UTF-8 text"), error) from None
        except ValueError as error:
            raise _unusable(path, _("it is not JSON"), error) from None
        problem = _content_problem(path.name, content)
        if problem:
            raise _unusable(path, problem)
    _check_sum(path, data)


def _content_problem(name: str, content) -> str | None:
    if name == "vocab.txt":
        return None if "[CLS]" in content.split("\n") else _("it is not a BERT vocabulary (no line is [CLS])")
    if not isinstance(content, dict):
        return _("it is JSON, but not an object")
    if name == "config.json" and content.get("model_type") != "distilbert":
        return _("it is not the configuration of a DistilBERT (model_type is {found!r})").format(found=content.get("model_type"))
    if name == "tokenizer.json" and (not isinstance(content.get("model"), dict) or content["model"].get("type") != "WordPiece"):
        return _("it is not a WordPiece tokenizer")
    return None


def safetensors_problem(path: Path) -> str | None:
    """Why this is not a whole safetensors file, or None if it is one. Only its header is read.

    Such a file is 8 bytes of length, a JSON header of that length, and then exactly the tensors that the header names.
    """
    there = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(8)
        size = int.from_bytes(start, "little")
        if size > there - 8:
            return _("it is cut off, or not a safetensors file (its first bytes ask for a header of {size} bytes)").format(size=size)
        try:
            header = json.loads(file.read(size))
            needed = 8 + size + max(tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__")
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return _("it is not a safetensors file (its header cannot be read)")
    if needed != there:
        return _("it is cut off or has bytes too many ({there} bytes; its header says {needed})").format(there=there, needed=needed)
    if not any(name.startswith("distilbert.") for name in header):
        return _("it holds no weights of a DistilBERT")
    return None


# ---------------------------------------------------------------- SHA256SUMS


def shipped_files() -> list[Path]:
    """Every file of the assets that code reads, in the order of SHA256SUMS."""
    return [ASSETS / "mini_distilbert" / name for name in CHECKPOINT_FILES] + [ASSETS / "mini_mnli" / f"{split}.jsonl" for split in SPLITS]


def write_sums() -> Path:
    """Write helpers/assets/SHA256SUMS for the files that are there now. ``sha256sum -c SHA256SUMS`` reads it too."""
    lines = [f"{hashlib.sha256(_read_bytes(path)).hexdigest()}  {path.relative_to(ASSETS).as_posix()}\n" for path in shipped_files()]
    path = ASSETS / "SHA256SUMS"
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def check_embedded() -> None:
    """Look at every shipped file. Raises CourseAssetError for the first one that cannot be used."""
    for path in shipped_files():
        if path.suffix == ".jsonl":
            _read_rows(path.stem)
        else:
            check_checkpoint_file(path)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.sources", description="Check the files of helpers/assets.")
    parser.add_argument("--write-sums", action="store_true", help="write SHA256SUMS for the files that are there now")
    parser.add_argument("--check", action="store_true", help="check every file (what happens without an option)")
    options = parser.parse_args(arguments)
    try:
        if options.write_sums:
            print(_("wrote {file}").format(file=_short(write_sums())))
        check_embedded()
    except CourseAssetError as error:
        print(error, file=sys.stderr)
        return 1
    print(_("{count} files of helpers/assets are sound.").format(count=len(shipped_files())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
