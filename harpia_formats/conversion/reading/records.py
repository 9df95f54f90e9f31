"""Iterate over the records of inputs."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
from harpia_formats.validation.redaction import errors_shown, redaction_of

if TYPE_CHECKING:  # most runs show values
    from harpia_formats.validation.redaction.redacted_reports import Redaction


def records_in(inputs: Iterable[Any], options: ReadingOptions) -> Iterator[Record]:
    """Yield the records of `inputs`.

    Raises what `Reading` raises when it is called. While records are read, it raises
    `ConversionError` for a document without records, and at the end `ValidationFailed`
    if a row is not valid or an input cannot be read.
    """
    records = _records(Reading(inputs, options))
    return _without_values(records, redaction_of(options))


def _without_values(
    records: Iterable[Record], redaction: "Redaction | None"
) -> Iterator[Record]:
    """Yield records; errors are raised without values unless `redaction` is None."""
    with errors_shown(redaction):
        yield from records


def _records(reading: Reading) -> Iterator[Record]:
    """Yield the records of a run. Raises `ValidationFailed` at its end."""
    received: deque[PlacedRecord] = deque()
    problems: list[Problem] = []
    for found in reading.steps(received.append, lambda *_: None, lambda _: None):
        problems += found
        while received:
            yield received.popleft().record
    while received:
        yield received.popleft().record
    report = replace(reading.tally.report(), problems=tuple(problems))
    report.raise_for_errors()
