"""Metrics of labels: precision, recall and F1, Cohen's kappa, Matthews' correlation.

Answers and references are read as labels, and each metric is computed from how often
each pair of labels occurs.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import fsum, sqrt
from operator import mul
from typing import Any, NoReturn

from harpia_formats.evaluation.metrics.label_counts import (
    LONGEST,
    MOST_LABELS,
    OTHER,
    POWERS,
    LabelCounts,
    LabelPair,
    LabelReading,
    LabelScores,
)
from harpia_formats.evaluation.metrics.metric import (
    FACTORS,
    OWN_LIBRARY,
    Measure,
    Metric,
    Parameters,
    UnscorableError,
    references_by_rule,
)
from harpia_formats.evaluation.metrics.text.tokens import NORMALISATIONS, cached_by_text

#: The parameters of every metric of labels.
LABEL_DEFAULTS = {"labels": None, "normalisation": "byob", "references": "any"}
#: What several references mean: the label of any of them is right, or of the first one.
RULES = ("any", "first")
#: Characters of given labels that a signature holds, and of the digest of longer ones.
_SHOWN, _DIGEST = 200, 12


def read_labels(parameters: Parameters, weights: str = "none") -> LabelReading:
    """Return how the labels of a metric are read; raises `MetricError`.

    `weights` is the name of the weights of distances between labels in their order.
    """
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule = parameters.choice("references", RULES)
    normal = NORMALISATIONS[chosen]
    given = _given_labels(parameters, normal)
    known = frozenset(given)

    @cached_by_text
    def label_of(text: str) -> str:
        """Return the label of a text, `OTHER` if it has none."""
        found = normal(text)
        is_label = found in known if known else len(found) <= LONGEST
        return found if is_label else OTHER

    def pair(answer: str | None, references: Sequence[str]) -> LabelPair:
        found = [label_of(text) for text in references_by_rule(references, rule)]
        labels = [label for label in found if label != OTHER]
        if not labels:
            raise UnscorableError(
                "the reference is none of the labels"
                if given
                else f"a reference of more than {LONGEST} characters is no label"
            )
        mine = OTHER if answer is None else label_of(answer)
        return LabelPair(mine if mine in labels else labels[0], mine)

    options = f"norm:{chosen}|labels:{shown_labels(given)}|refs:{rule}"
    return LabelReading(options, pair, given, weights)


def _given_labels(
    parameters: Parameters, normal: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the labels that the parameters name; raises `MetricError`."""
    value = parameters.values["labels"]
    if value is None:
        return ()
    texts = re.split(r"\s*,\s*", value) if isinstance(value, str) else value
    found = (
        [normal(text) for text in map(label_text, texts) if text is not None]
        if isinstance(texts, list | tuple)
        else []
    )
    is_list = 1 < len(found) <= MOST_LABELS and len(found) == len(texts)
    if not is_list or len({*found, OTHER}) <= len(found):
        wanted = f"a list of 2 to {MOST_LABELS} texts that differ when normalised"
        raise parameters.wrong("labels", wanted)
    return tuple(found)


def label_text(value: Any) -> str | None:
    """Return a label of a parameter as text; None for a value that is no label."""
    if isinstance(value, str):
        return value
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_whole else None


def shown_labels(given: tuple[str, ...]) -> str:
    """Return given labels for a signature: their texts, or number and digest."""
    if not given:
        return "data"
    shown = _quoted(given)
    if len(shown) <= _SHOWN:
        return shown
    from hashlib import sha256  # noqa: PLC0415 - most runs have no long list of labels

    digest = sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{len(given)}#{digest}"


def label_measure(  # noqa: PLR0913 - what a metric of labels consists of
    name: str,
    reading: LabelReading,
    scores: Callable[[LabelCounts], float | None],
    *,
    options: str = "",
    scale: str = "-1-1",
    undefined: str = "",
    is_by_label: bool = True,
) -> Measure:
    """Return a metric that is computed from counts by pair of labels.

    `scores` returns a score between -1 and 1 of counts, of which there are some, and
    None where it is not defined; `undefined` tells why. `options` are those in the
    signature apart from those of the reading. `is_by_label` says whether a label with
    few references may change the score as much as any other. On the scale "-1-1" the
    score stays as it is.
    """
    factor = FACTORS.get(scale, 1)

    def scaled(counts: LabelCounts) -> tuple[float | None, ...]:
        value = scores(counts) if counts.total else None
        return (None if value is None else value * factor,)

    more = f"|{options}" if options else ""
    return Measure(
        (name,),
        f"{name}|{OWN_LIBRARY}{more}|{reading.options}|scale:{scale}",
        scale,
        _refused,
        _refused,
        labels=LabelScores(reading, scaled, undefined, is_by_label),
    )


def _refused(*_: Any) -> NoReturn:
    """Raise `TypeError`, since answers of labels are counted by their pairs."""
    raise TypeError("a metric of labels has pairs of labels and no statistics")


#: The mean over labels, the ratio of the sums over labels, and the mean weighted by the
#: number of references with the label.
AVERAGES = ("macro", "micro", "weighted")
#: Returns the numerator and the denominator of a score of a label, from how often it is
#: right, in references and in answers.
Ratio = Callable[[float, float, float], tuple[float, float]]
SHARES = {**LABEL_DEFAULTS, "scale": "0-1"}
#: The parameters of a score of which a label may have none, where it divides by 0.
RATIOS = {"average": "macro", "positive": None, **SHARES, "zero_division": 0}


def average_measure(
    parameters: Parameters, ratio: Ratio, average: str = "macro"
) -> Measure:
    """Return an average over labels, or the score of the parameter `positive`.

    `average` counts for a metric without a parameter of this name. Raises
    `MetricError` for a bad value.
    """
    values = parameters.values
    if "average" in values:
        average = parameters.choice("average", AVERAGES)
    zero = values.get("zero_division", 0)
    if isinstance(zero, bool) or zero not in (0, 1):
        raise parameters.wrong("zero_division", "0 or 1")
    reading, scale = read_labels(parameters), parameters.scale()
    positive = _positive(parameters, reading.given)
    of_one = positive is not None
    if of_one:  # its score is that of one label, whatever its number of references
        average = "macro"
    division = f"|zero:{zero:g}" if "zero_division" in values else ""

    def score(counts: LabelCounts) -> float | None:
        columns = counts.labels, counts.right, counts.references, counts.answers
        rows = [
            numbers
            for label, *numbers in zip(*columns, strict=True)
            if label != OTHER and any(numbers[1:]) and positive in (None, label)
        ]
        return _averaged(rows, ratio, average, float(zero))

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
    return fsum(map(mul, values, weights)) / fsum(weights)


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


def _quoted(value: Any) -> str:
    """Return a text, or a list of texts, without `|`, at which signatures are split."""
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return shown.replace("|", "\\u007c")


def kappa(counts: LabelCounts, weights: str) -> float | None:
    """Return kappa of at least one answer; None where no disagreement is expected."""
    if weights == "none":
        total = counts.total
        observed = total - fsum(counts.right)
        expected = total**2 - fsum(map(mul, counts.references, counts.answers))
    else:
        observed, expected = counts.distance, _expected(counts, weights)
    return 1 - observed * counts.total / expected if expected else None


def _expected(counts: LabelCounts, weights: str) -> float:
    """Return the sum of distances over all pairs of a reference and an answer."""
    has_other = counts.labels[-1] == OTHER
    size = len(counts.labels) - has_other
    references, answers = counts.references[:size], counts.answers[:size]
    far = (size - 1) ** POWERS[weights]
    others = sum(references) * counts.answers[-1] * far if has_other else 0.0
    return others + _DISTANCES[weights](references, answers)


def _linear(references: Sequence[float], answers: Sequence[float]) -> float:
    """Return the sum of |i - j| over all pairs: how many lie across each border."""
    ours, theirs = list(accumulate(references)), list(accumulate(answers))
    return fsum(
        one * (theirs[-1] - other) + other * (ours[-1] - one)
        for one, other in zip(ours, theirs, strict=True)
    )


def _quadratic(references: Sequence[float], answers: Sequence[float]) -> float:
    """Return the sum of (i - j)^2 over all pairs, from the sums of powers of both."""
    ours, theirs = (
        [
            fsum(place**power * count for place, count in enumerate(counts))
            for power in range(3)
        ]
        for counts in (references, answers)
    )
    return ours[2] * theirs[0] - 2 * ours[1] * theirs[1] + ours[0] * theirs[2]


_DISTANCES = {"linear": _linear, "quadratic": _quadratic}


def _kappa_measure(parameters: Parameters) -> Measure:
    """Return kappa with its parameters; raises `MetricError`."""
    weights = parameters.choice("weights", tuple(POWERS))
    reading = read_labels(parameters, weights)
    if weights != "none" and not reading.given:
        raise parameters.wrong("weights", "none without labels in their order")
    return label_measure(
        "kappa",
        reading,
        lambda counts: kappa(counts, weights),
        options=f"weights:{weights}",
        undefined="all references and answers have one label",
    )


def coefficient(counts: LabelCounts) -> float:
    """Return the coefficient of at least one answer."""
    total = counts.total
    chance = fsum(map(mul, counts.references, counts.answers))
    references, answers = (
        sqrt(total**2 - fsum(map(mul, each, each)))
        for each in (counts.references, counts.answers)
    )
    spread = references * answers
    return (fsum(counts.right) * total - chance) / spread if spread else 0.0


def _average_metric(
    name: str,
    summary: str,
    ratio: Ratio,
    defaults: Mapping[str, Any] = RATIOS,
    average: str = "macro",
) -> Metric:
    """Return the metric of an average of a ratio over labels."""
    return Metric.of(
        name,
        summary,
        defaults,
        lambda parameters: average_measure(parameters, ratio, average),
    )


_LABELLED = "labels of references and answers: 1 if all are right, 0 as by chance"


def _f1_of_label(
    right: float, references: float, answers: float
) -> tuple[float, float]:
    return 2 * right, references + answers


_F1_SUMMARIES = {
    "macro": "The mean of the F1 of each label: 2 x right / (references + answers).",
    "micro": "The F1 of all labels together: the accuracy, if every answer has a "
    "label.",
    "weighted": "The mean of the F1 of each label, weighted by its number of "
    "references.",
}
F1_BINARY_METRIC = _average_metric(
    "f1-binary",
    "The F1 of one label, the parameter `positive`.",
    _f1_of_label,
    # The positive label is 1 if not given, as in scikit-learn.
    {"positive": "1", **SHARES},
)
METRICS = (
    _average_metric(
        "precision",
        "The share of the answers with a label that are right: the mean over labels "
        "(macro), weighted by their references (weighted), of all labels together "
        "(micro), or of the label `positive`.",
        lambda right, _, answers: (right, answers),
    ),
    _average_metric(
        "recall",
        "The share of the references with a label that the answers give: the mean over "
        "labels (macro), weighted by their references (weighted), of all labels "
        "together (micro), or of the label `positive`.",
        lambda right, references, _: (right, references),
    ),
    *(
        _average_metric(f"f1-{average}", summary, _f1_of_label, SHARES, average)
        for average, summary in _F1_SUMMARIES.items()
    ),
    F1_BINARY_METRIC,
    Metric.of(
        "mcc",
        f"Matthews' correlation coefficient of the {_LABELLED}, at least -1.",
        LABEL_DEFAULTS,
        lambda parameters: label_measure("mcc", read_labels(parameters), coefficient),
    ),
    Metric.of(
        "kappa",
        f"Cohen's kappa of the {_LABELLED}; weights (linear, quadratic) for labels in "
        "their order.",
        {**LABEL_DEFAULTS, "weights": "none"},
        _kappa_measure,
    ),
)
