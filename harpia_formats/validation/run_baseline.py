"""The baseline that a run is compared with, and the one that it writes."""

import os
from collections.abc import Iterable, Iterator
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most runs have none: start-up time
    from harpia_formats.validation.baselines.known import KnownFindings


class RunBaseline:
    """The baselines of one run: the known findings, and where new ones are written.

    Raises `BaselineError` if the one cannot be read, or the other not be replaced.
    """

    def __init__(
        self, options: Options, outputs: frozenset[Path] = frozenset()
    ) -> None:
        """Take the options of the run, and the absolute paths of its other outputs."""
        given = (options.baseline, options.write_baseline)
        self._read, self._written = (path and fspath(path) for path in given)
        self._paths = {path for path in given if path}
        self._no_data = {os.path.realpath(path) for path in (*self._paths, *outputs)}
        self._names = {os.path.basename(path) for path in self._no_data}  # noqa: PTH119 - many times as fast
        self._may_be_empty = options.allow_no_files
        #: The findings that are not reported, None without a baseline.
        self.known = self._known()
        #: The findings in the baseline that was written, None if none was.
        self.total: int | None = None
        #: The files with records or errors that the written baseline cannot hold.
        self.unheld: tuple[str, ...] = ()

    def _known(self) -> "KnownFindings | None":
        """Return what is read, None if nothing is; check what is written."""
        if not self._paths:
            return None
        from harpia_formats.validation.baselines.known import (  # noqa: PLC0415 - only with a baseline: start-up time
            KnownFindings,
            check_replaceable,
        )

        if self._written:
            check_replaceable(self._written)
        return KnownFindings(self._read) if self._read else None

    @property
    def more_examples(self) -> int:
        """How many more findings of a group are described, to see those beyond it."""
        return 0 if self.known is None else self.known.most

    def data_files(
        self, sources: Iterable[Source | SourceError]
    ) -> Iterable[Source | SourceError]:
        """Return `sources` without baselines and outputs in a folder of data."""
        return self._without_outputs(sources) if self._no_data else sources

    def _without_outputs(
        self, sources: Iterable[Source | SourceError]
    ) -> Iterator[Source | SourceError]:
        last: Source | None = None
        is_empty = True
        for source in sources:
            if isinstance(source, Source) and self._is_output(source):
                last = source
            else:
                is_empty = False
                yield source
        if is_empty and last is not None and not self._may_be_empty:
            reason = "is written by this run and no data, and there is no other file"
            yield SourceError(last.name, reason)

    def _is_output(self, source: Source) -> bool:
        """Return whether a file in a folder is a baseline, or written by the run."""
        origin = source.origin
        return (
            source.is_found
            and isinstance(origin, Path)
            and origin.name in self._names
            and os.path.realpath(origin) in self._no_data
        )

    def write(self, tally: Tally) -> None:
        """Write the baseline, if one is asked for and all files could be read.

        Raises `BaselineError` or `SinkError` if it cannot be written.
        """
        if not self._written:
            return
        report = tally.report()
        if report.failures:
            return
        from harpia_formats.validation.baselines.known import (  # noqa: PLC0415 - only with a baseline: start-up time
            found_baseline,
            key_of,
            unheld_files,
            write_baseline,
        )

        name = self._written
        found = found_baseline(tally.found(), name)
        if self.known is not None:
            seen: dict[str, set[str]] = {}
            for path, rules in tally.checked():
                seen.setdefault(key_of(path, name), set()).update(rules)
            found = self.known.still_found(found, seen, name)
        write_baseline(name, found)
        self.total = found.total
        self.unheld = unheld_files(report)
