"""Group the records of several files, with the file and the place of each group."""

import pickle
from collections.abc import Iterator
from typing import NamedTuple

from harpia_formats.conversion.grouping.external_group_by import KEYS, ExternalGroupBy
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record
from harpia_formats.text.spelling import nearest


class RecordGroup(NamedTuple):
    """The record of one group, with the file and the place of its first record."""

    record: Record
    fates: FieldFates
    #: The index of the file.
    file: int
    place: Place


class RecordGroups:
    """Collects records one by one, and yields one record for each group.

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
        self._group_by = ExternalGroupBy(key)

    def add(self, record: Record, file: int, place: Place) -> None:
        """Add a record of the file with index `file`."""
        self._group_by.add(record, pickle.dumps((file, place)))

    def __iter__(self) -> Iterator[RecordGroup]:
        for merged in self._group_by.groups():
            file, place = pickle.loads(merged.place)  # noqa: S301 - pickled by `add`
            yield RecordGroup(merged.record, merged.fates, file, place)
