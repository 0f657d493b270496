"""The manifest of the course, ``course.toml``: lessons, tasks, hints, accepted repairs and tempting wrong ones.

Names are the key everywhere: a lesson is "01_the_broken_script", a task is "01/own_loss".
"""

import difflib
import functools
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from helpers.faults import CATALOGUE, Changes
from helpers.guards import shorten
from helpers.messages import _
from helpers.scripts import Text


@dataclass(frozen=True)
class Program:
    """A repair of a task's script, accepted or wrong. changes: of the start script · says: a part of the message that a wrong one gets."""

    name: str
    changes: Changes
    says: str = ""


@dataclass(frozen=True)
class Task:
    """start: the fault whose script the learner repairs, None for a task without a script · owner: who must compute the loss,
    "model" or "keras", None where either may · stage: where the walk finds the fault, where that matters · unseen: name of an unseen
    pipeline -> its fault · choices: the faults among which it is looked for, none where its stage is asked for · probes: that give evidence.
    """

    name: str
    title: str
    hints: tuple[str, ...]
    start: str | None = None
    owner: str | None = None
    stage: str | None = None
    repairs: tuple[Program, ...] = ()
    mistakes: tuple[Program, ...] = ()
    unseen: dict[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """section: of the lesson plan · difficulty: 1 to 3 · faults: names in the catalogue."""

    name: str
    title: str
    section: str
    minutes: int
    difficulty: int
    faults: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()


class UnknownTask(LookupError):
    """A task's name that course.toml has not. Its text names those that it has."""


# ---------------------------------------------------------------- reading


def manifest_path() -> Path:
    """course.toml: beside this module in an installed package, else at the top of the repository."""
    beside = Path(__file__).with_name("course.toml")
    return beside if beside.exists() else Path(__file__).resolve().parents[1] / "course.toml"


@functools.cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons in order. A manifest that is missing or damaged is a RuntimeError of one line."""
    path = manifest_path()
    try:
        return read_lessons(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = _("The course's manifest {path} cannot be read ({kind}: {error}). Restore it: git checkout -- course.toml")
        raise RuntimeError(what.format(path=path.name, kind=type(error).__name__, error=error)) from None


def read_lessons(tables: dict) -> tuple[Lesson, ...]:
    """The lessons of a parsed course.toml. What is wrong with one is said by helpers/build/course_check.py."""
    return tuple(
        Lesson(
            name=lesson["name"],
            title=lesson["title"],
            section=lesson["section"],
            minutes=lesson["minutes"],
            difficulty=lesson["difficulty"],
            faults=tuple(lesson.get("faults", [])),
            tasks=tuple(_task(task) for task in lesson.get("task", [])),
        )
        for lesson in tables["lesson"]
    )


def _task(table: dict) -> Task:
    return Task(
        name=table["name"],
        title=table["title"],
        hints=tuple(table["hints"]),
        start=table.get("start"),
        owner=table.get("owner"),
        stage=table.get("stage"),
        repairs=tuple(_program(program, table.get("start"), "repair") for program in table.get("repair", [])),
        mistakes=tuple(_program(program, table.get("start"), "mistake") for program in table.get("mistake", [])),
        unseen=dict(table.get("unseen", {})),
        choices=tuple(table.get("choices", [])),
        probes=tuple(table.get("probes", [])),
    )


def _program(table: dict, start: str | None, kind: str) -> Program:
    """What a table does not say itself is that of the start fault's repair or mistake of the same name."""
    changes, says = table.get("change"), table.get("says", "")
    if changes is None:
        changes, says_there = changes_in_catalogue(start, kind).get(table["name"], ([], ""))
        says = says or says_there
    return Program(table["name"], [tuple(change) for change in changes], says)


def changes_in_catalogue(start: str | None, kind: str) -> dict[str, tuple[Changes, str]]:
    """name -> (changes, message) of the fault's own repairs or mistakes; empty for an unknown fault."""
    fault = CATALOGUE.get(start)
    if fault is None:
        return {}
    if kind == "repair":
        return {name: (changes, "") for name, changes in fault.repairs.items()}
    return {mistake.name: (mistake.changes, mistake.says) for mistake in fault.mistakes}


def task(name: str) -> Task:
    """The task of this name. UnknownTask, a LookupError of one line that names the nearest, or all."""
    tasks = {task.name: task for lesson in lessons() for task in lesson.tasks}
    if isinstance(name, str) and name in tasks:
        return tasks[name]
    near = difflib.get_close_matches(name, tasks, n=3) if isinstance(name, str) else []
    if near:
        raise UnknownTask(
            _("There is no task {name}. Did you mean {names}?").format(name=shorten(repr(name)), names=_(" or ").join(map(repr, near)))
        )
    raise UnknownTask(_("There is no task {name}. Tasks are: {names}.").format(name=shorten(repr(name)), names=", ".join(tasks)))


# ---------------------------------------------------------------- hints


@dataclass(frozen=True)
class Hint:
    """number: from 1."""

    number: int
    total: int
    text: str
    repeated: bool = False

    def __repr__(self) -> str:
        said = _("Hint {number} of {total}: {text}").format(number=self.number, total=self.total, text=self.text)
        return said + "\n" + _("That was the last hint of this task.") if self.repeated else said


_given: dict[str, int] = {}  # task -> how many of its hints this process has shown


def hint(task_name: str | None = None, *others) -> Hint | Text:
    """The next hint of a task, for example ``hint("01/own_loss")``. Each call shows one more; after the last it is repeated.

    A name that is no task's is answered with one line that says which there are. Never raises for a wrong name.
    """
    if others:
        return Text(_('hint() takes one name, for example hint("01/own_loss"). It counts the hints by itself.'))
    try:
        hints = task(task_name).hints
    except UnknownTask as unknown:
        return Text(unknown)
    given = _given.get(task_name, 0)
    _given[task_name] = min(given + 1, len(hints))
    return Hint(_given[task_name], len(hints), hints[_given[task_name] - 1], repeated=given == len(hints))
