"""Inject the faults of `tests/faults/table.toml`, and write what came out as a page.

    python docs/tools/fault_page.py [NUMBER ...] [--long]

Runs the tests of the faults with these numbers, of all without one; with `--long` in
full size, which takes about half an hour. `tests/faults/results.json` keeps the results
of each test, with the version that it was run on, and
`docs/explanation/reliability.md` is written from them. Exits with 1 if a test fails.
"""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from page_examples import ROOT

from harpia_formats import __version__

sys.path.insert(0, str(ROOT / "tests" / "faults" / "helpers"))

from faults import RESULTS, Fault, faults, injecting_tests, number_of

PAGE = ROOT / "docs" / "explanation" / "reliability.md"
START = """\
<!-- Written by `python docs/tools/fault_page.py`. Do not edit. -->
# Reliability

This page lists what can go wrong around harpia-formats, what must come out then, and
what came out when the tests injected it: how often, and on which version. Anyone can
repeat it: `python docs/tools/fault_page.py` injects what every run of the tests does,
`--long` all of it in full size, and both write this page.

The tests of a fault are named by its number, such as `test_03_…`, and lie in
`tests/faults/`. They fail if anything else comes out, and a test that fails has no
result here. Which data is trusted, and what harpia-formats does about data that is not,
is described in [Security](https://github.com/harpia-formats/harpia-formats/blob/main/SECURITY.md);
the limits and the findings of what is beyond them are a page of
[reference](../reference/limits.md).
"""


def main() -> None:
    """Run the tests of the chosen faults, and write their results and the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
    parser.add_argument("--long", action="store_true", help="in full size too")
    arguments = parser.parse_args()
    chosen = set(arguments.numbers)
    tests = {
        name: path
        for name, path in injecting_tests().items()
        if not chosen or number_of(name) in chosen
    }
    if not tests:
        parser.error("no test has such a number")
    with tempfile.TemporaryDirectory() as folder:
        failed = _run_tests(tests, Path(folder), long=arguments.long)
        new = _written_results(Path(folder), long=arguments.long)
    kept = {
        name: result
        for name, result in _known_results().items()
        # A test without a result of this run has failed, or is a long one.
        if name in injecting_tests() and (name not in tests or not failed)
    }
    text = json.dumps(dict(sorted((kept | new).items())), indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(fault_page(), encoding="utf-8")
    sys.exit(failed)


def fault_page() -> str:
    """Return the page as Markdown, with a section for each fault."""
    by_number: dict[int, list[dict[str, Any]]] = {}
    for test, result in _known_results().items():
        by_number.setdefault(number_of(test), []).append(result)
    rows = [(fault, by_number.get(fault.number, [])) for fault in faults()]
    tested = sum(bool(own) for _, own in rows)
    times = sum(sum(_counts(own).values()) for _, own in rows)
    count = f"\n{tested} of {len(rows)} faults have results, of {times:,} injections.\n"
    return START + count + "".join(_section(*row) for row in rows)


def _section(fault: Fault, results: list[dict[str, Any]]) -> str:
    """Return the section of a fault."""
    start = f"\n## {fault.number}. {fault.name}\n\n{fault.wanted}\n\n"
    if not results:
        return start + "No result.\n"
    rows = [
        f"| {_cell(injected)} | {times:,} | {_cell(came_out)} |"
        for (injected, came_out), times in sorted(_counts(results).items())
    ]
    runs = sorted({f"{one['on']}, {one['date']}" for one in results})
    table = ["| injected | times | what came out |", "|---|--:|---|", *rows]
    return start + "\n".join(table) + f"\n\nRun {'; '.join(runs)}.\n"


def _cell(text: str) -> str:
    """Return a text as it stands in a cell of a table in Markdown."""
    return text.replace("|", r"\|").replace("<", "&lt;")


def _counts(results: Iterable[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Return how often what was injected, and what came out, in all results."""
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        for injected, came_out, times in result["injections"]:
            counts[injected, came_out] += times
    return counts


def _run_tests(tests: dict[str, Path], folder: Path, *, long: bool) -> bool:
    """Run the tests, which write their results to the folder; say if one failed."""
    nodes = [f"{path}::{name}" for name, path in tests.items()]
    which = "long or not long" if long else "not long"
    command = [sys.executable, "-m", "pytest", "-q", "-m", which, *nodes]
    environment = os.environ | {"HARPIA_FAULT_RESULTS": str(folder)}
    done = subprocess.run(  # noqa: S603, of files of the checkout
        command, check=False, env=environment, cwd=ROOT
    )
    return done.returncode != 0


def _known_results() -> dict[str, Any]:
    """Return the results that are kept, by test."""
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return results


def _written_results(folder: Path, *, long: bool) -> dict[str, Any]:
    """Return the results that the tests wrote, by test, all cases of one together."""
    size = "in full size" if long else "as each run of the tests has it"
    python = f"Python {platform.python_version()}, {platform.system()}"
    run = {
        "on": f"{size} with harpia-formats {__version__} ({_commit()}), {python}",
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
    }
    by_test: dict[str, list[dict[str, Any]]] = {}
    for path in folder.glob("*.json"):
        written = json.loads(path.read_text(encoding="utf-8"))
        by_test.setdefault(written["test"], []).append(written)
    return {
        test: run
        | {"injections": [[*key, times] for key, times in sorted(_counts(own).items())]}
        for test, own in by_test.items()
    }


def _commit() -> str:
    """Return the short name of the checkout's commit."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    done = subprocess.run(  # noqa: S603, of the checkout
        command, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
