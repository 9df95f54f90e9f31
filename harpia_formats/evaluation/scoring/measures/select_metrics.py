"""The selection of the metrics of a run, before anything is computed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.metrics import (
    METRICS,
    Measure,
    MetricError,
    metric_names,
    numbered,
)
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.metrics.question_metrics import CORRECT, PREFIX
from harpia_formats.evaluation.scoring.measures.metric_score import score_name
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    StoredOutcomes,
    computed_metric,
)
from harpia_formats.evaluation.scoring.measures.profiles import DEFAULT, requests_named
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.files.io.reader import read_side_input
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.record import Header, Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.spelling import nearest
from harpia_formats.model.vendor_metrics import (
    MetricConfiguration,
    MetricProfile,
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
)


@dataclass(frozen=True, slots=True)
class SelectedMetrics:
    """The metrics of a run, and the requested ones that cannot be computed."""

    measured: tuple[ComputedMetric, ...]
    unknown: tuple[str, ...] = ()
    #: Notes on the selection, for people.
    notes: tuple[str, ...] = ()
    #: Metrics of the user that a result format defines otherwise than the default.
    redefined: frozenset[str] = frozenset()
    #: The header of the input, if it selected the metrics.
    header: Header | None = None


class MetricSource(Protocol):
    """Selects the metrics of a run by what its inputs hold.

    They are read to their ends before they are scored.
    """

    @property
    def outcomes(self) -> StoredOutcomes | None:
        """Returns the outcomes that an answer holds; None if they are computed."""

    def check_file(self, variant: FormatVariant, count: FileCount) -> None:
        """Raise `ScoreError` for a file that cannot be scored, by its format."""

    def add(self, record: Record) -> None:
        """Take note of a record with the answers of the wanted model."""

    def metrics(self, reading: Reading) -> SelectedMetrics:
        """Return the metrics after all inputs were read; raises `ScoreError`."""


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """The profile, the options and the configuration that select metrics."""

    outcomes: ClassVar = None

    profile: MetricProfile
    options: ScoreOptions
    #: The metrics of a vendor's configuration, None without one.
    configured: MetricConfiguration | None = None

    @classmethod
    def from_options(
        cls, profile: MetricProfile, options: ScoreOptions
    ) -> "MetricSelection":
        """Return the selection that `options` describe; raises `ScoreError`."""
        if options.config is None:
            return cls(profile, options)
        if profile.of_config is None:
            raise ScoreError(
                f"the profile {profile.id} takes no configuration; `--profile` chooses "
                "another"
            )
        configured = profile.of_config(_decoded(options.config), options.names)
        return cls(profile, options, configured)

    @property
    def depends_on_input(self) -> bool:
        """Whether the header of the input selects the metrics."""
        is_given = self.options.metrics or self.configured is not None
        return not is_given and self.profile.of_header is not None

    def selected(self, header: Header | None = None, name: str = "") -> SelectedMetrics:
        """Return the metrics to compute; raises `ScoreError`.

        `header` is that of the input called `name`, given if `depends_on_input`.
        """
        options = self.options
        notes: list[str] = []
        if header is not None and self.profile.of_header is not None:
            requests = list(self.profile.of_header(header, name))
            if not requests:
                raise ScoreOptionsError(
                    f"the input enables no metric, as the profile {self.profile.id} "
                    "expects; name some with `--metrics`"
                )
        elif self.configured is not None and not options.metrics:
            requests = list(self.configured.metrics)
        else:
            names = options.metrics or self.profile.usual
            requests, notes = requests_named(self.profile, names)
        found = select_metrics(
            requests, options.parameters, skip_unknown=options.skip_unknown
        )
        # Whoever names a profile knows whose definitions these are.
        is_implied = options.profile is None and bool(options.metrics)
        own = [
            one for one in found.measured if one.request.label in self.profile.metrics
        ]
        redefined = _redefined(own, options.parameters) if is_implied else {}
        notes += [
            f"{name} is computed as in the profile {self.profile.id} ({parts}), not as "
            f"in the profile {DEFAULT.id} ({usual}); `--profile {DEFAULT.id}` "
            "takes that"
            for name, (parts, usual) in redefined.items()
        ]
        return replace(
            found,
            notes=(*notes, *found.notes),
            redefined=frozenset(redefined),
            header=header,
        )

    def check_file(self, variant: FormatVariant, count: FileCount) -> None:
        """Take any file: whether it holds answers is checked as they are scored."""

    def add(self, record: Record) -> None:
        """Pass over a record, which selects no metric."""

    def metrics(self, reading: Reading) -> SelectedMetrics:
        """Return the metrics that the headers of all inputs select.

        A header may follow the records. Raises `ScoreError`, also if they select
        different ones.
        """
        headers = [
            (header, name)
            for found, name in zip(reading.headers, reading.names, strict=True)
            for header in found
        ] or [(Header(), "")]
        found = [self.selected(*one) for one in headers]
        different = {
            tuple(
                (metric.request.label, metric.names, metric.measure.signature)
                for metric in one.measured
            )
            for one in found
        }
        if len(different) > 1:
            raise ScoreOptionsError(
                "the inputs select different metrics; score them one by one, or name "
                "metrics with `--metrics`"
            )
        return found[0]


def _redefined(
    measured: Iterable[ComputedMetric], parameters: Mapping[str, Any]
) -> dict[str, tuple[str, str]]:
    """Return how metrics are computed that the default profile defines otherwise.

    That is the parts of both signatures in which they differ with the same `parameters`
    of the user, by the label of each.
    """
    found: dict[str, tuple[str, str]] = {}
    for one in measured:
        usual = DEFAULT.metrics.get(one.request.label)
        if usual is None or one.request.is_renamed:
            continue
        own = one.measure.signature.split("|")
        try:
            other = computed_metric(with_parameters({}, parameters, usual[0]))
        except MetricError:  # it has no such parameter
            other = computed_metric(usual[0])
        others = other.measure.signature.split("|")
        differing = [
            "|".join(part for part in parts if part not in rest)
            for parts, rest in ((own, others), (others, own))
        ]
        if any(differing):
            first, second = (each or "nothing more" for each in differing)
            found[one.request.label] = first, second
    return found


def _decoded(config: PathLike[str] | str | Mapping[str, Any]) -> Any:
    """Return the decoded configuration of a file or mapping; raises `ScoreError`."""
    if isinstance(config, Mapping):
        return config
    path = Path(config)
    try:
        return decode(read_side_input(path))
    except OSError as error:
        raise ScoreError(f"{path}: {error.strerror or error}") from error
    except NOT_JSON as error:
        raise ScoreError(f"{path} is not JSON: {error}") from error


def select_metrics(
    requests: Iterable[MetricRequest],
    parameters: Mapping[str, Any],
    *,
    skip_unknown: bool,
) -> SelectedMetrics:
    """Return the requested metrics with `parameters`, keyed by `metric.parameter`.

    With `skip_unknown` metrics that cannot be computed are left out. Raises
    `ScoreError` for such metrics otherwise, for a parameter of a metric that is not
    computed, and if no metric remains.
    """
    measured: list[ComputedMetric] = []
    unknown: dict[str, str] = {}
    unused = dict(parameters)
    for request in requests:
        given = with_parameters(unused, parameters, request)
        try:
            metric = computed_metric(given)
        except MetricError as error:
            if not skip_unknown:
                raise ScoreError(
                    f"{error}; `--skip-unknown` leaves out what cannot be computed"
                ) from error
            unknown[request.label] = str(error)
            continue
        if given.is_renamed and len(metric.names) == 1:
            named = replace(given, names=(given.label,))
            metric = ComputedMetric(named, metric.measure)
        measured.append(metric)
    check_parameters(unused, measured)
    _check_names(measured)
    if not measured and not unknown:
        raise ScoreOptionsError("no metrics are requested; name some with `--metrics`")
    if not measured:
        reasons = "; ".join(unknown.values())
        raise ScoreError(f"no metric is left to compute: {reasons}")
    notes = tuple(f"{name} is left out: {why}" for name, why in unknown.items())
    return SelectedMetrics(tuple(measured), tuple(unknown), notes)


def metric_that_is_read(
    name: str,
    signature: str,
    scale: str,
    *,
    is_bounded: bool,
    lower_is_better: bool = False,
) -> ComputedMetric:
    """Return the mean of numbers that records hold: nothing is computed of answers."""
    measure = Measure(
        (name,),
        signature,
        scale,
        lambda answer, references: (0.0, 1.0),  # noqa: ARG005 - as wide as a number that is read
        means(1),
        is_mean=True,
        is_bounded=is_bounded,
        lower_is_better=lower_is_better,
    )
    return ComputedMetric(MetricRequest(name), measure)


def with_parameters(
    unused: dict[str, Any], parameters: Mapping[str, Any], request: MetricRequest
) -> MetricRequest:
    """Return a request with its parameters added, and remove them from `unused`."""
    names = _names_of_parameters(request, parameters)
    for full, _ in names:
        unused.pop(full, None)
    found = {name: parameters[full] for full, name in names}
    own = dict(request.parameters)
    if found.get(CORRECT, own.get(CORRECT)) != own.get(CORRECT):
        # The parameters of the metric that decided before do not fit another one.
        own = {name: own[name] for name in own if not name.startswith(PREFIX)}
    given = {**own, **found}
    return replace(request, parameters={**_defaults_of(request, given), **given})


def _defaults_of(request: MetricRequest, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a request that its metrics have as parameters."""
    metric = METRICS.get(numbered(request.metric)[0])
    known = {} if metric is None else metric.parameters
    correct = METRICS.get(str(given.get(CORRECT, known.get(CORRECT))))
    inner = {} if correct is None or CORRECT not in known else correct.parameters
    own = {name: value for name, value in request.defaults.items() if name in known}
    return own | {
        f"{PREFIX}{name}": value
        for name, value in request.defaults.items()
        if name in inner
    }


def _names_of_parameters(
    request: MetricRequest, parameters: Iterable[str]
) -> list[tuple[str, str]]:
    """Return each `metric.parameter` of a metric, and the name of the parameter.

    Those of its name in results come last: they are preferred to those of its metric,
    which a metric that the user renamed does not have.
    """
    of_metric, of_label = [], []
    family, k = numbered(request.metric)
    for full in parameters:
        metric, _, name = full.partition(".")
        # A name such as pass@5 has the parameters of pass@k, but says k itself.
        is_of_metric = metric == family and not (name == "k" and k is not None)
        if name and metric == request.label:
            of_label.append((full, name))
        elif name and is_of_metric and not request.is_renamed:
            of_metric.append((full, name))
    return [*of_metric, *of_label]


def check_parameters(
    unused: Mapping[str, Any], measured: Iterable[ComputedMetric]
) -> None:
    """Raise `ScoreError` for the first parameter that no metric used."""
    for full in unused:
        metric, dot, name = full.partition(".")
        if not dot or not name:
            raise ScoreError(
                f"{full!r} is not a parameter: write METRIC.PARAMETER=VALUE, such as "
                "rouge.stemmer=true"
            )
        known = [metric.request.label for metric in measured]
        # A misspelt metric may be one that is not computed either.
        near = nearest(metric, known) or nearest(metric, metric_names())
        hint = f"; did you mean {near}.{name}?" if near and near != metric else ""
        raise ScoreError(
            f"{full!r} is a parameter of a metric that is not computed{hint} "
            f"(computed: {', '.join(known) or 'none'})"
        )


def _check_names(measured: Iterable[ComputedMetric]) -> None:
    """Raise `ScoreError` if two scores would have the same name."""
    counts = Counter(
        (metric.request.label, name) for metric in measured for name in metric.names
    )
    for full, count in counts.items():
        if count > 1:
            raise ScoreError(f"the name {score_name(*full)!r} is given twice")
