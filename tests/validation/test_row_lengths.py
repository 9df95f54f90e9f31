"""The lengths of rows, which are counted for HTML reports only."""

from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from worker_units import small_units


def counted(lengths: Any) -> tuple[int, int, int, int]:
    """Return how many lengths were counted, the least, the most and their sum."""
    return lengths.total, lengths.least, lengths.most, lengths.sum


def of_rows(lengths: list[int]) -> tuple[int, int, int, int]:
    """Return the same of the lengths of rows, without what counts them."""
    return len(lengths), min(lengths), max(lengths), sum(lengths)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": "bad"}\n{"a"\n{}'),
        ("a.json", '[{"a": 1}, {"a": "bad"}, {"a" }, {}]'),
    ],
)
def test_lengths_are_those_of_rows_as_they_are(
    tmp_path: Path, name: str, text: str
) -> None:
    """Blank lines do not count; invalid and broken rows do, where they are rows."""
    path = tmp_path / name
    path.write_text(text)
    report = harpia_formats.validate(path, schema=_SCHEMA, row_lengths=True)
    expected = [8, 12, 4, 2] if name == "a.jsonl" else [8, 12, 6, 2]
    assert counted(report.files[0].lengths) == of_rows(expected)


def test_lengths_are_counted_only_on_request(tmp_path: Path) -> None:
    """Without the option there is nothing to count."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n')
    assert harpia_formats.validate(path, schema=_SCHEMA).files[0].lengths is None


@pytest.mark.parametrize("files", [1, 40], ids=["a large file", "small files"])
def test_workers_count_the_same_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """The counts of all processes together are those of one."""
    small_units(monkeypatch, 50_000, whole_files=50_000)
    rows = [
        f'{{"a": {"1" * (number % 300 + 1)}}}\n' for number in range(6_000 // files)
    ]
    for number in range(files):
        (tmp_path / f"{number}.jsonl").write_text("".join(rows))
    one, two = (
        harpia_formats.validate(tmp_path, schema=_SCHEMA, row_lengths=True, jobs=jobs)
        for jobs in (1, 2)
    )
    expected = of_rows([len(row) - 1 for row in rows])
    assert [counted(file.lengths) for file in one.files] == [expected] * files
    assert one.files == two.files


_SCHEMA = {"properties": {"a": {"type": "number"}}}
