"""Show which branches no test takes, of modules whose branches all must be tested.

    python benchmarks/branches.py [--parts framing sink] [--check]

The parts and their tests are those of `mutants.py`. The tests run in a copy of the
checkout, with `coverage` in every process that they start. `--check` ends with 1 where
a branch is not taken; a line with `# pragma: no cover` or `# pragma: no branch` says
itself why it is not.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mutants import PARTS, copied, environment, modules_of, test_files
from report.tables import table

#: Parts whose branches need not all be tested.
SAMPLED = {"validation", "conversion"}
CONFIGURATION = """\
[run]
branch = true
parallel = true
data_file = {folder}/.coverage
patch = _exit, fork
include =
    {modules}
"""
#: Begins to measure in each process that is started; `start` is imported by it.
START = """\
import coverage

coverage.process_startup()
"""


def measured(copy: Path, parts: Iterable[str]) -> dict[str, Any]:
    """Run the tests of parts; return what ran of each of their modules."""
    folder = copy.parent
    modules = [str(copy / each) for part in parts for each in modules_of(part)]
    settings = folder / "coverage.ini"
    names = "\n    ".join(modules)
    settings.write_text(CONFIGURATION.format(folder=folder, modules=names), "utf-8")
    (folder / "start" / "sitecustomize.py").write_text(START, "utf-8")
    # The folder of the benchmarks, with another `coverage`, is not on the path.
    places = (folder / "start", copy, copy / "converters")
    given = {
        **environment(copy),
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "COVERAGE_PROCESS_START": str(settings),
        "HYPOTHESIS_PROFILE": "repeatable",
    }
    words = ["pytest", "-q", "--assert=plain", "-p", "no:cacheprovider"]
    code, text = _run([*words, *test_files(copy, parts)], copy, given)
    if code:
        print(text[-4000:], file=sys.stderr)
    del given["COVERAGE_PROCESS_START"]
    for words in (["combine", "-q"], ["json", "-q", "-o", str(folder / "ran.json")]):
        code, text = _run(["coverage", *words, f"--rcfile={settings}"], folder, given)
        if code:
            sys.exit(text)
    found = json.loads((folder / "ran.json").read_text("utf-8"))["files"]
    return {str((folder / path).relative_to(copy)): found[path] for path in found}


def _run(words: list[str], folder: Path, given: Mapping[str, str]) -> tuple[int, str]:
    """Run a module of Python; return its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=given,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout.decode()


def rows_of(found: Mapping[str, Any], parts: Iterable[str]) -> Iterator[list[str]]:
    """Yield a row for each module: its part, its branches, and what did not run."""
    for part in parts:
        for module in modules_of(part):
            ran = found[module]
            branches = (
                f"{line} to {'exit' if end < 0 else end}"
                for line, end in ran["missing_branches"]
                if line not in ran["missing_lines"]
            )
            missing = ", ".join([*map(str, ran["missing_lines"]), *branches])
            counts = ran["summary"]
            numbers = (counts[name] for name in ("num_statements", "num_branches"))
            yield [part, Path(module).name, *map(str, numbers), missing]


def main() -> int:
    """Measure the parts that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parts = [part for part in PARTS if part not in SAMPLED]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with copied(arguments.keep) as copy:
        found = measured(copy, arguments.parts)
    rows = [*rows_of(found, arguments.parts)]
    print(table(["part", "module", "statements", "branches", "not run"], rows))
    return 1 if arguments.check and any(row[-1] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
