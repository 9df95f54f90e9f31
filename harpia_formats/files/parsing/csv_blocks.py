"""Cut a block of CSV bytes into whole records at once, where nothing in it is unusual.

It may only accept: a block with a lone carriage return, a NUL byte, a blank line, a
quote in an unquoted field, a record of another number of fields or bytes that are not
UTF-8 is not cut, and goes to `csv_records`, which knows what is wrong. All is done by
methods of bytes that take the whole block, since a step for each field would take most
of the time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.model.text.csv_safe import MARK, unmarked

#: Bytes of a block; more would not stay in a processor's cache.
BLOCK = 64 * 1024

#: Bytes that may stand for something in a block that has none of them.
_candidates = bytes([*range(0x1F, 0x0D, -1), 0x0B, 0x0C, *range(8, 0, -1), 0x7F])
#: Stands for a quoted field between what is outside of quotes. No block has it, since
#: it is a fault there.
_QUOTED = b"\0"


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
    csv_safe: bool = False
    #: Where each record is, once that was asked for.
    _places: list[tuple[Cursor, bytes]] | None = None

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

    def _fields(self) -> tuple[list[str], list[str]]:
        """Return all fields, those with outer quotes as they are, and their texts."""
        fields = self._text.split(self._marks.field.decode())
        # The last one has a mark behind it, too.
        del fields[-1]
        texts = fields
        if self._has_outer_pairs:
            texts = [
                _of_quotes(field) if field[:1] == '"' else field for field in fields
            ]
        if self.csv_safe and MARK in self._text:
            texts = list(map(unmarked, texts))
        return fields, texts

    def start_of(self, number: int) -> Cursor:
        """Return where in the file record `number` of the block, from 0, begins."""
        return self._placed()[number][0]

    def data_of(self, number: int) -> bytes:
        """Return the bytes of record `number` of the block, without its line end."""
        return self._placed()[number][1]

    def _placed(self) -> list[tuple[Cursor, bytes]]:
        """Return the place and the bytes of each record."""
        if self._places is not None:
            return self._places
        parts = _parts(self.data, self._marks)
        outside = _QUOTED.join(parts[::2]).replace(b"\n", self._marks.record)
        parts[::2] = outside.split(_QUOTED)
        places: list[tuple[Cursor, bytes]] = []
        at, line = 0, self.start.line
        for masked in b'"'.join(parts).split(self._marks.record)[:-1]:
            data = self.data[at : at + len(masked)]
            start = Cursor(self.start.offset + at, line, 0 if at else self.start.column)
            places.append((start, data.removesuffix(b"\r")))
            at += len(data) + 1
            line += 1 + data.count(b"\n")
        self._places = places
        return places


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
    outside = _marked(_QUOTED.join(parts[::2]), marks, delimiter, width)
    if outside is None or not _quotes_are_right(outside, last // 2, marks):
        return None
    count = _count(outside, marks.record)
    has_outer_pairs = marks.pair in outside
    if last:
        parts[::2] = outside.split(_QUOTED)
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
    behind = _count(outside, _QUOTED + field) + _count(outside, _QUOTED + record)
    if behind != quoted:
        return False
    begins = _at_begin(outside, _QUOTED, marks)
    pairs = _count(outside, pair)
    if not pairs:
        return begins == quoted
    begins += _count(outside, marks.filler + _QUOTED)
    ends = _count(outside, marks.filler + field) + _count(
        outside, marks.filler + record
    )
    ends += _count(outside, marks.filler + _QUOTED)
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
