"""Keep keys of a row that are no fields in a record's `extra`, and put them back."""

from collections.abc import Collection
from typing import Any

from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Output, Record

#: The key in `extra` under which they are kept.
KEY = "tencent"
#: The keys of a message that every one has.
_message_keys = frozenset({"role", "content"})


def without(row: Row, known: Collection[str]) -> Row:
    """Return the members of `row` whose keys are not in `known`."""
    return {key: value for key, value in row.items() if key not in known}


def as_extra(rest: Row) -> dict[str, Any]:
    """Return the field `extra` with `rest` in it, or no field if `rest` is empty."""
    return {"extra": {KEY: rest}} if rest else {}


def kept_of(owner: Record | Output) -> Row:
    """Return a copy of Tencent's own members in the extra of a record or an output."""
    return dict(owner.extra.get(KEY, {})) if owner.extra else {}


def is_beside_answer(kept: Any) -> bool:
    """Tell whether `kept` are the extra keys of a message, kept under `messages`."""
    return isinstance(kept, dict) and bool(kept) and _message_keys.isdisjoint(kept)


def put_back(
    row: Row, rest: Row, known: Collection[str], where: str, fates: FieldFates
) -> Row:
    """Put `rest`, kept at the path `where`, into `row` without keys in `known`."""
    for key, value in rest.items():
        if key in known:
            fates.dropped(f"{where}.{KEY}.{key}", "the key belongs to another field")
        else:
            row[key] = value
    return row
