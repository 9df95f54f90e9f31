"""The metrics acc, acc_norm and exact_match of lm-eval."""

import re
import string
from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    PAIR,
    Measure,
    Metric,
    MetricError,
    Parameters,
    Sample,
    UnscorableError,
    read_parameters,
    sample_mean_measure,
    score_over_references,
    yes_no,
)

ACC = "lm-eval-acc"
ACC_DEFAULTS = {"by_length": False}
NEEDS = ("references", "choices", "likelihoods")


def _acc_measure(given: Mapping[str, Any]) -> Measure:
    by_length = read_parameters(ACC, ACC_DEFAULTS, given).flag("by_length")

    def score(sample: Sample) -> float:
        choices, likelihoods = sample.choices, list(sample.likelihoods or ())
        # A task that compares with likelihoods without a context has these behind them.
        if len(likelihoods) not in {len(choices), 2 * len(choices)}:
            raise UnscorableError(
                f"there are {len(likelihoods)} likelihoods of {len(choices)} choices"
            )
        right = sample.references[0]
        if choices.count(right) != 1:
            raise UnscorableError("the reference is not one of the choices, or several")
        values = [
            value / (len(choice) or 1) if by_length else value
            for value, choice in zip(likelihoods, choices, strict=False)
        ]
        return float(values.index(max(values)) == choices.index(right))

    signature = f"{ACC}|{OWN_LIBRARY}|by-length:{yes_no(by_length)}|refs:first"
    return sample_mean_measure(ACC, signature, score, NEEDS, is_binary=True)


ACC_METRIC = Metric(
    ACC,
    "The share of records whose right choice has the highest stored log-likelihood, by "
    "its length or not, as lm-eval's acc_norm and acc of multiple choice.",
    ACC_DEFAULTS,
    _acc_measure,
)


EXACT_MATCH = "lm-eval-exact-match"
EXACT_MATCH_DEFAULTS: dict[str, Any] = {
    "regexes_to_ignore": [],
    "ignore_case": False,
    "ignore_punctuation": False,
    "ignore_numbers": False,
    "filter": None,
}
#: The name of the filter that keeps the whole answer.
NO_FILTER = "none"
_flags = ("ignore_case", "ignore_punctuation", "ignore_numbers")


def _exact_match_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters(EXACT_MATCH, EXACT_MATCH_DEFAULTS, given)
    patterns = _patterns(parameters)
    case, punctuation, numbers = (parameters.flag(name) for name in _flags)
    name = _filter(parameters)
    dropped = str.maketrans(
        "", "", string.punctuation * punctuation + string.digits * numbers
    )

    def normal(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        # Arrays of numpy, which the harness compares, end texts before null characters.
        text = text.rstrip("\0")
        return (text.lower() if case else text).translate(dropped)

    def is_match(answer: str, reference: str) -> float:
        return float(normal(answer) == normal(reference))

    ignored = "+".join(pattern.pattern for pattern in patterns) or "no"
    signature = (
        f"{EXACT_MATCH}|{OWN_LIBRARY}|regexes:{ignored.replace('|', '/')}"
        f"|case:{'lc' if case else 'mixed'}|punct:{yes_no(not punctuation)}"
        f"|numbers:{yes_no(not numbers)}|filter:{name or NO_FILTER}|refs:max"
    )
    best = score_over_references(is_match, "max")

    def of_sample(sample: Sample) -> float:
        return best(_scored_text(sample, name), sample.references)

    return sample_mean_measure(
        EXACT_MATCH,
        signature,
        of_sample,
        PAIR,
        is_binary=True,
        uses=("extracted",),
        same_answer=lambda sample: normal(_scored_text(sample, name)),
    )


def _scored_text(sample: Sample, name: str | None) -> str:
    """Return what the filter `name` kept of an answer, all of it if there is no filter.

    Raises `UnscorableError`, without a reason for an answer of another filter.
    """
    kept = sample.extracted or {}
    if not kept and name in {None, NO_FILTER}:
        return sample.answer or ""
    found = kept.get(name or NO_FILTER)
    if found is not None:
        return found
    if name is None:
        raise UnscorableError(
            f"the parameter filter must say which one counts: {', '.join(kept)}"
        )
    raise UnscorableError


def _filter(parameters: Parameters) -> str | None:
    """Return the name of the filter, None if none is given; raises `MetricError`."""
    value = parameters.values["filter"]
    if value is None or (isinstance(value, str) and value):
        return value or None
    raise parameters.wrong("filter", "the name of a filter, such as strict-match")


def _patterns(parameters: Parameters) -> list[re.Pattern[str]]:
    """Return the regular expressions to leave out; raises `MetricError`."""
    given = parameters.values["regexes_to_ignore"]
    if not isinstance(given, list | tuple) or not all(
        isinstance(text, str) for text in given
    ):
        raise parameters.wrong("regexes_to_ignore", "a list of regular expressions")
    try:
        return [re.compile(text) for text in given]
    except re.error as error:
        raise MetricError(
            f"a regular expression of {EXACT_MATCH}.regexes_to_ignore is wrong: {error}"
        ) from error


EXACT_MATCH_METRIC = Metric(
    EXACT_MATCH,
    "The share of answers, or of what a filter kept of them, that equal a reference "
    "after regular expressions, case, punctuation or digits are left out, as lm-eval's "
    "exact_match.",
    EXACT_MATCH_DEFAULTS,
    _exact_match_measure,
)
