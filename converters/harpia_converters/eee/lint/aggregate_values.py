"""Check the bounds of scores and the times in an aggregate (E207-E209)."""

import math
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from harpia_converters.eee.lint.wording import quoted
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.numbers import float_of
from harpia_formats.model.problem import Path

BEYOND, ORDER, TIME = "E207", "E208", "E209"

_results = "evaluation_results"
#: The texts with which a bound says that there is none.
_infinite = {"Infinity": math.inf, "-Infinity": -math.inf}
#: How far clocks and time zones may be apart, in seconds.
_tolerance = 2 * 24 * 3600
#: How much of a bound sums of floats may add to a score.
_near = 1e-9


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
    return score < least - _near or score > largest + _near


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
        if number is None or _is_unknown(result, number):
            continue
        if is_beyond(number, bounds):
            yield beyond((*path, "score_details", "score"), score, bounds)


def _is_unknown(result: Mapping[str, Any], score: float) -> bool:
    """Tell whether a score says that the level is unknown."""
    config = result.get("metric_config")
    has_unknown = isinstance(config, Mapping) and config.get("has_unknown_level")
    return has_unknown is True and score == -1


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
