"""What is left of a source whose reading fails before its end."""

import io

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import FileCount, validate

#: What the report says of each source that fails.
REASON = "input/output error"


class Breaking(io.BytesIO):
    """A stream that is read in small parts, and fails where it should end."""

    def __init__(self, data: bytes, size: int = 64) -> None:
        super().__init__(data)
        self._size = size

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return some bytes, or fail behind the last."""
        del size
        piece = super().read1(self._size)
        if not piece:
            raise OSError(5, "Input/output error")
        return piece


def read(stream: io.BytesIO, format_: str | None = None) -> tuple[FileCount, list[str]]:
    """Return the counts of a stream, and the codes of its problems, one for a row."""
    report = validate(
        stream, format=format_, schema=None if format_ else True, max_row_bytes=60
    )
    return report.files[0], [each.code for each in report.problems]


@for_each_case(
    "data, records, codes",
    [
        (b'{"a": 1}\n{"b": 2}\n{"c', 2, []),
        (b'{"a": 1}\n{"b": 2}', 2, []),
        (b'{"a": 1}\n{"b": 2}\n', 2, []),
        (b'{"a": 1}\n{"b": 2\n{"c": 3}\n', 3, ["J102"]),
        (b'{"a": 1}\n{"b": 2\n', 2, ["J102"]),
        (b'{"b": tru}\n', 1, ["J101"]),
        (b'{"a', 0, []),
        (b'{\n"a": {', 0, []),
        (b"", 0, []),
        (b"\n \n", 0, []),
        (b'\xef\xbb\xbf{"a": 1}\n{', 1, ["J201"]),
        (b'[{"a": 1}, {"b": 2}, {"c', 2, []),
        (b'[{"a": 1}, {"b": 2},', 2, []),
        (b'[{"a": 1}, {"b": 2}', 2, []),
        (b'[{"a": 1},, {"b": 2}', 2, ["J112"]),
        (b'[{"a": 1}] {', 1, ["J112"]),
        (b'[{"a": 1}, {"b": tru},', 2, ["J101"]),
        (b"[", 0, []),
        (b'{"a": 1}\n"' + b"x" * 70 + b'"\n{"b', 2, ["J110"]),
    ],
)
def test_truncated_file_keeps_the_rows_before(
    data: bytes, records: int, codes: list[str]
) -> None:
    """Only a truncated row and faults of the truncation are dropped; bytes count."""
    count, found = read(Breaking(data))

    assert (count.records, found) == (records, codes)
    assert count.bytes == len(data)
    assert (count.reason or "").startswith(REASON)


@for_each_case(
    "data, records, codes",
    [
        (b"a,b\n1,2\n3,4", 1, []),
        (b"a,b\n1,2\n3", 1, []),
        (b"a,b\n1,2\n3,4\n", 2, []),
        (b"a,b\r\n1,2\r", 1, []),
        (b"a,b\n1,2\n3,\xc3", 1, []),
        (b'a,b\n1,2\n3,"x', 1, []),
        (b'a,b\n1,2\n3,"x\ny\nz,w', 1, []),
        (b"a,b\n1\n3,4\n5", 2, ["J304"]),
        (b'a,b\n"1"2,3\n4,5\n6', 2, ["J301"]),
        (b"\xef\xbb\xbfa,b\n1,2\n3,4", 1, ["J201"]),
        (b"a,b", 0, []),
    ],
)
def test_truncated_table_keeps_the_rows_before(
    data: bytes, records: int, codes: list[str]
) -> None:
    """A last row without the end of its line is dropped, since it may be incomplete."""
    count, found = read(Breaking(data), "csv")

    assert (count.records, found) == (records, codes)
    assert (count.reason or "").startswith(REASON)


@for_each_case(
    "data, records, codes",
    [
        (b'{"a": 1}\n{"c', 2, ["J102"]),
        (b'[{"a": 1}', 1, ["J112"]),
        (b'[{"a": 1}, {"c', 2, ["J102"]),
        (b"", 0, ["J111"]),
    ],
)
def test_an_end_is_no_break(data: bytes, records: int, codes: list[str]) -> None:
    """In a source that ends without an error, nothing is dropped."""
    count, found = read(io.BytesIO(data))

    assert (count.records, found, count.reason) == (records, codes, None)


def test_bytes_of_all_blocks_are_counted() -> None:
    """All bytes before the break are counted, however many blocks they are."""
    data = b'{"a": 1}\n' * 100_000
    count, _ = read(Breaking(data, 50_000))

    assert (count.bytes, count.records) == (len(data), 100_000)


ROWS = st.lists(
    st.sampled_from([b'{"a": 1}', b'{"b": tru}', b"[1, 2]", b'"text"', b"", b"{"]),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(0, 200), st.integers(1, 80))
def test_a_break_costs_one_row_at_most(rows: list[bytes], at: int, size: int) -> None:
    """Wherever lines break off, all lines before are kept."""
    data = b'{"first": 0}\n' + b"\n".join(rows) + b"\n"
    broken = data[: 13 + at]
    whole = [each for each in broken.split(b"\n")[:-1] if each]
    count, _ = read(Breaking(broken, size))
    wrong = sum(each in {b'{"b": tru}', b"{"} for each in whole)

    assert 0 <= count.records - len(whole) <= 1
    assert 0 <= count.errors - wrong <= 1


@given(st.integers(0, 800), st.integers(1, 80))
def test_a_break_in_a_document_leaves_whole_items(at: int, size: int) -> None:
    """Of a document that breaks off, the whole items are kept."""
    item = '{"id": "%d", "input": "q", "actual-output": "a"}'
    items = ", ".join(item % each for each in range(10, 20))
    data = f'{{"metrics": [], "instances": [{items}], "more": {{"z": 2}}}}'.encode()[
        :at
    ]
    count, found = read(Breaking(data, size), "harpia")

    assert data.count(b"},") <= count.records + (b'"more"' in data)
    assert count.records == count.valid <= data.count(b'"}')
    assert found == []
