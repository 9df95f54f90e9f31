"""Write rows into files, with what stood around them."""

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any, cast

from harpia_formats.conversion.output_files import (
    check_output,
    name_of,
)
from harpia_formats.conversion.subsets.cut_file import CutFile, Row
from harpia_formats.files.framing.chunk import JSON_SPACE
from harpia_formats.files.io.compressed_output import suffix_of
from harpia_formats.files.io.files_read import FilesRead
from harpia_formats.files.io.output_group import OutputGroup
from harpia_formats.files.io.sink import Sink, SinkError, StreamSink, standard_output
from harpia_formats.files.io.urls import masked
from harpia_formats.formats.registry import all_unpackers

_table_suffixes = {".parquet", ".arrow", ".feather"}


class RowOutput:
    """Writes rows to one output, each as it was."""

    def __init__(self, name: str, sink: Sink) -> None:
        """Take the name of the output as shown to the user."""
        self.name = name
        #: Rows that were written.
        self.rows = 0
        self._sink = sink
        self._is_begun = False
        self._is_line_open = False

    def row(self, file: CutFile, row: Row) -> None:
        """Write a row of `file`; raises `SinkError`."""
        write = self._sink.write
        if not self.rows:
            write(file.before)
        elif not file.is_terminated:
            write(row.gap or file.separator)
        elif self._is_line_open:
            write(b"\n")
        write(row.text)
        self.rows += 1
        self._is_line_open = file.is_terminated and row.text[-1:] not in {b"\n", b"\r"}

    def end(self, file: CutFile, after: bytes | None = None) -> None:
        """Write what stands behind the rows of `file`, or `after` instead."""
        after = file.after if after is None else after
        if self.rows:
            self._sink.write(after)
        elif after:
            before = file.before.rstrip(JSON_SPACE)
            self._sink.write(before + after.lstrip(JSON_SPACE))
        else:
            self._sink.write(file.before)

    def finish(self) -> None:
        """Write all bytes to the disk, and free the memory of a compressor."""
        self._sink.finish()


class RowOutputs:
    """The outputs of a run: all of them appear, or none."""

    def __init__(
        self, inputs: Iterable[Any], others: Iterable[Any] = (), *, overwrite: bool
    ) -> None:
        """Take the inputs and other files that are read: none of them is written."""
        self._overwrite = overwrite
        reads = FilesRead(inputs, others, unpackers=all_unpackers())
        self.group = OutputGroup(overwrite=overwrite, reads=reads)

    def claim(self, place: str) -> None:
        """Take a path or URL for an output; raises `SinkError` if it cannot be."""
        if suffix_of(masked(place)) in _table_suffixes:
            reason = "rows are written as text; convert --to parquet makes tables"
            raise SinkError(masked(place), reason)
        self.group.claim(place)
        check_output(place, overwrite=self._overwrite)

    def open(self, place: Any) -> RowOutput:
        """Open an output: a place that was claimed, an open file, or None or `-`.

        The last two are standard output. Raises `SinkError`.
        """
        if isinstance(place, (str, PathLike)) and fspath(place) != "-":
            return RowOutput(masked(fspath(place)), self.group.open(fspath(place)))
        is_standard = place is None or isinstance(place, (str, PathLike))
        stream = standard_output() if is_standard else place
        name = "standard output" if is_standard else name_of(place)
        sink = StreamSink(cast("Any", stream), name)
        self.group.add_stream(sink)
        return RowOutput(name, sink)

    def commit(self) -> None:
        """Make all outputs appear; raises `SinkError`."""
        self.group.commit()

    def discard(self) -> None:
        """Remove what was written and has not appeared."""
        self.group.discard()
