"""Find fields and records in CSV bytes; usual blocks are cut at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from itertools import accumulate, compress, repeat
from typing import NamedTuple

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.model.safe_text import MARK, unmarked

#: Bytes that are cut into records at once.
STEP = 64 * 1024
#: Fields of one record, at most; `STEP` bytes cannot hold more.
FIELD_LIMIT = STEP

_QUOTED_FIELD = rb'"[^"]*+(?:""[^"]*+)*+"'
_line_end = re.compile(rb"[\r\n]")
_last_character = re.compile(rb"[^\x80-\xbf][\x80-\xbf]{0,3}\Z")
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
    field = re.compile(rb"%b|%b|" % (_QUOTED_FIELD, plain))
    fields = rb"(%b|%b|)(%b|\r?\n)|.++" % (_QUOTED_FIELD, plain, mark)
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
    """Return where the physical line at `at` ends, which may be the end of `data`."""
    found = _line_end.search(data, at)
    return found.start() if found else len(data)


def last_character(data: bytes, at: int) -> int:
    """Return where the last UTF-8 character begins, which may be cut off."""
    found = _last_character.search(data, max(len(data) - 4, at))
    return found.start() if found else len(data)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A record of the table: the header, or a row below it."""

    start: Cursor
    #: Its bytes without its line end.
    data: bytes
    fields: tuple[TableField, ...]


@dataclass(frozen=True, slots=True)
class TableBlank:
    """Empty lines, which are no records."""

    start: Cursor
    #: How many follow each other.
    lines: int = 1
    #: Bytes that they have at least.
    size: int = 1


@dataclass(frozen=True, slots=True)
class TableFault:
    """A fault of the table, and the bytes that are skipped because of it."""

    #: The code of the rule that it breaks.
    code: str
    #: Where it is.
    start: Cursor
    #: Code points to mark from there on.
    width: int
    message: str
    help: str
    #: A piece of the physical line around its place.
    data: bytes
    #: Where in `data` it is.
    at: int
    #: The bytes of the file that are skipped, as offsets.
    passed: range
    #: These bytes; None if they are more than a record may have.
    text: bytes | None
    #: Whether a record is lost because of it.
    record: bool = True
    #: Whether the file ends inside of a field of the record.
    is_open: bool = False

    @property
    def size(self) -> int:
        """How many bytes are skipped."""
        return len(self.passed)


TablePiece = TableRow | TableBlank | TableFault


#: Bytes of a block; more would not stay in a processor's cache.
BLOCK = 128 * 1024

#: Bytes that may stand for something in a block that has none of them.
_candidates = bytes({*range(ord(" "))} - {*b"\0\t\n\r"})
#: Stands for a quoted field between what is outside of quotes. No block has it, since
#: it is a fault there.
_QUOTED_MARK = b"\0"


@dataclass(frozen=True, slots=True)
class _Marks:
    """Bytes that are not in a block, each for something in it."""

    #: Two of them stand for two quotes.
    pair: bytes
    filler: bytes
    #: Between two fields, and behind a record.
    field: bytes
    record: bytes


@dataclass(slots=True)
class TableBlock:
    """Some whole records of a table, all with as many fields as the header."""

    start: Cursor
    #: Their bytes, with line ends.
    data: bytes
    delimiter: str
    #: The number of records.
    count: int
    #: Fields of each record.
    width: int
    #: Whether a field may be in quotes that has no text, or only quotes.
    _has_outer_pairs: bool
    _text: str
    _marks: _Marks
    #: Whether the marks of cells that a spreadsheet would run are taken back.
    csv_safe: bool
    #: Where each record begins in the bytes, and on which line, once that was asked
    #: for; behind them the same of the end.
    _offsets: Sequence[int] = ()
    _lines: Sequence[int] = ()

    def rows(self, names: Sequence[str], *, drops_blank: bool) -> list[dict[str, str]]:
        """Return the fields of each record by `names`, one for each column.

        With `drops_blank` a field is left out that is blank without quotes.
        """
        fields, texts = self._fields()
        records = zip(*[iter(texts)] * self.width, strict=True)
        if not drops_blank:
            return [dict(zip(names, record, strict=True)) for record in records]
        given = zip(*[iter(fields)] * self.width, strict=True)
        # The fields are selected without a step in Python for each.
        return [
            dict(compress(zip(names, record, strict=True), is_given))
            for record, is_given in zip(records, given, strict=True)
        ]

    def columns(self) -> list[list[str]]:
        """Return the texts of each column."""
        _, texts = self._fields()
        return [texts[number :: self.width] for number in range(self.width)]

    def column(self, number: int) -> list[str]:
        """Return the texts of one column, by its number from 0."""
        fields = self._text.split(self._marks.field.decode())
        del fields[-1]
        return self._texts_of(fields[number :: self.width])

    def _fields(self) -> tuple[list[str], list[str]]:
        """Return all fields, those with outer quotes as they are, and their texts."""
        fields = self._text.split(self._marks.field.decode())
        # The last one has a mark behind it, too.
        del fields[-1]
        return fields, self._texts_of(fields)

    def _texts_of(self, fields: list[str]) -> list[str]:
        """Return the texts of fields that may have outer quotes."""
        texts = fields
        if self._has_outer_pairs:
            texts = [
                _of_quotes(field) if field[:1] == '"' else field for field in fields
            ]
        if self.csv_safe and MARK in self._text:
            texts = list(map(unmarked, texts))
        return texts

    def start_of(self, number: int) -> Cursor:
        """Return where in the file record `number` of the block, from 0, begins."""
        self._place()
        start, at, line = self.start, self._offsets[number], self._lines[number]
        return Cursor(start.offset + at, line, 0 if at else start.column)

    def data_of(self, number: int) -> bytes:
        """Return the bytes of record `number` of the block, without its line end."""
        self._place()
        data = self.data[self._offsets[number] : self._offsets[number + 1] - 1]
        return data.removesuffix(b"\r")

    def _place(self) -> None:
        """Find where the records begin, without a step in Python for each."""
        if self._offsets:
            return
        parts = _parts(self.data, self._marks)
        outside = _QUOTED_MARK.join(parts[::2]).replace(b"\n", self._marks.record)
        parts[::2] = outside.split(_QUOTED_MARK)
        records = b'"'.join(parts).split(self._marks.record)[:-1]
        self._offsets = [0, *accumulate(len(record) + 1 for record in records)]
        newlines = map(bytes.count, records, repeat(b"\n"))
        self._lines = [
            *accumulate((1 + count for count in newlines), initial=self.start.line)
        ]


def _of_quotes(field: str) -> str:
    """Return the text of a field that begins with a quote.

    Of quotes only, one pair are those around the text.
    """
    return field if field.strip('"') else field[1:]


def cut_block(
    data: bytes, start: Cursor, delimiter: bytes, width: int, *, csv_safe: bool = False
) -> TableBlock | None:
    """Return the whole records in `data`, which begins with one; None if unsure.

    `start` is where `data` begins in the file; the header has `width` fields. With
    `csv_safe`, the marks of cells that a spreadsheet would run are taken back.
    """
    marks = _marks_for(data, delimiter)
    if marks is None:
        return None
    parts = _parts(data, marks)
    last = (len(parts) - 1) // 2 * 2
    while not (end := parts[last].rfind(b"\n") + 1):
        last -= 2
        if last < 0:
            return None
    del parts[last + 1 :]
    parts[last] = parts[last][:end]
    size = sum(map(len, parts)) + last
    outside = _marked(_QUOTED_MARK.join(parts[::2]), marks, delimiter, width)
    if outside is None or not _quotes_are_right(outside, last // 2, marks):
        return None
    count = _count(outside, marks.record)
    has_outer_pairs = marks.pair in outside
    if last:
        parts[::2] = outside.split(_QUOTED_MARK)
        outside = b"".join(parts)
    if marks.pair in outside:
        outside = outside.translate(_final_table(marks), marks.filler)
    else:
        outside = outside.replace(marks.record, marks.field)
    try:
        text = outside.decode()
    except UnicodeDecodeError:
        return None
    return TableBlock(
        start,
        data[:size],
        delimiter.decode(),
        count,
        width,
        has_outer_pairs,
        text,
        marks,
        csv_safe,
    )


def _marks_for(data: bytes, delimiter: bytes) -> _Marks | None:
    """Return bytes that are not in `data`, None if there are not enough."""
    if b"\0" in data:
        return None
    free = list[bytes]()
    for number in _candidates:
        mark = bytes((number,))
        if mark not in data and mark != delimiter:
            free.append(mark)
            if len(free) == len(_Marks.__slots__):
                return _Marks(*free)
    return None


def _parts(data: bytes, marks: _Marks) -> list[bytes]:
    """Return what is outside of quotes and inside, in turn, with marks for pairs.

    Of a run of quotes all but the last one of an odd number become marks, so each quote
    that is left opens or closes a field. The length of the data does not change.
    """
    # Mostly there are no pairs, and one search says so.
    if stringzilla.find(data, b'""') < 0:
        return data.split(b'"')
    # Replacing two bytes by two is done in place, without counting them first.
    return data.replace(b'""', marks.pair + marks.filler).split(b'"')


def _marked(
    outside: bytes, marks: _Marks, delimiter: bytes, width: int
) -> bytes | None:
    """Return what is outside of quotes with marks for delimiters and line ends.

    None if a record has another number of fields, or a line end is unusual.
    """
    if b"\r" in outside:
        if _count(outside, b"\r") != _count(outside, b"\r\n"):
            return None
        # Deleting one byte takes a fraction of the time of replacing two.
        outside = outside.replace(b"\r", b"")
    outside = outside.replace(delimiter, marks.field).replace(b"\n", marks.record)
    record = marks.field * (width - 1) + marks.record
    shape = outside.translate(None, _all_but(marks))
    if shape != record * _count(outside, marks.record):
        return None
    # With more than one column, a blank line has too few fields.
    if width == 1 and (outside.startswith(marks.record) or marks.record * 2 in outside):
        return None
    return outside


def _quotes_are_right(outside: bytes, quoted: int, marks: _Marks) -> bool:
    """Return whether all quotes are at the beginning and the end of fields.

    `quoted` is the number of fields with quotes that are not in pairs.
    """
    field, record, pair = marks.field, marks.record, marks.pair
    behind = _count(outside, _QUOTED_MARK + field) + _count(
        outside, _QUOTED_MARK + record
    )
    if behind != quoted:
        return False
    begins = _at_begin(outside, _QUOTED_MARK, marks)
    pairs = _count(outside, pair)
    if not pairs:
        return begins == quoted
    begins += _count(outside, marks.filler + _QUOTED_MARK)
    ends = _count(outside, marks.filler + field) + _count(
        outside, marks.filler + record
    )
    ends += _count(outside, marks.filler + _QUOTED_MARK)
    if begins == quoted and pairs == ends == _at_begin(outside, pair, marks):
        # Each pair is an empty field, or the beginning of one.
        return True
    runs = [found[0] for found in _outer_pairs(marks).finditer(outside)]
    return begins == quoted and sum(map(len, runs)) == 2 * pairs


def _at_begin(outside: bytes, mark: bytes, marks: _Marks) -> int:
    """Return how often `mark` is at the beginning of a field."""
    first = outside.startswith(mark)
    behind = _count(outside, marks.field + mark) + _count(outside, marks.record + mark)
    return behind + first


def _count(data: bytes, part: bytes) -> int:
    """Return how often `part`, in which no byte repeats, is in `data`.

    It compares many bytes at once, where the method of bytes stops at each part.
    """
    count: int = stringzilla.count(data, part)
    return count


@cache
def _outer_pairs(marks: _Marks) -> re.Pattern[bytes]:
    """Return how pairs look that begin a field, or are all of it."""
    ends = re.escape(marks.field + marks.record)
    pair, filler = re.escape(marks.pair), re.escape(marks.filler)
    # The first byte is a fixed one, which is searched fast.
    return re.compile(
        rb"%b(?<![^%b]%b)%b(?:%b%b)*+(?=[%b\0])"
        % (pair, ends, pair, filler, pair, filler, ends)
    )


@cache
def _all_but(marks: _Marks) -> bytes:
    """Return all bytes but those between fields and behind records."""
    return bytes(set(range(256)) - {*marks.field, *marks.record})


@cache
def _final_table(marks: _Marks) -> bytes:
    """Return the table that makes quotes of pairs, and separates all fields alike."""
    return bytes.maketrans(marks.pair + marks.record, b'"' + marks.field)
