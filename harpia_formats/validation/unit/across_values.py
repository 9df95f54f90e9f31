"""Compute the digests that rules across rows compare, for the rows of a chunk."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    FileLint,
    RoughText,
    TextColumns,
    TextsOf,
)
from harpia_formats.model.problem import Path
from harpia_formats.validation.dedup.digests import digests_of
from harpia_formats.validation.dedup.identity import (
    MemberReader,
    as_integer,
    key_text,
    member_at,
    member_reader,
)

#: The values of a row that a rule compares: the text of its key, and of its value. Of
#: a rule that compares roughly, the rough text, and the whole text behind a digit: how
#: many keys of the place of a finding the row has.
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
        self._is_rough = not is_exact and rule.rough_text is not None
        self._decoder: TypedDecoder | None = None
        self._readers: list[MemberReader] = []
        #: What reads the members on the way to the place of a finding.
        self._place_readers: list[MemberReader] = []

    def of_value(self, row: Any) -> Compared | None:
        """Return what is compared of a decoded row, None if it is passed over."""
        if type(row) is not dict:
            return None
        rule, given = self.rule, row
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
        if self._is_rough and rule.rough_text is not None:
            depth = len(start_of(place_of(rule), given))
            return _with_depth(rule.rough_text(*values), depth)
        if rule.agreement is Agreement.ONE_TYPE:
            value = _type_of(values[0])
        else:
            value = _text(rule.value_text, values)
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
        known = {} if known is None else known
        columns = self._columns(rows, decoder, known)
        if not (rule.takes_typed or all(map(_are_exact, columns))):
            return None
        if self._is_rough:
            return self._roughly(columns, self._depths(rows, known))
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
        if self._is_rough:
            depth = int(str(place_of(rule)[0]) in rows.texts)
            return self._roughly(columns, [depth] * rows.count)
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
        texts: Sequence[str | None]
        if rule.agreement is Agreement.ONE_TYPE:
            texts = list(map(_type_of, values[0]))
        else:
            texts = _texts(rule.value_text, values, rule.value_texts)
        if rule.agreement is not Agreement.BY_KEY:
            return [None if text is None else ("", text) for text in texts]
        return [
            None if key is None or text is None else (key, text)
            for key, text in zip(
                _texts(rule.key_text, keys, rule.key_texts), texts, strict=True
            )
        ]

    def _roughly(
        self, columns: Sequence[Sequence[Any]], depths: Sequence[int]
    ) -> "list[Compared | None]":
        """Return what is compared roughly of rows of which so much of the place is."""
        at_once, one = self.rule.rough_texts, self.rule.rough_text
        found = at_once(columns) if at_once else list(map(one, *columns))  # type: ignore[arg-type]  # a rough reader has one
        return list(map(_with_depth, found, depths))

    def _depths(
        self, rows: Sequence[Any], known: "dict[Known, list[Any]]"
    ) -> Sequence[int]:
        """Return how many keys of the place of a finding each typed row has."""
        place = place_of(self.rule)
        if (place, None) not in known:
            known[place, None] = self._place_readers[-1](rows)
        if UnsetType not in set(map(type, known[place, None])):
            return [len(place)] * len(rows)
        columns = [map(type, read(rows)) for read in self._place_readers]
        return [len(place) - each.count(UnsetType) for each in zip(*columns)]  # noqa: B905 - all are as long

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
            if self._is_rough:
                place = place_of(rule)
                ways = [place[:size] for size in range(1, len(place) + 1)]
                self._place_readers = [member_reader(path, decoder) for path in ways]
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
    and value by turns; of a rule that compares roughly, of all rough and whole texts.
    """
    found = [each for each in compared if each is not None]
    if rule.agreement is Agreement.UNIQUE and rule.rough_text is None:
        return digests_of([value for _, value in found])
    pairs = array("Q", bytes(16 * len(found)))
    if rule.agreement is Agreement.UNIQUE:
        pairs[::2] = digests_of([rough for rough, _ in found])
        pairs[1::2] = digests_of_whole([whole for _, whole in found])
        return pairs
    if rule.agreement is not Agreement.BY_KEY:
        found = list(dict.fromkeys(found))
        pairs = array("Q", bytes(16 * len(found)))
    pairs[::2] = digests_of([key for key, _ in found])
    pairs[1::2] = digests_of([value for _, value in found])
    return pairs


#: The bits of the digest of a whole text; those above tell how much of the place of a
#: finding the row has.
_WHOLE_BITS = 61
_MASK = (1 << _WHOLE_BITS) - 1
#: How many keys these tell at most.
MOST_KEYS = 7


def digests_of_whole(texts: Sequence[str]) -> "array[int]":
    """Return the digests of whole texts that have the digit of a reader before them."""
    return array(
        "Q",
        [
            digest & _MASK | int(text[0]) << _WHOLE_BITS
            for digest, text in zip(digests_of(texts), texts, strict=True)
        ],
    )


#: The bytes by which long texts are compared.
_WIDTH = 16


def short_text(text: str) -> bytes | str:
    """Return a text, or 16 bytes that stand for it if it is longer."""
    if len(text) <= _WIDTH:
        return text
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_WIDTH).digest()


def short_whole_text(text: str) -> bytes:
    """Return bytes that stand for a whole text, other ones than for any exact text."""
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_WIDTH + 1).digest()


def depth_of(digest: int) -> int:
    """Return how much of the place the rows have whose whole text has this digest."""
    return digest >> _WHOLE_BITS


def _with_depth(found: RoughText | None, depth: int) -> Compared | None:
    return None if found is None else (found[0], f"{min(depth, MOST_KEYS)}{found[1]}")


def place_of(rule: AcrossRows) -> Path:
    """Return the path at which findings of a rule are placed, where a row has it."""
    return rule.place or rule.value[0]


def start_of(path: Path, row: object) -> Path:
    """Return `path` as far as a decoded row has it."""
    for number, key in enumerate(path):
        if not isinstance(row, dict) or key not in row:
            return path[:number]
        row = row[key]
    return path


def _texts(
    given: Any, columns: Sequence[Sequence[Any]], at_once: TextsOf | None
) -> Sequence[str | None]:
    texts = None if at_once is None else at_once(columns)
    if texts is not None:
        return texts
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
        return key_text([as_integer(value) for value in values])
    return "\n" + msgspec.json.encode([as_integer(value) for value in values]).decode()


def _escaped(text: str) -> str:
    """Return a text that differs from those of other values: as `key_text` does."""
    return text if text[:1] not in {"(", "\n"} else key_text([text, ""])


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
