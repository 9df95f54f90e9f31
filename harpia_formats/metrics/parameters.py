"""The parameters that a metric is given: read, checked and completed with defaults."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harpia_formats.metrics.metric import MetricError
from harpia_formats.text.spelling import nearest

SCALES = ("0-1", "0-100")
_scales_by_factor = {1: "0-1", 100: "0-100"}

#: The largest whole number that a parameter may be: n-grams of more words are none.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one metric by name; every reader raises `MetricError`."""

    metric: str
    values: Mapping[str, Any]

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Return one of the words that are `allowed`."""
        value = self.values[name]
        if isinstance(value, str) and value in allowed:
            return value
        raise self.wrong(name, f"one of {', '.join(allowed)}", _meant(value, allowed))

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.values[name]
        if isinstance(value, bool):
            return value
        raise self.wrong(name, "true or false")

    def number(self, name: str, least: float = 0.0) -> float:
        """Return a finite number that is at least `least`."""
        value = self.values[name]
        if not is_number(value) or value < least:
            raise self.wrong(name, f"a number of at least {least:g}")
        return float(value)

    def whole(self, name: str, least: int = 0) -> int:
        """Return a whole number from `least` to `MOST`."""
        value = self.values[name]
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return int(value)

    def scale(self) -> str:
        """Return "0-1" or "0-100", which may also be given as 1 or 100."""
        value = self.values["scale"]
        if is_number(value) and value in _scales_by_factor:
            return _scales_by_factor[value]
        return self.choice("scale", SCALES)

    def wrong(self, name: str, wanted: str, help_: str = "") -> MetricError:
        """Return the error that a value is not what is wanted."""
        value = self.values[name]
        return MetricError(
            f"the parameter {name} of the metric {self.metric} is {value!r}, but must "
            f"be {wanted}{help_}"
        )


def read_parameters(
    metric: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> Parameters:
    """Return what was given, completed with defaults.

    Raises `MetricError` for a parameter that the metric does not have.
    """
    for each in given:
        if each not in defaults:
            known = ", ".join(defaults) or "none"
            raise MetricError(
                f"the metric {metric} has no parameter {each!r} (known: {known})"
                f"{_meant(each, list(defaults))}"
            )
    return Parameters(metric, {**defaults, **given})


@contextmanager
def require_extra(extra: str, metric: str) -> Iterator[None]:
    """Turn a failed import into a `MetricError` that says what to install."""
    try:
        yield
    except ImportError as error:
        raise MetricError(
            f"the metric {metric} needs {error.name or 'a package'}, which is not "
            f"installed: pip install 'harpia-formats[{extra}]'"
        ) from error


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number, which true and false are not."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def yes_no(value: bool) -> str:  # noqa: FBT001 - the word for a flag in a signature
    """Return a flag as signatures have it."""
    return "yes" if value else "no"


def _meant(value: object, allowed: Sequence[str]) -> str:
    near = nearest(value, allowed) if isinstance(value, str) else ""
    return f"; did you mean {near}?" if near else ""
