"""The metrics that options select, without reading any answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.metrics import (
    METRICS,
    MetricError,
    numbered,
    plugin_metric,
)
from harpia_formats.evaluation.metrics.correctness import PREFIX
from harpia_formats.evaluation.scoring.computed_metric import computed_metric
from harpia_formats.evaluation.scoring.metric_requests import requests_named
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.p_values import BOOTSTRAP, PERMUTATION
from harpia_formats.evaluation.scoring.profiles import DEFAULT, profile_named
from harpia_formats.evaluation.scoring.results.named import result_format_named
from harpia_formats.evaluation.scoring.select_metrics import (
    MetricSelection,
    parameters_of_request,
    with_parameters,
)
from harpia_formats.evaluation.scoring.verdicts import holds_verdicts
from harpia_formats.files.io.inputs import Input
from harpia_formats.formats.detection.detect_files import detect_files
from harpia_formats.formats.registry import adapter_of, format_of
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.metric_profile import MetricProfile, MetricRequest


@dataclass(frozen=True, slots=True)
class Definitions:
    """A profile, and the metrics that options select of it."""

    profile: MetricProfile
    names: tuple[str, ...]
    #: The metrics, before parameters of the options change them.
    requests: tuple[MetricRequest, ...]


def definitions_of(options: ScoreOptions, to: str | None) -> Definitions | None:
    """Return what options select, None if what is read selects the metrics.

    Raises `ScoreError` for names that are not known.
    """
    if options.stored or options.config is not None:
        return None
    usual = DEFAULT.id if to is None else result_format_named(to).profile
    profile = profile_named(options.profile or usual)
    if MetricSelection(profile, options).depends_on_input:
        return None
    names = options.metrics or profile.usual
    requests, _ = requests_named(profile, names)
    return Definitions(profile, tuple(names), tuple(requests))


def reads_verdicts(inputs: Iterable[Input], options: ScoreOptions) -> bool:
    """Tell whether an input holds verdicts of a judge, by its beginning."""
    if options.from_ is not None:
        formats = {options.from_}
    else:
        found = detect_files(inputs, options.delimiter)
        formats = {one.format for one in found if one.format is not None}
    try:
        known = [format_of(name) for name in formats]
    except HarpiaFormatsError:  # which scoring reports
        return False
    return any(one.adapter and holds_verdicts(adapter_of(one)) for one in known)


def settled(request: MetricRequest, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter with which a metric is computed.

    With them are those of the metric that tells what is correct, if there is one.
    """
    own = parameters_of_request(request, parameters)
    found = {**defaults_of(request.metric), **request.parameters, **own}
    teller = found.get("correct")
    if METRICS.keys() & {numbered(request.metric)[0]} and isinstance(teller, str):
        for name, value in defaults_of(teller).items():
            found.setdefault(f"{PREFIX}{name}", value)
    return found


def usual_test(definitions: Definitions, parameters: Mapping[str, Any]) -> str | None:
    """Return the test that a comparison takes if none is given.

    It is None where metrics have different ones, or one of them cannot be computed.
    """
    try:
        measures = [
            computed_metric(with_parameters({}, parameters, one)).measure
            for one in definitions.requests
        ]
    except MetricError:
        return None
    found = {PERMUTATION if one.is_mean else BOOTSTRAP for one in measures}
    return found.pop() if len(found) == 1 else None


def defaults_of(name: str) -> dict[str, Any]:
    """Return the parameters of a metric with their defaults.

    The name pass@5 says k, so that it is none of them.
    """
    whole, k = numbered(name)
    metric = METRICS.get(whole) or plugin_metric(whole)
    found = dict(metric.parameters) if metric is not None else {}
    if k is not None:
        found.pop("k", None)
    return found
