"""What is wrong with a record of a table, said to the person who mends it."""

import re
from dataclasses import dataclass

from harpia_formats.parsing.csv_fields import FIELD_LIMIT
from harpia_formats.parsing.json_errors import first_fault

#: What stands in quotes, or NUL bytes that do not.
_nul_bytes = re.compile(rb'"[^"]*+"|(\0+)')


@dataclass(frozen=True, slots=True)
class RecordFault:
    """What is wrong with a record; the place is in bytes from its start."""

    code: str
    at: int
    message: str
    help: str
    #: Code points concerned.
    width: int = 1
    #: Whether the record is lost to it.
    record: bool = True


def record_fault(record: bytes, limit: int) -> RecordFault | None:
    """Return why `record` cannot be taken although its fields can be told apart."""
    if len(record) > limit:
        return too_long(limit)
    nul = next((each for each in _nul_bytes.finditer(record) if each[1]), None)
    if nul:
        message = "a NUL byte stands outside of quotes"
        mend = "remove it, or save the file as UTF-8 if it is UTF-16 or UTF-32"
        return RecordFault("J302", nul.start(), message, mend, len(nul[0]))
    if fault := first_fault(record, None):
        return RecordFault("J103", fault.start, fault.message, fault.help)
    return None


def too_long(limit: int) -> RecordFault:
    """Return that a record has more than `limit` bytes."""
    message = f"the row is longer than the limit of {limit:,} bytes"
    mend = "put line ends where they belong, or raise the limit with --max-row-bytes"
    return RecordFault("J110", 0, message, mend)


def too_many_fields() -> RecordFault:
    """Return that a record has more fields than can be kept."""
    message = f"the row has more than {FIELD_LIMIT:,} fields"
    return RecordFault("J110", 0, message, "put line ends where they belong")


def not_doubled(at: int) -> RecordFault:
    """Return that the character at `at` follows a quote inside of a field."""
    message = "something else than a comma stands behind the quote that ends a field"
    return RecordFault(
        "J301", at, message, "a quote inside of a quoted field must be doubled"
    )


def not_closed(at: int, how: str) -> RecordFault:
    """Return that the quote at `at` is not closed, and `how` that is known."""
    mend = "close it, and double each quote that is part of the text"
    return RecordFault(
        "J301", at, f"the quote that begins here is not closed: {how}", mend
    )


def lone_carriage_return(at: int) -> RecordFault:
    """Return that the carriage return at `at` ends a record alone."""
    message = "a carriage return ends the row without the line feed that belongs to it"
    mend = (
        "end each row with LF or CRLF; where Python's csv writes the file, open it "
        "with newline=''"
    )
    return RecordFault("J303", at, message, mend, record=False)
