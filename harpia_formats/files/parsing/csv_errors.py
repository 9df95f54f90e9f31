"""Faults of CSV records: a rule, a place, and a message for the user."""

import re
from dataclasses import dataclass

from harpia_formats.files.parsing.csv_delimiter import named
from harpia_formats.files.parsing.csv_fields import FIELD_LIMIT
from harpia_formats.files.parsing.utf8_faults import first_fault

#: A quoted field, or NUL bytes outside of quotes (group 1).
_nul_bytes = re.compile(rb'"[^"]*+"|(\0+)')


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A fault of a record; its place is in bytes from the start of the record."""

    #: The code of the rule that it breaks.
    code: str
    at: int
    message: str
    help: str
    #: Code points concerned.
    width: int = 1
    #: Whether the record is lost because of it.
    record: bool = True


def record_fault(record: bytes, limit: int) -> RecordFault | None:
    """Return the first fault of a record whose fields were found, None if none.

    `limit` is the most bytes that a record may have.
    """
    if len(record) > limit:
        return too_long(limit)
    nul = next((found for found in _nul_bytes.finditer(record) if found[1]), None)
    if nul:
        message = "a NUL byte stands outside of quotes"
        help_ = "remove it, or save the file as UTF-8 if it is UTF-16 or UTF-32"
        return RecordFault("J302", nul.start(), message, help_, len(nul[0]))
    if fault := first_fault(record, None):
        return RecordFault("J103", fault.start, fault.message, fault.help)
    return None


def too_long(limit: int) -> RecordFault:
    """Return the fault that a record has more than `limit` bytes."""
    message = f"the row is longer than the limit of {limit:,} bytes"
    help_ = "put line ends where they belong, or raise the limit with --max-row-bytes"
    return RecordFault("J110", 0, message, help_)


def too_many_fields() -> RecordFault:
    """Return the fault that a record has more than `FIELD_LIMIT` fields."""
    message = f"the row has more than {FIELD_LIMIT:,} fields"
    return RecordFault("J110", 0, message, "put line ends where they belong")


def not_doubled(at: int, delimiter: str) -> RecordFault:
    """Return the fault that text at `at` follows the closing quote of a field."""
    mark = named(delimiter)
    message = f"something else than a {mark} stands behind the quote that ends a field"
    return RecordFault(
        "J301", at, message, "a quote inside of a quoted field must be doubled"
    )


def not_closed(at: int, how: str) -> RecordFault:
    """Return the fault that the quote at `at` is not closed; `how` says why."""
    help_ = "close it, and double each quote that is part of the text"
    return RecordFault(
        "J301", at, f"the quote that begins here is not closed: {how}", help_
    )


def lone_carriage_return(at: int) -> RecordFault:
    """Return the fault that a carriage return without a line feed ends a record."""
    message = "a carriage return ends the row without the line feed that belongs to it"
    help_ = (
        "end each row with LF or CRLF; where Python's csv writes the file, open it "
        "with newline=''"
    )
    return RecordFault("J303", at, message, help_, record=False)
