"""What others need to help you: the smallest run that shows the fault, with made-up words in place of your data, ready to post.

A good question costs its reader a minute. So the run is made smaller while the symptom stays: fewer rows, fewer steps, fewer layers.
"""

import contextlib
import dataclasses
import getpass
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from helpers.guards import CannotExamine, is_dataset, never_raises, release, shorten
from helpers.messages import _
from helpers.pipeline import STAGES, Pipeline, describe, pipeline_from_script, problem_with, without_autotune
from helpers.probes.frames import core_message, full_traceback
from helpers.probes.walk import quiet
from helpers.write_script import LAYERS, import_lines, with_layers, write_functions

SECONDS = 180  # after which nothing more is tried
SECONDS_OF_FIT = 60  # a healthy pipeline would train for its whole epoch
SECONDS_OF_SCRIPT = 300  # in a process of its own, with the imports
FEW = 8  # rows: one batch
LAST_LINES = 60  # of a traceback
PACKAGES = ("tensorflow", "tf_keras", "transformers", "datasets", "numpy", "tokenizers")
PROJECTS = {
    "tensorflow": "tensorflow/tensorflow",
    "tf_keras": "keras-team/tf-keras",
    "keras": "keras-team/keras",
    "transformers": "huggingface/transformers",
    "datasets": "huggingface/datasets",
    "tokenizers": "huggingface/tokenizers",
    "numpy": "numpy/numpy",
}


@dataclass(frozen=True)
class Help:
    """symptom: what is to be shown · shown: whether reproduce.py shows it in a new process · reduced: what was made smaller, name -> (from, to) ·
    notes: what could not be written, or not be shown · library: where the error was raised, None for a fault that raises nothing.
    """

    symptom: str
    shown: bool
    reduced: dict[str, tuple[int, int]]
    files: tuple[str, ...]
    notes: tuple[str, ...]
    library: str | None
    tries: int
    seconds: float

    def __repr__(self) -> str:
        changes = " · ".join(f"{name} {before} → {after}" for name, (before, after) in self.reduced.items())
        lines = [
            _("symptom:  {symptom}").format(symptom=self.symptom),
            _("shown:    yes, by reproduce.py in a new process") if self.shown else _("shown:    no, see the note"),
            _("smaller:  {changes}").format(changes=changes or _("nothing")),
            _("tried:    {tries} runs, {seconds:.1f} seconds").format(tries=self.tries, seconds=self.seconds),
            _("files:    {files}").format(files=", ".join(self.files)),
            *(_("note:     {note}").format(note=note) for note in self.notes),
            *where_to_post(self.library),
            _("Before you post:"),
            *(f"[ ] {line}" for line in before_you_post()),
        ]
        return "\n".join(lines)


def where_to_post(library: str | None) -> list[str]:
    lines = [_("question: the Hugging Face forum, or Stack Overflow with the names of the libraries as tags")]
    if library in PROJECTS:
        bug = _("bug:      only where the documentation promises something else: the issues of {project}, on GitHub")
        lines.append(bug.format(project=PROJECTS[library]))
    return lines


def before_you_post() -> list[str]:
    return [
        _("I have read all files. Nothing in them is private."),
        _("I have searched for the message. Nobody has asked this before."),
        _("The title says what fails, and in which function."),
        _("The text says what I expected, what happened, and what I tried."),
        _("Code and errors are text, not pictures."),
    ]


@never_raises
def ask_for_help(pipeline: Pipeline, folder: str = "help", symptom: Callable | None = None, seconds: float = SECONDS) -> Help:
    """Make a folder that shows the fault of ``pipeline`` to others, as small as it can be: reproduce.py, sample.json, traceback.txt, versions.txt.

    ``symptom``: for a fault that raises nothing, a function symptom(pipeline) -> bool that is true where the fault is. ``seconds``: after so
    many, nothing smaller is tried. Your data are not written: their texts become made-up words, their labels stay. Sets the random seed.
    """
    problem = problem_with(pipeline)
    if problem:
        raise CannotExamine(problem, _("Pass the pipeline that fails: ask_for_help(pipeline)."))
    if not isinstance(folder, (str, Path)) or not str(folder).strip():
        raise CannotExamine(_("the folder is {kind}, not a name.").format(kind=describe(folder)), _('Name it: folder="help".'))
    if symptom is not None and (not callable(symptom) or getattr(symptom, "__name__", "<lambda>") == "<lambda>"):
        raise CannotExamine(
            _("the symptom is {kind}, not a function with a name.").format(kind=describe(symptom)),
            _("Write def symptom(pipeline): return …, and pass it without calling it."),
        )
    start = time.perf_counter()
    first = run(pipeline, symptom)
    if symptom and first.error:
        raise CannotExamine(
            _("{stage} raised {error}, so nothing was reproduced.").format(stage=first.stage, error=first.error),
            _("Leave symptom= out to reproduce this error, or repair it first."),
        )
    if not first.symptom:
        raise CannotExamine(
            _("all seven stages ran, and the symptom is not there: there is nothing to reproduce."),
            _("For a fault that raises nothing, pass a function that is true where the fault is: ask_for_help(pipeline, symptom=…)."),
        )
    trials = Trials(pipeline, first, symptom, start + seconds)
    size = smallest(trials)
    with quiet():
        shown, files = write_files(Path(folder), trials, size)
    return Help(
        symptom=without_private(first.symptom, trials.texts),
        shown=shown,
        reduced=made_smaller(trials, size),
        files=tuple(f"{Path(folder).name}/{name}" for name in sorted(files)),
        notes=tuple(trials.notes),
        library=library_of(first.traceback),
        tries=trials.tries,
        seconds=time.perf_counter() - start,
    )


# ---------------------------------------------------------------- one run


@dataclass
class Run:
    """What a run made before it ended. symptom: what is wrong, as text; empty where nothing is · key: the same without what varies ·
    stage: the function that was last called · error: what it raised · raw: of load() · steps: in an epoch, layers: of the model, None where
    it did not get there.
    """

    symptom: str = ""
    key: tuple = ()
    stage: str = STAGES[0]
    error: str = ""
    traceback: str = ""
    raw: object = None
    steps: int | None = None
    layers: int | None = None


def run(pipeline: Pipeline, symptom: Callable | None, steps: int | None = None) -> Run:
    """Run ``pipeline``, with so many ``steps``, and see what it raises; with ``symptom``, ask that function instead."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    done = Run()
    try:
        with quiet():
            (through_all_stages if symptom is None else through_symptom)(pipeline, done, steps, symptom)
    except (Exception, SystemExit) as error:
        done.traceback = full_traceback(error)
        release(error)
        name, message = core_message(error)
        done.error = f"{name}: {shorten(message)}"
        if symptom is None:
            done.symptom, done.key = done.error, (done.stage, name, without_numbers(message))
    return done


def through_all_stages(pipeline: Pipeline, done: Run, steps: int | None, _symptom) -> None:
    done.raw = pipeline.load()
    done.stage = "tokenize"
    tokenized = pipeline.tokenize(done.raw)
    done.stage = "batch"
    train, validation = pipeline.batch(tokenized)
    done.steps = int(train.cardinality()) if is_dataset(train) else None
    train, validation = (shortened(part, steps) for part in (train, validation))
    done.stage = "build_model"
    model = pipeline.build_model()
    done.layers = layers_of(model)
    done.stage = "compile_model"
    pipeline.compile_model(model)
    done.stage = "fit"
    with stopped_after(model, SECONDS_OF_FIT):
        pipeline.fit(model, train, validation)
    done.stage = "evaluate"
    pipeline.evaluate(model, validation)


def through_symptom(pipeline: Pipeline, done: Run, _steps, symptom: Callable) -> None:
    done.raw = pipeline.load()
    done.stage = "symptom"
    done.layers = layers_of(pipeline.build_model())
    if symptom(pipeline):
        done.symptom = done.key = _("{name}() is true").format(name=symptom.__name__)


def shortened(dataset, steps: int | None):
    if not is_dataset(dataset):
        return dataset
    return without_autotune(dataset.take(steps) if steps else dataset)


def layers_of(model) -> int | None:
    config = getattr(model, "config", None)
    return next((getattr(config, name) for name in LAYERS if isinstance(getattr(config, name, None), int)), None)


@contextlib.contextmanager
def stopped_after(model, seconds: float):
    """The fit() of ``model`` ends after so many seconds."""
    import tensorflow as tf

    model_fit, end = model.fit, time.perf_counter() + seconds

    class Stop(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = time.perf_counter() > end

    def fit(*args, callbacks=None, **kwargs):
        own = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        return model_fit(*args, callbacks=[*own, Stop()], **kwargs)

    model.fit = fit
    try:
        yield
    finally:
        del model.fit


def without_numbers(message: str) -> str:
    """A message without what another run changes: addresses, numbers, and how many numbers stand in a row."""
    return re.sub(r"#(?:[\s,]+-?#)+", "#", re.sub(r"0x[0-9a-f]+|\d+(?:\.\d+)?", "#", message))


# ---------------------------------------------------------------- made smaller


@dataclass(frozen=True)
class Size:
    """Of a run. rows: split -> the numbers of its rows · steps, layers: None where they stay as they are."""

    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)
    steps: int | None = None
    layers: int | None = None


class Trials:
    """Runs of the script that is to be posted, each with another size. tries: how many there were · notes: for the learner."""

    def __init__(self, pipeline: Pipeline, first: Run, symptom: Callable | None, end: float):
        self.first, self.symptom, self.end, self.tries, self.notes = first, symptom, end, 0, []
        self.data = rows_of(first.raw) if first.stage != "load" else {}
        self.features = first.raw[next(iter(self.data))].features if self.data else None
        self.made_up = {split: made_up(rows, self.features.to_dict()) for split, rows in self.data.items()}
        self.texts = {text for rows in self.data.values() for row in rows for text in strings_in(row) if len(text) >= LONG_TEXT}
        functions = {stage: getattr(pipeline, stage) for stage in STAGES if stage != "load" or not self.data}
        self.script = write_functions(functions | ({symptom.__name__: symptom} if symptom else {}), there=("load",) if self.data else ())
        self.notes += [_("{name} is not in the script: {why}.").format(name=name, why=why) for name, why in self.script.missing.items()]

    def shows(self, size: Size, rows: dict[str, list] | None = None) -> bool:
        """Whether a run of this size has the symptom. ``rows``: of the data, made-up ones by default."""
        if time.perf_counter() > self.end:
            late = _("The time was over. A smaller run can exist: give more seconds=.")
            self.notes += [late] if late not in self.notes else []
            return False
        self.tries += 1
        try:
            pipeline = pipeline_from_script(script_text(self, size), "reproduce")
        except Exception as error:
            release(error)
            return False
        if self.data:
            pipeline = dataclasses.replace(pipeline, load=lambda: datasets_of(self.features, chosen(rows or self.made_up, size)))
        return run(pipeline, self.symptom, size.steps).key == self.first.key


def smallest(trials: Trials) -> Size:
    """The smallest size that was found to have the symptom. What stands in the way is told in ``trials.notes``."""
    first = trials.first
    whole = Size({split: tuple(range(len(rows))) for split, rows in trials.data.items()})
    small = Size({split: numbers[:FEW] for split, numbers in whole.rows.items()}, fewer(first.steps), fewer(first.layers))
    if trials.shows(small):
        size = small
    elif trials.shows(whole):
        fewer_of_one = (replace(whole, layers=small.layers), replace(whole, steps=small.steps))
        size = next((one for one in (replace(small, rows=whole.rows), *fewer_of_one) if trials.shows(one)), whole)
    else:
        if trials.data and trials.shows(whole, trials.data):
            trials.notes.append(_("With made-up words the symptom is gone: it depends on the texts. Your texts are not written."))
        return small
    one_row = replace(size, rows={split: rows if split == first_of(size) else rows[:1] for split, rows in size.rows.items()})
    size = one_row if len(size.rows) > 1 and trials.shows(one_row) else size
    for split in size.rows:
        size = halved(trials, size, split)
    return size


def fewer(count: int | None) -> int | None:
    """One, where there are more than one; None where there is nothing to make smaller."""
    return 1 if count and count > 1 else None


def first_of(size: Size) -> str:
    return next(iter(size.rows))


def halved(trials: Trials, size: Size, split: str) -> Size:
    """Half of the rows of ``split``, and half of that half, as long as one of the two halves has the symptom."""
    while len(size.rows[split]) > 1:
        rows = size.rows[split]
        halves = (replace(size, rows={**size.rows, split: part}) for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]))
        smaller = next((one for one in halves if trials.shows(one)), None)
        if smaller is None:
            break
        size = smaller
    return size


def made_smaller(trials: Trials, size: Size) -> dict[str, tuple[int, int]]:
    """What was made smaller, and the rows: name -> (from, to)."""
    changes = {
        _("rows of {split}").format(split=split): (len(trials.data[split]), len(rows)) for split, rows in list(size.rows.items())[:1]
    }
    changes |= {_("steps"): (trials.first.steps, size.steps)} if size.steps else {}
    return changes | ({_("layers"): (trials.first.layers, size.layers)} if size.layers else {})


# ---------------------------------------------------------------- the data, without what is private

LONG_TEXT = 12  # characters of a text of the data that is looked for in what is written; a shorter one can be any word
SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su")


def rows_of(raw) -> dict[str, list[dict]]:
    if not hasattr(raw, "items") or not all(hasattr(part, "to_list") and hasattr(part, "features") for part in raw.values()):
        raise CannotExamine(
            _("load() returned {kind}, not a DatasetDict.").format(kind=describe(raw)), _("Return what load_dataset() gives.")
        )
    return {split: part.to_list() for split, part in raw.items()}


def chosen(data: dict[str, list], size: Size) -> dict[str, list]:
    return {split: [data[split][number] for number in numbers] for split, numbers in size.rows.items()}


def datasets_of(features, data: dict[str, list]):
    from datasets import Dataset, DatasetDict

    return DatasetDict({split: Dataset.from_list(rows, features=features, split=split) for split, rows in data.items()})


def made_up(rows: list[dict], features: dict) -> list[dict]:
    """``rows`` with as many made-up words in each text, and with their labels. Other numbers become 1."""
    return [
        {name: made_up_value(value, 31 * number + 7 * place, is_label(name, features[name])) for place, (name, value) in enumerate(row.items())}
        for number, row in enumerate(rows)
    ]  # fmt: skip


def is_label(name: str, feature) -> bool:
    return "label" in name.lower() or (isinstance(feature, dict) and feature.get("_type") == "ClassLabel")


def made_up_value(value, start: int, label: bool):
    if isinstance(value, str):
        return " ".join(made_up_word(start + place) for place in range(len(value.split())))
    if isinstance(value, list):
        return [made_up_value(one, start + place, label) for place, one in enumerate(value)]
    if isinstance(value, dict):
        return {name: made_up_value(one, start, label) for name, one in value.items()}
    if value is None or isinstance(value, bool) or (label and isinstance(value, (int, float))):
        return value
    if isinstance(value, (int, float)):
        return type(value)(1)
    raise CannotExamine(
        _("the data hold {kind}, which cannot be made up.").format(kind=describe(value)), _("Take that column away in load().")
    )


def made_up_word(number: int) -> str:
    return "".join(SYLLABLES[number // power % 10] for power in (1, 10, 100))


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings_in(one)


# A name that many machines have tells nobody who you are, and can be a word of the code.
COMMON_NAMES = {"root", "user", "users", "admin", "ubuntu", "jovyan", "runner", "student", "home", "localhost", "notebook", "colab"}
_START = r"(?<![\w.:/\\~…-])(?:~|[A-Za-z]:(?=[\\/]))?"
_PATH = re.compile(_START + r"(?:[\\/][^\\/\s\"'<>|:*?,;()\[\]{}`]+){2,}")
_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")


def without_private(text: str, texts=()) -> str:
    """``text`` without the paths of this machine, the names of its user and of itself, tokens of the Hub, and texts of the data."""
    for one in texts:
        text = text.replace(one, "…")
    text = _PATH.sub(lambda found: short_path(found[0]), _TOKEN.sub("…", text))
    text = re.sub(rf"{re.escape(str(Path.home()))}\b", "~", text)
    for name in own_names():
        text = re.sub(rf"\b{re.escape(name)}\b", "…", text)
    return text


def own_names() -> list[str]:
    """The user's name and the machine's, where they tell anything."""
    names = [platform.node(), platform.node().split(".")[0]]
    with contextlib.suppress(Exception):  # no user has this number: a container
        names.append(getpass.getuser())
    return [name for name in names if len(name) > 2 and name.lower() not in COMMON_NAMES]


def short_path(path: str) -> str:
    """The part of a path that is the same for all: behind site-packages, or the file's name."""
    parts = re.split(r"[\\/]", path)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            return "/".join(parts[parts.index(folder) + 1 :])
    return f"…/{parts[-1]}"


# ---------------------------------------------------------------- the files

LOAD = """def load():
    # the shape of the real data: column names, types, labels and numbers of words; the words are made up
    sample = json.loads(Path(__file__).with_name("sample.json").read_text(encoding="utf-8"))
    features = Features.from_dict(sample["features"])
    return DatasetDict({split: Dataset.from_list(rows, features=features, split=split) for split, rows in sample["rows"].items()})"""
ALL_STAGES = """if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    train, validation = batch(tokenize(load()))
    model = build_model()
    compile_model(model)
    fit(model, train{take}, validation{take})
    print(evaluate(model, validation{take}))"""
WITH_SYMPTOM = """if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    pipeline = Pipeline(load, tokenize, batch, build_model, compile_model, fit, evaluate)
    print("the symptom is there:", bool({name}(pipeline)))"""


def script_text(trials: Trials, size: Size) -> str:
    """reproduce.py: imports, the functions, load() for the sample, and the run."""
    script, silent = trials.script, trials.symptom is not None
    imports = script.imports | {("tensorflow", "", "tf")} | ({("helpers", "Pipeline", "Pipeline")} if silent else set())
    if trials.data:
        imports |= {
            ("json", "", ""),
            ("pathlib", "Path", "Path"),
            *(("datasets", name, name) for name in ("Dataset", "DatasetDict", "Features")),
        }
    end = (
        WITH_SYMPTOM.format(name=trials.symptom.__name__)
        if silent
        else ALL_STAGES.format(take=f".take({size.steps})" if size.steps else "")
    )
    head = [
        f"# {trials.first.symptom}",
        "# Run it in the folder where it lies: python reproduce.py",
        'import os\n\nos.environ["TF_USE_LEGACY_KERAS"] = "1"  # tf.keras is Keras 2, which the TensorFlow models of Transformers need\n',
        "\n".join(import_lines(imports)),
    ]
    text = "\n".join(head) + spaced([*script.parts, *([LOAD] if trials.data else []), end]) + "\n"
    return with_layers(text, size.layers) if size.layers else text


def spaced(parts: list[str]) -> str:
    """The parts of a script below each other: definitions apart, other statements together."""
    text, apart = "", True
    for part in parts:
        defines = part.startswith(("def ", "class ", "@", "if "))
        text += ("\n\n\n" if apart or defines else "\n") + part
        apart = defines
    return text


def write_files(folder: Path, trials: Trials, size: Size) -> tuple[bool, list[str]]:
    """(whether reproduce.py shows the symptom in a new process, the names of the files)"""
    files = {"reproduce.py": script_text(trials, size), "versions.txt": versions()}
    if trials.data:
        files["sample.json"] = sample_text(trials.features.to_dict(), chosen(trials.made_up, size))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, files, trials.texts)
    ended, said = run_script(folder / "reproduce.py")
    shown = ended == 0 and said.endswith("the symptom is there: True") if trials.symptom else ended == 1 and tells(said, trials.first.key)
    if not shown:
        trials.notes.append(_("reproduce.py ends with: {line}").format(line=without_private(last_line(said), trials.texts)))
    if any(module == "helpers" for module, *_names in trials.script.imports):
        trials.notes.append(_("reproduce.py imports helpers, which only this course has. Use a checkpoint of the Hub, and run it again, before you post."))  # fmt: skip
    if not trials.symptom:
        files["traceback.txt"] = last_lines(said if shown else trials.first.traceback)
        write(folder, {"traceback.txt": files["traceback.txt"]}, trials.texts)
    return shown, list(files)


def sample_text(features: dict, rows: dict[str, list]) -> str:
    """JSON with one line for each row, so that a reader sees at once what it holds."""
    splits = [f"{json.dumps(split)}: [\n  " + ",\n  ".join(map(json.dumps, part)) + "\n ]" for split, part in rows.items()]
    return f'{{"features": {json.dumps(features)},\n "rows": {{\n ' + ",\n ".join(splits) + "\n}}\n"


def write(folder: Path, files: dict[str, str], texts) -> None:
    for name, text in files.items():
        (folder / name).write_text(without_private(text, texts), encoding="utf-8")


def run_script(path: Path) -> tuple[int, str]:
    """(exit code, what it printed and what it raised)"""
    try:
        done = subprocess.run([sys.executable, path.name], cwd=path.parent, capture_output=True, text=True, timeout=SECONDS_OF_SCRIPT)
    except subprocess.TimeoutExpired:
        return -1, _("nothing, in {seconds} seconds").format(seconds=SECONDS_OF_SCRIPT)
    return done.returncode, (done.stderr if done.returncode else done.stdout).strip()


def tells(said: str, key: tuple) -> bool:
    _stage, name, message = key
    return name in said and message in without_numbers(said)


def last_line(said: str) -> str:
    return said.splitlines()[-1][:200] if said else "-"


def last_lines(said: str) -> str:
    """The traceback in ``said``; of a long one its head, and its end, which matters most."""
    lines = [line for line in said[max(said.find("Traceback (most recent call last)"), 0) :].splitlines() if line.strip()]
    return "\n".join(lines if len(lines) <= LAST_LINES else [lines[0], "  […]", *lines[1 - LAST_LINES :]]) + "\n"


def versions() -> str:
    """Of Python, the system and the libraries; without the machine's name."""
    lines = [f"python {platform.python_version()}", f"system {platform.system()} {platform.machine()}"]
    for package in PACKAGES:
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} -")
    return "\n".join(lines) + "\n"


def library_of(traceback: str) -> str | None:
    """The library whose file is named last in a traceback: that is where the error was raised."""
    found = re.findall(r"(?:site|dist)-packages[\\/](\w+)", traceback)
    return found[-1] if found else None
