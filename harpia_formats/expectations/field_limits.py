"""Expectations on the values of a field: range, pattern, uniqueness, missing ones."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.comparison.record_partitions import StoredRecord
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.outcomes import (
    Limit,
    Outcome,
    RecordFindings,
    where_of,
)
from harpia_formats.expectations.preflight_plan import TABLES
from harpia_formats.expectations.record_limits import NAMES, RecordLimit, listed
from harpia_formats.expectations.record_store import (
    HELD,
    RecordStore,
    ShownPlace,
    portions,
)
from harpia_formats.formats.rules.preflight_rules import (
    MISSING_FIELD,
    MISSING_VALUE,
    OTHER_VALUE,
    OUT_OF_RANGE,
    REPEATED_VALUE,
    WRONG_PATTERN,
)
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.describe import short_literal, with_noun
from harpia_formats.model.exact_json import ExactFloat, encode
from harpia_formats.model.record import Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.spelling import nearest
from harpia_formats.model.value_path import member_at
from harpia_formats.validation.dedup.digests import digest_of

#: Characters of a text or number that is its own key; of a longer one, its digest
#: follows this.
_LONGEST = 200
_DIGEST = "\0"
#: Rounds no number.
_exact = Context(MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


@dataclass(slots=True)
class FieldValues(RecordLimit):
    """Which values the records have in a field."""

    #: The field as the file names it, and its path in records.
    name: str
    path_of: Callable[[FormatAdapter, str], str | None]
    allowed: list[Any]
    required: list[Any]
    findings: RecordFindings
    _path: str = ""
    _is_column: bool = False
    _seen: set[str] = field(default_factory=set)
    _allowed_keys: frozenset[str] = field(init=False)
    _required_keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._allowed_keys = frozenset(map(key_of_value, self.allowed))
        self._required_keys = frozenset(map(key_of_value, self.required))

    def begin(self, adapter: FormatAdapter) -> None:
        """Find the field in records of a format."""
        self._path = self.path_of(adapter, self.name) or self.name
        self._is_column = is_column(self._path)

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Compare the values of a record."""
        found = values_at(placed.record, self._path)
        keys = set(map(self._key, found))
        if not keys <= self._seen:
            is_full = len(self._seen) >= NAMES + len(self.required)
            self._seen |= keys & self._required_keys if is_full else keys
        if not self.allowed or (found and keys <= self._allowed_keys):
            return
        known = self._allowed_keys
        others = [value for value in found if self._key(value) not in known]
        if others or not found:
            self.findings.add(
                count,
                placed.number,
                lambda: where_of(placed, self.row_paths, self._path),
                lambda: self._refusal(others),
            )

    def _key(self, value: Any) -> str:
        """Return the key of a value; a cell that no text equals may be a number."""
        key = key_of_value(value)
        is_stated = key in self._allowed_keys or key in self._required_keys
        if is_stated or not self._is_column:
            return key
        return key_of_value(value_of_cell(value))

    def _refusal(self, others: list[Any]) -> str:
        if not others:
            return f"the record has no {self.name}"
        value = others[0]
        texts = [one for one in self.allowed if isinstance(one, str)]
        near = nearest(value, texts) if isinstance(value, str) else ""
        hint = f"; did you mean {short_literal(near)}?" if near else ""
        return f"{self.name} is {shown_value(value)}, which is not allowed{hint}"

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether all required values occur, and only allowed ones."""
        if self.allowed:
            others = self.findings.total
            yield Outcome(
                "allowed-values",
                f"{self.name} one of {listed(map(shown_value, self.allowed))}",
                f"{with_noun(others, 'record')} with another or none"
                if others
                else _listed_keys(self._seen),
                not others,
                OTHER_VALUE,
                self.findings,
                help="mend the value, or add it to the list",
                value=self.allowed,
                item=self.name,
                found_without_values=f"{with_noun(others, 'record')} with another "
                "or none",
            )
        if self.required:
            missing = [
                one for one in self.required if key_of_value(one) not in self._seen
            ]
            yield Outcome(
                "required-values",
                f"{self.name} with {listed(map(shown_value, self.required))}",
                f"{listed(map(shown_value, missing))} missing"
                if missing
                else _listed_keys(self._seen),
                not missing,
                MISSING_VALUE,
                messages=tuple(
                    f"no record has the {self.name} {shown_value(one)}"
                    for one in missing
                ),
                help="add records, or change the list",
                value=self.required,
                item=self.name,
                found_without_values=f"{with_noun(len(missing), 'value')} missing",
            )


def shown_value(value: Any) -> str:
    """Return a value as short JSON text."""
    if isinstance(value, (str, bool, int, float)) or value is None:
        return short_literal(value)
    return "an array" if isinstance(value, list) else "an object"


def key_of_value(value: Any) -> str:
    """Return a text that equal scalars share: 1 equals 1.0, but not true.

    That of a long text or number is short, so that memory does not grow with them.
    """
    number = number_of(value)
    if number is not None:
        return _key_of_number(number)
    if not isinstance(value, str):
        return shown_value(value)
    if len(value) <= _LONGEST:
        return f'"{value}"'
    return f"{short_literal(value)}{_DIGEST}{digest_of(value):x}"


def _key_of_number(number: Decimal) -> str:
    """Return a text that equal numbers share, however they are written."""
    exact = number.normalize(_exact) or Decimal()
    # A number such as 1e-999999 has few digits, and many zeros.
    text = f"{exact:f}" if abs(exact.adjusted()) < _LONGEST else str(exact)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_SHOWN]}…{_DIGEST}{digest_of(text):x}"


def _listed_keys(keys: Iterable[str]) -> str:
    """Return some keys as a part of a sentence, long ones without their digests."""
    return listed(key.partition(_DIGEST)[0] for key in sorted(keys))


def values_at(record: Record, path: str) -> list[Any]:
    """Return the values of a field in a record: one, or one of each answer."""
    first, _, rest = path.partition(".")
    if first == "outputs" and rest:
        return [
            value for output in record.outputs for value in values_at_part(output, rest)
        ]
    return values_at_part(record, path)


def values_at_part(part: Any, path: str) -> list[Any]:
    """Return the value of a field of a record, an output or a score, if it has one."""
    first, _, rest = path.partition(".")
    value = getattr(part, first, UNSET)
    if value is UNSET:
        return []
    if first == "scores" and rest:
        return [found for score in value for found in values_at_part(score, rest)]
    if rest:
        value = member_at(value, rest)
    if value is UNSET:
        return []
    return list(value) if isinstance(value, list) else [value]


#: Returns the path in records of a field of a format, None if there is none.
PathOf = Callable[[FormatAdapter, str], str | None]
#: A cell of a table that is a number.
_number = re.compile(r"\s*[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?\s*")
#: Characters of a value in a message.
_SHOWN = 80


def is_column(path: str) -> bool:
    """Tell whether a field is a column of a table, whose cells may be numbers."""
    return path.startswith(f"extra.{TABLES}.")


def value_of_cell(value: Any) -> Any:
    """Return a cell of a table as a number if it looks like one, else as it is."""
    is_number = isinstance(value, str) and _number.fullmatch(value)
    return ExactFloat(value.strip()) if is_number else value


class FieldLimit(RecordLimit):
    """An expectation on the values of one field."""

    key: str
    code: str
    #: What is expected, and how to mend what is not.
    expected: str
    help: str
    #: The value that the file states.
    value: object

    def __init__(self, name: str, path_of: PathOf, most: int) -> None:
        self.name = name
        self.findings = RecordFindings(most)
        self.path = name
        self.is_column = False
        self._path_of = path_of
        #: Values that were compared, and records that were read.
        self.compared = 0
        self.records = 0

    def begin(self, adapter: FormatAdapter) -> None:
        """Find the field in records of a format."""
        self.path = self._path_of(adapter, self.name) or self.name
        self.is_column = is_column(self.path)

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Compare the values of a record that are neither absent nor null."""
        self.records += 1
        for value in values_at(placed.record, self.path):
            if value is not None:
                self.compared += 1
                self.take_value(value, placed, count)

    @abstractmethod
    def take_value(self, value: Any, placed: PlacedRecord, count: FileCount) -> None:
        """Compare one value."""

    def add(self, placed: PlacedRecord, count: FileCount, message: str) -> None:
        """Count a finding on a record."""
        self.findings.add(
            count,
            placed.number,
            lambda: where_of(placed, self.row_paths, self.path),
            lambda: message,
        )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether all values are as expected: unknown if records have none."""
        found = f"{with_noun(self.compared, 'value')} compared"
        wrong = self.findings.total
        if wrong:
            found = f"{wrong:,} of {with_noun(self.compared, 'value')} not"
        lacking = f"no record has a value in {self.name}"
        is_unknown = bool(self.records) and not self.compared
        yield Outcome(
            self.key,
            self.expected,
            lacking if is_unknown else found,
            None if is_unknown else not wrong,
            self.code,
            self.findings,
            help=self.help,
            value=self.value,
            item=self.name,
            hides_values=True,
            unknown=lacking if is_unknown else "",
        )


class ValueRange(FieldLimit):
    """Whether values are numbers not below a minimum, or not above a maximum."""

    code = OUT_OF_RANGE
    help = "mend the value, or change the bound"

    def __init__(self, key: str, name: str, bound: float, more: Any) -> None:
        super().__init__(name, *more)
        self.key, self.value = key, bound
        self._least = key == "min-values"
        # A float of a file means its digits: 0.1 is not greater than 0.1.
        self._bound = Decimal(str(bound))
        words = "at least" if self._least else "at most"
        self.expected = f"{name} {words} {bound}"

    def take_value(self, value: Any, placed: PlacedRecord, count: FileCount) -> None:
        """Compare a value with the bound."""
        number = number_of(value_of_cell(value) if self.is_column else value)
        if number is None or number.is_nan():
            shown = shown_value(value)
            self.add(placed, count, f"{self.name} is {shown}, which is no number")
        elif number < self._bound if self._least else number > self._bound:
            than = "less" if self._least else "greater"
            shown = shown_value(value)
            message = f"{self.name} is {shown}, which is {than} than {self.value}"
            self.add(placed, count, message)


def number_of(value: Any) -> Decimal | None:
    """Return a value as the number that is written, or None if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, ExactFloat):
        # A decimal has no exponent of 20 digits; as a float, such a number is 0.
        with suppress(InvalidOperation):
            return Decimal(value.text)
    return Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))


class Pattern(FieldLimit):
    """Whether values are texts that match a regular expression as a whole."""

    key, code = "patterns", WRONG_PATTERN
    help = "mend the value, or change the pattern"

    def __init__(self, name: str, pattern: str, more: Any) -> None:
        super().__init__(name, *more)
        self.value = pattern
        self.expected = f"{name} matching {pattern}"
        self._match = re.compile(pattern).fullmatch

    def take_value(self, value: Any, placed: PlacedRecord, count: FileCount) -> None:
        """Match a value; one that is not a string does not match."""
        if not isinstance(value, str):
            shown = shown_value(value)
            self.add(placed, count, f"{self.name} is {shown}, which is no text")
        elif self._match(value) is None:
            message = f"{self.name} is {shown_value(value)}, which does not match"
            self.add(placed, count, f"{message} {self.value}")


class Unique(FieldLimit):
    """Whether no two values of a field are equal; keys are on disk."""

    key, code = "unique-values", REPEATED_VALUE
    help = "keep one of the records, or mend the value"

    def __init__(self, name: str, more: Any, shown: ShownPlace) -> None:
        super().__init__(name, *more)
        self.value = name
        self.expected = f"{name} without repeated values"
        self._store = RecordStore(shown)
        self._is_compared = False

    def take_value(self, value: Any, placed: PlacedRecord, count: FileCount) -> None:
        """Note a value with its record."""
        value = value_of_cell(value) if self.is_column else value
        self._store.add(_unique_key(value), placed, count, b"")

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether all values are distinct."""
        self._compare()
        yield from super().outcomes()

    def _compare(self, held: int = HELD) -> None:
        """Find the values that were there before, once."""
        if self._is_compared or not self.compared:
            return
        self._is_compared = True
        store = self._store
        for portion in portions(store, held=held):
            seen: dict[str, StoredRecord] = {}
            for stored in portion.of(store):
                first = seen.setdefault(stored.key, stored)
                if first is not stored:
                    self._add_repeated(stored, first)

    def _add_repeated(self, stored: StoredRecord, first: StoredRecord) -> None:
        """Count a value that another record, or the same one, had before."""
        store = self._store
        shown = stored.key.partition("\0")[0][:_SHOWN]
        message = f"{self.name} is {shown}, as in {store.line_of(first)}"
        self.findings.add(
            store.count_of(stored),
            store.number_of(stored),
            lambda: (store.place_of(stored), None),
            lambda: message,
        )

    def close(self) -> None:
        """Delete the temporary file."""
        self._store.close()


def _unique_key(value: Any) -> str:
    """Return a text that only equal values have: objects in any order of their keys."""
    if isinstance(value, (dict, list)):
        return encode(_sorted(value)).decode()
    return key_of_value(value)


def _sorted(value: Any) -> Any:
    """Return a value with the keys of its objects sorted."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return list(map(_sorted, value)) if isinstance(value, list) else value


class MissingValues(FieldLimit):
    """How many values of a field are missing."""

    key, code = "max-missing-values", MISSING_FIELD
    help = "fill in the value, or change the limit"

    def __init__(self, name: str, limit: Limit, more: Any) -> None:
        super().__init__(name, *more)
        self._limit = limit
        self.value = limit.stated
        self.expected = f"missing values of {name} at most {limit.text}"

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count the values that a record, or each of its answers, has or lacks."""
        first, _, rest = self.path.partition(".")
        parts: list[Any] = [placed.record]
        if first == "outputs" and rest:
            parts = list(placed.record.outputs) or [None]
        for part in parts:
            self.compared += 1
            path = self.path if part is placed.record else rest
            found = [] if part is None else values_at_part(part, path)
            if all(map(_is_missing, found)):
                self.add(placed, count, f"{self.name} is missing")

    def take_value(self, value: Any, placed: PlacedRecord, count: FileCount) -> None:
        """Do nothing: `take` counts."""

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether no more values are missing than allowed."""
        missing, limit = self.findings.total, self._limit
        is_met = limit.allows(missing, self.compared)
        yield Outcome(
            self.key,
            self.expected,
            limit.found_text(missing, self.compared),
            is_met,
            self.code,
            None if is_met else self.findings,
            help=self.help,
            value=self.value,
            item=self.name,
            needs_all=limit.share is not None,
            hides_values=True,
        )


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
