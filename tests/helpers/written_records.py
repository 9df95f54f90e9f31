"""Records as the lines of JSON that they are written as."""

import io
from collections.abc import Iterable

from harpia_formats import Record, write


def written(records: Iterable[Record]) -> bytes:
    """Return records as JSON Lines, in which equal records are equal bytes."""
    output = io.BytesIO()
    write(records, to="record", output=output)
    return output.getvalue()
