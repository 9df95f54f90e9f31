"""Do work on a file in whatever process this is, and hand over what it comes to."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from harpia_formats.dedup.duplicate_ids import identity_reader_of
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.splittable import splittable_size
from harpia_formats.framing.byte_buffer import ByteBuffer
from harpia_formats.framing.byte_ranges import RangeReader
from harpia_formats.framing.chunk import Chunk, Frames
from harpia_formats.framing.lines import line_rows
from harpia_formats.io.source import Source
from harpia_formats.model.report import FileCount
from harpia_formats.registry import format_of, rules_of
from harpia_formats.rules import Rule
from harpia_formats.schema.dialect import document_schema
from harpia_formats.validation.file.parts import Part, Parts
from harpia_formats.validation.file.row_validator import Judge
from harpia_formats.validation.file.run import inspected
from harpia_formats.validation.file.validator import Inspection, Rows
from harpia_formats.validation.parallel.messages import (
    File,
    Found,
    FoundFile,
    Job,
    Range,
)
from harpia_formats.validation.parallel.worker_tally import Keys, Notes
from harpia_formats.workers.same_file import unlike

_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_Work = TypeVar("_Work")
_Done = TypeVar("_Done")


@dataclass(slots=True)
class _Worker:
    """What a process needs for the ranges of one job, and keeps for the next."""

    job: Job
    rules: dict[str, Rule]
    variant: FormatVariant | None
    part: Part
    identity: IdentityReader | None


class _Present(threading.local):
    """What a thread of this process works with, for the job that it got last."""

    worker: _Worker | None = None


_present = _Present()


def prepare(job: Job, judge: Judge) -> None:
    """Have processes that begin as copies of this one know what `judge` has learned."""
    worker = _worker_for(job)
    worker.part.judge.learn_from(judge)
    _present.worker = worker


def judged_range(job: Job, work: Range) -> Found | None:
    """Judge some rows; None where that is better done by whoever hands out the work."""
    return _or_none(_range, job, work)


def judged_files(job: Job, work: tuple[File, ...]) -> list[FoundFile | None]:
    """Judge whole files, each from its beginning to its end."""
    return [_or_none(_file, job, each) for each in work]


def _or_none(run: Callable[[Job, _Work], _Done], job: Job, work: _Work) -> _Done | None:
    try:
        return run(job, work)
    except Exception:  # noqa: BLE001 - it happens again where it is done again
        # What is kept may be in the middle of something.
        _present.worker = None
        return None


def _range(job: Job, work: Range) -> Found | None:
    worker = _present.worker
    if worker is None or worker.job.key != job.key:
        if job.fingerprint is not None and unlike(job.fingerprint):
            raise OSError("another file is seen here")
        worker = _present.worker = _worker_for(job)
    worker.part.records = 0
    count, stretch = FileCount(work.name), _stretch(work)
    full = frozenset(work.exemplified)
    notes = Notes(count, job.options.examples, full, enough=work.enough)
    keys = None if worker.identity is None else Keys(worker.identity)
    inspection = Inspection(job.options, worker.rules, notes, (), job.schema)
    frames = _frames(work, stretch, job.options.max_row_bytes)
    rows = Rows(worker.variant, worker.part, frames, keys)
    notes.drain(inspection.of_rows(rows, count))
    if stretch.consumed != stretch.total:
        return None
    first_blank, blanks = inspection.blanks
    return replace(
        notes.found(inspection.outcomes, inspection.last_line),
        lines=stretch.lines,
        first_blank=first_blank,
        blanks=blanks,
        digests=b"" if keys is None else keys.digests.tobytes(),
    )


def _stretch(work: Range) -> RangeReader:
    origin = work.origin
    if isinstance(origin, bytes):
        return RangeReader(work.name, 0, len(origin), origin)
    return RangeReader(work.name, work.at, work.at + work.size, origin)


def _file(job: Job, work: File) -> FoundFile:
    rules = rules_of(job.rules)
    formats = tuple(format_of(each) for each in job.formats)
    count, source = FileCount(work.name), Source(work.name, work.origin)
    if work.size is not None and splittable_size(work.origin) != work.size:
        raise OSError("another file is seen here")
    notes = Notes(count, job.options.examples)
    inspection = Inspection(job.options, rules, notes, formats, job.schema)
    notes.drain(inspected(source, inspection, count))
    if work.size is not None and count.reason is not None:
        raise OSError("it may be read where the work is handed out")
    judged = inspection.judged(source)
    return FoundFile(
        notes.found(inspection.outcomes, inspection.last_line),
        format=count.format,
        dialect=count.dialect,
        bytes=count.bytes,
        complete=count.complete,
        reason=count.reason,
        folded=count.folded,
        variant=_named(inspection),
        until=judged.until if judged is not None else 0,
        whole=judged is not None and judged.whole,
    )


def _named(inspection: Inspection) -> tuple[str, int, str] | None:
    """Return what a file was taken for, and how it was cut, by names."""
    variant, cut = inspection.variant, inspection.cut
    if variant is None:
        return None
    dialects = variant.format.dialects
    return variant.format.id, dialects.index(variant.dialect), cut.name


def _worker_for(job: Job) -> _Worker:
    rules = rules_of(job.rules)
    variant, schema = None, True if job.schema is None else job.schema[1]
    if job.format:
        format_ = format_of(job.format)
        variant = FormatVariant(format_, format_.dialects[job.dialect])
        schema = document_schema(variant.dialect, strict=job.options.strict)
    identity = identity_reader_of(variant) if job.unique else None
    parts = Parts(job.options, rules, variant, schema, identity)
    part = parts.of_records(job.cut)
    return _Worker(job, rules, variant, part, identity)


def _frames(work: Range, stretch: RangeReader, limit: int) -> Frames:
    """Yield the rows of a range."""
    if not work.pieces:
        yield from line_rows(ByteBuffer(iter(stretch)), work.start, limit)
        return
    data, at = b"".join(stretch), 0
    for each in work.pieces:
        text = data[at : at + each.size]
        rows = _rows_in(text) if each.rows else [text]
        if each.rows and len(rows) != each.rows:
            raise ValueError("rows are not cut as they were before")
        yield Chunk(text, each.start, rows)
        at += each.size


def _rows_in(text: bytes) -> list[bytes]:
    """Return the items of an array whose inside is `text`."""
    return [bytes(each) for each in _items(b"".join((b"[", text, b"]")))]
