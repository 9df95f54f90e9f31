"""Metrics of what is read from an answer: number check and match, multiple choice.

An answer names a choice by the rules of
`harpia_formats.evaluation.metrics.text.choices`. A reference is a letter, the text of a
choice, or its number. An answer that names none or several choices is wrong, as
leaderboards count it, or left out; nothing is guessed.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    RULES,
    Measure,
    Metric,
    Parameters,
    Sample,
    UnscorableError,
    check_rule,
    is_number,
    pair_measure,
    references_by_rule,
    sample_mean_measure,
)
from harpia_formats.evaluation.metrics.text.choices import (
    KINDS,
    Choices,
    NoChoiceError,
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


def _number_check(parameters: Parameters) -> Measure:
    """Return whether last numbers have a relation to those of references."""
    operation = parameters.choice("operation", (*COMPARISONS, DIFFERENCE))
    rule = check_rule(parameters, is_negated=operation == "!=")
    holds = _comparison(parameters, operation)

    def check(answer: str, reference: str) -> float:
        mine = last_number_in(answer, "answer")
        return float(holds(mine, last_number_in(reference, "reference")))

    options = f"op:{operation.replace(' ', '-')}"
    if operation == DIFFERENCE:
        options += f"|epsilon:{parameters.values['epsilon']}"
    return pair_measure(
        parameters, check, options, rule, is_binary=True, same_answer=_number_text
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


#: What the sign of a percentage means.
PERCENT = ("hundredths", "ignored")
#: What several numbers in a text mean that says of none that it is the answer.
SEVERAL = ("refuse", "last")
#: How an answer counts from which no number can be read.
UNREADABLE = ("left-out", "wrong")


def _number_match(parameters: Parameters) -> Measure:
    """Return whether the numbers of answers are those of references."""
    absolute, relative = parameters.number("absolute"), parameters.number("relative")
    decimal = parameters.choice("decimal", (".", ","))
    percent = parameters.choice("percent", PERCENT)
    several = parameters.choice("several", SEVERAL)
    unreadable = parameters.choice("unreadable", UNREADABLE)
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

    return pair_measure(
        parameters,
        check,
        f"abs:{absolute:g}|rel:{relative:g}"
        f"|decimal:{'point' if decimal == '.' else 'comma'}|percent:{percent}"
        f"|several:{several}|unreadable:{unreadable}",
        is_binary=True,
        same_answer=lambda answer: f"{read(answer)}",
        reads=(lambda answer: not isinstance(read(answer), str))
        if unreadable == "wrong"
        else None,
    )


METRICS = (
    Metric.of(
        "number-check",
        "The share of answers whose last number has the relation `operation` to that "
        "of a reference; a record without a number is not scored.",
        {"operation": "==", "epsilon": None, "references": None},
        _number_check,
    ),
    Metric.of(
        "number-match",
        "The share of answers whose number is that of a reference, within a "
        "tolerance: that of \\boxed{}, behind #### or behind `the answer is`, else "
        "the only number of the text. An answer without such a number is left out, or "
        "wrong (unreadable).",
        {
            "absolute": 0,
            "relative": 0,
            "decimal": ".",
            "percent": "hundredths",
            "several": "refuse",
            "unreadable": "left-out",
            "references": "max",
            "scale": "0-1",
        },
        _number_match,
    ),
)

CHOICE_DEFAULTS = {
    "index": None,
    "reference": "any",
    "unreadable": "wrong",
    "references": "max",
    "scale": "0-1",
}
#: How an answer counts that names no choice, or several.
UNREADABLE_CHOICE = ("wrong", "left-out")
#: Answers whose choices are kept, since they are asked for twice.
CHOICES = 8
NEEDS = ("answer", "references", "choices")


def _multiple_choice(parameters: Parameters) -> Measure:
    """Return the metric with its parameters; raises `MetricError`."""
    first = _first_index(parameters)
    kind = parameters.choice("reference", ("any", *KINDS))
    unreadable = parameters.choice("unreadable", UNREADABLE_CHOICE)
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    kinds = KINDS if kind == "any" else (kind,)

    # An index can be nothing else: it needs no parameter that tells it from a text.
    first_of_reference = 0 if kind == "index" and first is None else first

    def score(sample: Sample) -> float:
        choices = Choices(tuple(sample.choices), first_of_reference)
        given = references_by_rule(sample.references, rule)
        right = [_right_choice(choices, reference, kinds) for reference in given]
        if not any(found is not None for found in right):
            raise _no_choice(choices, given[-1])
        return float(choice_in(sample) in {*right} - {None})

    @lru_cache(CHOICES)
    def read(answer: str, texts: tuple[str, ...]) -> int | str:
        """Return the choice that an answer names, or why it names none."""
        try:
            return Choices(texts, first).in_answer(answer)
        except NoChoiceError as error:
            return str(error)

    def choice_in(sample: Sample) -> int | None:
        """Return the choice that an answer names, None if that is wrong."""
        found = read(sample.answer or "", tuple(sample.choices))
        if isinstance(found, int):
            return found
        if unreadable == "wrong":
            return None
        raise UnscorableError(found)

    def named_choice(sample: Sample) -> str:
        return f"{choice_in(sample)}"

    signature = (
        f"multiple-choice|{OWN_LIBRARY}|index:{'no' if first is None else first}"
        f"|reference:{kind}|unreadable:{unreadable}|refs:{rule}"
    )
    return sample_mean_measure(
        "multiple-choice",
        signature,
        score,
        NEEDS,
        scale,
        is_binary=True,
        same_answer=named_choice,
        reads=(lambda sample: choice_in(sample) is not None)
        if unreadable == "wrong"
        else None,
    )


def _first_index(parameters: Parameters) -> int | None:
    """Return the number of the first choice, None if numbers name no choice."""
    value = parameters.values["index"]
    if value is None:
        return None
    if is_number(value) and value in (0, 1):
        return int(value)
    raise parameters.wrong("index", "0 or 1, the number of the first choice, or null")


def _right_choice(
    choices: Choices, reference: str, kinds: tuple[str, ...]
) -> int | None:
    """Return the index of the choice that a reference is, None if it is none.

    Raises `UnscorableError` if it may be several.
    """
    found = choices.named(reference, kinds)
    if len(found) > 1:
        raise UnscorableError(
            f"the reference {reference:.40} may be several choices: the parameter "
            f"reference says which of {', '.join(KINDS)} it is"
        )
    return found.pop() if found else None


def _no_choice(choices: Choices, reference: str) -> UnscorableError:
    """Return the error that a reference is no choice."""
    hint = ""
    if choices.first is None and reference.strip().isdecimal():
        hint = ": the parameter index says whether the first one is 0 or 1"
    return UnscorableError(f"the reference {reference:.40} is no choice{hint}")


CHOICE_METRIC = Metric.of(
    "multiple-choice",
    "The share of answers that name a right one of the choices of their record, by "
    "letter, text or number; an answer that names none or several is wrong, or left "
    "out (unreadable).",
    CHOICE_DEFAULTS,
    _multiple_choice,
)
