"""Rows and files that the tests of repairs use."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Change, fix

FIXTURES = Path(__file__).parents[3] / "fixtures"

#: Repairs a file; returns its bytes then, and the changes.
Repairer = Callable[..., tuple[bytes, list[Change]]]


@pytest.fixture
def row() -> dict[str, Any]:
    """Return a valid row of EvalEval 0.2.0 with one turn."""
    rows = (FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl").read_text().splitlines()
    found: dict[str, Any] = next(
        value
        for value in map(json.loads, rows)
        if value["interaction_type"] == "single_turn"
    )
    return found


def repaired(
    path: Path, *, unsafe: bool = False, **options: Any
) -> tuple[bytes, list[Change]]:
    """Repair a file in place; return its bytes then, and the changes."""
    report = fix(path, unsafe=unsafe, **options)
    assert report.failures == ()
    return path.read_bytes(), list(report.changes)


@pytest.fixture
def repair() -> Repairer:
    """Return the function that repairs a file in place."""
    return repaired
