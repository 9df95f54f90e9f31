"""Writing records as tables, and reading them again."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec import to_builtins

from effort import examples
from harpia_formats import (
    ConversionError,
    Record,
    convert,
    detect,
    diff,
    from_table,
    read,
    to_table,
    write,
)
from harpia_formats.api.testing import filled, records
from harpia_formats.conversion.containers import arrow_table
from harpia_formats.conversion.containers.arrow_table import TableWriter, table_writer
from harpia_formats.conversion.containers.row_writer import encode_rows
from harpia_formats.files.arrow.tables import MissingPyarrow
from harpia_formats.model.exact_json import decode, encode

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")

FIXTURES = Path(__file__).parents[3] / "fixtures"
SUFFIXES = ("parquet", "arrow", "feather")


def texts(found: Any) -> list[bytes]:
    """Return records as JSON texts, in which no number is rewritten."""
    return [encode(to_builtins(record)) for record in found]


def table_bytes(suffix: str, rows: list[dict[str, Any]], size: int) -> bytes:
    """Return the file that a writer makes of rows, `size` of them at a time."""
    written: list[bytes] = []
    writer = table_writer(written.append, suffix)
    for start in range(0, len(rows), size):
        writer.add(encode_rows(rows[start : start + size]))
    writer.close({})
    return b"".join(written)


@examples(6, suppress_health_check=list(HealthCheck))
@given(given_records=st.lists(records().map(filled), min_size=1, max_size=4))
def test_written_records_come_back(given_records: list[Record]) -> None:
    """Any records are the same after they were a table, whatever its container."""
    wanted = texts(read(b"\n".join(texts(given_records)), format="record"))
    for suffix in SUFFIXES:
        rows = [decode(text) for text in wanted]
        data = table_bytes(f".{suffix}", rows, 2)
        found = [decode(text) for text in texts(read(data, format="parquet"))]

        assert found == rows


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_suffix_of_the_output_is_its_container(suffix: str, tmp_path: Path) -> None:
    """Parquet, Arrow and Feather are written by the suffix, and detected as records."""
    source = FIXTURES / "tencent-outputs/valid/models.jsonl"
    output = tmp_path / f"out.{suffix}"
    report = convert(source, to="parquet", output=output)
    magic = output.read_bytes()[:4]
    (found,) = detect(output)

    assert report.lossless
    assert magic == (b"PAR1" if suffix == "parquet" else b"ARRO")
    assert found.format == "record"
    assert texts(read(output)) == texts(read(source))
    assert diff(output, source).ok


def test_header_comes_back(tmp_path: Path) -> None:
    """The metrics of a data set are kept, and written again as they were."""
    source = FIXTURES / "harpia/valid/translations.json"
    convert(source, to="parquet", output=tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", to="harpia", output=tmp_path / "back.json")
    back, before = (
        json.loads(path.read_text("utf-8")) for path in (tmp_path / "back.json", source)
    )

    assert back["metrics"] == before["metrics"]


def test_bytes_do_not_depend_on_how_rows_arrive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Row groups have their rows by count and size alone, and none is too large."""
    monkeypatch.setattr(arrow_table, "BATCH_ROWS", 3)
    monkeypatch.setattr(arrow_table, "GROUP_ROWS", 7)
    rows = [to_builtins(Record(id=number, prompt="p" * number)) for number in range(40)]
    files = {table_bytes(".parquet", rows, size) for size in (1, 4, 40)}
    (data,) = files
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    sizes = [
        metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)
    ]

    assert sum(sizes) == 40
    assert max(sizes) <= 9


def test_discarded_rows_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error no more bytes are written, not even a footer."""
    monkeypatch.setattr(arrow_table, "BATCH_ROWS", 1)
    monkeypatch.setattr(arrow_table, "GROUP_ROWS", 1)
    written: list[bytes] = []
    writer = table_writer(written.append, ".parquet")
    writer.add(encode_rows([{"id": number, "outputs": []} for number in range(5)]))
    count = len(written)
    writer.discard()

    assert count > 0
    assert len(written) == count
    assert isinstance(writer, TableWriter)


def test_table_has_no_other_container(tmp_path: Path) -> None:
    """A table is neither an array nor lines."""
    with pytest.raises(ConversionError, match="neither array nor lines"):
        convert(
            FIXTURES / "harpia/valid/translations.json",
            to="parquet",
            output=tmp_path / "a.parquet",
            container="lines",
        )


def test_without_pyarrow_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package the extra is named before anything is read."""
    monkeypatch.setattr("harpia_formats.files.arrow.tables.find_spec", lambda _: None)
    with pytest.raises(MissingPyarrow, match=r"harpia-formats\[arrow\]"):
        write([Record(prompt="p")], to="parquet", output=tmp_path / "a.parquet")

    assert list(tmp_path.iterdir()) == []


def test_columns_have_types_for_other_programs(tmp_path: Path) -> None:
    """Another program finds scores as numbers, and open objects as JSON."""
    source = FIXTURES / "eee@0.2.0/valid"
    path = min(source.glob("*.jsonl"))
    convert(path, to="parquet", output=tmp_path / "a.parquet")
    schema = pq.read_schema(tmp_path / "a.parquet")
    score = schema.field("outputs").type.value_type.field("scores").type.value_type

    assert str(score.field("value").type) == "double"
    assert str(schema.field("metadata").type) == "string"
    assert [*schema.metadata] == [b"harpia-formats.record-layout"]


def test_records_come_back_without_the_metadata() -> None:
    """A program may drop the version of the layout and the types of empty columns."""
    before = [Record(id=1, prompt="2+2?", extra={"a": {"b": [1]}}), Record(id="1")]
    table = to_table(before)
    cells = table.replace_schema_metadata(None).to_pylist()

    assert list(from_table(type(table).from_pylist(cells))) == before
