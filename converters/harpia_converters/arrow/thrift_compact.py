"""Structures in Thrift's compact protocol, as Parquet writes what it says of its data.

Source: `doc/specs/thrift-compact-protocol.md` of apache/thrift.
"""

from collections.abc import Iterator
from typing import Any

#: Levels of structures and lists, at most.
_DEEPEST = 8


class BadStructureError(ValueError):
    """Bytes that are no structure in this protocol."""


class Compact:
    """Reads a structure; raises `IndexError` where it is longer than the bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        #: The place behind what was read.
        self.at = 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the members of a structure by their numbers."""
        found: dict[int, Any] = {}
        for number, kind in self.members():
            found[number] = self.value(kind, depth)
        return found

    def value(self, kind: int, depth: int = 0) -> Any:
        """Return a value: a number, a truth value, a structure, or None for others."""
        if depth > _DEEPEST:
            raise BadStructureError
        if kind in {1, 2}:
            return kind == 1
        if kind == 3:  # noqa: PLR2004 - a byte
            return self._byte()
        if kind in {4, 5, 6}:
            return self._signed()
        if kind in {7, 8}:
            self._skip(8 if kind == 7 else self._unsigned())  # noqa: PLR2004 - a float
            return None
        if kind in {9, 10}:
            return self._skip_list(depth)
        if kind == 12:  # noqa: PLR2004 - a structure
            return self.structure(depth + 1)
        raise BadStructureError

    def members(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each member of a structure, which is read then."""
        number = 0
        while kind := self._byte():
            delta = kind >> 4
            number = number + delta if delta else self._signed()
            yield number, kind & 15

    def items(self) -> Iterator[int]:
        """Yield the kind of each item of a list, which is read then."""
        head = self._byte()
        size = head >> 4
        if size == 15:  # noqa: PLR2004 - the size follows
            size = self._unsigned()
        for _ in range(size):
            yield head & 15

    def _skip_list(self, depth: int) -> None:
        """Go behind a list."""
        for kind in self.items():
            if kind in {1, 2}:
                self._byte()
            else:
                self.value(kind, depth + 1)

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def _byte(self) -> int:
        found = self._data[self.at]
        self.at += 1
        return found

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the last byte
                return found
            shift += 7
            if shift > 63:  # noqa: PLR2004 - bits
                raise BadStructureError

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
