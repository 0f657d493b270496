"""Sources become notebooks, notebooks are run and stored, and nbval fails where something is wrong.

The lessons here are made up: small, and without TensorFlow.
"""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import nbformat
import nbval_hook
import pytest

from helpers.build import cell_rules, notebook_check, notebook_source, notebooks
from helpers.build.notebook_source import BuildProblems

HERE = Path(__file__).parent
LESSON = """\
# %% [markdown]
# # A lesson

# %% key="greet"
# copy the batch
import os, sys
print("hello from", os.path.basename(os.getcwd()))
print("a warning", file=sys.stderr)
display({"text/plain": "Map:   0%|     | 0/30 [00:00<?, ?it/s]"}, raw=True)
1 + 1

# %% tags=["raises-exception"] error="ValueError"
raise ValueError(f"{object()} is not in {os.path.abspath('x.py')}")

# %% tags=["band"]
import random
print(f"loss {random.random():.12f} of 3 rows")

# %% tags=["hidden-assertion"]
assert 1 + 1 == 2

# %% tags=["varies"]
print(os.getpid())
"""
SOLUTION = """\
# %% [markdown]
# # An exercise

# %% key="answer" tags=["task"]
def answer(x):
    # solution: begin
    return x * forty_two
    # solution: end
    # exercise: begin
    #| # your line
    #| return ...
    # exercise: end

forty_two = 42

# %% tags=["check"]
class Verdict:
    def __repr__(self):
        return "Passed: 1 of 1 points." if answer(1) == 42 else "Not yet: 0 of 1 points hold."
Verdict()

# %% [markdown] tags=["solution-only"]
# It multiplies, because multiplication is what was asked for.

# %% tags=["exercise-only"]
# try answer(2)
"""


@pytest.fixture
def root(tmp_path):
    """A course of one lesson and one exercise, not yet converted."""
    return write_sources(tmp_path)


def write_sources(root: Path, lesson: str = LESSON, solution: str = SOLUTION) -> Path:
    for folder, text in (("notebooks", lesson), ("solutions", solution)):
        source = root / folder / "source" / "01_made_up.py"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
    return root


def convert(root: Path) -> None:
    assert notebooks.main(["convert", "--root", str(root)]) == 0


def book(root: Path, folder: str):
    return nbformat.read(root / folder / "01_made_up.ipynb", as_version=4)


def sources(notebook) -> str:
    return "\n---\n".join(cell.source for cell in notebook.cells)


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.ipynb"))}


def problem_of(root: Path, source: str = "solutions/source/01_made_up.py") -> str:
    with pytest.raises(BuildProblems) as stopped:
        notebook_source.read_source(root, source)
    return str(stopped.value)


# ---------------------------------------------------------------- convert


def test_a_second_conversion_changes_no_byte(root):
    convert(root)
    first = files(root)
    assert set(first) == {"exercises/01_made_up.ipynb", "notebooks/01_made_up.ipynb", "solutions/01_made_up.ipynb"}
    convert(root)
    assert files(root) == first
    for path in root.rglob("*.ipynb"):
        path.unlink()
    convert(root)
    assert files(root) == first


def test_a_notebook_says_what_it_is_generated_from_and_names_one_kernel(root):
    convert(root)
    exercise = book(root, "exercises")
    assert exercise.cells[0].source.startswith("<!-- generated from solutions/source/01_made_up.py – do not edit")
    assert exercise.metadata.kernelspec.name == "python3" and "version" not in exercise.metadata.language_info
    assert exercise.metadata.course == {"kind": "exercise", "name": "01_made_up", "source": "solutions/source/01_made_up.py"}


def test_a_cell_keeps_its_id_when_cells_before_it_change(root):
    convert(root)
    before = {cell.source: cell.id for cell in book(root, "notebooks").cells}
    write_sources(
        root,
        LESSON.replace('# %% key="greet"', '# %%\n"new"\n\n# %% key="greet"').replace(
            '1 + 1\n\n# %% tags=["raises', '2 + 2\n\n# %% tags=["raises'
        ),
    )
    convert(root)
    after = {cell.source: cell.id for cell in book(root, "notebooks").cells}
    assert len(after) == len(before) + 1
    same = before.keys() & after.keys()
    assert len(same) == len(before) - 1 and all(before[source] == after[source] for source in same)
    assert "greet" in before.values() and "greet" in after.values()


def test_cells_of_the_same_text_get_ids_of_their_own(root):
    write_sources(root, LESSON + "\n# %%\nx = 1\n\n# %%\nx = 1\n")
    convert(root)
    ids = [cell.id for cell in book(root, "notebooks").cells]
    assert len(set(ids)) == len(ids) and ids[-1] == f"{ids[-2]}-2"


def test_comments_that_look_like_shell_commands_stay_comments(root):
    convert(root)
    assert "# copy the batch\n" in sources(book(root, "notebooks"))


def test_the_exercise_has_the_stub_and_the_solution_has_the_solution(root):
    convert(root)
    exercise, solution = book(root, "exercises"), book(root, "solutions")
    assert exercise.cells[1].source == "def answer(x):\n    # your line\n    return ...\n\nforty_two = 42"
    assert solution.cells[1].source == "def answer(x):\n    return x * forty_two\n\nforty_two = 42"
    assert exercise.cells[1].id == solution.cells[1].id == "answer"
    assert "multiplication" in sources(solution) and "multiplication" not in sources(exercise)
    assert "try answer(2)" in sources(exercise) and "try answer(2)" not in sources(solution)


def test_a_hidden_assertion_is_folded_away(root):
    convert(root)
    hidden = next(cell for cell in book(root, "notebooks").cells if "hidden-assertion" in cell.metadata.get("tags", []))
    assert hidden.metadata.jupyter.source_hidden is True and "remove-cell" in hidden.metadata.tags


BEGIN, END, STUB, STUB_END = "# solution: begin", "# solution: end", "# exercise: begin", "# exercise: end"
BAD_REGIONS = {
    "nested": ([BEGIN, "x = 1", BEGIN], 2, "a solution region begins inside the solution region"),
    "unclosed": ([BEGIN, "x = 1"], 0, "never closed"),
    "unclosed stub": ([BEGIN, "x = 1", END, STUB, "#| x = ..."], 3, "never closed"),
    "empty": ([BEGIN, "", END], 2, "this solution region is empty"),
    "empty stub": ([BEGIN, "x = 1", END, STUB, STUB_END], 4, "this exercise region is empty"),
    "no stub": ([BEGIN, "x = 1", END, "y = 2"], 0, "not followed by its exercise region"),
    "stub alone": (["x = 1", STUB, "#| x = ...", STUB_END], 1, "must follow its solution region"),
    "text between": ([BEGIN, "x = 1", END, "y = 2", STUB, "#| x = 2", STUB_END], 4, "follow its solution region at once"),
    "ends unopened": (["x = 1", END], 1, "none is open"),
    "ends another": ([BEGIN, "x = 1", STUB_END], 2, "a exercise region ends here and none is open"),
    "stub without mark": ([BEGIN, "x = 1", END, STUB, "x = ...", STUB_END], 4, "must begin with #|"),
    "misspelt": (["#solution: begin", "x = 1", END], 0, "looks like a marker"),
    "of nbgrader": (["### BEGIN SOLUTION", "x = 1"], 0, "looks like a marker"),
}


@pytest.mark.parametrize("name", BAD_REGIONS)
def test_a_wrong_solution_region_stops_the_build_with_file_cell_and_line(root, name, capsys):
    lines, offset, says = BAD_REGIONS[name]
    text = '# %% [markdown]\n# # T\n\n# %% tags=["task"]\n\n' + "\n".join(lines) + "\n"
    write_sources(root, solution=text)
    assert notebooks.main(["convert", "--root", str(root)]) == 1
    errors = capsys.readouterr().err
    assert f"solutions/source/01_made_up.py:{6 + offset}, cell 2: " in errors and says in errors
    assert errors.splitlines()[1].strip() == lines[offset]
    assert not (root / "exercises/01_made_up.ipynb").exists() and (root / "notebooks/01_made_up.ipynb").exists()


REGION = "# solution: begin\nx = 1\n# solution: end\n# exercise: begin\n#| x = ...\n# exercise: end\n"


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (f"# %%\n{REGION}", "not the tag that says so"),
        ('# %% tags=["task"]\nx = 1\n', "tagged task, and has no solution region"),
        (f'# %% tags=["task", "solution-only"]\n{REGION}', "needs no regions"),
        ("# %% [markdown]\n# # solution: begin\n", "only stand in a code cell"),
        ('# %% tags=["tsak"]\nx = 1\n', "its tag 'tsak' is unknown"),
        ('# %% colour="red"\nx = 1\n', "its metadata 'colour' is unknown"),
        ("# %% tags=[task]\nx = 1\n", "its metadata cannot be read"),
        ('# %% tags="task"\nx = 1\n', "Tags are a list of texts"),
        ('# %% tags=["raises-exception"]\nraise ValueError\n', "belong together"),
        ('# %% error="ValueError"\nraise ValueError\n', "belong together"),
        ('# %% device="TPU"\n1\n', "its device is 'TPU'"),
        ('# %% tags=["solution-only", "exercise-only"]\n1\n', "nowhere"),
        ('# %% [markdown] tags=["check"]\n# text\n', "a text cell may only"),
        ('# %% tags=["hidden-assertion"]\nx = 1\n', "asserts nothing"),
        ('# %% tags=["band"]\nprint(1.5)\n\n# %%\n1\n', "next code cell must be the hidden-assertion"),
        ("# %%\n!exit 3\n", "shell line"),
        ("# %%\nfiles = !ls\n", "shell line"),
        ("# %%\n%sx ls\n", "shell line"),
        ("# %%\nfrom IPython.display import clear_output\nclear_output()\n", "cannot be compared"),
        ("# %% [raw]\n# raw\n", "it is a raw cell"),
        ("# %%\n", "it is empty"),
        ('# %% key="a"\n1\n\n# %% key="a"\n2\n', "its key 'a' is also that of cell 2"),
        ('# %% key="a b"\n1\n', "a key has 1 to 64 letters"),
        ('# %%\ntext = """\n# %% not a cell\n"""\n', "no line inside a string"),
    ],
)
def test_a_cell_that_is_not_what_it_says_stops_the_build(root, cell, says):
    write_sources(root, solution=f"# %% [markdown]\n# # T\n\n{cell}")
    problem = problem_of(root)
    assert says in problem and problem.startswith("solutions/source/01_made_up.py")


@pytest.mark.parametrize("text", ["x = 1\n", "# %%\nx = 1\n", ""])
def test_a_source_that_does_not_begin_with_a_text_cell_stops_the_build(root, text):
    write_sources(root, solution=text)
    assert "01_made_up.py: " in problem_of(root)


def test_a_lesson_has_no_solution_regions(root):
    write_sources(root, LESSON + f'\n# %% tags=["task"]\n{REGION}')
    assert "a lesson has no solution regions" in problem_of(root, "notebooks/source/01_made_up.py")


def test_all_problems_are_listed_at_once(root):
    write_sources(root, solution='# %% [markdown]\n# # T\n\n# %% tags=["a"]\n!ls\n\n# %% tags=["b"]\n1\n')
    assert len(problem_of(root).splitlines()) == 3


def test_magics_that_report_failure_are_allowed():
    assert not cell_rules.hides_its_exit_code("%time f()\n%%bash\nls") and not cell_rules.hides_its_exit_code("a != b; print('!ls', '%sx')")


def test_a_name_chooses_its_notebooks_and_an_unknown_one_is_answered_with_those_that_there_are(root, capsys):
    chosen = notebooks.chosen_notebooks
    assert [b.path for b in chosen(root, ["exercises/01_made_up.ipynb"])] == ["exercises/01_made_up.ipynb"]
    assert len(chosen(root, ["01_made_up"])) == 3
    assert notebooks.main(["convert", "02_other", "--root", str(root)]) == 1
    assert "no source for '02_other'" in capsys.readouterr().err


# ---------------------------------------------------------------- outputs


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The course after ``make outputs``."""
    root = write_sources(tmp_path_factory.mktemp("course"))
    assert notebooks.main(["outputs", "--root", str(root)]) == 0
    return root


@pytest.fixture
def copy_of_ran(ran, tmp_path):
    return Path(shutil.copytree(ran, tmp_path / "copy"))


def outputs_of(notebook) -> list[list]:
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def test_outputs_are_stored_without_stderr_paths_addresses_and_what_varies(ran):
    greet, error, band, hidden, varies = outputs_of(book(ran, "notebooks"))
    assert [output.get("text") or output["data"]["text/plain"] for output in greet] == ["hello from notebooks\n", "2"]
    assert error[0].ename == "ValueError" and error[0].evalue == "<object object at 0x…> is not in …/x.py"
    assert any("----> 1 raise ValueError" in line for line in error[0].traceback) and "\x1b" not in "".join(error[0].traceback)
    assert str(ran) not in (ran / "notebooks/01_made_up.ipynb").read_text()
    assert band[0].text.startswith("loss 0.") and hidden == [] and varies == []
    assert [cell.execution_count for cell in book(ran, "notebooks").cells if cell.cell_type == "code"] == [1, 2, 3, 4, 5]


def test_an_exercise_is_run_and_none_of_its_outputs_are_stored(ran):
    exercise = book(ran, "exercises")
    assert "executed" in exercise.metadata.course and all(outputs == [] for outputs in outputs_of(exercise))
    assert "Passed" in outputs_of(book(ran, "solutions"))[1][0].data["text/plain"]


def test_check_finds_nothing_wrong_after_outputs(ran, capsys):
    assert notebooks.main(["check", "--root", str(ran)]) == 0
    assert "3 notebooks agree" in capsys.readouterr().out


def test_nothing_is_run_again_when_nothing_changed(copy_of_ran, monkeypatch):
    before = files(copy_of_ran)
    monkeypatch.setattr(notebooks, "run", lambda *_args: pytest.fail("it was run again"))
    assert notebooks.main(["outputs", "--root", str(copy_of_ran)]) == 0
    convert(copy_of_ran)
    assert files(copy_of_ran) == before


def test_a_changed_cell_loses_its_outputs_and_the_others_keep_theirs(copy_of_ran, capsys):
    write_sources(copy_of_ran, LESSON.replace("1 + 1\n\n", "2 + 2\n\n", 1))
    kept = outputs_of(book(copy_of_ran, "notebooks"))[2]
    convert(copy_of_ran)
    greet, _error, band, *_others = outputs_of(book(copy_of_ran, "notebooks"))
    assert greet == [] and band == kept
    assert notebooks.main(["check", "--root", str(copy_of_ran)]) == 1
    assert "notebooks/01_made_up.ipynb: its cells changed since it last ran" in capsys.readouterr().err
    assert notebooks.main(["outputs", "--root", str(copy_of_ran)]) == 0
    greet, _error, band, *_others = outputs_of(book(copy_of_ran, "notebooks"))
    assert greet[1].data["text/plain"] == "4"
    assert band == kept, "trained numbers are not written anew where they compare equal"


def test_outputs_stops_at_an_error_that_is_not_meant_and_writes_nothing(root, capsys):
    write_sources(root, LESSON.replace("1 + 1\n\n", "1 / 0\n\n", 1))
    assert notebooks.main(["outputs", "notebooks/01_made_up", "--root", str(root)]) == 1
    assert "cell 2 (# copy the batch): it raised ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert outputs_of(book(root, "notebooks"))[0] == []


def cell_with(tags: list[str], **metadata):
    return nbformat.v4.new_code_cell("x", metadata={"tags": tags, **metadata})


def printed(text: str, name: str = "stdout"):
    return nbformat.v4.new_output("stream", name=name, text=text)


def raised(name: str):
    return nbformat.v4.new_output("error", ename=name, evalue="", traceback=[])


@pytest.mark.parametrize(
    ("cell", "outputs", "kind", "says"),
    [
        (cell_with(["raises-exception"], error="ValueError"), [], "lesson", "must raise ValueError, and raised nothing"),
        (cell_with(["raises-exception"], error="ValueError"), [raised("KeyError")], "lesson", "must raise ValueError, and raised KeyError"),
        (cell_with(["raises-exception"]), [raised("KeyError")], "lesson", "error is missing"),
        (cell_with(["raises-exception"], error="ValueError"), [raised("ValueError")], "lesson", None),
        (cell_with(["raises-exception"], error="ValueError", device="GPU"), [], "lesson", None),
        (cell_with(["raises-exception"], error="ValueError", device="CPU"), [], "lesson", "raised nothing"),
        (cell_with([], device="GPU"), [raised("KeyError")], "lesson", "it raised KeyError"),
        (cell_with([]), [raised("KeyError")], "lesson", "it raised KeyError"),
        (cell_with(["hidden-assertion"]), [printed("x")], "lesson", "shows something"),
        (cell_with(["hidden-assertion"]), [printed("x", "stderr")], "lesson", None),
        (cell_with([]), [printed("UsageError: Line magic", "stderr")], "lesson", "IPython refused"),
        (
            cell_with([]),
            [printed("Exception in thread Thread-1:\n  File x\nValueError: y\n", "stderr")],
            "lesson",
            "exception: ValueError: y",
        ),
        (cell_with(["check"]), [printed("Passed: 4 of 4 points.")], "exercise", "passed before the learner"),
        (cell_with(["check"]), [printed("Not yet: 1 of 4")], "exercise", None),
        (cell_with(["check"]), [], "exercise", "shows no verdict"),
        (cell_with(["check"]), [printed("Not yet: 1 of 4")], "solution", "solution is not passed"),
        (cell_with(["check"]), [printed("Passed: 4 of 4")], "solution", None),
    ],
)
def test_a_run_is_judged_by_the_rules_of_its_cells(cell, outputs, kind, says, monkeypatch):
    monkeypatch.setattr(cell_rules, "has_gpu", lambda: False)
    problems = cell_rules.problems_of_run(cell, outputs, kind)
    assert len(problems) == (says is not None) and (says is None or says in problems[0])


def test_a_large_picture_is_refused(root):
    convert(root)
    notebook = book(root, "notebooks")
    ran = nbformat.from_dict(json.loads(json.dumps(notebook)))
    ran.cells[1].outputs = [nbformat.v4.new_output("display_data", {"image/png": "A" * 200_000})]
    ran.cells[2].outputs = [raised("ValueError")]
    with pytest.raises(BuildProblems, match="larger than 100 kB"):
        notebooks.store_run(notebook, notebooks.all_notebooks(root)[0], ran)


# ---------------------------------------------------------------- check


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        (
            "notebooks/01_made_up.ipynb",
            "# copy the batch",
            "# copy the batches",
            "cell 2, line 1 is '# copy the batches' and should be '# copy the batch'",
        ),
        ("notebooks/01_made_up.ipynb", '"name": "python3"', '"name": "python311"', "its metadata or its formatting differ"),
        ("notebooks/01_made_up.ipynb", '"id": "greet"', '"id": "great"', "the id of cell 2 is 'great' and should be 'greet'"),
        ("notebooks/01_made_up.ipynb", '"raises-exception"', '"raises-exceptions"', "the metadata or outputs of cell 3 differ"),
        ("notebooks/01_made_up.ipynb", "\n  {", "\n {", "formatting differ"),
        ("notebooks/01_made_up.ipynb", '"hello from', '"goodbye from', "cell 2, line 3"),
        ("notebooks/01_made_up.ipynb", '       "2"', '       "3"', "its cells changed since it last ran"),
        ("notebooks/01_made_up.ipynb", '"nbformat"', "nbformat", "not a notebook that can be read"),
        ("notebooks/source/01_made_up.py", "# # A lesson", "# # The lesson", "cell 1, line 2 is '# A lesson' and should be '# The lesson'"),
        ("notebooks/source/01_made_up.py", 'tags=["varies"]', 'tags=["vary"]', "its tag 'vary' is unknown"),
    ],
)
def test_check_finds_an_edited_file(copy_of_ran, path, old, new, says, capsys):
    edit(copy_of_ran / path, old, new)
    assert notebooks.main(["check", "--root", str(copy_of_ran)]) == 1
    errors = capsys.readouterr().err
    assert says in errors and ("01_made_up.ipynb: " in errors or "01_made_up.py:" in errors)


def test_check_finds_a_missing_notebook_and_one_without_a_source(copy_of_ran):
    (copy_of_ran / "exercises/01_made_up.ipynb").rename(copy_of_ran / "exercises/02_other.ipynb")
    problems = notebook_check.check(copy_of_ran, notebooks.all_notebooks(copy_of_ran))
    assert problems == [
        "exercises/02_other.ipynb: it has no source. Delete it, or write its source.",
        "exercises/01_made_up.ipynb: it is missing. Run make notebooks.",
    ]


def test_outputs_that_a_learner_left_in_an_exercise_are_found_and_taken_out(copy_of_ran):
    path = copy_of_ran / "exercises/01_made_up.ipynb"
    before, notebook = path.read_bytes(), book(copy_of_ran, "exercises")
    notebook.cells[1].outputs, notebook.cells[1].execution_count = [printed("42")], 7
    path.write_text(notebooks.to_text(notebook), encoding="utf-8")
    problems = notebook_check.check(copy_of_ran, notebooks.all_notebooks(copy_of_ran))
    assert len(problems) == 1 and "the metadata or outputs of cell 2 differ" in problems[0]
    convert(copy_of_ran)
    assert path.read_bytes() == before


def test_what_a_solution_only_calls_may_stand_in_the_exercise_too(root):
    write_sources(root, solution=SOLUTION + '\n# %% tags=["solution-only"]\nforty_two = 42\n')
    convert(root)
    assert not any("line of the solution" in problem for problem in notebook_check.check(root, notebooks.all_notebooks(root)))


def test_check_finds_a_notebook_that_never_ran(root):
    convert(root)
    problems = notebook_check.check(root, notebooks.all_notebooks(root))
    assert len(problems) == 3 and all("Run make outputs." in problem for problem in problems)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# # An exercise", "# # An exercise\n# Hint: `return x * forty_two`"),
        ("forty_two = 42\n", "forty_two = 42\n    #   return   x * forty_two\n"),
        ("# try answer(2)", "# It multiplies, because multiplication is what was asked for."),
    ],
)
def test_text_of_the_solution_in_the_exercise_is_found(root, old, new):
    write_sources(root, solution=SOLUTION.replace(old, new))
    convert(root)
    problems = notebook_check.check(root, notebooks.all_notebooks(root))
    assert (
        sum(
            "exercises/01_made_up.ipynb: it holds a line of the solution (solutions/source/01_made_up.py:" in problem
            for problem in problems
        )
        == 1
    )


# ---------------------------------------------------------------- nbval


def code_cell(cell_id: str, source: str, stored=(), run: bool = True, tags=(), **metadata):
    cell = nbformat.v4.new_code_cell(source, id=cell_id, execution_count=1 if run else None, outputs=list(stored))
    cell.metadata.update({"tags": list(tags), **metadata} if tags or metadata else {})
    return cell


def shown(text: str, **data):
    return nbformat.v4.new_output("display_data", {"text/plain": text, **data})


def error(name: str, text: str = ""):
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[])


USAGE = "UsageError: Line magic function `%unknownmagic` not found.\n"
THREAD = """\
import threading, time
def fail():
    time.sleep({wait})
    raise ValueError("in the thread")
t = threading.Thread(target=fail)
t.start()
"""
# cells that nbval passes and must not
HOLES = [
    code_cell("clean-never-ran", "x = 1", run=False, tags=["raises-exception"], error="ValueError"),
    code_cell("clean-now", "x = 1", [error("ValueError")], tags=["raises-exception"], error="ValueError"),
    code_cell("other-class", "{}['x']", [error("ValueError")], tags=["raises-exception"], error="ValueError"),
    code_cell("no-class", "{}['x']", [error("KeyError", "'x'")], tags=["raises-exception"]),
    code_cell("never-ran", "# NBVAL_CHECK_OUTPUT\nprint('now')", run=False),
    code_cell("unknown-magic", "%unknownmagic", [printed(USAGE, "stderr")]),
    code_cell("shell", "!exit 3"),
    code_cell("thread", THREAD.format(wait=0) + "t.join()"),
    code_cell("late-thread-begins", THREAD.format(wait=0.5)),
    code_cell("late-thread", "t.join(); time.sleep(0.3)"),
]
HOLE_NAMES = [cell.id for cell in HOLES if cell.id != "late-thread-begins"]
# nbval lets these pass even when it compares every output
STRICT_HOLE_NAMES = ["clean-never-ran", "no-class", "never-ran", "unknown-magic", "shell"]
# cells that are right, and that nbval fails without the hook, because it compares digit by digit and path by path
RIGHT = [
    code_cell(
        "error-text",
        "raise ValueError(f'{object()} /tmp/x/y.py')",
        [error("ValueError", "<object object at 0x…> …/y.py")],
        tags=["raises-exception"],
        error="ValueError",
    ),
    code_cell("band", "print('loss', 0.25, 'of 3')", [printed("loss 0.75 of 3\n")], tags=["band"]),
    code_cell("varies", "print(1)", [], tags=["varies"]),
    code_cell("other-device", "print(1)", [printed("2\n")], device="GPU"),
    code_cell("stderr", "import sys; print('noise', file=sys.stderr)", []),
    code_cell(
        "widget-view",
        "from IPython.display import display\ndisplay({'text/plain': 'a', 'application/x-view': '1'}, raw=True)",
        [shown("a")],
    ),
    code_cell("progress-bar", "display({'text/plain': 'Map:   0%|     | 0/3000 [00:00<?, ? examples/s]'}, raw=True)"),
    code_cell("address", "object()", [shown("<object at 0x…>")]),
    code_cell("colours", "print('\\x1b[31mred\\x1b[0m')", [printed("red\n")]),
]
# cells that are right with and without it, and cells that are wrong with and without it
PLAIN = [
    code_cell("folder", "import os; print(os.path.basename(os.getcwd()))", [printed("books\n")]),
    code_cell("picture", "display({'text/plain': 'p', 'image/png': 'AAAA'}, raw=True)", [shown("p", **{"image/png": "BBBB"})]),
]
WRONG = [
    code_cell("wrong-text", "print('one')", [printed("two\n")]),
    code_cell("wrong-message", "raise ValueError('one')", [error("ValueError", "two")], tags=["raises-exception"], error="ValueError"),
    code_cell("wrong-whole-number", "print('loss 0.5 of 3')", [printed("loss 0.5 of 4\n")], tags=["band"]),
]
# small notebooks of the course: kind -> cells
KINDS = {
    "exercise": [
        code_cell("exercise-passed", "print('Passed: 1 of 1 points.')", run=False, tags=["check"]),
        code_cell("exercise-not-yet", "print('Not yet: 0 of 1 points hold.')", run=False, tags=["check"]),
    ],
    "solution": [code_cell("solution-not-yet", "print('Not yet: 0')", [printed("Not yet: 0\n")], tags=["check"])],
    "lesson": [code_cell("lesson-never-ran", "x = 1", run=False)],
}
NOTEBOOKS = {"": HOLES + RIGHT + PLAIN + WRONG, **KINDS}


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "books"
    folder.mkdir()
    for kind, cells in NOTEBOOKS.items():
        metadata = {**notebooks.KERNEL, **({"course": {"kind": kind}} if kind else {})}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / f"cells_{kind}.ipynb")
    return folder


def run_nbval(folder: Path, *options: str, names: str = "*.ipynb") -> tuple[dict[str, bool], str]:
    """id of a cell -> whether it passes, and what pytest printed."""
    report, paths = folder / "report.xml", sorted(folder.glob(names))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment["PYTHONPATH"] = str(HERE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "-c",
        os.devnull,
        f"--rootdir={folder}",
        f"--junitxml={report}",
    ]
    done = subprocess.run([*command, *options, *map(str, paths)], capture_output=True, text=True, env=environment, cwd=folder, timeout=600)
    cells = [cell.id for path in paths for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return dict(zip(cells, [len(case) == 0 for case in cases], strict=True)), done.stdout


@pytest.fixture(scope="module")
def runs(books):
    """(with the hook?, "strict" or "lax") -> cell -> whether it passes."""
    hook = ["-p", "nbval_hook"]
    return {
        (False, "strict"): run_nbval(books, "--nbval")[0],
        (False, "lax"): run_nbval(books, "--nbval-lax")[0],
        (True, "strict"): run_nbval(books, "--nbval", *hook)[0],
        (True, "lax"): run_nbval(books, "--nbval-lax", *hook)[0],
    }


@pytest.mark.parametrize("name", HOLE_NAMES)
def test_the_hook_fails_what_nbval_lets_pass(runs, name):
    assert runs[False, "lax"][name], "nbval itself fails this now: the hook may no longer be needed for it"
    assert name not in STRICT_HOLE_NAMES or runs[False, "strict"][name]
    assert not runs[True, "lax"][name]
    assert not runs[True, "strict"][name]


@pytest.mark.parametrize("name", [cell.id for cell in RIGHT])
def test_the_hook_passes_what_differs_only_in_what_may_differ(runs, name):
    assert not runs[False, "strict"][name], "nbval itself passes this now: the hook may no longer be needed for it"
    assert runs[True, "strict"][name]


@pytest.mark.parametrize("name", [cell.id for cell in PLAIN])
def test_what_nbval_passes_rightly_still_passes(runs, name):
    assert runs[False, "strict"][name] and runs[True, "strict"][name] and runs[True, "lax"][name]


@pytest.mark.parametrize("name", [cell.id for cell in WRONG])
def test_what_nbval_fails_rightly_still_fails(runs, name):
    assert not runs[False, "strict"][name] and not runs[True, "strict"][name]


def test_an_exercise_whose_check_is_passed_as_shipped_fails(runs):
    for mode in ("strict", "lax"):
        assert runs[False, mode]["exercise-passed"] and not runs[True, mode]["exercise-passed"]
        assert runs[True, mode]["exercise-not-yet"]


def test_a_solution_whose_check_is_not_passed_fails(runs):
    for mode in ("strict", "lax"):
        assert runs[False, mode]["solution-not-yet"] and not runs[True, mode]["solution-not-yet"]


def test_a_cell_of_a_lesson_that_was_never_run_fails(runs):
    for mode in ("strict", "lax"):
        assert runs[False, mode]["lesson-never-ran"] and not runs[True, mode]["lesson-never-ran"]


def test_a_kernel_that_is_not_there_is_named_in_one_line(books):
    passed, text = run_nbval(books, "--nbval", "-p", "nbval_hook", "--nbval-kernel-name=nosuch", names="cells_lesson.ipynb")
    assert passed == {"lesson-never-ran": False}
    assert "There is no Jupyter kernel named 'nosuch'. There are: " in text and "Traceback" not in text


def options(**changed):
    known = {"nbval": True, "nbval_lax": False, "nbval_cell_timeout": 2000, "nbval_kernel_name": None, "nbval_current_env": False}
    return SimpleNamespace(option=SimpleNamespace(**{**known, "numprocesses": None, "dist": "no", **changed}))


def test_stderr_of_a_thread_that_failed_between_two_cells_is_seen():
    def message(kind, **content):
        return {"msg_type": kind, "content": content, "parent_header": {"msg_id": "the cell before"}}

    late = [
        message("stream", name="stderr", text="Exception in thread T:\n"),
        message("stream", name="stdout", text="x"),
        message("status"),
    ]
    kernel = SimpleNamespace(get_message=lambda stream, timeout=None: late.pop(0))
    with nbval_hook.recorded_stderr(kernel) as written:
        while late:
            kernel.get_message("iopub", timeout=5)
    assert written == ["Exception in thread T:\n"]


def test_a_cell_has_300_seconds_and_runs_in_this_environment():
    config = options()
    nbval_hook.pytest_configure(config)
    assert config.option.nbval_cell_timeout == 300 and config.option.nbval_current_env
    config = options(nbval_cell_timeout=5, nbval_kernel_name="mine")
    nbval_hook.pytest_configure(config)
    assert config.option.nbval_cell_timeout == 5 and not config.option.nbval_current_env


def test_cells_of_one_notebook_are_not_spread_over_workers():
    with pytest.raises(pytest.UsageError, match="--dist loadscope"):
        nbval_hook.pytest_configure(options(numprocesses=2, dist="load"))
    nbval_hook.pytest_configure(options(numprocesses=2, dist="loadscope"))


def test_the_repository_loads_the_hook_for_its_notebooks(request):
    assert request.config.pluginmanager.hasplugin("nbval_hook")


@pytest.mark.parametrize("name", ["00_start_here"])
def test_a_committed_notebook_gives_the_same_outputs_in_another_folder(name, tmp_path):
    """The smallest stands for all; ``make test`` runs the others where they are."""
    elsewhere = tmp_path / "some where else" / "notebooks"
    shutil.copytree(notebooks.ROOT / "notebooks", elsewhere)
    passed, text = run_nbval(elsewhere, "--nbval", "-p", "nbval_hook", names=f"{name}.ipynb")
    assert len(passed) >= 2 and all(passed.values()), text
