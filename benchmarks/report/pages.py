"""Writing the parts of the benchmark page, each of which has its own run."""

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.candidates import ROOT

PAGE = ROOT / "docs" / "benchmarks" / "benchmark.md"
#: The packages whose versions are written.
PACKAGES = (
    *("harpia-formats", "msgspec", "typer", "rich", "orjson"),
    *("sourcemeta-jsonschema", "jsonschema-rs", "jsonschema"),
)
NOT_YET = "Not measured yet: `{command}`."
SKELETON = """\
# Benchmark of `harpia-formats validate`

Every part of this page was written by the command that it names, and all figures of
a part come from that one run. Ratios are medians over medians of runs by turns: below
1, ours took less. What a ratio is on another machine, only a run there can tell.

"""
CIRCUMSTANCES = """\
- Machine: {system}, {memory} of memory, Python {python}.
- Versions: {versions}.
- Date: {date}, commit {commit}. Load average over five minutes at the end: {load}; the
  more else a machine does, the less the numbers tell.
- Command: `{command}`."""
#: The parts of the page in order, with the command that measures each.
PARTS = {
    "bars": "python benchmarks/validate.py",
    "series": "python benchmarks/validate.py --series",
    "memory": "python benchmarks/validate.py --memory",
    "masses": "python benchmarks/validate.py --masses",
}


def replace_part(page: Path, part: str, text: str) -> None:
    """Replace one part of a page; the other parts are not changed."""
    found = page.read_text(encoding="utf-8") if page.exists() else ""
    if not all(_pattern(name).search(found) for name in PARTS):
        found = skeleton()
    found = _pattern(part).sub(lambda _: _between(part, text), found)
    page.write_text(found, encoding="utf-8")


def skeleton() -> str:
    """Return a page without measurements."""
    parts = [
        _between(part, NOT_YET.format(command=command))
        for part, command in PARTS.items()
    ]
    return SKELETON + "\n\n".join(parts) + "\n"


def _between(part: str, text: str) -> str:
    return f"<!-- {part} -->\n\n{text.strip()}\n\n<!-- end of {part} -->"


def _pattern(part: str) -> re.Pattern[str]:
    return re.compile(f"<!-- {part} -->.*?<!-- end of {part} -->", re.DOTALL)


def circumstances(command: str, packages: Sequence[str] = PACKAGES) -> str:
    """Return a list of the machine, versions, date, commit and command."""
    return CIRCUMSTANCES.format(
        system=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        memory=_memory(),
        python=platform.python_version(),
        versions=", ".join(f"{package} {_version(package)}" for package in packages),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=_commit(),
        load=_load(),
        command=command,
    )


def command_given() -> str:
    """Return the command that runs this program, from the folder of the project."""
    program = Path(sys.argv[0]).name
    return " ".join([f"python benchmarks/{program}", *sys.argv[1:]])


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """Return the commit that the working tree is at, and whether it was changed."""
    words = ("describe", "--always", "--abbrev=12", "--dirty", "--exclude=*")
    command = ["git", *words]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _load() -> str:
    return f"{os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _memory() -> str:
    size = memory_in("MemTotal")
    return "an unknown amount" if size is None else f"{size / 1e9:.0f} GB"


def memory_in(kind: str) -> int | None:
    """Return a size of /proc/meminfo in bytes, None if it is unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith(kind)]
    return found[0] if found else None


def log(what: str) -> None:
    """Print a progress message to standard error."""
    print(what, file=sys.stderr, flush=True)
