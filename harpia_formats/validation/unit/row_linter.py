"""Check the rows of a chunk by the lints of their format."""

import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Chunk, is_blank
from harpia_formats.files.framing.columns import decoded_or_none
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.column import Column
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint, SameMistake, TextColumns
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.across_values import (
    CountReader,
    Known,
    reader_of,
    with_reported,
    without_passed_over,
    yielding_rules,
)
from harpia_formats.validation.unit.findings import add_counts
from harpia_formats.validation.unit.row_checks import Verdict

if TYPE_CHECKING:
    from harpia_formats.files.parsing.csv_blocks import TableBlock
    from harpia_formats.validation.diagnosis.root_causes import Finding, SharedFindings


#: The rule on labels, which is the error of a value, too.
OTHER_LABEL = "S211"


class RowLinter:
    """Checks rows that were validated by the lints of their format.

    Rows that the typed decoder accepted are decoded again only if a lint may find
    something in them.
    """

    def __init__(self, lints: Lints, column: str = "") -> None:
        """Take the lints; the rows are items of `column` if that is given."""
        self._rows = lints.rows
        self.across = [] if column else list(map(reader_of, lints.across))
        self.files = [] if column else [CountReader(lint) for lint in lints.files]
        self.decisions = () if column else lints.decisions
        self.same = lints.same
        self._yielding = yielding_rules([each.rule for each in self.across], self.same)
        self._held = {
            held_key(each.code, case) for each in self.decisions for case in each.cases
        }
        self._column = column

    def check(
        self, chunk: Chunk, verdict: Verdict, decoder: TypedDecoder | None
    ) -> None:
        """Add the findings on the rows of `chunk`, and what rules across rows compare.

        `decoder` is the one that accepted the rows that the verdict holds decoded.
        """
        typed = verdict.accepted if verdict.accepted is not None else verdict.values
        if decoder is None or not typed:
            typed = [None] * len(chunk)
        typed = Column(typed)
        if self._column and not verdict.findings and self._are_clean_texts(typed):
            return  # rules across rows do not look at items of columns
        refused = _refused_paths(verdict.findings, verdict.shared or ())
        unread = {finding.row for finding in verdict.findings if finding.is_fault}
        findings: list[Finding] = []
        values = _DecodedRows(chunk)
        for row, lints in self._suspects(chunk, typed, refused.keys()):
            if row in unread or is_blank(chunk.rows[row]):
                continue
            found = self._findings(row, values[row], lints, refused.get(row, ()))
            reported, held = self.split(found)
            findings += reported
            for key in held:
                verdict.held.setdefault(key, []).append(row)
        if findings:
            verdict.findings = sorted(
                [*verdict.findings, *findings], key=lambda finding: finding.row
            )
        if self.across or self.files:
            self._add_compared(typed, values, decoder, verdict)

    def split(self, findings: "list[Finding]") -> "tuple[list[Finding], set[str]]":
        """Return the findings on one row that any file has, and the keys of others.

        These are those whose case the whole file decides.
        """
        if not self._held or not any(map(_case_of, findings)):
            return findings, set()
        keys = [held_key(each.code, _case_of(each)) for each in findings]
        reported = [
            finding
            for finding, key in zip(findings, keys, strict=True)
            if key not in self._held
        ]
        return reported, self._held.intersection(keys)

    def counts_of(self, value: Any) -> dict[str, int]:
        """Return what lints of the file count of a decoded row."""
        counts: dict[str, int] = {}
        for reader in self.files:
            add_counts(counts, reader.of_values([value]))
        return counts

    def _are_clean_texts(self, items: list[Any]) -> bool:
        """Return whether the items of the column are all texts without a finding.

        Looking at all of them at once saves decoding each into an object with one key
        (`benchmarks/lint.py --formats haystack`).
        """
        if set(map(type, items)) != {str}:
            return False
        try:
            data = "\n".join(items).encode()
        except UnicodeEncodeError:  # a surrogate without its pair
            return False
        return self.are_clean(TextColumns({self._column: items}, data, len(items)))

    def findings_in(
        self, row: int, value: Any, refused: Collection[Path]
    ) -> "list[Finding]":
        """Return what all lints find in a decoded row.

        `refused` are the places of its schema errors.
        """
        lints = [lint for lint in self._rows if lint.takes_refused or not refused]
        return self._findings(row, value, lints, refused)

    def findings_by(self, codes: frozenset[str], value: Any) -> "list[Finding]":
        """Return what the lints of some rules find in a decoded row of its own.

        The row may be one that the schema refuses, which other lints do not take.
        """
        lints = [lint for lint in self._rows if not codes.isdisjoint(lint.codes)]
        return self._findings(0, value, lints, ())

    def _findings(
        self,
        row: int,
        value: Any,
        lints: Iterable[RowLint],
        refused: Collection[Path],
    ) -> "list[Finding]":
        """Return what `lints` find in a decoded row with schema errors at `refused`."""
        given = {self._column: value} if self._column else value
        remarks: list[Remark] = []
        for lint in lints:
            for remark in lint.remarks(given):
                found = _below(remark) if self._column else remark
                if not (refused and _is_about(found.path, refused)):
                    remarks.append(found)
        if not remarks:
            return []
        from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

        remarks = _without_same(remarks, self.same, value)
        return [Finding(each.code, row, each, value) for each in remarks]

    def are_clean(self, rows: TextColumns) -> bool:
        """Return whether no lint finds anything in rows of a table."""
        unsure = [
            lint
            for lint in self._rows
            if lint.are_clean is None or not lint.are_clean(rows)
        ]
        if not unsure:
            return True
        values = rows.rows()
        return not any(
            True for lint in unsure for value in values for _ in lint.remarks(value)
        )

    def digests_of_texts(self, rows: TextColumns) -> "tuple[array[int], ...]":
        """Return as digests what each rule across rows compares of rows of a table."""
        return self._complete([reader.digests_of_texts(rows) for reader in self.across])

    def compared(self, value: Any) -> list[Any]:
        """Return what each rule across rows compares of a decoded row."""
        return [reader.of_value(value) for reader in self.across]

    def digests(self, compared: list[list[Any]]) -> "tuple[array[int], ...]":
        """Return as digests what each rule compares of rows, as `compared` gave it."""
        return self._complete(
            [
                reader.digests(each)
                for reader, each in zip(
                    self.across, zip(*compared, strict=True), strict=True
                )
            ]
        )

    def _complete(self, digests: "list[array[int]]") -> "tuple[array[int], ...]":
        """Return the digests of each rule, with what it needs of those of others."""
        for second, first in self._yielding:
            digests[second] = with_reported(digests[second], digests[first])
        return tuple(
            without_passed_over(reader.rule, found)
            for reader, found in zip(self.across, digests, strict=True)
        )

    def _suspects(
        self, chunk: Chunk, typed: Column, refused: Collection[int]
    ) -> Iterator[tuple[int, list[RowLint]]]:
        """Yield the rows that are to be checked, and by which lints."""
        found: dict[int, list[RowLint]] = {}
        data = _with_usual_escapes(chunk.data)
        for lint in self._rows:
            if lint.text is not None and not lint.text.search(data):
                continue
            for row in _suspects_of(lint, chunk, typed):
                if lint.takes_refused or row not in refused:
                    found.setdefault(row, []).append(lint)
        yield from sorted(found.items())

    def _add_compared(
        self,
        typed: Column,
        values: "_DecodedRows",
        decoder: TypedDecoder | None,
        verdict: Verdict,
    ) -> None:
        """Add what rules across rows compare of the rows of a chunk to `verdict`."""
        others: list[int] = []
        rows = typed
        if NoneType in typed.kinds:
            others = [row for row, value in enumerate(typed) if value is None]
            rows = Column(value for value in typed if value is not None)
        digests: list[array[int]] = []
        accepted: list[int] | None = None
        known: dict[Known, Column] = {}
        for counter in self.files:
            if rows and decoder:
                add_counts(verdict.counts, counter.of_typed(rows, decoder, known))
            if others:
                rest = (values[row] for row in others)
                add_counts(verdict.counts, counter.of_values(rest))
        for reader in self.across:
            found: array[int] | None = array("Q")
            if rows and decoder:
                found = reader.digests_of_typed(rows, decoder, known)
            if found is None:
                if accepted is None:
                    accepted = [row for row, one in enumerate(typed) if one is not None]
                found = reader.digests(
                    reader.of_values(values[row] for row in accepted)
                )
            if others:
                found += reader.digests(reader.of_values(values[row] for row in others))
            digests.append(found)
        verdict.across = self._complete(digests)


class _DecodedRows(dict[int, Any]):
    """The values of rows of a chunk by their numbers, decoded when they are needed."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk

    def __missing__(self, row: int) -> Any:
        self[row] = value = decoded_or_none(self._chunk.rows[row])
        return value


def _suspects_of(lint: RowLint, chunk: Chunk, typed: Column) -> list[int]:
    """Return the rows of a chunk in which a lint may find something."""
    is_clean, text = lint.is_clean, lint.text
    rows: list[int]
    if is_clean is None:
        rows = list(range(len(typed)))
    else:
        try:
            pairs = _possible_suspects(lint, typed)
            rows = [row for row, value in pairs if value is None or not is_clean(value)]
        except AttributeError:  # a member that the schema does not declare
            rows = [
                row
                for row, value in enumerate(typed)
                if value is None or not _is_clean(lint, value)
            ]
    if text is None:
        return rows
    plain = _with_usual_escapes
    return [row for row in rows if text.search(plain(chunk.rows[row]))]


#: Escapes in JSON that most programs write otherwise, and those of a backslash, behind
#: which what looks like one of these is text.
_needless = re.compile(rb"\\\\|\\/|\\u00(?:[2-7][0-9A-Fa-f]|0[89ACDacd])")
_needless_begins = (b"\\/", *(rb"\u00%d" % digit for digit in (0, *range(2, 8))))
#: How these letters are written in JSON; all others of ASCII stand for themselves.
_usual_escapes = {
    ord(letter): json.dumps(letter)[1:-1].encode() for letter in '"\\\b\t\n\f\r'
}


def _with_usual_escapes(data: bytes) -> bytes:
    """Return JSON with letters and marks of ASCII as most programs write them."""
    # Letters beyond ASCII are frequent, and to look for these takes less time than to
    # replace nothing.
    is_needed = any(stringzilla.find(data, begin) >= 0 for begin in _needless_begins)
    return _needless.sub(_usual, data) if is_needed else data


def _usual(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text[1:2] != b"u":
        return text if text == rb"\\" else b"/"
    letter = bytes.fromhex(text[2:].decode())[-1:]
    return _usual_escapes.get(ord(letter), letter)


def _possible_suspects(lint: RowLint, typed: Column) -> Iterable[tuple[int, Any]]:
    """Return the rows that may not be clean, with their numbers."""
    if lint.suspects is None or NoneType in typed.kinds or len(typed.kinds) != 1:
        return enumerate(typed)
    found = lint.suspects(typed)
    if found is None:
        return enumerate(typed)
    return [(row, typed[row]) for row in sorted(found)]


def _is_clean(lint: RowLint, value: Any) -> bool:
    """Tell whether a lint certainly finds nothing in a typed row."""
    assert lint.is_clean is not None  # noqa: S101 - asked before
    try:
        return lint.is_clean(value)
    except AttributeError:
        return False


def _refused_paths(
    findings: "list[Finding]", shared: "Iterable[SharedFindings]"
) -> dict[int, list[Path]]:
    """Return the places of the schema errors of each row that has some."""
    found: dict[int, list[Path]] = {}
    for finding in findings:
        if finding.is_refusal or finding.code == OTHER_LABEL:
            found.setdefault(finding.row, []).append(finding.path)
    for some in shared:
        found.setdefault(some.row, []).extend(cause.path for cause in some.causes)
    return found


def _is_about(path: Path, refused: Iterable[Path]) -> bool:
    """Tell whether `path` is one of `refused`, above one or below one.

    An error of the row as a whole, such as a missing key, is about no value in it.
    """
    return any(
        path and other and path[: len(other)] == other[: len(path)] for other in refused
    )


def _below(remark: Remark) -> Remark:
    """Return a remark on an item of a column, without the name of the column."""
    return replace(remark, path=remark.path[1:])


def held_key(code: str, case: str) -> str:
    """Return the key of the records with a remark whose case the file decides."""
    return f"{code} {case}"


def _case_of(finding: "Finding") -> str:
    return finding.about.case if isinstance(finding.about, Remark) else ""


def _without_same(
    remarks: list[Remark], same: Iterable[SameMistake], row: Any
) -> list[Remark]:
    """Return remarks on a row without those on a mistake that others are on."""
    codes = {remark.code for remark in remarks}
    for each in same:
        if each.first in codes and each.second in codes:
            firsts = [remark for remark in remarks if remark.code == each.first]
            remarks = [
                remark
                for remark in remarks
                if remark.code != each.second
                or not any(each.is_one(first, remark, row) for first in firsts)
            ]
    return remarks


def lint_block(
    linter: RowLinter, block: "TableBlock", columns: tuple[str, ...]
) -> "tuple[array[int], ...] | None":
    """Return as digests what rules across rows compare of records in which all is well.

    `columns` has each name once. None if a lint finds something in a record, fails, or
    counts records: then each is to be checked on its own.
    """
    if linter.files:
        return None
    texts = dict(zip(columns, map(Column, block.columns()), strict=True))
    rows = TextColumns(texts, block.data, block.count)
    try:
        return linter.digests_of_texts(rows) if linter.are_clean(rows) else None
    except Exception:  # noqa: BLE001 - an error of ours, which the record will show
        return None
