"""Labels of references and answers, and how often each occurs over many answers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: Characters of the longest label.
LONGEST = 200
#: How a confusion matrix shows the label of an answer that is none of the labels.
SHOWN_OTHER = "(no label)"
#: That label, which no average counts as one. It is longer than the label of any text.
OTHER = SHOWN_OTHER.ljust(LONGEST + 1)
#: The most labels of one system or group: more of them are texts and not labels.
MOST_LABELS = 100
#: The numbers of a label in statistics: how often it is right, in references and in
#: answers.
_NUMBERS = 3
#: The power of the distance of two ordered labels, by the name of the weights.
POWERS = {"none": 0, "linear": 1, "quadratic": 2}


class LabelPair(NamedTuple):
    """The label of the reference and the label of the answer."""

    reference: str
    answer: str


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How often labels occur over some answers: in references, in answers, in both."""

    labels: Sequence[str]
    #: How often each label is that of an answer and of its reference.
    right: Sequence[float]
    references: Sequence[float]
    answers: Sequence[float]
    #: The sum of the distances of all pairs, 0 without weights.
    distance: float

    @property
    def total(self) -> float:
        """The number of answers."""
        return sum(self.references)


@dataclass(frozen=True, slots=True)
class LabelReading:
    """How labels are read; equal readings read the same labels and distances."""

    #: The options in the form of signatures.
    options: str
    #: Returns the labels of references and of an answer, which is None if it is
    #: missing; raises `UnscorableError` if the references have no label.
    pair: Callable[[str | None, Sequence[str]], LabelPair] = field(compare=False)
    #: The labels in their order if they are given; empty if those of the data count.
    given: tuple[str, ...] = ()
    #: The name of the weights of distances between the given labels.
    weights: str = "none"

    def ordered(self, found: Iterable[str]) -> tuple[str, ...]:
        """Return all labels of some data: in the given order, or else sorted.

        Given labels are all there, and `OTHER` is the last one where it is found.
        """
        names = set(found)
        labels = self.given or sorted(names - {OTHER})
        return (*labels, OTHER) if OTHER in names else tuple(labels)

    def distance(self, pair: LabelPair) -> int:
        """Return the weight of a pair, by the places of its labels among the given.

        `OTHER` is as far from each label as the first label from the last one.
        """
        power = POWERS[self.weights]
        if not power or pair.reference == pair.answer:
            return 0
        if pair.answer == OTHER:
            return int((len(self.given) - 1) ** power)
        places = map(self.given.index, pair)
        return int(abs(next(places) - next(places)) ** power)


@dataclass(frozen=True, slots=True)
class LabelScores:
    """The scores of a metric that is computed from counts by pair of labels."""

    reading: LabelReading
    #: Returns a score for each name of the metric; None where it is not defined.
    scores: Callable[[LabelCounts], tuple[float | None, ...]]
    #: Why a score is not defined although there are answers.
    undefined: str = ""
    #: Whether a label with few references may change the scores as much as any other.
    is_by_label: bool = True

    def row(self, pair: LabelPair, labels: Sequence[str]) -> tuple[float, ...]:
        """Return the statistics of an answer, which add up over answers.

        They are for each of `labels` whether it is right, then whether it is that of
        the reference, then that of the answer, and at last the distance.
        """
        size = len(labels)
        found = [0.0] * statistics_width(labels)
        at, other = map(labels.index, pair)
        found[at] = float(at == other)
        found[size + at] = found[2 * size + other] = 1.0
        found[-1] = float(self.reading.distance(pair))
        return tuple(found)

    def scores_of(
        self, sums: Sequence[float], labels: Sequence[str]
    ) -> tuple[float | None, ...]:
        """Return the scores of summed statistics of these labels."""
        return self.scores(counts_of(sums, labels))


def statistics_width(labels: Sequence[str]) -> int:
    """Return the number of statistics of these labels."""
    return _NUMBERS * len(labels) + 1


def counts_of(sums: Sequence[float], labels: Sequence[str]) -> LabelCounts:
    """Return the counts in summed statistics of these labels, all 0 if there are none.

    Statistics are in the order of `LabelScores.row`.
    """
    size = len(labels)
    padded = sums or (0.0,) * statistics_width(labels)
    right, references, answers = (
        padded[at * size : (at + 1) * size] for at in range(_NUMBERS)
    )
    return LabelCounts(labels, right, references, answers, padded[-1])
