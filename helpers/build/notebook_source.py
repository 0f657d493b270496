"""Reading a source of notebooks: its cells, their ids, their solution regions. How one is written: helpers/build/notebooks.py."""

import hashlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from helpers.build.cell_rules import problems_of_source, tags_of

_CELL_MARKER = re.compile(r"#\s*%%(?:\s|$)")
_REGION_MARKER = re.compile(r"\s*# (solution|exercise): (begin|end)")
_LIKE_A_MARKER = re.compile(
    r"\s*#.*\b(?:(?:solution|exercise)s?\W+(?:begin|start|end|stop)|(?:begin|start|end|stop)\W+(?:solution|exercise)s?)\b", re.I
)
_STUB_LINE = re.compile(r"(\s*)#\|(?: (.*))?")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BuildProblems(Exception):
    """``lines``: every problem, one line each (a second, indented line may show the source)."""

    def __init__(self, lines: list[str]):
        super().__init__("\n".join(lines))
        self.lines = lines


@dataclass(frozen=True)
class SourceCell:
    """A cell as it stands in the source. ``line``: of its marker in the file. ``id``: stable from build to build."""

    cell: nbformat.NotebookNode
    line: int
    number: int
    id: str = ""


def read_source(root: Path, source: str) -> list[SourceCell]:
    """The cells of a source, checked. BuildProblems with file, cell and line of everything that is wrong."""
    import jupytext

    text = (root / source).read_text(encoding="utf-8").replace("\r\n", "\n")
    lines = text.split("\n")
    header = lines.index("# ---", 1) + 1 if lines[0] == "# ---" and "# ---" in lines[1:] else 0
    # Without this, jupytext takes the comment "# copy the batch" for a shell command.
    plain = "# ---\n# jupyter:\n#   jupytext:\n#     comment_magics: false\n# ---\n\n"
    try:
        cells = jupytext.reads(plain + "\n".join(lines[header:]), fmt="py:percent").cells
    except nbformat.ValidationError as error:
        raise BuildProblems([f"{source}: the metadata of a cell is refused: {error.message}. Tags are a list of texts."]) from None
    markers = [number for number, line in enumerate(lines, 1) if number > header and _CELL_MARKER.match(line)]
    if len(markers) != len(cells):
        what = f"{source}: {len(markers)} lines begin with # %% and jupytext finds {len(cells)} cells."
        raise BuildProblems([f"{what} Begin the file with # %% [markdown], and no line inside a string with # %%."])
    read, problems = [], []
    for number, (cell, line) in enumerate(zip(cells, markers, strict=True), 1):
        for made_by_jupytext in ("lines_to_next_cell", "cell_marker"):
            cell.metadata.pop(made_by_jupytext, None)
        if "incorrectly_encoded_metadata" in cell.metadata:
            problems.append(
                f"{place_of(source, line, number)}: its metadata cannot be read: {cell.metadata['incorrectly_encoded_metadata']}"
            )
            continue
        read.append(SourceCell(cell, line, number))
    if not read or read[0].cell.cell_type != "markdown" or tags_of(read[0].cell):
        problems.append(f"{source}: the first cell must be text without tags: # %% [markdown], with the title.")
    for this in read:
        place = place_of(source, this.line, this.number)
        if this.cell.cell_type not in ("code", "markdown"):
            problems.append(f"{place}: it is a {this.cell.cell_type} cell; code and markdown are the kinds that there are.")
        problems += [f"{place}: {problem}." for problem in problems_of_source(this.cell)]
        problems += _problems_of_regions(source, this)
    problems += _problems_of_bands(source, read)
    read, id_problems = _with_ids(source, read)
    problems += id_problems
    if problems:
        raise BuildProblems(problems)
    return read


def place_of(source: str, line: int, number: int) -> str:
    return f"{source}:{line}, cell {number}"


def _problems_of_bands(source: str, cells: list[SourceCell]) -> list[str]:
    code = [this for this in cells if this.cell.cell_type == "code"]
    return [
        f"{place_of(source, this.line, this.number)}: it is tagged band, so the next code cell must be the hidden-assertion of its range."
        for this, after in itertools.zip_longest(code, code[1:])
        if "band" in tags_of(this.cell) and (after is None or "hidden-assertion" not in tags_of(after.cell))
    ]


def _with_ids(source: str, cells: list[SourceCell]) -> tuple[list[SourceCell], list[str]]:
    name, used, problems, named = Path(source).stem, {}, [], []
    for this in cells:
        place = place_of(source, this.line, this.number)
        key = this.cell.metadata.get("key")
        if key is None:
            content = "\n".join([name, this.cell.cell_type, this.cell.source])
            base = hashlib.sha256(content.encode()).hexdigest()[:12]
            cell_id, occurrence = base, 1
            while cell_id in used:
                occurrence += 1
                cell_id = f"{base}-{occurrence}"
        else:
            cell_id = str(key)
            if not _KEY.fullmatch(cell_id):
                problems.append(f"{place}: its key is {key!r}; a key has 1 to 64 letters, digits, - and _.")
            if cell_id in used:
                problems.append(f"{place}: its key {key!r} is also that of cell {used[cell_id]}.")
        used.setdefault(cell_id, this.number)
        named.append(SourceCell(this.cell, this.line, this.number, cell_id))
    return named, problems


# ---------------------------------------------------------------- solution regions


@dataclass(frozen=True)
class Part:
    """kind: "shared", "solution" or "exercise"; lines without the markers; exercise lines without ``#|``."""

    kind: str
    lines: list[str]


class RegionProblem(Exception):
    """``offset``: the line of the cell, from 0."""

    def __init__(self, offset: int, message: str):
        super().__init__(message)
        self.offset = offset


def split_regions(source: str) -> list[Part]:
    """A code cell, cut into its regions. RegionProblem for the first that is wrong."""
    parts, lines, inside, opened = [], [], None, 0
    for offset, line in enumerate(source.split("\n")):
        marker = _REGION_MARKER.fullmatch(line.rstrip())
        if not marker:
            if _LIKE_A_MARKER.match(line):
                raise RegionProblem(
                    offset,
                    'it looks like a marker and is not one; markers are "# solution: begin", "# solution: end" and the same with exercise',
                )
            lines.append(_without_stub_mark(line, offset) if inside == "exercise" else line)
            continue
        kind, edge = marker.groups()
        if edge == "begin":
            if inside:
                raise RegionProblem(offset, f"a {kind} region begins inside the {inside} region of line {opened + 1} of the cell")
            if lines:
                parts.append(Part("shared", lines))
            if kind == "exercise" and (not parts or parts[-1].kind != "solution"):
                raise RegionProblem(offset, "an exercise region must follow its solution region at once")
            if parts and parts[-1].kind == "solution" and kind == "solution":
                raise RegionProblem(offset, "the solution region before it has no exercise region")
            lines, inside, opened = [], kind, offset
        else:
            if inside != kind:
                raise RegionProblem(offset, f"a {kind} region ends here and none is open")
            if not any(text.strip() for text in lines):
                raise RegionProblem(offset, f"this {kind} region is empty")
            parts.append(Part(kind, lines))
            lines, inside = [], None
        if len(parts) > 1 and parts[-2].kind == "solution" and parts[-1].kind == "shared":
            raise RegionProblem(offset, "there is text between a solution region and its exercise region")
    if inside:
        raise RegionProblem(opened, f"this {inside} region is never closed")
    if lines:
        parts.append(Part("shared", lines))
    for part, after in itertools.zip_longest(parts, parts[1:]):
        if part.kind == "solution" and (after is None or after.kind != "exercise"):
            raise RegionProblem(opened, "this solution region is not followed by its exercise region")
    return parts


def _without_stub_mark(line: str, offset: int) -> str:
    stub = _STUB_LINE.fullmatch(line)
    if not stub:
        raise RegionProblem(offset, "a line of an exercise region must begin with #|")
    return (stub[1] + stub[2]) if stub[2] else ""


def _problems_of_regions(source: str, this: SourceCell) -> list[str]:
    """Every problem with file, cell and line, and the line itself below."""
    cell = this.cell
    if cell.cell_type == "markdown":
        like = [text for text in cell.source.split("\n") if _LIKE_A_MARKER.match(text)]
        what = "a region can only stand in a code cell; tag the whole text cell solution-only or exercise-only."
        return [f"{place_of(source, this.line, this.number)}: {what}\n    {text}" for text in like]
    try:
        regions = [part for part in split_regions(cell.source) if part.kind != "shared"]
    except RegionProblem as problem:
        line = cell.source.split("\n")[problem.offset]
        return [f"{place_of(source, this.line + 1 + problem.offset, this.number)}: {problem}.\n    {line.strip()}"]
    place, tags = place_of(source, this.line, this.number), tags_of(cell)
    if regions and "task" not in tags:
        return [f'{place}: it has a solution region, and not the tag that says so: tags=["task"].']
    if "task" in tags and not regions:
        return [f"{place}: it is tagged task, and has no solution region."]
    if regions and ("solution-only" in tags or "exercise-only" in tags):
        return [f"{place}: a cell that stands in one of the two notebooks needs no regions."]
    if regions and source.startswith("notebooks/"):
        return [f"{place}: a lesson has no solution regions; they belong into solutions/source."]
    return []
