"""Check the values of scores, and their statistics against each other (N204, N205)."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

from harpia_converters.nemo.results import SHARES
from harpia_converters.nemo.results_tree import scores_of
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.numbers import float_of, is_near
from harpia_formats.model.problem import Path

ABOVE_ONE, STATS = "N204", "N205"


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on scores beyond their bounds, or with wrong statistics."""
    if not isinstance(document, Mapping):
        return
    for place, score in scores_of(document):
        value, stats = float_of(score.get("value")), score.get("stats")
        if place[-1] in SHARES and value is not None and not 0 <= value <= 1:
            yield _beyond_share(place)
        if isinstance(stats, Mapping):
            at, message = _contradiction(stats, value)
            if at:
                help_ = "compute it again from the scores of the rows"
                yield Remark(STATS, (*place, "stats", at), message, help_)


def _beyond_share(place: Path) -> Remark:
    return Remark(
        ABOVE_ONE,
        (*place, "value"),
        f"{place[-1]} must be from 0 to 1 in results of similarity metrics",
        "divide it by 100 if it is a percentage; NVIDIA's custom evaluations "
        "give BLEU from 0 to 100, as sentence and corpus",
    )


def _contradiction(stats: Mapping[str, Any], value: float | None) -> tuple[str, str]:
    """Return the name of the first wrong statistic and why it is wrong, else ""."""
    for name in ("count", "nan_count", "variance", "stddev", "stderr"):
        number = float_of(stats.get(name))
        if number is not None and number < 0:
            return name, f"{name} is less than 0"
    mean = float_of(stats.get("mean"))
    wrong = ("", "") if mean is None else _of_mean(mean, stats, value)
    return wrong if any(wrong) else _of_spread(stats)


def _of_mean(
    mean: float, stats: Mapping[str, Any], value: float | None
) -> tuple[str, str]:
    if value is not None and not is_near(value, mean):
        return "mean", f"the mean is {mean:g}, but the value is {value:g}"
    total, count = float_of(stats.get("sum")), float_of(stats.get("count"))
    if total is not None and count and not is_near(mean, total / count):
        return "mean", f"the mean is {mean:g}, but sum / count is {total / count:g}"
    least, most = float_of(stats.get("min")), float_of(stats.get("max"))
    if least is not None and least > mean and not is_near(mean, least):
        return "min", f"the minimum {least:g} is above the mean {mean:g}"
    if most is not None and most < mean and not is_near(mean, most):
        return "max", f"the maximum {most:g} is below the mean {mean:g}"
    return "", ""


def _of_spread(stats: Mapping[str, Any]) -> tuple[str, str]:
    variance, deviation = float_of(stats.get("variance")), float_of(stats.get("stddev"))
    if variance is None or deviation is None or is_near(sqrt(variance), deviation):
        return "", ""
    root = sqrt(variance)
    return "stddev", f"stddev is {deviation:g}, but the root of variance is {root:g}"


LINTS = Lints(rows=(RowLint((ABOVE_ONE, STATS), remarks),))
