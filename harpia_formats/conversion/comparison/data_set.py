"""Read one of two data sets that are compared, and store its rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from harpia_formats.conversion.comparison.stored_rows import (
    PLACE,
    Block,
    RowBlocks,
    RowSource,
    StoredRows,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import Path, Place, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.dedup.identity import (
    MemberReader,
    member_at,
    member_reader,
)

if TYPE_CHECKING:  # only with workers: start-up time
    from harpia_formats.conversion.comparison.compare_ranges import StoringWorkers


class RowTaker:
    """Takes the rows of files, and makes blocks of them, in any process."""

    def __init__(self, append: Callable[[Block], None], models: ModelSelection) -> None:
        self.blocks = RowBlocks(append)
        #: Whether all records so far have ids.
        self.have_ids = True
        #: Selects the answers of one model, if the options ask for that.
        self.models = models
        self._path = ""
        self._variant: FormatVariant | None = None
        self._adapter: FormatAdapter | None = None
        #: Where rows have their ids, None if the format has none.
        self._id_path: Path | None = None
        self._decoder: TypedDecoder | None = None
        self._ids_of: MemberReader | None = None

    def open(self, path: str, variant: FormatVariant) -> None:
        """Get ready for a file."""
        self._path, self._variant = path, variant
        adapter = self._adapter = adapter_of(variant.format)
        paths = (each.path for each in adapter.fields if each.record_path == "id")
        self._id_path, self._decoder = next(paths, None), None
        self.blocks.begin(RowSource(path, variant))

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows."""
        assert self._variant is not None  # noqa: S101 - the format is known by then
        self.blocks.begin(RowSource(self._path, self._variant, read, around))

    def receive(self, placed: PlacedRecord) -> None:
        """Take a record that was read alone."""
        record, adapter = placed.record, self._adapter
        if adapter is not None and adapter.carries("outputs.model"):
            record = self.models.select(record)
        self.have_ids = self.have_ids and record.id is not UNSET
        self.blocks.add_record(record, placed)

    def decoded(self, rows: DecodedChunk) -> bool:
        """Take the rows of a chunk that a typed decoder decoded."""
        chunk = rows.chunk
        self.blocks.add_chunk(chunk, rows.numbers)
        if rows.decoder is not self._decoder:
            self._decoder, path = rows.decoder, self._id_path
            self._ids_of = None if path is None else member_reader(path, rows.decoder)
        self._note_ids(self._ids_of, rows.values, lambda row: decode(chunk.rows[row]))
        return True

    def batch(self, batch: RowBatch) -> bool:
        """Take a batch of rows."""
        self.blocks.add_batch(batch)
        ids_of = None
        if self._id_path is not None:
            ids_of = partial(map, partial(member_at, path=self._id_path))
        self._note_ids(ids_of, batch.values, batch.values.__getitem__)
        return True

    def _note_ids(
        self,
        ids_of: Callable[[Sequence[Any]], Iterable[Any]] | None,
        values: Sequence[Any],
        row_at: Callable[[int], Row],
    ) -> None:
        """Note whether the records of all rows have ids, if all before them have.

        `ids_of` returns what the rows have where their ids are. A row with anything but
        a text or an integer there has to be read.
        """
        if not self.have_ids:
            return
        read = self.blocks.sources[-1].read
        self.have_ids = ids_of is not None and all(
            type(found) is int
            or (type(found) is str and not (found == "" or found.isspace()))
            or read(row_at(row)).id is not UNSET
            for row, found in enumerate(ids_of(values))
        )


@dataclass(slots=True)
class DataSet:
    """The records of one data set, as rows that are read when they are compared."""

    reading: Reading
    models: ModelSelection
    rows: StoredRows = field(default_factory=StoredRows)
    adapters: list[FormatAdapter] = field(default_factory=list)
    taker: RowTaker = field(init=False)

    def __post_init__(self) -> None:
        self.taker = RowTaker(self.rows.append, self.models)

    def problems(self, pool: WorkerPool | None) -> Iterator[Problem]:
        """Read all rows and store them; yield the problems of the input."""
        # Answers are selected in records.
        reads_rows = self.models.wanted is None
        yield from self.reading.problems(
            self.taker.receive,
            self._begin,
            lambda _: None,
            self.taker if reads_rows else None,
            self._workers(pool) if reads_rows else None,
        )
        self.taker.blocks.flush()

    def _workers(self, pool: WorkerPool | None) -> "StoringWorkers | None":
        """Return what reads the rows of large files, None without workers."""
        if pool is None or self.reading.companions.are_by_id:
            return None
        from harpia_formats.conversion.comparison.compare_ranges import StoringWorkers  # noqa: PLC0415 - only with workers

        return StoringWorkers(pool, self.taker, self.rows)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        self.adapters.append(adapter_of(variant.format))
        self.taker.open(count.path, variant)

    @property
    def have_ids(self) -> bool:
        """Whether all records have ids."""
        return self.taker.have_ids

    @property
    def sources(self) -> Sequence[RowSource]:
        """The sources of the rows."""
        return self.taker.blocks.sources

    def check_model(self, which: str) -> None:
        """Raise `ConversionError` if no answer is of the selected model."""
        if any(adapter.carries("outputs.model") for adapter in self.adapters):
            self.models.check(f" in the {which}")

    def place_of(self, packed: bytes) -> Place:
        """Return the place of the first byte of a record's row."""
        index, line, column, offset, number = PLACE.unpack_from(packed)
        source = self.sources[index]
        place = Place(
            path=source.path,
            line=line,
            column=column + 1,
            end_column=column + 2,
            byte_offset=offset,
            record=number,
            record_id=decode(packed[PLACE.size :]),
            record_id_key=source.variant.format.id_key,
        )
        return self.reading.tally.in_member(place)
