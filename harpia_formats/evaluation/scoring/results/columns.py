"""The scores of a run as a flat list of columns, for writers of results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harpia_formats.evaluation.metrics.metric import limits_of
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.results.format import Files
from harpia_formats.evaluation.scoring.scored_answer import ScoredAnswer
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.text.sanitize import escaped

#: Added to the signature of a pooled metric for the score of a single answer.
ROW_LEVEL = "|of:row"
#: The most that rounding may add to the best score.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One column of results: a score that each answer may have."""

    #: The name of the score, or `METRIC.SCORE` if several metrics use the name.
    label: str
    #: The name of the metric in `harpia_formats.evaluation.metrics`.
    metric: str
    signature: str
    scale: str
    #: Whether a score of many answers is not the mean of the scores of answers.
    is_pooled: bool = False
    #: Whether a lower score is better.
    lower_is_better: bool = False
    #: Whether its value for one answer means right or wrong.
    is_binary: bool = False
    #: Whether a score can be the best, as no length is.
    has_best: bool = True
    #: Whether an answer alone may have it, and not only a question or many answers.
    is_of_answers: bool = True

    @property
    def best(self) -> float:
        """The best score on its scale, infinity if it has none."""
        return limits_of(self.scale)[1]

    @property
    def row_label(self) -> str:
        """The name of the score of a single answer, which has another signature."""
        return f"{self.label}.row" if self.is_pooled else self.label

    @property
    def row_signature(self) -> str:
        """The signature of the score of a single answer.

        It differs for a metric whose score of many answers is not the mean of theirs.
        """
        return f"{self.signature}{ROW_LEVEL if self.is_pooled else ''}"

    def bounded(self, value: float) -> float:
        """Return the score, reduced to the best one if rounding exceeded that."""
        return self.best if self.best < value < self.best + _ROUNDING else value

    def is_right(self, value: float) -> bool:
        """Tell whether a score is the best possible one."""
        return value == 0 if self.lower_is_better else self.bounded(value) == self.best


def columns_of(measured: Iterable[ComputedMetric]) -> tuple[ScoreColumn, ...]:
    """Return a column for each score of the metrics, in the order of `values_of`."""
    every = [(metric, name) for metric in measured for name in metric.names]
    times = Counter(name for _, name in every)
    return tuple(
        ScoreColumn(
            label=name if times[name] == 1 else f"{metric.request.label}.{name}",
            metric=metric.request.metric,
            signature=metric.measure.signature,
            scale=metric.measure.scale,
            is_pooled=not metric.measure.is_mean,
            lower_is_better=bool(metric.measure.lower_is_better),
            is_binary=metric.measure.is_binary,
            has_best=metric.measure.lower_is_better is not None,
            is_of_answers=metric.measure.scores_answers,
        )
        for metric, name in every
    )


def values_of(scored: ScoredAnswer) -> tuple[float | None, ...]:
    """Return the scores of an answer in the order of `columns_of`."""
    return tuple(chain.from_iterable(scored.values))


#: Writes the names of scores and their signatures.
WriteSignatures = Callable[[Iterable[tuple[str, str]]], None]


def signature_writer(files: Files) -> WriteSignatures:
    """Return a function that writes signatures to a text file beside the result file.

    This is for result formats that have no field for signatures. The file is text with
    one score in each line, since a `.json` file would be read as data. Without a named
    result file nothing is written. Raises `SinkError` if the file already exists.
    """
    if files.name is None:
        return _write_nothing
    path = Path(files.name)
    if path.exists() and not path.is_file():
        # For a pipe or /dev/null there is no folder for another file.
        return _write_nothing
    write = files.beside(f"{path.name}.signatures.txt")

    def write_lines(signatures: Iterable[tuple[str, str]]) -> None:
        lines = (f"{escaped(name)}\t{escaped(text)}\n" for name, text in signatures)
        write("".join(lines).encode())

    return write_lines


def _write_nothing(_: Iterable[tuple[str, str]]) -> None:
    """Write nothing, where there is no place for a file."""


def row_signatures(columns: Iterable[ScoreColumn]) -> Iterator[tuple[str, str]]:
    """Yield the name and the signature of each score of a single answer."""
    for column in columns:
        yield column.row_label, column.row_signature


def total_signatures(
    columns: Iterable[ScoreColumn], scores: Scores
) -> Iterator[tuple[str, str]]:
    """Yield the name and the signature of each score of all answers."""
    for column, score in zip(columns, scores.total.scores, strict=True):
        yield column.label, score.signature
