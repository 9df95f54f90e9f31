"""Records out of any inputs, and back into lines of text, for programs."""

import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO, cast

from harpia_formats.model.exact_json import encode
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
from harpia_formats.reading.reader import Reading
from harpia_formats.reading.record_stream import PlacedRecord


def records_in(
    inputs: Iterable[Any],
    format_: str | None,
    *,
    columns: Mapping[str, str] | None = None,
    **limits: Any,
) -> Iterator[Record]:
    """Yield the records of `inputs`.

    Raises what `Reading` raises at once, `ConversionError` for a document without
    records and `ValidationFailed` for what is no record, or cannot be read.
    """
    reading = Reading(inputs, format_, columns=columns, **limits)
    return _records(reading)


def _records(reading: Reading) -> Iterator[Record]:
    taken: deque[PlacedRecord] = deque()
    problems: list[Problem] = []
    for found in reading.steps(taken.append, lambda *_: None, lambda _: None):
        problems += found
        while taken:
            yield taken.popleft().record
    while taken:
        yield taken.popleft().record
    report = replace(reading.tally.report(), problems=tuple(problems))
    report.raise_for_errors()


class _Lines(io.RawIOBase):
    """A stream of records as lines of JSON, which are made as they are read."""

    name = "<records>"

    def __init__(self, records: Iterable[Record]) -> None:
        self._lines = (encode(each) + b"\n" for each in records)
        self._held = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, none at the end."""
        while len(self._held) < size or size < 0:
            line = next(self._lines, b"")
            if not line:
                break
            self._held += line
        end = len(self._held) if size < 0 else size
        piece, self._held = self._held[:end], self._held[end:]
        return piece


def lines_of(records: Iterable[Record]) -> BinaryIO:
    """Return records as an open file of lines."""
    return cast("BinaryIO", _Lines(records))
