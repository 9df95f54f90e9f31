"""A record with the row that it was read from, and the place of that row."""

from collections.abc import Callable

from msgspec import Struct

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Record
from harpia_formats.validation.diagnosis.row_context import RowContext, id_of


class PlacedRecord(Struct):
    """One record, and its row with its place in the file."""

    record: Record
    #: The file as it is named in problems.
    path: str
    number: int
    #: The row, decoded; of a row that may be large only its id.
    value: Row
    #: The key of the id of rows, "" if the format has none.
    id_key: str
    #: Return the bytes of a row, and where its first byte is in the file; called when
    #: they are asked for, as in a `RowBatch`.
    text_of: Callable[[int], bytes]
    start_of: Callable[[int], Cursor]
    #: The row, for these functions.
    index: int
    #: The bytes of further rows of the record, if it is that of several.
    others: tuple[bytes, ...] = ()

    @property
    def text(self) -> bytes:
        """The bytes of the row, of several of the first one."""
        return self.text_of(self.index)

    @property
    def texts(self) -> bytes:
        """The bytes of all rows of the record, a newline between them."""
        return b"\n".join((self.text, *self.others)) if self.others else self.text

    @property
    def start(self) -> Cursor:
        """Where the first byte of the row is in the file."""
        return self.start_of(self.index)

    @property
    def row(self) -> RowContext:
        """The row with its place."""
        place = self.path, self.text, self.start, self.number
        return RowContext(*place, self.value, self.id_key)

    @property
    def row_id(self) -> str | int | None:
        """The id that the row has, None if it has none."""
        return id_of(self.value, self.id_key)


#: Called with each record that was read.
Receive = Callable[[PlacedRecord], None]


class NotApart(Exception):  # noqa: N818 - a reason to stop, not an error
    """What becomes of a record cannot be known without rows of other ranges."""
