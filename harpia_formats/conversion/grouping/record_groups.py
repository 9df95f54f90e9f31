"""Group the records of several files, and know of each group where it began."""

import pickle
from collections.abc import Iterator
from typing import NamedTuple

from harpia_formats.conversion.grouping.external_group_by import KEYS, Grouping
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record
from harpia_formats.text.spelling import nearest


class Group(NamedTuple):
    """One record for all of a group, with the file and the place of the first."""

    record: Record
    fates: FieldFates
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
            yield Group(each.record, each.fates, file, place)
