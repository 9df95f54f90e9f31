"""Confusion matrices of scores as tables, for people."""

from collections.abc import Iterator
from dataclasses import dataclass

from harpia_formats.evaluation.scoring.confusion import SIDES, Confusion
from harpia_formats.evaluation.scoring.metric_score import score_name
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.text.sanitize import safe

#: Code points of a label.
_SHOWN = 40
#: Stands for a label without text.
_EMPTY = "(empty)"
ALL = "(all)"


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """A confusion matrix with what it is of."""

    title: str
    confusion: Confusion

    @property
    def columns(self) -> list[str]:
        """The names of the columns: references, each label of answers, and the sum."""
        return [
            _shown(self.confusion.sides[0]),
            *map(_shown, self.confusion.labels),
            ALL,
        ]

    @property
    def axes(self) -> str:
        """What rows and columns are, for people."""
        if self.confusion.sides == SIDES:
            return "columns are labels of answers"
        first, second = map(_shown, self.confusion.sides)
        return f"rows are labels of {first}, columns are labels of {second}"

    @property
    def rows(self) -> Iterator[list[str]]:
        """Yield a row for each label that references have."""
        labels = map(_shown, self.confusion.labels)
        for label, counts in zip(labels, self.confusion.counts, strict=True):
            if any(counts):
                yield [label, *(f"{count:,}" for count in (*counts, sum(counts)))]


def confusion_tables(scores: Scores) -> Iterator[ConfusionTable]:
    """Yield the confusion matrices of each model, each once with all of its metrics."""
    for system in scores.systems:
        names: dict[Confusion, list[str]] = {}
        for score in system.scores:
            if score.confusion is not None:
                name = score_name(score.metric, score.name)
                names.setdefault(score.confusion, []).append(name)
        model = ", ".join(value or _EMPTY for value in system.key.values())
        for confusion, metrics in names.items():
            title = f"answers by label, of {', '.join(metrics)}"
            yield ConfusionTable(f"{title}: {model}" if model else title, confusion)


def _shown(label: str) -> str:
    return safe(label, _SHOWN) or _EMPTY
