"""Keep what a format has no place for in the room that it leaves free.

A row carries the fields of its record that would be lost, as a part of a record, under
one key. Reading the row puts them back.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_fates import Fate, FieldFates
from harpia_formats.model.record import Record

#: The key under which a row keeps them.
EXTRAS_KEY = "harpia-formats"


def store_extras(
    record: Record,
    parts: Sequence[Record],
    rows: Sequence[Row],
    target: FormatAdapter,
    fates: FieldFates,
) -> None:
    """Put what would be lost of `record` into its rows, and take back the notes.

    Each row was made from the part of the record at the same place.
    """
    if target.extras_path is None:
        return
    lost = [each for each in fates.entries if each.fate is not Fate.DEFAULTED]
    names = dict.fromkeys(each.path.partition(".")[0] for each in lost)
    for part, row in zip(parts, rows, strict=True):
        fragment = {each: getattr(record, each) for each in names}
        if "outputs" in names and len(record.outputs) != len(part.outputs):
            # A row that is one answer of several keeps that one only.
            fragment["outputs"] = _own_outputs(record, parts, part)
        _put(row, target, fragment, record.extra)
    fates.entries = [
        each for each in fates.entries if each.fate in {Fate.DEFAULTED, Fate.SPLIT}
    ]


def _own_outputs(record: Record, parts: Sequence[Record], part: Record) -> list[Any]:
    sizes = [len(each.outputs) for each in parts]
    if sum(sizes) != len(record.outputs):
        return record.outputs
    place = next(number for number, each in enumerate(parts) if each is part)
    before = sum(sizes[:place])
    return record.outputs[before : before + sizes[place]]


def _put(row: Row, target: FormatAdapter, fragment: Row, record_extra: Any) -> None:
    given = {name: value for name, value in fragment.items() if value is not UNSET}
    if not given:
        return
    for each in target.extras_path or ():
        inner = row.get(each)
        if inner == {}:
            given[each] = {}
        elif inner is None and each in row:
            # Null has no room, and is put back with the rest.
            given["extra"] = record_extra
        # The object may be the record's own.
        row[each] = dict(inner or {})
        row = row[each]
    row[EXTRAS_KEY] = encode(given).decode() if target.extras_as_text else given


def split_extras(row: Row, source: FormatAdapter) -> tuple[Row, Row]:
    """Return `row` without what it keeps, and that; the latter is mostly empty."""
    if source.extras_path is None:
        return row, {}
    owners = [row]
    for each in source.extras_path:
        inner = owners[-1].get(each)
        if not isinstance(inner, dict):
            return row, {}
        owners.append(inner)
    if EXTRAS_KEY not in owners[-1]:
        return row, {}
    fragment = _fragment_of(owners[-1][EXTRAS_KEY])
    if fragment is None:
        return row, {}
    inner = {key: value for key, value in owners[-1].items() if key != EXTRAS_KEY}
    for each, owner in zip(
        reversed(source.extras_path), reversed(owners[:-1]), strict=True
    ):
        inner = {**owner, each: inner}
        if not inner[each]:
            del inner[each]
    return inner, fragment


def _fragment_of(kept: Any) -> Row | None:
    """Return the fields that a row keeps, None if they are not ours."""
    try:
        value = decode(kept) if isinstance(kept, str) else kept
        if not isinstance(value, dict):
            return None
        fields = msgspec.convert(value, Record)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return {name: getattr(fields, name) for name in value}


def restore_extras(record: Record, fragment: Row) -> Record:
    """Return `record` with what its row kept of it."""
    return replace(record, **fragment) if fragment else record
