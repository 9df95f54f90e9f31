"""Open the sink for a path or the address of a remote file."""

from pathlib import Path

from harpia_formats.files.io.file_sink import FileSink
from harpia_formats.files.io.sink import Sink
from harpia_formats.files.io.urls import is_url


def open_sink(place: str, *, overwrite: bool) -> Sink:
    """Return a sink for the local path or the URL `place`.

    Unless `overwrite`, its `commit` fails if there is a file by then. Raises
    `SinkError`.
    """
    if is_url(place):
        from harpia_formats.files.io.remote.sink import RemoteSink  # noqa: PLC0415 - for remote files only

        return RemoteSink(place, overwrite=overwrite)
    return FileSink(Path(place), overwrite=overwrite)
