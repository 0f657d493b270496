"""Sets up the course's Python environment and starts what was asked for. Only the standard library is needed.

    python tools/setup_env.py [--python PYTHON] [--dry-run] COMMAND [ARGUMENTS]

    lab          open JupyterLab on the start page (ARGUMENTS go to JupyterLab)
    test         all checks and the whole test suite (ARGUMENTS go to pytest)
    test-quick   the checks and the tests that are not slow
    test-oldest  unit tests and lesson 01 with the oldest versions that pyproject.toml allows
    check        sources against notebooks, course.toml, data, linter, formatter
    run          run the environment's Python with ARGUMENTS
    lock         write constraints.txt and constraints-oldest.txt anew

The environment is the folder `.venv`. When --python names a Python of another version than that of `.venv`, it is `.venv-3.12` (or
whichever version) beside it. What was installed is written down in the environment, so the second call installs nothing.
"""
# No f-strings and no annotations: a Python that is too old must still be able to read this file and say so.

import errno
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPPORTED = ((3, 11), (3, 12), (3, 13))
OLDEST = (3, 11)
DISK_GB = 4.0  # 3 GB of packages, and what pip unpacks for a moment
FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
EXTRAS = {"lab": ["lab"], "lock": ["lock"]}  # every other command needs these:
TEST_EXTRAS = ["lab", "test"]
CHECKS = [
    ["-m", "helpers.build.notebooks", "check"],
    ["-m", "helpers.build.course_check"],
    ["-m", "helpers.build.mini_mnli", "--check"],
    ["-m", "helpers.sources", "--check"],
    ["-m", "ruff", "check"],
    ["-m", "ruff", "format", "--check"],
]


class SetupError(Exception):
    """What went wrong, what was expected and what to do next, in one line."""


def say(text):
    print(text)
    sys.stdout.flush()


# --- which Python -----------------------------------------------------------------------------------------------------


def version_of(command):
    """The (major, minor) of a Python and the path of its program, or None when `command` does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
    try:
        answer = subprocess.run([command, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    if answer.returncode != 0 or len(lines) < 2:
        return None
    major, minor = lines[0].split(".")
    return (int(major), int(minor)), lines[1]


def pyenv_path(name):
    """Where pyenv keeps the program `name` of a version that is installed but not switched on, or None."""
    if os.path.basename(name) != name or not shutil.which("pyenv"):
        return None
    whence = subprocess.run(["pyenv", "whence", "--path", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    paths = whence.stdout.decode("utf-8", "replace").split()
    return paths[-1] if paths else None


def look_up(name):
    """(version, path) of the Python called `name`, or None."""
    return version_of(name) or (pyenv_path(name) and version_of(pyenv_path(name))) or None


def in_words(versions):
    names = ["%d.%d" % version for version in versions]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def find_python(named, wanted=SUPPORTED):
    """(version, path) of the Python to build the environment with: the named one, this one, or one on the PATH."""
    advice = "Install one, or name it: make lab PYTHON=/path/to/python{}.{}".format(*wanted[0])
    if named:
        found = look_up(os.path.expanduser(named))
        if found is None:
            raise SetupError("PYTHON={}: no such Python runs here. The course needs Python {}.".format(named, in_words(wanted)))
        if found[0] not in wanted:
            message = "PYTHON={} is Python {}.{}, and the course needs Python {}. {}"
            raise SetupError(message.format(named, found[0][0], found[0][1], in_words(wanted), advice))
        return found
    if sys.version_info[:2] in wanted:
        return tuple(sys.version_info[:2]), sys.executable
    for version in wanted:
        found = look_up("python{}.{}".format(*version))
        if found and found[0] in wanted:
            return found
    message = "The course needs Python {}, and this is Python {}.{} ({}). {}"
    raise SetupError(message.format(in_words(wanted), sys.version_info[0], sys.version_info[1], sys.executable, advice))


# --- the environment --------------------------------------------------------------------------------------------------


def python_in(folder):
    """The path of the Python program of the environment `folder` (a name inside the project)."""
    return os.path.join(ROOT, folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))


def choose(named):
    """(folder, version, path): which environment to use, and the Python to build it with if it must be built."""
    existing = version_of(python_in(".venv"))
    if existing and not named and existing[0] in SUPPORTED:
        return ".venv", existing[0], existing[1]
    version, path = find_python(named)
    if existing and existing[0] != version:
        return ".venv-{}.{}".format(*version), version, path
    return ".venv", version, path


def fingerprint(constraints):
    """A value that changes when the environment must be installed anew: other pins, other ranges, or a project that was moved."""
    digest = hashlib.sha256(ROOT.encode("utf-8"))
    for name in ("pyproject.toml", constraints):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def stamp_path(folder):
    return os.path.join(ROOT, folder, "installed.json")


def read_stamp(folder):
    try:
        with io.open(stamp_path(folder), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def missing_extras(folder, extras, constraints):
    """Which parts are still to be installed; the empty list when the environment is ready."""
    stamp = read_stamp(folder)
    if stamp.get("fingerprint") != fingerprint(constraints) or version_of(python_in(folder)) is None:
        return list(extras)
    return [extra for extra in extras if extra not in stamp.get("extras", [])]


def prepare(folder, version, path, extras, constraints="constraints.txt", dry_run=False):
    """Make the environment `folder` ready; nothing happens when it is ready already. Returns the path of its Python."""
    python = python_in(folder)
    missing = missing_extras(folder, extras, constraints)
    if not missing:
        if dry_run:
            say("{} is ready: nothing to install.".format(folder))
        return python
    have = version_of(python)
    plan = "Installing the course's packages into {} with Python {}.{}".format(folder, *version)
    if dry_run:
        say("{}: would run pip for [{}] with {}.".format(plan, ",".join(missing), constraints))
        return python
    if have is None or have[0] != version:
        check_disk()
        make_venv(folder, path)
    known = [] if read_stamp(folder).get("fingerprint") != fingerprint(constraints) else read_stamp(folder).get("extras", [])
    if os.path.exists(stamp_path(folder)):
        os.remove(stamp_path(folder))  # an interrupted installation must not look finished
    wanted = sorted(set(known) | set(extras))
    say(plan + " (the first time: about 3 minutes, 3 GB on disk) ...")
    started = time.time()
    pip_install(folder, ["-e", ".[{}]".format(",".join(wanted)), "-c", constraints])
    switch_off_news(folder)
    with io.open(stamp_path(folder), "w", encoding="utf-8") as file:
        file.write(json.dumps({"fingerprint": fingerprint(constraints), "extras": wanted}))
    say("Installed in {:.0f} s.".format(time.time() - started))
    return python


def check_disk():
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < DISK_GB:
        message = "Not enough disk space: {:.1f} GB are free in {}, and the course needs {:.0f} GB. Make room, then run the command again."
        raise SetupError(message.format(free, ROOT, DISK_GB))


def make_venv(folder, path):
    target = os.path.join(ROOT, folder)
    if os.path.isdir(target):
        say("{} is not usable (another Python, or a broken one): making it anew.".format(folder))
        shutil.rmtree(target)
    made = subprocess.run([path, "-m", "venv", target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        words = " ".join(made.stdout.decode("utf-8", "replace").split())
        if "ensurepip" in words:
            message = "{} has no venv module. Install it (Debian and Ubuntu: apt install python3-venv), then run the command again."
            raise SetupError(message.format(path))
        raise SetupError(one_line(words, "{} -m venv did not work: {}".format(path, words[-300:])))


def pip_install(folder, arguments):
    """Run pip, show what it is doing every 20 seconds, keep its full output in a log, and tell a failure in one line."""
    log = os.path.join(ROOT, folder, "install.log")
    command = [python_in(folder), "-m", "pip", "install", "--retries", "2", "--no-input", "--progress-bar", "off"]
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONUNBUFFERED="1")
    environment.pop("PYTHONPATH", None)
    with io.open(log, "wb") as file:
        pip = subprocess.Popen(command + arguments, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT)
        started = shown = time.time()
        try:
            while pip.poll() is None:
                time.sleep(0.2)
                if time.time() - shown >= 20:
                    shown = time.time()
                    say("  {:3.0f} s: {}".format(shown - started, current_step(log)))
        except BaseException:
            pip.terminate()
            pip.wait()
            raise
    if pip.returncode != 0:
        with io.open(log, encoding="utf-8", errors="replace") as file:
            output = file.read()
        rest = "pip could not install the packages: {} (full output: {})".format(reason(output), os.path.join(folder, "install.log"))
        raise SetupError(one_line(output, rest))


def reason(output):
    """The line of pip's output that says why it failed: its first ERROR, or the last error of a package that was being built."""
    lines = re.findall(r"(?m)^ERROR: (.*)$", output)[:1] or re.findall(r"(?m)^\s*(\w+Error: .*)$", output)[-1:] or output.split("\n")[-1:]
    return lines[0].strip() or "no reason given"


def current_step(log):
    """The last thing that pip said it was doing, such as `Downloading tensorflow-2.21.0...`."""
    with io.open(log, encoding="utf-8", errors="replace") as file:
        steps = re.findall(r"(?m)^\s*((?:Collecting|Downloading|Using cached|Building|Installing)[^\n]*)", file.read())
    if steps and steps[-1].startswith("Installing collected"):
        return "unpacking {} packages, the longest step".format(steps[-1].count(",") + 1)
    return steps[-1].split(" (from")[0][:100] if steps else "starting pip"


def one_line(output, otherwise):
    """The line for a failed installation: no disk, no network, or `otherwise`."""
    if "No space left on device" in output or "[Errno 28]" in output:
        return "The disk is full: the course needs {:.0f} GB. Make room, then run the command again.".format(DISK_GB)
    signs = "NewConnectionError|ConnectTimeout|ReadTimeout|NameResolution|name resolution|getaddrinfo|Max retries|ProxyError|unreachable"
    if re.search(signs, output):
        return "No network: pip cannot reach the package index. Connect (or set pip's proxy), then run the command again."
    return otherwise


def switch_off_news(folder):
    """Keep JupyterLab from asking a newcomer about news, and from connecting to the outside for them."""
    config = os.path.join(ROOT, folder, "etc", "jupyter", "labconfig")
    if not os.path.isdir(config):
        os.makedirs(config)
    with io.open(os.path.join(config, "page_config.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))


# --- the commands -----------------------------------------------------------------------------------------------------


def lab(python, arguments):
    """Become JupyterLab, with the environment's own kernel (on Windows: wait for it, and return its exit code)."""
    environment = dict(os.environ)
    environment["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel, not one of the same name that the user registered
    workspaces = os.path.join(os.path.dirname(os.path.dirname(python)), "workspaces")
    environment.setdefault("JUPYTERLAB_WORKSPACES_DIR", workspaces)  # other projects' open tabs stay out
    page = "/lab/tree/" + FIRST_NOTEBOOK if os.path.exists(os.path.join(ROOT, FIRST_NOTEBOOK)) else "/lab"
    command = [python, "-m", "jupyterlab", "--ServerApp.root_dir=" + ROOT, "--LabApp.default_url=" + page]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    say("Starting JupyterLab on {}. Stop it with Ctrl-C.".format(FIRST_NOTEBOOK))
    os.chdir(ROOT)
    if os.name != "nt":
        os.execve(python, command + arguments, environment)  # so that Ctrl-C and `kill` reach JupyterLab itself
    return subprocess.call(command + arguments, env=environment)


def check(python):
    """Run every check, also after one failed; returns the names of those that failed."""
    failed = []
    for arguments in CHECKS:
        name = " ".join(arguments[1:])
        say("check: " + name)
        if subprocess.call([python] + arguments, cwd=ROOT) != 0:
            failed.append(name)
    return failed


def notebooks(pattern="*.ipynb"):
    folders = ("notebooks", "exercises", "solutions")
    return [os.path.relpath(path, ROOT) for folder in folders for path in sorted(glob.glob(os.path.join(ROOT, folder, pattern)))]


def run_pytest(python, arguments):
    """Run pytest with two workers, where there are two cores, and share the cores between them."""
    cores = os.cpu_count() or 1
    workers = ["-n", "2", "--dist", "loadscope"] if cores > 1 else []  # a worker takes about 1 GB, and as much for its notebook's kernel
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        environment.setdefault(name, str(max(1, cores // 2)))  # two TensorFlows that each want every core slow each other down
    return subprocess.call([python, "-m", "pytest"] + workers + arguments, cwd=ROOT, env=environment)


def run_tests(python, arguments, selection, with_checks=True):
    """The checks, then pytest over `selection`. Returns the exit code; pytest's summary stays the last line when all is well."""
    failed = check(python) if with_checks else []
    code = run_pytest(python, selection + arguments)
    if failed:
        say("These checks failed: " + "; ".join(failed))
    return code or (1 if failed else 0)


def main(argv):
    named, dry_run, rest = None, False, list(argv)
    while rest and rest[0].startswith("--"):
        option = rest.pop(0)
        if option == "--dry-run":
            dry_run = True
        elif option == "--python" and rest:
            named = rest.pop(0) or None
        else:
            raise SetupError("{} is not an option of this script. Usage: {}".format(option, __doc__.splitlines()[2].strip()))
    commands = ("lab", "test", "test-quick", "test-oldest", "check", "run", "lock")
    command, arguments = (rest[0], rest[1:]) if rest else ("", [])
    if command not in commands:
        raise SetupError("{!r} is not a command. Commands: {}.".format(command, ", ".join(commands)))
    if command != "run" and "--dry-run" in arguments:
        dry_run = True
        arguments.remove("--dry-run")

    if command == "test-oldest":
        version, path = find_python(named or "python{}.{}".format(*OLDEST), (OLDEST,))
        folder, constraints = ".venv-oldest", "constraints-oldest.txt"
    else:
        folder, version, path = choose(named)
        constraints = "constraints.txt"
    python = prepare(folder, version, path, EXTRAS.get(command, TEST_EXTRAS), constraints, dry_run)
    if dry_run:
        return 0

    if command == "lab":
        return lab(python, arguments)
    if command == "test":
        return run_tests(python, arguments, ["--nbval", "tests"] + notebooks())
    if command == "test-quick":
        return run_tests(python, arguments, ["-m", "not slow", "tests"])
    if command == "test-oldest":
        return run_tests(python, arguments, ["--nbval", "tests"] + notebooks("01_*.ipynb"), with_checks=False)
    if command == "check":
        return 1 if check(python) else 0
    if command == "lock":
        return subprocess.call([python, os.path.join("tools", "lock.py")] + arguments, cwd=ROOT)
    return subprocess.call([python] + arguments, cwd=ROOT)


if __name__ == "__main__":
    if sys.version_info < (3, 6):
        sys.exit("The course needs Python 3.11, 3.12 or 3.13, and this is Python {}.{}.".format(*sys.version_info[:2]))
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. Run the same command again to go on.")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(one_line("[Errno 28]", ""))
