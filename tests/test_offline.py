"""With the default assets no connection leaves 127.0.0.1. Two witnesses, and each is shown to see an attempt.

* a guard in Python (a sitecustomize that every child process loads too) refuses and notes every look-up and connection elsewhere;
* strace, where there is one, notes every connection of the process and its children, also those of compiled libraries.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUARD = """
import os, socket, sys

LOOPBACK = ("127.", "::1", "localhost")

def refuse(what, address):
    if str(address).startswith(LOOPBACK):
        return
    with open(os.environ["GUARD_NOTES"], "a") as notes:
        notes.write(f"{what} {address}\\n")
    raise OSError(f"the guard refused: {what} {address}")

def guarded(owner, name, address_of):
    original = getattr(owner, name)
    def call(*arguments, **options):
        address = address_of(*arguments)
        if address is not None:
            refuse(name, address)
        return original(*arguments, **options)
    setattr(owner, name, call)

def of_socket(self, *arguments):
    return arguments[-1][0] if isinstance(arguments[-1], tuple) else None  # a str is a socket in the file system

class Socket(socket.socket):
    pass

for name in ("connect", "connect_ex", "sendto"):
    guarded(Socket, name, of_socket)
socket.socket = Socket
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
    guarded(socket, name, lambda host, *rest: host)
"""
# What a learner does: data, tokenizer, model, one training step, an evaluation, and a probe, all from the lesson's own script.
LESSON = """
import helpers
script = helpers.healthy_script()
pipeline = helpers.pipeline_from_script(script)
raw = pipeline.load()
tokenized = pipeline.tokenize(raw.filter(lambda row: row["idx"] < 32))
train, validation = pipeline.batch(tokenized)
model = pipeline.build_model()
pipeline.compile_model(model)
history = pipeline.fit(model, train.take(1), validation.take(1))
print("LOSS", history.history["loss"][0])
print("ROWS", [split.num_rows for split in raw.values()])
"""
LIBRARY_SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "COURSE_ASSETS", "HF_HOME")


def watched(code: str, folder: Path, strace: list[str] = (), seconds: int = 400, **environment) -> tuple[str, str, str]:
    """Runs code in a guarded subprocess, under strace if its command is given: (what it printed, the guard's notes, the trace)."""
    (folder / "guard").mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(GUARD)
    notes, trace = folder / "notes.txt", folder / "trace.txt"
    settings = {name: value for name, value in os.environ.items() if name not in LIBRARY_SWITCHES}
    settings |= {"PYTHONPATH": str(folder / "guard"), "GUARD_NOTES": str(notes), "HF_HOME": str(folder / "home"), **environment}
    command = [*strace, *(["-o", str(trace)] if strace else []), sys.executable, "-c", code]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=seconds, cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout, *(path.read_text() if path.exists() else "" for path in (notes, trace))


def strace_command() -> list[str]:
    """Empty where strace is not to be had."""
    strace = shutil.which("strace")
    watch = [strace, "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg"]
    if strace is None or subprocess.run([*watch, "-o", os.devnull, sys.executable, "-c", ""], capture_output=True).returncode != 0:
        return []
    return watch


needs_strace = pytest.mark.skipif(
    not strace_command(), reason="strace is missing or may not trace here: the network calls of compiled libraries are not watched"
)


def addresses_in(trace: str) -> set[str]:
    """The internet addresses, loopback left out, that a trace's calls name."""
    found = re.findall(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', trace)
    return {address for pair in found for address in pair if address and not address.startswith(("127.", "::1"))}


# ---------------------------------------------------------------- a lesson


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """One run for both witnesses, with the libraries' own offline switches off: it must not be they that keep it at home."""
    off = dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"), "0")
    return watched(LESSON, tmp_path_factory.mktemp("lesson"), strace_command(), **off)


@pytest.mark.slow
@pytest.mark.trains
def test_a_lesson_looks_up_no_name_and_makes_no_connection(lesson):
    printed, notes, _trace = lesson
    assert re.search(r"LOSS \d\.\d+", printed), printed
    assert "ROWS [2400, 750, 750]" in printed
    assert notes == ""


@pytest.mark.slow
@pytest.mark.trains
@needs_strace
def test_strace_sees_no_connection_of_a_lesson_either(lesson):
    _printed, _notes, trace = lesson
    assert addresses_in(trace) == set()


# ---------------------------------------------------------------- the witnesses can see


def test_the_guard_sees_and_refuses_a_connection_also_of_a_library_and_of_a_child_process(tmp_path):
    code = """
import socket, subprocess, sys
try:
    socket.create_connection(("192.0.2.1", 9), timeout=1)
except OSError as error:
    print("direct:", error)
from huggingface_hub import HfApi
try:
    HfApi(endpoint="http://hub.invalid").model_info("distilbert/distilbert-base-uncased", timeout=1)
except Exception as error:
    print("library:", "the guard refused" in str(error))
child = "import socket; s = socket.socket(); print('child:', end=' ', flush=True); s.connect(('192.0.2.2', 9))"
done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
print(done.stdout, done.returncode, "the guard refused" in done.stderr)
here = socket.socket(); here.bind(("127.0.0.1", 0)); here.listen()
socket.create_connection(here.getsockname(), timeout=1); print("loopback: allowed")
"""
    printed, notes, _trace = watched(code, tmp_path)
    assert "direct: the guard refused: getaddrinfo 192.0.2.1" in printed
    assert "library: True" in printed
    assert "child:  1 True" in printed
    assert "loopback: allowed" in printed
    assert notes == "getaddrinfo 192.0.2.1\ngetaddrinfo hub.invalid\nconnect 192.0.2.2\n"


@needs_strace
def test_strace_sees_a_connection_also_of_a_child_process(tmp_path):
    """Without the guard's patches (-S leaves sitecustomize out). connect() on a UDP socket names an address and sends nothing."""
    child = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.7', 9))"
    code = f"""
import os, socket, subprocess, sys
assert "GUARD_NOTES" in os.environ and socket.socket.__module__ == "sitecustomize"
plain = socket.socket.__base__
for address in ("192.0.2.1", "127.0.0.1"):
    try:
        plain(socket.AF_INET, socket.SOCK_DGRAM).connect((address, 9))
    except OSError:
        pass
subprocess.run([sys.executable, "-S", "-c", {child!r}], capture_output=True)
"""
    _printed, notes, trace = watched(code, tmp_path, strace_command())
    assert addresses_in(trace) == {"192.0.2.1", "192.0.2.7"}
    assert "127.0.0.1" in trace
    assert notes == ""
