"""Rows are read from blocks of any size as they are one by one."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from harpia_formats import MapError
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.reading import row_batch
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.conversion.reading.row_batch import (
    ColumnBuffer,
    DecodedChunk,
    RowBatch,
    decoded_rows,
    encoded_rows,
)
from harpia_formats.files.framing import array
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.plugins import Path
from harpia_formats.validation.unit import row_validator
from harpia_formats.validation.unit.findings import RecordNumbers
from sample_rows import harpia_instance

# Columns

_TEXTS = st.text(st.sampled_from('ab,"\\[]{}:é问😀\u2028\n\x00'), max_size=6)
_ITEMS = (
    st.recursive(
        _TEXTS | st.none() | st.booleans() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3)
        ),
        max_leaves=5,
    ).map(lambda value: json.dumps(value, ensure_ascii=False).encode())
    | st.sampled_from([b"1e2", b"1.0", b"-0.0", b"-0", b"12345678901234567890123"])
    | st.sampled_from([b'"\\ud83d\\ude00 \\u0000"', b"[[[[[[[[1]]]]]]]]", b"[ 1 ]"])
)
_COLUMNS = st.dictionaries(
    st.sampled_from(["questions", "contexts", "responses", "own", 'é"\\']),
    st.lists(_ITEMS, max_size=12),
    min_size=1,
    max_size=4,
)
_SEPARATORS = st.sampled_from([b",", b", ", b",\n  ", b" ,\r\n"])


def _rows(
    columns: dict[Path, list[bytes]], invalid: set[tuple[Path, int]]
) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each valid record, item by item."""
    for component in dict.fromkeys(path[:-1] for path in columns):
        own = {path: each for path, each in columns.items() if path[:-1] == component}
        for number in range(1, max(map(len, own.values())) + 1):
            if (component, number) in invalid:
                continue
            items = {
                path[-1]: decode(each[number - 1])
                for path, each in own.items()
                if len(each) >= number
            }
            yield number, encode(items)


@given(
    columns=st.dictionaries(
        st.tuples(st.sampled_from(["one", "two"]), st.sampled_from("abc")),
        st.lists(_ITEMS, max_size=12),
        min_size=1,
    ),
    separator=_SEPARATORS,
    rows=st.sampled_from([1, 3, 1000]),
    joined=st.sampled_from([0, 20, 1000]),
    data=st.data(),
)
def test_blocks_of_items_are_joined_as_single_items_are(
    *,
    columns: dict[Path, list[bytes]],
    separator: bytes,
    rows: int,
    joined: int,
    data: st.DataObject,
) -> None:
    """Any chunks of items and any refused ones give the rows of single items."""
    invalid: set[tuple[Path, int]] = set()
    with closing(ColumnBuffer()) as buffer:
        places: dict[tuple[Path, int], Cursor] = {}
        for line, (path, items) in enumerate(columns.items(), 1):
            buffer.begin(path)
            begin = 0
            while begin < len(items):
                end = data.draw(st.integers(begin + 1, len(items)))
                some, start = items[begin:end], Cursor(1000 * line, line, 0)
                text = separator.join(some)
                if data.draw(st.booleans()):
                    chunk = Chunk(text, start, items=len(some))
                else:
                    chunk = Chunk(text, start, some)
                refused = data.draw(
                    st.frozensets(st.integers(0, len(some)), max_size=2)
                )
                buffer.add(chunk, RecordNumbers(begin, []), refused)
                for row in range(len(some)):
                    places[path, begin + row + 1] = chunk.start_of(row)
                    if row in refused:
                        invalid.add((path[:-1], begin + row + 1))
                begin = end
        found = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_batch, "ROWS", rows)
            patch.setattr(row_batch, "JOINED", joined)
            for component in buffer.components():
                batches = [
                    each.batch(tuple(each.names), {})
                    for each in buffer.rows_of(component)
                ]
                for batch in row_batch.joined_batches(batches):
                    values = encode(list(batch.values))
                    assert encode(decoded_rows(encoded_rows(batch))) == values
                    for index, number in enumerate(batch.numbers):
                        assert encode(batch.values[index]) == batch.text_of(index)
                        leading = (*component, next(iter(batch.values[index])))
                        assert batch.start_of(index) == places[leading, number]
                        found.append((number, batch.text_of(index)))

    assert found == list(_rows(columns, invalid))


def _document(
    columns: dict[str, list[bytes]], separator: bytes
) -> tuple[bytes, dict[tuple[str, int], int]]:
    """Return a file of columns, and where each of their items begins."""
    places: dict[tuple[str, int], int] = {}
    text = b"{"
    for name, items in columns.items():
        text += b"," * (len(text) > 1) + json.dumps(name).encode() + b": ["
        for number, item in enumerate(items, 1):
            text += separator * (number > 1)
            places[name, number] = len(text)
            text += item
        text += b"]"
    return text + b"}\n", places


_WRONG = st.sampled_from([b"tru", b'{"a":1,"a":2}', b'"\\ud800"', b'"' + b"x" * 700])


@given(
    columns=_COLUMNS,
    separator=_SEPARATORS,
    window=st.sampled_from([1, 40, 10_000]),
    trained=st.sampled_from([0, 70]),
    wrong=st.none() | st.tuples(_WRONG, st.integers(0, 99), st.integers(0, 9)),
)
@settings(deadline=None)
def test_a_file_of_columns_has_the_rows_of_its_items(
    *,
    columns: dict[str, list[bytes]],
    separator: bytes,
    window: int,
    trained: int,
    wrong: tuple[bytes, int, int] | None,
) -> None:
    """Any windows give rows with the items of their number, but for a wrong one."""
    columns = {
        name: [b'"%b"' % (b"q" * 20)] * trained + each for name, each in columns.items()
    }
    columns = {"query_id": [b'"1"', b'"2"'], **columns}
    invalid: set[tuple[Path, int]] = set()
    if wrong is not None:
        item, column, at = wrong
        # The format is recognised by the first column.
        name = list(columns)[1 + column % (len(columns) - 1)]
        number = trained + at if len(columns[name]) > trained + at else 0
        if item.endswith(b"x"):
            item += b'"'
        columns[name][number : number + 1] = [item]
        invalid.add(((), number + 1))
    data, places = _document(columns, separator)
    records: list[PlacedRecord] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "WINDOW", window)
        patch.setattr(row_batch, "ROWS", 7)
        options = ReadingOptions(from_="haystack", max_row_bytes=600)
        reading = Reading([data], options, fail_fast=False)
        for _ in reading.problems(records.append, lambda *_: None, lambda _: None):
            pass

    expected: dict[Path, list[bytes]] = {(name,): columns[name] for name in columns}
    found = [(each.row.number, each.row.text) for each in records]
    assert found == list(_rows(expected, invalid))
    for each in records:
        number = each.row.number or 0
        first = next(name for name in columns if len(columns[name]) >= number)
        assert each.row.start.offset == places[first, number]
        assert each.row.value == decode(each.row.text)


# Arrays and tables

GOOD = harpia_instance(1)


def read_with_places(
    data: bytes, options: ReadingOptions, *, fail_fast: bool = True
) -> dict[str, Any]:
    """Return records with their places, bytes that are refused, and headers."""
    reading = Reading([data], options, fail_fast=fail_fast)
    records: list[PlacedRecord] = []
    refused: list[bytes | None] = []
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
        patch.setattr(row_validator, "FIRST_ROWS", 1)
        reading = Reading([data], ReadingOptions(from_="harpia"), fail_fast=False)
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
    *(b"5,,\n", b"\n", b"6,q\n", b"7,q,r,s\n", b'8,"q"x,r\n', b'9,"open\n'),
    *(b"10,\r,\n", b"11,\xff,r\n", b"12,\0,r\n", b'13,a"b,c\n', b"15,q,r"),
    "14,é\u2028,😀\n".encode(),
)


@pytest.mark.parametrize("format_", ["csv", "tencent-csv"])
@given(
    header=st.sampled_from(
        [b"id,prompt,response\n", b"system,prompt,response\n", b'prompt,"response"\n']
    ),
    rows=st.lists(st.sampled_from(_CELLS), max_size=30),
    block=st.sampled_from([16, 64, 64 * 1024]),
    how=st.sampled_from([(None, True), (None, False), ({"category": "prompt"}, True)]),
)
def test_blocks_of_a_table_make_no_difference(
    format_: str,
    header: bytes,
    rows: list[bytes],
    block: int,
    how: tuple[dict[str, str] | None, bool],
) -> None:
    """Records, places, refused bytes and problems are those of rows cut singly."""
    data = header + b"".join(rows)
    columns, fail_fast = how if format_ == "csv" else (None, False)
    options = ReadingOptions(from_=format_, columns=columns)
    module = "harpia_formats.files.parsing.csv_records"

    def read_now() -> Any:
        try:
            return read_with_places(data, options, fail_fast=fail_fast)
        except MapError as error:
            return str(error)

    with patch(f"{module}.BLOCK", block), patch(f"{module}.STEP", 64):
        found = read_now()
        with patch(f"{module}.cut_block", return_value=None):
            singly = read_now()

    assert found == singly
