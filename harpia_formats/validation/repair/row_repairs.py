"""Repair one row, validate the result, and describe every change."""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, constants_in, is_blank
from harpia_formats.files.parsing.full_width import plain_edits, with_plain_punctuation
from harpia_formats.files.parsing.json_fault import Fault
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.format import REMOVE, RENAME_KEY, REPLACE, Repair
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.validation.diagnosis.engine_errors import EngineError
from harpia_formats.validation.diagnosis.root_causes import (
    OTHER_FORMAT,
    Cause,
    Finding,
    RepeatedKey,
)
from harpia_formats.validation.repair.proposals import Proposals
from harpia_formats.validation.repair.text_edits import (
    Edit,
    EditedText,
    applicable,
    edits_of,
)
from harpia_formats.validation.unit.findings import RecordNumbers
from harpia_formats.validation.unit.row_checks import Verdict

if TYPE_CHECKING:
    from harpia_formats.validation.unit.validators import RowPart


#: Rounds of repairs of one row. One may uncover the next, as a key that is renamed
#: uncovers what is wrong below it.
ROUNDS = 32

_decode = msgspec.json.Decoder().decode
#: Returns what is wrong with the text of a row.
FindingsOf = Callable[[bytes], list[Finding]]
#: What is equal for repairs that are made, or refused, together.
_Identity = tuple[Any, ...]


class RowChange(msgspec.Struct, frozen=True):
    """One change of a row."""

    code: str
    #: JSON pointer to the value in the row, as it was when it was changed.
    pointer: str
    #: What was done, in the past tense.
    what: str
    #: The byte of the original row that it is about.
    at: int
    #: Whether text is lost that stands nowhere else in the row.
    loses_text: bool


class RepairedRow(msgspec.Struct, frozen=True):
    """The edits of a row, and the changes that they make."""

    edits: tuple[Edit, ...]
    changes: tuple[RowChange, ...]


class _Made(NamedTuple):
    """A repair that was made, or is to be made."""

    repair: Repair
    identity: _Identity

    @property
    def path(self) -> Path:
        """The path of the value after the repair."""
        path = self.repair.path
        is_renamed = self.repair.kind == RENAME_KEY
        return (*path[:-1], self.repair.value) if is_renamed else path

    @property
    def has_value(self) -> bool:
        """Whether there is a value at the path after the repair."""
        return self.repair.kind != REMOVE


@dataclass(frozen=True, slots=True)
class _Error:
    """One thing that is wrong with a row; equal in rows that have it alike."""

    #: The failed keyword of the schema, or the code of the rule.
    what: str
    path: Path
    #: The values that made a condition of the schema apply.
    because: tuple[Path, ...] = field(default=(), compare=False)
    #: Whether a key is missing, to which the path leads.
    is_missing: bool = False


#: The repair of a row as a whole: any error that is left in the row then refuses it.
_PLAIN = Repair("J101", REPLACE, (), "full-width punctuation as that of JSON")


class RowRepairer:
    """Repairs rows that one validator validates."""

    def __init__(
        self, proposals: Proposals, schema: Schema, findings_of: FindingsOf
    ) -> None:
        """Take what proposes repairs, the schema of a row, and what validates one."""
        self._proposals = proposals
        self._schema = schema
        self._findings_of = findings_of

    def repaired(self, text: bytes, findings: list[Finding]) -> RepairedRow | None:
        """Return the repairs of a row with these findings, None if there are none.

        The repaired row is validated: a repair is not made if its value is invalid
        then, or if the row has an error by it that it did not have before.
        """
        refused: set[_Identity] = set()
        while True:
            found, wrong = self._attempt(text, findings, refused)
            if not wrong:
                return found
            refused |= wrong

    def _attempt(
        self, text: bytes, findings: list[Finding], refused: set[_Identity]
    ) -> tuple[RepairedRow | None, set[_Identity]]:
        """Repair a row without the `refused` repairs.

        Return also the repairs that turned out to be wrong.
        """
        edited, changes = EditedText(text), []
        before = self._errors_in(findings)
        made: list[_Made] = []
        plain = self._plain_punctuation(text, findings, refused)
        if plain:
            size = "1 character" if len(plain) == 1 else f"{len(plain):,} characters"
            what = f"wrote {_PLAIN.what} ({size})"
            changes.append(RowChange(_PLAIN.code, "", what, plain[0].start, False))  # noqa: FBT003 - a struct of the table
            made.append(_Made(_PLAIN, (_PLAIN.code,)))
            edited.apply(plain)
            findings = self._findings_of(edited.text)
        for _ in range(ROUNDS):
            repairs = self._wanted(edited.text, findings, refused)
            if not repairs:
                break
            edits = edits_of(edited.text, [one.repair for one in repairs])
            by_path = {one.repair.path: one for one in repairs}
            for _, at, repair in edits:
                offset = edited.original_offset(at)
                pointer = pointer_of(repair.path)
                changes.append(
                    RowChange(
                        repair.code, pointer, repair.what, offset, repair.loses_text
                    )
                )
                made.append(by_path[repair.path])
            edited.apply([edit for edit, _, _ in edits])
            findings = self._findings_of(edited.text)
            lacking = {one.path for one in self._errors_in(findings) if one.is_missing}
            removed = [one for one in made if one.repair.kind == REMOVE]
            wrong = {one.identity for one in removed if one.repair.path in lacking}
            # Otherwise another key might be renamed to the one that was removed.
            if wrong:
                return None, wrong
        wrong = _wrong_among(made, before, self._errors_in(findings))
        if wrong or not changes:
            return None, wrong
        return RepairedRow(tuple(edited.edits()), tuple(changes)), set()

    def _plain_punctuation(
        self, text: bytes, findings: list[Finding], refused: Container[_Identity]
    ) -> list[Edit]:
        """Return what makes full-width punctuation that of JSON, if that is wanted.

        There is none if the row is JSON, is not by these edits, or is not validated.
        """
        settings = self._proposals.settings
        is_wanted = settings.unsafe and _PLAIN.code in settings.codes
        is_broken = any(one.code == _PLAIN.code for one in findings)
        if not (is_wanted and is_broken) or (_PLAIN.code,) in refused:
            return []
        if self._schema is True or find_fault(with_plain_punctuation(text)):
            return []
        return [Edit(*one) for one in plain_edits(text)]

    def _wanted(
        self, text: bytes, findings: list[Finding], refused: set[_Identity]
    ) -> list[_Made]:
        """Return the repairs of a row that can be made together."""
        # Where a value is cannot be known in broken JSON, nor among repeated keys.
        if any(isinstance(one.about, (Fault, RepeatedKey)) for one in findings):
            return []
        found = [
            _Made(one, (one.code, one.kind, one.path))
            for one in self._proposals.of_findings(findings, self._schema)
        ]
        if self._proposals.asks_every_row:
            own = self._proposals.of_row(_value_of(text, findings))
            counted = {one.path for one in own if one.is_count}
            is_countable = not any(_breaks_condition(one, counted) for one in findings)
            # Those of one rule belong together: all of them are made, or none.
            found += [
                _Made(one, (one.code,))
                for one in own
                if is_countable or not one.is_count
            ]
        left = [one for one in found if one.identity not in refused]
        kept = set(map(id, applicable([one.repair for one in left])))
        return [one for one in left if id(one.repair) in kept]

    def _errors_in(self, findings: Iterable[Finding]) -> dict[_Error, None]:
        """Return the errors among findings, in order."""
        errors = self._proposals.settings.errors
        return dict.fromkeys(
            error
            for finding in findings
            for error in _errors_of(finding)
            if isinstance(finding.about, Cause) or finding.code in errors
        )


def _breaks_condition(finding: Finding, counted: Container[Path]) -> bool:
    """Return whether a finding is a broken condition, or may hide one.

    That one of the values at the paths `counted` is missing or wrong is none.
    """
    if not isinstance(finding.about, Cause):
        is_condition = finding.code[0] == "C" and finding.code[1:].isdigit()
        return is_condition or finding.code == OTHER_FORMAT
    broken = (error for error in finding.about.errors if error.condition is not None)
    return any(_path_of(error) not in counted for error in broken)


def _errors_of(finding: Finding) -> Iterator[_Error]:
    """Yield what is wrong by a finding: for a schema error, each failed keyword."""
    about = finding.about
    if not isinstance(about, Cause):
        yield _Error(finding.code, finding.path)
        return
    for error in about.errors:
        is_missing = error.keyword == "required"
        path = about.path if about.at_key and not is_missing else _path_of(error)
        keyword = f"{pointer_of(error.schema_path)} {error.keyword}"
        yield _Error(keyword, path, about.because, is_missing)


def _path_of(error: EngineError) -> Path:
    """Return the path of the value that a schema error refuses, or that is missing."""
    is_missing = error.keyword == "required"
    return (*error.path, error.detail) if is_missing else error.path


def _wrong_among(
    made: Sequence[_Made], before: Container[_Error], after: Iterable[_Error]
) -> set[_Identity]:
    """Return which of the repairs leave an invalid value or caused an error.

    `before` and `after` are the errors of the row without and with the repairs.
    """
    found: set[_Identity] = set()
    for error in after:
        guilty = [one for one in made if one.has_value and _is_in(error.path, one.path)]
        if not guilty and error in before:
            continue
        # A condition applies by what was repaired, or something is missing there.
        guilty = guilty or [
            one
            for one in made
            if _is_in(one.path, error.path)
            or any(_is_in(one.path, path) for path in error.because)
        ]
        found.update(one.identity for one in guilty or made)
    return found


def _is_in(path: Path, owner: Path) -> bool:
    """Return whether a path leads to the value at `owner`, or into it."""
    return path[: len(owner)] == owner


def _value_of(text: bytes, findings: list[Finding]) -> Any:
    """Return a decoded row."""
    for finding in findings:
        if finding.value is not None:
            return finding.value
    return _decode(text)


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
            in_file = chunk.texts[row]
            if repaired is not None and in_file != text:
                repaired = with_constants(in_file, repaired)
            if repaired is not None:
                start, number = chunk.start_of(row), numbers.of(row)
                yield placed_repair(in_file, start, number, repaired, self._part.path)

    def _findings_of(self, text: bytes) -> list[Finding]:
        """Return what is wrong with the text of a row."""
        return self._part.validator.validate(Chunk(text, Cursor(), [text])).findings


def with_constants(text: bytes, repaired: RepairedRow) -> RepairedRow | None:
    """Return the repair of a row with nulls as one of `text`, which has constants.

    None if it changes one of these: it is no null in the file.
    """
    moved, behind = 0, [(0, 0)]
    for start, end in constants_in(text):
        begin = start - moved
        null_end = begin + len(b"null")
        if any(one.start < null_end and begin < one.end for one in repaired.edits):
            return None
        moved += end - start - len(b"null")
        behind.append((null_end, moved))

    def place(at: int) -> int:
        return at + behind[bisect_right(behind, at, key=itemgetter(0)) - 1][1]

    edits = (Edit(place(one.start), place(one.end), one.data) for one in repaired.edits)
    changes = (
        msgspec.structs.replace(one, at=place(one.at)) for one in repaired.changes
    )
    return RepairedRow(tuple(edits), tuple(changes))


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
