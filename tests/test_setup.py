"""The set-up: one set of dependencies in every file that names them, and `tools/setup_env.py`, which installs them."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("constraints.txt", "constraints-oldest.txt")
SYSTEMS = (
    {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
    {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
)
posix_only = pytest.mark.skipif(os.name == "nt", reason="the stand-in for Python is a shell script")


def wanted(*extras):
    """The requirement lines of pyproject.toml: what the course needs, and the named extras."""
    return PROJECT["dependencies"] + [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]


def pins(lock, python="3.11", system=SYSTEMS[0]):
    """{package: version} that a lock gives for one Python on one system."""
    lines = [line.split("#")[0].strip() for line in (ROOT / lock).read_text(encoding="utf-8").splitlines()]
    environment = {"python_version": python, "python_full_version": python + ".9", "implementation_name": "cpython", **system}
    found = {}
    for requirement in (Requirement(line) for line in lines if line):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            (pin,) = requirement.specifier
            assert pin.operator == "==", f"{lock}: {requirement} is not one version"
            assert canonicalize_name(requirement.name) not in found, f"{lock}: two versions of {requirement.name} for Python {python}"
            found[canonicalize_name(requirement.name)] = pin.version
    return found


def committed_files():
    """Every file that git has or would take, as text; binary files are left out."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
        paths = [ROOT / name for name in names if name]
    else:  # not a git checkout: leave out environments and caches, which stand in hidden folders
        hidden = re.compile(r"(^|/)(__pycache__|\.(?!ci/|git(ignore|attributes)$))")
        paths = [path for path in ROOT.rglob("*") if not hidden.search(path.relative_to(ROOT).as_posix())]
    for path in paths:
        if path.is_file():
            try:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


# --- the files that name dependencies ---------------------------------------------------------------------------------


def test_environment_yml_says_the_same_as_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, pip_part = environment["dependencies"]
    assert environment["name"] == PROJECT["name"]
    assert python == "python " + PROJECT["requires-python"]
    assert pip == "pip"
    assert pip_part["pip"] == ["-c constraints.txt", *wanted("lab"), "-e ."]


def test_every_dependency_says_why_it_is_there():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = {}
    for line in text.splitlines():
        match = re.fullmatch(r'    "([^"]+)",( # \S.*)?', line)
        if match:
            lines[match[1]] = match[2]
    for requirement in wanted("lab", "test", "lock"):
        assert lines.get(requirement), f"{requirement}: no reason beside it in pyproject.toml"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system["sys_platform"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_pins_every_dependency_within_its_range(python, system):
    locked = pins("constraints.txt", python, system)
    for requirement in map(Requirement, wanted("lab", "test", "lock")):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), f"{requirement}: {locked[requirement.name]}"


def test_the_oldest_lock_holds_the_oldest_versions_allowed():
    locked = pins("constraints-oldest.txt")
    for requirement in map(Requirement, wanted("lab", "test")):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), str(requirement)
    starts = {
        "tensorflow": "2.19.",
        "tf-keras": "2.19.",
        "datasets": "4.0.",
        "ipywidgets": "7.7.",
        "transformers": "4.54.1",
        "numpy": "2.0.",
    }
    assert {name: locked[name] for name, start in starts.items() if not locked[name].startswith(start)} == {}


@pytest.mark.parametrize("lock", LOCKS)
def test_tensorflow_and_tf_keras_are_in_step(lock):
    locked = pins(lock)
    assert locked["tensorflow"].split(".")[:2] == locked["tf-keras"].split(".")[:2]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_package_index(lock):
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        assert not line.startswith("-"), line
        assert "://" not in line, line


def test_no_committed_file_names_a_package_index():
    address = re.compile(r"pypi\.(org|python)|python[h]osted|(extra-)?index[-]url|registry\.npm[j]s|repo\.[a]naconda", re.IGNORECASE)
    assert [name for name, text in committed_files() if address.search(text)] == []


def test_no_committed_file_names_a_path_of_the_machine_it_was_written_on():
    path = re.compile(r"/roo[t]/\.|/wor[k]/main")
    assert [name for name, text in committed_files() if path.search(text)] == []


def test_the_licences_are_the_ones_that_pyproject_names():
    assert PROJECT["license"] == "Apache-2.0 AND CC-BY-4.0"
    assert "Apache License\n                           Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Creative Commons Attribution 4.0 International" in (ROOT / "LICENSE-TEXT.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().splitlines()[-1] == "make test"
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_wheel_holds_the_data_and_the_manifest(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith("debugging_the_training_pipeline-")
    assert {"helpers/__init__.py", "helpers/course.toml", "helpers/assets/mini_mnli/train.jsonl"} <= set(names)
    assert [name for name in names if not name.startswith(("helpers/", "debugging_the_training_pipeline-"))] == []


# --- tools/setup_env.py -----------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    """A folder with what the set-up reads, and nothing installed."""
    (tmp_path / "tools").mkdir()
    for name in ("tools/setup_env.py", "pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def setup_env(project, *arguments):
    """Run the project's set-up script; (exit code, standard output, standard error)."""
    command = [sys.executable, str(project / "tools" / "setup_env.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def module_of(project):
    """The project's set-up script as a module."""
    spec = spec_from_file_location("setup_env_under_test", project / "tools" / "setup_env.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stand_in(path, version, pip_says="", pip_exit=0):
    """A shell script that answers like a Python of `version`, and whose pip prints `pip_says`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = path.with_suffix(".pip")
    words.write_text(pip_says)
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = -c ]; then printf "{version}\\n{path}\\n"; exit 0; fi\ncat "{words}"\nexit {pip_exit}\n', encoding="utf-8"
    )
    path.chmod(0o755)
    return path


def install_for_show(project, extras=("lab",)):
    """Leave `.venv` as an installation leaves it, without packages."""
    venv.create(project / ".venv", with_pip=False, symlinks=os.name != "nt")
    done = {"fingerprint": module_of(project).fingerprint("constraints.txt"), "extras": list(extras)}
    (project / ".venv" / "installed.json").write_text(json.dumps(done))


def one_line(text):
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    return lines[0]


@posix_only
@pytest.mark.parametrize("version", ["3.10", "3.14", "2.7"])
def test_a_python_of_the_wrong_version_is_refused_in_one_line(project, version):
    python = stand_in(project / "python", version)
    code, _, errors = setup_env(project, "--python", str(python), "lab")
    assert code == 1
    assert f"is Python {version}, and the course needs Python 3.11, 3.12 or 3.13." in one_line(errors)
    assert not (project / ".venv").exists()


def test_a_python_that_is_not_there_is_refused_in_one_line(project):
    code, _, errors = setup_env(project, "--python", str(project / "no-such-python"), "test")
    assert code == 1
    assert "no such Python runs here. The course needs Python 3.11, 3.12 or 3.13." in one_line(errors)


@posix_only
@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_make_says_in_one_line_that_there_is_no_python(project):
    shutil.copy(ROOT / "Makefile", project)
    (project / "empty").mkdir()
    done = subprocess.run(
        [shutil.which("make"), "-s", "lab"], cwd=project, env={"PATH": str(project / "empty")}, capture_output=True, text=True
    )
    assert done.returncode != 0
    ours = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert one_line("\n".join(ours)).startswith("No Python found: install Python 3.11, 3.12 or 3.13")


def test_the_script_can_be_read_by_a_python_that_is_too_old():
    tree = ast.parse((ROOT / "tools" / "setup_env.py").read_text(encoding="utf-8"))
    too_new = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match)
    found = [f"line {node.lineno}: {type(node).__name__}" for node in ast.walk(tree) if isinstance(node, too_new)]
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if function.returns or function.args.kwonlyargs or any(argument.annotation for argument in function.args.args):
            found.append(f"line {function.lineno}: {function.name}")
    assert found == []


def test_a_first_call_would_install_and_a_second_would_not(project):
    code, first, _ = setup_env(project, "lab", "--dry-run")
    assert code == 0
    assert "would run pip for [lab] with constraints.txt" in first
    install_for_show(project)
    assert setup_env(project, "lab", "--dry-run") == (0, ".venv is ready: nothing to install.\n", "")


def test_the_tests_packages_come_on_top_of_the_labs(project):
    install_for_show(project)
    assert "would run pip for [test]" in setup_env(project, "test", "--dry-run")[1]
    install_for_show(project, ["lab", "test"])
    assert "nothing to install" in setup_env(project, "test", "--dry-run")[1]


@pytest.mark.parametrize("changed", ["constraints.txt", "pyproject.toml"])
def test_changed_pins_are_installed(project, changed):
    install_for_show(project)
    with open(project / changed, "a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert "would run pip for [lab]" in setup_env(project, "lab", "--dry-run")[1]


def test_a_project_that_was_moved_is_installed_anew(project, tmp_path_factory):
    install_for_show(project)
    moved = tmp_path_factory.mktemp("elsewhere") / "course"
    shutil.move(project, moved)
    assert "would run pip for [lab]" in setup_env(moved, "lab", "--dry-run")[1]


@posix_only
def test_another_python_gets_an_environment_of_its_own(project):
    install_for_show(project)
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.13"
    python = stand_in(project / "python", other)
    assert f"into .venv-{other} with Python {other}" in setup_env(project, "--python", str(python), "test", "--dry-run")[1]


@posix_only
def test_oldest_needs_python_3_11(project):
    python = stand_in(project / "python", "3.12")
    code, _, errors = setup_env(project, "--python", str(python), "test-oldest")
    assert code == 1
    assert "is Python 3.12, and the course needs Python 3.11." in one_line(errors)


@posix_only
@pytest.mark.parametrize(
    "pip_says, line",
    [
        ("WARNING: Retrying after NewConnectionError: [Errno -3] Temporary failure in name resolution\nERROR: No matching", "No network: "),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n", "The disk is full: "),
        ("Collecting a\nERROR: a and b want different c\n", "pip could not install the packages: a and b want different c (full output: "),
    ],
    ids=["no network", "disk full", "anything else"],
)
def test_a_failed_installation_is_told_in_one_line_and_does_not_count_as_done(project, pip_says, line):
    install_for_show(project)
    (project / "constraints.txt").write_text("# other pins\n")
    python = project / ".venv" / "bin" / "python"
    python.unlink()
    stand_in(python, "{}.{}".format(*sys.version_info[:2]), pip_says, pip_exit=1)
    code, _, errors = setup_env(project, "lab")
    assert code == 1
    assert one_line(errors).startswith(line)
    assert not (project / ".venv" / "installed.json").exists()


def test_too_little_disk_space_is_said_before_anything_is_made(project, monkeypatch, capsys):
    module = module_of(project)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**9))
    with pytest.raises(module.SetupError) as error:
        module.main(["lab"])
    assert "Not enough disk space: 1.0 GB are free" in one_line(str(error.value))
    assert not (project / ".venv").exists()


def test_an_unknown_command_is_told_which_there_are(project):
    code, _, errors = setup_env(project, "labs")
    assert code == 1
    assert one_line(errors) == "'labs' is not a command. Commands: lab, test, test-quick, test-oldest, check, run, lock."


@posix_only
def test_jupyterlab_gets_the_arguments_and_the_environments_own_kernel(project):
    install_for_show(project)
    python = project / ".venv" / "bin" / "python"
    python.unlink()
    stand_in(python, "{}.{}".format(*sys.version_info[:2]))
    python.write_text(python.read_text().replace("\ncat ", '\necho "$JUPYTER_PREFER_ENV_PATH" "$@"\ncat '))
    code, output, _ = setup_env(project, "lab", "--no-browser", "--port", "18898")
    assert code == 0
    answer = output.splitlines()[-1]
    assert answer.startswith(f"1 -m jupyterlab --ServerApp.root_dir={project}")
    assert answer.endswith(" --no-browser --port 18898")
