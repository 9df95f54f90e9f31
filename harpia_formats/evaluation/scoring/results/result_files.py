"""The result files of a run: their formats by name, and how they appear together."""

from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import Any

from harpia_formats.conversion.options import Output
from harpia_formats.conversion.output_files import MODEL, check_output
from harpia_formats.evaluation.scoring.results.result_format import ResultFormat, Write
from harpia_formats.files.io.outputs import FilesRead, OutputGroup
from harpia_formats.files.io.sink import Sink, SinkError, StreamSink, standard_output
from harpia_formats.files.io.urls import masked, sibling_of
from harpia_formats.formats.extensions import imported
from harpia_formats.formats.registry import FAMILIES, UnknownFormat, result_formats


def result_format_named(name: str) -> ResultFormat:
    """Return the result format with this id or family; raises `UnknownFormat`."""
    found = result_formats()
    # The first version of a family is written, as in a conversion.
    members = FAMILIES.get(name, ())
    first = next((member for member in members if member in found), name)
    if first not in found:
        raise UnknownFormat(name, tuple(found), "of results ")
    results: ResultFormat = imported(found[first])
    return results


class ResultFiles:
    """The result files of a run, which appear only when all of them are complete."""

    def __init__(
        self, output: Output, *, overwrite: bool, reads: FilesRead | None = None
    ) -> None:
        #: The name of the first file, None for standard output or a stream.
        self.name: str | None = None
        self._stream: Any = None
        if not isinstance(output, (str, PathLike)):
            self._stream = output
        elif fspath(output) != "-":
            self.name = fspath(output)
        self._overwrite = overwrite
        self._reads = reads
        self._group = OutputGroup(overwrite=overwrite, reads=reads)
        self._first: Sink | None = None
        self._names: list[str] = []

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of earlier runs that were killed."""
        return self._group.notes

    def check(self) -> None:
        """Raise `SinkError` if the first file exists, is read, or is one per model."""
        if self.name is not None and MODEL in self.name:
            reason = f"scores of all models are in one file; name it without {MODEL}"
            raise SinkError(masked(self.name), reason)
        check_output(self.name, overwrite=self._overwrite)
        if self.name is not None and self._reads is not None:
            self._reads.check(self.name)

    def write(self, data: bytes) -> None:
        """Append bytes to the first file; raises `SinkError`."""
        if self._first is None and self.name is not None:
            self._first = self._opened(self.name)
        elif self._first is None:
            self._first = StreamSink(self._stream or standard_output())
            self._group.add_stream(self._first)
        self._first.write(data)

    def _opened(self, place: str) -> Sink:
        self._group.claim(place)
        sink = self._group.open(place)
        self._names.append(place)
        return sink

    def sibling(self, name: str) -> Write:
        """Return the `write` of another file, in the folder of the first file.

        Raises `SinkError` if it already exists, if it is the first file, or if the
        first file has no name.
        """
        if self.name is None:
            raise SinkError(name, "has no folder; name a file with `--output`")
        place = sibling_of(self.name, name)
        check_output(place, overwrite=self._overwrite)
        return self._opened(place).write

    def check_apart(self, found: Iterable[str]) -> None:
        """Raise `SinkError` if an output is one of the files that the run `found`."""
        self._group.check_apart(found)

    def commit(self) -> tuple[str, ...]:
        """Move all files to their final names, and return those.

        Raises `SinkError`; in that case no new file remains.
        """
        self._group.commit()
        return tuple(map(masked, self._names))

    def discard(self) -> None:
        """Delete everything that was written."""
        self._group.discard()
