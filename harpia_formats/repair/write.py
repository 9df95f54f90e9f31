"""Write a repaired file: all of it, or nothing."""

from collections.abc import Iterable

from harpia_formats.io.open_sink import open_sink


def write_file(place: str, blocks: Iterable[bytes], *, overwrite: bool) -> None:
    """Write a file; raises `SinkError`, and what reading `blocks` raises."""
    sink = open_sink(place, overwrite=overwrite)
    try:
        for data in blocks:
            sink.write(data)
        sink.commit()
    except BaseException:
        sink.discard()
        raise
