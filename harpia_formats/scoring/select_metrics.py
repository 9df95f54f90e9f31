"""Which metrics are computed: settled before anything is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from harpia_formats.metrics import (
    Measure,
    MetricError,
    measure_of,
    metric_names,
    plugin_metric,
)
from harpia_formats.model.exact_json import decode
from harpia_formats.model.metric_profile import (
    MetricConfiguration,
    MetricProfile,
    MetricRequest,
    ScoreError,
)
from harpia_formats.model.record import Header
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.profiles import DEFAULT
from harpia_formats.scoring.scores import ComputedMetric
from harpia_formats.text.spelling import nearest


@dataclass(frozen=True, slots=True)
class SelectedMetrics:
    """What is computed, and what is not though it was asked for."""

    measured: tuple[ComputedMetric, ...]
    unknown: tuple[str, ...] = ()
    #: What is worth saying of the choice.
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """Where it is said which metrics are computed."""

    profile: MetricProfile
    options: ScoreOptions
    #: What a vendor's configuration asks for, if there is one.
    configured: MetricConfiguration | None = None

    @classmethod
    def of(cls, profile: MetricProfile, options: ScoreOptions) -> "MetricSelection":
        """Return the choice of `options`; raises `ScoreError`."""
        if options.config is None:
            return cls(profile, options)
        if profile.of_config is None:
            raise ScoreError(
                f"the profile {profile.id} takes no configuration; --profile chooses "
                "another"
            )
        configured = profile.of_config(_decoded(options.config), options.names)
        return cls(profile, options, configured)

    @property
    def is_of_input(self) -> bool:
        """Whether the input itself chooses the metrics."""
        is_said = self.options.metrics or self.configured is not None
        return not is_said and self.profile.of_header is not None

    def settled(self, header: Header | None = None) -> SelectedMetrics:
        """Return what is computed; raises `ScoreError`.

        `header` is what stands around the records, where that chooses.
        """
        options = self.options
        said: list[str] = []
        if header is not None and self.profile.of_header is not None:
            asked = list(self.profile.of_header(header))
            if not asked:
                raise ScoreError(
                    f"the input enables no metric, as the profile {self.profile.id} "
                    "expects; name some with --metrics"
                )
        elif self.configured is not None and not options.metrics:
            asked = list(self.configured.metrics)
        else:
            names = options.metrics or self.profile.usual
            asked, said = named(self.profile, names)
        chosen = settled(asked, options.parameters, skip_unknown=options.skip_unknown)
        return replace(chosen, said=(*said, *chosen.said))


def _decoded(config: PathLike[str] | str | Mapping[str, Any]) -> Any:
    """Return a configuration, read if it is a file; raises `ScoreError`."""
    if isinstance(config, Mapping):
        return config
    path = Path(config)
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise ScoreError(f"{path}: {error.strerror or error}") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise ScoreError(f"{path} is not JSON: {error}") from error


def named(
    profile: MetricProfile, names: Iterable[str]
) -> tuple[list[MetricRequest], list[str]]:
    """Return what a profile means by names of metrics, and what is to be said of it.

    A metric that a vendor does not have is taken in its usual definition. Raises
    `ScoreError` for a name that nothing has.
    """
    asked: list[MetricRequest] = []
    said = []
    for name in names:
        if name in profile.metrics:
            asked += profile.metrics[name]
        elif name in DEFAULT.metrics:
            asked += DEFAULT.metrics[name]
            said.append(
                f"the profile {profile.id} has no {name}: taken as in the profile "
                f"{DEFAULT.id}"
            )
        elif plugin_metric(name) is not None:
            asked.append(MetricRequest(name))
        else:
            known = dict.fromkeys([*profile.metrics, *metric_names()])
            near = nearest(name, known)
            hint = f"; did you mean {near}?" if near else ""
            raise ScoreError(
                f"no metric is called {name!r}{hint} (known: {', '.join(known)})"
            )
    return asked, said


def settled(
    asked: Iterable[MetricRequest], parameters: Mapping[str, Any], *, skip_unknown: bool
) -> SelectedMetrics:
    """Return the measures of what is asked for, with `parameters` by their full name.

    Raises `ScoreError` for a metric that cannot be computed, unless it is to be left
    out, and for a parameter that no metric takes.
    """
    measured: list[ComputedMetric] = []
    unknown: dict[str, str] = {}
    left = dict(parameters)
    for each in asked:
        given = _taken_from(left, parameters, each)
        try:
            measure = _measure_of(given)
        except MetricError as error:
            if not skip_unknown:
                raise ScoreError(_cured(str(error))) from error
            unknown[each.label] = str(error)
            continue
        measured.append(ComputedMetric(given, measure))
    _check_parameters(left, measured)
    _check_names(measured)
    if not measured:
        raise ScoreError(_nothing(unknown))
    said = tuple(f"{name} is left out: {why}" for name, why in unknown.items())
    return SelectedMetrics(tuple(measured), tuple(unknown), said)


def _measure_of(asked: MetricRequest) -> Measure:
    """Return the measure of one metric; raises `MetricError`."""
    if asked.unavailable_reason:
        raise MetricError(asked.unavailable_reason)
    measure = measure_of(asked.metric, asked.parameters)
    if not asked.note:
        return measure
    return replace(measure, signature=f"{measure.signature}|{asked.note}")


def _taken_from(
    left: dict[str, Any], parameters: Mapping[str, Any], asked: MetricRequest
) -> MetricRequest:
    """Return a metric with the parameters that are given for it."""
    found = {}
    for full, value in parameters.items():
        metric, _, name = full.partition(".")
        if metric in {asked.metric, asked.label} and name:
            found[name] = value
            left.pop(full, None)
    return replace(asked, parameters={**asked.parameters, **found}) if found else asked


def _check_parameters(
    left: Mapping[str, Any], measured: Iterable[ComputedMetric]
) -> None:
    for full in left:
        metric, dot, name = full.partition(".")
        if not dot or not name:
            raise ScoreError(
                f"{full!r} is no parameter: write METRIC.PARAMETER=VALUE, such as "
                "rouge.stemmer=true"
            )
        known = [each.request.label for each in measured]
        near = nearest(metric, known)
        hint = f"; did you mean {near}.{name}?" if near else ""
        raise ScoreError(
            f"{full!r} is a parameter of a metric that is not computed{hint} "
            f"(computed: {', '.join(known) or 'none'})"
        )


def _check_names(measured: Iterable[ComputedMetric]) -> None:
    """Raise `ScoreError` where two scores would be called the same."""
    seen: set[tuple[str, str]] = set()
    for each in measured:
        for name in each.names:
            if (each.request.label, name) in seen:
                raise ScoreError(f"{name} of {each.request.label} is asked for twice")
            seen.add((each.request.label, name))


def _cured(reason: str) -> str:
    return f"{reason}; --skip-unknown leaves out what cannot be computed"


def _nothing(unknown: Mapping[str, str]) -> str:
    if not unknown:
        return "no metric is asked for; name some with --metrics"
    return f"no metric is left to compute: {'; '.join(unknown.values())}"
