"""The format that a conversion writes, and the rows that go to its files."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    encode_rows,
)
from harpia_formats.conversion.mapping.constants import constants_by_path
from harpia_formats.conversion.mapping.misfits import misfits_of
from harpia_formats.conversion.mapping.record_program import Outcome, RecordProgram
from harpia_formats.conversion.mapping.requirements import (
    RowRequirements,
    row_requirements,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper, Scorer
from harpia_formats.conversion.options import ConvertOptions, Ids
from harpia_formats.conversion.written_rows import WrittenRowCheck
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import Cardinality, Row
from harpia_formats.model.errors import ConversionOptionsError
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record
from harpia_formats.validation.dedup.identity import IdentityReader

#: Records whose rows are encoded together, if they are not large.
RECORDS_PER_BLOCK = 256


class RowOutput(Protocol):
    """Where encoded rows go: to files, or to the process that writes these."""

    @property
    def is_split(self) -> bool:
        """Whether each model has a file of its own."""

    def encoder(self, model: str = "") -> RowEncoder:
        """Return what encodes the next rows of the file of a model.

        Another process may encode rows by it, too.
        """

    def write(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Write encoded rows to the file of a model; raises `SinkError`."""


class Destination:
    """Takes rows of one format, checks their ids, and writes them to an output.

    Raises `ConversionError` when it is made with options that the format cannot meet,
    and `SinkError` where rows cannot be written.
    """

    def __init__(
        self,
        target: Format,
        outputs: RowOutput,
        options: ConvertOptions,
        add_keys: Callable[[Collection[str]], None],
        scorer: Scorer | None,
    ) -> None:
        self.target = target
        self.adapter = adapter_of(target)
        self.constants = constants_by_path(self.adapter, options.constants)
        self.check = WrittenRowCheck(target)
        self.mapper = RecordMapper(
            self.adapter, options.choices(self.constants), scorer, self.check
        )
        #: What rows of each file may lack.
        self.requirements: list[RowRequirements] = []
        has_place = self.adapter.carries("outputs.scores.value")
        if options.filter is not None and not has_place:
            raise ConversionOptionsError(
                f"{target.id} has no place for a score, so that --filter chooses none"
            )
        if scorer is not None and self.adapter.capacity.scores is Cardinality.NONE:
            raise ConversionOptionsError(f"{target.id} has no place for a score")
        self.outputs = outputs
        self._groups = options.group is not None
        self._hashes_ids = options.ids is Ids.HASH
        #: Rows that were written.
        self.written = 0
        #: Takes the ids of rows as keys.
        self._add_keys = add_keys
        paths = target.identity_paths
        self._identity = (
            IdentityReader(paths, by_text=target.id_by_text) if paths else None
        )
        self._program = RecordProgram(self.mapper)
        #: Rows that are not encoded yet, by the keys of their files.
        self._rows: dict[str, list[Row]] = {}
        #: The number of their records, and about as many bytes as these have.
        self._waiting = self._waiting_bytes = 0

    def begin(self, variant: FormatVariant, *, only: bool) -> None:
        """Get ready for the rows of a file, `only` if it is the only input.

        Raises `ConversionError` if no row of its format has what the target requires.
        """
        self.requirements.append(
            row_requirements(
                variant.format,
                adapter_of(variant.format),
                self.target,
                self.adapter,
                self.constants,
                scored=self.mapper.scorer is not None,
            )
        )
        source = adapter_of(variant.format)
        owners, not_kept = source.extra_owners, source.not_kept
        if self._groups:
            # Merged records can be of several files.
            owners = self.mapper.owners | owners
            not_kept = {**self.mapper.not_kept, **not_kept}
        self.mapper.owners, self.mapper.not_kept = owners, not_kept
        self.mapper.take_rows_of(source, joined=self._groups)
        self.mapper.misfits = misfits_of(adapter_of(variant.format))
        self._program = RecordProgram(self.mapper)
        if only and self._ids_are_numbers(variant):
            # The numbers of the records of one file are unique.
            self._identity = None

    def mapped(self, record: Record, number: int) -> tuple[list[Row], Outcome]:
        """Return the rows of record `number`, and what became of its fields.

        Raises `Unconvertible`, with the reason that the mapper gives.
        """
        try:
            rows, outcome = self._program.map(record, number, FieldFates())
            for row in rows:
                self.check(row)
        except Unconvertible:
            found = self.mapper.map(record, number)
            return found.rows, Outcome(found.paths, found.fates)
        return rows, outcome

    @property
    def checks_ids(self) -> bool:
        """Whether the ids of rows are compared."""
        return self._identity is not None

    def _ids_are_numbers(self, variant: FormatVariant) -> bool:
        """Tell whether the id of each row is the number of its record, and no other.

        The extra fields of a record may hold its id, and one record may be in the
        files of several models.
        """
        if self._hashes_ids:  # records that ask the same have one hash
            return False
        source = adapter_of(variant.format)
        may_have_ids = source.carries("id") or source.extras_path is not None
        is_given = "id" in self.constants
        is_split = self.outputs.is_split
        return self.mapper.needs_id and not (may_have_ids or is_given or is_split)

    def file_of(self, model: str) -> str:
        """Return the key of the file for answers of `model`, "" if all share one."""
        if not self.outputs.is_split:
            return ""
        return model or str(self.constants.get("outputs.model", "")) or "model"

    def add(self, rows: list[Row], model: str, size: int) -> None:
        """Write the rows of a record of about `size` bytes soon.

        They go to the file with the key `model` if there are several.
        """
        self._note_ids(rows, model)
        self._rows.setdefault(model, []).extend(rows)
        self._waiting += 1
        self._waiting_bytes += size
        if self._waiting >= RECORDS_PER_BLOCK or self._waiting_bytes >= BLOCK:
            self.flush()

    def add_batch(self, rows: Sequence[Row], lines: bytes) -> None:
        """Write rows at once; `lines` are the same rows as lines of JSON."""
        self.flush()
        self._note_ids(rows)
        encoder = self.outputs.encoder()
        is_json = encoder is encode_rows
        self.add_blocks(
            [EncodedRows(len(rows), (lines,))] if is_json else encoder(rows)
        )

    def add_blocks(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Write encoded rows, whose ids are known, to the file with the key `model`."""
        self.flush()
        for block in blocks:
            self.outputs.write([block], model)
            self.written += block.count

    def flush(self) -> None:
        """Write the rows that were added and not yet written."""
        waiting, self._rows = self._rows, {}
        self._waiting = self._waiting_bytes = 0
        for model, rows in waiting.items():
            self.outputs.write(self.outputs.encoder(model)(rows), model)
            self.written += len(rows)

    def _note_ids(self, rows: Sequence[Row], model: str = "") -> None:
        if self._identity is not None:
            keys = self._identity.keys_of_values(rows)
            self._add_keys([f"{model}\n{key}" for key in keys] if model else keys)
