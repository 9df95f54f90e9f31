"""What rows have beside the fields of a record, kept in `extra` and put back again."""

from collections.abc import Collection
from typing import Any

from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Output, Record

#: The key of `extra` that it is kept under.
KEY = "tencent"


def without(row: Row, known: Collection[str]) -> Row:
    """Return what `row` has beside the keys that are known."""
    return {key: value for key, value in row.items() if key not in known}


def as_extra(rest: Row) -> dict[str, Any]:
    """Return the field `extra` that keeps `rest`, or no field if there is nothing."""
    return {"extra": {KEY: rest}} if rest else {}


def kept_of(owner: Record | Output) -> Row:
    """Return what is kept for a record or an output, as an object of its own."""
    return dict(owner.extra.get(KEY, {})) if owner.extra else {}


def put_back(
    row: Row, rest: Row, known: Collection[str], where: str, fates: FieldFates
) -> Row:
    """Return `row` with what was kept at the path `where`, but for keys it knows."""
    for key, value in rest.items():
        if key in known:
            fates.dropped(f"{where}.{KEY}.{key}", "the key is another field's")
        else:
            row[key] = value
    return row
