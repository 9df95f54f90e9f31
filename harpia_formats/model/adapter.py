"""What a format says of a record: which of its fields it holds, and where."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from msgspec import UNSET

from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.problem import Path
from harpia_formats.model.record import Header, Record

Row = dict[str, Any]


class Cardinality(Enum):
    """How many of something a row can hold."""

    NONE = auto()
    ONE = auto()
    #: Several answers, but of one model only.
    MANY_OF_ONE_MODEL = auto()
    MANY = auto()


@dataclass(frozen=True, slots=True)
class RowCapacity:
    """What a row of a format has room for."""

    references: Cardinality = Cardinality.ONE
    outputs: Cardinality = Cardinality.ONE
    scores: Cardinality = Cardinality.NONE
    #: Whether what is asked can be a chat.
    messages: bool = False
    #: Whether what comes of it can be a conversation.
    turns: bool = False


#: A value that is not taken for the field, and is kept beside the fields instead.
DECLINED: Any = object()


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value that is written in the place of another one."""

    value: Any
    #: What was done to it, in a few words.
    how: str


@dataclass(frozen=True, slots=True)
class ValueCodec:
    """How a value in a row and a field of a record become each other.

    `read` may return `DECLINED`, and `write` an `ChangedValue` value.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    #: For the mapping table, in a few words.
    words: str


def _one(value: Any) -> Any:
    return [value]


def _first(texts: list[str]) -> Any:
    if len(texts) > 1:
        return ChangedValue(texts[0], "the first of several")
    return texts[0] if texts else UNSET


#: One text for a list that holds one.
LIST_OF_ONE = ValueCodec(_one, _first, "as a list of one")


def _as_is(value: Any) -> Any:
    return value


def _empty_for_null(value: Any) -> Any:
    return ChangedValue("", "empty text for null") if value is None else value


def _nothing_for_null(value: Any) -> Any:
    return ChangedValue(UNSET, "left out for null") if value is None else value


#: Text that a row must have, where a record may say that there is none.
EMPTY_FOR_NULL = ValueCodec(_as_is, _empty_for_null, "null becomes empty text")
#: Text that a row may leave out, likewise.
NOTHING_FOR_NULL = ValueCodec(_as_is, _nothing_for_null, "null is left out")


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """One place in a row, and the field of a record that it holds.

    The last key of the path may be "*" where the keys of an object are data, such as
    names of metrics: it stands for each key that no other mapping names.
    """

    path: tuple[str, ...]
    #: The path of the field, such as `prompt` or `outputs.scores.value`.
    record_path: str
    codec: ValueCodec | None = None
    #: Whether a row must have it.
    required: bool = False
    #: What is written where a record has nothing for it.
    default: Any = UNSET
    #: For the mapping table.
    note: str = ""
    #: The path of the field that the key itself is, where the last key is "*".
    key_record_path: str = ""

    @property
    def name(self) -> str:
        """Its path as one word."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class FormatAdapter:
    """How rows of a format become records, and records rows.

    `read` takes a row in the form that is documented first. `write` takes a record
    that `capacity` has room for; of what it alters it leaves a note. What neither knows
    is dropped, and noted by whoever calls.
    """

    vendor: str
    fields: tuple[FieldMapping, ...]
    read: Callable[[Row], Record]
    #: None for a format that can be read and not written (`Format.read_only`).
    write: Callable[[Record, FieldFates], Row] | None = None
    capacity: RowCapacity = field(default_factory=RowCapacity)
    #: Where a row has room for what it has no place for, if it has.
    extras_path: tuple[str, ...] | None = None
    #: Whether what is put there must be text.
    extras_as_text: bool = False
    #: Given the document without its rows, and what is written around rows.
    read_header: Callable[[Row], Header] | None = None
    write_header: Callable[[Header, FieldFates], Row] | None = None
    #: Paths of the header that `write_header` carries.
    header_fields: tuple[str, ...] = ()
    #: The form that is documented first, of a row in another dialect, by its name.
    dialect_normalizers: Mapping[str, Callable[[Row], Row]] = field(
        default_factory=dict
    )
    #: Whether rows are documented as an array, and not as lines.
    written_as_array: bool = False
    #: Whether a cell of a table with nothing in it, not even quotes, is not there.
    blank_is_absent: bool = False
    #: Columns of a table in their order, and those that it always has.
    columns: tuple[str, ...] = ()
    required_columns: tuple[str, ...] = ()
    #: Columns that it has wherever it has another one, by that.
    implied_columns: Mapping[str, str] = field(default_factory=dict)
    #: Places in rows whose text decides on more than itself, such as a kind; "*" stands
    #: for the items of a list.
    discriminators: frozenset[tuple[str, ...]] = frozenset()
    #: Keys of lists inside of the items of a list whose lengths decide, too.
    nested_lists: frozenset[str] = frozenset()
    #: Further paths of records that are carried, without a place of their own.
    other_paths: frozenset[str] = frozenset()

    @property
    def writer(self) -> Callable[[Record, FieldFates], Row]:
        """`write`; raises `TypeError` if the format is read-only."""
        if self.write is None:
            raise TypeError(f"rows of {self.vendor} are read and not written")
        return self.write

    def carries(self, path: str) -> bool:
        """Tell whether rows have a place for the field at `path`."""
        return any(
            path == each or path.startswith(f"{each}.") for each in self.carried_paths
        )

    @property
    def has_data_keys(self) -> bool:
        """Whether some keys of rows are data, such as names of metrics."""
        return any(each.key_record_path for each in self.fields)

    @property
    def carried_paths(self) -> frozenset[str]:
        """Every path that is carried; what is below it is too."""
        own = {each.record_path for each in self.fields}
        own |= {each.key_record_path for each in self.fields if each.key_record_path}
        return self.other_paths | own | {f"extra.{self.vendor}"}


def at_path(owner: Any, path: Path) -> Any:
    """Return the value at `path`, `UNSET` if there is none."""
    for each in path:
        if not isinstance(owner, dict) or each not in owner:
            return UNSET
        owner = owner[each]
    return owner
