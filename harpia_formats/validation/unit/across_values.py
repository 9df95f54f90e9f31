"""Compute the digests that rules across rows compare, for the rows of a chunk."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.lint import AcrossRows, Agreement, FileLint, TextColumns
from harpia_formats.model.problem import Path
from harpia_formats.validation.dedup.digests import digests_of
from harpia_formats.validation.dedup.identity import (
    MemberReader,
    key_text,
    member_at,
    member_reader,
)

#: The values of a row that a rule compares: the text of its key, and of its value.
Compared = tuple[str, str]
#: Of which values a column is: their path, and what they are prepared by.
Known = tuple[Path, Callable[[Any], Any] | None]

#: Types that the typed decoder reads exactly as the decoder without types does.
_exact = frozenset({str, bool, int, type(None), type(UNSET)})
#: Types of values that equal no values of other types.
_constants = frozenset({str, type(None), type(UNSET)})
_scalars = frozenset({str, bool, int, float})


class AcrossReader:
    """Reads the texts that one rule compares, of decoded and of typed rows."""

    def __init__(self, rule: AcrossRows, *, is_exact: bool = False) -> None:
        """Take the rule; unless `is_exact`, texts that are quicker to make are read."""
        self.rule = rule
        self._is_exact = is_exact
        rough = None if is_exact else rule.rough_text
        self._value_text = rough or rule.value_text
        self._decoder: TypedDecoder | None = None
        self._readers: list[MemberReader] = []

    def of_value(self, row: Any) -> Compared | None:
        """Return what is compared of a decoded row, None if it is passed over."""
        if type(row) is not dict:
            return None
        rule = self.rule
        if rule.normalize is not None:
            row = rule.normalize(row)
        key = ""
        if rule.agreement is Agreement.BY_KEY:
            if self._skips_plain([member_at(row, rule.key[0])]):
                return None
            found = _text(rule.key_text, self._values_at(row, rule.key))
            if found is None:
                return None
            key = found
        values = self._values_at(row, rule.value)
        if rule.agreement is Agreement.ONE_TYPE:
            value = _type_of(values[0])
        else:
            value = _text(self._value_text, values)
        return None if value is None else (key, value)

    def _values_at(self, row: Any, paths: Sequence[Path]) -> list[Any]:
        """Return the values that are compared of a decoded row."""
        values = [member_at(row, path) for path in paths]
        prepare = self.rule.prepare
        return values if prepare is None else list(map(prepare, values))

    def of_typed(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, list[Any]] | None" = None,
    ) -> list[Compared | None] | None:
        """Return what is compared of rows of `decoder`; None if it cannot tell.

        `known` keeps the values of the rows at each path, for other rules.
        """
        rule = self.rule
        if rule.normalize is not None:
            return None
        columns = self._columns(rows, decoder, {} if known is None else known)
        if not (rule.takes_typed or all(map(_are_exact, columns))):
            return None
        return self._of_columns(columns)

    def of_texts(self, rows: TextColumns) -> "list[Compared | None]":
        """Return what is compared of rows of a table."""
        rule = self.rule
        if rule.normalize is not None:
            return [self.of_value(row) for row in rows.rows()]
        absent = [UNSET] * rows.count
        columns: list[Sequence[Any]] = [
            rows.texts.get(str(path[0]), absent) if len(path) == 1 else absent
            for path in (*rule.key, *rule.value)
        ]
        prepare = rule.prepare
        if prepare is not None:
            columns = [list(map(prepare, column)) for column in columns]
        return self._of_columns(columns)

    def _of_columns(self, columns: Sequence[Sequence[Any]]) -> "list[Compared | None]":
        """Return what is compared of rows, of their values at each path of the rule."""
        rule = self.rule
        if self._skips_plain(columns[0]):
            return []
        if rule.concerns_none is not None and rule.concerns_none(columns):
            return []
        is_paired = rule.agreement is not Agreement.UNIQUE
        if is_paired and not self._is_exact and all(map(_is_constant, columns)):
            columns = [column[:1] for column in columns]  # one row is as good as all
        keys, values = columns[: len(rule.key)], columns[len(rule.key) :]
        texts: list[str | None]
        if rule.agreement is Agreement.ONE_TYPE:
            texts = list(map(_type_of, values[0]))
        else:
            texts = self._value_texts(values)
        if rule.agreement is not Agreement.BY_KEY:
            return [None if text is None else ("", text) for text in texts]
        return [
            None if key is None or text is None else (key, text)
            for key, text in zip(_texts(rule.key_text, keys), texts, strict=True)
        ]

    def _value_texts(self, columns: Sequence[Sequence[Any]]) -> list[str | None]:
        """Return the text of the values of each row."""
        at_once = self.rule.rough_texts
        if at_once is not None and not self._is_exact:
            return at_once(columns)
        return _texts(self._value_text, columns)

    def _columns(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, list[Any]]",
    ) -> list[list[Any]]:
        """Return the values of rows of `decoder` at each path of the rule."""
        rule = self.rule
        if decoder is not self._decoder:
            self._decoder = decoder
            paths = (*rule.key, *rule.value)
            self._readers = [member_reader(path, decoder) for path in paths]
        columns = []
        prepare = rule.prepare
        for path, read in zip((*rule.key, *rule.value), self._readers, strict=True):
            if (path, prepare) not in known:
                values = read(rows)
                if prepare is not None:
                    values = list(map(prepare, values))
                known[path, prepare] = values
            columns.append(known[path, prepare])
        is_one = rule.agreement is Agreement.ONE_VALUE and not self._is_exact
        if is_one and len(columns) == 1:
            (values,) = columns
            if type(values[0]) is str and values.count(values[0]) == len(rows):
                return [values[:1]]  # one is as good as all
        return columns

    def _skips_plain(self, values: Sequence[Any]) -> bool:
        """Tell whether rows with these values need not be compared at first."""
        are_plain = self.rule.are_plain
        return are_plain is not None and not self._is_exact and are_plain(values)


class CountReader:
    """Counts the values of one lint of the file, of decoded and of typed rows."""

    def __init__(self, lint: FileLint) -> None:
        """Take the lint."""
        self.lint = lint
        self._decoder: TypedDecoder | None = None
        self._readers: list[MemberReader] = []

    def of_typed(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, list[Any]]",
    ) -> dict[str, int]:
        """Return the counts of rows of `decoder`; `known` has the values at paths."""
        paths = self.lint.paths
        if decoder is not self._decoder:
            self._decoder = decoder
            self._readers = [member_reader(path, decoder) for path in paths]
        for path, read in zip(paths, self._readers, strict=True):
            if (path, None) not in known:
                known[path, None] = read(rows)
        return self._counts([known[path, None] for path in paths])

    def of_values(self, rows: Iterable[Any]) -> dict[str, int]:
        """Return the counts of decoded rows."""
        objects = [row for row in rows if type(row) is dict]
        columns = [
            [member_at(row, path) for row in objects] for path in self.lint.paths
        ]
        return self._counts(columns) if objects else {}

    def _counts(self, columns: Sequence[Sequence[Any]]) -> dict[str, int]:
        code = self.lint.code
        return {
            f"{code} {key}": number for key, number in self.lint.count(columns).items()
        }


def digests_of_compared(
    rule: AcrossRows, compared: Sequence[Compared | None]
) -> "array[int]":
    """Return the digests of what a rule compares of some rows.

    They are those of the values if these must differ, else those of each distinct key
    and value by turns.
    """
    found = [each for each in compared if each is not None]
    if rule.agreement is Agreement.UNIQUE:
        return digests_of([value for _, value in found])
    pairs = array("Q", bytes(16 * len(found)))
    if rule.agreement is not Agreement.BY_KEY:
        found = list(dict.fromkeys(found))
        pairs = array("Q", bytes(16 * len(found)))
    pairs[::2] = digests_of([key for key, _ in found])
    pairs[1::2] = digests_of([value for _, value in found])
    return pairs


def _texts(given: Any, columns: Sequence[Sequence[Any]]) -> list[str | None]:
    if given is None:
        if len(columns) == 1 and set(map(type, columns[0])) == {str}:
            return [*map(_escaped, columns[0])]
        return [_plain_text(values) for values in zip(*columns, strict=True)]
    return list(map(given, *columns))


def _text(given: Any, values: Sequence[Any]) -> str | None:
    return _plain_text(values) if given is None else given(*values)


def _plain_text(values: Sequence[Any]) -> str | None:
    """Return a text that is the same for equal values only."""
    if len(values) == 1 and type(values[0]) is str:
        return _escaped(values[0])
    for value in values:
        if value is None or value is UNSET:
            return None
    if _scalars.issuperset(map(type, values)):
        return key_text([_as_integer(value) for value in values])
    return "\n" + msgspec.json.encode([_as_integer(value) for value in values]).decode()


def _escaped(text: str) -> str:
    """Return a text that differs from those of other values: as `key_text` does."""
    return text if text[:1] not in {"(", "\n"} else key_text([text, ""])


def _as_integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _type_of(value: Any) -> str | None:
    """Return the JSON type of a value; None for one that is absent or null."""
    if value is None or value is UNSET:
        return None
    kind = type(value)
    if kind is bool:
        return "a boolean"
    if kind is str:
        return "text"
    if kind in {int, float}:
        return "a number"
    return "an array" if kind is list else "an object"


def _is_constant(column: Sequence[Any]) -> bool:
    """Tell whether all rows have the same text, or none."""
    first = column[0] if column else None
    return type(first) in _constants and column.count(first) == len(column)


def _are_exact(column: list[Any]) -> bool:
    """Tell whether the values are as the decoder without types reads them."""
    kinds = set(map(type, column))
    if kinds <= _exact:
        return True
    if not kinds <= _exact | {list}:
        return False
    return all(
        _exact.issuperset(map(type, value)) for value in column if type(value) is list
    )


def paths_of(rules: Sequence[AcrossRows]) -> tuple[Path, ...]:
    """Return the paths of all values that `rules` compare."""
    return tuple(
        dict.fromkeys(path for rule in rules for path in (*rule.key, *rule.value))
    )
