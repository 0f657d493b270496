"""Checking committed notebooks: they agree with their sources, they ran, and an exercise gives nothing away."""

import itertools
import re
from pathlib import Path

from helpers.build.cell_rules import tags_of
from helpers.build.notebook_source import BuildProblems, SourceCell, place_of, read_source, split_regions
from helpers.build.notebooks import MADE_FROM, Notebook, all_notebooks, is_stale, make_notebook, read_notebook, to_text, which


def check(root: Path, books: list[Notebook], orphans: bool = True) -> list[str]:
    """Every problem of the committed notebooks, one line each."""
    problems = problems_of_orphans(root) if orphans else []
    for book in books:
        try:
            problems += problems_of_notebook(root, book)
        except BuildProblems as stop:
            problems += [line for line in stop.lines if line not in problems]
    return problems


def problems_of_orphans(root: Path) -> list[str]:
    made = {book.path for book in all_notebooks(root)}
    there = [
        path.relative_to(root).as_posix()
        for _kind, folder in sum(MADE_FROM.values(), [])
        for path in sorted((root / folder).glob("*.ipynb"))
    ]
    return [f"{path}: it has no source. Delete it, or write its source." for path in there if path not in made]


def problems_of_notebook(root: Path, book: Notebook) -> list[str]:
    path = root / book.path
    if not path.exists():
        return [f"{book.path}: it is missing. Run make notebooks."]
    committed = read_notebook(path)
    if committed is None:
        return [f"{book.path}: it is not a notebook that can be read. Delete it and run make notebooks."]
    problems = []
    fresh = make_notebook(root, book, committed)
    if to_text(fresh).encode() != path.read_bytes():
        problems.append(
            f"{book.path}: it differs from a fresh conversion of {book.source}: {first_difference(committed, fresh)} Run make notebooks."
        )
    if is_stale(fresh):
        problems.append(f"{book.path}: its cells changed since it last ran, or it never ran. Run make outputs.")
    elif book.kind != "exercise":
        problems += [
            f"{book.path}, {which(fresh, cell)}: it never ran. Run make outputs."
            for cell in fresh.cells
            if cell.cell_type == "code" and cell.execution_count is None
        ]
    if book.kind == "exercise":
        problems += problems_of_leaks(committed, read_source(root, book.source), book)
    return problems


def first_difference(committed, fresh) -> str:
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=False), 1):
        if old.source != new.source:
            pairs = itertools.zip_longest(old.source.split("\n"), new.source.split("\n"), fillvalue="")
            line, (was, now) = next((number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            return f"cell {number}, line {line} is {was!r} and should be {now!r}."
        if old.get("id") != new.id:
            return f"the id of cell {number} is {old.get('id')!r} and should be {new.id!r}."
        if old != new:
            return f"the metadata or outputs of cell {number} differ."
    if len(committed.cells) != len(fresh.cells):
        return f"it has {len(committed.cells)} cells and should have {len(fresh.cells)}."
    return "its metadata or its formatting differ."


def problems_of_leaks(exercise, cells: list[SourceCell], book: Notebook) -> list[str]:
    """Lines of the solution that stand in the exercise, whether in a cell, in its metadata or in an output."""
    texts = [_squeeze(text) for text in _texts_in(exercise.cells) + _texts_in(exercise.metadata)]
    problems = []
    for this in cells:
        for line in _solution_lines(this.cell):
            if any(_squeeze(line) in text for text in texts):
                problems.append(
                    f"{book.path}: it holds a line of the solution ({place_of(book.source, this.line, this.number)}): {line.strip()}"
                )
    return problems


def _solution_lines(cell) -> list[str]:
    """The lines that give a solution away: those of solution regions, and of text for the solution only. Very short ones say nothing.

    Code cells for the solution only are left out: what they call, the exercise may call too. An answer belongs into a region.
    """
    if cell.cell_type == "code":
        lines = [line for part in split_regions(cell.source) if part.kind == "solution" for line in part.lines]
    else:
        lines = cell.source.split("\n") if "solution-only" in tags_of(cell) else []
    return [line for line in lines if len(re.sub(r"\W", "", line)) >= 8 and not re.match(r"\s*(?:import|from)\s", line)]


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().removeprefix("#")).strip()


def _texts_in(thing) -> list[str]:
    if isinstance(thing, str):
        return [thing]
    parts = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else []
    return [text for part in parts for text in _texts_in(part)]
