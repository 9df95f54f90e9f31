"""The lengths of answers: length, and relative length by that of the references."""

from collections.abc import Callable, Mapping, Sequence

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    Measure,
    Metric,
    Parameters,
    Sample,
    Statistics,
    means,
    pooled_measure,
    references_by_rule,
)
from harpia_formats.evaluation.metrics.text.tokens import unicode_words

#: The length of a text by the name of the unit: code points; runs of letters and
#: digits, and characters of scripts without spaces; runs between white space.
LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(unicode_words(text)),
    "tokens": lambda text: len(text.split()),
}


def _length(_: Parameters) -> Measure:
    """Return the lengths of answers in all units."""

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


def _relative_length(parameters: Parameters) -> Measure:
    """Return the length of answers by that of their references in one unit."""
    unit = parameters.choice("unit", tuple(LENGTHS))
    rule = parameters.choice("references", ("closest", "first"))
    length = LENGTHS[unit]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = length(answer)
        others = map(length, references_by_rule(references, rule))
        # Of two that are as close the shorter one counts.
        closest = min(others, key=lambda other: (abs(other - mine), other))
        return (float(mine), float(closest), 1.0)

    return pooled_measure(
        parameters.metric,
        f"{parameters.metric}|{OWN_LIBRARY}|unit:{unit}|refs:{rule}",
        "any",
        statistics,
        lambda sums: sums[0] / sums[1] if sums[1] else None,
        lower_is_better=None,
    )


METRICS = (
    Metric.of(
        "length",
        "The mean length of the answers in characters, words and tokens between white "
        "space; it needs no reference, and no length is the best.",
        {},
        _length,
    ),
    Metric.of(
        "relative-length",
        "The length of all answers by that of all references, each the closest one of "
        "its record; 1 is as long, and references without a word add nothing to divide "
        "by.",
        {"unit": "words", "references": "closest"},
        _relative_length,
        is_pooled=True,
    ),
)
