"""TOML files: documents within limits, the lines of their keys, and what is written.

The parser of the standard library takes a time that grows with the square of the parts
of a key, so the limits hold before it sees anything.
"""

import io
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Any

from harpia_formats.model.describe import short_json
from harpia_formats.model.problem import TomlError

#: Characters of a value in a message.
_SHOWN = 60
#: Bytes of a document, its keys, and how many keys and arrays are inside each other.
LARGEST, MAX_KEYS, MAX_DEPTH = 1024 * 1024, 10_000, 20
#: Before Python 3.11.5, a possessive repeat that looks ahead ends at a wrong place
#: (gh-106052); a greedy one in an atomic group does not.
_token = re.compile(
    r"""
      (?: \#[^\n]*+
        | \"{3} (?> (?: [^"\\]++ | \\. | "(?!"") )* ) \"{3,5}
        | '{3} (?> (?: [^']++ | '(?!'') )* ) '{3,5}
        | " (?: [^"\\\n]++ | \\[^\n] )*+ "
        | ' [^'\n]*+ '
      )
      | (?P<sign> [\n.,=\[\]{}"'] )
    """,
    re.VERBOSE | re.DOTALL,
)


def toml_document(data: bytes, path: str) -> dict[str, Any]:
    """Return a TOML document; a byte order mark is passed over.

    Raises `TomlError` for text that is no TOML, and for more of it than the limits
    allow, before it is parsed.
    """
    if len(data) > LARGEST:
        reason = f"has {len(data):,} bytes, more than the {LARGEST:,} that are read"
        raise TomlError(path, "", reason)
    try:
        text = data.decode("utf-8-sig")
        for _ in statements(text):
            pass
        return tomllib.loads(text)
    except TomlLimitError as error:
        raise TomlError(path, f"line {error.line}", error.reason) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TomlError(path, f"line {line}", "is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise TomlError(path, "", f"is not TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, a huge number
        raise TomlError(path, "", f"is not TOML: {error}") from error


def described_value(value: Any) -> str:
    """Return what a value is, in few words."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array" if all(isinstance(one, str) for one in value) else "a mixture"
    if isinstance(value, str):
        return short_json(value)
    return str(value).lower() if isinstance(value, bool) else str(value)[:_SHOWN]


def toml_key(name: str) -> str:
    """Return a key as TOML writes it."""
    is_bare = name and all(
        one.isascii() and (one.isalnum() or one in "-_") for one in name
    )
    return name if is_bare else short_json(name)


def toml_name(name: str) -> str:
    """Return a key, in quotes if it needs them."""
    return _written({name: 0}).removesuffix(" = 0")


def toml_value(value: Any) -> str:
    """Return a text, a truth value, a number, or a list or table of such, in one line.

    The parts are written by tomli-w; but it puts the items of an array in lines of
    their own and has no table in one line, and comments stand between our keys. Raises
    `ValueError` for a value that has no TOML.
    """
    if isinstance(value, Mapping):
        members = (
            f"{toml_name(key)} = {toml_value(one)}" for key, one in value.items()
        )
        inside = ", ".join(members)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool | int | float | str):
        return _written({"x": value}).removeprefix("x = ")
    raise ValueError(f"{value!r} cannot be written as TOML")


def _written(document: Mapping[str, Any]) -> str:
    """Return a document of one line without the end of the line."""
    import tomli_w  # noqa: PLC0415 - few commands write TOML

    return tomli_w.dumps(document).removesuffix("\n")


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


class TomlLines:
    """The line of each key of a TOML document, by the path of the key.

    The document must be TOML. Items of arrays of tables have no lines of their own.
    """

    def __init__(self, text: str) -> None:
        self._lines = list(io.StringIO(text, newline="\n"))
        self._numbers: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, statement in statements(text):
            if not statement.strip() or statement.lstrip().startswith("#"):
                continue
            found = tomllib.loads(statement)
            if statement.lstrip().startswith("["):
                table = _chain(found)
                paths = [table[:end] for end in range(1, len(table) + 1)]
            else:
                paths = [(*table, *path) for path in _paths(found)]
            for path in paths:
                self._numbers.setdefault(path, number)

    def of(self, path: tuple[str, ...]) -> int:
        """Return the line of a key, from 1: that of its table if it has none."""
        while path and path not in self._numbers:
            path = path[:-1]
        return self._numbers.get(path, 1)

    def text_of(self, number: int) -> str:
        """Return the text of a line without its end."""
        return self._lines[number - 1].rstrip("\r\n") if self._lines else ""

    def offset_of(self, number: int) -> int:
        """Return how many bytes of UTF-8 are before a line."""
        return self._offsets[number - 1]

    @cached_property
    def _offsets(self) -> list[int]:
        """The offset of each line, and of the end, in bytes."""
        sizes = (len(line.encode()) for line in self._lines)
        return list(accumulate(sizes, initial=0))


def _chain(found: Any) -> tuple[str, ...]:
    """Return the path of the table that a header names."""
    path: list[str] = []
    while found:
        if isinstance(found, list):
            found = found[0]
            continue
        ((name, found),) = found.items()
        path.append(name)
    return tuple(path)


def _paths(table: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key in nested tables."""
    for name, value in table.items():
        yield (name,)
        if isinstance(value, dict):
            yield from ((name, *path) for path in _paths(value))
