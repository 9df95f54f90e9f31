"""Find where a row of a JSON array ends although the parser cannot read it.

Broken rows, and rows longer than the limit, are followed by brackets and quotation
marks only.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

#: Levels of nesting for which the kind of the open bracket is kept.
KINDS = 1024

_row_start = re.compile(rb'\{[ \t\r\n]*+"[^"\\]*+"|["\[{]?')
_space = re.compile(rb"[ \t\r\n]*+")
#: What may follow an array that is a member of an object.
_after_member = re.compile(
    rb'[ \t\r\n]*+(?:\}|\Z|,[ \t\r\n]*+"(?:[^"\\]|\\.)*+"[ \t\r\n]*+:)', re.DOTALL
)
# One match has few rounds, since the engine keeps every round of a group in memory.
_unbracketed = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,200}')
_between_rows = re.compile(rb'[^"{}\[\],]*+')
_characters = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}', re.DOTALL)
_COMMA, _QUOTE, _BRACKET = b',"['


@dataclass(slots=True)
class RowEndFinder:
    """Finds the end of a row by brackets and quotation marks, piece by piece."""

    #: Whether the array is a member of an object.
    inner: bool = False
    #: The offset to continue from.
    at: int = 0
    #: How many brackets are open.
    depth: int = 0
    #: Whether a string is open.
    quoted: bool = False
    #: Arrays and objects that began without a comma between them.
    values: int = 0
    #: The open brackets, outermost first.
    kinds: bytearray = field(default_factory=lambda: bytearray(KINDS))

    def find(self, data: bytes, until: int) -> int | None:
        """Read on up to offset `until`; return the row's end if it is before that."""
        while self.at < until:
            if self.quoted:
                if not self._read_string(data, until):
                    return None
                continue
            pattern = _unbracketed if self.depth else _between_rows
            self.at = _match_end(pattern, data, self.at, until)
            if self.at < until:
                if self._is_end(data):
                    return self.at
                self.at += 1
        return None

    @property
    def in_list(self) -> bool:
        """Whether the innermost open bracket is that of an array."""
        return self.depth > 0 and self.kinds[min(self.depth, KINDS) - 1] == _BRACKET

    def _read_string(self, data: bytes, until: int) -> bool:
        """Read on in the open string; tell whether any byte could be read."""
        before = self.at
        self.at = _match_end(_characters, data, before, until)
        if self.at < until and data[self.at] == _QUOTE:
            self.at += 1
            self.quoted = False
        return self.at > before

    def _is_end(self, data: bytes) -> bool:
        """Count the bracket or quotation mark reached; tell whether the row ends."""
        byte = data[self.at]
        if byte == _QUOTE:
            self.quoted = True
        elif byte in b"{[":
            self.values += self.depth == 0
            self.kinds[min(self.depth, KINDS - 1)] = byte
            self.depth += 1
        elif self.depth:
            self.depth -= 1
        elif byte in b",]":
            return byte == _COMMA or is_last_bracket(data, self.at, inner=self.inner)
        # Where a comma is missing, two rows are taken for one.
        return self.values > 2  # noqa: PLR2004 - a row and the one behind it


def end_of_broken_row(data: bytes, starts: Iterable[bytes], *, inner: bool) -> int:
    """Return where the broken row that `data` begins with ends, `len(data)` if nowhere.

    It ends where its brackets are closed, or where another row begins although a
    string or an object is still open. `starts` are beginnings of other rows, `inner`
    tells that the array is a member of an object.
    """
    row = RowEndFinder(inner=inner)
    for next_row in _next_row_pattern(data, starts).finditer(data):
        end = row.find(data, next_row.start())
        if end is not None:
            return end
        if row.quoted or (row.depth and not row.in_list):
            return next_row.start()
    end = row.find(data, len(data))
    return len(data) if end is None else end


def _next_row_pattern(data: bytes, starts: Iterable[bytes]) -> re.Pattern[bytes]:
    """Return a pattern for a comma and a beginning like those of `data` or `starts`."""
    own = start_of_row(data)
    known = {*starts, own} if len(own) > 1 else starts
    choice = b"|".join(map(re.escape, sorted(known)))
    return re.compile(rb",[ \t\r\n]*+(?:%b)" % (choice or rb'\{[ \t\r\n]*+"'))


def start_of_row(row: bytes) -> bytes:
    """Return what `row` begins with: `{` and its first key, `[`, `"`, or nothing."""
    return row[: _match_end(_row_start, row, 0, len(row))]


def is_last_bracket(data: bytes, at: int, *, inner: bool) -> bool:
    """Tell by what follows whether the `]` at `at` may be the end of the array.

    In or behind a broken row there may be a bracket too many before the array ends.
    """
    if inner:
        return _after_member.match(data, at + 1) is not None
    after = end_of_space(data, at + 1)
    return data[after : after + 1] not in {b",", b"]", b"}"}


def end_of_characters(data: bytes, end: int) -> int:
    """Return the last offset up to `end` that is not inside of a UTF-8 character."""
    for at in range(end - 1, max(end - 4, -1), -1):
        if data[at] < 0x80:  # noqa: PLR2004 - the end of ASCII
            break
        if data[at] >= 0xC0:  # noqa: PLR2004 - the first byte of several
            return at
    return end


def end_of_space(data: bytes, at: int) -> int:
    """Return the offset behind the white space at `at`."""
    return _match_end(_space, data, at, len(data))


def _match_end(pattern: re.Pattern[bytes], data: bytes, at: int, until: int) -> int:
    """Return where the match of `pattern` at `at` ends, `at` if there is none."""
    found = pattern.match(data, at, until)
    return found.end() if found else at
