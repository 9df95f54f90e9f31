"""The verdicts of an LLM judge as metrics: numbers that records hold already."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.evaluation.metrics import Measure
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.choose_systems import WIN, WINNER
from harpia_formats.evaluation.scoring.intervals import number_or_none
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import ComputedMetric, Outcome
from harpia_formats.evaluation.scoring.select_metrics import SelectedMetrics
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.record import Output, Record
from harpia_formats.model.vendor_metrics import (
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
    declared_scale,
)

#: The names of texts that an error lists.
_LISTED = 5


class VerdictsFound(Exception):  # noqa: N818 - not an error
    """An input holds verdicts, whose names must be known before they are scored."""


def holds_verdicts(adapter: FormatAdapter) -> bool:
    """Tell whether rows hold scores of answers, but not the answers."""
    has_scores = adapter.carries("outputs.scores.value")
    return has_scores and not adapter.carries("outputs.text")


@dataclass(slots=True)
class _Verdicts:
    """Which values one number has over all verdicts, and how it was made."""

    are_booleans: bool = True
    signatures: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class VerdictMetrics:
    """Collects the numbers in verdicts by their names, to make a metric of each."""

    _found: dict[str, _Verdicts] = field(default_factory=dict)
    #: The number of rows, of those without a result, and why the first has none.
    _rows: int = 0
    _failed: int = 0
    _first_error: str = ""
    #: The names of texts in the first result that has any.
    _texts: tuple[str, ...] = ()

    def add(self, record: Record) -> None:
        """Add the verdicts of a record."""
        self._texts = self._texts or _texts_in(record)
        for output in record.outputs:
            self._rows += 1
            if output.error:
                self._failed += 1
                self._first_error = self._first_error or output.error
            for score in output.scores or []:
                value = number_or_none(score.value)
                if value is None or score.metric is UNSET:
                    continue
                found = self._found.setdefault(score.metric, _Verdicts())
                found.are_booleans &= isinstance(score.value, bool)
                found.signatures[score.signature or ""] = None

    def metrics(self, missing: str | None) -> SelectedMetrics:
        """Return the mean of each number.

        `missing` is what a row without a verdict counts as. Raises `ScoreError` if
        there is no number, and if a missing one counts as 0 without a known scale.
        """
        if not self._found:
            raise ScoreError(self._why_nothing())
        measured = [
            ComputedMetric(MetricRequest(name), _measure_of(name, found))
            for name, found in self._found.items()
        ]
        for metric in measured:
            if missing == Missing.ZERO and not metric.measure.is_bounded:
                raise ScoreError(no_zero(metric.request.label))
        return SelectedMetrics(tuple(measured))

    def _why_nothing(self) -> str:
        """Return why no number was found."""
        if not self._rows:
            return "there are no verdicts to score"
        if self._failed == self._rows:
            rows = "the only row" if self._rows == 1 else f"all {self._rows:,} rows"
            return (
                f"there is no verdict to score: {rows} failed, first with: "
                f"{self._first_error}"
            )
        failed = f" ({self._failed:,} rows failed)" if self._failed else ""
        hint = ""
        if self._texts:
            names = ", ".join(self._texts[:_LISTED])
            hint = (
                f", but texts ({names}): if they are labels, "
                "`score agreement --field NAME` compares them with those of "
                "another judge or of people"
            )
        return f"the verdicts hold no number that could be scored{failed}{hint}"


def _texts_in(record: Record) -> tuple[str, ...]:
    """Return the names of the texts in a verdict."""
    for members in () if record.extra is UNSET else record.extra.values():
        result = members.get("result")
        if isinstance(result, Mapping):
            return tuple(name for name in result if isinstance(result[name], str))
    return ()


def _measure_of(name: str, found: _Verdicts) -> Measure:
    """Return the mean of the verdicts called `name`; raises `ScoreError`.

    The scale is known of true and false, and of what the definition of the judge
    declares to be from 0 to 1. Values never show it: ratings from 1 to 5 may all be 1.
    """
    if len(found.signatures) > 1:
        shown = " and ".join(signature or "none" for signature in found.signatures)
        raise ScoreError(
            f"the verdicts called {name} were made in several ways, and have no common "
            f"score: {shown}"
        )
    (signature,) = found.signatures
    is_share = found.are_booleans or declared_scale(name, signature) == "0-1"
    return Measure(
        (name,),
        f"{signature or 'judge|impl:unknown'}|verdict:{name}",
        "0-1" if is_share else "any",
        lambda answer, references: (0.0, 1.0),  # noqa: ARG005 - as wide as a verdict
        means(1),
        is_mean=True,
        is_bounded=is_share,
    )


def no_zero(name: str) -> str:
    """Return why a missing verdict called `name` cannot count as 0."""
    return (
        f"a missing verdict cannot count as 0: the scale of {name} is not known to be "
        "from 0 to 1, since its verdicts are not all true or false, and the definition "
        "of the judge declares no minimum of 0 and maximum of 1; leave missing "
        "verdicts out"
    )


def verdict_outcomes(
    record: Record, output: Output, measured: Iterable[ComputedMetric]
) -> tuple[Outcome, ...]:
    """Return the number of each name in a verdict of a record, or why there is none."""
    values = {
        score.metric: number_or_none(score.value) for score in output.scores or []
    }
    reason = "there is no number"
    if output.error:
        reason = f"there is no verdict: {output.error}"
    elif _is_half_pair(record):
        reason = "there is no verdict on the pair in the other order"
    found = (values.get(metric.request.label) for metric in measured)
    return tuple(
        reason if value is None else ((value, 1.0), (value,)) for value in found
    )


def _is_half_pair(record: Record) -> bool:
    """Tell whether a pair has a verdict in the order of this record only."""
    for members in () if record.extra is UNSET else record.extra.values():
        result = members.get("result")
        if "order" in members and isinstance(result, Mapping):
            return WINNER in result and WIN not in result
    return False


def check_verdict_format(format_: Format) -> None:
    """Raise `ScoreError` for a format that holds answers, beside one of verdicts."""
    if not holds_verdicts(adapter_of(format_)):
        raise ScoreOptionsError(
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
        hint = ", or add `--stored` to choose verdicts" if options.metrics else ""
        raise ScoreOptionsError(
            "the input holds verdicts of a judge, which are scored as they are, and "
            f"compared with verdicts only: leave out `{refused}`{hint}"
        )
