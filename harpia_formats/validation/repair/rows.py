"""Repair the rows of a chunk in which something was found."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, is_blank
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.repair.edits import Edit
from harpia_formats.validation.repair.proposals import Proposals
from harpia_formats.validation.repair.row import RepairedRow, RowRepairer
from harpia_formats.validation.unit.record_numbers import RecordNumbers
from harpia_formats.validation.unit.row_checks import Verdict

if TYPE_CHECKING:
    from harpia_formats.validation.unit.validators import RowPart


class PlacedChange(msgspec.Struct, frozen=True):
    """One change in a file, at its place before the repair."""

    #: The code of the rule.
    code: str
    #: From 1; in the answer of a worker from the beginning of its unit.
    line: int
    column: int
    #: The number of the record, from 1; in the answer of a worker from the beginning of
    #: its unit. 0 for the file as a whole.
    record: int
    #: JSON pointer inside the record.
    pointer: str
    #: What was done, in the past tense.
    what: str
    #: Whether text is lost that stands nowhere else in the record.
    loses_text: bool = False


class PlacedRepair(msgspec.Struct, frozen=True):
    """The edits of one row by offsets in the file, and the changes that they make."""

    edits: tuple[Edit, ...]
    changes: tuple[PlacedChange, ...]

    def moved(self, lines: int, records: int) -> "PlacedRepair":
        """Return the repair with so many lines and records of the file before it."""
        return PlacedRepair(
            self.edits,
            tuple(
                msgspec.structs.replace(
                    change, line=change.line + lines, record=change.record + records
                )
                for change in self.changes
            ),
        )


class RowsRepairer:
    """Repairs the rows of a file that are at one path."""

    def __init__(self, proposals: Proposals, part: "RowPart") -> None:
        """Take what proposes repairs, and what validates the rows."""
        # The format's own repairs are of whole records.
        own = proposals if not part.path else proposals.without_format()
        self._asks_every_row = own.asks_every_row
        self._part = part
        self._row = RowRepairer(own, part.schema, self._findings_of)

    def repairs(
        self, chunk: Chunk, verdict: Verdict, numbers: RecordNumbers
    ) -> Iterator[PlacedRepair]:
        """Yield the repairs of the rows of a chunk, in order.

        `numbers` are those of their records.
        """
        found: dict[int, list[Finding]] = {}
        for finding in verdict.findings:
            found.setdefault(finding.row, []).append(finding)
        for shared in verdict.shared or ():
            found[shared.row] = shared.findings()
        rows: Iterator[int] = iter(sorted(found))
        if self._asks_every_row:
            rows = (row for row, text in enumerate(chunk.rows) if not is_blank(text))
        for row in rows:
            text = chunk.rows[row]
            repaired = self._row.repaired(text, found.get(row, []))
            if repaired is not None:
                start, number = chunk.start_of(row), numbers.of(row)
                yield placed_repair(text, start, number, repaired, self._part.path)

    def _findings_of(self, text: bytes) -> list[Finding]:
        """Return what is wrong with the text of a row."""
        return self._part.validator.validate(Chunk(text, Cursor(), [text])).findings


def placed_repair(
    text: bytes, start: Cursor, number: int, repaired: RepairedRow, prefix: Path
) -> PlacedRepair:
    """Return the repair of a row that begins at `start`, by places in the file.

    `prefix` is the path of the row in its record.
    """
    base, changes = start.offset, []
    for change in repaired.changes:
        here = start.after(text[: change.at])
        pointer = pointer_of(prefix) + change.pointer
        place = (here.line, here.column + 1, number, pointer)
        changes.append(
            PlacedChange(change.code, *place, change.what, change.loses_text)
        )
    edits = tuple(
        Edit(base + edit.start, base + edit.end, edit.data) for edit in repaired.edits
    )
    return PlacedRepair(edits, tuple(changes))
