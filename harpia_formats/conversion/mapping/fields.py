"""Read and write rows by a table of fields, for rows with one answer at most.

A value that a record's field cannot hold, and a key that the table does not know, go to
`extra` under the vendor's name, and are written back to where they were.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.compiled_fields import (
    OF_OUTPUT,
    OF_RECORD,
    OF_SCORE,
    Leaf,
    Placed,
    Read,
    Write,
    can_compile,
    compile_read,
    compile_write,
    default_of,
    lacking,
    missing_in,
    written_value,
)
from harpia_formats.model.adapter import (
    COLUMN_FIELDS,
    DECLINED,
    ChangedValue,
    FieldMapping,
    Row,
)
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Output, Record, Score, as_dict, fits

_OUTPUTS, _SCORES = "outputs.", "outputs.scores."
#: The last key of a path where keys are data.
ANY_KEY = "*"
_Tree = dict[str, "Leaf | _Tree"]


@dataclass(frozen=True)
class FieldTable:
    """The fields of one format, which can read and write its rows.

    Raises `ValueError` for fields that contradict each other.
    """

    vendor: str
    fields: tuple[FieldMapping, ...]
    #: Keys and values that every row has.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Further ones at places of their own: in front of the field with a path.
    placed: Placed = field(default_factory=dict)
    _tree: _Tree = field(default_factory=dict)
    _leaves: list[Leaf] = field(default_factory=list)

    def __post_init__(self) -> None:
        for mapping in self.fields:
            node = self._tree
            for key in mapping.path[:-1]:
                node = node.setdefault(key, {})  # type: ignore[assignment]  # a path ends once
            leaf = _leaf_of(mapping)
            node[mapping.path[-1]] = leaf
            self._leaves.append(leaf)
            if ANY_KEY in node and (len(node) > 1 or node is self._tree):
                raise ValueError(
                    f"{mapping.name}: keys that are data need their own object"
                )
        if any(leaf.key_name for leaf in self._leaves):
            scores = [leaf for leaf in self._leaves if leaf.level == OF_SCORE]
            if len(scores) > 1:
                raise ValueError("beside scores by key there is no place for another")

    @cached_property
    def read(self) -> Read:
        """The function that returns the record of a row, which it leaves as it is."""
        if not can_compile(self._leaves):
            return self.interpreted_read
        return compile_read(self.vendor, self._tree)

    def read_of(self, keys: Container[str]) -> Read:
        """Return `read` for rows that have no keys but `keys`: it asks for these."""
        if not can_compile(self._leaves):
            return self.interpreted_read
        tree = {key: place for key, place in self._tree.items() if key in keys}
        return compile_read(self.vendor, tree)

    @cached_property
    def write(self) -> Write:
        """The function that returns the row of a record, and notes the fates of fields.

        The record has one output and one score at most. It raises `Unconvertible` where
        the record lacks what a row must have.
        """
        if not can_compile(self._leaves):
            return self.interpreted_write
        return compile_write(self._leaves, self._written, self._finish, self.placed)

    def interpreted_read(self, row: Row) -> Record:
        """Return the record of a row: the specification of `read`."""
        levels: tuple[dict[str, Any], ...] = ({}, {}, {})
        rest = _take(self._tree, row, levels)
        record, output, score = levels
        if score:
            output["scores"] = [Score(**score)]
        if rest:
            record["extra"] = {self.vendor: rest}
        if output:
            record["outputs"] = [Output(**output)]
        return Record(**record)

    def interpreted_write(self, record: Record, fates: FieldFates) -> Row:
        """Return the row of a record: the specification of `write`."""
        row: Row = {}
        owners = _owners_of(record)
        for leaf in self._leaves:
            row |= self.placed.get(leaf.field.path, {})
            if leaf.key_name:
                _put_scores(row, leaf, record, fates)
                continue
            owner = owners[leaf.level]
            held = UNSET if owner is None else getattr(owner, leaf.name)
            codec, value = leaf.field.codec, held
            if held is not UNSET and codec is not None:
                value = codec.write(held)
            value = self._written(leaf.field, held, value, fates, record)
            if value is not UNSET:
                _put(row, leaf.field.path, value)
        return self._finish(row, record, fates)

    def _written(
        self,
        given: FieldMapping,
        held: Any,
        value: Any,
        fates: FieldFates,
        record: Record,
    ) -> Any:
        """Return what `written_value` does; what it raises names all missing fields."""
        try:
            return written_value(given, held, value, fates)
        except Unconvertible as error:
            missing = missing_in(self._leaves, _owners_of(record))
            raise lacking([given, *missing], error.path) from None

    def _finish(self, row: Row, record: Record, fates: FieldFates) -> Row:
        """Return `row` with the members that are no fields."""
        if self.constants:
            row = {**row, **self.constants}
        if record.extra is not UNSET and self.vendor in record.extra:
            extra = record.extra[self.vendor]
            for key in merge_missing(row, extra):
                fates.dropped(f"extra.{self.vendor}.{key}", "its place is taken")
        return row


def _leaf_of(given: FieldMapping) -> Leaf:
    levels = ((OF_SCORE, _SCORES), (OF_OUTPUT, _OUTPUTS), (OF_RECORD, ""))
    path, key = given.record_path, given.key_record_path
    level, start = next(
        (level, start) for level, start in levels if path.startswith(start)
    )
    if (given.path[-1] == ANY_KEY) is not bool(key):
        raise ValueError(f"{given.name}: {ANY_KEY!r} and `key_record_path` go together")
    if key and (level != OF_SCORE or not key.startswith(_SCORES)):
        raise ValueError(f"{given.name}: keys that are data are fields of scores")
    return Leaf(given, level, path.removeprefix(start), key.removeprefix(_SCORES))


def _owners_of(record: Record) -> tuple[Any, Any, Any]:
    output = record.outputs[0] if record.outputs else None
    scores = output.scores if output is not None else UNSET
    return record, output, scores[0] if scores else None


def _take(node: _Tree, owner: Row, levels: tuple[dict[str, Any], ...]) -> Row:
    """Put the fields of an object into `levels`; return the members that are left."""
    rest: Row = {}
    for key, value in owner.items():
        place = node.get(key) or node.get(ANY_KEY)
        if type(place) is Leaf:
            known, codec = place.field, place.field.codec
            taken = value if codec is None else codec.read(value)
            if taken is not DECLINED and fits(known.record_path, taken):
                if place.key_name:
                    score = Score(**{place.key_name: key, place.name: taken})
                    levels[1].setdefault("scores", []).append(score)
                else:
                    levels[place.level][place.name] = taken
                continue
        elif place is not None and type(value) is dict and value:
            left = _take(place, value, levels)  # type: ignore[arg-type]  # no leaf is left
            if left:
                rest[key] = left
            continue
        rest[key] = value
    # The typed decoder and the JSON decoder give unknown keys in different orders.
    return dict(sorted(rest.items())) if len(rest) > 1 else rest


def _put_scores(row: Row, leaf: Leaf, record: Record, fates: FieldFates) -> None:
    """Put each score under its key, such as the name of its metric.

    A score without key or value has no place, nor has a second one with the same key.
    Raises `Unconvertible` where a row must have a score and the record has none.
    """
    scores = (record.outputs[0].scores if record.outputs else UNSET) or ()
    written: Row = {}
    is_known = False
    for score in scores:
        key, value = getattr(score, leaf.key_name), getattr(score, leaf.name)
        is_known = is_known or key is not UNSET or value is not UNSET
        if key is UNSET or value is UNSET or key in written:
            continue
        if leaf.field.codec is not None:
            value = leaf.field.codec.write(value)
        if type(value) is ChangedValue:
            fates.changed(leaf.field.record_path, value.how)
            value = value.value
        if value is not UNSET:
            written[key] = value
    if written:
        _put(row, leaf.field.path[:-1], written)
    elif leaf.field.required:
        default_of(leaf.field, fates)
    if is_known and len(written) < len(scores):
        fates.dropped("outputs.scores", "those without a key of their own")


def _put(row: Row, path: Iterable[str], value: Any) -> None:
    *owners, key = path
    for owner in owners:
        row = row.setdefault(owner, {})
    row[key] = value


def merge_missing(row: Row, rest: Row) -> list[str]:
    """Add the members of `rest` to `row` where it has none.

    Return the keys of members that could not be added, or not as a whole.
    """
    taken = []
    for key, value in rest.items():
        mine = row.get(key, UNSET)
        if mine is UNSET:
            row[key] = value
        elif (
            type(mine) is not dict
            or type(value) is not dict
            or merge_missing(mine, value)
        ):
            taken.append(key)
    return taken


def any_columns(vendor: str) -> FieldTable:
    """Return the fields of rows of any columns; others are extra of `vendor`."""
    return FieldTable(vendor, COLUMN_FIELDS)


def without_nulls(row: Row) -> Row:
    """Return a row without its nulls, which say nothing in a table."""
    return {key: value for key, value in row.items() if value is not None}


def record_row(table: FieldTable, row: Row) -> Row:
    """Return a row of any columns as the row of a record, by `any_columns`."""
    return as_dict(table.read(without_nulls(row)))
