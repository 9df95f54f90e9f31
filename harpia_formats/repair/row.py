"""Repair one row, and name every change."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.model.repair import REMOVE, RENAME_KEY, Repair
from harpia_formats.parsing.json_fault import Fault
from harpia_formats.repair.edits import Edit, EditedText, applicable, edits_of
from harpia_formats.repair.proposals import Proposals
from harpia_formats.schema.load import Schema
from harpia_formats.validation.diagnosis.finding import Finding, RepeatedKey

#: Rounds of repairs of one row. One may uncover the next, as a key that is renamed
#: uncovers what is wrong below it.
ROUNDS = 32

#: Kinds of repairs that are not made if they turn out to be wrong.
_revocable = frozenset({REMOVE, RENAME_KEY})
_decode = msgspec.json.Decoder().decode
#: Returns what is wrong with the text of a row.
FindingsOf = Callable[[bytes], list[Finding]]


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

        A null is kept if what it is in would be wrong without it, such as one that
        needs its key, and a key if what is under it does not fit the new name.
        """
        kept: set[Path] = set()
        while True:
            found, wrong = self._attempt(text, findings, kept)
            if not wrong:
                return found
            kept |= wrong

    def _attempt(
        self, text: bytes, findings: list[Finding], kept: set[Path]
    ) -> tuple[RepairedRow | None, set[Path]]:
        """Repair a row without removing the values, or renaming the keys, at `kept`.

        Return also the paths of repairs that turned out to be wrong.
        """
        edited, changes = EditedText(text), []
        removed: set[Path] = set()
        renamed: dict[Path, Path] = {}
        for _ in range(ROUNDS):
            repairs = self._wanted(edited.text, findings, kept)
            if not repairs:
                break
            edits = edits_of(edited.text, repairs)
            for _, at, repair in edits:
                offset = edited.original_offset(at)
                pointer = pointer_of(repair.path)
                changes.append(
                    RowChange(
                        repair.code, pointer, repair.what, offset, repair.loses_text
                    )
                )
                if repair.kind == REMOVE:
                    removed.add(repair.path)
                elif repair.kind == RENAME_KEY:
                    renamed[*repair.path[:-1], repair.value] = repair.path
            edited.apply([edit for edit, _, _ in edits])
            before, findings = findings, self._findings_of(edited.text)
            lacking = removed & set(_missing(findings))
            lacking |= _within(removed, _new_paths(before, findings))
            if lacking:
                return None, lacking
        unfit = {renamed[one.path] for one in findings if one.path in renamed}
        if unfit or not changes:
            return None, unfit
        return RepairedRow(tuple(edited.edits()), tuple(changes)), set()

    def _wanted(
        self, text: bytes, findings: list[Finding], kept: set[Path]
    ) -> list[Repair]:
        """Return the repairs of a row that can be made together."""
        # Where a value is cannot be told in broken JSON, nor among repeated keys.
        if any(isinstance(one.about, (Fault, RepeatedKey)) for one in findings):
            return []
        found = list(self._proposals.of_findings(findings, self._schema))
        if self._proposals.asks_every_row:
            found += self._proposals.of_row(_value_of(text, findings))
        return [
            repair
            for repair in applicable(found)
            if repair.kind not in _revocable or repair.path not in kept
        ]


def _value_of(text: bytes, findings: list[Finding]) -> Any:
    """Return a decoded row."""
    for finding in findings:
        if finding.value is not None:
            return finding.value
    return _decode(text)


def _missing(findings: Iterable[Finding]) -> list[Path]:
    """Return the paths of the keys that a row lacks."""
    return [
        (*finding.path, finding.missing_key)
        for finding in findings
        if finding.missing_key
    ]


def _new_paths(before: Iterable[Finding], after: Iterable[Finding]) -> set[Path]:
    """Return the paths of the findings `after` that are not among those `before`."""
    known = {(one.code, one.path, one.cause) for one in before}
    return {one.path for one in after if (one.code, one.path, one.cause) not in known}


def _within(paths: Iterable[Path], owners: set[Path]) -> set[Path]:
    """Return the paths of values that are inside of one at `owners`."""
    return {
        path for path in paths if any(path[:end] in owners for end in range(len(path)))
    }
