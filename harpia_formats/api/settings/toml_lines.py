"""Find the lines of a TOML document that its keys stand in."""

import io
import tomllib
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any

from harpia_formats.api.settings.toml_statements import statements


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
