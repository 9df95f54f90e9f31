"""The outputs of a run: each has a place of its own, and all appear together."""

import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from harpia_formats.files.io.files_read import FilesRead, is_same_file
from harpia_formats.files.io.open_sink import open_sink
from harpia_formats.files.io.sink import Sink, SinkError
from harpia_formats.files.io.urls import is_url, masked

#: Stands for the place of a stream, of which a run writes one at most.
_STREAM = ""


class OutputGroup:
    """Opens the outputs of a run, and puts them into place once all are complete."""

    def __init__(self, *, overwrite: bool, reads: FilesRead | None = None) -> None:
        """Begin without outputs; none may be one of the files that the run `reads`.

        Unless `overwrite`, `commit` fails if there is a file at a place by then.
        """
        self._overwrite = overwrite
        self._sinks: dict[str, Sink] = {}
        #: The places that are taken.
        self._claimed: dict[str, str] = {}
        self._reads = reads or FilesRead()
        self._others = {_key_of(place) for place in self._reads.named}
        #: What the user should know of earlier runs that were killed.
        self.notes: list[str] = []

    def claim(self, place: str) -> None:
        """Take the path or URL `place`; raises `SinkError` if it is taken, or read."""
        self._reads.check(place)
        key = _key_of(place)
        if key in self._claimed:
            reason = "is named for two outputs of one run"
            raise SinkError(masked(place), reason)
        self._claimed[key] = place

    def check_apart(self, found: Iterable[str]) -> None:
        """Raise `SinkError` if a file that was read is at a place that was claimed.

        It is for files that a run finds by itself.
        """
        for name in found:
            for place in self._claimed.values():
                if is_same_file(name, place):
                    reason = f"is an input, too: {masked(name)}, which the run found"
                    raise SinkError(masked(place), reason)

    def is_free(self, place: str) -> bool:
        """Return whether a name from data may get the path or URL `place`."""
        key = _key_of(place)
        return key not in self._claimed and key not in self._others

    def open(self, place: str) -> Sink:
        """Return a sink for a place that was claimed; raises `SinkError`."""
        sink = self._sinks[place] = open_sink(place, overwrite=self._overwrite)
        self.notes += sink.notes
        return sink

    def add_stream(self, sink: Sink) -> None:
        """Add the sink of an open stream, which has no place."""
        self._sinks[_STREAM] = sink

    def remove(self, place: str) -> None:
        """Remove what was written to a place."""
        sink = self._sinks.pop(place, None)
        if sink is not None:
            sink.discard()

    def commit(self) -> None:
        """Complete all outputs, then put them into place.

        Raises `SinkError`. New files are removed in that case; if files were replaced
        before the error, it names them.
        """
        try:
            for sink in self._sinks.values():
                sink.finish()
        except SinkError:
            self.discard()
            raise
        replaced: list[str] = []
        new: list[Path] = []
        for place, sink in self._sinks.items():
            is_file = place != _STREAM and not is_url(place)
            is_new = is_file and not os.path.lexists(place)
            try:
                sink.commit()
            except SinkError as error:
                self.discard()
                for path in new:
                    path.unlink(missing_ok=True)
                raise _with_replaced(error, replaced) from error
            if is_new:
                new.append(Path(place))
            elif place != _STREAM:
                replaced.append(masked(place))
        self._sinks.clear()

    def discard(self) -> None:
        """Remove everything that was written and is not in place."""
        for sink in self._sinks.values():
            sink.discard()


def _with_replaced(error: SinkError, replaced: list[str]) -> SinkError:
    """Return `error` with the names of the files that were replaced before it."""
    if not replaced:
        return error
    names = ", ".join(replaced)
    return SinkError(error.path, f"{error.reason}; replaced before: {names}")


def _key_of(place: str) -> str:
    """Return a text that is equal for two names of one place.

    Some file systems do not tell upper from lower case, or two Unicode forms of a name.
    """
    if is_url(place):
        return place
    return unicodedata.normalize("NFC", os.path.realpath(place)).casefold()
