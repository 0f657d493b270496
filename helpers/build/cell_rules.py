"""What a cell of the course may be and must do: its tags, and what must come out when it runs.

``make outputs`` and the nbval hook both judge a run with ``problems_of_run``, so that what is stored is what is accepted.
"""

import ast
import re

from helpers.build.errors_text import essence, without_numbers

# tag -> what it says
TAGS = {
    "raises-exception": 'the cell must raise; error="ClassName" beside it names the class',
    "hidden-assertion": "the cell asserts a sentence of the text; its code is folded away in JupyterLab, and it shows nothing",
    "band": "trained numbers: compared without their decimal fractions; the next code cell is the hidden-assertion of their range",
    "varies": "what it shows differs from machine to machine: it runs, and its output is neither stored nor compared",
    "task": "the cell holds solution regions, which the exercise replaces",
    "check": "the cell ends with a verdict of a check: not passed in the exercise, passed in the solution",
    "solution-only": "the cell stands in the solution and not in the exercise",
    "exercise-only": "the cell stands in the exercise and not in the solution",
}
# metadata -> what it says
METADATA = {
    "key": "a stable name of the cell, unique in its notebook; it becomes the cell's id",
    "tags": "a list of the tags above",
    "error": "the class of the error that a raises-exception cell must raise",
    "device": 'the device that the output depends on, "CPU" or "GPU": with another, the cell runs and is not compared',
}
DEVICES = ("CPU", "GPU")
CELL_SECONDS = 300  # a cell that takes longer has hung
PASSED = "Passed"  # what the repr of a passed verdict begins with (helpers/verdict.py)
# Media types that are kept in a notebook. Others, such as widget views, hold random identities.
KEPT_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/png")
_PROGRESS_BAR = re.compile(r".*\b[0-9]+%\|.*\| [0-9.]+[kMG]?/[0-9.]+[kMG]? \[")  # tqdm's, which shows as a widget


def tags_of(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def problems_of_source(cell) -> list[str]:
    """What is wrong with a cell of a source, whatever notebook it goes into. Each problem is one line."""
    tags, metadata = tags_of(cell), cell.metadata
    problems = [f"its metadata {name!r} is unknown (known: {', '.join(METADATA)})" for name in metadata if name not in METADATA]
    problems += [f"its tag {tag!r} is unknown (known: {', '.join(TAGS)})" for tag in tags if tag not in TAGS]
    if "solution-only" in tags and "exercise-only" in tags:
        problems.append("it is tagged solution-only and exercise-only; it would stand nowhere")
    if ("raises-exception" in tags) != ("error" in metadata):
        problems.append('the tag raises-exception and error="ClassName" belong together')
    if metadata.get("device", "CPU") not in DEVICES:
        problems.append(f"its device is {metadata['device']!r}; it must be one of {', '.join(DEVICES)}")
    if cell.cell_type == "code":
        problems += _problems_of_code(cell)
    elif set(tags) - {"solution-only", "exercise-only"}:
        problems.append("a text cell may only be tagged solution-only or exercise-only")
    return problems


def _problems_of_code(cell) -> list[str]:
    problems = []
    if not cell.source.strip():
        problems.append("it is empty")
    if hides_its_exit_code(cell.source):
        problems.append("it runs a shell line, whose failure nobody would see; use subprocess.run([…], check=True)")
    if "clear_output" in cell.source or "update_display" in cell.source:
        problems.append("clear_output and update_display make outputs that cannot be compared")
    if "hidden-assertion" in tags_of(cell) and not _asserts(cell.source):
        problems.append("it is tagged hidden-assertion and asserts nothing")
    return problems


def _asserts(source: str) -> bool:
    try:
        return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source)))
    except SyntaxError:
        return False


def hides_its_exit_code(source: str) -> bool:
    """Whether a cell runs a shell line in a way that lets a failing command pass: ``!``, ``!!``, ``%sx``, ``%system``, ``%sc``."""
    if not re.search(r"!|%|get_ipython", source):
        return False
    from IPython.core.inputtransformer2 import TransformerManager

    python = TransformerManager().transform_cell(source)
    return bool(re.search(r"get_ipython\(\)\.(?:system|getoutput|run_(?:line|cell)_magic\('(?:sx|system|sc|!)')", python))


def problems_of_run(cell, outputs: list, kind: str) -> list[str]:
    """What is wrong with the outputs of a cell that just ran. ``kind``: "lesson", "exercise" or "solution"; "" for any other notebook.

    What the comparison with stored outputs finds is nbval's job; these are the rules that it does not know.
    """
    tags = tags_of(cell)
    problems = problems_of_stderr(text_of(outputs, "stderr"))
    if "raises-exception" not in tags or on_its_device(cell):
        problems += problems_of_errors(tags, cell.metadata.get("error"), outputs)
    if "hidden-assertion" in tags and any(output.get("name") != "stderr" for output in outputs if output["output_type"] != "error"):
        problems.append("it is a hidden assertion, and shows something.")
    if "check" in tags and kind in ("exercise", "solution"):
        problems += _problems_of_verdict([shown_text(output).strip() for output in outputs], kind)
    return problems


def problems_of_errors(tags: list[str], wanted: str | None, outputs: list) -> list[str]:
    raised = [output["ename"] for output in outputs if output["output_type"] == "error"]
    if "raises-exception" not in tags:
        return [f"it raised {raised[0]}." for _once in raised[:1]]
    if not wanted:
        return ["it must raise (raises-exception), and its metadata does not say what: error is missing."]
    if not raised:
        return [f"it must raise {wanted}, and raised nothing."]
    return [] if raised[0] == wanted else [f"it must raise {wanted}, and raised {raised[0]}."]


def problems_of_stderr(stderr: str) -> list[str]:
    """Failures that a kernel only prints. An exception in a thread that comes after the cell's end is found at the next cell."""
    usage = re.search(r"^UsageError:.*", stderr, re.MULTILINE)
    thread = re.search(r"^Exception in thread .*", stderr, re.MULTILINE)
    problems = [f"IPython refused a line of it: {usage[0]}"] if usage else []
    if thread:
        last = [line for line in stderr[thread.start() :].splitlines() if re.match(r"\w", line)][-1]
        problems.append(f"a thread of it, or of a cell before it, ended with an exception: {last}")
    return problems


def _problems_of_verdict(shown: list[str], kind: str) -> list[str]:
    shown = [text for text in shown if text]
    if not shown:
        return ["it is tagged check, and shows no verdict."]
    passed = [text.startswith(PASSED) for text in shown]
    if kind == "exercise" and any(passed):
        return [f"the check is passed before the learner has done anything: {shown[passed.index(True)].splitlines()[0]}"]
    if kind == "solution" and not all(passed):
        return [f"the check of the solution is not passed: {shown[passed.index(False)].splitlines()[0]}"]
    return []


# ---------------------------------------------------------------- outputs as texts


def shown_text(output) -> str:
    """What an output shows as text; the empty text for stderr, errors and pictures."""
    if output["output_type"] == "stream":
        return output["text"] if output["name"] != "stderr" else ""
    return output.get("data", {}).get("text/plain", "")


def text_of(outputs: list, stream: str) -> str:
    return "".join(output["text"] for output in outputs if output["output_type"] == "stream" and output["name"] == stream)


def is_kept(output) -> bool:
    """Whether an output says anything about the result: neither stderr nor a progress bar does."""
    if output["output_type"] == "stream":
        return output["name"] != "stderr"
    return not _PROGRESS_BAR.match(output.get("data", {}).get("text/plain", ""))


def sanitiser(cell):
    """The function that makes texts of this cell comparable."""
    return without_numbers if "band" in tags_of(cell) else essence


def has_gpu() -> bool:
    """Whether TensorFlow would find a GPU, asked without starting TensorFlow."""
    import os
    from pathlib import Path

    return os.environ.get("CUDA_VISIBLE_DEVICES") not in ("", "-1") and Path("/dev/nvidiactl").exists()


def on_its_device(cell) -> bool:
    """Whether this machine has the device that the cell depends on, if it depends on one."""
    device = cell.metadata.get("device")
    return device is None or device == ("GPU" if has_gpu() else "CPU")


def is_compared(cell) -> bool:
    """Whether the cell's stored outputs say what must come out on this machine."""
    return "varies" not in tags_of(cell) and on_its_device(cell)
