"""Writes constraints.txt and constraints-oldest.txt anew from pyproject.toml: `make lock`.

constraints.txt holds the newest versions that pyproject.toml allows, one file for Python 3.11 to 3.13 on Linux, macOS and Windows.
constraints-oldest.txt holds the oldest versions of what the course itself uses, with today's test tools, for Python 3.11.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILE = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--upgrade", "--no-config", "--no-header", "--annotation-style", "line"]
NEWEST_HEADER = "# The versions that `make lab` and `make test` install, for Python 3.11 to 3.13. Made by `make lock`; do not edit.\n"
OLDEST_HEADER = "# The oldest versions allowed, for `make test-oldest` with Python 3.11. Made by `make lock`; do not edit.\n"


def compile_lock(*arguments: str) -> str:
    """What uv resolves from pyproject.toml; ends the program with uv's own message when there is no solution."""
    result = subprocess.run([*COMPILE, "pyproject.toml", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise SystemExit("uv found no set of versions; its reason stands above. Change pyproject.toml, then run `make lock` again.")
    return result.stdout


def main() -> None:
    # "fewest": one version for all three Pythons wherever one fits, so that outputs are the same on each
    newest = compile_lock("--all-extras", "--universal", "--python-version", "3.11", "--fork-strategy", "fewest")
    (ROOT / "constraints.txt").write_text(NEWEST_HEADER + newest, encoding="utf-8")

    for_311 = ("--python-version", "3.11", "--no-annotate", "--extra", "lab")
    with tempfile.TemporaryDirectory() as folder:
        oldest = Path(folder) / "oldest.txt"
        oldest.write_text(compile_lock(*for_311, "--resolution", "lowest-direct"), encoding="utf-8")
        with_tests = compile_lock(*for_311, "--extra", "test", "--constraints", str(oldest))
    (ROOT / "constraints-oldest.txt").write_text(OLDEST_HEADER + with_tests, encoding="utf-8")
    print("Wrote constraints.txt and constraints-oldest.txt. Now run `make test` and `make test-oldest`.")


if __name__ == "__main__":
    main()
