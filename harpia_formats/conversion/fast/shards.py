"""Convert one large file of lines in several processes, its rows in order."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.conversion.fast.block_files import MOST, block_of, give_back
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
from harpia_formats.workers.pool import AHEAD, WorkerPool
from harpia_formats.workers.same_file import FileFingerprint

if TYPE_CHECKING:  # most files are too small for it
    from harpia_formats.conversion.fast.shard_worker import Done, Job

#: Where Linux has files in memory.
MEMORY = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: Bytes of a file that are worth a second process.
WORTH = 3 * RANGE
#: Bytes of a range for others than processes of ours: each costs its scheduler some.
FAR = 4 * RANGE


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a file come from, and where they are put for us."""

    origin: Path | RemoteFile
    #: A folder, "" where there is none that those who work have, too.
    folder: str
    #: The file as those who work elsewhere must see it.
    fingerprint: FileFingerprint | None


@dataclass(slots=True)
class Shards:
    """The ranges of one file after the other, and who does the work on them."""

    pool: WorkerPool
    #: Returns what is to be done with rows of a format, if it can be done in ranges.
    job_for: "Callable[[FormatVariant, Place], Job | None]"
    #: Called with what became of a range, its rows, where it begins and the records
    #: before it.
    deliver: "Callable[[Done, Iterable[bytes], Cursor, int], None]"
    #: Tells whether rows must know the numbers of their records.
    counts: Callable[[], bool]
    #: Returns how many records there were so far, in all files.
    records: Callable[[], int]
    size: int = 0
    _job: "Job | None" = None
    _origin: Path | RemoteFile = field(default_factory=Path)
    _folder: str = ""

    def suits(self, source: Source) -> bool:
        """Tell whether a source is a large plain file of lines."""
        if isinstance(source.origin, RemoteFile) and not self.pool.is_far:
            return False
        size = splittable_size(source.origin)
        if size is None or size < WORTH:
            return False
        self.size = size
        return is_plain_lines(source)

    def ranges(
        self, name: str, origin: Path | RemoteFile
    ) -> "Iterator[tuple[LineRange, Done | None]]":
        """Yield the ranges of a file with what became of them.

        The first is handed out undone; what is to be done is told by `begin` then.
        Raises `SourceError` and `EngineError`.
        """
        self._job, self._origin = None, origin
        if self.pool.is_far:
            self.pool.see(origin)
        with temporary_folder(self._memory()) as folder:
            # On other machines there is no such place: then rows come back as bytes.
            # Who sees no file of ours has no folder of ours either.
            is_seen = (
                not self.pool.is_far or self.pool.fingerprint_of(origin) is not None
            )
            self._folder = folder if is_seen and self.pool.shares(folder) else ""
            yield from self._ranges(name)

    def _ranges(self, name: str) -> "Iterator[tuple[LineRange, Done | None]]":
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
        from harpia_formats.conversion.fast.shard_worker import converted  # noqa: PLC0415 - likewise
        from harpia_formats.workers.ordered import ordered  # noqa: PLC0415 - for large files only

        try:
            works = self._numbered(rest, job)
            for work, parts in ordered(self.pool, converted, job, works):
                yield from parts or [(work, None)]
                for file in {done.file for _, done in parts or () if done} - {""}:
                    give_back(Path(file))
        finally:
            # The processes for the next file know what was learned of it.
            self.pool.rest()

    def _cut(self, name: str, begin: int) -> Iterator[tuple[int, int]]:
        """Yield where ranges begin and end; raises `SourceError`."""
        size = FAR if self.pool.is_far else 0
        try:
            yield from line_ranges(self._origin, begin, size)
        except OSError as error:
            raise SourceError(name, error_reason(error)) from error

    def _first_end(self) -> int:
        """Return the end of as many lines as the format is told from, and no more."""
        head = read_range(self._origin, 0, SAMPLE_BYTES)
        at = 0
        for _ in range(SAMPLE_RECORDS + 1):
            at = head.find(b"\n{", at) + 1
            if not at:
                return next(line_ranges(self._origin, 0))[1]
        return at

    def _memory(self) -> str | None:
        """Return a folder in memory if there is one with room, None for the usual."""
        try:
            room = shutil.disk_usage(MEMORY).free
        except OSError:
            return None
        size = FAR if self.pool.is_far else RANGE
        needed = MOST * size * (AHEAD + 1) * self.pool.room // AHEAD
        return MEMORY if room > needed and os.access(MEMORY, os.W_OK) else None

    def begin(self, variant: FormatVariant) -> None:
        """Say what the first range was."""
        place = Place(
            self._origin, self._folder, self.pool.fingerprint_of(self._origin)
        )
        self._job = self.job_for(variant, place)

    def _numbered(
        self, ranges: Iterator[tuple[int, int]], job: "Job"
    ) -> Iterator[LineRange]:
        """Yield ranges with the records before them, where anybody wants to know.

        Each line is taken for a record: where that is wrong, `if_right` tells.
        """
        before = self.records()
        counted = self._counted(ranges, job)
        for number, (begin, end, lines) in enumerate(counted):
            # No more ranges than that are under way.
            yield LineRange(begin, end, before, number % (AHEAD * self.pool.jobs or 1))
            before += lines

    def _counted(
        self, ranges: Iterator[tuple[int, int]], job: "Job"
    ) -> Iterator[tuple[int, int, int]]:
        """Yield ranges with their lines, or with 0 where nobody wants to know."""
        if not self.counts():
            yield from ((*each, 0) for each in ranges)
            return
        if not self.pool.is_far:
            for each in ranges:
                yield *each, sum(map(count_newlines, range_blocks(self._origin, *each)))
            return
        from harpia_formats.conversion.fast.shard_worker import lines_of_range  # noqa: PLC0415 - likewise
        from harpia_formats.workers.ordered import ordered  # noqa: PLC0415 - as above

        # The bytes may lie elsewhere, so they are counted there.
        for (begin, end), lines in ordered(self.pool, lines_of_range, job, ranges):
            yield begin, end, lines or 0

    def rows_of(self, work: LineRange, done: "Done") -> Iterator[bytes]:
        """Yield the rows that a range became, a piece at a time."""
        block = Path(done.file) if done.file else block_of(self._folder, work)
        if block is None or not done.size:
            yield done.rows
            return
        yield from range_blocks(block, done.begin, done.begin + done.size)

    def if_right(self, work: LineRange, done: "Done | None") -> "Done | None":
        """Return what became of a range if it was told the right number of records.

        Otherwise it is forgotten, to be done again.
        """
        if done is None or not self.counts() or work.before == self.records():
            return done
        return None
