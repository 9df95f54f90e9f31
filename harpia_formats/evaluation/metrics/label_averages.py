"""Averages of the precision, recall and F1 of labels.

The definitions are those of scikit-learn (`precision_recall_fscore_support`) over the
labels that references or answers have.
"""

from collections.abc import Callable
from math import fsum
from typing import Any

from harpia_formats.evaluation.metrics.label_reading import OTHER, LabelCounts
from harpia_formats.evaluation.metrics.labels import (
    DEFAULTS,
    label_measure,
    label_text,
    read_labels,
)
from harpia_formats.evaluation.metrics.metric import Measure
from harpia_formats.evaluation.metrics.parameters import Parameters, read_parameters
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS

#: The mean over labels, the ratio of the sums over labels, and the mean weighted by the
#: number of references with the label.
AVERAGES = ("macro", "micro", "weighted")
#: Returns the numerator and the denominator of a score of a label, from how often it is
#: right, in references and in answers.
Ratio = Callable[[float, float, float], tuple[float, float]]
SHARES = {**DEFAULTS, "scale": "0-1"}
#: The parameters of a score of which a label may have none, where it divides by 0.
RATIOS = {"average": "macro", "positive": None, **SHARES, "zero_division": 0}


def ratio_measure(name: str, ratio: Ratio, given: Any) -> Measure:
    """Return precision or recall with its parameters; raises `MetricError`."""
    parameters = read_parameters(name, RATIOS, given)
    average = parameters.choice("average", AVERAGES)
    zero = parameters.values["zero_division"]
    if isinstance(zero, bool) or zero not in (0, 1):
        raise parameters.wrong("zero_division", "0 or 1")
    return average_measure(parameters, ratio, average, float(zero))


def average_measure(
    parameters: Parameters, ratio: Ratio, average: str, zero: float = 0.0
) -> Measure:
    """Return an average over labels, or the score of the parameter `positive`.

    `zero` is the score of a label whose ratio divides by 0. Raises `MetricError`.
    """
    reading, scale = read_labels(parameters), parameters.scale()
    positive = _positive(parameters, reading.given)
    division = f"|zero:{zero:g}" if "zero_division" in parameters.values else ""

    def score(counts: LabelCounts) -> float | None:
        rows = [
            (label, numbers)
            for label, *numbers in zip(
                counts.labels,
                counts.right,
                counts.references,
                counts.answers,
                strict=True,
            )
            if label != OTHER and (numbers[1] or numbers[2])
        ]
        if positive is not None:
            rows = [row for row in rows if row[0] == positive]
        return _averaged([numbers for _, numbers in rows], ratio, average, zero)

    of_one = positive is not None
    return label_measure(
        parameters.metric,
        reading,
        score,
        options=f"average:{'positive' if of_one else average}{division}"
        + (f"|positive:{_quoted(positive)}" if positive is not None else ""),
        scale=scale,
        is_by_label=of_one or average == "macro",
        undefined="no reference and no answer has the positive label" if of_one else "",
    )


def _averaged(
    rows: list[list[float]], ratio: Ratio, average: str, zero: float
) -> float | None:
    """Return the average over labels, whose numbers are in `rows`; None without any."""
    if not rows:
        return None
    parts = [ratio(*numbers) for numbers in rows]
    if average == "micro":
        above, below = (fsum(column) for column in zip(*parts, strict=True))
        return above / below if below else zero
    values = [above / below if below else zero for above, below in parts]
    if average == "macro":
        return fsum(values) / len(values)
    weights = [references for _, references, _ in rows]
    weighted = (value * weight for value, weight in zip(values, weights, strict=True))
    return fsum(weighted) / fsum(weights)


def _positive(parameters: Parameters, given: tuple[str, ...]) -> str | None:
    """Return the positive label, None for an average; raises `MetricError`."""
    value = parameters.values.get("positive")
    if value is None:
        return None
    text = label_text(value)
    if text is None:
        raise parameters.wrong("positive", "the text of a label")
    label = NORMALISATIONS[parameters.values["normalisation"]](text)
    if given and label not in given:
        raise parameters.wrong("positive", "one of the labels that are given")
    return label


def _quoted(text: str) -> str:
    import json  # noqa: PLC0415 - most runs have no positive label

    return json.dumps(text, ensure_ascii=False).replace("|", "\\u007c")
