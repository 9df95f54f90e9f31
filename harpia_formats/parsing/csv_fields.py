"""Find fields and records in CSV bytes; nothing is read or decided here.

Source: RFC 4180. As Python's csv and most programs do, it also takes LF for a line
end, and a quote inside of a field that does not begin with one for text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

#: Bytes that are cut into records at once.
STEP = 64 * 1024
#: Fields of one record, at most. So many bytes make no more of them.
FIELD_LIMIT = STEP

_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'
_PLAIN = rb'[^",\r\n][^,\r\n]*+'
_field = re.compile(rb"%b|%b|" % (_QUOTED, _PLAIN))
#: A field with what ends it, or all the rest, which keeps a search where it is.
_fields = re.compile(rb"(%b|%b|)(,|\r?\n)|.++" % (_QUOTED, _PLAIN), re.DOTALL)
_line_end = re.compile(rb"[\r\n]")
_COMMA, _LINE_ENDS = 0x2C, b"\r\n"


class TableField(NamedTuple):
    """One field: what it says, and its bytes in the record, quotes included.

    A named tuple, because a frozen dataclass takes twice as long to make.
    """

    text: str
    start: int
    end: int


class RecordEnding(Enum):
    """Why no more fields of a record can be found."""

    #: It ends, before a line end or with the file.
    WHOLE = auto()
    #: It may go on behind what is held.
    OPEN = auto()
    #: Something else than a comma or a line end is behind a closing quote.
    BROKEN = auto()
    #: It has more fields than the limit.
    CROWDED = auto()


@dataclass(frozen=True, slots=True)
class RecordCut:
    """How far a record was cut into fields; all places are from its start."""

    ending: RecordEnding
    #: Bytes up to the place where it stopped.
    size: int
    #: Where the field begins that it stopped in or behind.
    last: int
    #: Whether that field is quoted.
    quoted: bool
    #: The bytes of the fields before that place.
    raws: list[bytes]


def cut_record(data: bytes, at: int, end: int, *, final: bool) -> RecordCut:
    """Cut the record at `at` into fields; `final` says that the file ends at `end`."""
    begin, ending, raws = at, None, list[bytes]()
    while not ending:
        stop = _end_of_field(data, at, end)
        quoted = data.startswith(b'"', at, end)
        if quoted and stop == at:
            ending, stop = RecordEnding.OPEN, end
            break
        raws.append(data[at:stop])
        if stop == end:
            ending = RecordEnding.WHOLE if final else RecordEnding.OPEN
        elif data[stop] in _LINE_ENDS:
            ending = RecordEnding.WHOLE
        elif data[stop] != _COMMA:
            ending = RecordEnding.BROKEN
        elif len(raws) == FIELD_LIMIT:
            ending = RecordEnding.CROWDED
        else:
            at = stop + 1
    return RecordCut(ending, stop - begin, at - begin, quoted, raws)


def _end_of_field(data: bytes, at: int, end: int) -> int:
    """Return where the field at `at` ends; `at` itself if its quote is not closed."""
    found = _field.match(data, at, end)
    return found.end() if found else at


def whole_records(data: bytes, at: int) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield the fields and the line end of each record, one behind the other.

    It stops at the first that does not end within `STEP` bytes of `at`, that is
    broken, or that a carriage return alone ends.
    """
    raws = list[bytes]()
    for raw, behind in _fields.findall(data, at, at + STEP):
        raws.append(raw)
        if not behind:
            return
        if behind != b",":
            yield raws, behind
            raws = []


def fields_of(raws: Iterable[bytes]) -> tuple[TableField, ...]:
    """Return the fields of a record, given their bytes; raises `UnicodeDecodeError`."""
    fields, start = [], 0
    for raw in raws:
        end = start + len(raw)
        text = raw.decode()
        if raw.startswith(b'"'):
            text = text[1:-1].replace('""', '"')
        fields.append(TableField(text, start, end))
        start = end + 1
    return tuple(fields)


def line_break(data: bytes, at: int) -> int:
    """Return where the physical line at `at` ends, -1 if it goes on behind `data`."""
    found = _line_end.search(data, at)
    return found.start() if found else -1


def last_character(data: bytes, at: int) -> int:
    """Return where the last character begins; all of it may not be held."""
    for each in range(len(data) - 1, max(len(data) - 4, at) - 1, -1):
        if data[each] & 0xC0 != 0x80:  # noqa: PLR2004 - a byte that continues no character
            return each
    return len(data)
