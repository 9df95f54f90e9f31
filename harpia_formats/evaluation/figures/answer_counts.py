"""Counts of the scores of single answers, by model, score and length of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import MODEL, NONE
from harpia_formats.evaluation.figures.value_counts import RangeCounts, ScaleCounts
from harpia_formats.evaluation.scoring.intervals import QUANTA
from harpia_formats.evaluation.scoring.results.columns import columns_of, values_of
from harpia_formats.evaluation.scoring.results.format import ResultRun
from harpia_formats.evaluation.scoring.scored_answer import ScoredAnswer
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.bins import index_of
from harpia_formats.model.stored_score import BEST


@dataclass(slots=True)
class LengthCount:
    """The answers of about one length."""

    answers: int = 0
    #: The sum of their scores, in multiples of 1/QUANTA so that it is exact.
    quanta: int = 0

    @property
    def mean(self) -> float:
        """The mean of their scores."""
        return self.quanta / QUANTA / self.answers


@dataclass(slots=True)
class ScoreCounts:
    """One score of the answers of one model."""

    values: ScaleCounts | RangeCounts
    #: By the index of the length, two of which double it.
    lengths: dict[int, LengthCount] = field(default_factory=dict)
    answers: int = 0
    quanta: int = 0

    def add(self, value: float, length: int | None) -> None:
        """Count the score of an answer of so many characters, None if not known."""
        quanta = round(value * QUANTA)
        self.values.add(value)
        self.answers += 1
        self.quanta += quanta
        if length is not None:
            of_length = self.lengths.setdefault(index_of(length) // 2, LengthCount())
            of_length.answers += 1
            of_length.quanta += quanta

    def merge(self, other: Self) -> None:
        """Add the answers of another part, which are of the same score."""
        self.values.merge(other.values)  # type: ignore[arg-type]  # of one score
        self.answers += other.answers
        self.quanta += other.quanta
        for index, more in other.lengths.items():
            of_length = self.lengths.setdefault(index, LengthCount())
            of_length.answers += more.answers
            of_length.quanta += more.quanta

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return self.quanta / QUANTA / self.answers


@dataclass(frozen=True, slots=True)
class ScoreOfAnswers:
    """A score that each answer may have."""

    #: The name of the score of a single answer in results.
    label: str
    scale: str
    #: Whether it is a rate of errors, which may be above its scale.
    is_error_rate: bool

    @property
    def best(self) -> float | None:
        """The end of its scale, None if there is none or it may be above it."""
        return None if self.is_error_rate else BEST.get(self.scale)

    def counts(self) -> ScoreCounts:
        """Return counts without any answer."""
        best = self.best
        return ScoreCounts(RangeCounts() if best is None else ScaleCounts(best))


@dataclass(slots=True)
class AnswerCounts:
    """Counts the answers of a run; a `ResultWriter` that writes nothing."""

    #: The scores that single answers have, and not only questions.
    scores: tuple[ScoreOfAnswers, ...] = ()
    #: Their places among the scores of a run.
    _places: list[int] = field(default_factory=list)
    _models: dict[str, list[ScoreCounts]] = field(default_factory=dict)
    #: The names of the systems, in the order of the scores.
    _systems: list[str] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "AnswerCounts":
        """Take the metrics of a run, and return this object."""
        of_answers = [
            one.measure.question is None for one in run.measured for _ in one.names
        ]
        columns = columns_of(run.measured)
        self._places = [at for at, is_own in enumerate(of_answers) if is_own]
        self.scores = tuple(
            ScoreOfAnswers(one.row_label, one.scale, one.lower_is_better)
            for one in (columns[at] for at in self._places)
        )
        self._models.clear()
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Count the scores of an answer, once if several rows hold it."""
        if scored.is_repeated:
            return
        name = NONE if scored.output.model is UNSET else scored.output.model
        found = self._models.get(name)
        if found is None:
            found = self._models[name] = self._none()
        length = None if scored.answer is None else len(scored.answer)
        values = values_of(scored)
        for counts, at in zip(found, self._places, strict=True):
            if (value := values[at]) is not None:
                counts.add(value, length)

    def close(self, scores: Scores) -> None:
        """Take the names of the systems, as they are without redaction."""
        self._systems = [system.key.get(MODEL, NONE) for system in scores.systems]

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

    def of_systems(self) -> list[Sequence[ScoreCounts]]:
        """Return the counts of each system, in the order of `Scores.systems`."""
        if len(self._systems) == 1:
            # Answers without a model are of the only one there is.
            joined = self._none()
            for counts in self._models.values():
                for whole, part in zip(joined, counts, strict=True):
                    whole.merge(part)
            return [joined]
        return [self._models.get(name) or self._none() for name in self._systems]

    def _none(self) -> list[ScoreCounts]:
        """Return counts of no answer for each score."""
        return [score.counts() for score in self.scores]
