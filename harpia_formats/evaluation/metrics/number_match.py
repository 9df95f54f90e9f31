r"""Number match: the share of answers whose number is that of a reference.

The number is read from answer and reference by the rules of
`harpia_formats.evaluation.metrics.text.numbers`: `\boxed{42}`, `#### 42`, `the answer
is 42`, or the only number of the text. Numbers are compared exactly, as fractions,
within a tolerance.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric, UnscorableError
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import RULES, score_over_references
from harpia_formats.evaluation.metrics.text.numbers import NoNumberError, number_in
from harpia_formats.evaluation.metrics.text.text_cache import cached_by_text

DEFAULTS = {
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


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("number-match", DEFAULTS, given)
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


METRIC = Metric(
    "number-match",
    "The share of answers whose number is that of a reference, within a tolerance: "
    "that of \\boxed{}, behind #### or behind `the answer is`, else the only number of "
    "the text. An answer without such a number is left out, or wrong (unreadable).",
    DEFAULTS,
    _measure_of,
)
