"""A table of fields that reads rows and writes them: one row, one answer at most.

A value that a record's field cannot hold, and a key that the table does not know, are
kept in `extra` under the vendor's name, and come back where they were.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import DECLINED, ChangedValue, FieldMapping, Row
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Output, Record, Score, fits

_OUTPUTS, _SCORES = "outputs.", "outputs.scores."


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A field in the tree of keys, with where in a record it belongs."""

    field: FieldMapping
    #: 0 for the record, 1 for its output, 2 for the score of that.
    level: int
    #: The name of the field there.
    name: str


_Tree = dict[str, "_Leaf | _Tree"]


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The fields of one format, ready to read and to write."""

    vendor: str
    fields: tuple[FieldMapping, ...]
    #: What each row has, whatever the record.
    constants: Mapping[str, Any] = field(default_factory=dict)
    _tree: _Tree = field(default_factory=dict)
    _leaves: list[_Leaf] = field(default_factory=list)

    def __post_init__(self) -> None:
        for each in self.fields:
            node = self._tree
            for key in each.path[:-1]:
                node = node.setdefault(key, {})  # type: ignore[assignment]  # a path ends once
            leaf = _leaf_of(each)
            node[each.path[-1]] = leaf
            self._leaves.append(leaf)

    def read(self, row: Row) -> Record:
        """Return the record that `row` is."""
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

    def write(self, record: Record, fates: FieldFates) -> Row:
        """Return the row for `record`, which has one output and one score at most.

        Raises `Unconvertible` where the record lacks what a row must have.
        """
        row: Row = {}
        owners = _owners_of(record)
        for each in self._leaves:
            owner = owners[each.level]
            value = held = UNSET if owner is None else getattr(owner, each.name)
            if value is not UNSET and each.field.codec is not None:
                value = each.field.codec.write(value)
            if type(value) is ChangedValue:
                fates.changed(each.field.record_path, value.how)
                value, held = value.value, UNSET
            if value is UNSET:
                value = _lacking(each.field, fates)
                if held is not UNSET and value is UNSET:
                    fates.changed(each.field.record_path, "left out")
            if value is not UNSET:
                _put(row, each.field.path, value)
        row = {**row, **self.constants} if self.constants else row
        if record.extra is not UNSET and self.vendor in record.extra:
            kept = record.extra[self.vendor]
            for key in merge_missing(row, kept):
                fates.dropped(f"extra.{self.vendor}.{key}", "its place is taken")
        return row


def _leaf_of(given: FieldMapping) -> _Leaf:
    for level, prefix in ((2, _SCORES), (1, _OUTPUTS), (0, "")):
        if given.record_path.startswith(prefix):
            return _Leaf(given, level, given.record_path.removeprefix(prefix))
    raise ValueError(given.record_path)


def _owners_of(record: Record) -> tuple[Any, Any, Any]:
    output = record.outputs[0] if record.outputs else None
    scores = output.scores if output is not None else UNSET
    return record, output, scores[0] if scores else None


def _take(node: _Tree, owner: Row, levels: tuple[dict[str, Any], ...]) -> Row:
    """Take the fields of an object to their places; return what is left of it."""
    rest: Row = {}
    for key, value in owner.items():
        place = node.get(key)
        if type(place) is _Leaf:
            known, codec = place.field, place.field.codec
            taken = value if codec is None else codec.read(value)
            if taken is not DECLINED and fits(known.record_path, taken):
                levels[place.level][place.name] = taken
                continue
        elif place is not None and type(value) is dict and value:
            left = _take(place, value, levels)  # type: ignore[arg-type]  # no leaf is left
            if left:
                rest[key] = left
            continue
        rest[key] = value
    # Two ways of decoding a row may give its unknown keys in two orders.
    return dict(sorted(rest.items())) if len(rest) > 1 else rest


def _lacking(given: FieldMapping, fates: FieldFates) -> Any:
    """Return what is written where a record has nothing for a field."""
    if given.default is not UNSET:
        fates.defaulted(given.record_path, describe_default(given.default))
    elif given.required:
        reason = f"the record has nothing for `{given.name}`"
        help_ = f"give it with --set {given.name}=VALUE"
        raise Unconvertible(given.record_path, reason, help_)
    return given.default


def describe_default(value: Any) -> str:
    """Return a default in words."""
    import msgspec  # noqa: PLC0415 - for a few words only

    return f"is {msgspec.json.encode(value).decode()}"


def _put(row: Row, path: Iterable[str], value: Any) -> None:
    *owners, key = path
    for each in owners:
        row = row.setdefault(each, {})
    row[key] = value


def merge_missing(row: Row, rest: Row) -> list[str]:
    """Put what was kept of a row back into it, where nothing else is.

    Return the keys of which something found its place taken.
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
