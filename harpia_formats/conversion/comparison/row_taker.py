"""Take the rows of the files that are compared, and whether their records have ids."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.comparison.stored_rows import (
    Block,
    RowBlocks,
    RowSource,
)
from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.problem import Path
from harpia_formats.validation.dedup.identity import (
    MemberReader,
    member_at,
    member_reader,
)


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
        self._has_models = False
        #: Where rows have their ids, None if the format has none.
        self._id_path: Path | None = None
        self._decoder: TypedDecoder | None = None
        self._ids_of: MemberReader | None = None

    def open(self, path: str, variant: FormatVariant) -> None:
        """Get ready for a file."""
        self._path, self._variant = path, variant
        adapter = adapter_of(variant.format)
        self._has_models = adapter.carries("outputs.model")
        paths = (each.path for each in adapter.fields if each.record_path == "id")
        # Where the place of an id is not known, each row has to be read.
        unknown = () if adapter.carries("id") else None
        self._id_path, self._decoder = next(paths, unknown), None
        self.blocks.begin(RowSource(path, variant))

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows."""
        assert self._variant is not None  # noqa: S101 - the format is known by then
        self.blocks.begin(RowSource(self._path, self._variant, read, around))

    def receive(self, placed: PlacedRecord) -> None:
        """Take a record that was read alone."""
        record = placed.record
        if self._has_models:
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
        path, ids_of = self._id_path, None
        if path is not None:
            ids_of = partial(map, partial(member_at, path=path))
            # The rows of a table are not made only for their ids.
            if batch.table is not None and len(path) == 1:
                texts = batch.table.texts_of(str(path[0])) if self.have_ids else None
                if texts is not None and all(map(str.strip, texts)):
                    return True
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
