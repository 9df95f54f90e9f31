"""Convert one large file of lines in several processes, and keep its rows in order."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.conversion.parallel.row_files import (
    MAX_GROWTH,
    range_file,
    release_file,
)
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.sample import SAMPLE_BYTES, SAMPLE_RECORDS
from harpia_formats.detection.splittable import is_plain_lines, splittable_size
from harpia_formats.framing.byte_ranges import (
    RANGE,
    LineRange,
    line_ranges,
    range_blocks,
    read_range,
)
from harpia_formats.framing.chunk import Cursor, count_newlines
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source
from harpia_formats.io.temp_folder import temporary_folder
from harpia_formats.workers.ordered import map_ordered
from harpia_formats.workers.pool import TASKS_PER_WORKER, WorkerPool
from harpia_formats.workers.same_file import FileFingerprint

if TYPE_CHECKING:  # most files are too small to be converted in ranges
    from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedPart

#: The folder of files in memory on Linux.
MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: The size in bytes from which a file is worth a second process.
MIN_FILE_BYTES = 3 * RANGE
#: The size in bytes of a range for other machines; each range costs a scheduler time.
REMOTE_RANGE_BYTES = 4 * RANGE


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """The file that is converted, and the folder for its rows."""

    origin: Path | RemoteFile
    #: The folder for files of rows, "" if workers may not see it.
    folder: str
    #: The fingerprint of the file, if workers may see another file.
    fingerprint: FileFingerprint | None


@dataclass(slots=True)
class LargeFileConversion:
    """Converts the ranges of one file after the other with a pool of workers."""

    pool: WorkerPool
    #: Returns the job for rows of a format, None if they cannot be converted in ranges.
    job_for: "Callable[[FormatVariant, ConvertedFile], ConversionJob | None]"
    #: Called with a converted part, its rows, where it begins, and the number of
    #: records before it.
    deliver: "Callable[[ConvertedPart, Iterable[bytes], Cursor, int], None]"
    #: Tells whether rows need the numbers of their records.
    counts: Callable[[], bool]
    #: Returns the number of records so far, in all files.
    records: Callable[[], int]
    size: int = 0
    _job: "ConversionJob | None" = None
    _origin: Path | RemoteFile = field(default_factory=Path)
    _folder: str = ""

    def suits(self, source: Source) -> bool:
        """Tell whether a source is a large uncompressed file of lines."""
        if isinstance(source.origin, RemoteFile) and not self.pool.is_far:
            return False
        size = splittable_size(source.origin)
        if size is None or size < MIN_FILE_BYTES:
            return False
        self.size = size
        return is_plain_lines(source)

    def ranges(
        self, name: str, origin: Path | RemoteFile
    ) -> "Iterator[tuple[LineRange, ConvertedPart | None]]":
        """Yield the ranges of a file, each with its converted part.

        None stands for a range that the caller has to convert. That is the first, after
        which the caller calls `begin`. Raises `SourceError` and `EngineError`.
        """
        self._job, self._origin = None, origin
        if self.pool.is_far:
            self.pool.check_visible(origin)
        with temporary_folder(self._memory_folder()) as folder:
            # A machine that does not see the file has no such folder either: then the
            # rows come back as bytes.
            is_seen = (
                not self.pool.is_far or self.pool.fingerprint_of(origin) is not None
            )
            self._folder = folder if is_seen and self.pool.shares_folder(folder) else ""
            yield from self._ranges(name)

    def _ranges(self, name: str) -> "Iterator[tuple[LineRange, ConvertedPart | None]]":
        try:
            begin = self._first_end()
        except OSError as error:
            raise SourceError(name, error_reason(error)) from error
        yield LineRange(0, begin), None
        rest = self._cut(name, begin)
        job = self._job
        if job is None:
            for one, end in rest:
                yield LineRange(one, end), None
            return
        from harpia_formats.conversion.parallel.worker import convert_range  # noqa: PLC0415 - it loads validation; the first range may rule a job out

        try:
            works = self._numbered(rest, job)
            for work, parts in map_ordered(self.pool, convert_range, job, works):
                yield from parts or [(work, None)]
                for file in {part.file for _, part in parts or () if part} - {""}:
                    release_file(Path(file))
        finally:
            # Processes that start for the next file know the templates of this one.
            self.pool.reset()

    def _cut(self, name: str, begin: int) -> Iterator[tuple[int, int]]:
        """Yield the begin and the end of each range; raises `SourceError`."""
        size = REMOTE_RANGE_BYTES if self.pool.is_far else 0
        try:
            yield from line_ranges(self._origin, begin, size)
        except OSError as error:
            raise SourceError(name, error_reason(error)) from error

    def _first_end(self) -> int:
        """Return the end of the lines from which the format is recognised."""
        sample = read_range(self._origin, 0, SAMPLE_BYTES)
        at = 0
        for _ in range(SAMPLE_RECORDS + 1):
            at = sample.find(b"\n{", at) + 1
            if not at:
                return next(line_ranges(self._origin, 0))[1]
        return at

    def _memory_folder(self) -> str | None:
        """Return a folder in memory with enough space, None if there is none."""
        try:
            free = shutil.disk_usage(MEMORY_FOLDER).free
        except OSError:
            return None
        size = REMOTE_RANGE_BYTES if self.pool.is_far else RANGE
        needed = (
            MAX_GROWTH
            * size
            * (TASKS_PER_WORKER + 1)
            * self.pool.max_pending
            // TASKS_PER_WORKER
        )
        has_access = os.access(MEMORY_FOLDER, os.W_OK)
        return MEMORY_FOLDER if free > needed and has_access else None

    def begin(self, variant: FormatVariant) -> None:
        """Make the job, given the format that was recognised from the first range."""
        source = ConvertedFile(
            self._origin, self._folder, self.pool.fingerprint_of(self._origin)
        )
        self._job = self.job_for(variant, source)

    def _numbered(
        self, ranges: Iterator[tuple[int, int]], job: "ConversionJob"
    ) -> Iterator[LineRange]:
        """Yield ranges with the number of records before them, if that is needed.

        Each line counts as a record; `if_right` finds ranges where that is wrong.
        """
        before = self.records()
        counted = self._counted(ranges, job)
        for number, (begin, end, lines) in enumerate(counted):
            # So many ranges are being converted at most.
            yield LineRange(
                begin, end, before, number % (TASKS_PER_WORKER * self.pool.jobs or 1)
            )
            before += lines

    def _counted(
        self, ranges: Iterator[tuple[int, int]], job: "ConversionJob"
    ) -> Iterator[tuple[int, int, int]]:
        """Yield ranges with the number of their lines, 0 if that is not needed."""
        if not self.counts():
            yield from ((begin, end, 0) for begin, end in ranges)
            return
        if not self.pool.is_far:
            for begin, end in ranges:
                blocks = range_blocks(self._origin, begin, end)
                yield begin, end, sum(map(count_newlines, blocks))
            return
        from harpia_formats.conversion.parallel.worker import count_lines  # noqa: PLC0415 - it loads validation; most runs count nothing

        # The bytes may be on another machine, so they are counted there.
        for (begin, end), lines in map_ordered(self.pool, count_lines, job, ranges):
            yield begin, end, lines or 0

    def rows_of(self, work: LineRange, part: "ConvertedPart") -> Iterator[bytes]:
        """Yield the rows of a converted part, in pieces."""
        file = Path(part.file) if part.file else range_file(self._folder, work)
        if file is None or not part.size:
            yield part.rows
            return
        yield from range_blocks(file, part.begin, part.begin + part.size)

    def if_right(
        self, work: LineRange, part: "ConvertedPart | None"
    ) -> "ConvertedPart | None":
        """Return a part if its worker was given the right number of records.

        Otherwise return None, so that it is converted again.
        """
        if part is None or not self.counts() or work.before == self.records():
            return part
        return None
