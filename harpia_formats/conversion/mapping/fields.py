"""Read and write rows by a table of fields.

A value that a record's field cannot hold, and a key that the table does not know, go to
`extra` under the vendor's name, and are written back to where they were.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import UNSET, structs

from harpia_formats.conversion.mapping.compiled_fields import (
    OF_OUTPUT,
    OF_RECORD,
    OF_SCORE,
    Leaf,
    Placed,
    Read,
    Shape,
    Write,
    can_compile,
    compile_read,
    compile_write,
    default_of,
    is_of,
    lacking,
    members_of,
    missing_in,
    put,
    put_members,
    refuse_list,
    says_output,
    together_at,
    write_steps,
    written_value,
)
from harpia_formats.model.adapter import (
    COLUMN_FIELDS,
    DECLINED,
    ChangedValue,
    FieldMapping,
    FormatAdapter,
    Left,
    Row,
    Together,
)
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import (
    FIELD_TYPES,
    OPEN_OBJECTS,
    Output,
    Record,
    Score,
    as_dict,
    fits,
)

_OUTPUTS, _SCORES = "outputs.", "outputs.scores."
#: The last key of a path where keys are data.
ANY_KEY = "*"
_Tree = dict[str, "Leaf | _Tree"]
#: The fields of the record, of the output, and of the score, by their names.
_Levels = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class FieldTable:
    """The fields of one format, which can read and write its rows.

    Several keys of one field are a choice: the first one that has a value of the field
    is read, and the first one is written. Members of `params` and `metadata` are fields
    as well, such as `params.top_p`. Raises `ValueError` for fields that contradict each
    other.
    """

    vendor: str
    fields: tuple[FieldMapping, ...]
    #: Keys and values that every row has.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Further ones at places of their own: in front of the field with a path.
    placed: Placed = field(default_factory=dict)
    #: Keys that are read by functions, and written by them, in this order and before
    #: all fields. One without keys changes what is kept, if anything is.
    together: tuple[Together, ...] = ()
    #: The path of a list whose items are the outputs; () for rows with one output.
    list_of: tuple[str, ...] = ()
    #: Changes a row before it is read, such as the spelling of its keys.
    prepare: Callable[[Row], Row] | None = None
    #: Whether members that are no fields are kept in the order of the row, not sorted.
    in_order: bool = False
    #: Keys that no kept member gets back, whether or not a row has them; None where
    #: the members of kept objects are put into those of a row.
    owned: frozenset[str] | None = None
    #: Whether values are taken as the schema of rows allows them: a null only by a
    #: field that may be null, all others whatever their types.
    trusts_schema: bool = False
    _tree: _Tree = field(default_factory=dict)
    _leaves: list[Leaf] = field(default_factory=list)

    def __post_init__(self) -> None:
        for mapping in self.fields:
            leaf = self._placed_leaf(mapping)
            self._leaves.append(leaf)
            if not self._is_joined(mapping):
                _add_to(self._tree, leaf)
        own = self._own_leaves
        _check_places(own, self.list_of)
        if any(leaf.key_name for leaf in own):
            scores = [leaf for leaf in own if leaf.level == OF_SCORE]
            if len(scores) > 1:
                raise ValueError("beside scores by key there is no place for another")

    def _placed_leaf(self, given: FieldMapping) -> Leaf:
        """Return the place of a field; raises `ValueError` if it has none."""
        leaf = _leaf_of(given)
        is_in_list = bool(self.list_of) and _starts(given.path, self.list_of)
        path = self.list_of if is_in_list else ()
        return replace(leaf, list_path=path, is_trusted=self.trusts_schema)

    def _is_joined(self, given: FieldMapping) -> bool:
        """Tell whether a field is read by a function."""
        return any(
            each.read is not None and is_of(each, given) for each in self.together
        )

    @property
    def _own_leaves(self) -> list[Leaf]:
        """The fields that the table reads itself."""
        return [leaf for leaf in self._leaves if not self._is_joined(leaf.field)]

    def adapter(self, *, is_read_only: bool = False, **members: Any) -> FormatAdapter:
        """Return the adapter of these fields, with other `members` of adapters.

        Its functions are compiled when they are used first.
        """
        return FormatAdapter(
            vendor=self.vendor,
            fields=self.fields,
            read=self._read_later(),
            write=None if is_read_only else self._write_later(),
            **{"answer_path": self.list_of, **members},
        )

    def _read_later(self) -> Read:
        """Return `read`, compiled when it is used first."""
        compiled: Read | None = None

        def read(row: Row) -> Record:
            nonlocal compiled
            if compiled is None:
                compiled = self.read
            return compiled(row)

        read.of_table = self  # type: ignore[attr-defined]  # for `compiled_read`
        return read

    def _write_later(self) -> Write:
        """Return `write`, compiled when it is used first."""
        compiled: Write | None = None

        def write(record: Record, fates: FieldFates) -> Row:
            nonlocal compiled
            if compiled is None:
                compiled = self.write
            return compiled(record, fates)

        write.of_table = self  # type: ignore[attr-defined]  # for `compiled_write`
        return write

    @cached_property
    def read(self) -> Read:
        """The function that returns the record of a row, which it leaves as it is."""
        if not can_compile(self._own_leaves):
            return self.interpreted_read
        read, prepare = compile_read(self._shape(self._tree)), self.prepare
        return read if prepare is None else lambda row: read(prepare(row))

    def read_of(self, keys: Container[str]) -> Read:
        """Return `read` for rows that have no keys but `keys`: it asks for these."""
        if not can_compile(self._own_leaves):
            return self.interpreted_read
        tree = {key: place for key, place in self._tree.items() if key in keys}
        return compile_read(self._shape(tree))

    def _shape(self, tree: _Tree) -> Shape:
        """Return where the fields in `tree` are in rows."""
        return Shape(
            self.vendor,
            tree,
            self._leaves,
            self.together,
            self.list_of,
            self.in_order,
            bool(self.constants),
        )

    @cached_property
    def write(self) -> Write:
        """The function that returns the row of a record, and notes the fates of fields.

        The record has one output and one score at most, unless a list is of outputs. It
        raises `Unconvertible` where the record lacks what a row must have.
        """
        if self.list_of or not can_compile(self._own_leaves):
            return self.interpreted_write
        finish = self._finish
        return compile_write(
            self._shape(self._tree), self._written, finish, self.placed
        )

    def interpreted_read(self, row: Row) -> Record:
        """Return the record of a row: the specification of `read`."""
        if self.prepare is not None:
            row = self.prepare(row)
        levels: _Levels = ({}, {}, {})
        rest = self._take((), self._tree, row, levels)
        record, output, score = levels
        if score:
            output["scores"] = [Score(**score)]
        if rest:
            record["extra"] = {self.vendor: rest}
        if self.list_of:
            outputs = self._outputs_in(row, output)
        else:
            outputs = [Output(**output)] if output else []
        if outputs:
            return Record(outputs=outputs, **record)
        return Record(**record)

    def _outputs_in(self, row: Row, shared: dict[str, Any]) -> list[Output]:
        """Return the outputs that the items of a list are, with what they share."""
        owner: Any = row
        tree: Any = self._tree
        for key in self.list_of:
            owner = owner.get(key, {}) if type(owner) is dict else {}
            tree = tree[key]
        outputs = []
        for item in owner if _are_objects(owner) else ():
            levels: _Levels = ({}, {}, {})
            rest = self._take(self.list_of, tree, item, levels)
            if levels[2]:
                levels[1]["scores"] = [Score(**levels[2])]
            if rest:
                levels[1]["extra"] = {self.vendor: rest}
            outputs.append(Output(**shared, **levels[1]))
        return outputs or ([Output(**shared)] if shared else [])

    def _take(
        self, path: tuple[str, ...], tree: _Tree, owner: Row, levels: _Levels
    ) -> Row:
        """Put the fields of an object into `levels`; return the members left of it."""
        taken, lefts = self._take_together(path, owner, levels)
        inside: Row = {}
        for key, place, value in _placed_members(tree, owner):
            if isinstance(place, Leaf):
                is_taken = _is_taken(place, key, value, levels)
            elif (*path, key) == self.list_of:
                is_taken = _are_objects(value)
            elif type(value) is dict and value:
                inside[key] = self._take((*path, key), place, value, levels)
                is_taken = not inside[key]
            else:
                if type(value) is list:
                    refuse_list(value, place, key)
                is_taken = False
            if is_taken:
                taken.add(key)
        rest = {key: inside.get(key, owner[key]) for key in owner if key not in taken}
        for where, part in lefts:
            rest = {**part, **rest} if where is Left.IN_FRONT else {**rest, **part}
            if where is Left.IN_PLACE and part:
                rest = {key: rest[key] for key in (*owner, *rest) if key in rest}
        if self.in_order:
            return rest
        # The typed decoder and the JSON decoder give unknown keys in different orders.
        return dict(sorted(rest.items())) if len(rest) > 1 else rest

    def _take_together(
        self, path: tuple[str, ...], owner: Row, levels: _Levels
    ) -> tuple[set[str], list[tuple[Left, Row]]]:
        """Put what functions read of an object into `levels`.

        Return the keys that they read, and what is left, with where it stands.
        """
        taken: set[str] = set()
        lefts: list[tuple[Left, Row]] = []
        for each in together_at(self.together, path):
            assert each.read is not None  # noqa: S101 - only those are asked for
            if owner.keys().isdisjoint(each.keys):
                continue
            parts = each.read(*(owner.get(key, UNSET) for key in each.keys))
            levels[0].update(parts.record)
            if says_output(each, self._leaves):
                levels[1].update(parts.output)
            lefts.append((each.left, parts.left))
            taken.update(each.keys)
        return taken, lefts

    def interpreted_write(self, record: Record, fates: FieldFates) -> Row:
        """Return the row of a record: the specification of `write`."""
        row: Row = {}
        kept = _kept_in(record, self.vendor)
        made = {
            id(each): each.write(record, kept, fates)
            for each in self.together
            if each.write is not None and (each.keys or kept)
        }
        for step in write_steps(self._leaves, self.together):
            if isinstance(step, Together):
                row.update(made[id(step)])
                continue
            row |= self.placed.get(step.field.path, {})
            if step.list_path:
                self._put_items(row, record, fates)
            elif step.member:
                keys = members_of(self._leaves, step)
                put_members(row, getattr(record, step.name), keys)
            else:
                self._put_field(row, step, record, fates)
        return self._finish(row, kept, fates)

    def _put_field(
        self, row: Row, leaf: Leaf, record: Record, fates: FieldFates
    ) -> None:
        """Put one field of a record into `row`, at its path from there."""
        if leaf.key_name:
            _put_scores(row, leaf, record, fates)
            return
        owner = _owners_of(record)[leaf.level]
        held = UNSET if owner is None else getattr(owner, leaf.name)
        codec, value = leaf.field.codec, held
        if held is not UNSET and codec is not None:
            value = codec.write(held)
        value = self._written(leaf.field, held, value, fates, record)
        if value is not UNSET:
            put(row, leaf.field.path[len(leaf.list_path) :], value)

    def _put_items(self, row: Row, record: Record, fates: FieldFates) -> None:
        """Put a list with an item for each output of a record into `row`, once."""
        owner: Any = row
        for key in self.list_of[:-1]:
            owner = owner.setdefault(key, {})
        if self.list_of[-1] in owner:
            return
        owner[self.list_of[-1]] = [
            self._item(structs.replace(record, outputs=[output]), fates)
            for output in record.outputs
        ]

    def _item(self, record: Record, fates: FieldFates) -> Row:
        """Return the item for the only output of a record, with its kept members."""
        item: Row = {}
        for leaf in self._own_leaves:
            if leaf.list_path:
                self._put_field(item, leaf, record, fates)
        (output,) = record.outputs
        for key in merge_missing(item, _kept_in(output, self.vendor)):
            fates.dropped(f"outputs.extra.{self.vendor}.{key}", "its place is taken")
        return item

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
            missing = missing_in(self._own_leaves, _owners_of(record))
            raise lacking([given, *missing], error.path) from None

    def _finish(self, row: Row, kept: Row, fates: FieldFates) -> Row:
        """Return `row` with the members that are no fields."""
        if self.constants:
            row = {**row, **self.constants}
        path = f"extra.{self.vendor}"
        if self.owned is None:
            for key in merge_missing(row, kept):
                fates.dropped(f"{path}.{key}", "its place is taken")
            return row
        for key, value in kept.items():
            if key in self.owned or key in row:
                fates.dropped(f"{path}.{key}", "the key belongs to another field")
            else:
                row[key] = value
        return row


def compiled_read(read: Read) -> Read:
    """Return the compiled function of a table that `read` calls, or itself."""
    table = getattr(read, "of_table", None)
    return read if table is None else table.read


def compiled_write(write: Write) -> Write:
    """Return the compiled function of a table that `write` calls, or itself."""
    table = getattr(write, "of_table", None)
    return write if table is None else table.write


def _starts(path: tuple[str, ...], start: tuple[str, ...]) -> bool:
    return path[: len(start)] == start


def _leaf_of(given: FieldMapping) -> Leaf:
    """Return the place of a field; raises `ValueError` if records have none."""
    levels = ((OF_SCORE, _SCORES), (OF_OUTPUT, _OUTPUTS), (OF_RECORD, ""))
    path, key = given.record_path, given.key_record_path
    if (given.path[-1] == ANY_KEY) is not bool(key):
        raise ValueError(f"{given.name}: {ANY_KEY!r} and `key_record_path` go together")
    owner, _, member = path.partition(".")
    if owner in OPEN_OBJECTS and member:
        return Leaf(given, OF_RECORD, owner, member=member)
    if path not in FIELD_TYPES:
        raise ValueError(f"{given.name}: a record has no field {path!r}")
    level, start = next(
        (level, start) for level, start in levels if path.startswith(start)
    )
    if key and (level != OF_SCORE or not key.startswith(_SCORES)):
        raise ValueError(f"{given.name}: keys that are data are fields of scores")
    return Leaf(given, level, path.removeprefix(start), key.removeprefix(_SCORES))


def _add_to(tree: _Tree, leaf: Leaf) -> None:
    """Add a field to the tree; raises `ValueError` if it has no place of its own."""
    given, node = leaf.field, tree
    *owners, last = given.path
    for key in owners:
        inner = node.setdefault(key, {})
        if isinstance(inner, Leaf):
            reason = f"{given.name}: {inner.field.name} is a field itself"
            raise ValueError(reason)  # noqa: TRY004 - the fields are wrong, not a type
        node = inner
    if last in node:
        raise ValueError(f"{given.name}: one key is several fields by `together` only")
    node[last] = leaf
    if ANY_KEY in node and (len(node) > 1 or node is tree):
        raise ValueError(f"{given.name}: keys that are data need their own object")


def _check_places(leaves: Sequence[Leaf], list_of: tuple[str, ...]) -> None:
    """Raise `ValueError` for fields that records have no place for together."""
    if list_of and not any(leaf.list_path for leaf in leaves):
        raise ValueError(f"{'.'.join(list_of)}: no field is of the items of the list")
    objects = {leaf.name for leaf in leaves if leaf.member}
    for leaf in leaves:
        given = leaf.field
        is_simple = given.codec is None and given.default is UNSET
        if leaf.member and (given.required or not is_simple):
            raise ValueError(f"{given.name}: a member of an object is taken as it is")
        if leaf.level == OF_RECORD and leaf.name in objects and not leaf.member:
            raise ValueError(f"{given.name}: its members are fields of their own")
        if leaf.list_path and leaf.level == OF_RECORD:
            raise ValueError(f"{given.name}: the items of the list are outputs")
        is_of_items = bool(list_of) and leaf.level != OF_RECORD
        if is_of_items and not leaf.list_path and leaf.name != "model":
            raise ValueError(f"{given.name}: each item of the list has its own")


def _placed_members(
    tree: _Tree, owner: Row
) -> Iterator[tuple[str, "Leaf | _Tree", Any]]:
    """Yield the members of an object that have places, in the order of the fields.

    Those of one object of the record are in the order of the row.
    """
    members = {}
    for key, place in tree.items():
        if isinstance(place, Leaf) and place.member:
            members[key] = place
        elif key in owner and key != ANY_KEY:
            yield key, place, owner[key]
    for key, value in owner.items():
        if key in members:
            yield key, members[key], value
        elif ANY_KEY in tree and key not in tree:
            yield key, tree[ANY_KEY], value


def _is_taken(place: Leaf, key: str, value: Any, levels: _Levels) -> bool:
    """Put a value into `levels` if its field can hold it and has none; tell whether."""
    known, codec = place.field, place.field.codec
    if place.member:
        levels[0].setdefault(place.name, {})[place.member] = value
        return True
    taken = value if codec is None else codec.read(value)
    if taken is DECLINED:
        return False
    is_trusted = place.is_trusted and taken is not None
    if not is_trusted and not fits(known.record_path, taken):
        return False
    if place.key_name:
        score = Score(**{place.key_name: key, place.name: taken})
        levels[1].setdefault("scores", []).append(score)
        return True
    level = levels[place.level]
    if place.name in level:
        return False
    level[place.name] = taken
    return True


def _are_objects(value: Any) -> bool:
    return type(value) is list and all(type(item) is dict for item in value)


def _kept_in(owner: Record | Output, vendor: str) -> Row:
    """Return a copy of the members that `vendor` has in the extra of a record."""
    return {} if owner.extra is UNSET else {**owner.extra.get(vendor, {})}


def _owners_of(record: Record) -> tuple[Any, Any, Any]:
    output = record.outputs[0] if record.outputs else None
    scores = output.scores if output is not None else UNSET
    return record, output, scores[0] if scores else None


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
        put(row, leaf.field.path[:-1], written)
    elif leaf.field.required:
        default_of(leaf.field, fates)
    if is_known and len(written) < len(scores):
        fates.dropped("outputs.scores", "those without a key of their own")


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


def any_columns(vendor: str, prepare: Callable[[Row], Row] | None = None) -> FieldTable:
    """Return the fields of rows of any columns; others are extra of `vendor`."""
    return FieldTable(vendor, COLUMN_FIELDS, prepare=prepare)


def without_nulls(row: Row) -> Row:
    """Return a row without its nulls, which say nothing in a table."""
    return {key: value for key, value in row.items() if value is not None}


def record_row(table: FieldTable, row: Row) -> Row:
    """Return a row of any columns as the row of a record, by `any_columns`."""
    return as_dict(table.read(without_nulls(row)))
