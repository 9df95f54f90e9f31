import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.parsing.csv_blocks import (
    FIELD_LIMIT,
    RecordEnding,
    TableField,
    cut_record,
    fields_of,
    last_character,
    line_break,
    whole_records,
)


@for_each_case(
    "data, final, ending, size, last, quoted",
    [
        (b"a,b\n", False, RecordEnding.WHOLE, 3, 2, False),
        (b'a,"b"\r\n', False, RecordEnding.WHOLE, 5, 2, True),
        (b"a,b\rc", False, RecordEnding.WHOLE, 3, 2, False),
        (b"a,b", True, RecordEnding.WHOLE, 3, 2, False),
        (b"a,b", False, RecordEnding.OPEN, 3, 2, False),
        (b"a,", False, RecordEnding.OPEN, 2, 2, False),
        (b'a,"b""', False, RecordEnding.OPEN, 6, 2, True),
        (b'a,"b"', False, RecordEnding.OPEN, 5, 2, True),
        (b'a,"b', True, RecordEnding.OPEN, 4, 2, True),
        (b'a,"b"c\n', False, RecordEnding.BROKEN, 5, 2, True),
    ],
)
def test_a_record_is_cut_until_it_ends(  # noqa: PLR0913 - what a cut says
    *,
    data: bytes,
    final: bool,
    ending: RecordEnding,
    size: int,
    last: int,
    quoted: bool,
) -> None:
    """A record is cut into fields, with where and why that stopped."""
    cut = cut_record(b"x" + data, 1, 1 + len(data), b",", final=final)

    assert (cut.ending, cut.size, cut.last, cut.quoted) == (ending, size, last, quoted)


def test_a_record_is_cut_up_to_an_end() -> None:
    """Bytes behind the given end are not read."""
    assert cut_record(b"a,b\n", 0, 3, b",", final=False).ending is RecordEnding.OPEN
    assert cut_record(b'a,"b"\n', 0, 2, b",", final=True).raws == [b"a", b""]


def test_a_record_has_only_so_many_fields() -> None:
    """A record with more fields than the limit is not cut further."""
    data = b"," * 2 * FIELD_LIMIT
    cut = cut_record(data, 0, len(data), b",", final=True)

    assert cut.ending is RecordEnding.CROWDED
    assert len(cut.raws) == FIELD_LIMIT == 65_536


@for_each_case(
    "data, records",
    [
        (b"a,b\r\n\nc", [([b"a", b"b"], b"\r\n"), ([b""], b"\n")]),
        (b'"a\n""",b\n1,2\n', [([b'"a\n"""', b"b"], b"\n"), ([b"1", b"2"], b"\n")]),
        (b'1\n"a"b\n2\n', [([b"1"], b"\n")]),
        (b'1\n"a\n2\n', [([b"1"], b"\n")]),
        (b"1\n2\r3\n", [([b"1"], b"\n")]),
    ],
)
def test_whole_records_are_found_together(
    data: bytes, records: list[tuple[list[bytes], bytes]]
) -> None:
    """Records are yielded in order, up to the first that is unusual or cut off."""
    assert list(whole_records(data, 0, b",")) == records


def test_a_step_ends_the_search() -> None:
    """A record that goes on behind a step is left for the next one."""
    for size, count in ((64 * 1024, 2), (64 * 1024 + 1, 1)):
        data = b"a\n" + b"x" * (size - 3) + b"\n"

        assert len(list(whole_records(data, 0, b","))) == count


@given(st.lists(st.text('a",\n\ré😀'), min_size=1))
def test_fields_have_text_and_raw_bytes(texts: list[str]) -> None:
    """A field has its text without quotes, and its bytes with them."""
    quoted = ['"' + each.replace('"', '""') + '"' for each in texts]
    raws = [each.encode() for each in quoted]
    fields = fields_of(raws)
    record = b",".join(raws)

    assert [each.text for each in fields] == texts
    assert [record[each.start : each.end] for each in fields] == raws


def test_a_field_without_quotes_is_as_it_is() -> None:
    """Quotes inside of a field that does not begin with one are text."""
    assert fields_of([b'a""b', b""]) == (
        TableField('a""b', 0, 4),
        TableField("", 5, 5),
    )


def test_a_field_must_be_utf_8() -> None:
    """A field that cannot be decoded is refused."""
    with pytest.raises(UnicodeDecodeError):
        fields_of([b"caf\xe9"])


@pytest.mark.parametrize(
    ("data", "at", "end"), [(b"a\nb\r\n", 0, 1), (b"a\nb\r\n", 2, 3), (b"abc", 1, 3)]
)
def test_physical_lines_end_at_either_character(data: bytes, at: int, end: int) -> None:
    """A line ends at a line feed or a carriage return, whichever comes first."""
    assert line_break(data, at) == end


@given(st.text(st.sampled_from("aé€😀"), min_size=1), st.integers(0, 3))
def test_the_last_character_is_not_torn(text: str, lost: int) -> None:
    """The bytes before the last character are whole, however much of it is missing."""
    data = text.encode()
    data = data[: max(1, len(data) - lost)]
    end = last_character(data, 0)

    assert data[:end].decode() == text[: len(data[:end].decode())]
    assert end < len(data)


def test_bytes_that_continue_nothing_are_all_taken() -> None:
    """If no character begins near the end, none is cut off."""
    assert last_character(b"a" + b"\x80" * 9, 0) == 10
    assert last_character(b"ab", 2) == 2
