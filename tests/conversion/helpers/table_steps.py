"""Tables of fields, step by step: the specification of the functions they compile."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.compiled_fields import (
    ANY_KEY,
    Leaf,
    put,
    refuse_list,
)
from harpia_formats.conversion.mapping.fields import (
    FieldTable,
    Tree,
    owners_of,
    put_scores,
)
from harpia_formats.model.adapter import DECLINED, Row
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Output, Record, Score, fits

#: The fields of the record, of the output, and of the score, by their names.
Levels = tuple[dict[str, Any], ...]


def without_nulls(row: Row) -> Row:
    """Return the members of a row that are not null."""
    return {key: value for key, value in row.items() if value is not None}


def read_steps(table: FieldTable, row: Row) -> Record:
    """Return the record of a row: what `FieldTable.read` returns."""
    levels: Levels = ({}, {}, {})
    row = row if table.normalize is None else table.normalize(row)
    own_keys = () if table.removes_own else table.own_keys
    if ANY_KEY in own_keys:
        own_keys = tuple(row)
    rest = taken(table, table.tree, row, levels, own_keys)
    record, output, score = levels
    if table.read_own is not None:
        around = () if table.run_of is None else (table.run_of({}),)
        record = {**table.read_own(*around, row, rest), **record}
        rest = rest if table.in_order else dict(sorted(rest.items()))
    if score:
        output["scores"] = [Score(**score)]
    if output:
        record["outputs"] = [Output(**output)]
    if rest:
        record["extra"] = {table.vendor: rest}
    return Record(**record)


def taken(
    table: FieldTable,
    tree: Tree,
    owner: Row,
    levels: Levels,
    own_keys: tuple[str, ...] = (),
) -> Row:
    """Put the fields of an object into `levels`; return the members left of it."""
    done = {*own_keys}
    inside: Row = {}
    for key, place, value in placed_members(tree, owner):
        is_taken = False
        if isinstance(place, Leaf):
            is_taken = is_field(place, key, value, levels)
        elif type(value) is dict and value:
            inside[key] = taken(table, place, value, levels)
            is_taken = not inside[key]
        elif type(value) is list:
            refuse_list(value, place, key)
        if is_taken:
            done.add(key)
    rest = {key: inside.get(key, owner[key]) for key in owner if key not in done}
    return rest if table.in_order else dict(sorted(rest.items()))


def placed_members(tree: Tree, owner: Row) -> Iterator[tuple[str, Leaf | Tree, Any]]:
    """Yield the members of an object that have places, in the order of the fields."""
    if ANY_KEY in tree:
        for key, value in owner.items():
            yield key, tree[ANY_KEY], value
        return
    for key, place in tree.items():
        if key in owner:
            yield key, place, owner[key]


def is_field(place: Leaf, key: str, value: Any, levels: Levels) -> bool:
    """Put a value into `levels` if its field can hold it; tell whether."""
    known, codec = place.field, place.field.codec
    read = value if codec is None else codec.read(value)
    if read is DECLINED:
        return False
    if not fits(known.record_path, read):
        return False
    if place.key_name:
        score = Score(**{place.key_name: key, place.name: read})
        levels[1].setdefault("scores", []).append(score)
        return True
    if place.name in levels[place.level]:
        return False
    levels[place.level][place.name] = read
    return True


def write_steps(table: FieldTable, record: Record, outcomes: FieldOutcomes) -> Row:
    """Return the row of a record: what `FieldTable.write` returns."""
    kept = {} if record.extra is UNSET else {**record.extra.get(table.vendor, {})}
    row: Row = {}
    if table.write_own is not None and (table.own_keys or kept):
        row = table.write_own(record, kept, outcomes)
    for leaf in table.written_leaves:
        row |= table.placed.get(leaf.field.path, {})
        if leaf.key_name:
            put_scores(row, leaf, record, outcomes)
            continue
        owner = owners_of(record)[leaf.level]
        held = UNSET if owner is None else getattr(owner, leaf.name)
        codec, value = leaf.field.codec, held
        if held is not UNSET and codec is not None:
            value = codec.write(held)
        value = table.written(leaf.field, held, value, outcomes, record)
        if value is not UNSET:
            put(row, leaf.field.path, value)
    return table.finish({**row, **table.constants}, kept, outcomes)
