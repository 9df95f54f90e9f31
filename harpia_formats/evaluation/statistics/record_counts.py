"""The counts over the records of a file, which are merged with those over others."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.direct_read import DirectRead, direct_read
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.evaluation.statistics.duplicates import (
    Duplicates,
    Keys,
    add_keys,
    no_keys,
)
from harpia_formats.evaluation.statistics.running_counts import (
    BoundedCounts,
    Distribution,
    FieldCount,
    PlaceOf,
    RecordPlace,
    shown,
)
from harpia_formats.evaluation.statistics.text_lengths import Measured, measure
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    RowCapacity,
)
from harpia_formats.model.exact_json import decode
from harpia_formats.model.record import FIELD_TYPES, Output, Record, Score

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
#: The fields of records and of answers whose values are counted.
_record_names, _output_names = ("category", "source"), ("model", "interaction_type")
#: The fields whose values are counted, in the order in which they are shown.
VALUES = (
    *("model", "category", "source", "interaction_type"),
    *(f"metadata.{key}" for key in METADATA),
)
#: The texts that are measured, in the order in which they are shown.
TEXTS = (
    *("prompt", "system", "messages", "contexts", "choices", "gt", "references"),
    *("answers", "reasoning", "turns"),
)
#: The texts of answers, by the names of their fields.
_output_texts = {"text": "answers", "reasoning": "reasoning", "turns": "turns"}
#: What stands for the unit of how many answers, references, ... there are.
NUMBER = "number"
#: What is counted of the stored scores of one metric.
OUTCOMES = ("scores", "numbers", "correct", "incorrect")
#: Distinct values that are counted. Of a field with more, only the total is reported.
MAX_VALUES = 10_000
#: Models, kinds of counts or times, and metrics that are counted apart; beyond so many
#: pairs of them only the totals are reported.
MAX_NAMES = 2_000
#: Kinds of times that are counted apart: each has a distribution.
MAX_KINDS = 50
#: How many keys a name has in counts of which only so many names are counted apart.
_KEYS = {"tokens": 2, "all tokens": 2, "scores": len(OUTCOMES)}


@dataclass(slots=True)
class Counts:
    """Counts over some records: plain data, which can be sent to another process."""

    records: int = 0
    answers: int = 0
    #: The lengths of texts by the name of their field and the unit, and how many
    #: members fields have by the name and `NUMBER`.
    numbers: defaultdict[tuple[str, str], Distribution] = field(
        default_factory=lambda: defaultdict(Distribution)
    )
    #: By the path of the field in a record.
    fields: defaultdict[str, FieldCount] = field(
        default_factory=lambda: defaultdict(FieldCount)
    )
    #: The values of `VALUES`, scripts of `TEXTS`, and sums of `_KEYS`.
    tallies: dict[str, BoundedCounts] = field(default_factory=dict)
    #: The times of answers in microseconds by kind, some of them if there are more than
    #: `MAX_KINDS`.
    times: dict[str, Distribution] = field(default_factory=dict)
    #: What is compared for repeated prompts, answers and ids.
    keys: Keys = field(default_factory=no_keys)

    def add(
        self, records: Sequence[Record], numbers: Sequence[int], place: PlaceOf
    ) -> None:
        """Add some records, their numbers in the file, and what finds their places."""
        if not records:
            return
        self.records += len(records)
        columns = self._columns(records, RECORD_FIELDS, "", place)
        for name in TEXTS:
            self._add_texts(name, columns.get(name, ()))
        for name in _record_names:
            self._add_values(name, _given(columns[name]))
        metadata = _given(columns["metadata"])
        for key in METADATA if metadata else ():
            values = [members[key] for members in metadata if key in members]
            self._add_values(f"metadata.{key}", values)
        held = [record.outputs for record in records]
        outputs = [*chain.from_iterable(held)]
        owners: Sequence[int] = range(len(records))
        if set(map(len, held)) != {1}:
            owners = [owner for owner, each in enumerate(held) for _ in each]
        self.fields["outputs"].add(held, place)
        self.numbers["answers", NUMBER].add(map(len, held))
        if outputs:
            self._add_outputs(outputs, lambda index: place(owners[index]))
        add_keys(self.keys, records, numbers, outputs, owners)

    def _columns(
        self, rows: Sequence[Any], names: Sequence[str], above: str, place: PlaceOf
    ) -> dict[str, Sequence[Any]]:
        """Return the values of records or answers by field, after they are counted."""
        columns = zip(*map(attrgetter(*names), rows), strict=True)
        found: dict[str, Sequence[Any]] = dict(zip(names, columns, strict=True))
        for name, column in found.items():
            self.fields[above + name].add(column, place)
        return found

    def _add_outputs(self, outputs: Sequence[Output], place: PlaceOf) -> None:
        """Add some answers."""
        self.answers += len(outputs)
        columns = self._columns(outputs, OUTPUT_FIELDS, "outputs.", place)
        for field_name, name in _output_texts.items():
            self._add_texts(name, columns[field_name])
        for name in _output_names:
            self._add_values(name, _given(columns[name]))
        tokens = token_sums(columns["model"], columns["token_usage"])
        self.tally("tokens").add(tokens)
        of_all: Counter[Any] = Counter()
        for (_, *key), number in tokens.items():
            of_all[tuple(key)] += number
        self.tally("all tokens").add(of_all)
        self._add_times(times_of(columns["performance"]))
        scores = [*chain.from_iterable(_given(columns["scores"]))]
        self.tally("scores").add(score_counts(scores), len(scores))

    def _add_texts(self, name: str, column: Sequence[Any]) -> None:
        """Measure the texts of a column; of lists, count and measure their members."""
        values = [value for value in column if type(value) in _measured]
        if values and type(values[0]) is list:
            self.numbers[name, NUMBER].add(map(len, values))
            values = [*chain.from_iterable(values)]
            if values and type(values[0]) is dict:
                values = [text for text in map(_text_of, values) if text is not None]
        if values:
            *lengths, scripts = measure(values)
            for unit, numbers in zip(Measured._fields, lengths, strict=False):
                self.numbers[name, unit].add(numbers)
            self.tally(f"scripts.{name}").add(scripts)

    def _add_values(self, name: str, values: Sequence[Any]) -> None:
        """Count the values of a field that are the same in many records."""
        if values:
            self.tally(name).add(map(shown, values), len(values))

    @property
    def has_all_times(self) -> bool:
        """Whether all kinds of times are counted separately."""
        return len(self.times) <= MAX_KINDS

    def _add_times(self, times: Mapping[str, Distribution]) -> None:
        """Add times of answers, unless there are too many kinds already."""
        for kind, found in times.items():
            if self.has_all_times:
                self.times.setdefault(kind, Distribution()).merge(found)

    def tally(self, name: str) -> BoundedCounts:
        """Return the counts of values with this name."""
        if name not in self.tallies:
            most = _KEYS.get(name, 0) * MAX_NAMES
            self.tallies[name] = BoundedCounts(most or MAX_VALUES)
        return self.tallies[name]

    def merge(self, other: Self, before: RecordPlace) -> None:
        """Add the records of `other`, which follow those `before`; not their keys."""
        self.records += other.records
        self.answers += other.answers
        for key, numbers in other.numbers.items():
            self.numbers[key].merge(numbers)
        for path, found in other.fields.items():
            self.fields[path].merge(found, before)
        for name, counts in other.tallies.items():
            self.tally(name).merge(counts)
        self._add_times(other.times)


#: The types of what is measured: texts, and lists of texts or of messages.
_measured = frozenset({str, list})


def _given(column: Iterable[Any]) -> list[Any]:
    """Return the values that records have."""
    return [value for value in column if value is not UNSET]


def _text_of(message: dict[str, Any]) -> str | None:
    """Return the text of a message, of several parts that of all; None without one."""
    content = message.get("content")
    if type(content) is list:
        parts = [part.get("text") for part in content if type(part) is dict]
        texts = [part for part in parts if type(part) is str]
        return "\n".join(texts) if texts else None
    return content if type(content) is str else None


#: What stands for a model or metric without a name.
UNNAMED = ""
#: Times are counted in microseconds, so that they add up without rounding.
MICROSECONDS = 1000
#: What a float holds exactly, at most: more milliseconds are no time.
MAX_EXACT = 2**53


def token_sums(models: Sequence[Any], usages: Sequence[Any]) -> "Counter[Any]":
    """Return the sums of the token counts of some answers, and how many have them.

    A key is the model, the kind of count, and `answers` or `sum`.
    """
    groups: dict[Any, list[int]] = defaultdict(list)
    for model, usage in zip(models, usages, strict=True):
        if type(usage) is dict:
            for kind, value in usage.items():
                if type(value) is int or _is_whole(value):
                    groups[model, kind].append(value)
                elif type(value) is dict:
                    for key, number in value.items():
                        if type(number) is int or _is_whole(number):
                            groups[model, f"{kind}.{key}"].append(number)
    found: Counter[Any] = Counter()
    for (model, kind), numbers in groups.items():
        names = UNNAMED if model is UNSET else shown(model), shown(kind)
        found[*names, "answers"] += len(numbers)
        found[*names, "sum"] += sum(map(int, numbers))
    return found


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number that is written as 12.0."""
    return isinstance(value, float) and abs(value) <= MAX_EXACT and value.is_integer()


def times_of(performances: Sequence[Any]) -> dict[str, Distribution]:
    """Return the times of some answers in microseconds, by kind."""
    times: dict[str, list[int]] = defaultdict(list)
    for given in performances:
        if type(given) is dict:
            for kind, value in given.items():
                if value is not None:
                    numbers = times[kind]
                    is_number = isinstance(value, (int, float))
                    if is_number and type(value) is not bool and 0 <= value < MAX_EXACT:
                        numbers.append(round(value * MICROSECONDS))
    found: dict[str, Distribution] = defaultdict(Distribution)
    for kind, values in times.items():
        found[shown(kind)].add(values)
    return found


def score_counts(scores: Iterable[Score]) -> "Counter[Any]":
    """Return what is counted of scores, by evaluation, metric and outcome."""
    found: Counter[Any] = Counter()
    for (evaluation, metric, *has), times in Counter(map(_outcomes, scores)).items():
        for outcome, has_it in zip(OUTCOMES, has, strict=True):
            found[shown(evaluation), shown(metric), outcome] += times * has_it
    return found


def _outcomes(score: Score) -> tuple[str, str, bool, bool, bool, bool]:
    """Return the names of a score, and which of `OUTCOMES` it has."""
    names = score.evaluation_name or UNNAMED, score.metric or UNNAMED
    is_number, is_correct = isinstance(score.value, (int, float)), score.is_correct
    return *names, True, is_number, is_correct is True, is_correct is False


#: Records that are read alone and counted together, at most, and bytes of their rows.
HELD_RECORDS, HELD_BYTES = 512, 1024 * 1024


#: What statistics need of records.
NEEDED = FormatAdapter(
    vendor="statistics",
    fields=tuple(
        FieldMapping(tuple(path.split(".")), path)
        for path in FIELD_TYPES
        if not path.endswith(("extra", "attribution"))
    ),
    read=lambda row: Record(**row),
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
)


class RecordCounter:
    """Counts the records of files, which a `RecordStream` passes to it.

    After the last record `flush` is to be called.
    """

    def __init__(self, duplicates: Duplicates | None = None) -> None:
        """Take what compares repeated values; without it, keys stay in the counts."""
        self.counts = Counts()
        self._duplicates = duplicates
        #: The number of the file, from 0.
        self._file = -1
        self._variant: FormatVariant
        self._read: ReadRow
        self._around: Mapping[str, Any]
        #: The decoder of the last rows, and what reads its rows directly.
        self._decoder: TypedDecoder | None = None
        self._direct: DirectRead | None = None
        #: Records that are not counted yet, their numbers and where their rows begin,
        #: and the bytes of the rows.
        self._waiting: list[tuple[Record, int, Cursor]] = []
        self._size = 0

    def open(self, variant: FormatVariant) -> None:
        """Receive the format of the next file."""
        self.flush()
        self._variant = variant
        self._file += 1

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Receive what reads a row of the file, and what stands around its rows."""
        self._read, self._around, self._decoder = read, around, None

    def receive(self, placed: PlacedRecord) -> None:
        """Receive a record that was read alone."""
        self._waiting.append((placed.record, placed.number, placed.start))
        self._size += len(placed.text)
        if len(self._waiting) >= HELD_RECORDS or self._size >= HELD_BYTES:
            self.flush()

    def decoded(self, rows: DecodedChunk) -> bool:
        """Receive the rows of a chunk that a typed decoder decoded."""
        chunk, direct = rows.chunk, self._direct_for(rows.decoder)
        if direct is None:
            records = [self._read(decode(row)) for row in chunk.rows]
        else:  # the rows of the chunk are cut only if one is not read directly
            records = [
                self._read(decode(chunk.rows[index])) if each is None else each[0]
                for index, each in enumerate(direct.records(chunk, rows.values))
            ]
        numbers = [*map(rows.numbers.of, range(len(records)))]
        self._count(records, numbers, chunk.start_of)
        return True

    def batch(self, batch: RowBatch) -> bool:
        """Receive a batch of rows."""
        records = [*map(self._read, batch.values)]
        self._count(records, batch.numbers, batch.start_of)
        return True

    def flush(self) -> None:
        """Count the records that wait."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        records = [record for record, _, _ in waiting]
        numbers = [number for _, number, _ in waiting]
        self._count(records, numbers, lambda at: waiting[at][2])

    def _count(
        self,
        records: Sequence[Record],
        numbers: Sequence[int],
        start_of: Callable[[int], Cursor],
    ) -> None:
        """Count records of the file by their numbers and what finds their rows."""
        file = self._file

        def place(at: int) -> RecordPlace:
            """Return the place of a record by its index."""
            return RecordPlace(file, numbers[at], start_of(at).line)

        self.counts.add(records, numbers, place)
        if self._duplicates is not None:
            self._duplicates.add(self.counts.keys, file)
            self.counts.keys = no_keys()

    def merge(self, counts: Counts, records: int, lines: int) -> None:
        """Add counts of the current file that come after `records` and `lines` of it.

        Raises `SourceError` if a temporary file cannot be written.
        """
        self.flush()
        self.counts.merge(counts, RecordPlace(self._file, records, lines))
        if self._duplicates is not None:
            self._duplicates.add(counts.keys, self._file, records)

    def take(self) -> Counts:
        """Return what was counted since the last call."""
        self.flush()
        counts, self.counts = self.counts, Counts()
        return counts

    def _direct_for(self, decoder: TypedDecoder) -> DirectRead | None:
        """Return the function that reads rows of `decoder` directly, if any."""
        if decoder is not self._decoder:
            self._decoder, self._direct = decoder, None
            source = adapter_of(self._variant.format)
            if self._variant.dialect.name not in source.dialect_normalizers:
                self._direct = direct_read(
                    source, NEEDED, Choices(), decoder, self._around, is_exact=False
                )
        return self._direct
