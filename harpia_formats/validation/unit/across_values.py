"""Compute the digests that rules across rows compare, for the rows of a chunk."""

import ast
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.column import Column, JoinedTexts, as_column
from harpia_formats.model.describe import short_json
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    FileLint,
    RoughText,
    RoughTexts,
    SameMistake,
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

#: The values of a row that a rule compares: the text of its key, and of its value.
Compared = tuple[str, str]
#: Of which values a column is: their path, and what they are prepared by.
Known = tuple[Path, Callable[[Any], Any] | None]

#: Types that the typed decoder reads exactly as the decoder without types does.
_exact = frozenset({str, bool, int, type(None), type(UNSET)})
#: Types of values that equal no values of other types.
_constants = frozenset({str, type(None), type(UNSET)})
_scalars = frozenset({str, bool, int, float})
_only_text = frozenset({str})


#: What a reader reads of a row: `Compared`, or `RoughText`.
C = TypeVar("C")


class AcrossReader(ABC, Generic[C]):
    """Reads what one rule compares, of decoded and of typed rows."""

    def __init__(self, rule: AcrossRows, *, is_exact: bool = False) -> None:
        """Take the rule; unless `is_exact`, what is quicker to make is read."""
        self.rule = rule
        self._is_exact = is_exact
        self._decoder: TypedDecoder | None = None
        self._readers: list[MemberReader] = []

    @abstractmethod
    def of_values(self, rows: Iterable[Any]) -> list[C | None]:
        """Return what is compared of those decoded rows that are objects."""

    @abstractmethod
    def digests(self, compared: Iterable[C | None]) -> "array[int]":
        """Return the digests of what is compared of some rows.

        Of a rule by which all rows must differ, those of rows that are passed over are
        0.
        """

    @abstractmethod
    def _of_columns(self, columns: Sequence[Sequence[Any]]) -> list[C | None]:
        """Return what is compared of rows, given the columns of `_columns`."""

    @abstractmethod
    def _digests_of_columns(self, columns: Sequence[Sequence[Any]]) -> "array[int]":
        """Return the digests of what is compared of rows, given these columns."""

    def of_value(self, row: Any) -> C | None:
        """Return what is compared of a decoded row, None if it is passed over."""
        return next(iter(self.of_values((row,))), None)

    def of_typed(
        self, rows: Sequence[Any], decoder: TypedDecoder
    ) -> list[C | None] | None:
        """Return what is compared of rows of `decoder`; None if it cannot tell."""
        columns = self._typed_columns(rows, decoder, {})
        return None if columns is None else self._of_columns(columns)

    def digests_of_typed(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, Column]",
    ) -> "array[int] | None":
        """Return the digests of what `of_typed` returns, None if it cannot tell.

        `known` keeps the values of the rows at each path, for other rules.
        """
        columns = self._typed_columns(rows, decoder, known)
        return None if columns is None else self._digests_of_columns(columns)

    def digests_of_texts(self, rows: TextColumns) -> "array[int]":
        """Return the digests of what is compared of rows of a table."""
        if self.rule.normalize is not None:
            return self.digests(self.of_values(rows.rows()))
        return self._digests_of_columns(self._text_columns(rows))

    def _text_columns(self, rows: TextColumns) -> list[Sequence[Any]]:
        """Return the values of rows of a table at each path of the rule."""
        rule = self.rule
        absent = [UNSET] * rows.count
        columns: list[Sequence[Any]] = [
            rows.texts.get(str(path[0]), absent) if len(path) == 1 else absent
            for path in (*rule.key, *rule.value)
        ]
        prepare = rule.prepare
        if prepare is None:
            return columns
        return [list(map(prepare, column)) for column in columns]

    def _typed_columns(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, Column]",
    ) -> Sequence[Sequence[Any]] | None:
        """Return what `_columns` does, None for values that are not read exactly."""
        if self.rule.normalize is not None:
            return None
        columns = self._columns(rows, decoder, known)
        is_sure = self.rule.takes_typed or all(map(_are_exact, columns))
        return columns if is_sure else None

    def _columns(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, Column]",
    ) -> list[Sequence[Any]]:
        """Return the values of rows of `decoder` at each path of the rule."""
        rule = self.rule
        paths = (*rule.key, *rule.value)
        if decoder is not self._decoder:
            self._decoder = decoder
            self._readers = [member_reader(path, decoder) for path in paths]
        columns: list[Sequence[Any]] = []
        prepare = rule.prepare
        for path, read in zip(paths, self._readers, strict=True):
            if (path, prepare) not in known:
                values = read(rows)
                if prepare is not None:
                    values = list(map(prepare, values))
                known[path, prepare] = as_column(values)
            columns.append(known[path, prepare])
        is_one = rule.agreement is Agreement.ONE_VALUE and not self._is_exact
        if is_one and len(columns) == 1:
            (column,) = columns
            if type(column[0]) is str and column.count(column[0]) == len(rows):
                return [column[:1]]  # one is as good as all
        return columns


class TextReader(AcrossReader[Compared]):
    """Reads the texts that a rule compares."""

    def of_values(self, rows: Iterable[Any]) -> list[Compared | None]:
        """Return what is compared of those decoded rows that are objects."""
        return [self._of_object(row) for row in rows if type(row) is dict]

    def _of_object(self, row: Any) -> Compared | None:
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
            value = _text(rule.value_text, values)
        return None if value is None else (key, value)

    def _values_at(self, row: Any, paths: Sequence[Path]) -> list[Any]:
        """Return the values that are compared of a decoded row."""
        values = [member_at(row, path) for path in paths]
        prepare = self.rule.prepare
        return values if prepare is None else list(map(prepare, values))

    def _of_columns(self, columns: Sequence[Sequence[Any]]) -> list[Compared | None]:
        return [
            None if key is None or text is None else (key, text)
            for key, text in zip(*self._texts_of(columns), strict=True)
        ]

    def _digests_of_columns(self, columns: Sequence[Sequence[Any]]) -> "array[int]":
        keys, texts = self._texts_of(columns)
        is_by_key = self.rule.agreement is Agreement.BY_KEY
        if _are_given(texts) and (not is_by_key or _are_given(keys)):
            return self._digests_of(keys, texts)
        return self.digests(self._of_columns(columns))

    def _texts_of(
        self, columns: Sequence[Sequence[Any]]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the texts of the keys and of the values of rows, None where none is.

        There are fewer than rows where fewer are as good as all.
        """
        rule = self.rule
        if self._skips_plain(columns[0]):
            return [], []
        if rule.concerns_none is not None and rule.concerns_none(columns):
            return [], []
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
            return [""] * len(texts), texts
        return _texts(rule.key_text, keys, rule.key_texts), texts

    def _skips_plain(self, values: Sequence[Any]) -> bool:
        """Tell whether rows with these values need not be compared at first."""
        are_plain = self.rule.are_plain
        return are_plain is not None and not self._is_exact and are_plain(values)

    def digests(self, compared: Iterable[Compared | None]) -> "array[int]":
        """Return the digests of what is compared of some rows.

        They are those of the values if these must differ, else those of each distinct
        key and value by turns.
        """
        rows = list(compared)
        found = [each for each in rows if each is not None]
        digests = self._digests_of(
            [key for key, _ in found], [text for _, text in found]
        )
        if self.rule.agreement is not Agreement.UNIQUE or len(found) == len(rows):
            return digests
        rest = iter(digests)
        return array("Q", [0 if each is None else next(rest) for each in rows])

    def _digests_of(self, keys: Sequence[str], texts: Sequence[str]) -> "array[int]":
        agreement = self.rule.agreement
        if agreement is Agreement.UNIQUE:
            return digests_of(texts)
        if agreement is not Agreement.BY_KEY:
            texts = list(dict.fromkeys(texts))
            keys = [""] * len(texts)
        return _by_turns(digests_of(keys), digests_of(texts))


def _by_turns(keys: "array[int]", values: "array[int]") -> "array[int]":
    """Return the digests of keys and of their values by turns."""
    pairs = array("Q", bytes(16 * len(keys)))
    pairs[::2], pairs[1::2] = keys, values
    return pairs


#: The bits of the digest of whole texts; those above tell how much of the place of a
#: finding the row has.
_WHOLE_BITS = 61
_MASK = (1 << _WHOLE_BITS) - 1
#: How many keys these tell at most.
MOST_KEYS = 6
#: They tell that another rule reports what rows with the same whole text repeat.
_REPORTED = 7


class RoughReader(AcrossReader[RoughText]):
    """Reads what a rule compares roughly; with the digests of whole texts come depths.

    A depth is how many keys of the place of a finding a row has. It is in one more
    column, behind those of values.
    """

    def __init__(self, rule: AcrossRows) -> None:
        """Take the rule."""
        super().__init__(rule)
        place = place_of(rule)
        self._ways = [place[:size] for size in range(1, len(place) + 1)]

    def of_values(self, rows: Iterable[Any]) -> list[RoughText | None]:
        """Return what is compared of those decoded rows that are objects."""
        rule = self.rule
        objects = [row for row in rows if type(row) is dict]
        if not objects:
            return []
        given = objects
        if rule.normalize is not None:
            given = list(map(rule.normalize, objects))
        columns = [[member_at(row, path) for row in given] for path in rule.value]
        depths = [len(start_of(place_of(rule), row)) for row in objects]
        return self._of_columns([*columns, depths])

    def _columns(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, Column]",
    ) -> list[Sequence[Any]]:
        columns = super()._columns(rows, decoder, known)
        return [*columns, self._depths(rows, decoder, known)]

    def _text_columns(self, rows: TextColumns) -> list[Sequence[Any]]:
        depth = int(str(self._ways[0][0]) in rows.texts)
        return [*super()._text_columns(rows), [depth] * rows.count]

    def _of_columns(self, columns: Sequence[Sequence[Any]]) -> list[RoughText | None]:
        return _rough_texts(*self._roughly(columns))

    def _digests_of_columns(self, columns: Sequence[Sequence[Any]]) -> "array[int]":
        found, wholes = self._roughly(columns)
        if len(wholes) < len(found.texts):
            return self.digests(_rough_texts(found, wholes))
        return _by_turns(array("Q", found.rough), array("Q", wholes))

    def _roughly(
        self, columns: Sequence[Sequence[Any]]
    ) -> tuple[RoughTexts, list[int]]:
        """Return what rows say roughly, and the digests of whole texts with depths."""
        assert self.rule.roughly is not None  # noqa: S101 - what a rough reader is for
        *values, depths = columns
        found = self.rule.roughly(values)
        bits = {depth: min(depth, MOST_KEYS) << _WHOLE_BITS for depth in set(depths)}
        if len(bits) == 1:
            (bit,) = bits.values()
            return found, [digest & _MASK | bit for digest in found.whole]
        return found, [
            digest & _MASK | bits[depth]
            for digest, depth in zip(
                found.whole, compress(depths, found.texts), strict=True
            )
        ]

    def _depths(
        self,
        rows: Sequence[Any],
        decoder: TypedDecoder,
        known: "dict[Known, Column]",
    ) -> Sequence[int]:
        """Return how many keys of the place of a finding each typed row has."""
        place = self._ways[-1]
        if (place, None) not in known:
            known[place, None] = as_column(member_reader(place, decoder)(rows))
        if UnsetType not in known[place, None].kinds:
            return [len(place)] * len(rows)
        columns = [map(type, member_reader(way, decoder)(rows)) for way in self._ways]
        return [len(place) - each.count(UnsetType) for each in zip(*columns)]  # noqa: B905 - all are as long

    def digests(self, compared: Iterable[RoughText | None]) -> "array[int]":
        """Return the digests of rough and of whole texts of some rows, by turns."""
        pairs = (each[:2] if each else (0, 0) for each in compared)
        return array("Q", chain.from_iterable(pairs))


def _rough_texts(found: RoughTexts, wholes: Iterable[int]) -> list[RoughText | None]:
    """Return what rows say roughly by row, with these digests of whole texts."""
    digests = zip(found.rough, wholes, strict=True)
    return [None if texts is None else (*next(digests), texts) for texts in found.texts]


def reader_of(rule: AcrossRows) -> AcrossReader[Any]:
    """Return the reader of what is compared at first by a rule."""
    return TextReader(rule) if rule.roughly is None else RoughReader(rule)


def depth_of(digest: int) -> int:
    """Return how much of the place the rows have whose whole texts have this digest."""
    return digest >> _WHOLE_BITS


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
        known: "dict[Known, Column]",
    ) -> dict[str, int]:
        """Return the counts of rows of `decoder`; `known` has the values at paths."""
        paths = self.lint.paths
        if decoder is not self._decoder:
            self._decoder = decoder
            self._readers = [member_reader(path, decoder) for path in paths]
        for path, read in zip(paths, self._readers, strict=True):
            if (path, None) not in known:
                known[path, None] = as_column(read(rows))
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


#: The bytes by which long texts are compared.
_WIDTH = 16


def short_text(text: str) -> bytes | str:
    """Return a text, or 16 bytes that stand for it if it is longer."""
    if len(text) <= _WIDTH:
        return text
    return _digest(text, _WIDTH)


def short_whole_text(text: str) -> bytes:
    """Return bytes that stand for a whole text, other ones than for any exact text."""
    return _digest(text, _WIDTH + 1)


def _digest(text: str, size: int) -> bytes:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for start-up

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def is_reported(digest: int) -> bool:
    """Tell whether this is a digest of a whole text that `with_reported` returned."""
    return digest >> _WHOLE_BITS == _REPORTED


def yielding_rules(
    rules: Sequence[AcrossRows], same: Iterable[SameMistake]
) -> list[tuple[int, int]]:
    """Return the numbers of rules that compare whole texts and yield to exact ones.

    With each comes the number of the rule that is reported instead of it.
    """
    numbers = {
        (rule.code, rule.roughly is not None): number
        for number, rule in enumerate(rules)
        if rule.agreement is Agreement.UNIQUE
    }
    pairs = [((each.second, True), (each.first, False)) for each in same]
    return [
        (numbers[second], numbers[first])
        for second, first in pairs
        if second in numbers and first in numbers
    ]


def with_reported(digests: "array[int]", reported: "array[int]") -> "array[int]":
    """Return the digests of a rule that compares roughly, and yields to another one.

    `reported` are those of the other rule. The digests of the whole texts of rows that
    it compares tell what it compares, too: of rows with the same ones, it reports all
    but the first.
    """
    if len(digests) != 2 * len(reported):
        return digests
    mark = _REPORTED << _WHOLE_BITS
    wholes = [
        hash((whole, other)) & _MASK | mark if whole and other else whole
        for whole, other in zip(digests[1::2], reported, strict=True)
    ]
    return _by_turns(digests[::2], array("Q", wholes))


def without_passed_over(rule: AcrossRows, digests: "array[int]") -> "array[int]":
    """Return digests of rows by a reader of `rule`, without rows of only zeros."""
    if 0 not in digests:
        return digests
    values = iter(digests)
    is_single = rule.agreement is Agreement.UNIQUE and rule.roughly is None
    rows = zip(values) if is_single else zip(values, values, strict=True)
    return array("Q", chain.from_iterable(filter(any, rows)))


def place_of(rule: AcrossRows) -> Path:
    """Return the path at which findings of a rule are placed, where a row has it."""
    return rule.place or rule.value[0]


def has_place(rule: AcrossRows) -> bool:
    """Tell whether each row that a rule compares exactly has the place of a finding."""
    changes = (rule.normalize, rule.prepare, rule.value_text)
    return changes == (None, None, None) and place_of(rule) in rule.value


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
        held = list(map(as_column, columns))
        if all(column.kinds <= _only_text for column in held):
            if len(held) > 1:
                return _joined(held)
            joined = "\n".join(("", *columns[0]))
            if "\n(" not in joined and "\n\n" not in joined:
                return columns[0]  # as almost always: none begins as those of others
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
    if {str}.issuperset(map(type, values)):
        return _joined([Column([value]) for value in values])[0]
    if _scalars.issuperset(map(type, values)):
        return key_text([as_integer(value) for value in values])
    return "\n" + msgspec.json.encode([as_integer(value) for value in values]).decode()


def plain_value(text: str) -> str:
    """Return the value that `_plain_text` gives this text for, as messages show it."""
    if text[:1] == "\n":
        return text[2:-1]
    if text[:1] != "(":
        return text
    value = ast.literal_eval(text)[0]
    return value if type(value) is str else short_json(value)


def _escaped(text: str) -> str:
    """Return a text that differs from those of other values: as `key_text` does."""
    return text if text[:1] not in {"(", "\n"} else key_text([text, ""])


def _joined(columns: Sequence[Column]) -> JoinedTexts:
    """Return a text for each row that differs from those of other texts, and values."""
    sizes = [Column(map(str, map(len, column))) for column in columns]
    return JoinedTexts([*sizes, *columns])


def _are_given(texts: Sequence[str | None]) -> bool:
    """Tell whether no text is empty or None; joined ones have a NUL in them."""
    return isinstance(texts, JoinedTexts) or all(texts)


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


def _are_exact(column: Sequence[Any]) -> bool:
    """Tell whether the values are as the decoder without types reads them."""
    kinds = as_column(column).kinds
    if kinds <= _exact:
        return True
    if not kinds <= _exact | {list}:
        return False
    lists = (value for value in column if type(value) is list)
    return _exact.issuperset(map(type, chain.from_iterable(lists)))


def paths_of(rules: Sequence[AcrossRows]) -> tuple[Path, ...]:
    """Return the paths of all values that `rules` compare."""
    return tuple(
        dict.fromkeys(path for rule in rules for path in (*rule.key, *rule.value))
    )
