"""Read and write rows by a table of fields.

A value that a record's field cannot hold, and a key that the table does not know, go to
`extra` under the vendor's name, and are written back to where they were.
"""

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.compiled_fields import (
    ANY_KEY,
    OF_OUTPUT,
    OF_RECORD,
    OF_SCORE,
    Leaf,
    Placed,
    Read,
    Write,
    WriteOwn,
    compile_read,
    compile_write,
    default_of,
    lacking,
    missing_in,
    put,
    written_value,
)
from harpia_formats.model.adapter import (
    COLUMN_FIELDS,
    ChangedValue,
    FieldMapping,
    FormatAdapter,
    Row,
)
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import FIELD_TYPES, Record

_OUTPUTS, _SCORES = "outputs.", "outputs.scores."
Tree = dict[str, "Leaf | Tree"]
#: What stands around rows of which nothing else is known.
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class FieldTable:
    """The fields of one format, which can read and write its rows.

    Of several keys for one field, the first with a value that it can hold is read, and
    the first of the table is written. Raises `ValueError` for contradictory fields.
    """

    vendor: str
    fields: tuple[FieldMapping, ...]
    #: Keys and values that every row has.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Further ones at places of their own: in front of the field with a path.
    placed: Placed = field(default_factory=dict)
    #: Keys that functions read and write, as a chat is a prompt or messages. Each field
    #: that they are has a mapping. By default, `read_own` reads the first keys of all.
    #: "*" is any key: `read_own` keeps what it does not read.
    own_keys: tuple[str, ...] = ()
    #: Given a row and its members that are no fields, which it may change: the fields
    #: that the own keys are, in a new object.
    read_own: Callable[..., Row] | None = None
    #: Given a record, a copy of the vendor's members of its extra, which it may change,
    #: and the outcomes: the members that the row begins with, in a new object. Where
    #: there are no own keys it is asked only if something is kept.
    write_own: WriteOwn | None = None
    #: Whether members that are no fields stand in the order of the row, and are written
    #: as they were, or not at all. Others are sorted, and objects are merged.
    in_order: bool = False
    #: Whether own keys are among the members that `read_own` is given, which removes
    #: those that it reads: others stay where they stand in the row.
    removes_own: bool = False
    #: Given a row: the one that is read in its place, such as one without nulls.
    normalize: Callable[[Row], Row] | None = None
    #: Given what stands around the rows of a file, or nothing: a value that `read_own`
    #: is given in front of a row. Adapters of the table then have `reader_in`.
    run_of: Callable[[Mapping[str, Any]], Any] | None = None
    tree: Tree = field(init=False, default_factory=dict)
    #: The fields that the table reads itself.
    leaves: list[Leaf] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.read_own is None and (self.own_keys or self.removes_own or self.run_of):
            raise ValueError("`own_keys`, `removes_own` and `run_of` need `read_own`")
        if ANY_KEY in self.own_keys and (self.removes_own or not self.in_order):
            raise ValueError("any key as an own one needs `in_order` alone")
        if self.read_own is not None and not self.own_keys:
            keys = dict.fromkeys(mapping.path[0] for mapping in self.fields)
            keys.pop(ANY_KEY, None)
            # The class is frozen.
            object.__setattr__(self, "own_keys", tuple(keys))
        owned = [mapping for mapping in self.fields if self._is_own(mapping)]
        for mapping in self.fields:
            if mapping not in owned:
                leaf = _leaf_of(mapping)
                _add_to(self.tree, leaf)
                self.leaves.append(leaf)
        scores = [leaf for leaf in self.leaves if leaf.level == OF_SCORE]
        if len(scores) > 1 and any(leaf.key_name for leaf in scores):
            raise ValueError("next to scores by key there is no place for another")
        is_answered = any(each.record_path.startswith(_OUTPUTS) for each in owned)
        if is_answered and any(leaf.level != OF_RECORD for leaf in self.leaves):
            raise ValueError("`read_own` returns the outputs, and fields are of others")

    def _is_own(self, given: FieldMapping) -> bool:
        """Tell whether `read_own` reads a field.

        It may be a setting, or what stands at any key apart from those of other fields.
        """
        is_setting = given.record_path.startswith("params.")
        own = self.own_keys
        is_own = given.path[0] in (*own, ANY_KEY) or ANY_KEY in own
        return self.read_own is not None and (is_own or is_setting)

    def adapter(self, *, is_read_only: bool = False, **members: Any) -> FormatAdapter:
        """Return the adapter of these fields, with other `members` of adapters.

        Its functions are compiled when they are used first. Raises `ValueError` for
        `reads_by_fields` where more than that decides, and for fields that `read_own`
        reads and nothing writes, unless it `is_read_only`.
        """
        decides = self.read_own or self.normalize
        if members.get("reads_by_fields") and (
            decides or len(self.written_leaves) < len(self.leaves)
        ):
            raise ValueError("`reads_by_fields` needs a key of its own for each field")
        if self.read_own and not (self.write_own or is_read_only):
            raise ValueError("`read_own` needs `write_own`, or `is_read_only`")
        write = None if is_read_only else _later(lambda: self.write)
        read = _later(lambda: self.read)
        if self.run_of is not None:
            members["reader_in"] = self.read_in
        return FormatAdapter(
            vendor=self.vendor, fields=self.fields, read=read, write=write, **members
        )

    @cached_property
    def read(self) -> Read:
        """The function that returns the record of a row, which it leaves as it is."""
        return self._read_of(self.tree)

    def read_of(self, keys: Container[str]) -> Read:
        """Return `read` for rows that have no keys but `keys`: it asks for these."""
        return self._read_of({key: self.tree[key] for key in self.tree if key in keys})

    def read_in(self, around: Mapping[str, Any]) -> Read:
        """Return `read` for the rows of a file, given what stands around them."""
        return self._read_of(self.tree, around)

    def _read_of(self, tree: Tree, around: Mapping[str, Any] = _NOTHING) -> Read:
        own_keys = () if self.removes_own else self.own_keys
        read_own = self.read_own
        if read_own is not None and self.run_of is not None:
            read_own = partial(read_own, self.run_of(around))
        read = compile_read(
            self.vendor, tree, own_keys, read_own, in_order=self.in_order
        )
        normalize = self.normalize
        return read if normalize is None else lambda row: read(normalize(row))

    @cached_property
    def write(self) -> Write:
        """The function that returns the row of a record, and notes outcomes of fields.

        The record has one output and one score at most, unless `write_own` writes them.
        It raises `Unconvertible` where the record lacks what a row must have.
        """
        functions: dict[str, Callable[..., Any]] = {
            "written_value": self.written,
            "finish": self.finish,
            "put_scores": put_scores,
        }
        own = "{}"
        if self.write_own is not None:
            functions["write_own"] = self.write_own
            own = "write_own(record, kept, outcomes)"
            own += "" if self.read_own else " if kept else {}"
        placed = {**self.placed, (): self.constants}
        return compile_write(self.vendor, self.written_leaves, own, functions, placed)

    @property
    def written_leaves(self) -> list[Leaf]:
        """The fields that the table writes: of several keys for one field the first."""
        first: dict[str, Leaf] = {}
        for leaf in self.leaves:
            first.setdefault(leaf.field.record_path, leaf)
        return [*first.values()]

    def written(
        self,
        given: FieldMapping,
        held: Any,
        value: Any,
        outcomes: FieldOutcomes,
        record: Record,
    ) -> Any:
        """Return what `written_value` does; what it raises names all missing fields."""
        try:
            return written_value(given, held, value, outcomes)
        except Unconvertible as error:
            missing = missing_in(self.leaves, owners_of(record))
            raise lacking([given, *missing], error.path) from None

    def finish(self, row: Row, kept: Row, outcomes: FieldOutcomes) -> Row:
        """Return `row` with the members that are no fields."""
        path = f"extra.{self.vendor}"
        if not self.in_order:
            for key in merge_missing(row, kept):
                outcomes.dropped(f"{path}.{key}", "its place is taken")
            return row
        for key, value in kept.items():
            if key in self.own_keys or key in row:
                outcomes.dropped(f"{path}.{key}", "the key belongs to another field")
            else:
                row[key] = value
        return row


def _later(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function that `make` returns, made when it is used first."""

    def function(*given: Any) -> Any:
        return make()(*given)

    function.make = make  # type: ignore[attr-defined]  # for `compiled`
    return function


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the compiled function of a table that a function calls, or itself."""
    make = getattr(function, "make", None)
    return function if make is None else make()


def _leaf_of(given: FieldMapping) -> Leaf:
    """Return the place of a field; raises `ValueError` if records have none."""
    levels = ((OF_SCORE, _SCORES), (OF_OUTPUT, _OUTPUTS), (OF_RECORD, ""))
    path, key = given.record_path, given.key_record_path
    if (given.path[-1] == ANY_KEY) is not bool(key):
        raise ValueError(f"{given.name}: {ANY_KEY!r} and `key_record_path` go together")
    if path not in FIELD_TYPES:
        raise ValueError(f"{given.name}: a record has no field {path!r}")
    level, start = next(
        (level, start) for level, start in levels if path.startswith(start)
    )
    if key and (level != OF_SCORE or not key.startswith(_SCORES)):
        raise ValueError(f"{given.name}: keys that are data are fields of scores")
    return Leaf(given, level, path.removeprefix(start), key.removeprefix(_SCORES))


def _add_to(tree: Tree, leaf: Leaf) -> None:
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
        raise ValueError(f"{given.name}: one key is several fields by `own_keys` only")
    node[last] = leaf
    if ANY_KEY in node and (len(node) > 1 or node is tree):
        raise ValueError(f"{given.name}: keys that are data need their own object")


def owners_of(record: Record) -> tuple[Any, Any, Any]:
    """Return a record, its first output and the first score of that, None for none."""
    output = record.outputs[0] if record.outputs else None
    scores = output.scores if output is not None else UNSET
    return record, output, scores[0] if scores else None


def put_scores(row: Row, leaf: Leaf, record: Record, outcomes: FieldOutcomes) -> None:
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
            outcomes.changed(leaf.field.record_path, value.how)
            value = value.value
        if value is not UNSET:
            written[key] = value
    if written:
        put(row, leaf.field.path[:-1], written)
    elif leaf.field.required:
        default_of(leaf.field, outcomes)
    if is_known and len(written) < len(scores):
        outcomes.dropped("outputs.scores", "those without a key of their own")


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


def without(row: Row, known: Collection[str]) -> Row:
    """Return the members of `row` whose keys are not in `known`."""
    return {key: value for key, value in row.items() if key not in known}


def members_of_both(row: Row, partner: Row, key: str) -> Row:
    """Return the members of a row and those of its partner.

    What the partner has with another value is in an object at `key`, to which `_` is
    appended as long as one of the two has such a member.
    """
    others = {
        name: value
        for name, value in partner.items()
        if name in row and encode(row[name]) != encode(value)
    }
    both = {**partner, **row}
    while others and key in both:
        key += "_"
    return {**both, key: others} if others else both


def put_in_front(members: Row, key: str, value: Any) -> None:
    """Put a member into an object in front of the others."""
    others = {**members}
    members.clear()
    members.update({key: value, **others})


def without_nulls(row: Row) -> Row:
    """Return a row without its nulls, which say nothing in a table."""
    return {key: value for key, value in row.items() if value is not None}


def any_columns(vendor: str) -> FieldTable:
    """Return the fields of rows of any columns; others are extra of `vendor`."""
    return FieldTable(vendor, COLUMN_FIELDS, normalize=without_nulls)
