"""Cut TOML into statements, and refuse more of it than is parsed in a moment.

The parser of the standard library takes a time that grows with the square of the parts
of a key, so the limits hold before it sees anything.
"""

import re
from collections.abc import Iterator

#: Bytes of a document, its keys, and how many keys and arrays are inside each other.
LARGEST, MAX_KEYS, MAX_DEPTH = 1024 * 1024, 10_000, 20
_token = re.compile(
    r"""
      (?: \#[^\n]*+
        | \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ \"{3,5}
        | '{3} (?: [^']++ | '(?!'') )*+ '{3,5}
        | " (?: [^"\\\n]++ | \\[^\n] )*+ "
        | ' [^'\n]*+ '
      )
      | (?P<sign> [\n.,=\[\]{}"'] )
    """,
    re.VERBOSE | re.DOTALL,
)


class TomlLimitError(ValueError):
    """A document beyond one of the limits, with the line of what is beyond it."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement, blank line and comment with the number of its first line.

    It ends where text is no TOML. Raises `TomlLimitError`.
    """
    nesting, keys = _Nesting(), 0
    begin, first, line = 0, 1, 1
    for token in _token.finditer(text):
        sign = token["sign"]
        if sign is None:
            line += token[0].count("\n")
        elif sign in {'"', "'"}:  # a text without an end
            return
        elif sign == "\n":
            line += 1
            if nesting.ends_statement():
                yield first, text[begin : token.end()]
                begin, first = token.end(), line
        else:
            keys += nesting.begins_key(sign)
            if keys > MAX_KEYS:
                raise TomlLimitError(line, f"has more than {MAX_KEYS:,} keys")
            if nesting.with_sign(sign) > MAX_DEPTH:
                reason = f"has keys that are nested more than {MAX_DEPTH} deep"
                raise TomlLimitError(line, reason)
    if text[begin:]:
        yield first, text[begin:]


class _Nesting:
    """How deep keys are at one place of a document, at least."""

    def __init__(self) -> None:
        #: The parts of the key before each bracket that is open, and their sum.
        self._open: list[int] = []
        self._outside = 0
        #: The parts of the last key.
        self._parts = 1
        #: The depth of the table, and the greatest one of a statement that names one.
        self._table = self._named = 0
        #: Whether no sign of the statement was there yet.
        self._is_begin = True

    def begins_key(self, sign: str) -> bool:
        """Return whether a sign is that of one more key, or of the name of a table."""
        return sign == "=" or (sign == "[" and self._is_begin)

    def with_sign(self, sign: str) -> int:
        """Return the depth behind a sign."""
        if sign == "[" and self._is_begin:
            self._table, self._named = 0, 1
        self._is_begin = False
        if sign == ".":
            self._parts += 1
        elif sign == ",":
            self._parts = 1
        elif sign in {"[", "{"}:
            self._open.append(self._parts)
            self._outside += self._parts
            self._parts = 1
        elif sign in {"]", "}"} and self._open:
            self._parts = self._open.pop()
            self._outside -= self._parts
        inside = self._outside + self._parts
        if self._named:
            self._named = max(self._named, inside)
        return self._table + inside

    def ends_statement(self) -> bool:
        """Note the end of a line; return whether a statement ends with it."""
        if self._open:
            return False
        self._parts, self._is_begin = 1, True
        if self._named:
            self._table, self._named = self._named, 0
        return True
