"""Store the fields that a format has no place for in its rows, and restore them.

Rows are read as records with the extra fields that they hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.fields import compiled
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import FieldOutcome, Outcome
from harpia_formats.model.record import Output, Record

#: The key of the extra fields in a row.
EXTRAS_KEY = "harpia-formats"
#: The key of the component of a row, where the columns of a file are those of several.
COMPONENT_KEY = "(component)"


def lost_fields(outcomes: Iterable[FieldOutcome]) -> tuple[str, ...]:
    """Return the names of the fields that lose something by the outcomes."""
    return tuple(
        dict.fromkeys(
            entry.path.partition(".")[0]
            for entry in outcomes
            if entry.outcome is not Outcome.DEFAULTED
        )
    )


def stored_outcomes(outcomes: Iterable[FieldOutcome]) -> list[FieldOutcome]:
    """Return the outcomes of a record whose lost fields are stored in its rows."""
    return [
        entry
        for entry in outcomes
        if entry.outcome in {Outcome.DEFAULTED, Outcome.SPLIT}
    ]


def store_extras(
    record: Record,
    parts: Sequence[Record],
    rows: Sequence[Row],
    target: FormatAdapter,
    names: Iterable[str],
) -> None:
    """Store the fields of `record` called `names`, which would be lost, in its rows.

    Each row was made from the item of `parts` with the same index. The target has a
    place for extra fields. Where a row has data under their key, the fields that these
    are from are stored, too.
    """
    for part, row in zip(parts, rows, strict=True):
        fragment = {name: getattr(record, name) for name in names}
        if has_extras(row, target.extras_path or ()):
            fragment |= _fields_with_key(record)
        if "outputs" in fragment:
            # A row with one answer of several stores that one only.
            own = _own_outputs(record, parts, part)
            fragment["outputs"] = _with_filled_scores(own, part)
        _put(row, target, fragment, record.extra)


def _fields_with_key(record: Record) -> Row:
    """Return the fields of a record in which the key of extra fields stands."""
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    key = EXTRAS_KEY.encode()
    return {
        name: value
        for name, value in fields.items()
        if value is not UNSET and key in encode(value)
    }


def _own_outputs(record: Record, parts: Sequence[Record], part: Record) -> list[Output]:
    """Return the outputs of `record` that `part` was made from, all if unknown."""
    if len(record.outputs) == len(part.outputs):
        return record.outputs
    sizes = [len(other.outputs) for other in parts]
    if sum(sizes) != len(record.outputs):
        return record.outputs
    index = next(number for number, other in enumerate(parts) if other is part)
    before = sum(sizes[:index])
    own = record.outputs[before : before + sizes[index]]
    # A list has the answers of one model, which those of others may stand between.
    is_own = [one.model for one in own] == [one.model for one in part.outputs]
    return own if is_own else record.outputs


def _with_filled_scores(own: list[Output], part: Record) -> list[Output]:
    """Return the outputs that `part` was made from, with a score that it was given.

    An answer gets the one that was computed of it if it has no other.
    """
    if len(own) != len(part.outputs):
        return own
    return [
        replace(one, scores=made.scores)
        if not _has_value(one) and _has_value(made) and len(one.scores or ()) < 2  # noqa: PLR2004 - several
        else one
        for one, made in zip(own, part.outputs, strict=True)
    ]


def _has_value(output: Output) -> bool:
    """Tell whether an answer has a score with a value."""
    return any(score.value is not UNSET for score in output.scores or ())


def _put(row: Row, target: FormatAdapter, fragment: Row, record_extra: Any) -> None:
    """Put the fields in `fragment` into `row`, at the path that the target has."""
    given = {name: value for name, value in fragment.items() if value is not UNSET}
    if not given:
        return
    for key in target.extras_path or ():
        inner = row.get(key)
        if inner == {}:
            given[key] = {}
        elif inner is None and key in row:
            # Null can hold nothing, and is restored from the extra fields.
            given["extra"] = record_extra
        # The object may belong to the record, so it is copied.
        row[key] = dict(inner or {})
        row = row[key]
    row[EXTRAS_KEY] = encode(given).decode() if target.extras_as_text else given


def has_extras(row: Row, path: tuple[str, ...]) -> bool:
    """Tell whether the object at `path` in a row may hold extra fields."""
    owner: Any = row
    for key in path:
        owner = owner.get(key)
        if type(owner) is not dict:
            return False
    return EXTRAS_KEY in owner


def split_extras(row: Row, source: FormatAdapter) -> tuple[Row, Row]:
    """Return `row` without its extra fields, and the extra fields (mostly none)."""
    if source.extras_path is None:
        return row, {}
    owners = [row]
    for key in source.extras_path:
        inner = owners[-1].get(key)
        if not isinstance(inner, dict):
            return row, {}
        owners.append(inner)
    if EXTRAS_KEY not in owners[-1]:
        return row, {}
    fragment = _decoded_fields(owners[-1][EXTRAS_KEY])
    if fragment is None:
        return row, {}
    inner = {name: value for name, value in owners[-1].items() if name != EXTRAS_KEY}
    for key, owner in zip(
        reversed(source.extras_path), reversed(owners[:-1]), strict=True
    ):
        inner = {**owner, key: inner}
        if not inner[key]:
            del inner[key]
    return inner, fragment


def _decoded_fields(stored: Any) -> Row | None:
    """Return the fields that a row stores, None if they are no part of a record."""
    try:
        value = decode(stored) if isinstance(stored, str) else stored
        if not isinstance(value, dict):
            return None
        fields = msgspec.convert(value, Record)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return {name: getattr(fields, name) for name in value}


def restore_extras(record: Record, fragment: Row) -> Record:
    """Return `record` with the extra fields of its row."""
    return replace(record, **fragment) if fragment else record


#: Returns the record of a row.
ReadRow = Callable[[Row], Record]


#: What stands around the rows of a file of which nothing else is known.
NO_SURROUNDINGS: Mapping[str, Any] = {}
#: The key in what stands around rows of the records by which they are completed: an
#: object whose method `of` returns the record with an id, or None.
PARTNERS = "(partners)"
#: The key in what stands around rows that are true if several rows are one record.
HAS_PARTS = "(parts)"


def row_reader(
    adapter: FormatAdapter,
    dialect: str = "",
    surroundings: Mapping[str, Any] = NO_SURROUNDINGS,
) -> ReadRow:
    """Return the function that returns the record of a row of the `dialect`.

    Without a dialect the rows are as `adapter` writes them. `surroundings` are what
    stands around the rows, as far as the adapter needs it.
    """
    normalize = adapter.dialect_normalizers.get(dialect)
    read: Callable[[Row], Record] = compiled(adapter.read)
    path = adapter.extras_path
    if adapter.reader_in is not None:
        read = adapter.reader_in(surroundings)
    if adapter.join is not None and PARTNERS in surroundings:
        read = _joined(read, adapter.join, surroundings[PARTNERS].of)
    if normalize is None and path is None:
        return read

    def read_row(row: Row) -> Record:
        if normalize is not None:
            row = normalize(row)
        if path is None or not has_extras(row, path):
            return read(row)
        bare, kept = split_extras(row, adapter)
        return restore_extras(read(bare), kept)

    return read_row


def _joined(
    read: ReadRow,
    join: Callable[[Record, Record], Record],
    partner_of: Callable[[Any], Record | None],
) -> ReadRow:
    """Return the function that reads a row with the record that has its id."""

    def read_joined(row: Row) -> Record:
        record = read(row)
        partner = partner_of(record.id)
        return record if partner is None else join(record, partner)

    return read_joined
