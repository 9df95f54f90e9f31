"""What a file of results is: what is written of each answer, and at the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from harpia_formats.model.format import Format
from harpia_formats.model.record import Header
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer, Scores

#: Takes bytes of a file that is written.
Write = Callable[[bytes], None]


class Files(Protocol):
    """The files of a run, which are there only once all of them are written."""

    #: The name of the first of them, None where it has none.
    name: str | None

    def write(self, data: bytes) -> None:
        """Write some bytes of the first file."""

    def beside(self, name: str) -> Write:
        """Return what writes another file, in the same folder.

        Raises `SinkError` where it is there already, or where nothing tells the folder.
        """


@dataclass(frozen=True, slots=True)
class ResultRun:
    """What is known before the first answer is scored."""

    measured: tuple[ComputedMetric, ...]
    profile: str
    #: The format that is read, None as long as nothing was read.
    source: Format | None = None
    #: What is around the records, if it was asked for what metrics it asks for.
    header: Header | None = None
    #: Names that the user or a configuration gives: `task`, `tree`, `job`, `run_name`.
    names: Mapping[str, str] = field(default_factory=dict)
    #: What records get that lack it, by the name of the field.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Fields whose values make groups.
    by: tuple[str, ...] = ()


class ResultWriter(Protocol):
    """Writes results as they come."""

    def add(self, scored: ScoredAnswer) -> None:
        """Take one answer with its scores."""

    def close(self, scores: Scores) -> None:
        """Take the scores of all answers, and write what is not written yet."""

    def drop(self) -> None:
        """Let go of what is not written."""


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """One format of results."""

    #: The id of the format.
    id: str
    #: The profile that its numbers are of, unless another is asked for.
    profile: str
    #: Returns what writes results; raises `ScoreError` for a run that it cannot hold.
    writer: Callable[[Files, ResultRun], ResultWriter]
    #: Names in `ResultRun.names` that it has a place for, with a sentence on each.
    names: Mapping[str, str] = field(default_factory=dict)
