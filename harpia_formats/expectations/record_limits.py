"""Expectations on single records: models, missing answers, lengths, values."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.expectations.findings import RecordFindings
from harpia_formats.expectations.limit import Limit
from harpia_formats.expectations.outcome import Outcome
from harpia_formats.expectations.plan import DataSet
from harpia_formats.expectations.prompts import prompt_texts
from harpia_formats.model.adapter import FormatAdapter, at_path
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.reading.placed_record import PlacedRecord
from harpia_formats.reporters.text import with_noun
from harpia_formats.rules.preflight import (
    MISSING_ANSWER,
    MISSING_MODEL,
    MISSING_VALUE,
    OTHER_MODEL,
    OTHER_VALUE,
    PROMPT_LENGTH,
)
from harpia_formats.text.describe import short_literal
from harpia_formats.text.spelling import nearest

#: Different names of models, or values, that are remembered; further ones are counted
#: together.
_NAMES = 1000
#: Names that the check list shows.
_SHOWN = 5


class RecordLimit:
    """An expectation on the records of a data set."""

    __slots__ = ()

    def begin(self, adapter: FormatAdapter) -> None:
        """Take the adapter of a file, before its first record."""

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Take a valid record of the file of `count`."""
        raise NotImplementedError

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes, after all records."""
        yield from ()

    def close(self) -> None:
        """Free what is held."""


def listed(names: Iterable[str]) -> str:
    """Return some names as a part of a sentence."""
    names = list(names)
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown or "none"


class Models(RecordLimit):
    """Which models have answers."""

    def __init__(self, data_set: DataSet, most: int) -> None:
        values = data_set.values
        exactly = values.get("models", ())
        self._required: tuple[str, ...] = values.get("required-models", exactly)
        self._allowed = frozenset(values.get("allowed-models", exactly))
        self._keys = {
            key: values[key]
            for key in ("models", "required-models", "allowed-models")
            if key in values
        }
        self._findings = RecordFindings(most)
        self._seen: Counter[str] = Counter()

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count the models of a record."""
        names = dict.fromkeys(output.model or "" for output in placed.record.outputs)
        for name in names:
            if name in self._seen or len(self._seen) < _NAMES:
                self._seen[name] += 1
            if self._allowed and name not in self._allowed:
                self._findings.add(
                    count,
                    placed.number,
                    lambda: placed.row.place(0, 1, ()),
                    lambda name=name: self._refusal(name),  # type: ignore[misc]  # the name is bound
                )

    def _refusal(self, name: str) -> str:
        if not name:
            return "an answer does not name its model"
        near = nearest(name, self._allowed)
        hint = f"; did you mean {near}?" if near else ""
        return f"an answer is of {short_literal(name)}, which is not expected{hint}"

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether each model is there that must be, and no other one."""
        found = sorted(name for name in self._seen if name)
        for key, names in self._keys.items():
            missing = [name for name in names if name not in self._seen]
            if key == "allowed-models":
                missing = []
            others = self._findings if key != "required-models" else None
            shown = [listed(found)]
            if missing:
                shown = [f"{listed(missing)} missing"]
            if others is not None and others.total:
                shown.append(f"{with_noun(others.total, 'answer')} of other models")
            words = {"models": "exactly", "required-models": "with"}.get(key, "only")
            yield Outcome(
                key,
                f"models {words} {listed(names)}",
                "; ".join(shown),
                is_met=not (missing or (others is not None and others.total)),
                code=MISSING_MODEL,
                records=others,
                record_code=OTHER_MODEL,
                messages=tuple(
                    f"no answer is of the model {short_literal(name)}"
                    for name in missing
                ),
                hints=tuple(_near_model(name, found) for name in missing),
                help="run the model, or change the list",
                value=list(names),
                found_without_values="; ".join(
                    [with_noun(len(found), "model"), *shown[1:]]
                ),
            )


def _near_model(name: str, found: Iterable[str]) -> str:
    near = nearest(name, found)
    return f"; there are some of {short_literal(near)}" if near else ""


def is_missing(output: Output) -> bool:
    """Tell whether an answer is missing: no text and no turns, or an error."""
    return bool(output.error) or (
        not isinstance(output.text, str) and not (output.turns or ())
    )


class MissingAnswers(RecordLimit):
    """How many answers are missing; a record without answers lacks one."""

    def __init__(self, data_set: DataSet, most: int) -> None:
        self._limit: Limit = data_set.values["max-missing-answers"]
        self._findings = RecordFindings(most)
        self._answers = 0

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count the answers of a record, and those that are missing."""
        outputs = placed.record.outputs
        self._answers += len(outputs) or 1
        if not outputs:
            self._add(placed, count, "there is no answer")
        for output in outputs:
            if is_missing(output):
                of = (
                    ""
                    if output.model is UNSET
                    else f" of {short_literal(output.model)}"
                )
                error = f": {short_literal(output.error)}" if output.error else ""
                self._add(placed, count, f"the answer{of} is missing{error}")

    def _add(self, placed: PlacedRecord, count: FileCount, message: str) -> None:
        self._findings.add(
            count, placed.number, lambda: placed.row.place(0, 1, ()), lambda: message
        )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether few answers are missing."""
        missing, limit = self._findings.total, self._limit
        is_met = limit.allows(missing, self._answers)
        yield Outcome(
            "max-missing-answers",
            f"missing answers at most {limit.text}",
            limit.found_text(missing, self._answers),
            is_met,
            MISSING_ANSWER,
            None if is_met else self._findings,
            help="ask the model again, or change the limit",
            value=limit.text,
            needs_all=limit.share is not None,
        )


@dataclass(slots=True)
class PromptLength(RecordLimit):
    """How long prompts are."""

    key: str
    most: int
    findings: RecordFindings
    longest: int = 0

    @property
    def _unit(self) -> str:
        return "bytes" if self.key.endswith("bytes") else "characters"

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Measure the prompt of a record."""
        texts = prompt_texts(placed.record)
        if self._unit == "bytes":
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        else:
            size = sum(map(len, texts))
        self.longest = max(self.longest, size)
        if size > self.most:
            self.findings.add(
                count,
                placed.number,
                lambda: placed.row.place(0, 1, ()),
                lambda: (
                    f"the prompt has {size:,} {self._unit}, more than {self.most:,}"
                ),
            )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether no prompt is too long."""
        found = f"the longest has {self.longest:,}"
        if self.findings.total:
            found += f"; {with_noun(self.findings.total, 'prompt')} too long"
        yield Outcome(
            self.key,
            f"{self._unit} of each prompt at most {self.most:,}",
            found,
            not self.findings.total,
            PROMPT_LENGTH,
            self.findings,
            help="shorten the prompt, or change the limit",
            value=self.most,
        )


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
        self._allowed_keys = frozenset(map(_key_of, self.allowed))
        self._required_keys = frozenset(map(_key_of, self.required))

    def begin(self, adapter: FormatAdapter) -> None:
        """Find the field in records of a format."""
        self._path = self.path_of(adapter, self.name) or self.name

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Compare the values of a record."""
        found = values_at(placed.record, self._path)
        keys = set(map(_key_of, found))
        if not keys <= self._seen:
            is_full = len(self._seen) >= _NAMES + len(self.required)
            self._seen |= keys & self._required_keys if is_full else keys
        if not self.allowed or (found and keys <= self._allowed_keys):
            return
        known = self._allowed_keys
        others = [value for value in found if _key_of(value) not in known]
        if others or not found:
            self.findings.add(
                count,
                placed.number,
                lambda: placed.row.place(0, 1, ()),
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
                else listed(sorted(self._seen)),
                not others,
                OTHER_VALUE,
                self.findings,
                help="mend the value, or add it to the list",
                value=self.allowed,
                found_without_values=f"{with_noun(others, 'record')} with another "
                "or none",
            )
        if self.required:
            missing = [one for one in self.required if _key_of(one) not in self._seen]
            yield Outcome(
                "required-values",
                f"{self.name} with {listed(map(shown_value, self.required))}",
                f"{listed(map(shown_value, missing))} missing"
                if missing
                else listed(sorted(self._seen)),
                not missing,
                MISSING_VALUE,
                messages=tuple(
                    f"no record has the {self.name} {shown_value(one)}"
                    for one in missing
                ),
                help="add records, or change the list",
                value=self.required,
                found_without_values=f"{with_noun(len(missing), 'value')} missing",
            )


def shown_value(value: Any) -> str:
    """Return a value as short JSON text."""
    if isinstance(value, (str, bool, int, float)) or value is None:
        return short_literal(value)
    return "an array" if isinstance(value, list) else "an object"


def _key_of(value: Any) -> str:
    """Return a text that equal scalars have: 1 and 1.0 are equal, 1 and true not."""
    if isinstance(value, ExactFloat):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return shown_value(value) if not isinstance(value, str) else f'"{value}"'


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
