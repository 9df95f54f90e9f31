"""Reading the parameters of a metric: checked, and completed with defaults."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.metrics.metric import MetricError
from harpia_formats.model.text.spelling import nearest

SCALES = ("0-1", "0-100")
_scales_by_factor = {1: "0-1", 100: "0-100"}

#: The largest integer of a parameter, such as the length of n-grams.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one metric by name; every method raises `MetricError`."""

    metric: str
    values: Mapping[str, Any]

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Return the value, which must be one of the `allowed` strings."""
        value = self.values[name]
        if isinstance(value, str) and value in allowed:
            return value
        raise self.wrong(name, f"one of {', '.join(allowed)}", _meant(value, allowed))

    def flag(self, name: str) -> bool:
        """Return the value, which must be true or false."""
        value = self.values[name]
        if isinstance(value, bool):
            return value
        raise self.wrong(name, "true or false")

    def number(self, name: str, least: float = 0.0) -> float:
        """Return the value, which must be a finite number of at least `least`."""
        value = self.values[name]
        if not is_number(value) or value < least:
            raise self.wrong(name, f"a number of at least {least:g}")
        return float(value)

    def whole(self, name: str, least: int = 0) -> int:
        """Return the value, which must be an integer from `least` to `MOST`."""
        value = self.values[name]
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return int(value)

    def wholes(self, name: str, least: int = 0, most: int = MOST) -> tuple[int, ...]:
        """Return the value, an integer or a list of different ones, as a tuple.

        Each must be from `least` to `most`.
        """
        value = self.values[name]
        found = value if isinstance(value, list | tuple) else [value]
        are_whole = all(type(one) is int and least <= one <= most for one in found)
        if not found or not are_whole or len({*found}) < len(found):
            wanted = f"a whole number from {least} to {most}, or a list of such numbers"
            raise self.wrong(name, wanted)
        return tuple(found)

    def scale(self) -> str:
        """Return the scale, "0-1" or "0-100", which may also be given as 1 or 100."""
        value = self.values["scale"]
        if is_number(value) and value in _scales_by_factor:
            return _scales_by_factor[value]
        return self.choice("scale", SCALES)

    def wrong(self, name: str, wanted: str, help_: str = "") -> MetricError:
        """Return an error that says which value is wrong and what it must be."""
        value = self.values[name]
        return MetricError(
            f"the parameter {name} of the metric {self.metric} is {value!r}, but must "
            f"be {wanted}{help_}"
        )


def read_parameters(
    metric: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> Parameters:
    """Return the given parameters, completed with the defaults of the metric.

    Raises `MetricError` for a parameter that the metric does not have.
    """
    for name in given:
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise MetricError(
                f"the metric {metric} has no parameter {name!r} (known: {known})"
                f"{_meant(name, list(defaults))}"
            )
    return Parameters(metric, {**defaults, **given})


@contextmanager
def require_extra(extra: str, metric: str) -> Iterator[None]:
    """Turn an `ImportError` into a `MetricError` that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise MetricError(
            f"the metric {metric} needs {error.name or 'a package'}, which is not "
            f"installed: pip install 'harpia-formats[{extra}]'"
        ) from error


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number; true and false are not numbers.

    An integer beyond the range of floating-point numbers is not one either.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def yes_no(value: bool) -> str:  # noqa: FBT001 - the word for a flag in a signature
    """Return "yes" or "no", as signatures spell flags."""
    return "yes" if value else "no"


def _meant(value: object, allowed: Sequence[str]) -> str:
    near = nearest(value, allowed) if isinstance(value, str) else ""
    return f"; did you mean {near}?" if near else ""
