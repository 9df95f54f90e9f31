"""Values of many rows as a column, which keeps what one check makes of it for others.

Several lints look at the same texts: to read and encode them once for all lints takes
a sixth off their time (`benchmarks/lint.py --texts escapes`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, overload


class Column(list[Any]):
    """One value of each row; it does not change once something is asked about it."""

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The types of the values."""
        return frozenset(map(type, self))

    @cached_property
    def _members(self) -> "dict[str, Column]":
        return {}

    def member(self, attributes: str) -> "Column":
        """Return an attribute of each value; names of nested ones have dots between.

        Raises `AttributeError` if a value has none.
        """
        if attributes not in self._members:
            self._members[attributes] = Column(map(attrgetter(attributes), self))
        return self._members[attributes]

    @cached_property
    def items(self) -> "list[Column] | None":
        """Of values that are lists: a column for each item, None if sizes differ."""
        sizes = set(map(len, self))
        if len(sizes) != 1:
            return None
        (size,) = sizes
        items = list(chain.from_iterable(self))
        return [Column(items[number::size]) for number in range(size)]

    @cached_property
    def is_ascii(self) -> bool:
        """Whether all characters of texts are ASCII."""
        return all(map(str.isascii, self))

    @cached_property
    def encoded(self) -> list[bytes]:
        """The texts in UTF-8.

        Raises `UnicodeEncodeError` for a surrogate without its pair.
        """
        return list(map(str.encode, self))


class JoinedTexts(Sequence[str]):
    """For each row the texts of some columns, with a NUL between them."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Take the columns, one at least; their texts are joined when they are read."""
        self._columns = columns

    @cached_property
    def _texts(self) -> list[str]:
        if len(self._columns) == 1:
            return self._columns[0]
        return list(map("\0".join, zip(*self._columns, strict=True)))

    @cached_property
    def is_ascii(self) -> bool:
        """Whether all characters are ASCII."""
        return all(column.is_ascii for column in self._columns)

    @cached_property
    def encoded(self) -> list[bytes]:
        """The texts in UTF-8, made of those of the columns.

        Raises `UnicodeEncodeError` for a surrogate without its pair.
        """
        parts = [column.encoded for column in self._columns]
        return parts[0] if len(parts) == 1 else list(map(b"\0".join, zip(*parts)))  # noqa: B905 - all are as long

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._columns[0])

    def __iter__(self) -> Iterator[str]:
        """Return the texts."""
        return iter(self._texts)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        """Return the text of a row, or of several."""
        return self._texts[row]


def as_column(values: Iterable[Any]) -> Column:
    """Return values as a column: themselves if they are one."""
    return values if isinstance(values, Column) else Column(values)
