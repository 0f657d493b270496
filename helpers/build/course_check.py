"""Refuses a course.toml that is wrong: ``python -m helpers.build.course_check``. Lists every problem; exit code 1.

Looked for: missing, empty, misspelt or ill-typed entries; names used twice; a lesson without its source or notebooks; a notebook
without a lesson; a task that no exercise uses, and one that an exercise uses and the manifest has not; an unknown fault, owner or
stage; a task with a script that has no accepted repair or no tempting wrong one; a change whose old text does not stand exactly
once in the start script; an unseen pipeline whose fault is unknown, not among the choices, or shown by none of the probes; an assertion behind a sentence (a cell tagged hidden-assertion) that was removed, or is not listed.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from helpers.build.notebooks import MADE_FROM, ROOT
from helpers.course import changes_in_catalogue
from helpers.diagnosis import FIELDS
from helpers.faults import CATALOGUE
from helpers.scripts import change_script

# entry -> (type, whether it must be there)
LESSON = {
    "name": (str, True),
    "title": (str, True),
    "section": (str, True),
    "minutes": (int, True),
    "difficulty": (int, True),
    "faults": (list, True),
    "asserted": (list, False),
    "task": (list, False),
}
TASK = {
    "name": (str, True),
    "title": (str, True),
    "hints": (list, True),
    "start": (str, False),
    "owner": (str, False),
    "stage": (str, False),
    "unseen": (dict, False),
    "choices": (list, False),
    "probes": (list, False),
    "repair": (list, False),
    "mistake": (list, False),
}
REPAIR = {"name": (str, True), "change": (list, False)}
MISTAKE = {"name": (str, True), "change": (list, False), "says": (str, False)}
OWNERS = ("model", "keras")
LESSON_NAME = re.compile(r"[0-9]{2}_[a-z0-9_]+")
TASK_NAME = re.compile(r"[0-9]{2}/[a-z0-9_]+")
WITHOUT_EXERCISE = ("00_start_here",)  # it opens the course; every other lesson has an exercise and a solution


def check(root: Path) -> list[str]:
    """Every problem of ``root``/course.toml, one line each."""
    path = root / "course.toml"
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return ["course.toml: it is missing."]
    except ValueError as error:
        return [f"course.toml: it is not TOML: {error}"]
    problems = [f"the entry {name!r} is unknown" for name in manifest if name != "lesson"]
    lessons = manifest.get("lesson")
    if not _is_list_of_tables(lessons) or not lessons:
        return [f"course.toml: {problem}." for problem in [*problems, "it has no [[lesson]]"]]
    for number, lesson in enumerate(lessons, 1):
        problems += [f"lesson {lesson.get('name', f'number {number}')}: {problem}" for problem in problems_of_lesson(lesson)]
    tasks = [task for lesson in lessons for task in _tables(lesson, "task")]
    problems += _twice("lesson", [lesson.get("name") for lesson in lessons])
    problems += _twice("task", [task.get("name") for task in tasks])
    names = [lesson["name"] for lesson in lessons if isinstance(lesson.get("name"), str)]
    problems += problems_of_files(root, names)
    for lesson in lessons:
        problems += [f"lesson {lesson.get('name')}: {problem}" for problem in problems_of_assertions(root, lesson)]
    unseen = [name for task in tasks if isinstance(task.get("unseen"), dict) for name in task["unseen"]]
    problems += _twice("unseen pipeline", unseen)
    problems += problems_of_use(root, [task["name"] for task in tasks if isinstance(task.get("name"), str)], unseen)
    return [f"course.toml: {problem}." for problem in problems]


def problems_of_lesson(lesson: dict) -> list[str]:
    problems = _problems_of_entries(lesson, LESSON)
    name = lesson.get("name")
    if isinstance(name, str) and not LESSON_NAME.fullmatch(name):
        problems.append(f"a name is two digits and words, such as 01_the_broken_script, not {name!r}")
    if isinstance(lesson.get("minutes"), int) and lesson["minutes"] < 1:
        problems.append("minutes must be 1 or more")
    if isinstance(lesson.get("difficulty"), int) and lesson["difficulty"] not in (1, 2, 3):
        problems.append("difficulty must be 1, 2 or 3")
    if isinstance(lesson.get("faults"), list):
        problems += [f"there is no fault {fault!r} in helpers/faults.py" for fault in lesson["faults"] if fault not in CATALOGUE]
    for number, task in enumerate(_tables(lesson, "task"), 1):
        problems += [f"task {task.get('name', f'number {number}')}: {problem}" for problem in problems_of_task(task, str(name)[:2])]
    return problems


def problems_of_task(task: dict, lesson_number: str) -> list[str]:
    problems = _problems_of_entries(task, TASK)
    name = task.get("name")
    if isinstance(name, str) and not (TASK_NAME.fullmatch(name) and name.startswith(f"{lesson_number}/")):
        problems.append(f"a name is the lesson's number and words, such as {lesson_number}/own_loss, not {name!r}")
    hints = task.get("hints")
    if isinstance(hints, list):
        problems += ["it has no hint"] if not hints else []
        problems += [f"hint {number} is empty" for number, hint in enumerate(hints, 1) if not (isinstance(hint, str) and hint.strip())]
    if task.get("owner", OWNERS[0]) not in OWNERS:
        problems.append(f"owner is {task['owner']!r}, and must be one of {', '.join(OWNERS)}")
    if "stage" in task and task["stage"] not in stages():
        problems.append(f"there is no stage {task['stage']!r}; stages are {', '.join(stages())}")
    problems += _problems_of_unseen(task)
    repairs, mistakes = _tables(task, "repair"), _tables(task, "mistake")
    if "start" not in task:
        return problems + (["it has repairs or mistakes, and no start that they change"] if repairs or mistakes else [])
    if task["start"] not in CATALOGUE:
        return [*problems, f"its start {task['start']!r} is no fault in helpers/faults.py"]
    problems += [] if repairs else ["no accepted repair is listed"]
    problems += [] if mistakes else ["no tempting wrong repair is listed"]
    problems += _twice("program", [program.get("name") for program in repairs + mistakes])
    for kind, entries, programs in (("repair", REPAIR, repairs), ("mistake", MISTAKE, mistakes)):
        for program in programs:
            problems += [
                f"{kind} {program.get('name')!r}: {problem}" for problem in _problems_of_program(program, kind, entries, task["start"])
            ]
    return problems


def _problems_of_unseen(task: dict) -> list[str]:
    unseen, choices, probes = (task.get(name) or kind() for name, kind in (("unseen", dict), ("choices", list), ("probes", list)))
    if not (isinstance(unseen, dict) and isinstance(choices, list) and isinstance(probes, list)):
        return []  # said already, by their types
    problems = [f"there is no fault {fault!r} in helpers/faults.py" for fault in [*unseen.values(), *choices] if fault not in CATALOGUE]
    problems += [f"there is no probe {probe!r} in helpers/diagnosis.py" for probe in probes if probe not in FIELDS]
    if unseen and not probes:
        problems.append("it has unseen pipelines, and no probes that may give the evidence")
    for name, fault in unseen.items():
        if choices and fault not in choices:
            problems.append(f"the fault {fault} of {name} is not among the choices")
        if fault in CATALOGUE and not {probe for probe, _field in CATALOGUE[fault].evidence} & set(probes):
            problems.append(f"none of its probes shows the fault {fault} of {name}")
    return problems


def _problems_of_program(program: dict, kind: str, entries: dict, start: str) -> list[str]:
    problems = _problems_of_entries(program, entries)
    there = changes_in_catalogue(start, kind).get(program.get("name"))
    change = program.get("change")
    if change is None and there is None:
        problems.append(f"it has no change, and the fault {start} has no {kind} of this name")
    if kind == "mistake" and not (program.get("says") or (there and there[1])):
        problems.append("it has no message that the learner must get: says is empty")
    if not isinstance(change, list):
        return problems
    if not change or not all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair) for pair in change):
        return [*problems, 'change must be a list of ["old text", "new text"]']
    script = CATALOGUE[start].script
    try:
        changed = change_script(script, change)
    except ValueError as error:
        return [*problems, f"its change does not fit the start script: {error}".rstrip(".")]
    return problems + (["its change changes nothing"] if changed == script else [])


def problems_of_files(root: Path, names: list[str]) -> list[str]:
    """Every lesson has its source and its notebooks, and every source and notebook has its lesson."""
    problems = []
    for source, targets in MADE_FROM.items():
        for folder, ending in [(source, ".py"), *[(target, ".ipynb") for _kind, target in targets]]:
            there = {path.stem for path in (root / folder).glob(f"*{ending}")}
            wanted = [name for name in names if folder.startswith("notebooks") or name not in WITHOUT_EXERCISE]
            problems += [f"lesson {name}: {folder}/{name}{ending} is missing" for name in wanted if name not in there]
            problems += [f"{folder}/{name}{ending} belongs to no lesson of the manifest" for name in sorted(there - set(names))]
    return problems


def problems_of_assertions(root: Path, lesson: dict) -> list[str]:
    """The hidden assertions of a lesson's sources are those that the manifest lists: none is lost without a word."""
    found = []
    for folder in MADE_FROM:
        path = root / folder / f"{lesson.get('name')}.py"
        if path.is_file():
            found += re.findall(r'^# %% key="([^"]+)".*"hidden-assertion"', path.read_text(encoding="utf-8"), re.MULTILINE)
    listed = lesson.get("asserted", [])
    if not isinstance(listed, list):
        return []
    return [f"the assertion {key!r} is listed under asserted, and no source has it" for key in listed if key not in found] + [
        f"the assertion {key!r} stands in a source; list it under asserted, so that its loss is noticed"
        for key in found
        if key not in listed
    ]


def problems_of_use(root: Path, names: list[str], unseen: list[str]) -> list[str]:
    """A task is used in the exercise of its lesson, and an unseen pipeline in a source; what a source names is in the manifest."""
    texts = {path: path.read_text(encoding="utf-8") for folder in MADE_FROM for path in sorted((root / folder).glob("*.py"))}
    problems = []
    for name in names:
        solution = next(
            (text for path, text in texts.items() if path.parts[-3] == "solutions" and path.name.startswith(f"{name[:2]}_")), None
        )
        if solution is not None and f'"{name}"' not in solution:
            problems.append(f"task {name}: no cell of its exercise names it, neither for a check nor for a hint")
    for name in unseen if texts else []:
        if not any(f'"{name}"' in text for text in texts.values()):
            problems.append(f"no cell names the unseen pipeline {name}")
    for path, text in texts.items():
        used = {found[1]: text.count("\n", 0, found.start()) + 1 for found in re.finditer(r'["\']([0-9]{2}/[a-z0-9_]+)["\']', text)}
        place = path.relative_to(root).as_posix()
        problems += [
            f"{place}:{line} names the task {name}, which the manifest has not"
            for name, line in used.items()
            if name not in [*names, *unseen]
        ]
    return problems


def stages() -> tuple[str, ...]:
    from helpers.probes.walk import STAGES

    return STAGES


def _problems_of_entries(table: dict, entries: dict) -> list[str]:
    problems = [f"the entry {name!r} is unknown (known: {', '.join(entries)})" for name in table if name not in entries]
    for name, (kind, must) in entries.items():
        if name not in table:
            problems += [f"{name} is missing"] if must else []
        elif not isinstance(table[name], kind) or isinstance(table[name], bool):
            problems.append(f"{name} must be {'a text' if kind is str else 'a whole number' if kind is int else 'a list'}")
        elif kind is str and not table[name].strip():
            problems.append(f"{name} is empty")
        elif name in ("task", "repair", "mistake") and not _is_list_of_tables(table[name]):
            problems.append(f"{name} must be written as [[…{name}]]")
    return problems


def _tables(table: dict, name: str) -> list[dict]:
    return table[name] if _is_list_of_tables(table.get(name)) else []


def _is_list_of_tables(thing) -> bool:
    return isinstance(thing, list) and all(isinstance(part, dict) for part in thing)


def _twice(kind: str, names: list) -> list[str]:
    counts = Counter(name for name in names if isinstance(name, str))
    return [f"the {kind} name {name!r} is used {count} times" for name, count in counts.items() if count > 1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.build.course_check", description="Check course.toml.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder that holds course.toml")
    problems = check(parser.parse_args(arguments).root)
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
        return 1
    print("course.toml is in order.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
