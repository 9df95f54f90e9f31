"""Iterate over the records of inputs."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
from harpia_formats.validation.options import Options
from harpia_formats.validation.redaction import errors_shown, redaction_of

if TYPE_CHECKING:  # most runs show values
    from harpia_formats.validation.redaction.redacted_reports import Redaction


def records_in(  # noqa: PLR0913 - one parameter for each option
    inputs: Iterable[Any],
    format_: str | None,
    *,
    columns: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    skip_unrecognised: bool = False,
    min_records: int = 0,
    companion: PathLike[str] | str | None = None,
    redact: bool = False,
    **limits: Any,
) -> Iterator[Record]:
    """Yield the records of `inputs`; the options are those of a validation.

    Raises what `Reading` raises when it is called. While records are read, it raises
    `ConversionError` for a document without records, and at the end `ValidationFailed`
    if a row is not valid or an input cannot be read.
    """
    files = Options(
        exclude=tuple(exclude),
        skip_unrecognised=skip_unrecognised,
        min_records=min_records,
        companion=companion,
        redact=redact,
    )
    reading = Reading(inputs, format_, columns=columns, files=files, **limits)
    return _without_values(_records(reading), redaction_of(files))


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
