"""Convert one large file of lines in several processes, its rows in order."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from harpia_formats.bytestream import SourceError
from harpia_formats.compression import LONGEST_MAGIC, codec_of
from harpia_formats.detection import Variant
from harpia_formats.framing import Cursor, lines_in
from harpia_formats.layout import Layout, opening_of
from harpia_formats.naming import plain_name
from harpia_formats.ranges import AHEAD, RANGE, Range, bytes_of, ranges_of
from harpia_formats.recognition import HEAD_BYTES, HEAD_RECORDS
from harpia_formats.row_blocks import MOST, block_of
from harpia_formats.source import Source

if TYPE_CHECKING:  # most files are too small for it
    from harpia_formats.shards import Done, Job

#: Where Linux has files in memory.
MEMORY = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: Bytes of a file that are worth a second process.
WORTH = 3 * RANGE


@dataclass(slots=True)
class Shards:
    """The ranges of one file after the other, and who does the work on them."""

    jobs: int
    #: Returns what is to be done with rows of a format, if it can be done in ranges.
    job_for: "Callable[[Variant, Path, str], Job | None]"
    #: Called with what became of a range, its rows, where it begins and the records
    #: before it.
    deliver: "Callable[[Done, bytes, Cursor, int], None]"
    #: Tells whether rows must know the numbers of their records.
    counts: Callable[[], bool]
    #: Returns how many records there were so far, in all files.
    records: Callable[[], int]
    size: int = 0
    _job: "Job | None" = None
    _path: Path = field(default_factory=Path)
    _folder: str = ""

    def suits(self, source: Source) -> bool:
        """Tell whether a source is a large plain file of lines."""
        origin = source.origin
        if self.jobs < 2 or not isinstance(origin, Path) or not origin.is_file():  # noqa: PLR2004 - two are several
            return False
        self.size = origin.stat().st_size
        if self.size < WORTH or plain_name(source.name).endswith(".csv"):
            return False
        try:
            head = bytes_of(origin, 0, HEAD_BYTES)
            if codec_of(source.name, head[:LONGEST_MAGIC]) is not None:
                return False
        except (OSError, SourceError):
            return False
        return opening_of(iter([head])).layout is Layout.LINES

    def ranges(self, path: Path) -> "Iterator[tuple[Range, Done | None]]":
        """Yield the ranges of a file with what became of them.

        The first is handed out undone; what is to be done is told by `begin` then.
        """
        with TemporaryDirectory(prefix="harpia-formats-", dir=self._place()) as folder:
            yield from self._ranges(path, folder)

    def _ranges(self, path: Path, folder: str) -> "Iterator[tuple[Range, Done | None]]":
        self._job, self._path, self._folder = None, path, folder
        begin = self._first_end(path)
        yield Range(0, begin), None
        rest = ranges_of(path, begin)
        job = self._job
        if job is None:
            for one, end in rest:
                yield Range(one, end), None
            return
        from harpia_formats.pool import in_order, pool_of  # noqa: PLC0415 - for large files only

        works = self._numbered(rest)
        with pool_of(self.jobs) as pool:
            yield from in_order(pool, job, works, self.jobs)

    def _first_end(self, path: Path) -> int:
        """Return the end of as many lines as the format is told from, and no more."""
        head = bytes_of(path, 0, HEAD_BYTES)
        at = 0
        for _ in range(HEAD_RECORDS + 1):
            at = head.find(b"\n{", at) + 1
            if not at:
                return next(ranges_of(path, 0))[1]
        return at

    def _place(self) -> str | None:
        """Return a folder in memory if there is one with room, None for the usual."""
        try:
            room = shutil.disk_usage(MEMORY).free
        except OSError:
            return None
        needed = MOST * RANGE * (AHEAD + 1) * self.jobs
        return MEMORY if room > needed and os.access(MEMORY, os.W_OK) else None

    def begin(self, variant: Variant) -> None:
        """Say what the first range was."""
        self._job = self.job_for(variant, self._path, self._folder)

    def _numbered(self, ranges: Iterator[tuple[int, int]]) -> Iterator[Range]:
        """Yield ranges with the records before them, where anybody wants to know.

        Each line is taken for a record: where that is wrong, `if_right` tells.
        """
        before = self.records()
        for number, (begin, end) in enumerate(ranges):
            # No more ranges than that are under way.
            yield Range(begin, end, before, number % (AHEAD * self.jobs))
            if self.counts():
                before += lines_in(bytes_of(self._path, begin, end))

    def rows_of(self, work: Range, done: "Done") -> bytes:
        """Return the rows that a range became."""
        if not done.size:
            return b""
        return bytes_of(block_of(self._folder, work), 0, done.size)

    def if_right(self, work: Range, done: "Done | None") -> "Done | None":
        """Return what became of a range if it was told the right number of records.

        Otherwise it is forgotten, to be done again.
        """
        if done is None or not self.counts() or work.before == self.records():
            return done
        return None
