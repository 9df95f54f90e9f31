"""Fuzz targets of text: rows that are cut from bytes, JSON and its faults, CSV."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any
from unittest.mock import patch

import msgspec

from fuzz_target import Target, every, fixture_files
from harpia_formats.files.framing.chunk import (
    BOM,
    Chunk,
    Cursor,
    FramingFault,
    code_points,
)
from harpia_formats.files.framing.columns import document_frames
from harpia_formats.files.framing.container import Layout, frames, open_container
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    ValueState,
    parse_truncated,
    read_value,
)
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_blocks import (
    TableBlank,
    TableBlock,
    TableFault,
    TablePiece,
    TableRow,
)
from harpia_formats.files.parsing.csv_records import (
    rows_of_block,
    table_pieces,
    table_rows,
)
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import (
    PointerIndex,
    duplicates,
    locate,
    repeated_paths,
)
from harpia_formats.model.exact_json import NOT_JSON, decode, encode

_SIZES = (1, 2, 3, 7, 64, 1024)
#: Bytes of data that is cut in blocks of any size, and the least block of longer data.
_SHORT, _LEAST_SIZE = 200, 64
_LIMITS = (ROW_LIMIT, ROW_LIMIT, 1000, 100, 20, 5)
_WINDOWS = (256 * 1024, 1, 16, 64)
#: Values of one text whose places are looked up.
_LOOKED_UP = 60


def _blocks(data: bytes, size: int) -> Iterator[bytes]:
    """Return `data` in blocks of a size."""
    return (data[at : at + size] for at in range(0, len(data), size))


def _size(number: int, data: bytes) -> int:
    """Return the size of blocks that a number chooses: of long data, no tiny ones."""
    size = _SIZES[number % len(_SIZES)]
    return size if len(data) <= _SHORT else max(size, _LEAST_SIZE)


def _cursor(data: bytes, offset: int) -> Cursor:
    """Count a position the plain way."""
    before = data[:offset].removeprefix(BOM if offset >= len(BOM) else b"")
    line = before.rpartition(b"\n")[2]
    return Cursor(offset, before.count(b"\n") + 1, code_points(line))


def _cut(data: bytes, size: int, limit: int, window: int) -> tuple[Any, Any]:
    """Return the rows of `data` with their places, and its faults."""
    rows, faults = [], []
    with patch("harpia_formats.files.framing.array.WINDOW", window):
        for found in frames(_blocks(data, size), limit=limit):
            if isinstance(found, FramingFault):
                faults.append(found)
                continue
            cut = enumerate(found.rows)
            rows += [(found.start_of(number), row) for number, row in cut]
    return rows, faults


def _check_places(data: bytes, rows: Iterable[tuple[Cursor, bytes]]) -> None:
    """Assert that rows are where they say that they are, one behind the other."""
    end = 0
    for start, row in rows:
        assert start.offset >= end, (start, end)
        assert data.startswith(row, start.offset), start
        assert start == _cursor(data, start.offset), start
        end = start.offset + len(row)


def check_framing(data: bytes) -> None:
    """Check that rows are those of a naive splitter, in blocks of any size."""
    first, data = (data[0] if data else 0), data[1:]
    size, limit = _size(first, data), _LIMITS[first // 6 % 6]
    window = _WINDOWS[first // 36 % 4]
    rows, faults = _cut(data, size, limit, window)
    _check_places(data, rows)
    assert all(len(row) <= limit for _, row in rows)
    for fault in faults:
        assert 0 <= fault.start.offset <= len(data)
    again = _cut(data, len(data) or 1, limit, window)
    # How much of a value over the limit is skipped depends on how much was read.
    if not any(fault.kind == "oversize" for fault in (*faults, *again[1])):
        assert (rows, faults) == again
    if limit == ROW_LIMIT:
        _check_reference(data, [row for _, row in rows], faults)


def _check_reference(data: bytes, rows: list[bytes], faults: Any) -> None:
    """Assert that the rows are those that plain Python cuts, if the file has no fault.

    Lines have no faults. Arrays and documents are compared where Python reads them.
    """
    layout = open_container([data]).layout
    content = data.removeprefix(BOM)
    if layout is Layout.EMPTY:
        assert not content.strip(b" \t\r\n")
        assert not rows
        return
    if layout in {Layout.LINES, Layout.ONE_LINE, Layout.TEXT}:
        lines = content.split(b"\n")
        expected = lines if lines[-1] else lines[:-1]
        # Blank lines at the beginning are skipped where they are very many.
        assert [row for row in rows if row.strip()] == [
            line for line in expected if line.strip()
        ]
        return
    try:
        value = msgspec.json.decode(content)
    except NOT_JSON:
        return
    expected = value if layout is Layout.ARRAY else [value]
    kinds = {fault.kind for fault in faults} - {"bom"}
    assert kinds == (set() if expected else {"empty"}), faults
    assert [msgspec.json.decode(row) for row in rows] == expected


def check_columns(data: bytes) -> None:
    """Check that the items of columns are those of the document."""
    first, data = (data[0] if data else 0), data[1:]
    size, depth = _size(first, data), 1 + first // 6 % 2
    found = list(_columns(data, size, depth))
    assert found == list(_columns(data, len(data) or 1, depth))
    try:
        value = msgspec.json.decode(data)
    except NOT_JSON:
        return
    if not isinstance(value, dict) or any(duplicates(data)):
        return
    cut: dict[Any, list[Any]] = {}
    path: Any = None
    for kind, content in found:
        assert kind != "fault", content
        if kind == "array":
            path = content
            cut[path] = []
        elif kind == "row":
            cut[path].append(msgspec.json.decode(content))
    for place, items in cut.items():
        inner: Any = value
        for step in place:
            inner = inner[step]
        assert inner == items, place


def _columns(data: bytes, size: int, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield what an object is cut into, as plain values."""
    buffer = ByteBuffer(_blocks(data, size))
    buffer.fill(1)
    if not data.lstrip(b" \t\r\n").startswith(b"{"):
        return
    for found in document_frames(buffer, Cursor(), ROW_LIMIT, lambda _: True, depth):
        if isinstance(found, Chunk):
            for number, row in enumerate(found.rows):
                assert found.start_of(number) == _cursor(
                    data, found.start_of(number).offset
                )
                yield "row", row
        elif isinstance(found, FramingFault):
            yield "fault", (found.kind, found.start)
        elif hasattr(found, "path"):
            yield "array", found.path
        else:
            # How much white space a header keeps depends on how much was read.
            yield "header", _decoded_or_none(found.text)


def _decoded_or_none(text: bytes) -> Any:
    """Return the value of a JSON text, None if it is none."""
    try:
        return msgspec.json.decode(text)
    except NOT_JSON:
        return None


def check_json(data: bytes) -> None:
    """Check that the diagnosis agrees with the parser, and every place is right."""
    fault = find_fault(data)
    state, end = read_value(data, 0)
    assert 0 <= end <= len(data)
    truncated = parse_truncated(data)
    try:
        value = msgspec.json.decode(data)
    except NOT_JSON:
        assert fault is not None
        assert 0 <= fault.start <= fault.end <= len(data)
        assert fault.end > fault.start or fault.start == len(data)
        assert fault.message
        return
    assert fault is None, fault
    assert state is ValueState.WHOLE
    _check_truncated(value, truncated)
    _check_numbers(data)
    _check_repeated(data)
    _check_located(data, value)


def _check_truncated(value: Any, truncated: Any) -> None:
    """Assert that what is read of a whole text as if it were cut is all of it."""
    if truncated is not None:
        assert truncated == value


def _check_numbers(data: bytes) -> None:
    """Assert that what is decoded is encoded as text that is decoded to the same."""
    text = encode(decode(data))
    assert encode(decode(text)) == text


def _check_repeated(data: bytes) -> None:
    """Assert that repeated keys are found as Python's parser finds them."""
    repeated = 0

    def pairs(members: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated += len(members) - len({name for name, _ in members})

    try:
        json.loads(data.decode(), object_pairs_hook=pairs)
    except (ValueError, RecursionError):  # very many digits, or levels
        return
    found = list(duplicates(data))
    assert len(found) == repeated
    assert repeated_paths(data) == [each.path for each in found]
    for each in found:
        name = msgspec.json.decode(data[each.start : each.end])
        assert name == each.path[-1]
        assert each.first < each.start


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Any]:
    """Yield the path of each value and the value, outer ones before inner ones."""
    yield path, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _paths(member, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths(item, (*path, number))


def _check_located(data: bytes, value: Any) -> None:
    """Assert that values are found at their places, one by one and by an index."""
    index = PointerIndex(data)
    for number, (path, inner) in enumerate(_paths(value)):
        if number == _LOOKED_UP:
            return
        span = locate(data, path)
        assert span == index.of(path), path
        assert msgspec.json.decode(data[span.start : span.end]) == inner, path
        if span.key is not None:
            assert msgspec.json.decode(data[span.key : span.key_end]) == path[-1]


def _pieces(
    data: bytes, size: int, limit: int, delimiter: str, *, is_safe: bool
) -> list[TablePiece]:
    """Cut a table record by record."""
    buffer = ByteBuffer(_blocks(data, size))
    return list(table_rows(buffer, Cursor(), limit, delimiter, csv_safe=is_safe))


def check_csv(data: bytes) -> None:
    """Check that no byte of a table is swallowed, and that Python reads the same."""
    first, data = (data[0] if data else 0), data[1:]
    size, limit = _size(first, data), (1000, 20)[first // 6 % 2]
    delimiter, is_safe = (",", "\t", ";")[first // 12 % 3], bool(first // 36 % 2)
    pieces = _pieces(data, size, limit, delimiter, is_safe=is_safe)
    assert pieces == _pieces(data, len(data) or 1, limit, delimiter, is_safe=is_safe)
    _check_pieces(data, pieces)
    blocks = _from_blocks(data, size, limit, delimiter, is_safe=is_safe)
    assert [piece for piece in pieces if not isinstance(piece, TableBlank)] == blocks
    codes = {piece.code for piece in pieces if isinstance(piece, TableFault)}
    if codes <= {"J303"} and not is_safe:
        rows = [piece for piece in pieces if isinstance(piece, TableRow)]
        read = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)
        assert [[one.text for one in row.fields] for row in rows] == list(
            filter(None, read)
        )


def _from_blocks(
    data: bytes, size: int, limit: int, delimiter: str, *, is_safe: bool
) -> list[Any]:
    """Cut a table in blocks, and each block into its records."""
    buffer = ByteBuffer(_blocks(data, size))
    found: list[Any] = []
    for piece in table_pieces(buffer, Cursor(), limit, delimiter, csv_safe=is_safe):
        if isinstance(piece, TableBlock):
            found += rows_of_block(piece)
        elif not isinstance(piece, TableBlank):
            found.append(piece)
    return found


def _check_pieces(data: bytes, pieces: Iterable[TablePiece]) -> None:
    """Assert that pieces are in order, at their places, with all but line ends."""
    covered, end = bytearray(len(data)), 0
    for piece in pieces:
        assert piece.start == _cursor(data, piece.start.offset)
        size = len(piece.data) if isinstance(piece, TableRow) else 0
        span = range(piece.start.offset, piece.start.offset + size)
        if isinstance(piece, TableFault):
            span = piece.passed
            assert 0 <= piece.at < len(piece.data)
        assert span.start >= end
        end = span.stop
        covered[span.start : span.stop] = b"x" * len(span)
    left = {byte for byte, mark in zip(data, covered, strict=True) if not mark}
    assert left <= set(b"\r\n"), left


def _text_seeds() -> list[bytes]:
    """Return texts of JSON of every layout, each with a byte that chooses blocks."""
    texts = every(150, fixture_files(".json", ".jsonl"))
    return [bytes([at * 7 % 144]) + text for at, text in enumerate(texts)]


def _json_seeds() -> list[bytes]:
    """Return rows and documents of JSON, valid and broken."""
    lines = (
        line for text in fixture_files(".json", ".jsonl") for line in text.split(b"\n")
    )
    documents = every(60, fixture_files(".json", most=1500))
    return [*every(150, filter(None, lines)), *documents]


def _column_seeds() -> list[bytes]:
    """Return documents, each with a byte that chooses blocks."""
    texts = every(80, fixture_files(".json"))
    return [bytes([at * 5 % 12]) + text for at, text in enumerate(texts)]


def _csv_seeds() -> list[bytes]:
    """Return tables, each with a byte that chooses blocks and a delimiter."""
    texts = every(80, fixture_files(".csv", ".tsv"))
    return [bytes([at * 7 % 72]) + text for at, text in enumerate(texts)]


_CODE = ("harpia_formats.files.framing", "harpia_formats.files.parsing")
TEXT_TARGETS = (
    Target("framing", check_framing, _CODE, _text_seeds),
    Target("columns", check_columns, _CODE, _column_seeds),
    Target("json", check_json, _CODE, _json_seeds),
    Target("csv", check_csv, _CODE, _csv_seeds),
)
