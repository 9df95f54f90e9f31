"""The numbers of answers by pair of labels, of one system or group."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from harpia_formats.evaluation.metrics.label_reading import (
    MOST_LABELS,
    OTHER,
    SHOWN_OTHER,
    LabelPair,
    LabelScores,
)
from harpia_formats.evaluation.scoring.confusion import Confusion
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.text.sanitize import safe

#: Fewer questions with a label in the reference make intervals approximate, and those
#: of differences between two systems. `benchmarks/coverage.py` measures both.
FEW, FEW_COMPARED = 10, 20
FEW_REFERENCES = "few references with a label: the interval is approximate"
#: Labels that one reference each has are texts, if there are as many of them.
MAY_BE_TEXTS = (
    "most labels are in one reference only, so that these may be texts and not labels: "
    "the interval is approximate"
)
#: The sum of the weights of the answers with each pair of labels.
PairWeights = Mapping[LabelPair, Fraction]
#: The labels that an error shows, and their characters.
_EXAMPLES, _SHOWN = 3, 40


class TooManyLabelsError(ScoreError):
    """Texts that are no labels, since there are too many of them."""

    def __init__(self, metric: str, examples: Iterable[str]) -> None:
        self._metric = metric
        texts = ", ".join(repr(safe(text, _SHOWN)) for text in examples)
        super().__init__(self._message(f" ({texts}, ...)"))

    def _message(self, examples: str) -> str:
        return (
            f"{self._metric} finds more than {MOST_LABELS} labels{examples}: these are "
            f"texts, not labels; --param {self._metric}.labels=A,B,C names the labels"
        )

    def without_values(self) -> ScoreError:
        """Return the error without the labels."""
        return ScoreOptionsError(self._message(""))


@dataclass(slots=True)
class LabelTotals:
    """Counts answers by pair of labels; raises `TooManyLabelsError`."""

    #: The name of the metric.
    name: str
    scores: LabelScores
    _pairs: Counter[LabelPair] = field(default_factory=Counter)
    _labels: dict[str, None] = field(default_factory=dict)

    def add(self, pairs: Iterable[LabelPair]) -> None:
        """Add the pairs of some answers."""
        self._add(Counter(pairs))

    def merge(self, other: Self) -> None:
        """Add the answers of `other`."""
        self._add(other._pairs)

    def _add(self, pairs: Counter[LabelPair]) -> None:
        for pair in pairs:
            if pair not in self._pairs:
                self._labels.update(dict.fromkeys(pair))
        if len(self._labels) - (OTHER in self._labels) > MOST_LABELS:
            labels = [label for label in self._labels if label != OTHER]
            raise TooManyLabelsError(self.name, labels[:_EXAMPLES])
        self._pairs.update(pairs)

    def values(self, weights: PairWeights | None = None) -> tuple[float | None, ...]:
        """Return the scores of all answers so far, or of the sums of their weights."""
        labels = self.scores.reading.ordered(self._labels)
        places = {label: place for place, label in enumerate(labels)}
        size = len(labels)
        sums: list[Fraction | int] = [0] * (3 * size + 1)
        for pair, count in (weights or self._pairs).items():
            at, other = places[pair.reference], places[pair.answer]
            sums[at] += count * (at == other)
            sums[size + at] += count
            sums[2 * size + other] += count
            sums[-1] += count * self.scores.reading.distance(pair)
        # Equal fractions are equal floats, where a formula compares them.
        return self.scores.scores_of(
            [float(one) if isinstance(one, Fraction) else one for one in sums], labels
        )

    def remark(self, questions: int, weights: PairWeights | None = None) -> str:
        """Return why intervals over so many questions are approximate, "" if not.

        `weights` has the sum of the weights of the answers with each pair, if these do
        not count once each.
        """
        if not self.scores.is_by_label:
            return ""
        references: dict[str, Fraction | int] = dict.fromkeys(self._labels, 0)
        for pair, count in (weights or self._pairs).items():
            references[pair.reference] += count
        total = sum(references.values())
        references.pop(OTHER, None)
        return references_remark(references.values(), total, questions)

    def confusion(self) -> Confusion | None:
        """Return the number of answers of each pair; None without answers."""
        if not self._pairs:
            return None
        labels = self.scores.reading.ordered(self._labels)
        rows = (
            tuple(self._pairs[LabelPair(reference, answer)] for answer in labels)
            for reference in labels
        )
        shown = (SHOWN_OTHER if label == OTHER else label for label in labels)
        return Confusion(tuple(shown), tuple(rows))


def references_remark(
    references: Iterable[float | Fraction],
    answers: float | Fraction,
    questions: int,
    few: int = FEW,
) -> str:
    """Return why intervals over so many questions and answers are approximate.

    `references` has for each label how many answers have it as their reference. Returns
    "" if none has fewer than `few` questions.
    """
    counts = [count * questions for count in references]
    least = min(counts, default=0)
    found = [count for count in counts if count]
    single = sum(count <= answers for count in found)
    if single > FEW and 2 * single > len(found):
        return MAY_BE_TEXTS
    return FEW_REFERENCES if least < few * answers else ""
