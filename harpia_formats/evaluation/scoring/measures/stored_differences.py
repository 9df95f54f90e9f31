"""Compare computed scores with those of the same metric that a tool stored.

Rows that hold one answer again, each with the stored score of another metric, are
distinguished from rows with other answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isclose, isinf
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.questions import prompt_text
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    GroupAnswer,
)
from harpia_formats.evaluation.scoring.significance.intervals import number_or_none
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.safe_text import safe
from harpia_formats.model.vendor_metrics import declared_best


def score_of_row(record: Record) -> Score | None:
    """Return the score of a row that may repeat an answer, or be repeated, else None.

    Such a row has an id, and one score that names what it is.
    """
    # A row with several answers may hold their only score with the first one.
    scores = [score for one in record.outputs for score in one.scores or ()]
    if record.id is UNSET or len(scores) != 1:
        return None
    (score,) = scores
    is_named = score.evaluation_name or score.metric or score.result_id
    return score if is_named else None


@dataclass(slots=True)
class RepeatedAnswers:
    """Finds answers that were met before, with the score of another metric."""

    #: How many were found, those within an evaluation left out.
    count: int = 0
    #: The number of each metric, by its names and signature.
    _metrics: dict[tuple[str, ...], int] = field(default_factory=dict)
    #: For the hash of each answer the metric of its only row, or how often it had
    #: each metric.
    _seen: dict[int, int | dict[int, int]] = field(default_factory=dict)

    @property
    def have_begun(self) -> bool:
        """Whether there was an answer that others may repeat."""
        return bool(self._seen)

    def is_repeat(
        self, record: Record, output: Output, file: str, *, within: bool
    ) -> bool:
        """Tell whether an answer was met before with another metric.

        `file` is that of answers without a model, which are not those of another file.
        With `within` answers of each evaluation are apart; others are counted.
        """
        score = score_of_row(record)
        if score is None:
            return False
        parts = score.evaluation_name, score.metric, score.result_id, score.signature
        names = tuple([f"{part or ''}" for part in parts])
        metric = self._metrics.setdefault(names, len(self._metrics))
        key = hash(
            (
                f"{record.id}",
                prompt_text(record),
                tuple(record.references or ()),
                (file,) if output.model is UNSET else output.model,
                answer_text(output),
                encode(output.turns) if output.turns else b"",
                score.evaluation_id,
                (score.evaluation_name,) if within else (),
            )
        )
        before = self._seen.get(key)
        if before is None:
            self._seen[key] = metric
            return False
        times = {before: 1} if isinstance(before, int) else before
        answers = max(times.values())
        times[metric] = times.get(metric, 0) + 1
        self._seen[key] = times
        is_repeat = times[metric] <= answers
        self.count += is_repeat and not within
        return is_repeat


#: Our name of each metric, by the names of tools without their separators.
_OUR_NAMES = {"exactmatch": "em", "f1score": "f1", "tokenf1": "f1"}
#: Shares that differ by less are the same number, rounded in another way.
_SAME = 1e-6


@dataclass(slots=True)
class StoredDifference:
    """How often a computed score differs from the stored one of the same metric."""

    #: The name of the computed score, and the signature of the stored one.
    name: str
    stored: str
    #: The number of answers that have both, and of those that differ.
    compared: int = 0
    differing: int = 0
    #: The largest difference, from 0 to 1 if the scales are known, with both values.
    largest: float = 0.0
    computed_value: float = 0.0
    stored_value: float = 0.0
    #: The number of that record in its file, from 1, and its id.
    record: int = 0
    record_id: int | str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain data that can be written as JSON."""
        return {field_: getattr(self, field_) for field_ in self.__slots__}

    @property
    def note(self) -> str:
        """The difference in one line, for people."""
        return (
            f"{self.name} differs from the stored {self.stored} in {self.differing:,} "
            f"of {self.compared:,} answers, most in {self._record}: "
            f"{self.computed_value:g} computed, {self.stored_value:g} stored"
        )

    @property
    def _record(self) -> str:
        """The record with the largest difference, for people."""
        if self.record_id is None:
            return f"record {self.record:,}"
        return f"record {self.record:,} ({safe(str(self.record_id), 60)})"


def comparable_scores(output: Output) -> list[Score]:
    """Return the stored scores of an answer that say what they are."""
    return [one for one in output.scores or () if one.signature and one.metric]


@dataclass(slots=True)
class StoredDifferences:
    """Compares computed scores with stored ones that have a signature."""

    measured: tuple[ComputedMetric, ...]
    found: dict[tuple[str, str], StoredDifference] = field(default_factory=dict)
    #: For each score the index of its metric and its own, by its name.
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, metric in enumerate(self.measured):
            # The score of one answer by another metric is another quantity.
            if metric.measure.is_mean and metric.measure.question is None:
                for at, name in enumerate(metric.measure.names):
                    self._places.setdefault(_plain(name), (number, at))

    def add(self, answer: GroupAnswer, placed: PlacedRecord) -> Iterator[str]:
        """Yield a message on each stored score of an answer that differs."""
        for score in answer.scores:
            plain, signature = _plain(score.metric or ""), score.signature or ""
            place = self._places.get(_OUR_NAMES.get(plain, plain))
            stored = number_or_none(score.value)
            if place is None or stored is None:
                continue
            metric, outcome = self.measured[place[0]], answer.outcomes[place[0]]
            value = None if isinstance(outcome, str) else outcome[1][place[1]]
            # A missing answer that counts as 0 has no computed score.
            is_zero = answer.is_zero and "answer" in metric.measure.needs
            if value is None or is_zero:
                continue
            name, best = metric.names[place[1]], metric.measure.best
            entry = self.found.setdefault(
                (name, signature), StoredDifference(name, signature)
            )
            entry.compared += 1
            most = declared_best(name, signature)
            # They are compared on a scale to 1 where the scale is known.
            mine = value if isinf(best) else value / best
            theirs = stored if isinf(most) else stored / most
            # One that declares no scale may be on that of the computed one.
            is_raw_same = isinf(most) and isclose(value, stored, abs_tol=_SAME)
            if is_raw_same or isclose(mine, theirs, abs_tol=_SAME):
                continue
            entry.differing += 1
            if abs(mine - theirs) > entry.largest:
                entry.largest = abs(mine - theirs)
                entry.computed_value, entry.stored_value = value, stored
                entry.record, entry.record_id = placed.number, placed.row_id
            yield f"{name} is {value:g}, but {stored:g} is stored ({signature})"

    def differing(self) -> tuple[StoredDifference, ...]:
        """Return those with any difference, in the order in which they were met."""
        return tuple(entry for entry in self.found.values() if entry.differing)


def _plain(name: str) -> str:
    """Return a name in small letters, without the separators in it."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
