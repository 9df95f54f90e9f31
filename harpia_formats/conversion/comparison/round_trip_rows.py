"""Make the rows of records on the two ways of a round trip, and read them."""

from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.record_program import RecordProgram
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.conversion.written_rows import WrittenRowCheck
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Record


@dataclass(slots=True)
class RowsOfRecords:
    """Makes the rows of records as a mapper does, by its program."""

    mapper: RecordMapper
    #: Tells whether the rows of a record are valid; the mapper checks rows by it, too.
    check: WrittenRowCheck
    _program: RecordProgram = field(init=False)
    _needs_id: bool = field(init=False)
    _no_fates: FieldFates = field(default_factory=FieldFates)

    def __post_init__(self) -> None:
        self._program = RecordProgram(self.mapper)
        self._needs_id = self.mapper.needs_id

    def of(self, record: Record, number: int) -> list[Row]:
        """Return the rows of `record`, with its number as id if rows need one.

        Raises `Unconvertible`.
        """
        if record.id is UNSET and self._needs_id:
            record = replace(record, id=str(number))
        try:
            rows, _ = self._program.map(record, 0, self._no_fates)
        except Unconvertible:
            rows = []
        if rows and self.check.valid_lines(rows) is not None:
            return rows
        # The mapper has the reason, if there is one.
        return self.mapper.map(record).rows
