"""Which records lack a value of a field: how many, and the first of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NamedTuple, Self

from msgspec import UNSET, UnsetType

_sized = {str, list, dict}


class RecordPlace(NamedTuple):
    """The place of a record.

    Files count from 0 in the order in which they are read, records and lines from 1. A
    line is that where the record begins, 0 if it is not known.
    """

    file: int
    record: int
    line: int = 0


#: Returns the place of the record that a value in a column is of, by its index.
PlaceOf = Callable[[int], RecordPlace]


@dataclass(slots=True)
class Lacking:
    """How many records or answers lack a value, and the place of the first one."""

    count: int = 0
    first: RecordPlace | None = None

    def add(self, count: int, first: RecordPlace | None) -> None:
        """Add some records, the first of which is at `first`."""
        self.count += count
        if self.first is None or (first is not None and first < self.first):
            self.first = first

    def add_where(self, lacks: list[bool], place: PlaceOf) -> None:
        """Add the records for which `lacks` is true."""
        count = sum(lacks)
        if count:
            self.add(count, place(lacks.index(True)))


@dataclass(slots=True)
class FieldCount:
    """How often a field is there, and how often it is missing, null or empty.

    A text is empty if it has nothing but white space, a list or an object if it has no
    members.
    """

    #: Records or answers, which may have the field.
    count: int = 0
    missing: Lacking = field(default_factory=Lacking)
    null: Lacking = field(default_factory=Lacking)
    empty: Lacking = field(default_factory=Lacking)

    @property
    def is_known(self) -> bool:
        """Whether some record has the field."""
        return self.missing.count < self.count

    def add(self, column: Sequence[Any], place: PlaceOf) -> None:
        """Add the values of the field in some records or answers."""
        self.count += len(column)
        kinds = set(map(type, column))
        if UnsetType in kinds:
            self.missing.add_where([value is UNSET for value in column], place)
        if NoneType in kinds:
            self.null.add_where([value is None for value in column], place)
        if kinds & _sized and _has_empty(column, kinds):
            self.empty.add_where([_is_empty(value) for value in column], place)

    def merge(self, other: Self, shift: Callable[[RecordPlace], RecordPlace]) -> None:
        """Add the records of `other`, whose places `shift` moves."""
        self.count += other.count
        for mine, theirs in (
            (self.missing, other.missing),
            (self.null, other.null),
            (self.empty, other.empty),
        ):
            first = theirs.first
            mine.add(theirs.count, None if first is None else shift(first))


def _has_empty(column: Sequence[Any], kinds: set[type]) -> bool:
    """Return whether a value may be empty; true also where that was not looked at."""
    if kinds == {str}:
        return not all(column) or any(map(str.isspace, column))
    return str in kinds or not all(column)


def _is_empty(value: Any) -> bool:
    if type(value) is str:
        return not value or value.isspace()
    return type(value) in _sized and not value
