"""An output that is written for a test, which may act before it is complete."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harpia_formats import Record, write

#: Records of which some are written before the last one is read.
MANY = 6_000


def write_output(
    place: Path | str,
    last: Callable[[], object] | None = None,
    *,
    prompt: str = "q",
    **options: Any,
) -> Any:
    """Write records to a path or URL, and return the report; by default replace it.

    One record is written, or MANY if `last` is given, which is called when only the
    last of them are still to be written.
    """

    def records() -> Iterator[Record]:
        for number in range(MANY if last else 1):
            yield Record(id=number, prompt=prompt)
        if last:
            last()

    options = {"overwrite": True, **options}
    return write(records(), to="record", output=place, **options)


def bytes_of_output(count: int = 1) -> bytes:
    """Return what `write_output` writes of so many records, without compression."""
    stream = io.BytesIO()
    found = (Record(id=number, prompt="q") for number in range(count))
    write(found, to="record", output=stream)
    return stream.getvalue()
