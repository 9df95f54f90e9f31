"""Keep keys of a row that are no fields in a record's `extra`, and put them back."""

from collections.abc import Collection
from typing import Any

from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

#: The keys in `extra` under which those of examples and those of batches are kept.
EXAMPLES, BATCHES = "openai", "openai-batch"


def without(row: Row, known: Collection[str]) -> Row:
    """Return the members of `row` whose keys are not in `known`."""
    return {key: value for key, value in row.items() if key not in known}


def as_extra(rest: Row, owner: str) -> dict[str, Any]:
    """Return the field `extra` with `rest` of `owner`, or no field if it is empty."""
    return {"extra": {owner: rest}} if rest else {}


def kept_of(record: Record, owner: str) -> Row:
    """Return a copy of the members of `owner` in the extra of a record."""
    return dict(record.extra.get(owner, {})) if record.extra else {}


def put_back(
    row: Row, rest: Row, owner: str, known: Collection[str], fates: FieldFates
) -> None:
    """Put `rest`, kept in the extra of a record, into `row` without keys in `known`."""
    for key, value in rest.items():
        if key in known:
            fates.dropped(f"extra.{owner}.{key}", "the key belongs to another field")
        else:
            row[key] = value
