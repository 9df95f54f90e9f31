"""Records that are read from files while they are validated, with their places."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from effort import examples
from harpia_formats import read, validate
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.reading import row_batch as column_buffer
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import format_of
from harpia_formats.model.column_map import MapError
from harpia_formats.model.record import Header, Record
from harpia_formats.validation.unit import row_validator as decoder_training
from json_lines import jsonl

GOOD: dict[str, Any] = {
    "id": "1",
    "input": "q",
    "expected-output": ["r"],
    "actual-output": "a",
}


def read_with_places(
    data: bytes, format_: str | None = None, **options: Any
) -> dict[str, Any]:
    """Return records with their places, bytes that are refused, and headers."""
    reading = Reading([data], format_, **options)
    records: list[PlacedRecord] = []
    refused: list[bytes] = []
    problems = list(reading.problems(records.append, lambda *_: None, refused.append))
    return {
        "records": [each.record for each in records],
        "places": [
            (each.row.place(0, 1, ()).line, each.row.place(0, 1, ()).record)
            for each in records
        ],
        "texts": [each.row.text for each in records],
        "refused": refused,
        "headers": reading.headers,
        "problems": problems,
    }


def test_records_come_in_order_with_their_places() -> None:
    """Each valid row is a record with its line, its number and its bytes."""
    rows = [GOOD | {"id": str(each)} for each in range(5)]
    data = jsonl(*rows).replace(b"\n", b"\n\n", 1)
    found = read_with_places(data, fail_fast=False)

    assert [each.id for each in found["records"]] == ["0", "1", "2", "3", "4"]
    assert found["places"] == [(1, 1), (3, 2), (4, 3), (5, 4), (6, 5)]
    assert found["texts"] == [json.dumps(each).encode() for each in rows]


def test_rows_that_are_not_valid_are_passed_on_as_bytes() -> None:
    """A row that is not valid is no record, and its bytes are as they were."""
    wrong = b'{"id":  "2", "input": 7}'
    data = jsonl(GOOD) + wrong + b"\n" + b"{oh\n" + jsonl(GOOD | {"id": "3"})
    found = read_with_places(data, "harpia", fail_fast=False)

    assert [each.id for each in found["records"]] == ["1", "3"]
    assert found["refused"] == [wrong, b"{oh"]


def test_reading_ends_at_the_first_error() -> None:
    """By default no record is read after an invalid row."""
    data = jsonl(GOOD, {"id": "2", "input": 7}, GOOD | {"id": "3"})
    found = read_with_places(data, "harpia")

    assert [each.id for each in found["records"]] == ["1"]
    assert len(found["problems"]) == 1


def test_document_around_records_is_the_header() -> None:
    """HarpIA's metrics and unknown members are the header of the file."""
    metrics = [{"id": "em", "enable": True, "parameters": {}}]
    data = json.dumps({"instances": [GOOD], "metrics": metrics, "x": 1}).encode()

    assert read_with_places(data)["headers"] == [
        [Header(metrics=metrics, extra={"harpia": {"x": 1}})]
    ]


@pytest.mark.parametrize("form", ["lines", "array"])
def test_a_header_in_a_row_is_taken_out_of_it(form: str) -> None:
    """Our own records have the header in the first row, and others are seen too."""
    rows: list[dict[str, Any]] = [
        {"prompt": "a", "outputs": [], "header": {"metrics": [1]}},
        {"prompt": "b", "outputs": []},
        {"prompt": "c", "outputs": [], "header": {"metrics": [1]}},
        {"prompt": "d", "outputs": [], "header": {"task": {"name": "t"}}},
    ]
    data = jsonl(*rows) if form == "lines" else json.dumps(rows).encode()
    found = read_with_places(data, "record")

    assert found["records"] == [Record(prompt=each) for each in "abcd"]
    assert found["headers"] == [[Header(metrics=[1]), Header(task={"name": "t"})]]


def test_files_without_a_header_have_none() -> None:
    """Every file whose format is known has a place among the headers."""
    assert read_with_places(jsonl(GOOD))["headers"] == [[]]
    assert read_with_places(b"")["headers"] == []


def test_columns_become_rows() -> None:
    """Item n of each column is a field of record n; a shorter column lacks some."""
    columns = {"questions": ["a", "b"], "predicted_answers": ["x", None]}
    found = read_with_places(json.dumps(columns).encode(), "haystack")

    assert [each.prompt for each in found["records"]] == ["a", "b"]
    assert [len(each.outputs) for each in found["records"]] == [1, 0]
    assert json.loads(found["texts"][1]) == {
        "questions": "b",
        "predicted_answers": None,
    }


def test_cells_become_rows() -> None:
    """A blank cell is not there, and one of empty quotes is an empty text."""
    found = read_with_places(b'prompt,category\na,\nb,""\n', "csv")

    assert [each.category for each in found["records"]] == [UNSET, ""]
    assert found["places"] == [(2, 1), (3, 2)]


def test_mapped_columns_are_the_fields_that_they_are_mapped_to() -> None:
    """A map gives fields the columns that they are in."""
    found = read_with_places(b"Frage,x\na,b\n", columns={"prompt": "Frage"})
    (record,) = found["records"]

    assert record.prompt == "a"
    assert record.extra == {"csv": {"x": "b"}}


def test_records_of_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    """`read` yields the records of inputs in several formats."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(GOOD))
    (tmp_path / "b.csv").write_bytes(b"system,prompt,response\n,q2,r\n")

    assert [each.prompt for each in read(tmp_path / "a.jsonl", tmp_path / "b.csv")] == [
        "q",
        "q2",
    ]


def test_columns_are_deleted_if_reading_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The temporary files of columns are closed, also after an error in a column."""
    files: list[IO[bytes]] = []

    def opened() -> IO[bytes]:
        files.append((tmp_path / f"{len(files)}").open("w+b"))
        return files[-1]

    monkeypatch.setattr(column_buffer, "HELD", 1)
    monkeypatch.setattr("tempfile.TemporaryFile", opened)
    found = read_with_places(
        b'{"questions": ["a", "b"], "predicted_answers": ["x"]}', "haystack"
    )

    assert found["problems"]
    assert [each.closed for each in files] == [True]


def test_rows_of_a_batch_are_records_with_their_places() -> None:
    """Each row of a batch is read with its number, its bytes and where it begins."""
    records: list[PlacedRecord] = []
    format_ = format_of("csv")
    stream = RecordStream("t.csv", records.append, lambda _: None, lambda _: None)
    stream.open(FormatVariant(format_, format_.dialects[0]))
    starts, texts = [Cursor(9, 2), Cursor(30, 4)], [b"1,q", b"2,r"]
    rows = [{"id": "1", "prompt": "q"}, {"id": "2", "prompt": "r"}]
    stream.batch(RowBatch(rows, range(3, 5), starts.__getitem__, texts.__getitem__))

    assert [(each.record.id, each.record.prompt) for each in records] == [
        ("1", "q"),
        ("2", "r"),
    ]
    assert [each.row.start for each in records] == starts
    assert [(each.row.number, each.row.text) for each in records] == [
        (3, b"1,q"),
        (4, b"2,r"),
    ]


_rows_of_harpia = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(max_size=3), "input": st.text(st.sampled_from('a"é😀,{\n'))}
    ).map(lambda changes: GOOD | changes)
    | st.just({"id": 7}),
    min_size=70,
    max_size=90,
)


@given(
    rows=_rows_of_harpia,
    form=st.sampled_from(["array", "wrapped", "pretty"]),
    window=st.sampled_from([64, 500, 4000]),
)
@examples(12)
def test_rows_of_arrays_are_accepted_in_chunks(
    *, rows: list[dict[str, Any]], form: str, window: int
) -> None:
    """Chunks of arrays and wrapped documents hold the rows that lines hold."""
    data = json.dumps(rows, ensure_ascii=False).encode()
    if form != "array":
        document = {"instances": rows, "metrics": []}
        indent = 1 if form == "pretty" else None
        data = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    found: dict[int, tuple[bytes, Cursor]] = {}
    single: list[PlacedRecord] = []

    class Taker:
        def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
            """Take no notice: rows are not read here."""

        def decoded(self, rows: DecodedChunk) -> bool:
            chunk = rows.chunk
            assert len(rows.values) == len(chunk)
            for row, text in enumerate(chunk.rows):
                assert rows.values[row].id == json.loads(text)["id"]
                found[rows.numbers.of(row)] = text, chunk.start_of(row)
            return True

        def batch(self, batch: RowBatch) -> bool:
            return bool(batch.values)

    take = Taker()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "WINDOW", window)
        patch.setattr(decoder_training, "FIRST_ROWS", 1)
        reading = Reading([data], "harpia", fail_fast=False)
        for _ in reading.steps(single.append, lambda *_: None, lambda _: None, take):
            pass
    in_chunks = set(found)
    found |= {each.row.number or 0: (each.row.text, each.row.start) for each in single}

    assert len(found) == len(in_chunks) + len(single)
    assert found.keys() == {n for n, row in enumerate(rows, 1) if "input" in row}
    if {"id": 7} not in rows:
        assert in_chunks == set(range(1, len(rows) + 1))
    for number, (text, start) in found.items():
        assert json.loads(text) == rows[number - 1]
        assert data[start.offset :].startswith(text)
        before = data[: start.offset].decode()
        assert start.line == before.count("\n") + 1
        assert start.column == len(before.rpartition("\n")[2])


_CELLS = (
    *(b"1,q,r\n", b'2,"q ""x"", y","z"\r\n', b'3,"",\n', b'"4","a\nb","""c"""\n'),
    *(
        b"5,,\n",
        b"\n",
        b"6,q\n",
        b"7,q,r,s\n",
        b'8,"q"x,r\n',
        b'9,"open\n',
        b"10,\r,\n",
    ),
    *(
        b"11,\xff,r\n",
        b"12,\0,r\n",
        b'13,a"b,c\n',
        "14,é\u2028,😀\n".encode(),
        b"15,q,r",
    ),
)


@pytest.mark.parametrize("format_", ["csv", "tencent-csv"])
@given(
    header=st.sampled_from(
        [b"id,prompt,response\n", b"system,prompt,response\n", b'prompt,"response"\n']
    ),
    rows=st.lists(st.sampled_from(_CELLS), max_size=30),
    block=st.sampled_from([16, 64, 64 * 1024]),
    options=st.sampled_from(
        [{}, {"fail_fast": False}, {"columns": {"category": "prompt"}}]
    ),
)
def test_blocks_of_a_table_make_no_difference(
    format_: str,
    header: bytes,
    rows: list[bytes],
    block: int,
    options: dict[str, Any],
) -> None:
    """Records, places, refused bytes and problems are those of rows cut singly."""
    data = header + b"".join(rows)
    options = options if format_ == "csv" else {"fail_fast": False}
    module = "harpia_formats.files.parsing.csv_records"

    def read_now() -> Any:
        try:
            return read_with_places(data, format_, **options)
        except MapError as error:
            return str(error)

    with patch(f"{module}.BLOCK", block), patch(f"{module}.STEP", 64):
        found = read_now()
        with patch(f"{module}.cut_block", return_value=None):
            singly = read_now()

    assert found == singly


def test_records_of_a_table_are_limited_within_a_block(tmp_path: Path) -> None:
    """Of a block no more records are validated than the limit allows."""
    file = tmp_path / "t.csv"
    file.write_bytes(b"id,prompt\n" + b"1,q\n" * 100)
    report = validate(file, format="csv", limit=70)

    assert [(count.records, count.valid) for count in report.files] == [(70, 70)]
