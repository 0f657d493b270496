"""How a probe shows what it found: the numbers in lines, then each finding behind an exclamation mark."""

from helpers.messages import _


def report(lines: list[tuple[str, object]], findings: dict[str, str]) -> str:
    """``lines``: (name, value) · ``findings``: name -> one sentence. A probe without findings says so."""
    width = max(len(name) for name, _value in lines)
    shown = [f"{name:<{width}}  {value}" for name, value in lines]
    return "\n".join(shown + ([f"! {text}" for text in findings.values()] or [_("Nothing found.")]))
