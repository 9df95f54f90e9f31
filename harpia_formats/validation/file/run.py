"""Inspect one file from its beginning to its end, and say how far it was read."""

from collections.abc import Callable, Iterable, Iterator

from harpia_formats.detection.read_blocks import ReadBlocks
from harpia_formats.io.reader import SourceError
from harpia_formats.io.reread import RereadableSource
from harpia_formats.io.source import Source, open_source
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.file.validator import Inspection


def inspected(
    source: Source,
    inspection: Inspection,
    count: FileCount,
    finish: Callable[[], Iterable[Problem]] = tuple,
) -> Iterator[Problem]:
    """Yield what is wrong with a file, and what `finish` adds while it is open."""
    try:
        with RereadableSource(source) as again, open_source(source) as reader:
            blocks = ReadBlocks(reader, count, again.copy)
            yield from inspection.problems(blocks, count, again)
            yield from finish()
    except SourceError as error:
        count.reason = error.reason
        return
    if inspection.stopped:
        return
    count.complete = blocks.error is None
    if blocks.error is not None:
        where = _broken_off(count, inspection.last_line)
        count.reason = f"{blocks.error.reason}{where}"


def _broken_off(count: FileCount, last_line: int) -> str:
    """Say how far a file was read, if anything of it was."""
    if not count.bytes:
        return ""
    if not last_line:
        return " (before the end of the first record)"
    records = f"{count.records:,} record{'s' * (count.records != 1)}"
    return f" (after {records}, the last in line {last_line:,})"
