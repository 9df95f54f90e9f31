"""Write a whole file, local or remote: all of it, or nothing."""

from collections.abc import Iterable

from harpia_formats.files.io.open_sink import open_sink


def write_file(place: str, blocks: Iterable[bytes], *, overwrite: bool) -> None:
    """Write `blocks` to a path or URL, whose file appears complete or not at all.

    Raises `SinkError`, also if there is a file already, unless `overwrite`, and what
    reading `blocks` raises.
    """
    sink = open_sink(place, overwrite=overwrite)
    try:
        for data in blocks:
            sink.write(data)
        sink.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        sink.discard()
        raise
