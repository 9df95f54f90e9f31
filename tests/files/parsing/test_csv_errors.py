from cases import for_each_case
from harpia_formats.files.parsing.csv_records import (
    RecordFault,
    lone_carriage_return,
    record_fault,
    too_many_fields,
)


@for_each_case(
    "record, code, at, width",
    [
        (b"0123456789a", "J110", 0, 1),
        (b"a\0\0b", "J302", 1, 2),
        (b"\xff\0", "J302", 1, 1),
        (b"ab\xc3", "J103", 2, 1),
        (b"\xed\xa0\x80", "J103", 0, 1),
    ],
)
def test_syntax_error_has_a_rule_and_a_place(
    record: bytes, code: str, at: int, width: int
) -> None:
    """A record that cannot be read breaks a rule at its first wrong byte."""
    wrong = record_fault(record, 10)

    assert isinstance(wrong, RecordFault)
    assert (wrong.code, wrong.at, wrong.width, wrong.record) == (code, at, width, True)
    assert wrong.help


def test_a_record_within_the_limit_is_right() -> None:
    """A record of exactly the limit has no fault."""
    assert record_fault("\u20ac123456\n".encode(), 10) is None


def test_a_carriage_return_loses_no_record() -> None:
    """A lone carriage return loses no record."""
    assert not lone_carriage_return(3).record


def test_limit_of_fields_is_named() -> None:
    """The fault of too many fields says how many there may be."""
    assert too_many_fields().message == "the row has more than 65,536 fields"
