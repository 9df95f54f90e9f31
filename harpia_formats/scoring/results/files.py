"""The result files of a run, which appear together once all are complete."""

from os import PathLike, fspath
from os.path import lexists
from pathlib import Path

from harpia_formats.conversion.options import Output
from harpia_formats.conversion.output_files import check_output, standard_output
from harpia_formats.io.open_sink import open_sink
from harpia_formats.io.sink import Sink, SinkError, StreamSink
from harpia_formats.io.urls import is_url, masked, sibling_of
from harpia_formats.scoring.results.format import Write


class ResultFiles:
    """The result files of a run, which appear only when all of them are complete."""

    def __init__(self, output: Output, *, overwrite: bool) -> None:
        self.name: str | None = None
        self._stream = output
        if isinstance(output, (str, PathLike)):
            self._stream = None
            if fspath(output) != "-":
                self.name = fspath(output)
        self._overwrite = overwrite
        self._sinks: dict[str | None, Sink] = {}

    def check(self) -> None:
        """Raise `SinkError` if the first file already exists."""
        check_output(self.name, overwrite=self._overwrite)

    def write(self, data: bytes) -> None:
        """Append bytes to the first file; raises `SinkError`."""
        sink = self._sinks.get(self.name)
        if sink is None:
            sink = self._sinks[self.name] = self._opened()
        sink.write(data)

    def _opened(self) -> Sink:
        if self.name is not None:
            return open_sink(self.name)
        if self._stream is None or isinstance(self._stream, (str, PathLike)):
            return StreamSink(standard_output())
        return StreamSink(self._stream)

    def beside(self, name: str) -> Write:
        """Return the `write` of another file, in the folder of the first file.

        Raises `SinkError` if it already exists, or if the first file has no name.
        """
        if self.name is None:
            raise SinkError(name, "has no folder; name a file with --output")
        place = sibling_of(self.name, name)
        check_output(place, overwrite=self._overwrite)
        sink = self._sinks[place] = open_sink(place)
        return sink.write

    def commit(self) -> tuple[str, ...]:
        """Move all files to their final names, and return those.

        Raises `SinkError`; in that case no new file remains.
        """
        names = tuple(name for name in self._sinks if name is not None)
        local = [name for name in names if not is_url(name)]
        new = [Path(name) for name in local if not lexists(name)]
        try:
            for sink in self._sinks.values():
                sink.finish()
            for sink in self._sinks.values():
                sink.commit()
        except SinkError:
            self.discard()
            for path in new:
                path.unlink(missing_ok=True)
            raise
        return tuple(map(masked, names))

    def discard(self) -> None:
        """Delete everything that was written."""
        for sink in self._sinks.values():
            sink.discard()
