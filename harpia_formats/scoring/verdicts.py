"""The verdicts of an LLM judge as metrics: numbers that records hold already."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.metrics import Measure
from harpia_formats.metrics.mean import means
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.metric_profile import MetricRequest, ScoreError
from harpia_formats.model.record import Output, Record
from harpia_formats.registry import adapter_of
from harpia_formats.scoring.intervals import number_or_none
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.resampled import Outcome
from harpia_formats.scoring.scores import ComputedMetric
from harpia_formats.scoring.select_metrics import SelectedMetrics


class VerdictsFound(Exception):  # noqa: N818 - not an error
    """An input holds verdicts, whose names must be known before they are scored."""


def holds_verdicts(adapter: FormatAdapter) -> bool:
    """Tell whether rows hold scores of answers, but not the answers."""
    has_scores = adapter.carries("outputs.scores.value")
    return has_scores and not adapter.carries("outputs.text")


@dataclass(slots=True)
class _Range:
    """The range of one number over all verdicts, and how it was made."""

    least: float = math.inf
    most: float = -math.inf
    signatures: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class VerdictMetrics:
    """Collects the numbers in verdicts by their names, to make a metric of each."""

    _ranges: dict[str, _Range] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add the verdicts of a record."""
        for output in record.outputs:
            for score in output.scores or []:
                value = number_or_none(score.value)
                if value is None or score.metric is UNSET:
                    continue
                found = self._ranges.setdefault(score.metric, _Range())
                found.least = min(found.least, value)
                found.most = max(found.most, value)
                found.signatures[score.signature or ""] = None

    def metrics(self) -> SelectedMetrics:
        """Return the mean of each number; raises `ScoreError` without any."""
        if not self._ranges:
            raise ScoreError("the verdicts hold no number that could be scored")
        measured = [
            ComputedMetric(MetricRequest(name), _measure_of(name, found))
            for name, found in self._ranges.items()
        ]
        return SelectedMetrics(tuple(measured))


def _measure_of(name: str, found: _Range) -> Measure:
    """Return the mean of the verdicts called `name`; raises `ScoreError`."""
    if len(found.signatures) > 1:
        shown = " and ".join(signature or "none" for signature in found.signatures)
        raise ScoreError(
            f"the verdicts called {name} were made in several ways, and have no common "
            f"score: {shown}"
        )
    (signature,) = found.signatures
    is_share = found.least >= 0 and found.most <= 1
    return Measure(
        (name,),
        f"{signature or 'judge|impl:unknown'}|verdict:{name}",
        "0-1" if is_share else "any",
        lambda answer, references: (0.0, 1.0),  # noqa: ARG005 - as wide as a verdict
        means(1),
        is_mean=True,
        is_bounded=is_share,
    )


def verdict_outcomes(
    output: Output, measured: Iterable[ComputedMetric]
) -> tuple[Outcome, ...]:
    """Return the number of each name in a verdict, or why there is none."""
    values = {
        score.metric: number_or_none(score.value) for score in output.scores or []
    }
    reason = f"no verdict: {output.error}" if output.error else "no number"
    found = (values.get(metric.request.label) for metric in measured)
    return tuple(
        reason if value is None else ((value, 1.0), (value,)) for value in found
    )


def check_verdict_format(format_: Format) -> None:
    """Raise `ScoreError` for a format that holds answers, beside one of verdicts."""
    if not holds_verdicts(adapter_of(format_)):
        raise ScoreError(
            f"{format_.id} holds answers, and another input verdicts of a judge: score "
            "them one by one"
        )


def check_verdict_options(options: ScoreOptions, target: str) -> None:
    """Raise `ScoreError` for options that verdicts cannot follow.

    `target` is the id of the format of results, "" if none are written.
    """
    given = {
        "--metrics": bool(options.metrics),
        "--profile": options.profile is not None,
        "--config": options.config is not None,
        "--param": bool(options.parameters),
        f"--to {target}": bool(target),
    }
    refused = next((option for option, is_given in given.items() if is_given), "")
    if refused:
        raise ScoreError(
            f"the input holds verdicts of a judge, which are scored as they are: leave "
            f"out {refused}"
        )
