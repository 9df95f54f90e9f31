"""Number check: comparing the last number of an answer with that of a reference.

Source: the number check of the NeMo Evaluator SDK. A record scores 1 or 0, and the
metric is their mean.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric, UnscorableError
from harpia_formats.evaluation.metrics.parameters import Parameters, read_parameters
from harpia_formats.evaluation.metrics.references import (
    CHECK_RULES,
    score_over_references,
)

Number = int | float
#: The longest run of a sign, digits and points; it is a number up to its last digit.
_run = re.compile(r"[+-]?[.\d]+")
#: Characters of the longest number that is read; `int` has a limit of 4,300 digits.
LONGEST = 4000
COMPARISONS: Mapping[str, Callable[[Number, Number], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
DIFFERENCE = "absolute difference"
DEFAULTS = {"operation": "==", "epsilon": None, "references": None}


def number_in(text: str, whose: str) -> Number:
    r"""Return the last number of a text: the last match of `[+-]?[.\d]*\d+`.

    Raises `UnscorableError` if there is none, if it has several points, or if it is
    beyond the range of floating-point numbers.
    """
    found = ""
    for match in _run.finditer(text):
        run = match.group().rstrip(".")
        found = run if run.strip("+-.") else found
    if not found:
        raise UnscorableError(f"there is no number in the {whose}")
    if found.count(".") > 1 or len(found) > LONGEST or math.isinf(float(found)):
        raise UnscorableError(
            f"the last number of the {whose} cannot be read: {found:.40}"
        )
    return float(found) if "." in found else int(found)


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("number-check", DEFAULTS, given)
    operation = parameters.choice("operation", (*COMPARISONS, DIFFERENCE))
    # An answer that must not be equal must differ from every reference.
    rule = "min" if operation == "!=" else "max"
    if parameters.values["references"] is not None:
        rule = parameters.choice("references", CHECK_RULES)
    holds = _comparison(parameters, operation)

    def check(answer: str, reference: str) -> float:
        mine, other = number_in(answer, "answer"), number_in(reference, "reference")
        return float(holds(mine, other))

    signature = f"number-check|{OWN_LIBRARY}|op:{operation.replace(' ', '-')}"
    if operation == DIFFERENCE:
        signature += f"|epsilon:{parameters.values['epsilon']}"
    return mean_measure(
        "number-check",
        f"{signature}|refs:{rule}",
        score_over_references(check, rule),
        is_binary=True,
        same_answer=_number_text,
    )


def _number_text(answer: str) -> str:
    """Return the last number of an answer as text; raises `UnscorableError`."""
    number = number_in(answer, "answer")
    is_whole = isinstance(number, int) or number.is_integer()
    return str(int(number) if is_whole else number)


def _comparison(
    parameters: Parameters, operation: str
) -> Callable[[Number, Number], bool]:
    given = parameters.values["epsilon"]
    if operation != DIFFERENCE:
        if given is not None:
            raise parameters.wrong(
                "epsilon", f"left out with the operation {operation}"
            )
        return COMPARISONS[operation]
    epsilon = parameters.number("epsilon")
    return lambda mine, other: abs(mine - other) <= epsilon


METRIC = Metric(
    "number-check",
    "The share of answers whose last number has the relation `operation` to that of a "
    "reference; a record without a number is not scored.",
    DEFAULTS,
    _measure_of,
)
