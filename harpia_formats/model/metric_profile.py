"""What a vendor means by the names of metrics, as data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.record import Header


class ScoreError(Exception):
    """Scores that cannot be computed as asked, and how to mend it."""


@dataclass(frozen=True, slots=True)
class MetricRequest:
    """One metric that is asked for, and what it is called where results are written."""

    #: Its name in the metric core.
    metric: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: What results call it; the name in the metric core if empty.
    key: str = ""
    #: What results call each of its scores; the names in the metric core if empty.
    names: tuple[str, ...] = ()
    #: The parameters as the input gave them, where it did.
    given: Any = None
    #: What its signature says besides, such as that the definition is a guess.
    note: str = ""
    #: Why it cannot be computed, where the vendor's own rules tell.
    unavailable_reason: str = ""

    @property
    def label(self) -> str:
        """The name of the metric in results."""
        return self.key or self.metric


@dataclass(frozen=True, slots=True)
class MetricConfiguration:
    """What a vendor's configuration asks for."""

    metrics: tuple[MetricRequest, ...]
    #: The name of the task, and of the tree that its results stand in, if it says so.
    task: str = ""
    tree: str = ""


@dataclass(frozen=True, slots=True)
class MetricProfile:
    """The definitions that a vendor means."""

    id: str
    #: Whose definitions they are, in one sentence.
    summary: str
    #: Each metric by the name that the vendor has for it; several may have one.
    metrics: Mapping[str, tuple[MetricRequest, ...]]
    #: Names of those that are computed where nothing is asked for.
    usual: tuple[str, ...] = ()
    #: Given what is around the records: the metrics that it asks for, of which unknown
    #: ones keep their name as `metric`. Raises `ScoreError`.
    of_header: Callable[[Header], Iterable[MetricRequest]] | None = None
    #: Given a decoded configuration and the names that the user gives (`task`): what
    #: it asks for. Raises `ScoreError`.
    of_config: Callable[[Any, Mapping[str, str]], MetricConfiguration] | None = None
