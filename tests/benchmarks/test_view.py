"""The benchmark of the page runs, and on a large file its limit of memory holds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "view.py"


def measures_with(*options: str) -> dict[str, float]:
    """Return the figures that the benchmark prints, by their names."""
    done = subprocess.run(  # noqa: S603 - our own benchmark
        [sys.executable, str(BENCHMARK), *options],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.findall(r"^(?:NOT MET: )?(.+): ([\d,.]+)", done.stdout, re.MULTILINE)
    return {name: float(value.replace(",", "")) for name, value in found}


@pytest.mark.long
def test_the_benchmark_runs_on_a_small_file(tmp_path: Path) -> None:
    """Each figure is measured, and they are written to a page."""
    page = tmp_path / "view.md"
    figures = measures_with("--megabytes", "1", "--output", str(page))
    text = page.read_text(encoding="utf-8")
    assert "any record, median" in figures
    assert all(name in text for name in figures)


@pytest.mark.long
def test_memory_does_not_grow_with_the_file() -> None:
    """On a file of 1 GB no process of the page has more than 150 MB."""
    figures = measures_with("--megabytes", "1000")
    assert figures["peak memory of any process"] <= 150
