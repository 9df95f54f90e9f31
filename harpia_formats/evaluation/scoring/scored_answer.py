"""An answer with its own scores."""

from dataclasses import dataclass

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics.label_reading import LabelPair
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.model.record import Output, Record


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer with its own scores."""

    #: The numbers of the answer and of its record in the run, both from 1.
    number: int
    record_number: int
    record: Record
    output: Output
    #: The text that was scored; None if there was none.
    answer: str | None
    #: The scores of each metric, None for each that is missing.
    values: tuple[tuple[float | None, ...], ...]
    #: The statistics of each metric, None if the answer could not be scored.
    statistics: tuple[Statistics | LabelPair | None, ...]
    #: The record with its place in the file.
    placed: PlacedRecord
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool
    #: The name of the file.
    path: str = ""
