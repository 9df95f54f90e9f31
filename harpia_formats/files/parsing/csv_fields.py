"""Find the fields and records in CSV bytes.

Source: RFC 4180. Like Python's csv and most programs, this also accepts LF as a line
end, and takes a quote inside of a field that does not begin with one as text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from harpia_formats.model.text.csv_safe import unmarked

#: Bytes that are cut into records at once.
STEP = 64 * 1024
#: Fields of one record, at most; `STEP` bytes cannot hold more.
FIELD_LIMIT = STEP

_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'
_line_end = re.compile(rb"[\r\n]")
_LINE_ENDS = b"\r\n"


class _Patterns(NamedTuple):
    """How fields look that a delimiter separates."""

    field: re.Pattern[bytes]
    #: A field with what ends it, or all the rest, which keeps a search where it is.
    fields: re.Pattern[bytes]


@cache
def _patterns(delimiter: bytes) -> _Patterns:
    """Return how fields look that `delimiter`, one byte, separates."""
    mark = re.escape(delimiter)
    plain = rb'[^"%b\r\n][^%b\r\n]*+' % (mark, mark)
    field = re.compile(rb"%b|%b|" % (_QUOTED, plain))
    fields = rb"(%b|%b|)(%b|\r?\n)|.++" % (_QUOTED, plain, mark)
    return _Patterns(field, re.compile(fields, re.DOTALL))


class TableField(NamedTuple):
    """One field: its text, and its bytes in the record, quotes included.

    A named tuple, because a frozen dataclass takes twice as long to create.
    """

    text: str
    start: int
    end: int


class RecordEnding(Enum):
    """Why the search for fields of a record stopped."""

    #: It ends, before a line end or with the file.
    WHOLE = auto()
    #: It may go on behind what is held.
    OPEN = auto()
    #: Something else than a delimiter or a line end is behind a closing quote.
    BROKEN = auto()
    #: It has more fields than the limit.
    CROWDED = auto()


@dataclass(frozen=True, slots=True)
class RecordCut:
    """How far a record was cut into fields; all offsets are from its start."""

    ending: RecordEnding
    #: Bytes up to where the search stopped.
    size: int
    #: Where the field begins in which, or behind which, it stopped.
    last: int
    #: Whether that field is quoted.
    quoted: bool
    #: The bytes of each field before that.
    raws: list[bytes]


def cut_record(
    data: bytes, at: int, end: int, delimiter: bytes, *, final: bool
) -> RecordCut:
    """Cut the record at `at` into fields; `final` says that the file ends at `end`."""
    begin, ending, raws = at, None, list[bytes]()
    pattern = _patterns(delimiter).field
    while not ending:
        stop = _end_of_field(data, at, end, pattern)
        quoted = data.startswith(b'"', at, end)
        if quoted and stop == at:
            ending, stop = RecordEnding.OPEN, end
            break
        raws.append(data[at:stop])
        if stop == end:
            ending = RecordEnding.WHOLE if final else RecordEnding.OPEN
        elif data[stop] in _LINE_ENDS:
            ending = RecordEnding.WHOLE
        elif data[stop] != delimiter[0]:
            ending = RecordEnding.BROKEN
        elif len(raws) == FIELD_LIMIT:
            ending = RecordEnding.CROWDED
        else:
            at = stop + 1
    return RecordCut(ending, stop - begin, at - begin, quoted, raws)


def _end_of_field(data: bytes, at: int, end: int, field: re.Pattern[bytes]) -> int:
    """Return where the field at `at` ends; `at` itself if its quote is not closed."""
    found = field.match(data, at, end)
    return found.end() if found else at


def whole_records(
    data: bytes, at: int, delimiter: bytes
) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield the fields and the line end of each record from `at` on.

    Stops before a record that is broken, that does not end within `STEP` bytes of
    `at`, or that only a carriage return ends.
    """
    raws = list[bytes]()
    for raw, behind in _patterns(delimiter).fields.findall(data, at, at + STEP):
        raws.append(raw)
        if not behind:
            return
        if behind != delimiter:
            yield raws, behind
            raws = []


def fields_of(
    raws: Iterable[bytes], *, csv_safe: bool = False
) -> tuple[TableField, ...]:
    """Return the fields of a record, given the bytes of each.

    With `csv_safe`, the marks of cells that a spreadsheet would run are taken back.

    Raises `UnicodeDecodeError` if they are not UTF-8.
    """
    fields, start = [], 0
    for raw in raws:
        end = start + len(raw)
        text = raw.decode()
        if raw.startswith(b'"'):
            text = text[1:-1].replace('""', '"')
        if csv_safe:
            text = unmarked(text)
        fields.append(TableField(text, start, end))
        start = end + 1
    return tuple(fields)


def line_break(data: bytes, at: int) -> int:
    """Return where the physical line at `at` ends, -1 if it does not end in `data`."""
    found = _line_end.search(data, at)
    return found.start() if found else -1


def last_character(data: bytes, at: int) -> int:
    """Return where the last UTF-8 character begins, which may be cut off."""
    for offset in range(len(data) - 1, max(len(data) - 4, at) - 1, -1):
        if data[offset] & 0xC0 != 0x80:  # noqa: PLR2004 - the mark of a continuation byte
            return offset
    return len(data)
