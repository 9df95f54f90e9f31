"""Check an aggregate, and scores of samples against it (E206-E209)."""

import math
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from harpia_converters.eee.row_members import Evaluation, fits, quoted
from harpia_converters.eee.versions import SIGNATURE
from harpia_formats.model.describe import with_noun
from harpia_formats.model.exact_json import float_of
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.problem import Path
from harpia_formats.model.vendor_metrics import ROW_LEVEL

BEYOND, ORDER, TIME = "E207", "E208", "E209"

_results = "evaluation_results"
#: The texts with which a bound says that there is none.
_infinite = {"Infinity": math.inf, "-Infinity": -math.inf}
#: How far clocks and time zones may be apart, in seconds.
_tolerance = 2 * 24 * 3600
#: The score that says that the level is unknown.
UNKNOWN = -1
#: How much of a bound sums of floats may add to a score.
_near_bound = 1e-9


def bounds_of(result: Any) -> tuple[float, float]:
    """Return the least and the largest score of a result; infinite if not given."""
    config = result.get("metric_config") if isinstance(result, Mapping) else None
    if not isinstance(config, Mapping):
        return -math.inf, math.inf
    least, largest = (_bound(config.get(key)) for key in ("min_score", "max_score"))
    return (
        -math.inf if least is None else least,
        math.inf if largest is None else largest,
    )


def is_beyond(score: float, bounds: tuple[float, float]) -> bool:
    """Tell whether a score is outside of bounds that are in order."""
    least, largest = bounds
    if least > largest:
        return False
    return score < least - _near_bound or score > largest + _near_bound


def beyond(path: Path, score: Any, bounds: tuple[float, float]) -> Remark:
    """Return the remark on a score outside of its bounds."""
    least, largest = bounds
    return Remark(
        BEYOND,
        path,
        f"the score {quoted(score)} is not from {_shown(least)} to {_shown(largest)}, "
        "the min_score and max_score of its result",
        "give scores and bounds on one scale: a percentage is no score from 0 to 1",
    )


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the bounds, the scores and the times in an aggregate."""
    if not isinstance(document, Mapping):
        return
    now = time.time()
    for key in ("retrieved_timestamp", "evaluation_timestamp"):
        yield from _of_time((key,), document.get(key), now)
    results = document.get(_results)
    for place, result in enumerate(results if isinstance(results, list) else ()):
        if not isinstance(result, Mapping):
            continue
        path: Path = (_results, place)
        key = "evaluation_timestamp"
        yield from _of_time((*path, key), result.get(key), now)
        bounds = bounds_of(result)
        if bounds[0] > bounds[1]:
            yield Remark(
                ORDER,
                (*path, "metric_config", "min_score"),
                f"min_score is {_shown(bounds[0])}, above max_score, "
                f"{_shown(bounds[1])}",
                "exchange the two if they are the wrong way round",
            )
        details = result.get("score_details")
        score: Any = details.get("score") if isinstance(details, Mapping) else None
        number = float_of(score)
        if number is None or (number == UNKNOWN and has_unknown_level(result)):
            continue
        if is_beyond(number, bounds):
            yield beyond((*path, "score_details", "score"), score, bounds)


def has_unknown_level(result: Mapping[str, Any]) -> bool:
    """Tell whether `UNKNOWN` is a score of a result."""
    config = result.get("metric_config")
    return isinstance(config, Mapping) and config.get("has_unknown_level") is True


def _bound(value: Any) -> float | None:
    if isinstance(value, str):
        return _infinite.get(value)
    return float_of(value)


def _shown(bound: float) -> str:
    return f"{bound:g}"


def _of_time(path: Path, value: Any, now: float) -> Iterator[Remark]:
    """Yield a remark on a text that is no time, or one in the future."""
    if not isinstance(value, str):
        return
    seconds = _seconds(value.strip())
    if seconds is None:
        yield Remark(
            TIME,
            path,
            f"{path[-1]} is {quoted(value)}, which is no time",
            "give the seconds since 1970 as text, or a date as in 2026-02-10T12:00:00Z",
        )
    elif seconds > now + _tolerance:
        is_milli = seconds / 1000 <= now + _tolerance
        yield Remark(
            TIME,
            path,
            f"{path[-1]} is {quoted(value)}, which is in the future",
            "give seconds: the number has milliseconds"
            if is_milli
            else "give the time at which it was",
        )


def _seconds(text: str) -> float | None:
    """Return the seconds since 1970 of a time, None if the text is none."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return None
        zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
        return zoned.timestamp()
    return seconds if math.isfinite(seconds) else None


LINTS = Lints((RowLint((BEYOND, ORDER, TIME), remarks, takes_refused=True),))


CODE = "E206"

#: How far a mean may be from the score of an aggregate, which may be rounded.
_near_mean = 0.005
#: What a score from 0 to 1 is multiplied with in a percentage.
_percent = 100


class MeanScores:
    """Adds up the scores of rows by result, to compare their means."""

    def __init__(self, results: tuple[tuple[str, float, int], ...]) -> None:
        """Take the key of each result, its score, and its index in the aggregate."""
        self._results = results
        self._sums = {key: 0.0 for key, _, _ in results}
        self._rows = {key: 0 for key, _, _ in results}
        #: Results of which some row has no score, and whether some row has no result.
        self._unknown: set[str] = set()
        self._is_unknown = False

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, if the aggregate has its result.

        A result of which a row has no score has no mean, nor has one of a metric that
        counts what all answers have together, as signatures say; a row without a result
        may be of any.
        """
        key = row.get("evaluation_result_id")
        if key is None:
            key = row.get("evaluation_name")
        if not isinstance(key, str):
            self._is_unknown = True
        elif key in self._sums:
            evaluation: Any = row.get("evaluation")
            metadata = row.get("metadata")
            signature = metadata.get(SIGNATURE) if type(metadata) is dict else None
            is_part = type(signature) is str and signature.endswith(ROW_LEVEL)
            is_scored = not is_part and fits(evaluation, Evaluation)
            # A score may be true or false.
            score = float_of(+evaluation["score"]) if is_scored else None
            if score is None:
                self._unknown.add(key)
            else:
                self._sums[key] += score
                self._rows[key] += 1

    def remarks(self) -> Iterator[Remark]:
        """Yield a remark for each result whose score is not the mean of its rows.

        The paths are places in the aggregate.
        """
        for key, score, index in self._results if not self._is_unknown else ():
            if key in self._unknown:
                continue
            rows = self._rows[key]
            mean = self._sums[key] / rows if rows else score
            if _is_near(mean, score) or _is_near(mean * _percent, score):
                continue
            yield Remark(
                CODE,
                ("evaluation_results", index, "score_details", "score"),
                f"the score of {quoted(key)} is {quoted(score)}, and the mean of its "
                f"{with_noun(rows, 'row')} is {mean:.4g}",
                "see that the samples are all of the run and the score is their mean",
            )


def _is_near(mean: float, score: float) -> bool:
    return math.isclose(mean, score, rel_tol=_near_mean, abs_tol=_near_mean)
