"""Measure what each dependency costs: megabytes on disk, and time to import.

    python benchmarks/dependencies.py [--runs N] [--write]

Run it in an environment with the extras that are to be measured. What a package brings
along is counted if the base installation does not have it. The processor time of an
import (median, without the start of Python) is divided by that of starting Python in
the same run. `--write` writes `docs/benchmarks/dependencies.md`.
"""

import argparse
import re
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from harness.candidates import ROOT
from harness.measure import Candidate, run_of
from report.pages import circumstances
from report.tables import table

OURS = "harpia-formats"
PAGE = ROOT / "docs" / "benchmarks" / "dependencies.md"
#: The extras that people use; the others are for work on this project.
EXTRAS = (
    *("", "zstd", "score", "arrow", "remote", "distributed"),
    *("judge", "report", "haystack"),
)
MARKDOWN = """\
# Dependencies

This page says what each package costs that `pyproject.toml` names: its size on disk,
the size of what it brings along beyond the base installation, and the processor time
of importing it, as a multiple of the time of starting Python. Bytecode is not counted.
Packages of extras are
installed and imported by those who use them only; [why each one is
there](../explanation/decisions.md#packages) is on another page.

{table}

{circumstances}
"""
_requirement = re.compile(r"^([A-Za-z0-9._-]+).*?(?:extra == ['\"]([\w-]+)['\"])?$")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that this project names, and the extra that it is in, "" for none."""

    name: str
    extra: str


def requirements_of(name: str) -> list[Requirement]:
    """Return what an installed distribution requires, itself left out."""
    found = []
    for line in distribution(name).requires or ():
        match = _requirement.match(line)
        if match and normalized(match[1]) != normalized(name):
            found.append(Requirement(normalized(match[1]), match[2] or ""))
    return found


def normalized(name: str) -> str:
    """Return the name of a distribution in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(name: str) -> Distribution | None:
    """Return an installed distribution, None if it is not installed."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def closure(names: Iterable[str]) -> set[str]:
    """Return the installed distributions among `names` and what they require."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found and installed(name) is not None:
            found.add(name)
            left += [each.name for each in requirements_of(name) if not each.extra]
    return found


def megabytes(names: Iterable[str]) -> float:
    """Return the size of the installed files of distributions, without bytecode."""
    size = 0
    for name in names:
        found = distribution(name)
        paths = {str(found.locate_file(path)) for path in found.files or ()}
        for path in paths:
            if not path.endswith(".pyc"):
                file = Path(path)
                size += file.stat().st_size if file.is_file() else 0
    return size / 1e6


def module_of(name: str) -> str:
    """Return the module that a distribution is imported by."""
    found = distribution(name)
    tops = (found.read_text("top_level.txt") or "").split()
    names = [str(path) for path in found.files or ()]
    packages = [each.split("/")[0] for each in names if each.count("/") == 1]
    candidates = [
        *tops,
        *(each for each in packages if "." not in each and "__" not in each),
        *(each.split(".")[0] for each in names if "/" not in each),
    ]
    plain = name.replace("-", "_")
    return plain if plain in candidates else next(iter(candidates), plain)


def import_time(module: str, runs: int) -> float:
    """Return the time of importing a module divided by that of starting Python."""
    start = Candidate("start", (sys.executable, "-c", "pass"))
    importing = Candidate("import", (sys.executable, "-c", f"import {module}"))
    pairs = [(_cpu(start), _cpu(importing)) for _ in range(runs)]
    return statistics.median((both - alone) / alone for alone, both in pairs)


def _cpu(candidate: Candidate) -> float:
    """Return the processor time of one run in seconds."""
    run = run_of(candidate)
    return run.user + run.system


def rows(runs: int) -> Iterator[list[str]]:
    """Yield a row for each package that is installed here."""
    required = requirements_of(OURS)
    base = closure(each.name for each in required if not each.extra)
    seen: set[str] = set()
    for extra in EXTRAS:
        for each in required:
            if each.extra != extra or each.name in seen or not installed(each.name):
                continue
            seen.add(each.name)
            brought = closure([each.name]) - {each.name}
            brought -= base if extra else set()
            yield [
                each.name,
                extra or "base",
                f"{megabytes([each.name]):.1f}",
                f"{megabytes(brought):.1f}" if brought else "",
                str(len(brought)) if brought else "",
                f"{import_time(module_of(each.name), runs):.1f}",
            ]


def main() -> None:
    """Measure, print the table, and write the page if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    names = ["package", "in", "MB", "brings, MB", "brings, packages", "import"]
    found = table(names, rows(arguments.runs))
    print(found)
    if arguments.write:
        text = MARKDOWN.format(
            table=found,
            circumstances=circumstances("python benchmarks/dependencies.py --write"),
        )
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
