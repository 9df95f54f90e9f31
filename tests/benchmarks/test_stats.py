"""The benchmark of statistics: its script counts what is counted."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.mark.parametrize("format_", ["nemo-output", "eee@0.2.0"])
def test_the_script_counts_the_same_lengths(
    modules: Callable[[str], ModuleType],
    format_: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Characters and bytes of each text are those of `stats`."""
    benchmark = modules("stats")
    monkeypatch.setattr(benchmark, "PROVEN", 40)

    benchmark.prove(format_, tmp_path)
