"""COURSE_ASSETS=hub, proved with the real clients against a Hub on 127.0.0.1 that can go wrong on purpose.

Each test is one subprocess with an empty HF_HOME. In it ``hub`` is the running LoopbackHub, and ``say(function)`` notes what came of
a call: what it returned, or the error that a learner would see.
"""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from loopback_hub import make_distilbert, make_glue, read_mini_mnli

SWITCH = 'To use the embedded assets: `unset COURSE_ASSETS`, or os.environ["COURSE_ASSETS"] = "embedded" in the notebook.'
PRELUDE = """
import json, os, pickle, sys, time
sys.path.insert(0, {tests!r})
from loopback_hub import LoopbackHub

nap = time.sleep
waits = []  # the clients wait between two tries: noted, and cut short

def short_nap(seconds):
    waits.append(seconds)
    nap(min(seconds, 0.01))

time.sleep = short_nap
hub = LoopbackHub(*pickle.load(open({repos!r}, "rb"))).__enter__()
os.environ["HF_ENDPOINT"] = hub.url
import helpers

def say(call):
    start = time.monotonic()
    try:
        said = {{"ok": True, "value": call()}}
    except Exception as error:
        chained = bool(error.__cause__ or (error.__context__ and not error.__suppress_context__))
        cause = type(getattr(error, "cause", None)).__name__
        said = {{"ok": False, "kind": type(error).__name__, "message": str(error), "chained": chained, "cause": cause}}
    print("SAID " + json.dumps({{**said, "seconds": time.monotonic() - start}}), flush=True)

def rows(train=30, validation=10):
    data = helpers.load_mnli(train, validation)
    return {{split: [data[split].num_rows, data[split][-1]["hypothesis"]] for split in data}}

def cached(part):
    import glob
    return sorted(path for path in glob.glob(os.environ["HF_HOME"] + "/**", recursive=True) if part in path)

def blobs():
    import hashlib
    from huggingface_hub import constants
    names = [path for path in cached("/blobs/") if os.path.isfile(path) and not path.endswith(".incomplete")]
    whole = lambda data: (hashlib.sha256(data).hexdigest(), hashlib.sha1(b"blob %d\\0" % len(data) + data).hexdigest())
    return all(os.path.basename(path) in whole(open(path, "rb").read()) for path in names) and len(names)
"""


@pytest.fixture(scope="session")
def mnli_rows():
    rows = read_mini_mnli({"train": 3_060, "validation_matched": 750, "validation_mismatched": 750})
    return {split: few + rows["train"][:6] if split != "train" else few for split, few in rows.items()}  # more than the course takes


@pytest.fixture(scope="session")
def repos(tmp_path_factory, mnli_rows):
    words = {word.strip(".,").lower() for row in mnli_rows["train"] for word in row["premise"].split()}
    path = tmp_path_factory.mktemp("repos") / "repos.pickle"
    path.write_bytes(pickle.dumps((make_glue(mnli_rows), make_distilbert(sorted(words)))))
    return path


@pytest.fixture
def scene(repos, tmp_path):
    """Runs code in a subprocess; returns what ``say`` noted, and the whole output as ``scene.output``."""

    def run(code: str, seconds: int = 120, home: Path = tmp_path / "home", **environment) -> list[dict]:
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
        settings |= {"COURSE_ASSETS": "hub", "HF_HOME": str(home), **environment}
        prelude = PRELUDE.format(tests=str(Path(__file__).parent), repos=str(repos))
        done = subprocess.run([sys.executable, "-c", prelude + code], env=settings, capture_output=True, text=True, timeout=seconds)
        run.output = done.stdout + done.stderr
        assert done.returncode == 0, run.output[-4000:]
        return [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("SAID ")]

    return run


def assert_clear(said: dict, *parts: str):
    assert not said["ok"], said
    assert said["kind"] == "CourseAssetError", said
    assert "\n" not in said["message"] and len(said["message"]) < 400, said
    assert said["message"].endswith(SWITCH), said
    assert not said["chained"], said
    for part in parts:
        assert part in said["message"], said


# ---------------------------------------------------------------- it works


@pytest.mark.slow
def test_the_real_loaders_get_mnli_and_distilbert_from_the_hub(scene, mnli_rows):
    said = scene(
        """
say(lambda: {split: [rows.num_rows, rows.column_names, rows.features["label"].names, str(rows.features["idx"].dtype), rows[-1]]
             for split, rows in helpers.load_mnli().items()})
say(helpers.find_checkpoint)
import numpy as np
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification
checkpoint = helpers.find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
logits = model(tokenizer(["A dog ran."], ["It ran."], return_tensors="tf")).logits.numpy()
say(lambda: [list(logits.shape), bool(np.isfinite(logits).all())])
from safetensors.numpy import load_file
torch_weights = load_file(cached("snapshots/0123456789abcdef0123456789abcdef01234567/model.safetensors")[0])
ours = model.distilbert.transformer.layer[1].ffn.lin1.kernel.numpy()
say(lambda: bool((ours == torch_weights["distilbert.transformer.layer.1.ffn.lin1.weight"].T).all()))
say(lambda: [type(model).__name__, type(tokenizer).__name__, "torch" in sys.modules])
weights = len(hub.repos["models", "distilbert/distilbert-base-uncased"].files["model.safetensors"])
say(lambda: hub.sent("model.safetensors") / weights)
""",
        seconds=240,
    )
    data, checkpoint, logits, transposed, kinds, downloads = [entry["value"] for entry in said]
    assert {split: count for split, (count, *_rest) in data.items()} == {
        "train": 3_000,
        "validation_matched": 750,
        "validation_mismatched": 750,
    }
    for split, (count, columns, names, kind, last) in data.items():
        assert columns == ["premise", "hypothesis", "label", "idx"]
        assert names == ["entailment", "neutral", "contradiction"]
        assert kind == "int32"
        assert last == {name: mnli_rows[split][count - 1][name] for name in columns}
    assert checkpoint == "distilbert/distilbert-base-uncased"
    assert logits == [[1, 3], True]
    assert transposed is True
    assert kinds == ["TFDistilBertForSequenceClassification", "DistilBertTokenizerFast", False]
    assert downloads == 1
    assert "newly initialized: ['pre_classifier.weight', 'pre_classifier.bias', 'classifier.weight', 'classifier.bias']" in scene.output


def test_a_download_is_announced_with_its_size_and_happens_once(scene):
    said = scene(
        """
say(rows); first = hub.sent("parquet")
say(rows); say(lambda: [first > 100_000, hub.sent("parquet") - first])
say(lambda: sum(len(data) for path, data in hub.repos["datasets", "nyu-mll/glue"].files.items() if "parquet" in path) - first)
""",
    )
    assert said[0]["value"] == said[1]["value"]
    assert said[2]["value"] == [True, 0]
    assert said[3]["value"] == 0
    assert scene.output.count("downloading nyu-mll/glue: mnli/train-00000-of-00001.parquet (") == 1
    assert "kB)" in scene.output


def test_more_rows_than_the_hub_has_are_refused_in_one_line(scene):
    said = scene("say(lambda: rows(5000)); say(lambda: rows(10, 0))")
    assert said[0]["message"] == "train_rows is 5000, but train has 3060 rows. Give 3060 or fewer."
    assert said[1]["message"] == "validation_rows is 0. Give 1 or more, or None for the default."


def test_a_copy_that_was_downloaded_earlier_serves_when_the_hub_is_down(scene):
    said = scene(
        """
say(rows); say(helpers.find_checkpoint)
hub.stop()
waits.clear()
say(rows); say(helpers.find_checkpoint); say(lambda: sum(waits))
""",
    )
    assert [entry["ok"] for entry in said] == [True] * 5
    assert said[4]["value"] < 5, "load_dataset() knocks at the door of a Hub that is down, again and again"
    assert said[2]["value"] == said[0]["value"]
    assert said[3]["value"].endswith("snapshots/0123456789abcdef0123456789abcdef01234567")
    assert "nyu-mll/glue: the Hub cannot be reached. The copy that was downloaded earlier is used." in scene.output


# ---------------------------------------------------------------- it fails, and says so


def test_a_hub_that_is_down_is_one_clear_line_and_the_switch_back_works(scene):
    said = scene(
        """
hub.stop()
say(rows); say(helpers.find_checkpoint)
os.environ["COURSE_ASSETS"] = "embedded"
say(rows)
""",
    )
    assert_clear(said[0], "nyu-mll/glue", "the Hub cannot be reached")
    assert_clear(said[1], "distilbert/distilbert-base-uncased", "the Hub cannot be reached")
    assert said[0]["cause"] == "ConnectionError"
    assert said[2]["ok"]


@pytest.mark.parametrize("at", ["/api/", "/resolve/"])
def test_an_http_500_is_one_clear_line_and_the_next_call_works(scene, at):
    said = scene(
        f"""
hub.fault, hub.fault_at = "500", {at!r}
say(rows); say(helpers.find_checkpoint)
hub.heal()
say(rows); say(helpers.find_checkpoint)
""",
    )
    assert_clear(said[0], "nyu-mll/glue", "HTTP 500")
    assert_clear(said[1], "distilbert/distilbert-base-uncased", "HTTP 500")
    assert said[2]["ok"] and said[3]["ok"]


@pytest.mark.parametrize("fault, words", [("missing", "is not there"), ("gone", "it is not there (HTTP 404)")])
def test_a_file_that_the_hub_does_not_have_is_named(scene, fault, words):
    said = scene(
        f"""
hub.fault, hub.fault_at = {fault!r}, "validation_matched"
say(rows)
hub.fault_at = "model.safetensors"
say(helpers.find_checkpoint)
hub.heal()
say(rows); say(helpers.find_checkpoint)
""",
    )
    assert_clear(said[0], "mnli/validation_matched-", words)
    assert_clear(said[1], "model.safetensors", words)
    assert said[2]["ok"] and said[3]["ok"]


@pytest.mark.parametrize(
    "at, call, name",
    [("train-", "rows", "mnli/train-00000-of-00001.parquet"), ("model.safetensors", "helpers.find_checkpoint", "model.safetensors")],
)
def test_after_a_cut_off_download_the_next_call_gets_the_whole_file(scene, at, call, name):
    said = scene(
        f"""
from huggingface_hub import constants
constants.DOWNLOAD_CHUNK_SIZE = 4096  # these files are small: let half of one be several chunks, as of a large one
half = lambda: [os.path.getsize(path) for path in cached(".incomplete") if path.endswith(".incomplete")]
hub.fault, hub.fault_at = "cut", {at!r}
say({call}); say(half)
hub.heal()
say({call}); say(blobs); say(half)
say(lambda: [status for method, path, status, _size in hub.requests if method == "GET" and {at!r} in path])
""",
    )
    assert_clear(said[0], name, "the download broke off")
    assert said[1]["value"][0] >= 4096, "the fault left no half-written file: this test would prove nothing"
    assert said[2]["ok"]
    assert said[3]["value"] >= 5, "a file in the cache is not what its name says"
    assert said[4]["value"] == []
    assert said[5]["value"][-1] == 206, "the second download went on where the first had stopped"


def test_a_half_written_file_that_does_not_fit_the_rest_is_not_used(scene):
    said = scene(
        """
hub.fault, hub.fault_at = "cut", "train-"
say(rows)
for path in cached(".incomplete"):
    open(path, "r+b").write(b"someone else's bytes")
hub.heal()
say(rows); say(rows); say(blobs)
""",
    )
    assert_clear(said[0], "the download broke off")
    assert_clear(said[1], "mnli/train-00000-of-00001.parquet", "its checksum differs")
    assert said[2]["ok"] and said[3]["value"] >= 5


@pytest.mark.parametrize(
    "at, call",
    [
        ("train-", "rows"),
        ("test_matched", "rows"),
        ("model.safetensors", "helpers.find_checkpoint"),
        ("vocab.txt", "helpers.find_checkpoint"),
    ],
)
def test_a_corrupt_download_is_not_used_and_not_kept(scene, at, call):
    said = scene(
        f"""
hub.fault, hub.fault_at = "corrupt", {at!r}
say({call}); say(lambda: [os.path.exists(path) for path in cached({at!r})]); say(lambda: len(cached(".arrow")))
hub.heal()
say({call}); say(blobs)
""",
    )
    assert_clear(said[0], at, "its checksum differs")
    assert said[1]["value"] == [], "the corrupt file is still in the cache"
    assert said[2]["value"] == 0, "rows were made from a corrupt file"
    assert said[3]["ok"] and said[4]["value"] >= 5


def test_a_file_damaged_in_the_cache_is_noticed_and_downloaded_again(scene, tmp_path):
    said = scene(
        """
say(helpers.find_checkpoint)
path = os.path.realpath(cached("model.safetensors")[0])
data = open(path, "rb").read()
open(path, "wb").write(data[: len(data) // 2])
say(helpers.find_checkpoint); say(helpers.find_checkpoint); say(blobs)
open(path, "wb").write(data[: len(data) // 2])
hub.stop()
say(helpers.find_checkpoint)
""",
    )
    assert said[0]["ok"]
    assert_clear(said[1], "model.safetensors", "its checksum differs")
    assert said[2]["ok"] and said[3]["value"] >= 5
    assert_clear(said[4], "the Hub cannot be reached")


@pytest.mark.parametrize("at", ["/api/", "train-"])
def test_a_hub_that_does_not_answer_ends_in_bounded_time(scene, at):
    said = scene(
        f"""
hub.fault, hub.fault_at = "slow", {at!r}
say(rows)
""",
        HF_HUB_ETAG_TIMEOUT="1",
        HF_HUB_DOWNLOAD_TIMEOUT="1",
    )
    assert_clear(said[0], "the Hub did not answer in time")
    assert said[0]["seconds"] < 60


def test_a_hub_that_falls_silent_while_the_data_are_read_ends_in_bounded_time(scene):
    """load_dataset() asks for a folder's list without a time limit of its own."""
    said = scene(
        """
from helpers import hub as source
source.SECONDS_TO_READ = 3
hub.fault, hub.fault_at = "slow", "/tree/"
say(rows)
""",
    )
    assert_clear(said[0], "nyu-mll/glue", "reading it took more than 3 seconds")


def test_files_that_are_whole_but_not_what_the_course_needs_are_refused(scene):
    said = scene(
        """
import json, struct
model = hub.repos["models", "distilbert/distilbert-base-uncased"].files
good = model["model.safetensors"]
model["model.safetensors"] = good[:-100]
say(helpers.find_checkpoint)
glue = hub.repos["datasets", "nyu-mll/glue"].files
for path in glue:
    if "train" in path:
        glue[path] = b"PAR1 this is no parquet file PAR1"
say(rows)
""",
    )
    assert_clear(said[0], "model.safetensors cannot be used", "cut off")
    assert_clear(said[1], "nyu-mll/glue")


def test_rows_with_other_columns_or_another_order_of_labels_are_not_mnli():
    from datasets import ClassLabel, Dataset

    from helpers.hub import is_mnli

    rows = Dataset.from_dict({"premise": ["a"], "hypothesis": ["b"], "label": [0], "idx": [0]})
    names = ["entailment", "neutral", "contradiction"]
    assert is_mnli(rows.cast_column("label", ClassLabel(names=names)))
    assert not is_mnli(rows.cast_column("label", ClassLabel(names=names[::-1])))
    assert not is_mnli(rows)
    assert not is_mnli(rows.rename_column("premise", "sentence1"))


def test_offline_mode_without_a_copy_says_what_is_set(scene):
    said = scene("say(rows)", HF_HUB_OFFLINE="1")
    assert_clear(said[0], "HF_HUB_OFFLINE is set")


def test_the_switch_to_the_hub_comes_too_late_once_the_libraries_are_loaded(scene):
    said = scene(
        """
say(rows)
import huggingface_hub
os.environ["COURSE_ASSETS"] = "hub"
say(rows)
""",
        COURSE_ASSETS="embedded",
    )
    assert said[0]["ok"]
    assert "Restart the kernel, and set it before `import helpers`." in said[1]["message"]
    assert said[1]["kind"] == "CourseAssetError" and "\n" not in said[1]["message"]


def test_the_switch_to_the_hub_works_after_import_helpers_while_the_libraries_are_not_loaded(scene):
    said = scene(
        """
os.environ["COURSE_ASSETS"] = "hub"
say(rows)
""",
        COURSE_ASSETS="",
    )
    assert said[0]["ok"], said
