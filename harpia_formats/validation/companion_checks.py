"""Check files against their companions: other files that say what is in them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from harpia_formats.dedup.digests import Digests, digest_of
from harpia_formats.dedup.key_text import key_text
from harpia_formats.detection.recognize import recognize
from harpia_formats.detection.sampled_file import Framing, framing_of, sample_file
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.framing.columns import DocumentHeader
from harpia_formats.framing.container import open_container
from harpia_formats.framing.numbered import (
    NumberedRecord,
    decoded_or_none,
    numbered_records,
)
from harpia_formats.io.reread import RereadableSource
from harpia_formats.io.source import Source, open_source
from harpia_formats.model.format import Companion, Container, FileSummary, Remark
from harpia_formats.model.problem import Problem
from harpia_formats.registry import all_formats
from harpia_formats.schema.load import Schema
from harpia_formats.validation.companion_files import CompanionError
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.row_context import Row
from harpia_formats.validation.file.result import Judged
from harpia_formats.validation.options import Options


@dataclass(frozen=True, slots=True)
class Other:
    """A file that others are checked against."""

    path: str
    #: The id of its format.
    format: str
    #: Its document without its records, as text and decoded, and where it was.
    header: DocumentHeader
    document: dict[str, Any]
    #: Digests of the ids of its records.
    ids: Digests


def read_other(source: Source, options: Options) -> Other:
    """Read a file that others are checked against, in flat memory.

    Raises `SourceError`, and `CompanionError` if it is in no known format.
    """
    limit = options.max_row_bytes
    formats = tuple(all_formats().values())
    with open_source(source) as reader:
        beginning = sample_file(
            open_container(reader), limit, formats, source.name, formats
        )
        variant = recognize(beginning.sample, formats).variant
        if variant is None:
            raise CompanionError(source.name, "is in no known format")
        cut = framing_of(variant, beginning.sample.layout)
        ids, key = Digests(), variant.format.id_key
        header = None
        for frame in beginning.frames(cut, variant):
            if isinstance(frame, DocumentHeader):
                header = frame
            elif isinstance(frame, Chunk):
                if cut is Framing.VALUES:
                    header = header or _whole(frame)
                ids.add(
                    [
                        text
                        for row in frame.rows
                        for text in _id_of(decoded_or_none(row), key)
                    ]
                )
    document = decoded_or_none(header.text) if header else None
    if header is None or document is None:
        raise CompanionError(source.name, "is not valid JSON: validate it first")
    if cut is Framing.VALUES and variant.dialect.container is Container.ROWS:
        document = None  # records alone, with nothing said around them
    if not isinstance(document, dict):
        document = {}
    return Other(source.name, variant.format.id, header, document, ids)


def _whole(chunk: Chunk) -> DocumentHeader:
    return DocumentHeader(chunk.rows[0], ((0, chunk.start),))


def _id_of(value: Any, key: str) -> list[str]:
    """Return the id that `value` has at `key`, as text; none if it has none."""
    found = value.get(key) if key and isinstance(value, dict) else None
    is_id = isinstance(found, (str, int))
    return [key_text((found,), by_text=True)] if is_id else []


def companion_problems(judged: Judged, other: Other) -> Iterator[Problem]:
    """Yield what is kept of where a file disagrees with its companion.

    All is counted with the file, and its records are invalid where they disagree.
    """
    companion = judged.companion
    if companion is None or companion.format != other.format:
        return
    expected = companion.expect(other.document)
    check = _Check(judged, other, companion, expected, Digests())
    with check.references:
        yield from check.records()
        # What is broken may be what would be missed; an empty file says so itself.
        if (
            judged.whole
            and check.count
            and not (check.broken and companion.counts_names)
        ):
            yield from check.closing()
        yield from check.unknown_references()


@dataclass(slots=True)
class _Check:
    """One file against its companion."""

    judged: Judged
    other: Other
    companion: Companion
    expected: Any
    #: Digests of what its records refer to.
    references: Digests
    count: int = 0
    names: list[str] = field(default_factory=list)
    #: Where the first record begins.
    start: Cursor | None = None
    #: Whether some records do not parse.
    broken: bool = False

    def records(self) -> Iterator[Problem]:
        """Yield where records disagree with what is expected."""
        for each in self._records():
            self.start = self.start or each.start
            self.count = each.number
            value = each.value()
            if not isinstance(value, dict):
                self.broken = True
                continue
            self.names += self.companion.names(value)
            self.references.add(_id_of(value, self.companion.refers_by))
            for remark in self.companion.remarks(self.expected, value):
                yield from self._said(each, value, remark)

    def closing(self) -> Iterator[Problem]:
        """Yield where the file as a whole does."""
        seen = FileSummary(self.count, tuple(self.names), self._digest())
        speaker = self.judged.speaker
        for remark in self.companion.closing(self.expected, seen):
            if self.companion.closing_there:
                yield from self._say(remark, self._row_there())
            else:
                place = speaker.place(self.start or Cursor())
                yield from speaker.say(remark.code, remark.message, remark.help, place)

    def unknown_references(self) -> Iterator[Problem]:
        """Yield the records that refer to a record that the other file has not."""
        say = self.companion.no_such_record
        if say is None:
            return
        missing = self.references.missing_from(self.other.ids).digests
        if not missing:
            return
        for each in self._records():
            value = each.value()
            for text in _id_of(value, self.companion.refers_by):
                if digest_of(text) in missing:
                    yield from self._said(each, value, say())

    def _records(self) -> Iterator[NumberedRecord]:
        """Yield the records that were judged."""
        found = numbered_records(self.judged.frames())
        return takewhile(lambda each: each.number <= self.judged.until, found)

    def _digest(self) -> str | None:
        algorithm = self.companion.algorithm(self.expected)
        if not algorithm:
            return None
        digest = hashlib.new(algorithm, usedforsecurity=False)
        for block in RereadableSource(self.judged.source).blocks():
            digest.update(block)
        return digest.hexdigest()

    def _said(
        self, record: NumberedRecord, value: Any, remark: Remark
    ) -> Iterator[Problem]:
        """Say a remark on a record."""
        speaker = self.judged.speaker
        if remark.code not in speaker.rules:
            return
        if speaker.is_error(remark.code):
            self.judged.outcomes.note_wrong(record.number)
        id_key = self.judged.variant.format.id_key
        row = Row(speaker.path, record.text, record.start, record.number, value, id_key)
        yield from self._say(remark, row)

    def _say(self, remark: Remark, row: Row) -> Iterator[Problem]:
        speaker = self.judged.speaker
        if remark.code in speaker.rules:
            finding = Finding(remark.code, 0, remark, row.value)
            schema: Schema = True
            yield from speaker.findings([finding], lambda _: row, schema)

    def _row_there(self) -> Row:
        """Return the document of the other file."""
        header = self.other.header
        start, value = header.pieces[0][1], self.other.document
        return Row(
            self.other.path, header.text, start, None, value, pieces=header.pieces
        )
