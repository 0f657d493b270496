"""Is this machine ready for the course?"""

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from helpers.messages import _

PACKAGES = ("tensorflow", "tf-keras", "transformers", "datasets", "ipywidgets")
NEEDED_MEMORY_GB = 1.6
NEEDED_DISK_GB = 0.2


@dataclass(frozen=True)
class Machine:
    ready: bool
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        end = (
            _("This machine is ready.")
            if self.ready
            else _("This machine is not ready: mend what is marked with ✗, then run this cell again.")
        )
        return "\n".join([*self.lines, end])


def check_machine() -> Machine:
    """Versions, Keras 2, cores, free memory (GB), free disk (GB), and the course's own files. Starts no TensorFlow."""
    from helpers import sources

    lines, good = [], True

    def line(ok: bool, text: str):
        nonlocal good
        good &= ok
        lines.append(f"{'✓' if ok else '✗'} {text}")

    line(
        (3, 11) <= sys.version_info[:2] <= (3, 13),
        _("Python {version} (3.11 to 3.13 are tested)").format(version=platform.python_version()),
    )
    for package in PACKAGES:
        try:
            line(True, f"{package} {version(package)}")
        except PackageNotFoundError:
            line(False, _("{package} is missing. Run make lab, or pip install the course.").format(package=package))
    line(os.environ.get("TF_USE_LEGACY_KERAS") == "1", _("tf.keras is Keras 2, which the TensorFlow models of Transformers need"))
    line(True, _("{count} cores").format(count=os.cpu_count()))
    memory = free_memory_gb()
    if memory is not None:
        line(
            memory >= NEEDED_MEMORY_GB,
            _("{free:.1f} GB of memory free (a lesson needs up to {needed} GB)").format(free=memory, needed=NEEDED_MEMORY_GB),
        )
    disk = shutil.disk_usage(Path.cwd()).free / 1e9
    line(disk >= NEEDED_DISK_GB, _("{free:.1f} GB of disk free").format(free=disk))
    try:
        sources.find_checkpoint()
        line(True, _("the course's data and checkpoint: {source}").format(source=sources.assets_source()))
    except Exception as error:
        line(False, str(error))
    return Machine(good, tuple(lines))


def free_memory_gb() -> float | None:
    """Free memory in GB as Linux tells it; None elsewhere."""
    try:
        for row in Path("/proc/meminfo").read_text().splitlines():
            if row.startswith("MemAvailable"):
                return int(row.split()[1]) / 1e6
    except OSError:
        pass
    return None
