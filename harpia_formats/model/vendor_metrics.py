"""Find the metrics that vendors' names mean, and describe stored scores."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.record import Header, Score


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


#: The worst and the best score on each scale.
LIMITS = {"0-1": (0.0, 1.0), "0-100": (0.0, 100.0), "-1-1": (-1.0, 1.0)}
#: The best score on each scale whose worst is 0.
BEST = {scale: best for scale, (worst, best) in LIMITS.items() if not worst}
#: Names of scores of which a lower one is better.
LOWER_IS_BETTER = frozenset(
    "ter wer cer perplexity word_perplexity byte_perplexity bits_per_byte "
    "brier_score".split()
)
#: The end of the signature of the score of a single answer by a metric whose score of
#: many answers is not the mean of theirs.
ROW_LEVEL = "|of:row"
#: Parts of signatures that tell several scores of one metric apart.
_telling = frozenset({"filter", "scorer", "perturbation"})


def declared_scale(name: str, signature: str) -> str | None:
    """Return the scale from 0 on that a signature declares, None without one.

    The signature of verdicts declares the scale of each score by its `name`.
    """
    parts = {*signature.split("|")}
    found = (
        scale for scale in BEST if {f"scale:{scale}", f"scale:{name}={scale}"} & parts
    )
    return next(found, None)


def declared_best(name: str, signature: str) -> float:
    """Return the best score on the scale that a signature declares, else infinity."""
    scale = declared_scale(name, signature)
    return math.inf if scale is None else BEST[scale]


def verdict_of(score: Score, correct_from: float | None = None) -> bool | None:
    """Return whether a score says that its answer is correct, None if it does not.

    True and false do. So does a number on a scale that the signature declares: the
    best one is correct. `correct_from` is the lowest score of a correct answer for all
    other numbers, None if it is unknown.
    """
    value = score.value
    if isinstance(value, bool):
        return value
    if not isinstance(value, (int, float)):
        return None
    metric, signature = score.metric or "", score.signature or ""
    scale = declared_scale(metric, signature)
    if scale is not None and 0 <= value <= BEST[scale]:
        is_lower_better = LOWER_IS_BETTER & {metric, signature.partition("|")[0]}
        return bool(value == (0 if is_lower_better else BEST[scale]))
    return None if correct_from is None else bool(value >= correct_from)


def is_of_metric(score: Score, metric: str) -> bool:
    """Tell whether a score is of a metric, which may be its full name."""
    return metric in {score.metric, full_name(score)}


def full_name(score: Score) -> str | None:
    """Return the metric of a score with what tells it from others of that metric.

    That is the filter of lm-eval, the scorer of Inspect or the perturbation of HELM in
    its signature, where the name does not say it already. None without a metric.

    >>> full_name(Score(metric="em", signature="em|impl:lm-eval|filter:first"))
    'em|filter:first'
    >>> full_name(Score(metric="match", signature="match|impl:inspect|scorer:match"))
    'match'
    """
    metric = score.metric
    if metric is UNSET or not metric:
        return None
    if score.signature is UNSET:
        return metric
    parts = score.signature.split("|")
    parts = [part for part in parts if not _is_redundant(part, metric)]
    return "|".join([metric, *parts])


def _is_redundant(part: str, metric: str) -> bool:
    """Tell whether a part of a signature adds nothing to the name of a metric."""
    key, _, value = part.partition(":")
    value = value.replace("%7C", "|")
    return (
        key not in _telling
        or value in {metric, "none"}
        or metric.startswith(f"{value}.")
        or part in metric.split("|")
    )
