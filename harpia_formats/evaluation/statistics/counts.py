"""Counts over some records, which are merged with those over others."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.evaluation.statistics.distribution import Distribution
from harpia_formats.evaluation.statistics.fields import FieldCount, PlaceOf, RecordPlace
from harpia_formats.evaluation.statistics.keys import KINDS, Keys, add_keys
from harpia_formats.evaluation.statistics.usage import ScoreCounts, Times, TokenSums
from harpia_formats.evaluation.statistics.values import ValueCounts
from harpia_formats.evaluation.statistics.words import measure
from harpia_formats.model.record import Output, Record

#: The fields of records and of answers that are counted, in their order: none of what
#: only vendors define, nor where in an answer its end result was found.
RECORD_FIELDS = tuple(
    name for name in Record.__struct_fields__ if name not in {"outputs", "extra"}
)
OUTPUT_FIELDS = tuple(
    name for name in Output.__struct_fields__ if name not in {"attribution", "extra"}
)
#: Keys of metadata whose values are counted.
METADATA = (
    *("language", "lang", "dataset", "dataset_name", "subset", "split", "task"),
    *("domain", "difficulty"),
)
_record_values = attrgetter(*RECORD_FIELDS)
_output_values = attrgetter(*OUTPUT_FIELDS)


@dataclass(slots=True)
class TextLengths:
    """The lengths of some texts, and the scripts that they are written in."""

    characters: Distribution = field(default_factory=Distribution)
    words: Distribution = field(default_factory=Distribution)
    bytes: Distribution = field(default_factory=Distribution)
    scripts: "Counter[str]" = field(default_factory=Counter)

    def add(self, texts: Sequence[str]) -> None:
        """Add some texts."""
        measured = measure(texts)
        self.characters.add(measured.characters)
        self.words.add(measured.words)
        self.bytes.add(measured.bytes)
        self.scripts.update(measured.scripts)

    def merge(self, other: Self) -> None:
        """Add the texts of `other`."""
        self.characters.merge(other.characters)
        self.words.merge(other.words)
        self.bytes.merge(other.bytes)
        self.scripts.update(other.scripts)


def _keys() -> dict[str, Keys]:
    return {kind: Keys() for kind in KINDS}


@dataclass(slots=True)
class Counts:
    """Counts over some records: plain data, which can be sent to another process."""

    records: int = 0
    answers: int = 0
    #: The lengths of texts by the name of their field.
    texts: dict[str, TextLengths] = field(default_factory=dict)
    #: How many references, answers, ... records have, and how many turns answers.
    sizes: dict[str, Distribution] = field(default_factory=dict)
    #: By the path of the field in a record.
    fields: dict[str, FieldCount] = field(default_factory=dict)
    values: dict[str, ValueCounts] = field(default_factory=dict)
    tokens: TokenSums = field(default_factory=TokenSums)
    times: Times = field(default_factory=Times)
    scores: ScoreCounts = field(default_factory=ScoreCounts)
    #: What is compared for repeated prompts, answers and ids.
    keys: dict[str, Keys] = field(default_factory=_keys)

    def add(
        self, records: Sequence[Record], numbers: Sequence[int], place: PlaceOf
    ) -> None:
        """Add some records, their numbers in the file, and what finds their places."""
        if not records:
            return
        self.records += len(records)
        rows = map(_record_values, records)
        columns = dict(zip(RECORD_FIELDS, zip(*rows, strict=True), strict=True))
        for name, column in columns.items():
            self._field(name).add(column, place)
        self._record_texts(columns)
        self._record_values(columns)
        outputs = [output for record in records for output in record.outputs]
        if len(outputs) == len(records) and all(
            len(record.outputs) == 1 for record in records
        ):
            owners: Sequence[int] = range(len(records))
        else:
            owners = [
                index for index, record in enumerate(records) for _ in record.outputs
            ]
        held = [record.outputs for record in records]
        self._field("outputs").add(held, place)
        self._size("answers").add([*map(len, held)])
        if outputs:
            self._add_outputs(outputs, lambda index: place(owners[index]))
        add_keys(self.keys, records, numbers, outputs, owners)

    def _record_texts(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Measure the texts of records."""
        for name in ("prompt", "system", "gt"):
            self._text(name, _given(columns[name]))
        for name in ("references", "choices", "contexts"):
            lists = _given(columns[name])
            if lists:
                self._size(name).add([*map(len, lists)])
                self._text(name, [text for texts in lists for text in texts])
        chats = _given(columns["messages"])
        if chats:
            self._size("messages").add([*map(len, chats)])
            self._text("messages", _contents(chats))

    def _record_values(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Count the values of records that are the same in many of them."""
        for name in ("category", "source"):
            self._value(name, _given(columns[name]))
        metadata = _given(columns["metadata"])
        for key in METADATA if metadata else ():
            values = [members[key] for members in metadata if key in members]
            self._value(f"metadata.{key}", values)

    def _add_outputs(self, outputs: Sequence[Output], place: PlaceOf) -> None:
        """Add some answers."""
        self.answers += len(outputs)
        rows = map(_output_values, outputs)
        columns = dict(zip(OUTPUT_FIELDS, zip(*rows, strict=True), strict=True))
        for name, column in columns.items():
            self._field(f"outputs.{name}").add(column, place)
        self._text("answers", _texts(columns["text"]))
        self._text("reasoning", _texts(columns["reasoning"]))
        chats = _given(columns["turns"])
        if chats:
            self._size("turns").add([*map(len, chats)])
            self._text("turns", _contents(chats))
        models = columns["model"]
        self._value("model", _given(models))
        self._value("interaction_type", _given(columns["interaction_type"]))
        self.tokens.add(models, columns["token_usage"])
        self.times.add(columns["performance"])
        self.scores.add(columns["scores"])

    def _field(self, path: str) -> FieldCount:
        found = self.fields.get(path)
        if found is None:
            found = self.fields[path] = FieldCount()
        return found

    def _size(self, name: str) -> Distribution:
        found = self.sizes.get(name)
        if found is None:
            found = self.sizes[name] = Distribution()
        return found

    def _text(self, name: str, texts: Sequence[str]) -> None:
        if texts:
            self.texts.setdefault(name, TextLengths()).add(texts)

    def _value(self, name: str, values: Sequence[Any]) -> None:
        if values:
            self.values.setdefault(name, ValueCounts()).add(values)

    def merge(self, other: Self, shift: Callable[[RecordPlace], RecordPlace]) -> None:
        """Add the records of `other`, whose places `shift` moves; not their keys."""
        self.records += other.records
        self.answers += other.answers
        for name, lengths in other.texts.items():
            self.texts.setdefault(name, TextLengths()).merge(lengths)
        for name, sizes in other.sizes.items():
            self._size(name).merge(sizes)
        for path, count in other.fields.items():
            self._field(path).merge(count, shift)
        for name, values in other.values.items():
            self.values.setdefault(name, ValueCounts()).merge(values)
        self.tokens.merge(other.tokens)
        self.times.merge(other.times)
        self.scores.merge(other.scores)


def _given(column: Iterable[Any]) -> list[Any]:
    """Return the values that records have."""
    return [value for value in column if value is not UNSET]


def _texts(column: Iterable[Any]) -> list[str]:
    """Return the texts among values."""
    return [value for value in column if type(value) is str]


def _contents(chats: Iterable[list[dict[str, Any]]]) -> list[str]:
    """Return the texts of the messages of chats.

    A message of several parts has the text of all its parts; one without has none.
    """
    found = []
    for chat in chats:
        for message in chat:
            content = message.get("content")
            if type(content) is str:
                found.append(content)
            elif type(content) is list:
                parts = [part.get("text") for part in content if type(part) is dict]
                texts = [part for part in parts if type(part) is str]
                if texts:
                    found.append("\n".join(texts))
    return found
