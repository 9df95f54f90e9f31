"""Profiles: the metrics that a vendor means by its names, as data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.record import Header


class ScoreError(HarpiaFormatsError):
    """Scores that cannot be computed; the message says why, and what to do."""


class ScoreOptionsError(ScoreError):
    """Scores that cannot be computed of such inputs, or with such options.

    Its message names files, formats, fields and options, and no value of a record.
    """

    hides_values = True


@dataclass(frozen=True, slots=True)
class MetricRequest:
    """One requested metric, with its parameters and its names in results."""

    #: Its name in the metric library.
    metric: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Its name in results; empty for the name in the metric library.
    key: str = ""
    #: The names of its scores in results; empty for those of the metric library.
    names: tuple[str, ...] = ()
    #: The parameters as the input gives them; None if it gives none.
    given: Any = None
    #: A further part of its signature, such as that the definition is a guess.
    note: str = ""
    #: Why it cannot be computed, by the rules of the vendor.
    unavailable_reason: str = ""
    #: Values of parameters that are neither given nor in `parameters`, if the metric,
    #: or the one that tells what is correct, has parameters of these names.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the user gave it its name in results, with which parameters name it then.
    is_renamed: bool = False

    @property
    def label(self) -> str:
        """The name of the metric in results."""
        return self.key or self.metric


@dataclass(frozen=True, slots=True)
class MetricConfiguration:
    """The metrics that the configuration of a vendor requests."""

    metrics: tuple[MetricRequest, ...]
    #: The names of the task and of the tree of its results, if it gives them.
    task: str = ""
    tree: str = ""


@dataclass(frozen=True, slots=True)
class MetricProfile:
    """The definitions of metrics by one vendor."""

    id: str
    #: The vendor and its definitions, in one sentence.
    summary: str
    #: The metrics of each name of the vendor; one name may stand for several.
    metrics: Mapping[str, tuple[MetricRequest, ...]]
    #: The names of metrics that are computed by default.
    usual: tuple[str, ...] = ()
    #: The `defaults` of the requests of all metrics, also of those of other profiles.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Given a header, and the name of its file without the folder: the metrics that the
    #: header requests; unknown ones keep their name as `metric`. Raises `ScoreError`.
    of_header: Callable[[Header, str], Iterable[MetricRequest]] | None = None
    #: Given a decoded configuration and the names that the user gives (`task`): the
    #: metrics that it requests. Raises `ScoreError`.
    of_config: Callable[[Any, Mapping[str, str]], MetricConfiguration] | None = None
