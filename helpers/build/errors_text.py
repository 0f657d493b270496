"""One function takes out of a text what differs from run to run and from machine to machine.

``normalise`` is used when outputs are stored in a notebook (helpers/build/notebooks.py) and when a run is compared with
them (tests/nbval_hook.py). What it takes out, and what it leaves:

- colours of the terminal, and what a progress bar has written over
- absolute paths of Linux, macOS and Windows: what stands behind ``site-packages`` is kept, of other paths the file's name
- line numbers in files of libraries. Those of the learner's own cells and scripts (``<own_loss 1>``) are kept: they say
  which line is meant, and they change only when the lesson does
- names and counters that TensorFlow makes up: ``{{node …}}``, ``model_3``, ``__inference_train_function_1234``
- memory addresses, process numbers, the number of the cell in ``In[3]``, durations

What is stored still shows the frames of libraries, as a learner meets them. ``essence`` leaves them out: it is what is compared,
so that another version of a library, or of Python, is no difference while its message is the same. ``without_numbers`` also leaves
out decimal fractions: cells with trained numbers (tag ``band``) are compared that way.
"""

import re

MORE = "…"  # stands for what was taken out; no pattern below matches it
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b")
_SEGMENT = r"[^\\/\s\"'<>|:*?,;()\[\]{}`…]+"  # one folder of a path that stands without quotes
_START = rf"(?:~|[A-Za-z]:|(?:/|\\\\){_SEGMENT})"  # ~ · C: · /home · \\server
_QUOTED_FILE = re.compile(r'(?<=File ")((?:/|~|[A-Za-z]:[\\/]|\\\\)[^"\n]*)(?=")')
_FRAME_FILE = re.compile(r"^(File )((?:/|~|[A-Za-z]:[\\/]|\\\\).*?\.py)(?=:)", re.MULTILINE)
_BARE_PATH = re.compile(rf"(?<![\w/\\:.<>~…-]){_START}(?:[\\/]{_SEGMENT})+[\\/]?")
_OWN_CELL = re.compile(r"(?:^|/)ipykernel_[0-9…]+/[0-9…]+\.py$")
_LIBRARY_HEADER = re.compile(r"^File (?!<).*?\.py:(?:[0-9]+|…)")
_OTHER_HEADER = re.compile(r"^(?:Cell In|File <|Input In)")
_LIBRARY_FRAME = re.compile(r'\s*File "(?!<)[^"]*", line …')
_CONTEXT_LINE = re.compile(r"^(?:-+> ?[0-9]+|\s+[0-9]+)(?=\s|$)")

_RULES = [
    # line numbers in files of libraries
    (re.compile(r'(File "(?!<)[^"\n]*", line )[0-9]+'), rf"\1{MORE}"),
    (re.compile(r"(\.py:)[0-9]+"), rf"\1{MORE}"),
    # what Python and IPython number
    (re.compile(r"\bIn ?\[[0-9]+\]"), f"In[{MORE}]"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}"), f"0x{MORE}"),
    (re.compile(r"\b((?:pid|PID|process)(?: id)?[ =:]+)[0-9]+"), rf"\1{MORE}"),
    (re.compile(r"\btmp(?=[a-z0-9_]*[0-9_])[a-z0-9_]{8}(?![A-Za-z0-9_])"), f"tmp{MORE}"),
    (re.compile(r"(__autograph_generated_file)\w+"), rf"\1{MORE}"),
    # what TensorFlow names and numbers
    (re.compile(r"\{\{(\w+) [^{}\n]*\}\}"), rf"{{{{\1 {MORE}}}}}"),
    (re.compile(r"(__(?:inference|forward|backward|wrapped)_\w*?_)[0-9]+(?:_[0-9]+)*\b"), rf"\1{MORE}"),
    (re.compile(r"(\[Op:\w*?)(?:_[0-9]+)+(?=[\] ])"), r"\1"),
    (re.compile(r"(\[\[[^\[\]\s]*?/_)[0-9]+(?=\]\])"), rf"\1{MORE}"),
    (re.compile(r"\b(tf_[a-z_]*[a-z])_[0-9]+\b"), r"\1"),
    (re.compile(r"\b([A-Z][A-Za-z]*Dataset):[0-9]+"), rf"\1:{MORE}"),
    (re.compile(r"\b((?:model|sequential|functional|dense|dropout|embedding|lambda|adam|sgd|layer_normalization)_)[0-9]+\b"), rf"\1{MORE}"),
    (re.compile(r"(defined at \(most recent call last\):)(?:\n[ \t]+File \"[^\n]*(?:\n[ \t]{3,}(?!File \")[^\n]+)*)+"), rf"\1 {MORE}"),
    # durations: 35s, 180ms/step, ETA: 1:03, 3.2 seconds
    (re.compile(r"\bETA: +[0-9:]+(?=s?\b)"), f"ETA: {MORE}"),
    (re.compile(r"(?<![\w.…])[0-9]+(?:\.[0-9]+)?(?= ?(?:ns|us|µs|ms|s|min|h)(?![\w]))"), MORE),
    (re.compile(r"(?<![\w.…])[0-9]+\.[0-9]+(?= (?:seconds?|minutes?|hours?)\b)"), MORE),
    # an object's identity in HTML
    (re.compile(r"\b(id=[\"'])[^\"'\n]*(?=[\"'])"), rf"\1{MORE}"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), MORE),
    (re.compile(r"\b[0-9a-f]{32}\b"), MORE),
]
_FRACTION = re.compile(r"(?<![\w.…])-?(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE]-[0-9]+)(?![\w])")


def normalise(text: str) -> str:
    """``text`` without what differs between two honest runs. ``normalise(normalise(text)) == normalise(text)``."""
    for _round in range(20):  # one rule may uncover work for another; texts of real runs are settled after one round
        before, text = text, _normalise_once(text)
        if text == before:
            break
    return text


def essence(text: str) -> str:
    """``normalise(text)`` without the frames of libraries that an error's message can hold (in user code: File "…", line …)."""
    kept, frame = [], None  # frame: how far the frame that is left out is indented
    for line in normalise(text).split("\n"):
        indent = len(line) - len(line.lstrip())
        if frame is not None and (not line.strip() or indent > frame):
            continue
        frame = indent if _LIBRARY_FRAME.match(line) else None
        if frame is None:
            kept.append(line)
    return "\n".join(kept)


def without_numbers(text: str) -> str:
    """``essence(text)`` with "…" for every decimal fraction, so that trained numbers are never compared digit by digit.

    Whole numbers stay: rows, shapes, labels, epochs. What range a number must lie in is asserted by the hidden-assertion cell
    that follows the cell with the tag ``band``.
    """
    return _FRACTION.sub(MORE, essence(text))


def _normalise_once(text: str) -> str:
    text = _COLOURS.sub("", text).replace("\r\n", "\n")
    text = "\n".join(_as_seen(line) for line in text.split("\n"))
    text = _QUOTED_FILE.sub(lambda found: _short(found[1]), text)
    text = _FRAME_FILE.sub(lambda found: found[1] + _short(found[2]), text)
    text = _BARE_PATH.sub(lambda found: _short(found[0]), text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return _without_context_numbers(text)


def _as_seen(line: str) -> str:
    """The line as a terminal shows it: backspaces and carriage returns have been obeyed."""
    while "\b" in line:
        line = re.sub(r"[^\x08]?\x08", "", line, count=1)
    parts = [part for part in line.split("\r") if part.strip()]
    return (parts[-1] if parts else "").rstrip()


def _short(path: str) -> str:
    """A path without what is this machine's."""
    path = path.replace("\\", "/")
    if _OWN_CELL.search(path):
        return "<cell>"
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in path:
            return path.rsplit(folder, 1)[1]
    own = re.search(r"(?:^|/)(helpers/(?:\w+/)*\w+\.py)$", path)  # the same, installed or not
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return own[1] if own else f"{MORE}/{name}"


def _without_context_numbers(text: str) -> str:
    """IPython numbers the lines that it shows of a file. In files of libraries the numbers go."""
    lines, in_library = text.split("\n"), False
    for index, line in enumerate(lines):
        if _LIBRARY_HEADER.match(line):
            in_library = True
        elif _OTHER_HEADER.match(line) or not line.strip():
            in_library = False
        elif in_library:
            arrow = line.startswith("-")
            lines[index] = _CONTEXT_LINE.sub("------>" if arrow else "       ", line)
    return "\n".join(lines)
