"""The real data set and the real checkpoint, from the Hugging Face Hub (COURSE_ASSETS=hub).

Every file is downloaded first, in one place, and compared with the checksum that the Hub gives for it. Then the libraries' own
loaders find whole files in their cache. Whatever fails becomes one CourseAssetError.
"""

import hashlib
import os
import re
import threading
from pathlib import Path

from helpers import environment
from helpers.messages import _
from helpers.sources import LABELS, SPLITS, CourseAssetError, safetensors_problem, switch_back, too_many_rows

DATASET, CONFIG = "nyu-mll/glue", "mnli"
CHECKPOINT = "distilbert/distilbert-base-uncased"
DEFAULT_ROWS = {"train": 3_000, "validation_matched": 750, "validation_mismatched": 750}
# load_dataset() also wants the test splits' files, though their rows have no labels and are dropped here.
DATASET_FILES = ("README.md", *(f"{CONFIG}/{split}-*.parquet" for split in (*SPLITS, "test_matched", "test_mismatched")))
CHECKPOINT_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
SECONDS_TO_READ = 180  # for reading files that are on this machine already; a download has its own limits between two reads


def load_mnli(counts: dict):
    """MNLI's DatasetDict of train, validation_matched, validation_mismatched; ``counts``: rows per split, None for the default."""
    online, folder = _get(DATASET, "dataset", DATASET_FILES)
    counts = {split: count or DEFAULT_ROWS[split] for split, count in counts.items()}
    slices = [f"{split}[:{count}]" for split, count in counts.items()]

    def read():
        from datasets import load_dataset

        # Without the Hub, load_dataset() would knock at its door for minutes: read the copy instead.
        return load_dataset(DATASET if online else str(folder), CONFIG, split=slices)

    loaded = dict(zip(SPLITS, _within(SECONDS_TO_READ, read, DATASET), strict=True))
    for split, rows in loaded.items():
        if not is_mnli(rows):
            raise _failed(DATASET, _("{split} does not have the columns and labels of MNLI").format(split=split))
        if len(rows) < counts[split]:
            raise too_many_rows(split, counts[split], len(rows))
    from datasets import DatasetDict

    return DatasetDict(loaded)


def is_mnli(rows) -> bool:
    """Has this Dataset MNLI's columns, and its label names in MNLI's order?"""
    has_columns = {"premise", "hypothesis", "label", "idx"} <= set(rows.column_names)
    return has_columns and getattr(rows.features["label"], "names", None) == list(LABELS)


def find_checkpoint() -> str:
    """The name of DistilBERT on the Hub, its files being downloaded; or the folder of the copy, when the Hub cannot be reached."""
    online, folder = _get(CHECKPOINT, "model", CHECKPOINT_FILES)
    problem = safetensors_problem(folder / "model.safetensors")
    if problem:
        raise _failed(CHECKPOINT, _("model.safetensors cannot be used: {problem}").format(problem=problem))
    return CHECKPOINT if online else str(folder)


# ---------------------------------------------------------------- downloading


def _get(repo: str, kind: str, patterns: tuple[str, ...]) -> tuple[bool, Path]:
    """Have every file that matches a pattern, whole, in the cache. Returns (was the Hub reached?, the folder with the files)."""
    environment.go_online()
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE and not os.environ.get("HF_HUB_OFFLINE"):
        raise CourseAssetError(
            _(
                "COURSE_ASSETS became hub after the libraries were loaded for offline work. "
                "Restart the kernel, and set it before `import helpers`."
            )
        )
    try:
        info = HfApi().repo_info(repo, repo_type=kind, timeout=constants.HF_HUB_ETAG_TIMEOUT, files_metadata=True)
    except Exception as error:
        folder = _earlier_copy(repo, kind, patterns)
        if folder is None:
            raise _failed(repo, what_happened(error), error) from None
        print(_("{repo}: {what}. The copy that was downloaded earlier is used.").format(repo=repo, what=what_happened(error)))
        return False, folder
    there = {file.rfilename: file.size for file in info.siblings}
    names = {pattern: [name for name in there if _matches(name, pattern)] for pattern in patterns}
    for pattern, found in names.items():
        if not found:
            raise _failed(repo, _("{file} is not there").format(file=pattern))
    for name in sorted(sum(names.values(), [])):
        path = _download(repo, kind, name, there[name])
        if not _is_whole(path):
            _forget(path)
            raise _failed(repo, _("{file} came in damaged (its checksum differs), so it was deleted").format(file=name))
    return True, path.parents[name.count("/")]


def _download(repo: str, kind: str, name: str, size: int | None) -> Path:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    if not isinstance(try_to_load_from_cache(repo, name, repo_type=kind), str):
        # One plain line: progress bars stay away where the output is not a terminal or widgets are missing.
        shown = f"{(size or 0) / 1e6:.1f} MB" if (size or 0) >= 1e5 else f"{(size or 0) / 1e3:.1f} kB"
        print(_("downloading {repo}: {file} ({size})").format(repo=repo, file=name, size=shown), flush=True)
    try:
        return Path(hf_hub_download(repo, name, repo_type=kind))
    except Exception as error:
        raise _failed(repo, f"{name}: {what_happened(error)}", error) from None


def _earlier_copy(repo: str, kind: str, patterns: tuple[str, ...]) -> Path | None:
    """The folder of the newest download, if every file is there and whole."""
    from huggingface_hub import try_to_load_from_cache

    first = try_to_load_from_cache(repo, patterns[0], repo_type=kind)
    if not isinstance(first, str):
        return None
    folder = Path(first).parent
    found = [sorted(folder.glob(pattern)) for pattern in patterns]
    if not all(found) or not all(_is_whole(path) for paths in found for path in paths):
        return None
    return folder


def _is_whole(path: Path) -> bool:
    """The Hub's cache names a file after its checksum: SHA-256 for large files, git's SHA-1 for small ones.

    Where the cache cannot make links (Windows), names are plain and the size, which the download has compared, must do.
    """
    real = Path(os.path.realpath(path))
    if re.fullmatch("[0-9a-f]{64}", real.name):
        digest = hashlib.sha256()
    elif re.fullmatch("[0-9a-f]{40}", real.name):
        digest = hashlib.sha1(f"blob {real.stat().st_size}\0".encode())
    else:
        return real.is_file()
    with open(real, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest() == real.name


def _forget(path: Path) -> None:
    for name in (Path(os.path.realpath(path)), path):
        name.unlink(missing_ok=True)


def _matches(name: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), name) is not None


# ---------------------------------------------------------------- telling what went wrong


def _failed(repo: str, what: str, cause: BaseException | None = None) -> CourseAssetError:
    return CourseAssetError(
        _("{repo} could not be loaded from the Hub: {what}. {switch}").format(repo=repo, what=what, switch=switch_back()), cause
    )


def what_happened(error: BaseException) -> str:
    """A few words for a library's error. The libraries wrap errors in errors, so the whole chain is looked at."""
    import requests
    from huggingface_hub.errors import OfflineModeIsEnabled

    chain = [error]
    while (deeper := chain[-1].__cause__ or chain[-1].__context__) is not None and deeper not in chain:
        chain.append(deeper)
    for link in chain:
        status = getattr(getattr(link, "response", None), "status_code", None)
        if status == 404:
            return _("it is not there (HTTP 404)")
        if status:
            return _("the Hub answered HTTP {status}").format(status=status)
        if isinstance(link, OfflineModeIsEnabled):
            return _("HF_HUB_OFFLINE is set, and no whole copy was downloaded earlier")
        if isinstance(link, (requests.Timeout, TimeoutError)):
            return _("the Hub did not answer in time")
        if isinstance(link, requests.exceptions.ChunkedEncodingError) or "Consistency check failed" in str(link):
            return _("the download broke off")
        if isinstance(link, requests.ConnectionError):
            return _("the Hub cannot be reached")
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def _within(seconds: float, read, repo: str):
    """The result of ``read()``. Some requests of the libraries have no time limit of their own; this is theirs."""
    got: dict = {}

    def work():
        try:
            got["result"] = read()
        except BaseException as error:
            got["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if "error" in got:
        raise _failed(repo, what_happened(got["error"]), got["error"]) from None
    if "result" not in got:
        raise _failed(repo, _("reading it took more than {seconds} seconds").format(seconds=seconds))
    return got["result"]
