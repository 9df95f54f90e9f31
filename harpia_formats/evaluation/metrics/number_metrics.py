"""Metrics that compare numbers: number check and number match."""

import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    CHECK_RULES,
    OWN_LIBRARY,
    RULES,
    Measure,
    Metric,
    Parameters,
    UnscorableError,
    mean_measure,
    read_parameters,
    score_over_references,
)
from harpia_formats.evaluation.metrics.text.numbers import NoNumberError, number_in
from harpia_formats.evaluation.metrics.text.tokens import cached_by_text

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
NUMBER_CHECK_DEFAULTS = {"operation": "==", "epsilon": None, "references": None}


def last_number_in(text: str, whose: str) -> Number:
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


def _number_check_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("number-check", NUMBER_CHECK_DEFAULTS, given)
    operation = parameters.choice("operation", (*COMPARISONS, DIFFERENCE))
    # An answer that must not be equal must differ from every reference.
    rule = "min" if operation == "!=" else "max"
    if parameters.values["references"] is not None:
        rule = parameters.choice("references", CHECK_RULES)
    holds = _comparison(parameters, operation)

    def check(answer: str, reference: str) -> float:
        mine, other = (
            last_number_in(answer, "answer"),
            last_number_in(reference, "reference"),
        )
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
    number = last_number_in(answer, "answer")
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


NUMBER_CHECK_METRIC = Metric(
    "number-check",
    "The share of answers whose last number has the relation `operation` to that of a "
    "reference; a record without a number is not scored.",
    NUMBER_CHECK_DEFAULTS,
    _number_check_measure,
)


NUMBER_MATCH_DEFAULTS = {
    "absolute": 0,
    "relative": 0,
    "decimal": ".",
    "percent": "hundredths",
    "several": "refuse",
    "unreadable": "left-out",
    "references": "max",
    "scale": "0-1",
}
#: What the sign of a percentage means.
PERCENT = ("hundredths", "ignored")
#: What several numbers in a text mean that says of none that it is the answer.
SEVERAL = ("refuse", "last")
#: How an answer counts from which no number can be read.
UNREADABLE = ("left-out", "wrong")


def _number_match_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("number-match", NUMBER_MATCH_DEFAULTS, given)
    absolute, relative = parameters.number("absolute"), parameters.number("relative")
    decimal = parameters.choice("decimal", (".", ","))
    percent = parameters.choice("percent", PERCENT)
    several = parameters.choice("several", SEVERAL)
    unreadable = parameters.choice("unreadable", UNREADABLE)
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    # 0.1 is a tenth, and not the floating-point number next to it.
    most, share = Fraction(repr(absolute)), Fraction(repr(relative))

    @cached_by_text
    def read(text: str) -> Fraction | str:
        try:
            return number_in(
                text,
                decimal=decimal,
                hundredths=percent == "hundredths",
                last=several == "last",
            )
        except NoNumberError as error:
            return str(error)

    def check(answer: str, reference: str) -> float:
        other = read(reference)
        if isinstance(other, str):
            raise UnscorableError(f"no number is read from the reference: {other}")
        mine = read(answer)
        if not isinstance(mine, str):
            return float(abs(mine - other) <= max(most, share * abs(other)))
        if unreadable == "wrong":
            return 0.0
        raise UnscorableError(f"no number is read from the answer: {mine}")

    signature = (
        f"number-match|{OWN_LIBRARY}|abs:{absolute:g}|rel:{relative:g}"
        f"|decimal:{'point' if decimal == '.' else 'comma'}|percent:{percent}"
        f"|several:{several}|unreadable:{unreadable}|refs:{rule}"
    )
    return mean_measure(
        "number-match",
        signature,
        score_over_references(check, rule),
        scale,
        is_binary=True,
        same_answer=lambda answer: f"{read(answer)}",
        reads=(lambda answer: not isinstance(read(answer), str))
        if unreadable == "wrong"
        else None,
    )


NUMBER_MATCH_METRIC = Metric(
    "number-match",
    "The share of answers whose number is that of a reference, within a tolerance: "
    "that of \\boxed{}, behind #### or behind `the answer is`, else the only number of "
    "the text. An answer without such a number is left out, or wrong (unreadable).",
    NUMBER_MATCH_DEFAULTS,
    _number_match_measure,
)
