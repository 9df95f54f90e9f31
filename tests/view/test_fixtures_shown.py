"""Every file that the project reads can be shown: its rows, records and findings."""

from pathlib import Path
from typing import Any

import pytest

from effort import shares
from harpia_formats import validate
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_details import RowFindings, fields_of_record, row_of
from harpia_formats.view.record_reader import RecordReader
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import (
    FoundFile,
    IndexFailure,
    IndexProgress,
    RowIndex,
    index_file,
)

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(path for path in FIXTURES.glob("*/*/*") if path.parent.name != "fixed")


def opened(path: Path, base: str, format_: str | None) -> tuple[Any, Any]:
    """Return what a file is and its rows, None for one that has none."""
    messages = list(index_file(str(path), ViewOptions(format_), base))
    found = messages[0]
    if isinstance(messages[-1], IndexFailure) or not isinstance(found, FoundFile):
        return found, None
    assert isinstance(messages[-1], IndexProgress)
    assert messages[-1].is_complete
    if found.kind == "nothing":
        return found, None
    text = str(path) if found.rows_of == "file" else f"{base}.copy"
    return (found, messages[-1].after), RowIndex(text, base, found.kind)


def test_fixtures_are_shown(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """Of each file all records that `validate` counts are rows with their findings."""
    for number, path in enumerate(next(shares(FILES))):
        with subtests.test(str(path.relative_to(FIXTURES))):
            format_ = path.parts[-3] if path.parent.name == "named" else None
            shown_as_validated(path, str(tmp_path / str(number)), format_)


def shown_as_validated(path: Path, base: str, format_: str | None) -> None:
    """Assert that a file is shown as `validate` reports it."""
    report = validate(path, format=format_, examples=0, max_problems=0)
    (count,) = report.files[:1]
    found, index = opened(path, base, format_)
    list(scan_file(str(path), ViewOptions(format_), base))
    columns = RecordColumns(base)
    state = columns.state
    assert state.is_complete
    assert state.counts is not None
    assert state.counts["invalid"] == count.invalid
    assert {rule.code: rule.count for rule in state.rules} == {
        group.code: sum(one.count for one in report.groups if one.code == group.code)
        for group in report.groups
    }
    if index is None:
        return
    file, after = found
    # A record that stands in several components is one row for each of them.
    assert index.known == count.records or file.rows_of == "records"
    reader = RecordReader(file)
    findings = RowFindings(file, after, ViewOptions().max_row_bytes, hides_values=False)
    codes = {
        number: {one.code for one in report.problems if one.place.record == number}
        for number in range(1, index.known + 1)
    }
    for number, row in enumerate(index.rows(range(1, index.known + 1)), 1):
        try:
            record = reader.read(row, state.surroundings)
        except ViewError:
            pass
        else:
            row_of(record)
            fields_of_record(record)
        bits = int(columns.column("rules", number, 1)[0])
        known = columns.codes_of(bits)
        assert {rule.code for rule in known} == codes[number]
        shown = findings.of(row, known)
        assert {one["code"] for one in shown} >= codes[number]
    index.close()
