"""The lengths of answers: length, and relative length by that of the references."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    Measure,
    Metric,
    Sample,
    Statistics,
    means,
    read_parameters,
    references_by_rule,
)
from harpia_formats.evaluation.metrics.text.tokens import unicode_words


def _characters(text: str) -> int:
    return len(text)


def _words(text: str) -> int:
    return len(unicode_words(text))


def _tokens(text: str) -> int:
    return len(text.split())


#: The length of a text by the name of the unit: code points; runs of letters and
#: digits, and characters of scripts without spaces; runs between white space.
LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": _characters,
    "words": _words,
    "tokens": _tokens,
}


LENGTH_DEFAULTS: dict[str, Any] = {}


def _length_measure(given: Mapping[str, Any]) -> Measure:
    read_parameters("length", LENGTH_DEFAULTS, given)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:  # noqa: ARG001 - as all metrics
        return (*(float(length(answer)) for length in LENGTHS.values()), 1.0)

    def of_sample(sample: Sample) -> Statistics:
        return statistics(sample.answer or "", ())

    return Measure(
        tuple(LENGTHS),
        f"length|{OWN_LIBRARY}|words:unicode|tokens:whitespace|scale:any",
        "any",
        statistics,
        means(len(LENGTHS)),
        is_mean=True,
        lower_is_better=None,
        needs=("answer",),
        of_sample=of_sample,
    )


LENGTH_METRIC = Metric(
    "length",
    "The mean length of the answers in characters, words and tokens between white "
    "space; it needs no reference, and no length is the best.",
    LENGTH_DEFAULTS,
    _length_measure,
)


RELATIVE_LENGTH_DEFAULTS = {"unit": "words", "references": "closest"}


def _relative_length_measure(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("relative-length", RELATIVE_LENGTH_DEFAULTS, given)
    unit = parameters.choice("unit", tuple(LENGTHS))
    rule = parameters.choice("references", ("closest", "first"))
    length = LENGTHS[unit]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = length(answer)
        others = map(length, references_by_rule(references, rule))
        # Of two that are as close the shorter one counts.
        closest = min(others, key=lambda other: (abs(other - mine), other))
        return (float(mine), float(closest), 1.0)

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        return (sums[0] / sums[1] if sums and sums[1] else None,)

    signature = f"relative-length|{OWN_LIBRARY}|unit:{unit}|refs:{rule}|scale:any"
    return Measure(
        ("relative-length",),
        signature,
        "any",
        statistics,
        scores,
        lower_is_better=None,
    )


RELATIVE_LENGTH_METRIC = Metric(
    "relative-length",
    "The length of all answers by that of all references, each the closest one of its "
    "record; 1 is as long, and references without a word add nothing to divide by.",
    RELATIVE_LENGTH_DEFAULTS,
    _relative_length_measure,
    is_pooled=True,
)
