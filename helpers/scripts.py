"""Scripts as text: change a few lines, show a whole script, show the smallest diff."""

import difflib


class Text(str):
    """A text that a notebook shows as it is, line by line, not as a quoted string."""

    def __repr__(self) -> str:
        return str(self)


def change_script(script: str, changes) -> str:
    """``script`` with each ``(old, new)`` of ``changes`` exchanged. Each ``old`` must stand in it exactly once (ValueError)."""
    for old, new in changes:
        if script.count(old) != 1:
            raise ValueError(f"{old!r} stands {script.count(old)} times in the script, not once.")
        script = script.replace(old, new)
    return script


def show_script(script: str) -> Text:
    """The whole script."""
    return Text(script.strip())


def show_diff(before: str, after: str, context: int = 1) -> Text:
    """The smallest set of lines that turns ``before`` into ``after``: "-" is taken out, "+" is put in."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm=""))[2:]
    return Text("\n".join("…" if line.startswith("@@") else line for line in lines))
