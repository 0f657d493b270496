"""Make the notebooks from their sources: ``python -m helpers.build.notebooks convert|outputs|check [names…]``.

    notebooks/source/X.py  ->  notebooks/X.ipynb                      a lesson
    solutions/source/X.py  ->  solutions/X.ipynb, exercises/X.ipynb   a worked solution, and the learner's copy

convert   writes the notebooks, in seconds. A cell whose source did not change keeps its outputs.
outputs   converts, runs the notebooks that changed since they last ran (``--all``: every one), and stores what came out, put
          through ``errors_text.normalise``. An exercise is run as it is shipped, and none of its outputs are stored.
check     compares the notebooks byte by byte with a fresh conversion, looks for notebooks that never ran or have no source,
          and for text of a solution in its exercise. Lists every problem; exit code 1.

Without names all notebooks are meant; a name is ``01_the_broken_script`` or ``exercises/01_the_broken_script``.

How to write a source
---------------------
A source is a Python file in jupytext's percent format. It begins with a text cell. Magics and comments stand as they are.

    # %% [markdown]
    # # The title
    # %% key="first-fit" tags=["raises-exception"] error="ValueError"
    model.fit(train)

Tags and metadata are those of helpers/build/cell_rules.py; others are refused:

    tags=["raises-exception"] error="ValueError"   the cell must raise exactly this class
    tags=["hidden-assertion"]    asserts a sentence of the text; folded away in JupyterLab, run by nbval, shows nothing
    tags=["band"]                shows trained numbers: decimal fractions are not compared; the next code cell must be a
                                 hidden-assertion, which asserts the range: assert 0.90 <= accuracy <= 1.00
    tags=["varies"]              shows what differs from machine to machine: it runs, its output is neither stored nor compared
    tags=["check"]               shows a verdict: not passed in the exercise, "Passed…" in the solution
    tags=["task"]                holds solution regions (below); a cell with regions must have it, a cell without must not
    tags=["solution-only"], tags=["exercise-only"]   the cell stands only there; text cells may have these two
    device="CPU"                 what it shows holds on this device; with another one it runs and is not compared
    key="first-fit"              the cell's id. Without it the id is made of the lesson's name, the kind of the cell and its
                                 text, so that it changes with the text; give a key to a cell that others refer to

A cell with the tag ``task`` holds the solution, which runs, and behind it what the learner gets in its place:

    # solution: begin
    columns = ["input_ids", "attention_mask", "labels"]
    # solution: end
    # exercise: begin
    #| columns = ...
    # exercise: end

Each solution region is followed at once by its exercise region. Every line of an exercise region begins with ``#|``, which is
taken off; spaces before it are kept. A region that is nested, unclosed, empty or without its other half stops the build; so does
a comment that looks like one of these four lines and is not.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat

from helpers.build.cell_rules import CELL_SECONDS, KEPT_TYPES, is_kept, problems_of_run, sanitiser, shown_text, tags_of
from helpers.build.errors_text import normalise
from helpers.build.notebook_source import BuildProblems, SourceCell, read_source, split_regions

ROOT = Path(__file__).resolve().parents[2]
# folder of sources -> the notebooks that are made of each: (kind, folder)
MADE_FROM = {
    "notebooks/source": [("lesson", "notebooks")],
    "solutions/source": [("solution", "solutions"), ("exercise", "exercises")],
}
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"},
}
PICTURE_CHARACTERS = 140_000  # of base64: 100 kB of PNG


@dataclass(frozen=True)
class Notebook:
    """A notebook that is made, and what it is made of. Paths are relative to the repository, with "/"."""

    name: str
    kind: str
    source: str
    path: str


def all_notebooks(root: Path) -> list[Notebook]:
    """Every notebook that has a source, in the order of their names."""
    found = []
    for folder, targets in MADE_FROM.items():
        for source in sorted((root / folder).glob("*.py")):
            found += [Notebook(source.stem, kind, f"{folder}/{source.name}", f"{target}/{source.stem}.ipynb") for kind, target in targets]
    return found


def chosen_notebooks(root: Path, names: list[str]) -> list[Notebook]:
    """The notebooks that ``names`` mean; all without names. BuildProblems for a name that means none."""
    notebooks = all_notebooks(root)
    if not names:
        return notebooks
    wanted = [
        name.replace("\\", "/").removeprefix("./").removesuffix(".ipynb").removesuffix(".py").replace("/source/", "/") for name in names
    ]
    known = {name for book in notebooks for name in (book.name, book.path.removesuffix(".ipynb"))}
    unknown = [f"There is no source for {name!r}. There are: {', '.join(sorted(known)) or 'none'}." for name in wanted if name not in known]
    if unknown:
        raise BuildProblems(unknown)
    return [book for book in notebooks if book.name in wanted or book.path.removesuffix(".ipynb") in wanted]


# ---------------------------------------------------------------- convert


def make_notebook(root: Path, book: Notebook, old: nbformat.NotebookNode | None = None) -> nbformat.NotebookNode:
    """A fresh conversion. Cells that ``old`` has with the same id and source keep their outputs (an exercise has none)."""
    cells = [_make_cell(this, book.kind) for this in read_source(root, book.source) if _stands_in(this, book.kind)]
    cells[0].source = f"<!-- generated from {book.source} – do not edit: change the source and run make notebooks -->\n{cells[0].source}"
    course = {"kind": book.kind, "name": book.name, "source": book.source}
    if old is not None:
        before = {cell.get("id"): cell for cell in old.cells if cell.cell_type == "code"}
        for cell in cells:
            same = before.get(cell.id)
            if book.kind != "exercise" and cell.cell_type == "code" and same is not None and same.source == cell.source:
                cell.outputs, cell.execution_count = same.outputs, same.execution_count
        course |= {name: value for name, value in old.metadata.get("course", {}).items() if name in ("executed", "outputs")}
    return nbformat.from_dict({"cells": cells, "metadata": {"course": course, **KERNEL}, "nbformat": 4, "nbformat_minor": 5})


def _stands_in(this: SourceCell, kind: str) -> bool:
    left_out = {"solution": "exercise-only", "exercise": "solution-only"}.get(kind)
    return left_out not in tags_of(this.cell)


def _make_cell(this: SourceCell, kind: str) -> nbformat.NotebookNode:
    source, metadata = this.cell.source, {name: value for name, value in this.cell.metadata.items() if name != "key"}
    if this.cell.cell_type == "markdown":
        return nbformat.from_dict({"cell_type": "markdown", "id": this.id, "metadata": metadata, "source": source})
    left_out = "solution" if kind == "exercise" else "exercise"
    source = "\n".join(line for part in split_regions(source) if part.kind != left_out for line in part.lines)
    if "hidden-assertion" in metadata.get("tags", []):
        metadata |= {"jupyter": {"source_hidden": True}, "tags": [*metadata["tags"], "remove-cell"]}
    return nbformat.from_dict(
        {"cell_type": "code", "execution_count": None, "id": this.id, "metadata": metadata, "outputs": [], "source": source}
    )


def to_text(notebook: nbformat.NotebookNode) -> str:
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def read_notebook(path: Path) -> nbformat.NotebookNode | None:
    """The notebook of a file; None where there is none, or none that can be read."""
    try:
        return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except (OSError, ValueError, nbformat.ValidationError):
        return None


def write(path: Path, notebook: nbformat.NotebookNode) -> bool:
    """Whether the file changed."""
    text = to_text(notebook).encode()
    if path.exists() and path.read_bytes() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return True


def convert(root: Path, books: list[Notebook]) -> None:
    """Write the notebooks. BuildProblems with all problems of all sources; sources without a problem are written all the same."""
    problems, changed = [], 0
    for book in books:
        try:
            new = make_notebook(root, book, read_notebook(root / book.path))
        except BuildProblems as stop:
            problems += [line for line in stop.lines if line not in problems]
            continue
        if write(root / book.path, new):
            changed += 1
            print(f"written: {book.path}")
    if problems:
        raise BuildProblems(problems)
    print(f"{len(books)} notebooks, {changed} changed.")


# ---------------------------------------------------------------- outputs


def _hash(thing) -> str:
    return hashlib.sha256(json.dumps(thing, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def hash_of_code(notebook) -> str:
    return _hash([[cell.id, cell.source, cell.metadata] for cell in notebook.cells if cell.cell_type == "code"])


def hash_of_outputs(notebook) -> str:
    return _hash([[cell.id, cell.execution_count, cell.outputs] for cell in notebook.cells if cell.cell_type == "code"])


def is_stale(notebook) -> bool:
    """Whether its outputs are not those of its cells: it never ran, a cell changed since, or the outputs were edited."""
    course = notebook.metadata.get("course", {})
    return course.get("executed") != hash_of_code(notebook) or course.get("outputs") != hash_of_outputs(notebook)


def outputs(root: Path, books: list[Notebook], everything: bool = False) -> None:
    """Convert, run what is stale, store what came out. BuildProblems with all problems; a notebook with one is not written."""
    convert(root, books)
    problems = []
    for book in books:
        notebook = read_notebook(root / book.path)
        if not everything and not is_stale(notebook):
            continue
        print(f"running: {book.path} …", flush=True)
        started = time.monotonic()
        try:
            store_run(notebook, book, run(notebook, (root / book.path).parent), keep_equal=not everything)
        except BuildProblems as stop:
            problems += [f"{book.path}, {line}" for line in stop.lines]
            print(f"         failed after {time.monotonic() - started:.0f} s")
            continue
        write(root / book.path, notebook)
        print(f"         {time.monotonic() - started:.0f} s")
    if problems:
        raise BuildProblems(problems)


def run(notebook, folder: Path) -> nbformat.NotebookNode:
    """A copy of the notebook, run from top to bottom by a kernel of its own that starts in ``folder``."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    copy = nbformat.reads(nbformat.writes(notebook), as_version=4)
    client = NotebookClient(
        copy,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
        record_timing=False,
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # the kernel's own log; what cells print comes by message
    except CellExecutionError as error:
        cell = next(
            cell
            for cell in copy.cells
            if any(output.output_type == "error" for output in cell.get("outputs", [])) and "raises-exception" not in tags_of(cell)
        )
        raise BuildProblems([f"{which(copy, cell)}: it raised {error.ename}: {normalise(error.evalue)}"]) from None
    except CellTimeoutError:
        raise BuildProblems([f"a cell took longer than {CELL_SECONDS} seconds. Make its work smaller."]) from None
    except DeadKernelError:
        raise BuildProblems(
            ["the kernel died. It may have run out of memory; run the cells one by one in JupyterLab to see which."]
        ) from None
    except NoSuchKernel:
        raise BuildProblems(["there is no Jupyter kernel named python3. Install ipykernel into this environment."]) from None
    return copy


def which(notebook, cell) -> str:
    first = next((line for line in cell.source.split("\n") if line.strip()), "")
    return f"cell {notebook.cells.index(cell) + 1} ({first.strip()[:60]})"


def store_run(notebook, book: Notebook, ran, keep_equal: bool = True) -> None:
    """Put the outputs of ``ran`` into ``notebook``, normalised. ``keep_equal``: outputs that compare equal stay as they were."""
    problems, count = [], 0
    for cell, new in zip(notebook.cells, ran.cells, strict=True):
        if cell.cell_type != "code":
            continue
        problems += [f"{which(notebook, cell)}: {problem}" for problem in problems_of_run(cell, new.outputs, book.kind)]
        count += 1
        if book.kind == "exercise":
            continue
        kept = kept_outputs(cell, new.outputs, count)
        problems += [
            f"{which(notebook, cell)}: a picture is larger than 100 kB; make it smaller."
            for output in kept
            if _picture_size(output) > PICTURE_CHARACTERS
        ]
        if not (keep_equal and cell.execution_count and comparable(cell, cell.outputs) == comparable(cell, kept)):
            cell.outputs = kept
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    if problems:
        raise BuildProblems(problems)
    notebook.metadata.course.executed = hash_of_code(notebook)
    notebook.metadata.course.outputs = hash_of_outputs(notebook)


def kept_outputs(cell, new: list, count: int) -> list:
    """What is stored of the outputs of a run: no stderr, no progress bars, no random identities, nothing of this machine."""
    if "varies" in tags_of(cell):
        return []
    kept = []
    for output in new:
        if not is_kept(output):
            continue
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
            else:
                kept.append(nbformat.from_dict({"name": "stdout", "output_type": "stream", "text": output.text}))
        elif output.output_type == "error":
            kept.append(
                nbformat.v4.new_output(
                    "error",
                    ename=output.ename,
                    evalue=normalise(output.evalue),
                    traceback=normalise("\n".join(output.traceback)).split("\n"),
                )
            )
        else:
            data = {kind: normalise(text) if kind.startswith("text/") else text for kind, text in output.data.items() if kind in KEPT_TYPES}
            extra = {"execution_count": count} if output.output_type == "execute_result" else {}
            kept.append(nbformat.v4.new_output(output.output_type, data=data, **extra))
    for output in kept:
        if output.output_type == "stream":
            output.text = normalise(output.text)
    return kept


def comparable(cell, stored: list) -> list:
    """What nbval would compare of stored outputs."""
    clean = sanitiser(cell)
    return [
        [
            output.output_type,
            output.get("ename"),
            clean(output.get("evalue", "")),
            clean(shown_text(output)),
            sorted(output.get("data", {})),
        ]
        for output in stored
    ]


def _picture_size(output) -> int:
    return len(output.get("data", {}).get("image/png", ""))


# ---------------------------------------------------------------- command line


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.build.notebooks", description="Make the notebooks from their sources.")
    parser.add_argument("command", choices=["convert", "outputs", "check"])
    parser.add_argument("names", nargs="*", help="lessons, for example 01_the_broken_script; all without names")
    parser.add_argument("--all", action="store_true", help="outputs: run every notebook, also those that did not change")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder that holds notebooks/, exercises/ and solutions/")
    options = parser.parse_intermixed_args(arguments)
    try:
        books = chosen_notebooks(options.root, options.names)
        if options.command == "convert":
            convert(options.root, books)
        elif options.command == "outputs":
            outputs(options.root, books, options.all)
        else:
            from helpers.build.notebook_check import check  # it imports this module

            problems = check(options.root, books, orphans=not options.names)
            if problems:
                raise BuildProblems(problems)
            print(f"{len(books)} notebooks agree with their sources.")
    except BuildProblems as stop:
        print(*stop.lines, sep="\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
