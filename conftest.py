"""Loads the plugin that makes nbval a regression test, for the tests and for ``pytest --nbval notebooks exercises solutions``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))

pytest_plugins = ["nbval_hook"]
