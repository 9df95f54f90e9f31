"""The benchmark of wrong rows and of many small files: what it measures, and limits."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from harpia_formats import validate

Modules = Callable[[str], ModuleType]
#: Rows of each file, of which six have different faults in the file of several kinds.
COUNT = 12


def test_every_row_of_a_kind_is_wrong(modules: Modules, tmp_path: Path) -> None:
    """All rows but those of the clean file have an error; some ids may repeat."""
    masses = modules("harness.masses")
    files = masses.files_of(COUNT, tmp_path)
    wrong = {}
    for format_, paths in files.items():
        for kind, path in paths.items():
            report = validate(path, format=format_.partition(",")[0])
            (count,) = report.files
            wrong[format_, kind] = (count.records, int(not report.ok), count.invalid)
    repeated = {"each id twice": COUNT // 2, "one id for all": COUNT - 1}

    assert len(wrong) == len(masses.KINDS) * (len(masses.FORMATS) + 1)
    for (format_, kind), (records, code, invalid) in wrong.items():
        expected = masses.expected(format_, kind)
        assert (records, code) == (COUNT, expected), (format_, kind)
        assert invalid == expected * repeated.get(kind, COUNT), (format_, kind)


def test_small_files_are_valid(modules: Modules, tmp_path: Path) -> None:
    """Aggregates and runs are valid, and of the size of real ones."""
    small_files = modules("data.small_files")
    aggregates, runs = (
        small_files.aggregates(tmp_path, 3),
        small_files.runs(tmp_path, 3),
    )
    sizes = [path.stat().st_size for path in aggregates.rglob("*.json")]

    assert all(11_000 < size < 15_000 for size in sizes)
    for folder, files in ((aggregates, 3), (runs, 6)):
        report = validate(folder)
        assert (len(report.files), report.ok) == (files, True)
        assert {group.code for group in report.groups} <= {"S202"}


def test_every_limit_is_measured(modules: Modules) -> None:
    """The limits are on rows a second, on ratios to the clean file, and on files."""
    masses, measure = modules("harness.masses"), modules("harness.measure")

    def taking(**seconds: float) -> dict[str, Any]:
        return {
            name: measure.Measurement(name, (taken,)) for name, taken in seconds.items()
        }

    rows = taking(**dict.fromkeys(masses.KINDS, 1.0))
    single = taking(
        **{masses.ONE: 1.7, masses.TWO: 1.0, masses.START_UP: 0.1},
        **{masses.LOOP: 0.25, masses.LOOP_ALONE: 0.05},
    )
    bars = masses.bars_of(40_000, {masses.LIMITED: rows}, rows, single, single)
    slow = masses.bars_of(20_000, {masses.LIMITED: rows}, rows, single, single)

    assert [bar.met for bar in bars] == [True] * 14
    assert [bar.met for bar in slow] == [False, *[True] * 13]
    assert [round(bar.figure) for bar in bars if "the loop" in bar.what] == [8]
