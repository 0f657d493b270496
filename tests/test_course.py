"""course.toml is read, its hints come one at a time, and it is refused when something in it is wrong."""

import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from helpers import course
from helpers.build import course_check
from helpers.build.notebooks import ROOT
from helpers.faults import CATALOGUE
from helpers.scripts import change_script

SCRIPT = "columns = ['label']\nloss = 'string'\n"
FAULT = SimpleNamespace(
    script=SCRIPT,
    repairs={"rename": [("'label'", "'labels'")]},
    mistakes=[SimpleNamespace(name="hide", changes=[("'string'", "None")], says="hidden")],
)
MANIFEST = """\
[[lesson]]
name = "00_start_here"
title = "Start"
section = "0. Start"
minutes = 5
difficulty = 1
faults = []

[[lesson]]
name = "01_made_up"
title = "Made up"
section = "1. Made up"
minutes = 20
difficulty = 2
faults = ["wrong_key"]

[[lesson.task]]
name = "01/look"
title = "Look"
hints = ["one", "two"]

[[lesson.task]]
name = "01/mend"
title = "Mend"
start = "wrong_key"
owner = "keras"
stage = "batch"
hints = ["one", "two", "three"]

[[lesson.task.repair]]
name = "rename"

[[lesson.task.repair]]
name = "other"
change = [["['label']", "['labels', 'label']"]]

[[lesson.task.mistake]]
name = "hide"

[[lesson.task.mistake]]
name = "left out"
change = [["['label']", "[]"]]
says = "labels"
"""

TWINS = [
    "notebooks/source/01_made_up.py",
    "notebooks/01_made_up.ipynb",
    "solutions/source/01_made_up.py",
    "solutions/01_made_up.ipynb",
    "exercises/01_made_up.ipynb",
]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A course of two lessons and one exercise, and a catalogue of one fault."""
    monkeypatch.setitem(CATALOGUE, "wrong_key", FAULT)
    for path in TWINS + ["notebooks/source/00_start_here.py", "notebooks/00_start_here.ipynb"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "solutions/source/01_made_up.py").write_text('hint("01/look")\ncheck_repair("01/mend", pipeline)\n')
    (tmp_path / "course.toml").write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def made_up(root, monkeypatch):
    monkeypatch.setattr(course, "manifest_path", lambda: root / "course.toml")
    course.lessons.cache_clear()
    course._given.clear()
    yield root
    course.lessons.cache_clear()
    course._given.clear()


def problems_with(root, old: str, new: str) -> list[str]:
    assert MANIFEST.count(old) == 1, old
    (root / "course.toml").write_text(MANIFEST.replace(old, new))
    return course_check.check(root)


# ---------------------------------------------------------------- reading, hints


def test_lessons_and_tasks_are_read_in_order(made_up):
    start, lesson = course.lessons()
    assert (start.name, start.tasks) == ("00_start_here", ())
    assert (lesson.title, lesson.minutes, lesson.difficulty, lesson.faults) == ("Made up", 20, 2, ("wrong_key",))
    assert [task.name for task in lesson.tasks] == ["01/look", "01/mend"]


def test_a_repair_without_a_change_is_the_faults_own(made_up):
    task = course.task("01/mend")
    assert (task.start, task.owner, task.stage) == ("wrong_key", "keras", "batch")
    assert [change_script(SCRIPT, repair.changes).splitlines()[0] for repair in task.repairs] == [
        "columns = ['labels']",
        "columns = ['labels', 'label']",
    ]
    assert [(mistake.name, mistake.says) for mistake in task.mistakes] == [("hide", "hidden"), ("left out", "labels")]


def test_hints_come_one_at_a_time_and_the_last_is_repeated_with_a_word(made_up):
    shown = [repr(course.hint("01/mend")) for _time in range(5)]
    assert shown[:3] == ["Hint 1 of 3: one", "Hint 2 of 3: two", "Hint 3 of 3: three"]
    assert shown[3] == shown[4] == "Hint 3 of 3: three\nThat was the last hint of this task."
    assert repr(course.hint("01/look")) == "Hint 1 of 2: one", "each task counts for itself"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("01/men", "There is no task '01/men'. Did you mean '01/mend'?"),
        ("xyz", "There is no task 'xyz'. Tasks are: 01/look, 01/mend."),
        (None, "There is no task None. Tasks are: 01/look, 01/mend."),
        (["01/mend"], "There is no task ['01/mend']. Tasks are: 01/look, 01/mend."),
    ],
)
def test_an_unknown_task_is_answered_with_one_line(made_up, name, says):
    assert repr(course.hint(name)) == says
    with pytest.raises(course.UnknownTask) as unknown:
        course.task(name)
    assert str(unknown.value) == says


@pytest.mark.parametrize("text", ["", "[[lesson]]\nname = 1\n", "lesson = 3\n", "not toml"])
def test_a_damaged_manifest_is_one_line_that_names_the_cure(made_up, text):
    (made_up / "course.toml").write_text(text)
    with pytest.raises(RuntimeError, match="git checkout -- course.toml") as damaged:
        course.lessons()
    assert len(str(damaged.value).splitlines()) == 1


def test_a_missing_manifest_is_one_line_that_names_the_cure(made_up):
    (made_up / "course.toml").unlink()
    with pytest.raises(RuntimeError, match="git checkout -- course.toml"):
        course.hint("01/mend")


def test_the_manifest_is_looked_for_beside_the_module_first(tmp_path, monkeypatch):
    module = tmp_path / "helpers" / "course.py"
    module.parent.mkdir()
    monkeypatch.setattr(course, "__file__", str(module))
    assert course.manifest_path() == tmp_path / "course.toml"
    (tmp_path / "helpers" / "course.toml").write_text("")
    assert course.manifest_path() == tmp_path / "helpers" / "course.toml"


def test_reading_the_manifest_starts_no_tensorflow():
    code = "import sys, helpers; helpers.hint('01/own_loss'); assert 'tensorflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---------------------------------------------------------------- refusing


def test_a_manifest_that_is_in_order_is_accepted(root):
    assert course_check.check(root) == []


def test_the_manifest_of_the_course_is_in_order():
    assert course_check.check(ROOT) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('hints = ["one", "two"]', 'hints = ["one", " "]', "lesson 01_made_up: task 01/look: hint 2 is empty"),
        ('hints = ["one", "two"]', "hints = []", "it has no hint"),
        ('hints = ["one", "two"]', 'hint = ["one"]', "the entry 'hint' is unknown"),
        ('hints = ["one", "two"]', 'hints = "one"', "hints must be a list"),
        ('title = "Look"', 'title = ""', "title is empty"),
        ('title = "Look"\n', "", "title is missing"),
        ("minutes = 20", 'minutes = "20"', "minutes must be a whole number"),
        ("minutes = 20", "minutes = 0", "minutes must be 1 or more"),
        ("difficulty = 2", "difficulty = 5", "difficulty must be 1, 2 or 3"),
        ("difficulty = 2", "difficulty = true", "difficulty must be a whole number"),
        ('name = "01_made_up"', 'name = "made_up"', "a name is two digits and words"),
        ('name = "01_made_up"', 'name = "00_start_here"', "the lesson name '00_start_here' is used 2 times"),
        ('name = "01/look"', 'name = "01/mend"', "the task name '01/mend' is used 2 times"),
        ('name = "01/look"', 'name = "02/look"', "a name is the lesson's number and words"),
        ('name = "01/look"', 'name = "01/gaze"', "task 01/gaze: no cell of its exercise names it"),
        ('name = "01/look"', 'name = "01/gaze"', "solutions/source/01_made_up.py:1 names the task 01/look, which the manifest has not"),
        ('name = "01_made_up"', 'name = "01_unheard_of"', "lesson 01_unheard_of: exercises/01_unheard_of.ipynb is missing"),
        ('name = "01_made_up"', 'name = "01_unheard_of"', "notebooks/01_made_up.ipynb belongs to no lesson"),
        ('faults = ["wrong_key"]', 'faults = ["wrong_kye"]', "there is no fault 'wrong_kye'"),
        ('start = "wrong_key"', 'start = "wrong_kye"', "its start 'wrong_kye' is no fault"),
        ('start = "wrong_key"\n', "", "no start that they change"),
        ('owner = "keras"', 'owner = "torch"', "owner is 'torch'"),
        ('stage = "batch"', 'stage = "bach"', "there is no stage 'bach'; stages are load,"),
        ('says = "labels"', 'says = ""', "says is empty"),
        ('says = "labels"\n', "", "mistake 'left out': it has no message that the learner must get"),
        (
            'name = "rename"\n',
            'name = "renaming"\n',
            "repair 'renaming': it has no change, and the fault wrong_key has no repair of this name",
        ),
        ('name = "left out"', 'name = "other"', "the program name 'other' is used 2 times"),
        (
            """[["['label']", "[]"]]""",
            """[["['lable']", "[]"]]""",
            "its change does not fit the start script: \"['lable']\" stands 0 times",
        ),
        ("""[["['label']", "[]"]]""", """[["['label']", "['label']"]]""", "its change changes nothing"),
        ("""[["['label']", "[]"]]""", """["['label']", "[]"]""", "change must be a list of"),
        ("""[["['label']", "[]"]]""", "[]", "change must be a list of"),
        ('[[lesson]]\nname = "00_start_here"', '[[lessons]]\nname = "00_start_here"', "the entry 'lessons' is unknown"),
        ('[[lesson.task]]\nname = "01/look"', '[lesson.task]\nname = "01/look"', "course.toml: it is not TOML"),
    ],
)
def test_a_wrong_manifest_is_refused(root, old, new, says):
    problems = problems_with(root, old, new)
    assert any(says in problem for problem in problems), problems
    assert all(problem.startswith("course.toml: ") and problem.endswith((".", ")")) for problem in problems)


def test_a_task_with_a_script_needs_a_repair_and_a_mistake(root):
    start = MANIFEST.index("[[lesson.task.repair]]")
    (root / "course.toml").write_text(MANIFEST[:start])
    problems = course_check.check(root)
    assert [problem.rpartition(": ")[2] for problem in problems] == ["no accepted repair is listed.", "no tempting wrong repair is listed."]


@pytest.mark.parametrize("path", TWINS)
def test_a_missing_twin_is_named(root, path):
    (root / path).unlink()
    assert f"course.toml: lesson 01_made_up: {path} is missing." in course_check.check(root)


@pytest.mark.parametrize("path", ["notebooks/source/02_x.py", "notebooks/02_x.ipynb", "solutions/02_x.ipynb", "exercises/02_x.ipynb"])
def test_a_notebook_without_a_lesson_is_named(root, path):
    (root / path).write_text("")
    assert course_check.check(root) == [f"course.toml: {path} belongs to no lesson of the manifest."]


def test_the_command_lists_every_problem_and_fails(root, capsys):
    assert course_check.main(["--root", str(root)]) == 0
    shutil.rmtree(root / "exercises")
    (root / "course.toml").write_text(MANIFEST.replace("minutes = 5", "minutes = -5"))
    capsys.readouterr()
    assert course_check.main(["--root", str(root)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 2
    (root / "course.toml").unlink()
    assert course_check.check(root) == ["course.toml: it is missing."]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('# %% key="no-gradient-is-none" tags=["hidden-assertion"]\nassert all(g is not None for g in gradients)\n\n', "",
         "course.toml: lesson 01_the_broken_script: the assertion 'no-gradient-is-none' is listed under asserted, and no source has it."),
        ('key="no-gradient-is-none"', 'key="gradients-are-there"',
         "course.toml: lesson 01_the_broken_script: the assertion 'gradients-are-there' stands in a source; list it under asserted, so that its loss is noticed."),
    ],
)  # fmt: skip
def test_an_assertion_behind_a_sentence_is_not_lost_without_a_word(tmp_path, old, new, problem):
    shutil.copy(ROOT / "course.toml", tmp_path)
    for folder in ("notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    assert course_check.check(tmp_path) == []
    source = tmp_path / "notebooks" / "source" / "01_the_broken_script.py"
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1
    source.write_text(text.replace(old, new), encoding="utf-8")
    assert problem in course_check.check(tmp_path)
