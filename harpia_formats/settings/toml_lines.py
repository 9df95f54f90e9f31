"""Find the lines of a TOML document that its keys stand in."""

import tomllib
from collections.abc import Iterator
from typing import Any

#: What ends a statement of several lines; others of its lines are not tried as its end.
_ENDS = ("]", "}", '"""', "'''")


class TomlLines:
    """The line of each key of a TOML document, by the path of the key.

    The document must be TOML. Items of arrays of tables have no lines of their own.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._numbers: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, statement in _statements(self._lines):
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
        return len("".join(self._lines[: number - 1]).encode())


def _statements(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each statement with the number of its first line."""
    waiting, first = "", 1
    for number, line in enumerate(lines, 1):
        if not waiting:
            first = number
            if not line.strip() or line.lstrip().startswith("#"):
                continue
        elif not any(end in line for end in _ENDS):
            waiting += line
            continue
        waiting += line
        try:
            tomllib.loads(waiting)
        except tomllib.TOMLDecodeError:
            continue
        yield first, waiting
        waiting = ""


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
