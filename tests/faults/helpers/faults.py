"""The table of faults, and what came out when a test injected one of them.

`table.toml` says for each fault what must come out. A test of it is called
`test_NN_…` by its number, and reports what it injected and what came out to the
fixture `fault`; `docs/tools/fault_page.py` keeps these results in `results.json`.
"""

import ast
import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

FOLDER = Path(__file__).parents[1]
RESULTS = FOLDER / "results.json"
_NUMBER = re.compile(r"test_(\d\d)_")


@dataclass(frozen=True)
class Fault:
    """A row of the table: what goes wrong, and what must come out."""

    number: int
    name: str
    wanted: str


@dataclass
class Injections:
    """What a test injected, what came out, and how often."""

    test: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, injected: str, came_out: str, times: int = 1) -> None:
        """Count one injection, such as `("ENOSPC at a write", "exit code 2")`."""
        self.counts[injected, came_out] += times

    def write(self, folder: Path) -> None:
        """Write the counts of a test that passed as a file of the folder."""
        rows = [[*key, times] for key, times in self.counts.items()]
        text = json.dumps({"test": self.test, "injections": rows})
        # Each case of a test with parameters has a file of its own.
        with NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False) as file:
            file.write(text)


def faults() -> list[Fault]:
    """Return the rows of the table, in the order of their numbers."""
    text = (FOLDER / "table.toml").read_text(encoding="utf-8")
    return [Fault(**row) for row in tomllib.loads(text)["fault"]]


def number_of(test: str) -> int:
    """Return the number of the fault that a test is named by.

    Raises `ValueError` for a name without one.
    """
    if match := _NUMBER.match(test):
        return int(match[1])
    message = f"{test} does not begin with test_NN_, the number of its fault"
    raise ValueError(message)


def injecting_tests() -> dict[str, Path]:
    """Return the tests of faults by name, with the file of each."""
    return {
        node.name: path
        for path in sorted(FOLDER.glob("test_*.py"))
        if path.name != "test_fault_table.py"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
