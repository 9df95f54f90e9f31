import json
from collections.abc import Iterator
from itertools import product
from time import perf_counter
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.files.framing.container import Layout, open_container
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.detection.sample import SAMPLE_BYTES, SAMPLE_RECORDS
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    SampledFile,
    first_frames,
    framing_of,
    sample_file,
)
from harpia_formats.plugins import Container
from known_formats import FORMATS as BY_ID

FORMATS = tuple(BY_ID.values())
VARIANTS = variants_of(FORMATS)


def beginning_of(data: bytes, name: str = "a", *, size: int = 65_536) -> SampledFile:
    """Return the beginning of a file that may be in any format."""
    blocks: Iterator[bytes] = (data[at : at + size] for at in range(0, len(data), size))
    return sample_file(open_container(blocks), ROW_LIMIT, FORMATS, name)


def chunk_of(*rows: bytes) -> Chunk:
    """Return a chunk of rows."""
    return Chunk(b"\n".join(rows), Cursor(), list(rows))


def variant_with(container: Container) -> FormatVariant:
    """Return the first dialect whose files are such."""
    return next(each for each in VARIANTS if each.dialect.container is container)


def test_head_holds_enough_records() -> None:
    """The sample ends with the frame that makes it long enough, faults not counted."""
    fault, chunk = FramingFault("bom", Cursor()), chunk_of(*[b"{}"] * 400)
    frames: list[Chunk | FramingFault] = [fault, *[chunk] * 9]
    flow = iter(frames)

    assert list(first_frames(flow)) == [fault, chunk, chunk, chunk]
    assert 2 * len(chunk) < SAMPLE_RECORDS <= 3 * len(chunk)
    assert len(list(flow)) == 6


def test_head_is_bounded_in_bytes() -> None:
    """A sample of large rows ends at its limit of bytes."""
    chunk = chunk_of(b"x" * (SAMPLE_BYTES // 2))

    assert len(list(first_frames(iter([chunk] * 9)))) == 2


def test_head_of_a_short_file_is_all_of_it() -> None:
    """The sample of a small file is the whole file."""
    assert list(first_frames(iter([]))) == []


@pytest.mark.parametrize(
    ("text", "rows", "whole"),
    [
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}], True),
        ('{"a": 1}\n{"a":\n{"a": 3}', [{"a": 1}, {"a": 3}], True),
        ('[{"a": 1}, {"a": }, 3]', [{"a": 1}, 3], True),
        ('{"a": 1}', [{"a": 1}], True),
        ('{\n"a": [1]\n}', [{"a": [1]}], True),
        ('{\n"a": [1],\n"b": ', [{"a": [1], "b": None}], True),
        ('{"a": NaN, "b": 1}\n{"a": NaN}\n', [{"a": None, "b": 1}, {"a": None}], False),
        ("prompt,response\na,b\n", [{"prompt": "a", "response": "b"}], True),
        ("prompt,response\n", [{"prompt": "", "response": ""}], True),
        ("neither, nor\n", [], False),
        ("", [], False),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_sample_holds_the_first_readable_records(
    text: str, rows: list[Any], whole: bool, size: int
) -> None:
    """The sample has the records that are JSON, or the readable parts if none is."""
    head = beginning_of(text.encode(), size=size).sample

    assert (list(head.rows), head.whole) == (rows, whole)


def test_sample_of_a_large_document_is_its_beginning() -> None:
    """The sample of a long document is its beginning, marked as not whole."""
    items = [{"n": each, "pad": "x" * 1_000} for each in range(12_000)]
    beginning = beginning_of(json.dumps({"first": 1, "many": items}).encode())
    (row,) = beginning.sample.rows

    assert not beginning.sample.whole
    assert row["first"] == 1
    assert row["many"][:2] == items[:2]
    assert len(beginning.opened.buffer.data) < 2 * SAMPLE_BYTES


def test_long_lines_differ_from_a_document() -> None:
    """Two lines of hundreds of kilobytes are records; a single one is a document."""
    line = json.dumps({"pad": "x" * 600_000}).encode() + b"\n"

    assert beginning_of(line * 2).sample.layout is Layout.LINES
    assert len(beginning_of(line * 2).sample.rows) == 2
    assert beginning_of(line).sample.layout is Layout.LONG_LINE


@for_each_case(
    "text, name, is_table",
    [
        ("prompt,response\na,b\n", "a", True),
        ("a,b\n1,2\n", "a.csv", True),
        ("a,b\n1,2\n", "A.CSV", True),
        ("a,b\n1,2\n", "a.jsonl", False),
        ('{"a": 1}\n', "a.csv", False),
        ("[1]", "a.csv", False),
    ],
)
def test_table_is_detected_by_its_header_or_its_name(
    text: str, name: str, is_table: bool
) -> None:
    """A known header or the suffix .csv makes text a table, unless it is JSON."""
    head = beginning_of(text.encode(), name).sample

    assert (head.layout is Layout.TEXT) == is_table


def test_requested_table_format_reads_any_text_as_a_table() -> None:
    """If only table formats are requested, even JSON is read as a table."""
    (table,) = (each for each in FORMATS if each.id == "csv")
    beginning = sample_file(
        open_container([b'{"a": 1}\n']), ROW_LIMIT, [table], "a.jsonl"
    )

    assert beginning.sample.layout is Layout.TEXT


def test_nothing_is_a_table_where_none_is_asked_for() -> None:
    """With a user's schema, text is lines and never a table."""
    beginning = sample_file(
        open_container([b"prompt,response\n"]), ROW_LIMIT, [], "a.csv"
    )

    assert beginning.sample.layout is Layout.LINES


@for_each_case("variant, layout", product(VARIANTS, Layout), ids=lambda each: each.name)
def test_cut_is_that_of_the_container(variant: FormatVariant, layout: Layout) -> None:
    """A table is cut as one, and members are cut if the file is an object."""
    container = variant.dialect.container
    cut = framing_of(variant, layout)
    objects = {Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE}
    sliced = container in {Container.WRAPPED, Container.COLUMNS}

    assert (cut is Framing.TABLE) == (container is Container.TABLE)
    assert (cut is Framing.MEMBERS) == (sliced and layout in objects)


def test_file_of_no_known_format_is_cut_by_its_layout() -> None:
    """Without a known format each value is a record."""
    assert {framing_of(None, each) for each in Layout} == {Framing.VALUES}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"a": 1}\n\n{"a": 2}\n' * 3_000, id="lines"),
        pytest.param(b"[" + b'{"a": 1},\n' * 3_000 + b'{"a": 2}]', id="array"),
        pytest.param(b'{\n"a": 1}\n{\n"a": 2}\n', id="objects"),
        pytest.param(b'{"a": [1, 2]}', id="one line"),
        pytest.param(b"nonsense\n" * 2_000, id="text"),
        pytest.param(b'{"a": "' + b"x" * 700_000 + b'"}\n{"a": 2}', id="long line"),
    ],
)
@pytest.mark.parametrize("size", [1_000, 65_536])
def test_nothing_is_lost_by_looking(data: bytes, size: int) -> None:
    """After the sample was taken, all rows are still yielded in order."""
    at = 0
    found = beginning_of(data, size=size).frames(Framing.VALUES, None)
    for chunk in (each for each in found if isinstance(each, Chunk)):
        assert chunk.start_of(0).offset >= at
        for row in chunk.rows:
            start = data.index(row, at)
            assert not data[at:start].strip(b" \n,[")
            at = start + len(row)

    assert not data[at:].strip(b" \n]")


def test_wrapped_file_is_cut_into_its_records_only() -> None:
    """In a wrapped file only the member with the records is cut."""
    variant = variant_with(Container.WRAPPED)
    name = variant.dialect.rows_at
    data = json.dumps({"other": [1, 2], name: [3, 4]}).encode()
    member, chunk, header = beginning_of(data).frames(Framing.MEMBERS, variant)

    assert member == RowArray((name,))
    assert isinstance(chunk, Chunk)
    assert chunk.rows == [b"3", b"4"]
    assert isinstance(header, DocumentHeader)
    assert json.loads(header.text) == {"other": [1, 2], name: []}


@pytest.mark.parametrize("depth", [1, 2])
def test_columns_are_cut_where_their_dialect_has_them(depth: int) -> None:
    """Exactly the arrays at the depth of the dialect are columns."""
    variant = next(
        each
        for each in VARIANTS
        if each.dialect.container is Container.COLUMNS and each.dialect.depth == depth
    )
    data = b'{"a": [1], "b": {"c": [2], "d": [3]}, "e": 4}'
    found = beginning_of(data).frames(Framing.MEMBERS, variant)
    paths = [each.path for each in found if isinstance(each, RowArray)]

    assert paths == ([("a",)] if depth == 1 else [("b", "c"), ("b", "d")])


def test_many_members_are_no_burden() -> None:
    """Cutting an object after its sample takes linear time."""
    variant = variant_with(Container.WRAPPED)
    name = variant.dialect.rows_at
    document = {f"key{each}": "x" * 20 for each in range(3_000)}
    data = json.dumps(document | {name: ["x" * 99] * 80_000}).encode()
    started = perf_counter()
    found = list(beginning_of(data).frames(Framing.MEMBERS, variant))

    assert sum(len(each) for each in found if isinstance(each, Chunk)) == 80_000
    # With eight megabytes copied each time it took a quarter of a minute.
    assert perf_counter() - started < 5
