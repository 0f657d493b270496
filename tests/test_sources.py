"""The embedded data and checkpoint: what they hold, and what is said when a file of them cannot be used."""

import json
import shutil
import subprocess
import sys

import pytest
from loopback_hub import make_distilbert

from helpers import sources
from helpers.sources import CourseAssetError

RESTORE = "Restore it in the course's folder: `git checkout -- helpers/assets`, or rebuild it: `make assets`."
SHIPPED = sources.ASSETS
COUNTS = {path.stem: path.read_bytes().count(b"\n") for path in sorted((SHIPPED / "mini_mnli").glob("*.jsonl"))}
TRAIN, MATCHED = COUNTS["train"], COUNTS["validation_matched"]


@pytest.fixture(autouse=True)
def embedded(monkeypatch):
    monkeypatch.delenv("COURSE_ASSETS", raising=False)


@pytest.fixture
def assets(tmp_path, monkeypatch):
    """A copy of the assets that a test may break: the shipped rows, a small random checkpoint, and sums that fit."""
    folder = tmp_path / "helpers" / "assets"
    shutil.copytree(SHIPPED / "mini_mnli", folder / "mini_mnli")
    (folder / "mini_distilbert").mkdir()
    for name, data in {**make_distilbert().files, "special_tokens_map.json": b'{"cls_token": "[CLS]"}'}.items():
        if name in sources.CHECKPOINT_FILES:
            (folder / "mini_distilbert" / name).write_bytes(data)
    monkeypatch.setattr(sources, "ASSETS", folder)
    sources.write_sums()
    return folder


def shipped_rows(split: str) -> list[dict]:
    return [json.loads(line) for line in (SHIPPED / "mini_mnli" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]


def assert_clear(error: CourseAssetError, file: str, found: str):
    message = str(error)
    assert message == f"helpers/assets/{file} cannot be used: {found}. {RESTORE}"
    assert "\n" not in message
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__), "the traceback shows a chain"


# ---------------------------------------------------------------- what they hold


def test_the_embedded_data_have_the_splits_columns_and_types_of_glue():
    from datasets import ClassLabel, DatasetDict, Value

    data = sources.load_mnli()
    assert type(data) is DatasetDict
    assert list(data) == ["train", "validation_matched", "validation_mismatched"]
    for split, rows in data.items():
        assert rows.column_names == ["premise", "hypothesis", "label", "idx"]
        assert dict(rows.features) == {
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=["entailment", "neutral", "contradiction"]),
            "idx": Value("int32"),
        }
        assert str(rows.split) == split


def test_every_embedded_row_arrives_as_it_stands_in_its_file():
    data = sources.load_mnli()
    for split in sources.SPLITS:
        expected = [{name: row[name] for name in ("premise", "hypothesis", "label", "idx")} for row in shipped_rows(split)]
        assert data[split].to_list() == expected


def test_a_row_count_takes_the_first_rows_of_each_split():
    data = sources.load_mnli(train_rows=7, validation_rows=3)
    assert {split: rows.num_rows for split, rows in data.items()} == {"train": 7, "validation_matched": 3, "validation_mismatched": 3}
    assert data["train"]["idx"][:] == [row["idx"] for row in shipped_rows("train")[:7]]
    assert sources.load_mnli(train_rows=1)["validation_matched"].num_rows == len(shipped_rows("validation_matched"))


def test_the_embedded_data_stay_in_memory_and_leave_no_cache_file():
    data = sources.load_mnli(20, 10)
    mapped = data.map(lambda row: {"length": len(row["premise"])})
    assert [rows.cache_files for rows in (*data.values(), *mapped.values())] == [[]] * 6


def test_the_details_add_genre_and_change():
    rows = sources.mnli_details("validation_mismatched")
    assert rows.column_names == ["premise", "hypothesis", "label", "idx", "genre", "change"]
    assert rows[5] == shipped_rows("validation_mismatched")[5]


@pytest.mark.parametrize(
    "counts, kind, message",
    [
        ({"train_rows": 0}, ValueError, "train_rows is 0. Give 1 or more, or None for the default."),
        ({"validation_rows": -3}, ValueError, "validation_rows is -3. Give 1 or more, or None for the default."),
        (
            {"train_rows": "3000"},
            TypeError,
            "train_rows is '3000'. Give a whole number, for example train_rows=300, or None for the default.",
        ),
        ({"train_rows": 0.5}, TypeError, "train_rows is 0.5. Give a whole number, for example train_rows=300, or None for the default."),
        ({"train_rows": True}, TypeError, "train_rows is True. Give a whole number, for example train_rows=300, or None for the default."),
        ({"train_rows": 10**9}, ValueError, f"train_rows is 1000000000, but train has {TRAIN} rows. Give {TRAIN} or fewer."),
        (
            {"validation_rows": MATCHED + 1},
            ValueError,
            f"validation_rows is {MATCHED + 1}, but validation_matched has {MATCHED} rows. Give {MATCHED} or fewer.",
        ),
    ],
)
def test_a_row_count_that_makes_no_sense_is_one_line(counts, kind, message):
    with pytest.raises(kind) as caught:
        sources.load_mnli(**counts)
    assert str(caught.value) == message


def test_numpy_counts_are_counts():
    import numpy as np

    assert sources.load_mnli(np.int64(4), np.int32(2))["train"].num_rows == 4


def test_a_split_that_is_not_there_is_one_line():
    with pytest.raises(ValueError) as caught:
        sources.mnli_details("validation")
    assert str(caught.value) == "There is no split 'validation'. There are: train, validation_matched, validation_mismatched."


@pytest.mark.parametrize("call", [sources.load_mnli, sources.find_checkpoint, sources.assets_source])
def test_an_unknown_value_of_the_switch_is_one_line(monkeypatch, call):
    monkeypatch.setenv("COURSE_ASSETS", "Hub ")
    with pytest.raises(CourseAssetError) as caught:
        call()
    assert str(caught.value) == "COURSE_ASSETS is 'Hub'. It can be 'embedded' (the default) or 'hub'. Set one of them, or unset it."


def test_the_details_are_for_the_embedded_data_only(monkeypatch):
    monkeypatch.setenv("COURSE_ASSETS", "hub")
    with pytest.raises(CourseAssetError) as caught:
        sources.mnli_details("train")
    assert str(caught.value).startswith("mnli_details() knows only the embedded data. To use the embedded assets: `unset COURSE_ASSETS`")


def test_an_empty_switch_means_embedded(monkeypatch):
    monkeypatch.setenv("COURSE_ASSETS", "")
    assert sources.assets_source() == "embedded"


# ---------------------------------------------------------------- what is shipped


def test_the_shipped_files_are_sound_and_sha256sums_names_each_of_them():
    sources.check_embedded()
    named = [line.split("  ")[1] for line in (SHIPPED / "SHA256SUMS").read_text().splitlines()]
    assert named == [path.relative_to(SHIPPED).as_posix() for path in sources.shipped_files()]


def test_git_never_changes_a_line_ending_of_the_assets():
    files = [path.relative_to(SHIPPED.parents[1]).as_posix() for path in sources.shipped_files()]
    asked = subprocess.run(["git", "check-attr", "text", "eol", "--", *files], cwd=SHIPPED.parents[1], capture_output=True, text=True)
    for file in files:
        assert f"{file}: eol: lf" in asked.stdout or f"{file}: text: unset" in asked.stdout, f"on Windows {file} would not fit its sum"


def test_find_checkpoint_is_the_folder_of_sound_files(assets):
    assert sources.find_checkpoint() == str(assets / "mini_distilbert")


# ---------------------------------------------------------------- files that cannot be used


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
ROW = b'{"premise": "A.", "hypothesis": "B.", "label": %s, "genre": "g", "change": "c", "idx": 0}\n'
BAD_PAIR = "is not a sentence pair with premise, hypothesis, label 0\u20132, genre, change and idx"
BAD_SUM = "its content is not the one that the course ships (SHA-256 differs from SHA256SUMS)"
BAD_ROWS = {
    "empty": (lambda data: b"", "the file is empty"),
    "a Git LFS pointer": (lambda data: LFS, "it is a Git LFS pointer, not the file itself"),
    "binary": (lambda data: b"PAR1\xff\xfe\x00\x00", "it is not UTF-8 text"),
    "cut off in a line": (lambda data: data[: data.index(b"\n") + 20], "line 2 is not JSON"),
    "cut off after a line": (lambda data: data[: data.index(b"\n") + 1], BAD_SUM),
    "another kind of JSON": (lambda data: b'{"text": "hello"}\n', f"line 1 {BAD_PAIR}"),
    "a list": (lambda data: b"[1, 2]\n", f"line 1 {BAD_PAIR}"),
    "a label too high": (lambda data: ROW % b"3", f"line 1 {BAD_PAIR}"),
    "a label that is a word": (lambda data: ROW % b'"neutral"', f"line 1 {BAD_PAIR}"),
    "a label that is true": (lambda data: ROW % b"true", f"line 1 {BAD_PAIR}"),
    "an empty line": (lambda data: data + b"\n", f"line {TRAIN + 1} is not JSON"),
    "a changed word": (lambda data: data.replace(b" the ", b" a ", 1), BAD_SUM),
    "Windows line endings": (lambda data: data.replace(b"\n", b"\r\n"), BAD_SUM),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_data_file_is_named_with_what_was_found_and_the_command(assets, case):
    change, found = BAD_ROWS[case]
    rewrite(assets / "mini_mnli" / "train.jsonl", change)
    for call in (lambda: sources.load_mnli(5, 5), lambda: sources.mnli_details("train")):
        with pytest.raises(CourseAssetError) as caught:
            call()
        assert_clear(caught.value, "mini_mnli/train.jsonl", found)


def header_of(data: bytes, size: int) -> bytes:
    return size.to_bytes(8, "little") + data[8:]


BAD_CHECKPOINTS = {
    "empty": ("vocab.txt", lambda data: b"", "the file is empty"),
    "a Git LFS pointer": ("model.safetensors", lambda data: LFS, "it is a Git LFS pointer, not the file itself"),
    "weights cut off": (
        "model.safetensors",
        lambda data: data[:-10],
        "it is cut off or has bytes too many (93658 bytes; its header says 93668)",
    ),
    "weights with a tail": (
        "model.safetensors",
        lambda data: data + b"1234",
        "it is cut off or has bytes too many (93672 bytes; its header says 93668)",
    ),
    "seven bytes": ("model.safetensors", lambda data: data[:7], None),
    "a zip of weights": ("model.safetensors", lambda data: b"PK\x03\x04\x00\x00\x08\x08" + data, None),
    "no header": ("model.safetensors", lambda data: header_of(data, 0), "it is not a safetensors file (its header cannot be read)"),
    "half a header": ("model.safetensors", lambda data: header_of(data, 40), "it is not a safetensors file (its header cannot be read)"),
    "weights of another model": (
        "model.safetensors",
        lambda data: data.replace(b'"distilbert.', b'"some_other.'),
        "it holds no weights of a DistilBERT",
    ),
    "one changed weight": ("model.safetensors", lambda data: data[:-1] + bytes([data[-1] ^ 1]), BAD_SUM),
    "config not JSON": ("config.json", lambda data: data[:50], "it is not JSON"),
    "config not UTF-8": ("config.json", lambda data: b"\xff\xfe{}", "it is not UTF-8 text"),
    "config a list": ("config.json", lambda data: b"[]", "it is JSON, but not an object"),
    "config of a BERT": (
        "config.json",
        lambda data: data.replace(b'"distilbert"', b'"bert"'),
        "it is not the configuration of a DistilBERT (model_type is 'bert')",
    ),
    "tokenizer of another kind": ("tokenizer.json", lambda data: data.replace(b'"WordPiece"', b'"BPE"'), "it is not a WordPiece tokenizer"),
    "tokenizer without a model": ("tokenizer.json", lambda data: b'{"version": "1.0", "model": null}', "it is not a WordPiece tokenizer"),
    "a page instead of a file": ("tokenizer_config.json", lambda data: b"<!DOCTYPE html><html>404</html>", "it is not JSON"),
    "another vocabulary": ("vocab.txt", lambda data: b"<s>\n</s>\n", "it is not a BERT vocabulary (no line is [CLS])"),
    "one changed word": ("vocab.txt", lambda data: data.replace(b"##a\n", b"##A\n"), BAD_SUM),
}


@pytest.mark.parametrize("case", BAD_CHECKPOINTS)
def test_a_bad_checkpoint_file_is_named_with_what_was_found_and_the_command(assets, case):
    file, change, found = BAD_CHECKPOINTS[case]
    rewrite(assets / "mini_distilbert" / file, change)
    with pytest.raises(CourseAssetError) as caught:
        sources.find_checkpoint()
    if found is None:
        size = int.from_bytes((assets / "mini_distilbert" / file).read_bytes()[:8], "little")
        found = f"it is cut off, or not a safetensors file (its first bytes ask for a header of {size} bytes)"
    assert_clear(caught.value, f"mini_distilbert/{file}", found)


@pytest.mark.parametrize("file", [*sources.CHECKPOINT_FILES, "train.jsonl", "validation_matched.jsonl", "validation_mismatched.jsonl"])
def test_a_missing_file_is_named(assets, file):
    folder = "mini_mnli" if file.endswith(".jsonl") else "mini_distilbert"
    (assets / folder / file).unlink()
    with pytest.raises(CourseAssetError) as caught:
        sources.load_mnli() if folder == "mini_mnli" else sources.find_checkpoint()
    assert_clear(caught.value, f"{folder}/{file}", "the file is missing")
    assert isinstance(caught.value.cause, FileNotFoundError), "the library's own error is kept"


def test_a_folder_in_the_place_of_a_file_is_named(assets):
    path = assets / "mini_distilbert" / "config.json"
    path.unlink()
    path.mkdir()
    with pytest.raises(CourseAssetError) as caught:
        sources.find_checkpoint()
    assert str(caught.value).startswith("helpers/assets/mini_distilbert/config.json cannot be used: it cannot be read (")


def test_damaged_sums_are_named(assets):
    (assets / "SHA256SUMS").write_text("<<<<<<< HEAD\n")
    with pytest.raises(CourseAssetError) as caught:
        sources.find_checkpoint()
    assert_clear(caught.value, "SHA256SUMS", "a line in it is not a SHA-256 and a file name")


def test_missing_sums_are_named(assets):
    (assets / "SHA256SUMS").unlink()
    with pytest.raises(CourseAssetError) as caught:
        sources.find_checkpoint()
    assert_clear(caught.value, "SHA256SUMS", "the file is missing")


def test_a_bad_validation_file_does_not_pass_because_only_training_rows_are_read(assets):
    (assets / "mini_mnli" / "validation_mismatched.jsonl").write_bytes(b"")
    with pytest.raises(CourseAssetError) as caught:
        sources.load_mnli(1, 1)
    assert_clear(caught.value, "mini_mnli/validation_mismatched.jsonl", "the file is empty")


# ---------------------------------------------------------------- the command


def test_sums_are_written_anew_and_then_the_files_pass_again(assets, capsys):
    rewrite(assets / "mini_distilbert" / "vocab.txt", lambda data: data + b"gnu\n")
    assert sources.main([]) == 1
    assert "mini_distilbert/vocab.txt cannot be used: its content is not the one" in capsys.readouterr().err
    assert sources.main(["--write-sums"]) == 0
    assert capsys.readouterr().out == "wrote helpers/assets/SHA256SUMS\n9 files of helpers/assets are sound.\n"
    assert b"\r" not in (assets / "SHA256SUMS").read_bytes()
    if shutil.which("sha256sum"):
        assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=assets).returncode == 0


def test_the_command_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "helpers.sources", "--help"], capture_output=True, text=True, cwd=SHIPPED.parents[1])
    assert done.returncode == 0 and "--write-sums" in done.stdout
