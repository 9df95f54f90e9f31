"""Adapters: how rows of a format become records, and records become rows."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.problem import Path
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS, Header, Record, Score

#: A decoded row: a JSON object.
Row = dict[str, Any]


class Cardinality(Enum):
    """How many references, outputs or scores a row can hold."""

    NONE = auto()
    ONE = auto()
    #: Several answers, but of one model only.
    MANY_OF_ONE_MODEL = auto()
    MANY = auto()


@dataclass(frozen=True, slots=True)
class RowCapacity:
    """What a row of a format can hold."""

    references: Cardinality = Cardinality.ONE
    outputs: Cardinality = Cardinality.ONE
    scores: Cardinality = Cardinality.NONE
    #: Whether a score needs a number and whether the answer is correct. Of several
    #: scores of an answer, those without are left out if there are others.
    needs_verdict: bool = False
    #: What tells the rows of several scores of one answer apart, which then share their
    #: id: returns it of a score, None for one without. None where such rows need ids of
    #: their own.
    score_name: Callable[[Score], Hashable | None] | None = None
    #: Whether the prompt can be a chat of several messages.
    messages: bool = False
    #: Whether an answer can be a conversation of several turns.
    turns: bool = False
    #: Whether each of several answers in a row is one text, though one may be a
    #: conversation.
    lists_texts: bool = False
    #: Whether rows are what a data set asks: where a record has that, the conversation
    #: of its answer is none of it.
    asks_only: bool = False


#: Returned by `ValueCodec.read` for a value that the field cannot hold; the value is
#: kept in `extra`.
DECLINED: Any = object()


class ChangedValue(Struct, frozen=True):  # made without a function in Python
    """A value that is written instead of the one that the record has."""

    value: Any
    #: What was changed, in a few words.
    how: str


@dataclass(frozen=True, slots=True)
class ValueCodec:
    """Converts the value of a key in rows to that of a field in records, and back.

    `read` may return `DECLINED`, and `write` a `ChangedValue`.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    #: What it does, in a few words for the table of fields.
    description: str
    #: Whether `read` declines a value by its type alone.
    by_type: bool = False
    #: The types of values that `write` returns as they are, if it does for all of one.
    unchanged: frozenset[type] = frozenset()


def _one(value: Any) -> Any:
    return [value]


def _first(texts: list[str]) -> Any:
    if len(texts) > 1:
        return ChangedValue(texts[0], "the first of several")
    return texts[0] if texts else UNSET


#: One text in a row for a list of texts in a record.
LIST_OF_ONE = ValueCodec(_one, _first, "as a list of one", by_type=True)


def as_is(value: Any) -> Any:
    """Return `value`: for a `ValueCodec` that converts in one direction only."""
    return value


def _empty_for_null(value: Any) -> Any:
    return ChangedValue("", "empty text for null") if value is None else value


def _nothing_for_null(value: Any) -> Any:
    return ChangedValue(UNSET, "left out for null") if value is None else value


#: A text that a row must have, where a record may have null.
EMPTY_FOR_NULL = ValueCodec(
    as_is, _empty_for_null, "null becomes empty text", unchanged=frozenset({str})
)
#: A text that a row may leave out, where a record may have null.
NOTHING_FOR_NULL = ValueCodec(
    as_is, _nothing_for_null, "null is left out", unchanged=frozenset({str})
)


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """The place of a field in rows, and its place in records.

    The last key of the path may be "*" where the keys of an object are data, such as
    names of metrics: it stands for each key that no other mapping names.
    """

    path: tuple[str, ...]
    #: The path in a record, such as `prompt` or `outputs.scores.value`.
    record_path: str
    codec: ValueCodec | None = None
    #: Whether a row must have it.
    required: bool = False
    #: What is written if a record lacks the field.
    default: Any = UNSET
    #: A remark for the table of fields.
    note: str = ""
    #: The path of the field that the key itself is, where the last key is "*".
    key_record_path: str = ""

    @property
    def name(self) -> str:
        """The keys of its path, joined by dots."""
        return ".".join(self.path)

    @property
    def default_text(self) -> str:
        """The default in words, such as `is ""`."""
        return f"is {msgspec.json.encode(self.default).decode()}"


#: Returns of a typed row the needed fields and their key; see `direct_reader`.
ReadTyped = Callable[[Any], tuple[Record, Hashable] | None]
DirectReader = Callable[[Mapping[str, Any], "FormatAdapter", Any], ReadTyped | None]


class RowMerging(Struct, frozen=True):
    """How rows of one file that are parts of one record become that record."""

    #: The key whose text says which part a row is, such as the name of a filter.
    part_key: str
    #: Return the value that the rows of one record share, as JSON.
    identity: Callable[[Row], Any]
    #: Given the records of the rows with the names of their parts, ordered by where the
    #: names first stand in the file: the one record.
    merge: Callable[[Sequence[tuple[str, Record]]], Record]


@dataclass(frozen=True, slots=True)
class FormatAdapter:
    """Reads rows of a format as records, and writes records as rows.

    `read` takes a row in the first dialect of the format. `write` takes a record that
    fits the `capacity`, and adds the outcomes of fields that it changes; the caller
    adds those of fields without a place.
    """

    vendor: str
    fields: tuple[FieldMapping, ...]
    read: Callable[[Row], Record]
    #: None for a format that can be read and not written (`Format.read_only`).
    write: Callable[[Record, FieldOutcomes], Row] | None = None
    capacity: RowCapacity = field(default_factory=RowCapacity)
    #: The keys of the object in a row that stores extra fields; None if there is none.
    extras_path: tuple[str, ...] | None = None
    #: The adapter that writes the vendor's members of the extra, too, where the user
    #: asks for extra fields; None if rows always have them.
    with_own_extra: "FormatAdapter | None" = None
    #: Whether extra fields must be stored as one text.
    extras_as_text: bool = False
    #: Given what stands around the rows of a file, which are the members of their
    #: document before them, or its companion document, as far as `needed_around` keeps
    #: them: the function that reads a row in place of `read`. `read` reads a row of
    #: which nothing else is known. None if nothing around a row changes its record.
    reader_in: Callable[[Mapping[str, Any]], Callable[[Row], Record]] | None = None
    #: Given the same: what of it `reader_in` needs, which is sent to workers with each
    #: unit of rows; None if that is all.
    needed_around: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    #: Given what `reader_in` gets, a target and the typed decoder of rows: a function
    #: that returns of a typed row the record with the fields that the target needs, and
    #: a key that is the same for rows whose fields all have the same outcome, or None
    #: for a row that is to be read as a whole. None where all rows are.
    direct_reader: DirectReader | None = None
    #: Given the same as `reader_in`: why several records have one id, "" if nothing
    #: says so before they are read. None if nothing ever does.
    repeated_ids: Callable[[Mapping[str, Any]], str] | None = None
    #: Given the companion document, {} if there is none, and the name of the file: what
    #: stands around its rows. None if rows are not read with a companion.
    around_of: Callable[[Mapping[str, Any], str], Mapping[str, Any]] | None = None
    #: Given the companion document: the header that it gives.
    header_of: Callable[[Mapping[str, Any]], Header] | None = None
    #: Given the record of a row and that of the companion file with its id: the record
    #: with what both have. None if rows are not read so.
    join: Callable[[Record, Record], Record] | None = None
    #: How several rows become one record; None if each row is a record.
    merging: RowMerging | None = None
    #: Read the header from a document without its rows, and write it.
    read_header: Callable[[Row], Header] | None = None
    write_header: Callable[[Header, FieldOutcomes], Row] | None = None
    #: The paths in the header that `write_header` writes.
    header_fields: tuple[str, ...] = ()
    #: Functions that convert a row to the first dialect, by the name of its dialect.
    dialect_normalizers: Mapping[str, Callable[[Row], Row]] = field(
        default_factory=dict
    )
    #: Adapters whose fields have the names of a dialect, by the name of the dialect,
    #: where its rows have other keys than those of the first.
    named_by_dialect: Mapping[str, "FormatAdapter"] = field(default_factory=dict)
    #: Whether `read` takes each field from the path that `fields` names, by its codec,
    #: if all values fit their fields: nothing else decides but `discriminators`.
    reads_by_fields: bool = False
    #: Changes the members of a row that are no fields to what `read` keeps of them, for
    #: `reads_by_fields`; None where it keeps them as they are.
    keep_members: Callable[[Row], Row] | None = None
    #: Whether `read` makes texts of numbers, or of values that hold some: rows then
    #: have to be decoded with the text of each number.
    reads_numbers_as_text: bool = False
    #: Whether rows of one id can have the same answers with other scores: `--group`
    #: then makes one answer of them.
    repeats_answers: bool = False
    #: Whether a file is written as an array by default, and not as lines.
    written_as_array: bool = False
    #: Whether a blank cell of a table, without quotes, is an absent value.
    blank_is_absent: bool = False
    #: Keys of a row, no fields of the record, that its question depends on.
    asks_with: tuple[str, ...] = ()
    #: The columns of a table in their order, and those that it has in any case.
    columns: tuple[str, ...] = ()
    required_columns: tuple[str, ...] = ()
    #: Columns that a table has if it has another one, by the name of that one.
    implied_columns: Mapping[str, str] = field(default_factory=dict)
    #: Paths of texts in rows that decide how other fields are read, such as a kind; "*"
    #: stands for the items of a list.
    discriminators: frozenset[tuple[str, ...]] = frozenset()
    #: Keys of lists inside the items of a list whose lengths decide on other fields.
    nested_lists: frozenset[str] = frozenset()
    #: Paths of further fields of records that rows carry without a place of their own.
    other_paths: frozenset[str] = frozenset()
    #: Paths of members that `read` takes in another way than `fields` say. A row with
    #: one is never read by its fields alone, whatever `reads_by_fields` says.
    read_apart: tuple[tuple[str, ...], ...] = ()
    #: The keys of the objects in rows whose unknown keys go to the extra of outputs.
    answer_path: tuple[str, ...] = ()
    #: Values of keys that rows may have apart from fields, by their keys in the
    #: vendor's extra of a record and of an output; examples for what pairs of formats
    #: lose.
    extra_examples: Mapping[str, Any] = field(default_factory=dict)
    answer_extra_examples: Mapping[str, Any] = field(default_factory=dict)
    #: Values of settings (`params`) that rows have; examples as those above.
    setting_examples: Mapping[str, Any] = field(default_factory=dict)
    #: Why members of rows are not kept, by the path in a record of what stands for
    #: them, such as their number: they are lost in every format.
    not_kept: Mapping[str, str] = field(default_factory=dict)
    #: The names of what rows express apart from the values of keys, by its path in a
    #: record: a key with something in parentheses, such as its place in a list.
    other_names: Mapping[str, str] = field(default_factory=dict)
    #: The paths of all fields that rows carry, with everything below them.
    carried_paths: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = {mapping.record_path for mapping in self.fields}
        own |= {mapping.key_record_path for mapping in self.fields} - {""}
        if self.with_own_extra is None:
            own |= {f"extra.{self.vendor}"}
        # The class is frozen.
        object.__setattr__(self, "carried_paths", self.other_paths | own)

    @property
    def extra_owners(self) -> frozenset[str]:
        """The paths in a record's extra of objects that hold fields in rows.

        What rows have there apart from the fields is counted by its own keys.
        """
        found = set()
        for mapping in self.fields:
            is_of_answer = (
                self.answer_path
                and self.answer_path == mapping.path[: len(self.answer_path)]
            )
            start, keys = f"extra.{self.vendor}", mapping.path
            if is_of_answer:
                start = f"outputs.{start}"
                keys = mapping.path[len(self.answer_path) :]
            owners = keys if mapping.record_path == "messages" else keys[:-1]
            found |= {
                ".".join((start, *owners[:size])) for size in range(1, len(owners) + 1)
            }
        return frozenset(found)

    @property
    def writer(self) -> Callable[[Record, FieldOutcomes], Row]:
        """`write`; raises `TypeError` if the format is read-only."""
        if self.write is None:
            raise TypeError(f"rows of {self.vendor} are read and not written")
        return self.write

    def carries(self, path: str) -> bool:
        """Tell whether rows have a place for the field at `path`."""
        carried = self.carried_paths
        while path not in carried:
            path, dot, _ = path.rpartition(".")
            if not dot:
                return False
        return True

    @property
    def has_data_keys(self) -> bool:
        """Whether some keys of rows are data, such as names of metrics."""
        return any(mapping.key_record_path for mapping in self.fields)


def at_path(owner: Any, path: Path) -> Any:
    """Return the value at `path` in nested objects, `UNSET` if there is none."""
    for key in path:
        if not isinstance(owner, dict) or key not in owner:
            return UNSET
        owner = owner[key]
    return owner


#: The column of a field whose column does not have its name.
_columns = {"outputs.text": "response", "outputs.scores.value": "score"}
#: A column cannot hold the extra of two vendors under one name.
_no_columns = frozenset({"extra", "outputs.extra"})


def _texts(value: Any) -> Any:
    """Return a list of texts; one text is a list of one."""
    if type(value) is str:
        return [value]
    is_texts = type(value) is list and all(type(item) is str for item in value)
    return value if is_texts else DECLINED


_TEXTS = ValueCodec(_texts, as_is, "text is a list of one")

#: The fields that a row of any columns can hold.
COLUMN_FIELDS = tuple(
    FieldMapping(
        (_columns.get(path, path.rpartition(".")[2]),),
        path,
        *((_TEXTS,) if path in TEXT_LISTS else ()),
    )
    for path in FIELD_TYPES
    if path not in _no_columns
)
