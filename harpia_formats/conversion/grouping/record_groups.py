"""Group the records of several files, with the file and the place of each group."""

import pickle
from collections.abc import Iterator
from typing import NamedTuple

from harpia_formats.conversion.grouping.external_group_by import (
    KEYS,
    Conflict,
    ExternalGroupBy,
)
from harpia_formats.conversion.mapping.question import differing_fields
from harpia_formats.conversion.mapping.questions import base_id
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Record
from harpia_formats.model.text.describe import short_json
from harpia_formats.model.text.spelling import hint_on


class RecordGroup(NamedTuple):
    """The record of one group, with the file and the place of its first record."""

    record: Record
    fates: FieldFates
    #: The index of the file.
    file: int
    place: Place


class GroupConflict(NamedTuple):
    """A record that cannot be in the group of a record before it."""

    message: str
    #: The index of the file of the later record.
    file: int
    place: Place


class RecordGroups:
    """Collects records one by one, and yields one record for each group.

    After the last `add` come `conflicts`, then the groups, and at last `close`. Raises
    `ConversionError` where records cannot be grouped by `key`.
    """

    def __init__(self, key: str) -> None:
        if key not in KEYS:
            raise ConversionError(
                f"records cannot be grouped by {key!r}{hint_on(key, KEYS)}"
            )
        self._key = key
        self._group_by = ExternalGroupBy(key)

    def merge_answers(self) -> None:
        """Make one answer of equal answers of different records of a group."""
        self._group_by.merges_answers = True

    def add(self, record: Record, file: int, place: Place) -> None:
        """Add a record of the file with index `file`."""
        self._group_by.add(record, pickle.dumps((file, place)))

    def conflicts(self) -> Iterator[GroupConflict]:
        """Yield the records that have the value of another one and ask something else.

        Raises `SourceError` if a temporary file fails.
        """
        for conflict in self._group_by.conflicts():
            file, place = pickle.loads(conflict.second_place)  # noqa: S301 - pickled by `add`
            yield GroupConflict(self._message(conflict, place), file, place)

    def _message(self, conflict: Conflict, place: Place) -> str:
        """Return why the records of a conflict cannot be one, with both of them."""
        owner, differing = "a record before it", ["input"]
        if conflict.first is not None:
            _, first = pickle.loads(conflict.first_place)  # noqa: S301 - pickled by `add`
            owner = f"record {first.record:,}"
            if first.path != place.path:
                owner += f" of {first.path}"
            differing = differing_fields(conflict.first, conflict.second)
        value = self._key
        if self._key == "id":
            id_ = conflict.second.id
            base = base_id(id_)
            value += f" {short_json(id_ if base is None else base)}"
        number = f"record {place.record:,}"
        if not differing:
            return f"{number} would get the {value}, which is that of {owner}"
        return (
            f"{number} has the {value} of {owner}, but not the same "
            f"{' and '.join(differing)}"
        )

    def __iter__(self) -> Iterator[RecordGroup]:
        for merged in self._group_by.groups():
            file, place = pickle.loads(merged.place)  # noqa: S301 - pickled by `add`
            yield RecordGroup(merged.record, merged.fates, file, place)

    def close(self) -> None:
        """Delete the temporary files."""
        self._group_by.close()
