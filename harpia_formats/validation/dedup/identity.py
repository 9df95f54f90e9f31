"""Read the identity of records, as one text (the key) for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

import msgspec

from harpia_formats.formats.schema.decoder_types import Location, can_be_field
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.column import as_column
from harpia_formats.model.problem import Path

#: The value of a missing member, as msgspec's decoders set it.
ABSENT: Final = msgspec.UNSET


def key_text(values: Sequence[Any], *, by_text: bool = False) -> str:
    """Return a text that is the same for equal JSON scalars and for no others.

    Absent, null, text, integer, float and boolean all differ; if `by_text`, an integer
    equals the text of its decimal digits.
    """
    if len(values) == 1:
        only = values[0]
        if type(only) is str and only[:1] != "(":
            return only
        if type(only) is int and by_text:
            return _digits(only)
    if by_text:
        values = [_digits(value) if type(value) is int else value for value in values]
    try:
        return repr(tuple(values))
    except ValueError:  # an integer has more digits than Python converts
        return f"({', '.join(map(_literal, values))},)"


def _literal(value: Any) -> str:
    return _digits(value) if type(value) is int else repr(value)


def _digits(number: int) -> str:
    """Return the decimal digits of an integer of any size."""
    try:
        return str(number)
    except ValueError:
        return str(Decimal(number))


#: Returns the value of one member for each of some rows.
MemberReader = Callable[[Sequence[Any]], list[Any]]

#: Types of values that can be an id, or part of one.
_scalars = (str, int, float, type(None))
#: Those that every decoder reads as the same value.
_plain = {str, type(None), type(ABSENT)}


class IdentityReader:
    """Reads the keys of rows that were decoded with or without a type."""

    def __init__(self, paths: tuple[Path, ...], *, by_text: bool = False) -> None:
        """Read the id at the first path, and at the others what makes equal ids differ.

        If `by_text`, an integer is the same id as its digits.
        """
        self._paths = paths
        self._by_text = by_text
        self._decoder: TypedDecoder | None = None
        self._readers: list[MemberReader] = []
        #: Decodes nothing of a row but its identity.
        self._key_decoder: TypedDecoder | None = None

    @property
    def places(self) -> Iterable[Location]:
        """The places of the members that keys are made of, in the schema of a row."""
        return (tuple(map(str, path)) for path in self._paths)

    def keys_of_rows(self, rows: Sequence[Any], decoder: TypedDecoder) -> list[str]:
        """Return the keys of rows of `decoder`; rows without an id have none."""
        if decoder is not self._decoder:
            self._decoder = decoder
            self._readers = [member_reader(path, decoder) for path in self._paths]
        columns = [read(rows) for read in self._readers]
        return _plain_keys(columns) or self._keys(zip(*columns, strict=True))

    def keys_of_lines(self, data: bytes, lines: int) -> list[str] | None:
        """Return the keys of so many rows, each a line of JSON from `{` to `}`.

        None if a row has none. Nothing but the identity is looked at.
        """
        if not all(can_be_field(str(path[0])) for path in self._paths):
            return None
        if self._key_decoder is None:
            self._key_decoder = _key_decoder_of(self._paths)
        try:
            rows = self._key_decoder.decode_lines(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        keys = self.keys_of_rows(rows, self._key_decoder)
        return keys if len(rows) == len(keys) == lines else None

    def keys_of_value(self, value: Any) -> list[str]:
        """Return the key of a record in a list, an empty list if it has no id."""
        if type(value) is not dict:
            return []
        parts = [
            value.get(*path, ABSENT) if len(path) == 1 else member_at(value, path)
            for path in self._paths
        ]
        if type(parts[0]) is str and _plain.issuperset(map(type, parts)):
            return [key_text(parts, by_text=self._by_text)]
        return self._keys([tuple(parts)])

    def keys_of_values(self, values: Sequence[Mapping[Any, Any]]) -> list[str]:
        """Return the keys of records in order; those without an id have none."""
        columns = [_column_of(values, path) for path in self._paths]
        keys = _plain_keys(columns) if values else []
        if keys:
            return keys
        return [key for value in values for key in self.keys_of_value(value)]

    def _keys(self, identities: Iterable[tuple[Any, ...]]) -> list[str]:
        plain = ([as_integer(part) for part in parts] for parts in identities)
        return [
            key_text(parts, by_text=self._by_text)
            for parts in plain
            if isinstance(parts[0], (str, int)) and _are_scalars(parts[1:])
        ]


def _key_decoder_of(paths: tuple[Path, ...]) -> TypedDecoder:
    """Return a decoder of rows that knows only the members that `paths` begin with."""
    keys = list(dict.fromkeys(str(path[0]) for path in paths))
    names = {key: f"f{number}" for number, key in enumerate(keys)}
    row = msgspec.defstruct(
        "Identity",
        [(name, Any, ABSENT) for name in names.values()],
        rename={name: key for key, name in names.items()},
        gc=False,
    )
    decoder = msgspec.json.Decoder(row)
    return TypedDecoder(
        decoder.decode,
        decoder.decode_lines,
        msgspec.json.Decoder(list[row]).decode,  # type: ignore[valid-type]  # made at run time
        partial(msgspec.convert, type=list[row]),  # type: ignore[valid-type]  # made at run time
        (),
        {(): names},
        {(): row},
        lambda _: 0,
    )


def _plain_keys(columns: Sequence[list[Any]]) -> list[str]:
    """Return the keys of rows that all have a text as their id, none if unsure.

    They are those that `key_text` returns, computed for all rows at once: 1.7 to 2.5
    times as fast (7,000 rows of `benchmarks/data/generate.py`).
    """
    first, *others = columns
    if set(map(type, first)) != {str}:
        return []
    if not others:
        # A text that begins with a bracket could equal the text of a tuple.
        return [] if "\n(" in "\n".join(("", *first)) else first
    rest = ""
    for column in others:
        # A value that all rows share is written once; a text equals only texts.
        if type(column[0]) not in _plain or column.count(column[0]) < len(column):
            return _plain_tuples(columns)
        rest += f", {column[0]!r}"
    return [f"({id_!r}{rest})" for id_ in first]


def _plain_tuples(columns: Sequence[list[Any]]) -> list[str]:
    """Return the keys of rows whose identities have several parts, none if unsure."""
    kinds = {kind for column in columns for kind in set(map(type, column))}
    return list(map(repr, zip(*columns, strict=True))) if kinds <= _plain else []


def _are_scalars(values: Sequence[Any]) -> bool:
    for value in values:
        if value is not ABSENT and not isinstance(value, _scalars):
            return False
    return True


def as_integer(value: Any) -> Any:
    """Return a float as its integer if it is one, so that 1.0 equals 1."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value


def member_reader(path: Path, decoder: TypedDecoder) -> MemberReader:
    """Return the function that reads the member at `path` of rows of `decoder`."""
    steps = []
    for end, key in enumerate(path):
        place = tuple(map(str, path[:end]))
        if place not in decoder.attributes:
            break
        attribute = decoder.attributes[place].get(str(key))
        if attribute is None:
            return _absent
        steps.append(attribute)
    rest = path[len(steps) :]
    if steps and not rest:
        return partial(_members, steps=steps)
    if len(steps) != 1:
        return lambda rows: [member_at(_inside(row, steps), rest) for row in rows]
    return partial(_below, attribute=steps[0], rest=rest)


def _members(rows: Sequence[Any], steps: Sequence[str]) -> list[Any]:
    """Return the value at the end of nested attributes of each row."""
    try:
        return as_column(rows).member(".".join(steps))
    except AttributeError:  # an object is null or missing in some row
        return [_inside(row, steps) for row in rows]


def _below(rows: Sequence[Any], attribute: str, rest: Path) -> list[Any]:
    """Return the member at `rest` of the object that an attribute of each row is."""
    values = as_column(rows).member(attribute)
    if dict not in values.kinds:  # a list has no members
        return _absent(rows)
    if len(rest) > 1:
        return [member_at(value, rest) for value in values]
    (key,) = rest
    return [
        value.get(key, ABSENT) if type(value) is dict else ABSENT for value in values
    ]


def _inside(row: Any, attributes: Sequence[str]) -> Any:
    """Return the value at the end of nested attributes, `ABSENT` if one is missing."""
    for attribute in attributes:
        row = getattr(row, attribute, ABSENT)
    return row


def _absent(rows: Sequence[Any]) -> list[Any]:
    return [ABSENT] * len(rows)


def _column_of(values: Sequence[Mapping[Any, Any]], path: Path) -> list[Any]:
    """Return the member at `path` of each of some objects, `ABSENT` without one."""
    if len(path) == 1:
        (key,) = path
        return [value.get(key, ABSENT) for value in values]
    return [member_at(value, path) for value in values]


def member_at(value: Any, path: Path) -> Any:
    """Return the member at `path` of a decoded value, `ABSENT` if there is none."""
    for step in path:
        if not isinstance(value, dict):
            return ABSENT
        value = value.get(step, ABSENT)
    return value
