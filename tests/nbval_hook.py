"""nbval as a regression test of the course's notebooks: a plugin for pytest (``-p nbval_hook``; the repository's conftest.py loads it).

nbval runs the cells of a notebook and compares what comes out with what is stored. This plugin

- compares through ``errors_text.essence``, cells with the tag ``band`` without decimal fractions; leaves out stderr, pictures,
  progress bars and widget views; and does not compare cells with the tag ``varies``, or with a ``device`` that this machine has not;
- fails a cell that nbval would let pass: one that must raise and does not, or raises another class; one that must be compared and
  was never run; one of which IPython refused a line; one that runs a shell line, whose exit code nobody sees; one whose thread
  died of an exception; a hidden assertion that shows something; an exercise's check that is passed as shipped; a solution's check
  that is not;
- gives a cell 300 seconds, not 2000; runs the kernel in this environment, so that no kernel of the same name elsewhere is taken;
  and refuses to spread the cells of one notebook over several workers.

Out of reach: a handler of a widget that no cell fires (test the function behind it in plain Python), and a thread that fails
after the last cell.
"""

from contextlib import contextmanager

import pytest

from helpers.build.cell_rules import (
    CELL_SECONDS,
    KEPT_TYPES,
    hides_its_exit_code,
    is_compared,
    is_kept,
    problems_of_run,
    problems_of_stderr,
    sanitiser,
    tags_of,
)

NBVAL_SECONDS = 2000  # nbval's own default


def is_cell(item) -> bool:
    return type(item).__name__ == "IPyNbCell"


def pytest_configure(config):
    option = config.option
    if not (getattr(option, "nbval", False) or getattr(option, "nbval_lax", False)):
        return
    if option.nbval_cell_timeout == NBVAL_SECONDS:
        option.nbval_cell_timeout = CELL_SECONDS
    if not option.nbval_kernel_name:
        option.nbval_current_env = True
    spread = getattr(option, "numprocesses", None) and not hasattr(config, "workerinput")
    if spread and option.dist not in ("loadscope", "loadfile"):
        raise pytest.UsageError("The cells of a notebook must run in one process: add --dist loadscope to -n.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """A kernel that was asked for and does not exist is named in one line, before nbval tries to start it."""
    name = item.config.option.nbval_kernel_name if is_cell(item) else None
    if name is None:
        return
    from jupyter_client.kernelspec import KernelSpecManager

    known = sorted(KernelSpecManager().find_kernel_specs())
    if name not in known:
        pytest.fail(f"There is no Jupyter kernel named {name!r}. There are: {', '.join(known)}.", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if not is_cell(item):
        return (yield)
    fail_if(item, problems_before(item))
    prepare_comparison(item)
    with recorded_stderr(item.parent.kernel) as stderr:
        result = yield
    problems = problems_of_run(item.cell, item.test_outputs or [], kind_of(item))
    fail_if(item, problems + [problem for problem in problems_of_stderr("".join(stderr)) if problem not in problems])
    return result


def kind_of(item) -> str:
    """ "lesson", "exercise", "solution", or "" for a notebook that is not the course's."""
    return item.parent.nb.metadata.get("course", {}).get("kind", "")


def fail_if(item, problems: list[str]) -> None:
    if not problems:
        return
    lines = [f"{item.parent.path.name}, cell {item.cell_num} ({item.cell.id}): {problem}" for problem in problems]
    pytest.fail("\n".join([*lines, "", item.cell.source]), pytrace=False)


def problems_before(item) -> list[str]:
    """What can be seen before the cell runs."""
    problems = []
    never_ran = item.cell.execution_count is None
    must_have_run = (
        kind_of(item) in ("lesson", "solution") or (kind_of(item) != "exercise" and item.options["check"]) or asks_to_be_checked(item.cell)
    )
    if never_ran and must_have_run:
        problems.append("it was never run before it was committed, so there is nothing to compare. Run make outputs.")
    if hides_its_exit_code(item.cell.source):
        problems.append("it runs a shell line, whose failure nobody would see. Use subprocess.run([…], check=True).")
    return problems


def asks_to_be_checked(cell) -> bool:
    return "nbval-check-output" in tags_of(cell) or "NBVAL_CHECK_OUTPUT" in cell.source


def prepare_comparison(item) -> None:
    clean, compare = sanitiser(item.cell), item.compare_outputs
    item.sanitize = lambda value: clean(value) if isinstance(value, str) else value
    item.compare_outputs = lambda ran, stored: compare(what_counts(ran), what_counts(stored))
    if not is_compared(item.cell) or kind_of(item) == "exercise":
        item.options["check"] = False


def what_counts(outputs: list) -> list:
    """The outputs without stderr, progress bars, and media types that are not stored. (nbval itself does not compare pictures.)"""
    from nbformat import from_dict

    counting = []
    for output in outputs:
        if not is_kept(output):
            continue
        if "data" in output:
            output = from_dict({**output, "data": {kind: text for kind, text in output["data"].items() if kind in KEPT_TYPES}})
        counting.append(output)
    return counting


@contextmanager
def recorded_stderr(kernel):
    """A list of what is written to stderr meanwhile, also by a thread of an earlier cell: nbval drops what comes late."""
    written, receive = [], kernel.get_message

    def receive_and_record(stream, timeout=None):
        message = receive(stream, timeout=timeout)
        if message["msg_type"] == "stream" and message["content"]["name"] == "stderr":
            written.append(message["content"]["text"])
        return message

    kernel.get_message = receive_and_record
    try:
        yield written
    finally:
        kernel.get_message = receive
