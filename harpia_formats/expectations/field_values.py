"""Expectations on the values of any field of records."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.findings import RecordFindings
from harpia_formats.expectations.outcome import Outcome
from harpia_formats.expectations.record_limits import NAMES, RecordLimit, listed
from harpia_formats.expectations.row_places import where_of
from harpia_formats.formats.rules.preflight import MISSING_VALUE, OTHER_VALUE
from harpia_formats.model.adapter import FormatAdapter, at_path
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.record import Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.text.describe import short_literal
from harpia_formats.model.text.spelling import nearest
from harpia_formats.model.text.words import with_noun
from harpia_formats.validation.dedup.digests import digest_of

#: Characters of a text that is its own key; of a longer one, its digest follows this.
_LONGEST = 200
_DIGEST = "\0"


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
    _seen: set[str] = field(default_factory=set)
    _allowed_keys: frozenset[str] = field(init=False)
    _required_keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._allowed_keys = frozenset(map(key_of_value, self.allowed))
        self._required_keys = frozenset(map(key_of_value, self.required))

    def begin(self, adapter: FormatAdapter) -> None:
        """Find the field in records of a format."""
        self._path = self.path_of(adapter, self.name) or self.name

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Compare the values of a record."""
        found = values_at(placed.record, self._path)
        keys = set(map(key_of_value, found))
        if not keys <= self._seen:
            is_full = len(self._seen) >= NAMES + len(self.required)
            self._seen |= keys & self._required_keys if is_full else keys
        if not self.allowed or (found and keys <= self._allowed_keys):
            return
        known = self._allowed_keys
        others = [value for value in found if key_of_value(value) not in known]
        if others or not found:
            self.findings.add(
                count,
                placed.number,
                lambda: where_of(placed, self.row_paths, self._path),
                lambda: self._refusal(others),
            )

    def _refusal(self, others: list[Any]) -> str:
        if not others:
            return f"the record has no {self.name}"
        value = others[0]
        texts = [one for one in self.allowed if isinstance(one, str)]
        near = nearest(value, texts) if isinstance(value, str) else ""
        hint = f"; did you mean {short_literal(near)}?" if near else ""
        return f"{self.name} is {shown_value(value)}, which is not allowed{hint}"

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether there are all required and only allowed values."""
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
    """Return a text that equal scalars have: 1 and 1.0 are equal, 1 and true not.

    That of a long text is short, so that memory does not grow with the texts.
    """
    if isinstance(value, ExactFloat):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return shown_value(value)
    if len(value) <= _LONGEST:
        return f'"{value}"'
    return f"{short_literal(value)}{_DIGEST}{digest_of(value):x}"


def _listed_keys(keys: Iterable[str]) -> str:
    """Return some keys as a part of a sentence, long ones without their digests."""
    return listed(key.partition(_DIGEST)[0] for key in sorted(keys))


def values_at(record: Record, path: str) -> list[Any]:
    """Return the values of a field in a record: of each answer, if it is theirs."""
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
        value = at_path(value, tuple(rest.split(".")))
    if value is UNSET:
        return []
    return list(value) if isinstance(value, list) else [value]
