"""Run tests of mutants that change what is loaded, each in a process of its own.

    python -m mutation.fresh_tests TASK

Such a process is a fork of one that has imported the packages that tests need, but none
of our modules. The file TASK says which mutants, which tests and where results go.
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mutation.changed_modules import MUTANT
from mutation.forked_tests import PATIENCE, TIMES, Fork, Forks, begin, ended

#: Packages that take long to import; one that is missing is not needed.
_PACKAGES = """
    _pytest.fixtures fastjsonschema hypothesis.strategies jsonschema jsonschema_rs
    msgspec numpy orjson pyarrow rapidfuzz rich.table stringzilla typer.testing
""".split()


def _forks(task: dict[str, Any]) -> Forks:
    """Yield a process for each mutant, with what names it."""
    seconds = task["seconds"]
    for mutant in task["mutants"]:
        begun, end = os.pipe()
        folder = tempfile.mkdtemp()
        limit = 5 * PATIENCE + TIMES * sum(seconds[each] for each in mutant["tests"])
        about = {"path": mutant["path"], "number": mutant["number"]}
        pid = os.fork()
        if pid:
            os.close(end)
            yield about, Fork(pid, begun, folder, [limit])
            continue
        code = 3
        try:
            begin({MUTANT: f"{mutant['path']}:{mutant['number']}"})
            words = ["-x", "-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
            words += ["--basetemp", f"{folder}/tests"]
            code = int(pytest.main([*words, *mutant["tests"]]))
        finally:
            os._exit(code)


def _results(path: str) -> Iterator[dict[str, Any]]:
    """Yield what came out for each mutant of a task."""
    task = json.loads(Path(path).read_text("utf-8"))
    for name in _PACKAGES:
        with contextlib.suppress(ImportError):
            import_module(name)
    with Path(task["results"]).open("a", encoding="utf-8") as file:
        for result in ended(_forks(task), task["jobs"]):
            file.write(json.dumps(result) + "\n")
            file.flush()
            yield result


if __name__ == "__main__":
    for _ in _results(sys.argv[1]):
        pass
