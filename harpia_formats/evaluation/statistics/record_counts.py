"""The counts over the records of a file, which are merged with those over others."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    Distribution,
    FieldCount,
    PlaceOf,
    RecordPlace,
    ScoreCounts,
    Times,
    TokenSums,
    ValueCounts,
)
from harpia_formats.evaluation.statistics.text_lengths import measure
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


#: Records that are counted together, at most; and bytes of the rows that are held.
HELD_RECORDS, HELD_BYTES = 512, 1024 * 1024
#: Records after which counts are delivered: they hold digests of each record.
DELIVERED = 20_000
_index = itemgetter(0)


def _as_it_is(row: dict[str, Any]) -> Record:
    return Record(**row)


#: What statistics need of records.
NEEDED = FormatAdapter(
    vendor="statistics",
    fields=tuple(
        FieldMapping(tuple(path.split(".")), path)
        for path in FIELD_TYPES
        if not path.endswith(("extra", "attribution"))
    ),
    read=_as_it_is,
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
        if direct is None:
            records = [read(decode(row)) for row in chunk.rows]
        else:
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
