"""Functions of a notebook, written out as a script that stands alone: their source, and what they need to run.

A notebook's functions live among all that was ever run in it. What they need is found by following their global names: imports,
constants, other functions, and objects such as a tokenizer, which are written as the statement that made them.
"""

import ast
import dis
import inspect
import linecache
import os
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

from helpers.messages import _
from helpers.probes.frames import is_own

LONGEST = 400  # characters of a constant: what is longer is data, and data stand in a file of their own
LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")  # names that a configuration can have for it


@dataclass
class Script:
    """imports: (module, name, its name here) · parts: what is defined, in the order of need · missing: name -> why it could not be written."""

    imports: set[tuple[str, str, str]] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def write_functions(functions: dict[str, Callable], there: tuple[str, ...] = ()) -> Script:
    """The script that defines ``functions``, by the names that they are to have. ``there``: names that are defined elsewhere."""
    script = Script(seen={*there})
    for name, function in functions.items():
        own_name = getattr(function, "__name__", name)
        add(script, own_name, function, {})
        if own_name != name and own_name not in script.missing:
            script.parts.append(f"{name} = {own_name}")
    return script


def add(script: Script, name: str, value, names: dict) -> None:
    """Write ``name``, after what it needs. ``names``: the global names of the place where it is used, with their values."""
    if name in script.seen:
        return
    script.seen.add(name)
    if is_own_function(value):
        names = names_in(inspect.unwrap(value))
        statement = source_of(value)
    elif is_constant(value):
        statement = f"{name} = {value!r}"
    else:
        statement = statement_of(name, names)
    if statement is None or is_import_of_own(statement):
        script.missing[name] = why_missing(value)
        return
    if statement.startswith(("import ", "from ")):
        script.imports.add(import_of(statement, name))
        return
    for needed in global_names(statement):
        if needed != name and needed in names and not needed.startswith("__"):
            add(script, needed, names[needed], names)
    script.parts.append(statement)


def is_own_function(value) -> bool:
    inner = inspect.unwrap(value) if callable(value) else value
    return isinstance(inner, types.FunctionType) and is_own(inner.__code__.co_filename)


def names_in(function) -> dict:
    """What a function can look up by name: the globals of its module, and the variables of a function around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def is_constant(value) -> bool:
    """Whether ``value`` can be written as it is. A path of this machine is not: what found it is written in its place."""
    if isinstance(value, str) and os.path.isabs(value):
        return False
    try:
        return len(repr(value)) <= LONGEST and same(ast.literal_eval(repr(value)), value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def same(one, other) -> bool:
    return type(one) is type(other) and bool(one == other)


def source_of(function) -> str | None:
    """The definition of a function, with its decorators. None for a lambda, which has no statement of its own, and where there is no text."""
    inner = inspect.unwrap(function)
    try:
        source = textwrap.dedent(inspect.getsource(inner)).strip()
    except (OSError, TypeError):
        return None
    return source if source.startswith(("def ", "@")) else None


def why_missing(value) -> str:
    if isinstance(value, types.ModuleType):
        return _("it is a module of your own")
    if isinstance(value, types.FunctionType):
        return _("it is a function without a text of its own; write it with def")
    return _("it is {kind}, and no statement `name = …` makes it").format(kind=type(value).__name__)


# ---------------------------------------------------------------- statements


def statement_of(name: str, names: dict) -> str | None:
    """The text of the last statement that gave ``name`` its value, among all that was run with the global names ``names``."""
    found = None
    for text in texts_of(names):
        for node in statements(text):
            if name in bound_by(node):
                found = ast.get_source_segment(text, node)
    return found


def texts_of(names: dict) -> list[str]:
    """The cells of a notebook, last those in the order in which they ran; else the script that defines the functions among ``names``."""
    cells = names.get("In")
    if isinstance(cells, list):
        # a cell that is run without a history, as nbval does, is not among In
        files = [file for file in linecache.cache if "ipykernel_" in file or file.startswith("<ipython-input")]
        return ["".join(linecache.getlines(file)) for file in files] + [without_magics(cell) for cell in cells]
    files = {inspect.unwrap(value).__code__.co_filename: None for value in names.values() if is_own_function(value)}
    return ["".join(linecache.getlines(file)) for file in files]


def without_magics(cell: str) -> str:
    """A cell without the lines that only a notebook understands."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in cell.splitlines())


def statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


def bound_by(node: ast.stmt) -> list[str]:
    """The names that a statement gives a value to, where it does so for each on its own."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []


def import_of(statement: str, name: str) -> tuple[str, str, str]:
    """(module, name in it, name here) of one name that an import statement brings. The middle one is empty for a module."""
    node = ast.parse(statement).body[0]
    alias = next(alias for alias in node.names if (alias.asname or alias.name).split(".")[0] == name)
    if isinstance(node, ast.ImportFrom):
        return node.module or "", alias.name, alias.asname or alias.name
    return alias.name, "", alias.asname or ""


def is_import_of_own(statement: str) -> bool:
    """Whether a statement imports a module that others do not have."""
    node = (statements(statement) or [None])[0]
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    module = (getattr(node, "module", None) or node.names[0].name).split(".")[0]
    try:
        spec = find_spec(module)
    except (ValueError, ImportError):
        return False
    return bool(spec and spec.origin and spec.has_location and is_own(spec.origin))


def global_names(statement: str) -> list[str]:
    """The names that a statement looks up outside itself, also inside its functions, in the order of their first use."""
    codes, names = [compile(statement, "<statement>", "exec")], {}
    for code in codes:
        names |= {one.argval: None for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return list(names)


# ---------------------------------------------------------------- the text


def import_lines(imports: set[tuple[str, str, str]]) -> list[str]:
    """The imports as lines. helpers comes first: it chooses Keras 2, before TensorFlow is imported."""
    lines, of_modules = [], {}
    for module, name, here in sorted(imports):
        if name:
            of_modules.setdefault(module, []).append(name if name == here else f"{name} as {here}")
        else:
            lines.append(f"import {module} as {here}" if here else f"import {module}")
    lines += [f"from {module} import {', '.join(names)}" for module, names in of_modules.items()]
    return sorted(lines, key=lambda line: (" helpers" not in line, line.startswith("from"), line))


def with_layers(text: str, layers: int, name: str = LAYERS[0]) -> str:
    """``text`` where each model and each configuration that is loaded has only so many layers: from_pretrained(…, num_hidden_layers=1)."""
    lines = text.splitlines(keepends=True)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and loads_a_model(node)]
    for call in sorted(calls, key=lambda node: (node.end_lineno, node.end_col_offset), reverse=True):
        line = lines[call.end_lineno - 1].encode()
        before, after = line[: call.end_col_offset - 1].decode(), line[call.end_col_offset - 1 :].decode()
        comma = "" if not (call.args or call.keywords) or before.rstrip().endswith((",", "(")) or not before.strip() else ", "
        lines[call.end_lineno - 1] = f"{before}{comma}{name}={layers}{after}"
    return "".join(lines)


def loads_a_model(call: ast.Call) -> bool:
    """TFAutoModelFor….from_pretrained(…), AutoConfig.from_pretrained(…); not the tokenizer's, and not with a configuration that is given."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and function.attr == "from_pretrained" and isinstance(function.value, ast.Name)):
        return False
    return any(part in function.value.id for part in ("Model", "Config")) and "config" not in [keyword.arg for keyword in call.keywords]
