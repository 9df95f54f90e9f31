"""The lengths of rows, which are counted for HTML reports only."""

from pathlib import Path

import pytest

import harpia_formats
from harpia_formats.model.bins import LengthCounts
from harpia_formats.validation.parallel import ranges, small_files


def _counted(lengths: list[int]) -> LengthCounts:
    found = LengthCounts()
    for length in lengths:
        found.add(length)
    return found


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
    assert report.files[0].lengths == _counted(expected)


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
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0)
    for name in ("MIN_RANGE", "MAX_RANGE", "BUNDLE", "TIMED"):
        monkeypatch.setattr(ranges, name, 50_000)
    monkeypatch.setattr(small_files, "SMALL", 50_000)
    monkeypatch.setattr(small_files, "BATCH", 50_000)
    monkeypatch.setattr(small_files, "WORTH", 0)
    rows = [
        f'{{"a": {"1" * (number % 300 + 1)}}}\n' for number in range(6_000 // files)
    ]
    for number in range(files):
        (tmp_path / f"{number}.jsonl").write_text("".join(rows))
    one, two = (
        harpia_formats.validate(tmp_path, schema=_SCHEMA, row_lengths=True, jobs=jobs)
        for jobs in (1, 2)
    )
    expected = _counted([len(row) - 1 for row in rows])
    assert [file.lengths for file in one.files] == [expected] * files
    assert one.files == two.files


_SCHEMA = {"properties": {"a": {"type": "number"}}}
