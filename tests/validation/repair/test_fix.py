"""`harpia_formats.fix`: inputs that are read twice, and options that exclude others."""

import io
from pathlib import Path
from typing import Any

import pytest

import harpia_formats

SCHEMA = {"properties": {"title": {"type": "string"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("rows", "is_repaired", "valid"),
    [(b'{"title":"a"}\n', True, 1), (b'{"titel":"a"}\n', False, 0)],
)
def test_a_stream_is_validated_and_refused_only_if_it_needs_a_repair(
    rows: bytes, *, is_repaired: bool, valid: int
) -> None:
    """Its rows are read twice, though the stream can be read once."""
    report = harpia_formats.fix(io.BytesIO(rows), schema=SCHEMA)

    assert report.report is not None
    assert (not report.failures, report.written) == (is_repaired, ())
    assert [(one.records, one.valid) for one in report.report.files] == [(1, valid)]


@pytest.mark.parametrize("option", [{"min_records": 9}, {"write_baseline": "b.json"}])
def test_a_diff_takes_no_options_of_the_report(
    option: dict[str, Any], tmp_path: Path
) -> None:
    """They would do nothing, since no report is made."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"titel":"a"}\n')
    with pytest.raises(ValueError, match="and diff cannot be combined"):
        harpia_formats.fix(path, schema=SCHEMA, diff=True, **option)
