"""The scorers match, exact, f1 and choice of Inspect AI, as metrics of stored answers.

Source: inspect_ai 0.3.285. What Inspect calls accuracy or mean is the mean of their
scores; its standard error is that of the means of the epochs of each sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure, sample_mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric, Sample
from harpia_formats.evaluation.metrics.parameters import read_parameters, yes_no
from harpia_formats.evaluation.metrics.references import (
    require_references,
    score_over_references,
)
from harpia_formats.evaluation.metrics.text.inspect_text import (
    LOCATIONS,
    chosen_letters,
    matches,
    words_f1,
    words_of,
)

MATCH = {"location": "end", "ignore_case": True, "numeric": False}
NOTHING: dict[str, Any] = {}


def _match(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("inspect-match", MATCH, given)
    location = parameters.choice("location", LOCATIONS)
    ignore_case, numeric = parameters.flag("ignore_case"), parameters.flag("numeric")

    def check(answer: str, reference: str) -> float:
        return float(
            matches(
                answer, reference, location, ignore_case=ignore_case, numeric=numeric
            )
        )

    signature = (
        f"inspect-match|{OWN_LIBRARY}|location:{location}"
        f"|case:{'folded' if ignore_case else 'mixed'}|numeric:{yes_no(numeric)}"
        "|refs:max"
    )
    score = score_over_references(check, "max")
    return mean_measure("inspect-match", signature, score, is_binary=True)


def _words(references: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each reference that has any; Inspect leaves out others."""
    return filter(None, map(words_of, require_references(references)))


def _exact(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-exact", NOTHING, given)

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        return float(any(other == mine for other in _words(references)))

    signature = f"inspect-exact|{OWN_LIBRARY}|refs:max"
    return mean_measure("inspect-exact", signature, score, is_binary=True)


def _f1(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-f1", NOTHING, given)

    def score(answer: str, references: Sequence[str]) -> float:
        mine = words_of(answer)
        found = (words_f1(mine, other) for other in _words(references))
        return round(max(found, default=0.0), 2)

    signature = f"inspect-f1|{OWN_LIBRARY}|digits:2|refs:max"
    return mean_measure("inspect-f1", signature, score)


def _choice(given: Mapping[str, Any]) -> Measure:
    read_parameters("inspect-choice", NOTHING, given)

    def score(sample: Sample) -> float:
        right = {letter.upper() for text in sample.references for letter in text}
        several = len(sample.references) > 1
        found = chosen_letters(
            sample.answer or "", len(sample.choices), several=several
        )
        return float(found == right)

    signature = f"inspect-choice|{OWN_LIBRARY}|refs:all"
    needs = ("answer", "references", "choices")
    return sample_mean_measure(
        "inspect-choice", signature, score, needs, is_binary=True
    )


METRICS = (
    Metric(
        "inspect-match",
        "The share of answers that end with a reference (or begin with it, have it or "
        "are it: location), without case and marks at the ends, as Inspect's match().",
        MATCH,
        _match,
    ),
    Metric(
        "inspect-exact",
        "The share of answers with the words of a reference, without case, punctuation "
        "and articles, as Inspect's exact().",
        NOTHING,
        _exact,
    ),
    Metric(
        "inspect-f1",
        "The mean F1 of the words of an answer and a reference, each rounded to two "
        "digits, as Inspect's f1().",
        NOTHING,
        _f1,
    ),
    Metric(
        "inspect-choice",
        "The share of answers whose letters behind `ANSWER:` are all of the references "
        "and no others, as Inspect's choice(); an answer without such is wrong.",
        NOTHING,
        _choice,
    ),
)
