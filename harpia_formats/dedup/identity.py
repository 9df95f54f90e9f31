"""What tells the records of a file apart, as one text for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from harpia_formats.dedup.key_text import ABSENT, key_text
from harpia_formats.model.problem import Path
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Returns one member of each of some rows.
Reader = Callable[[Sequence[Any]], list[Any]]

#: Types of what can be an id, or part of one.
_scalars = (str, int, float, type(None))
#: Those that are the same in every reading.
_plain = {str, type(None), type(ABSENT)}


class IdentityReader:
    """Reads what tells a record apart, from rows decoded in either way."""

    def __init__(self, paths: tuple[Path, ...], *, by_text: bool = False) -> None:
        """Take the path to the id, and those to what tells equal ids apart.

        If `by_text`, an integer is the same id as its digits.
        """
        self._paths = paths
        self._by_text = by_text
        self._decoder: TypedDecoder | None = None
        self._readers: list[Reader] = []

    def keys_of_rows(self, rows: Sequence[Any], decoder: TypedDecoder) -> list[str]:
        """Return the keys of rows that `decoder` decoded."""
        if decoder is not self._decoder:
            self._decoder = decoder
            self._readers = [_reader(each, decoder) for each in self._paths]
        columns = [each(rows) for each in self._readers]
        return _plain_keys(columns) or self._keys(zip(*columns, strict=True))

    def keys_of_value(self, value: Any) -> list[str]:
        """Return the key of a record; none if it has no id."""
        if type(value) is not dict:
            return []
        parts = [
            value.get(*each, ABSENT) if len(each) == 1 else _at(value, each)
            for each in self._paths
        ]
        if type(parts[0]) is str and _plain.issuperset(map(type, parts)):
            return [key_text(parts, by_text=self._by_text)]
        return self._keys([tuple(parts)])

    def keys_of_values(self, values: Sequence[Mapping[Any, Any]]) -> list[str]:
        """Return the keys of records in order; those without an id have none."""
        if all(len(each) == 1 for each in self._paths):
            columns = [
                [value.get(key, ABSENT) for value in values] for (key,) in self._paths
            ]
            keys = _plain_keys(columns)
            if keys:
                return keys
        return [key for each in values for key in self.keys_of_value(each)]

    def _keys(self, identities: Iterable[tuple[Any, ...]]) -> list[str]:
        plain = ([_plainly(part) for part in each] for each in identities)
        return [
            key_text(each, by_text=self._by_text)
            for each in plain
            if isinstance(each[0], (str, int)) and _are_scalars(each[1:])
        ]


def _plain_keys(columns: Sequence[list[Any]]) -> list[str]:
    """Return the keys of rows that all have a text as their id, none if in doubt.

    They are what `key_text` returns, made for all rows at once.
    """
    first, *others = columns
    if set(map(type, first)) != {str}:
        return []
    if not others:
        # A text with a bracket in front could be taken for a tuple.
        return [] if "\n(" in "\n".join(("", *first)) else first
    rest = ""
    for each in others:
        # What is the same in all rows is written once; texts are equal to texts only.
        if type(each[0]) not in _plain or each.count(each[0]) < len(each):
            return _plain_tuples(columns)
        rest += f", {each[0]!r}"
    return [f"({each!r}{rest})" for each in first]


def _plain_tuples(columns: Sequence[list[Any]]) -> list[str]:
    """Return the keys of rows with several parts that differ, none if in doubt."""
    kinds = {kind for each in columns for kind in set(map(type, each))}
    return list(map(repr, zip(*columns, strict=True))) if kinds <= _plain else []


def _are_scalars(values: Sequence[Any]) -> bool:
    for each in values:
        if each is not ABSENT and not isinstance(each, _scalars):
            return False
    return True


def _plainly(value: Any) -> Any:
    """Return a number as its integer if it is one: 1.0 is 1, whoever decoded it."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value


def _reader(path: Path, decoder: TypedDecoder) -> Reader:
    """Return what reads the member at `path` of rows that `decoder` decoded."""
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
    if len(steps) != 1:
        return lambda rows: [_at(_inside(row, steps), rest) for row in rows]
    member: Callable[[Any], Any] = attrgetter(*steps)
    if not rest:
        return lambda rows: list(map(member, rows))
    if len(rest) > 1:
        return lambda rows: [_at(each, rest) for each in map(member, rows)]
    (key,) = rest
    return lambda rows: [
        each.get(key, ABSENT) if type(each) is dict else ABSENT
        for each in map(member, rows)
    ]


def _inside(row: Any, attributes: Sequence[str]) -> Any:
    """Return what is at the end of some attributes, if none of them is missing."""
    for each in attributes:
        row = getattr(row, each, ABSENT)
    return row


def _absent(rows: Sequence[Any]) -> list[Any]:
    return [ABSENT] * len(rows)


def _at(value: Any, path: Path) -> Any:
    """Return the member at `path` of a decoded value."""
    for each in path:
        if not isinstance(value, dict):
            return ABSENT
        value = value.get(each, ABSENT)
    return value
