"""Group the records of several files, and know of each group where it began."""

import pickle
from collections.abc import Iterator
from typing import NamedTuple

from harpia_formats.grouping import KEYS, Grouping
from harpia_formats.near import nearest
from harpia_formats.needs import ConversionError
from harpia_formats.notes import Notes
from harpia_formats.problem import Place
from harpia_formats.record import Record


class Group(NamedTuple):
    """One record for all of a group, with the file and the place of the first."""

    record: Record
    notes: Notes
    file: int
    place: Place


class RecordGroups:
    """Takes records one by one, and gives back one for each group.

    Raises `ConversionError` where records cannot be grouped by `key`.
    """

    def __init__(self, key: str) -> None:
        if key not in KEYS:
            near = nearest(key, KEYS)
            hint = f"; did you mean {near}?" if near else ""
            known = ", ".join(KEYS)
            raise ConversionError(
                f"records cannot be grouped by {key!r}{hint} (known: {known})"
            )
        self._grouping = Grouping(key)

    def add(self, record: Record, file: int, place: Place) -> None:
        """Take a record of a file."""
        self._grouping.add(record, pickle.dumps((file, place)))

    def __iter__(self) -> Iterator[Group]:
        for each in self._grouping.groups():
            file, place = pickle.loads(each.place)  # noqa: S301 - written by ourselves a moment ago
            yield Group(each.record, each.notes, file, place)
