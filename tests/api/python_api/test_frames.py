"""Records as data frames of pandas and polars."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import (
    Record,
    from_table,
    read,
    to_pandas,
    to_polars,
    to_table,
)
from harpia_formats.plugins import filled, records
from written_records import written

FIXTURES = Path(__file__).parents[3] / "fixtures"
FLAT = FIXTURES / "nemo-output/valid/flat.jsonl"


def test_records_become_a_frame_of_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame has a row for each record that is left, without pyarrow of ours."""
    pandas = pytest.importorskip("pandas", reason="needs the extra notebook")
    monkeypatch.delitem(sys.modules, "harpia_formats.files.arrow.tables", raising=False)
    found = read(FLAT)
    next(found)
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    names = list(frame.columns)
    assert frame["prompt"].to_list() == [each.prompt for each in read(FLAT)][1:]
    assert frame["outputs"][0][0]["text"]
    assert list(to_pandas([]).columns) == names
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    monkeypatch.undo()
    assert to_table([]).column_names == names


@examples(15, suppress_health_check=list(HealthCheck))
@given(given_records=st.lists(records().map(filled), min_size=1, max_size=4))
def test_records_come_back_from_polars(given_records: list[Record]) -> None:
    """`from_table` returns the records that `to_polars` was given."""
    pytest.importorskip("polars", reason="needs the extra notebook")
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    back = from_table(to_polars(given_records), format="parquet")

    assert written(back) == written(given_records)


def test_a_file_becomes_a_frame_of_polars() -> None:
    """The frame has a row for each record, and typed columns."""
    polars = pytest.importorskip("polars", reason="needs the extra notebook")
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    frame = read(FLAT).to_polars()

    assert frame.height == sum(1 for _ in read(FLAT))
    assert frame.schema["prompt"] == polars.String


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package there is an error that names it and the extra."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"needs {name}: .*\[notebook\]"):
        getattr(read(FLAT), f"to_{name}")()


def test_records_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    """`read` returns an iterator that can be closed, and says what it is."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(FLAT.read_bytes())
    found = read(path)

    assert next(iter(found)) == next(read(path))
    assert isinstance(next(found), Record)
    found.close()
    assert list(found) == []
    assert repr(found) == "<Records: read when they are asked for>"


def test_what_is_no_record_makes_no_frame() -> None:
    """A dictionary is refused with what it is not."""
    pytest.importorskip("pandas", reason="needs the extra notebook")
    with pytest.raises(TypeError, match="is no Record"):
        to_pandas([{}])  # type: ignore[list-item]  # the mistake
