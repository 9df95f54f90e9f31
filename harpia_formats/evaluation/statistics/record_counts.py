"""The counts over the records of a file, which are merged with those over others."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.direct_read import DirectRead, direct_read
from harpia_formats.conversion.mapping.extra_fields import NO_SURROUNDINGS, ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.evaluation.statistics.duplicates import KINDS, Keys, add_keys
from harpia_formats.evaluation.statistics.running_counts import (
    MAX_KINDS,
    MAX_NAMES,
    MAX_VALUES,
    OUTCOMES,
    BoundedCounts,
    Distribution,
    FieldCount,
    PlaceOf,
    RecordPlace,
    score_counts,
    short_texts,
    times_of,
    token_sums,
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
from harpia_formats.model.record import FIELD_TYPES, Output, Record

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
#: How many keys a name has in counts of which only so many names are told apart.
_KEYS = {"tokens": 2, "all tokens": 2, "scores": len(OUTCOMES)}


def _keys() -> dict[str, Keys]:
    """Return no keys of each kind."""
    return {kind: Keys() for kind in KINDS}


@dataclass(slots=True)
class Counts:
    """Counts over some records: plain data, which can be sent to another process."""

    records: int = 0
    answers: int = 0
    #: The lengths of texts by the name of their field and the unit, and how many
    #: members fields have by the name and `NUMBER`.
    numbers: dict[tuple[str, str], Distribution] = field(default_factory=dict)
    #: By the path of the field in a record.
    fields: dict[str, FieldCount] = field(default_factory=dict)
    #: The values of `VALUES`, scripts of `TEXTS`, and sums of `_KEYS`.
    tallies: dict[str, BoundedCounts] = field(default_factory=dict)
    #: The times of answers in microseconds by kind, None if there are too many.
    times: dict[str, Distribution] | None = field(default_factory=dict)
    #: What is compared for repeated prompts, answers and ids.
    keys: dict[str, Keys] = field(default_factory=_keys)

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
        self._field("outputs").add(held, place)
        self._distribution("answers", NUMBER).add(map(len, held))
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
            self._field(above + name).add(column, place)
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
            self._distribution(name, NUMBER).add(map(len, values))
            values = [*chain.from_iterable(values)]
            if values and type(values[0]) is dict:
                values = [text for text in map(_text_of, values) if text is not None]
        if values:
            *lengths, scripts = measure(values)
            for unit, numbers in zip(Measured._fields, lengths, strict=False):
                self._distribution(name, unit).add(numbers)
            self.tally(f"scripts.{name}").add(scripts)

    def _add_values(self, name: str, values: Sequence[Any]) -> None:
        """Count the values of a field that are the same in many records."""
        if values:
            self.tally(name).add(short_texts(values), len(values))

    def _add_times(self, times: Mapping[str, Distribution] | None) -> None:
        """Add times of answers, None for too many kinds."""
        if self.times is None or times is None:
            self.times = None
            return
        for kind, found in times.items():
            self.times.setdefault(kind, Distribution()).merge(found)
        if len(self.times) > MAX_KINDS:
            self.times = None

    def _field(self, path: str) -> FieldCount:
        """Return the count of a field."""
        return self.fields.setdefault(path, FieldCount())

    def _distribution(self, name: str, unit: str) -> Distribution:
        """Return the distribution of lengths, or of the number of members."""
        return self.numbers.setdefault((name, unit), Distribution())

    def tally(self, name: str) -> BoundedCounts:
        """Return the counts of values with this name."""
        if name not in self.tallies:
            most = _KEYS.get(name, 0) * MAX_NAMES
            self.tallies[name] = BoundedCounts(most or MAX_VALUES)
        return self.tallies[name]

    def merge(self, other: Self, shift: Callable[[RecordPlace], RecordPlace]) -> None:
        """Add the records of `other`, whose places `shift` moves; not their keys."""
        self.records += other.records
        self.answers += other.answers
        for key, numbers in other.numbers.items():
            self._distribution(*key).merge(numbers)
        for path, count in other.fields.items():
            self._field(path).merge(count, shift)
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


#: Records that are counted together, at most; and bytes of the rows that are held.
HELD_RECORDS, HELD_BYTES = 512, 1024 * 1024
#: Records after which counts are delivered: they hold digests of each record.
DELIVERED = 20_000
_index = itemgetter(0)


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
    """Counts the records of one file: those that a `RecordStream` passes to it.

    After the last record `flush` is to be called.
    """

    def __init__(self, deliver: Callable[[Counts], None] | None = None) -> None:
        """Take what is called with the counts of each some records.

        If it is None, counts are kept until they are taken.
        """
        self.counts = Counts()
        self._deliver = deliver
        self._file = 0
        self._variant: FormatVariant | None = None
        self._read: ReadRow | None = None
        self._around: Mapping[str, Any] = NO_SURROUNDINGS
        #: The decoder of the last rows, and what reads its rows directly.
        self._decoder: TypedDecoder | None = None
        self._direct: DirectRead | None = None
        #: Records that are not counted yet, their numbers, where they begin (for the
        #: first of some that are beside each other, by its index), and the bytes of
        #: their rows.
        self._records: list[Record] = []
        self._numbers: list[int] = []
        self._starts: list[tuple[int, Callable[[int], Cursor]]] = []
        self._size = 0

    def open(self, variant: FormatVariant, file: int) -> None:
        """Take the format of the next file, and its number."""
        self.flush()
        self._variant, self._file = variant, file

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows."""
        self._read, self._around, self._decoder = read, around, None

    def receive(self, placed: PlacedRecord) -> None:
        """Take a record that was read alone."""
        start = placed.start
        self._add([placed.record], [placed.number], lambda _: start, len(placed.text))

    def decoded(self, rows: DecodedChunk) -> bool:
        """Take the rows of a chunk that a typed decoder decoded."""
        read = self._read
        if read is None:
            return False
        chunk, direct = rows.chunk, self._direct_for(rows.decoder)
        found: Iterable[Any] = [None] * len(chunk.rows)
        if direct is not None:
            found = direct.records(chunk, rows.values)
        records = [
            read(decode(chunk.rows[index])) if each is None else each[0]
            for index, each in enumerate(found)
        ]
        numbers = [*map(rows.numbers.of, range(len(records)))]
        self._add(records, numbers, chunk.start_of, len(chunk.data))
        return True

    def batch(self, batch: RowBatch) -> bool:
        """Take a batch of rows."""
        read = self._read
        if read is None:
            return False
        records = [*map(read, batch.values)]
        self._add(records, batch.numbers, batch.start_of, HELD_BYTES)
        return True

    def _add(
        self,
        records: list[Record],
        numbers: Sequence[int],
        start_of: Callable[[int], Cursor],
        size: int,
    ) -> None:
        """Take records of `size` bytes, and count those that wait if they are many."""
        self._starts.append((len(self._records), start_of))
        self._records += records
        self._numbers += numbers
        self._size += size
        if len(self._records) >= HELD_RECORDS or self._size >= HELD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Count the records that wait, and deliver the counts if there are enough."""
        records, numbers, starts = self._records, self._numbers, self._starts
        self._records, self._numbers, self._starts, self._size = [], [], [], 0
        file = self._file

        def place(index: int) -> RecordPlace:
            first, start_of = starts[bisect_right(starts, index, key=_index) - 1]
            return RecordPlace(file, numbers[index], start_of(index - first).line)

        self.counts.add(records, numbers, place)
        if self._deliver is not None and self.counts.records >= DELIVERED:
            counts, self.counts = self.counts, Counts()
            self._deliver(counts)

    def _direct_for(self, decoder: TypedDecoder) -> DirectRead | None:
        """Return the function that reads rows of `decoder` directly, if any."""
        if decoder is not self._decoder:
            self._decoder, self._direct = decoder, None
            variant = self._variant
            assert variant is not None  # noqa: S101 - see `open`
            source = adapter_of(variant.format)
            if variant.dialect.name not in source.dialect_normalizers:
                self._direct = direct_read(
                    source, NEEDED, Choices(), decoder, self._around, is_exact=False
                )
        return self._direct

    def take(self) -> Counts:
        """Return what was counted since the last call."""
        self.flush()
        counts, self.counts = self.counts, Counts()
        return counts
