"""The beginning of a file decides its format, and all of its rows are read then."""

import io
import json
from pathlib import Path
from time import perf_counter

import pytest

from cases import for_each_case
from harpia_formats import (
    ValidationFailed,
    detect,
    infer_schema,
    iter_problems,
    validate,
)

MEGABYTE = 1024 * 1024
#: A text on whose rows as many problems are found.
NO_OBJECTS = {"type": "string"}


class Slow(io.BytesIO):
    """A stream that is read in small parts."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return some bytes."""
        del size
        return super().read1(self._size)


def test_sample_is_bounded_in_bytes() -> None:
    """A sample of large rows ends at eight megabytes."""
    row = b'{"ref_answer": "%b"}\n' % (b"x" * MEGABYTE)
    (found,) = detect(row * 12)

    assert (found.records, found.matching) == (8, 8)


@for_each_case(
    "text, records, matching",
    [
        ('{"ref_answer": 1}\n{"ref_answer": 2}\n', 2, 2),
        ('{"ref_answer": 1}\n{"ref_answer":\n{"ref_answer": 3}', 2, 2),
        ('[{"ref_answer": 1}, {"ref_answer": }, 3]', 2, 1),
        ('{"ref_answer": 1}', 1, 1),
        ('{\n"ref_answer": [1]\n}', 1, 1),
        ('{\n"ref_answer": [1],\n"b": ', 1, 1),
        ('{"ref_answer": NaN, "b": 1}\n{"ref_answer": NaN}\n', 2, 2),
        ("prompt,response\na,b\n", 1, 1),
        ("prompt,response\n", 1, 1),
        ("neither, nor\n", 0, 0),
        ("", 0, 0),
    ],
)
def test_sample_holds_the_first_readable_records(
    text: str, records: int, matching: int
) -> None:
    """The sample has the records that are JSON, or the readable parts if none is."""
    for stream in (Slow(text.encode(), 1), io.BytesIO(text.encode())):
        (found,) = detect(stream)

        assert (found.records, found.matching) == (records, matching)


def test_sample_of_a_large_document_is_its_beginning() -> None:
    """A long document is detected by its beginning, and not read to its end."""
    item = {"id": "1", "input": "x" * 1_000, "actual-output": "y"}
    document = {"metrics": [], "instances": [item] * 24_000}
    stream = io.BytesIO(json.dumps(document).encode())
    (found,) = detect(stream)

    assert (found.format, found.records, found.confidence) == ("harpia", 1, 1.0)
    assert stream.tell() < 10 * MEGABYTE


def test_long_lines_differ_from_a_document() -> None:
    """Two lines of hundreds of kilobytes are records; a single one is a document."""
    line = json.dumps({"ref_answer": "", "pad": "x" * 600_000}).encode() + b"\n"
    one, two = detect(line, line * 2)

    assert (one.container, one.records) == ("a long line", 1)
    assert (two.container, two.records) == ("JSON Lines", 2)


@for_each_case(
    "text, name, container",
    [
        ("prompt,response\na,b\n", "a", "a table"),
        ("a,b\n1,2\n", "a.csv", "a table"),
        ("a,b\n1,2\n", "A.CSV", "a table"),
        ("a,b\n1,2\n", "a.jsonl", "JSON Lines"),
        ('{"a": 1}\n', "a.csv", "a JSON object in one line"),
        ("[1]", "a.csv", "a JSON array"),
    ],
)
def test_table_is_detected_by_its_header_or_its_name(
    text: str, name: str, container: str, tmp_path: Path
) -> None:
    """A known header or the suffix .csv makes text a table, unless it is JSON."""
    (tmp_path / name).write_text(text)
    (found,) = detect(tmp_path / name)

    assert found.container == container


def test_requested_table_format_reads_any_text_as_a_table(tmp_path: Path) -> None:
    """If only table formats are requested, even JSON is read as a table."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    report = validate(path, format="csv")

    assert [each.code for each in report.problems] == ["J203", "J111"]
    assert report.problems[0].message.endswith("holds a table")


def test_text_without_a_known_header_is_lines() -> None:
    """A schema is inferred of lines, where a text has no known header."""
    with pytest.raises(ValidationFailed, match="2 errors, first <data>:1:1 J101"):
        infer_schema(b"x,y\na,b\n")


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        pytest.param(b'{"a": 1}\n\n{"a": 2}\n' * 300, 600, id="lines"),
        pytest.param(b"[" + b'{"a": 1},\n' * 500 + b'{"a": 2}]', 501, id="array"),
        pytest.param(b'{\n"a": 1}\n{\n"a": 2}\n', 2, id="objects"),
        pytest.param(b'{"a": [1, 2]}', 1, id="one line"),
        pytest.param(b"nonsense\n" * 600, 600, id="text"),
        pytest.param(b'{"a": "' + b"x" * 700_000 + b'"}\n{"a": 2}', 2, id="long line"),
    ],
)
@pytest.mark.parametrize("size", [1_000, 65_536])
def test_nothing_is_lost_by_looking(data: bytes, rows: int, size: int) -> None:
    """After the sample was taken, all rows are still read in order."""
    found = [
        each.place
        for each in iter_problems(Slow(data, size), schema=NO_OBJECTS)
        if each.place.record
    ]
    at = 0
    for place in found:
        start = place.byte_offset or 0
        assert not data[at:start].strip(b" \n,[")
        end = b"}" if data.startswith(b"{\n") else b"\n"
        at = start + len(data[start:].partition(end)[0]) + 1

    assert [each.record for each in found] == [*range(1, rows + 1)]


def test_wrapped_file_is_cut_into_its_records_only() -> None:
    """In a wrapped file only the member with the records is cut."""
    data = b'{"metrics": [1, 2], "instances": [3, 4]}'
    places = [each.place for each in validate(data, format="harpia").problems]

    assert [(each.record, each.pointer, each.byte_offset) for each in places] == [
        *((1, "", 34), (2, "", 37)),
        *((None, "/metrics/0", 13), (None, "/metrics/1", 16)),
    ]


@pytest.mark.parametrize(
    ("dialect", "data", "records"),
    [
        ("", b'{"questions": ["a"], "b": {"c": [2, 3]}}', 1),
        ("component", b'{"llm_evaluator": {"responses": ["a", 7, "b"]}}', 3),
    ],
)
def test_columns_are_cut_where_their_dialect_has_them(
    dialect: str, data: bytes, records: int
) -> None:
    """Exactly the arrays at the depth of the dialect are columns."""
    (count,) = validate(data, format="haystack").files

    assert (count.dialect, count.records) == (dialect, records)


def test_many_members_are_no_burden() -> None:
    """Cutting an object after its sample takes linear time."""
    document = {f"key{each}": "x" * 20 for each in range(3_000)}
    rows = ["x" * 9_900] * 1_000
    data = json.dumps({"metrics": [], **document, "instances": rows}).encode()
    started = perf_counter()
    (count,) = validate(data, format="harpia").files

    assert count.records == 1_000
    # With eight megabytes copied each time it took a quarter of a minute.
    assert perf_counter() - started < 5
