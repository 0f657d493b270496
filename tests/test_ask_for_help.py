"""A minimal reproduction: it shows the same symptom in a new process, it is small, and nothing in it is private."""

import getpass
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from running import small
from test_probes import WRONG_OBJECTS

from helpers import Pipeline, ask_for_help, asking, compare_with_data, fault, find_checkpoint, healthy_script
from helpers.guards import NotExamined
from helpers.pipeline import STAGES, pipeline_from_script
from helpers.scripts import change_script
from helpers.write_script import bound_by, global_names, import_lines, is_constant, statements, with_layers, write_functions

FILES = ["reproduce.py", "sample.json", "traceback.txt", "versions.txt"]
RAISING = ["two_outputs", "no_labels", "ragged_rows", "keras_3_optimizer"]


def broken(name: str, rows: int = 64) -> Pipeline:
    return small(fault(name).script, rows)


def texts_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def run_alone(folder: Path):
    return subprocess.run([sys.executable, "reproduce.py"], cwd=folder, capture_output=True, text=True, timeout=600)


def private_words(pipeline: Pipeline) -> set[str]:
    """The words of the data's texts; those of English that a traceback can hold are left out."""
    words = {word for part in pipeline.load().values() for row in part.to_list() for text in row.values() if isinstance(text, str) for word in re.findall(r"[a-z]{6,}", text.lower())}  # fmt: skip
    return words - {"contract", "several", "before", "document", "device", "during", "inside", "person", "object", "container"}


def forms_of(rows: list[dict]) -> list[tuple]:
    return [(row["label"], len(row["premise"].split()), len(row["hypothesis"].split())) for row in rows]


# ---------------------------------------------------------------- faults that raise


@pytest.mark.slow
@pytest.mark.parametrize("name", RAISING)
def test_the_script_alone_ends_with_the_same_error_and_is_small(name, tmp_path):
    ill, folder, pipeline = fault(name), tmp_path / "help", broken(name)
    told = ask_for_help(pipeline, str(folder))
    assert told, told
    assert told.shown and told.symptom.startswith(f"{ill.error_class}: ") and (ill.eager_text or ill.error_text) in told.symptom
    assert list(texts_of(folder)) == FILES and [f"help/{name}" for name in FILES] == list(told.files)
    ended = run_alone(folder)
    assert ended.returncode == 1
    assert ill.error_class in ended.stderr and ill.error_text in ended.stderr
    sample = json.loads((folder / "sample.json").read_text())
    assert len(sample["rows"]["train"]) <= 4 and told.reduced["rows of train"] == (64, len(sample["rows"]["train"]))
    assert sample["features"] == pipeline.load()["train"].features.to_dict()
    kept, real = (forms_of(rows) for rows in (sample["rows"]["train"], pipeline.load()["train"].to_list()))
    assert kept and all(form in real for form in kept), "labels and numbers of words are those of real rows"
    assert (folder / "traceback.txt").read_text().startswith("Traceback (most recent call last)")
    assert ill.error_text in (folder / "traceback.txt").read_text()
    assert 0 < told.tries <= 20


@pytest.mark.slow
def test_nothing_in_the_files_is_private(tmp_path, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "anna.private")
    monkeypatch.setattr(platform, "node", lambda: "lab-7.example.org")
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: Path("/home/anna.private")))
    script = change_script(
        fault("wrong_key_own_loss").script,
        [
            ("def compile_model(model):\n", 'def compile_model(model):\n    # anna.private, lab-7.example.org, 2021\n    log_file = "/home/anna.private/secret/runs.log"\n'),
            ("checkpoint = find_checkpoint()", f'checkpoint = find_checkpoint()\ntoken = "hf_{"a1B2" * 8}"'),
            ("def evaluate(model, validation):\n", "def evaluate(model, validation):\n    assert token\n"),
        ],
    )  # fmt: skip
    pipeline = small(script)
    told = ask_for_help(pipeline, str(tmp_path / "help"))
    assert told.shown, told
    words, texts = private_words(pipeline), texts_of(tmp_path / "help")
    assert len(words) > 100
    for name, text in {**texts, "repr": repr(told)}.items():
        for private in ("anna", "/home", "secret", "lab-7", str(tmp_path), find_checkpoint(), "hf_a1B2", str(Path(sys.prefix))):
            assert private not in text, (name, private)
        assert not {word for word in words if re.search(rf"\b{word}\b", text.lower())}, name
    assert "…/runs.log" in texts["reproduce.py"]


@pytest.mark.slow
def test_a_symptom_that_hangs_on_the_texts_is_told_and_they_are_not_written(tmp_path):
    script = change_script(
        healthy_script(),
        [("    return raw.map(tokenize_rows, batched=True)\n", '    assert "the" not in str(raw["train"]["premise"][:]), "a word that must not be there"\n    return raw.map(tokenize_rows, batched=True)\n')],
    )  # fmt: skip
    pipeline = small(script)
    told = ask_for_help(pipeline, str(tmp_path))
    assert not told.shown and "shown:    no" in repr(told)
    assert any("it depends on the texts" in note for note in told.notes)
    words, texts = private_words(pipeline), texts_of(tmp_path)
    assert not {word for word in words for text in texts.values() if re.search(rf"\b{word}\b", text.lower())}
    assert "AssertionError: a word that must not be there" in texts["traceback.txt"]


@pytest.mark.slow
def test_an_error_of_load_itself_needs_no_sample(tmp_path):
    script = change_script(healthy_script(), [("return load_mnli(", 'return load_mnli()["training"] or load_mnli(')])
    told = ask_for_help(small(script), str(tmp_path))
    assert told.shown and told.symptom.startswith("KeyError: ") and "help" not in told.reduced
    assert list(texts_of(tmp_path)) == ["reproduce.py", "traceback.txt", "versions.txt"]


@pytest.mark.slow
def test_broken_on_purpose_a_script_without_the_fault_is_not_said_to_show_it(tmp_path, monkeypatch):
    written = asking.script_text
    monkeypatch.setattr(asking, "write", lambda folder, files, texts: [(folder / name).write_text(text.replace('"attention_mask", "label"]', '"attention_mask", "labels"]')) for name, text in files.items()])  # fmt: skip
    told = ask_for_help(broken("wrong_key_own_loss"), str(tmp_path))
    assert written is asking.script_text
    assert not told.shown and any(note.startswith("reproduce.py ends with: ") for note in told.notes)


CELLS = """
from helpers import Pipeline, ask_for_help, asking, find_checkpoint, load_mnli
import tensorflow as tf
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification
@@
%time rows = 16
checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained("nowhere") if False else AutoTokenizer.from_pretrained(checkpoint)
@@
def cut(texts):
    return [text[:WIDTH] for text in texts]
def load():
    return load_mnli(train_rows=rows, validation_rows=8)
def tokenize(raw):
    return raw.map(lambda part: tokenizer(cut(part["premise"]), cut(part["hypothesis"]), padding="max_length", max_length=40), batched=True)
@@
WIDTH = 100
@@
def make_batches(tokenized):
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8)
    return tokenized["train"].to_tf_dataset(**options), tokenized["validation_matched"].to_tf_dataset(**options)
def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
def compile_model(model):
    model.compile(optimizer="adam")
def fit(model, train, validation):
    return model.fit(train, validation_data=validation)
def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)
@@
told = ask_for_help(Pipeline(load, tokenize, make_batches, build_model, compile_model, fit, evaluate), FOLDER)
"""


@pytest.mark.slow
@pytest.mark.parametrize("history", [True, False])
def test_functions_of_a_notebooks_cells_are_written_with_what_they_need(history, tmp_path):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns["FOLDER"] = str(tmp_path)
    for cell in CELLS.split("@@"):
        assert shell.run_cell(cell.strip(), store_history=history).success
    told = shell.user_ns["told"]
    assert told and told.shown and told.symptom == "ValueError: Column labels not found in dataset!", told
    script = (tmp_path / "reproduce.py").read_text()
    assert "WIDTH = 100" in script and "def cut(texts):" in script and "batch = make_batches" in script and "rows = 16" not in script


# ---------------------------------------------------------------- faults that raise nothing


def labels_of_other_rows(pipeline):
    from transformers import AutoTokenizer

    raw = pipeline.load()
    train, _validation = pipeline.batch(pipeline.tokenize(raw))
    return compare_with_data(train, raw["train"], AutoTokenizer.from_pretrained(find_checkpoint())).others > 0


@pytest.mark.slow
def test_a_silent_fault_is_shown_by_the_function_that_tells_it(tmp_path):
    told = ask_for_help(broken("labels_of_the_row_before"), str(tmp_path), symptom=labels_of_other_rows)
    assert told.shown and told.symptom == "labels_of_other_rows() is true" and told.library is None
    ended = run_alone(tmp_path)
    assert ended.returncode == 0 and ended.stdout.strip().endswith("the symptom is there: True")
    sample = json.loads((tmp_path / "sample.json").read_text())
    assert len(sample["rows"]["train"]) == 2 and "traceback.txt" not in texts_of(tmp_path)
    assert "bug: " not in repr(told) and "question: " in repr(told)


# ---------------------------------------------------------------- nothing to do, and wrong objects


@pytest.mark.slow
def test_a_healthy_pipeline_has_nothing_to_reproduce(tmp_path):
    told = ask_for_help(small(healthy_script(), 8), str(tmp_path))
    assert isinstance(told, NotExamined) and "there is nothing to reproduce" in told.why and "symptom=" in told.next_step
    assert ask_for_help(small(healthy_script(), 8), str(tmp_path), symptom=labels_of_other_rows).why == told.why
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=200, deadline=None)
@given(WRONG_OBJECTS)
def test_ask_for_help_answers_any_wrong_object(thing):
    answer = ask_for_help(thing)
    assert isinstance(answer, NotExamined) and "Traceback" not in repr(answer) and answer.next_step


@pytest.mark.parametrize("arguments", [(3,), ("",), ("help", 3), ("help", lambda pipeline: True)])
def test_a_wrong_folder_and_a_wrong_symptom_are_told(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = ask_for_help(pipeline_from_script(healthy_script()), *arguments)
    assert isinstance(answer, NotExamined) and ("the folder is" in answer.why or "the symptom is" in answer.why)
    assert list(tmp_path.iterdir()) == []


def test_a_symptom_function_that_raises_is_told(tmp_path):
    def raises(pipeline):
        return pipeline.no_such_thing

    answer = ask_for_help(small(healthy_script(), 8), str(tmp_path), symptom=raises)
    assert isinstance(answer, NotExamined) and "symptom raised AttributeError" in answer.why


def test_after_the_time_is_over_the_run_is_written_as_it_is(tmp_path):
    script = change_script(healthy_script(), [("    return raw.map(", '    raise ValueError("too early")\n    return raw.map(')])
    told = ask_for_help(small(script), str(tmp_path), seconds=0)
    assert told.shown and told.tries == 0 and any("The time was over" in note for note in told.notes)


# ---------------------------------------------------------------- writing functions


def written(source: str, *names: str):
    space = {"__name__": "made_up"}
    import linecache

    linecache.cache["<made up 1>"] = (len(source), None, source.splitlines(keepends=True), "<made up 1>")
    exec(compile(source, "<made up 1>", "exec"), space)
    return write_functions({name: space[name] for name in names})


def test_what_a_function_needs_comes_before_it_and_nothing_else():
    script = written(
        "import functools\nimport json as j\nfrom pathlib import Path, PurePath\nfrom math import (pi,\n    floor as turn)\n"
        "SIZE = 8\nOTHER = 9\nplace = Path('x')\n\nclass Thing:\n    size = SIZE\n\ndef helper():\n    return turn(SIZE)\n\n"
        "@functools.cache\ndef build(count=SIZE):\n    size = 3\n    return [helper() for _ in range(size)], j.dumps(1), place, Thing\n",
        "build",
    )
    assert import_lines(script.imports) == [
        "import functools",
        "import json as j",
        "from math import floor as turn",
        "from pathlib import Path",
    ]
    assert script.missing == {} and "OTHER" not in "".join(script.parts)
    first_lines = [part.split("\n")[0] for part in script.parts]
    assert sorted(first_lines) == ["@functools.cache", "SIZE = 8", "class Thing:", "def helper():", "place = Path('x')"]
    assert first_lines[0] == "SIZE = 8" and first_lines[-1] == "@functools.cache"


def test_the_last_statement_counts_and_a_constant_has_its_value_of_now():
    script = written("import re\nform = re.compile('a')\nform = re.compile('b')\nN = 1\nN += 4\ndef f():\n    return form, N\n", "f")
    assert script.parts[:2] == ["form = re.compile('b')", "N = 5"]


def test_a_notebooks_cells_are_read_in_the_order_in_which_they_ran():
    import types

    code = compile("def f():\n    return thing\n", "<cell>", "exec").co_consts[0]
    space = {"In": ["", "%matplotlib inline\nthing = object()", "thing = dict(a=set())", "!ls\nx = 1"], "thing": {"a": set()}}
    from helpers.write_script import statement_of

    assert types.FunctionType(code, space).__globals__ is space
    assert statement_of("thing", space) == "thing = dict(a=set())" and statement_of("nowhere", space) is None


def test_what_cannot_be_written_is_said():
    script = written("one, two = object(), object()\nshort = lambda: one\ndef f():\n    return short(), two\n", "f")
    assert set(script.missing) == {"short", "two"} and "with def" in script.missing["short"] and "no statement" in script.missing["two"]


def test_a_variable_of_a_function_around_is_written_too():
    script = written("def outer(size):\n    def inner():\n        return size\n    return inner\ninner = outer(7)\n", "inner")
    assert script.parts == ["size = 7", "def inner():\n    return size"]


def test_a_path_of_this_machine_is_no_constant():
    assert is_constant("batch_size") and is_constant({"a": [1, 2.5, None]})
    assert not is_constant("/home/someone/model") and not is_constant(object()) and not is_constant(list(range(1000)))


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("m = TFAutoModel.from_pretrained(c)\n", "m = TFAutoModel.from_pretrained(c, num_hidden_layers=1)\n"),
        ("m = TFAutoModel.from_pretrained(\n    c,\n)\n", "m = TFAutoModel.from_pretrained(\n    c,\nnum_hidden_layers=1)\n"),
        ("c = AutoConfig.from_pretrained('é', n=2)\n", "c = AutoConfig.from_pretrained('é', n=2, num_hidden_layers=1)\n"),
        ("t = AutoTokenizer.from_pretrained(c)\n", "t = AutoTokenizer.from_pretrained(c)\n"),
        ("m = TFAutoModel.from_pretrained(c, config=d)\n", "m = TFAutoModel.from_pretrained(c, config=d)\n"),
    ],
)
def test_layers_are_made_fewer_where_a_model_is_loaded(text, changed):
    assert with_layers(text, 1) == changed
    compile(changed, "x", "exec")


def test_names_are_those_that_are_looked_up_outside():
    assert global_names("def f(a):\n    b = a.method(c)\n    return [d for e in b]\n") == ["c", "d"]
    assert [bound_by(node) for node in statements("import a.b\nx, y = 1, 2\nz: int = 3\nfor i in z: pass\n")] == [["a"], [], ["z"], []]
    assert set(STAGES) & set(global_names("load()\n")) == {"load"}
