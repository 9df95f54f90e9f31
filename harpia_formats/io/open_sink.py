"""Open the sink for a path or the address of a remote file."""

from pathlib import Path

from harpia_formats.io.file_sink import FileSink
from harpia_formats.io.sink import Sink
from harpia_formats.io.urls import is_url


def open_sink(place: str) -> Sink:
    """Return a sink for the local path or the URL `place`; raises `SinkError`."""
    if is_url(place):
        from harpia_formats.io.remote.sink import RemoteSink  # noqa: PLC0415 - for remote files only

        return RemoteSink(place)
    return FileSink(Path(place))
