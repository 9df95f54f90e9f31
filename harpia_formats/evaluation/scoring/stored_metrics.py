"""The scores that answers hold already, as metrics: the mean of what was stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.evaluation.metrics import Measure
from harpia_formats.evaluation.metrics.mean import means
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.intervals import number_or_none
from harpia_formats.evaluation.scoring.mixed_scores import MixedScores
from harpia_formats.evaluation.scoring.outcomes import NO_SUCH_SCORE, Outcome
from harpia_formats.evaluation.scoring.select_metrics import (
    SelectedMetrics,
    check_parameters,
    with_parameters,
)
from harpia_formats.evaluation.scoring.signatures import (
    is_pooled,
    is_verdict,
    labels_of,
)
from harpia_formats.evaluation.scoring.stored_questions import (
    Judgements,
    StoredQuestions,
    is_of_questions,
    stored_questions,
)
from harpia_formats.evaluation.scoring.stored_scores import name_of
from harpia_formats.model.metric_profile import (
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
)
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.stored_score import LOWER_IS_BETTER, declared_scale

#: Scores of answers that are wrong or right.
BINARY = (0.0, 1.0)
#: The metric and the signature of a stored score: which quantity it is.
_Key = tuple[str, str]


@dataclass(slots=True)
class _Values:
    """How many scores of one quantity were stored, and of which kind."""

    numbers: int = 0
    others: int = 0
    #: Whether every number is 0 or 1, as true and false are.
    are_binary: bool = True
    #: Whether every number is true or false.
    are_booleans: bool = True


@dataclass(slots=True)
class StoredMetrics:
    """Collects the stored scores of records, to make a metric of each quantity.

    Scores of one metric with different signatures are different quantities.
    """

    #: The names of the metrics that are wanted, all if empty.
    wanted: tuple[str, ...]
    #: The fields by which the scores are shown in groups.
    by: tuple[str, ...] = ()
    #: The parameters of metrics of questions, by `metric.parameter`.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    _mixed: MixedScores = field(default_factory=MixedScores)
    _found: dict[_Key, _Values] = field(default_factory=dict)
    _keys: tuple[_Key, ...] = ()
    _judgements: dict[_Key, Judgements] = field(default_factory=dict)
    _questions: tuple[StoredQuestions, ...] = ()

    def add(self, record: Record) -> None:
        """Add the stored scores of a record."""
        for output in record.outputs:
            for score in output.scores or ():
                if score.value is UNSET:
                    continue
                key = _key_of(score)
                self._mixed.add(key, record, output, score)
                if key not in self._found:
                    self._found[key] = _Values()
                    self._judgements[key] = Judgements.of_quantity(*key)
                self._judgements[key].add(score)
                values = self._found[key]
                number = number_or_none(score.value)
                if number is None:
                    values.others += 1
                else:
                    values.numbers += 1
                    values.are_binary &= number in BINARY
                    values.are_booleans &= isinstance(score.value, bool)

    def metrics(self) -> SelectedMetrics:
        """Return the mean of each quantity that has a number.

        With them it returns the wanted metrics of questions by stored scores. Raises
        `ScoreError` if there is none, or none of the wanted names.
        """
        if not self._found:
            raise ScoreOptionsError(
                "no answer has a stored score; without --stored scores are computed"
            )
        labels = labels_of(self._found)
        self._check_wanted(labels)
        self._questions, notes = self._of_questions(labels)
        chosen = {
            key: values
            for key, values in self._found.items()
            if not self.wanted or {key[0], labels[key]} & set(self.wanted)
        }
        self._keys = tuple(key for key, values in chosen.items() if values.numbers)
        if not self._keys and not self._questions:
            count = sum(values.others for values in chosen.values())
            raise ScoreOptionsError(f"none of {count:,} stored scores is a number")
        return SelectedMetrics(
            (
                *(
                    ComputedMetric(
                        MetricRequest(labels[key]),
                        stored_measure(
                            labels[key],
                            key,
                            are_binary=values.are_binary,
                            are_booleans=values.are_booleans,
                        ),
                    )
                    for key, values in chosen.items()
                    if values.numbers
                ),
                *(questions.metric for questions in self._questions),
            ),
            notes=(
                *notes,
                *_notes(chosen, labels),
                *self._mixed.notes({key: labels[key] for key in self._keys}, self.by),
            ),
        )

    def _check_wanted(self, labels: dict[_Key, str]) -> None:
        """Raise `ScoreError` for a wanted name that no stored score has."""
        known = dict.fromkeys(name for name, _ in labels)
        for name in self.wanted:
            is_known = name in known or name in labels.values()
            if not is_known and not is_of_questions(name):
                raise ScoreError(
                    f"no stored score is called {name} (there are: {', '.join(known)})"
                )

    def _of_questions(
        self, labels: dict[_Key, str]
    ) -> tuple[tuple[StoredQuestions, ...], list[str]]:
        """Return the wanted metrics of questions that are not themselves stored.

        With them come notes. Raises `ScoreError` for a parameter that none of them has.
        """
        stored = {*labels.values(), *(name for name, _ in labels)}
        unused = dict(self.parameters)
        requests = [
            with_parameters(unused, self.parameters, MetricRequest(name))
            for name in self.wanted
            if name not in stored
        ]
        found: list[StoredQuestions] = []
        notes: list[str] = []
        for request in requests:
            questions, more = stored_questions(request, self._judgements, labels)
            found += questions
            notes += more
        check_parameters(unused, [questions.metric for questions in found])
        return tuple(found), notes

    def outcomes(self, output: Output) -> tuple[Outcome, ...]:
        """Return the stored scores of an answer, or why one is missing."""
        stored: dict[_Key, list[Score]] = {}
        for score in output.scores or ():
            if score.value is not UNSET:
                stored.setdefault(_key_of(score), []).append(score)
        return (
            *(_outcome(key, stored.get(key, [])) for key in self._keys),
            *(
                questions.outcome(output, stored.get(questions.key, []))
                for questions in self._questions
            ),
        )


def _outcome(key: _Key, stored: list[Score]) -> Outcome:
    if not stored:
        return NO_SUCH_SCORE
    found = (number_or_none(score.value) for score in stored)
    values = [value for value in found if value is not None]
    if not values:
        return f"the stored {key[0]} is no number"
    total, count = sum(values), len(values)
    return (total, float(count)), (total / count,)


def _key_of(score: Score) -> _Key:
    return name_of(score), score.signature or ""


def stored_measure(
    label: str, key: _Key, *, are_binary: bool, are_booleans: bool
) -> Measure:
    """Return the mean of stored scores.

    Their scale is known if it is declared, or if they are of wrong and right answers:
    if all are 0 or 1. Verdicts of a judge must be true or false for that, since ratings
    from 1 to 5 may all be 1. `key` is the metric and the signature.
    """
    metric, signature = key
    lower_is_better = metric in LOWER_IS_BETTER
    is_known = are_booleans if is_verdict(signature) else are_binary
    # A rate of errors has no upper limit, even if none of them is above 1.
    usual = "0-1" if is_known and not lower_is_better else "any"
    scale = declared_scale(metric, signature) or usual
    return Measure(
        (label,),
        signature or f"{label}|impl:unknown",
        scale,
        lambda answer, references: (0.0, 1.0),  # noqa: ARG005 - as wide as a stored score
        means(1),
        is_mean=True,
        is_bounded=scale != "any",
        lower_is_better=lower_is_better,
    )


def _notes(chosen: dict[_Key, _Values], labels: dict[_Key, str]) -> Iterable[str]:
    """Yield what is not shown, and what is another quantity than its name says."""
    for key, values in chosen.items():
        if not values.numbers:
            yield (
                f"{labels[key]} has no score: none of {values.others:,} stored values "
                "is a number"
            )
        elif is_pooled(*key):
            yield (
                f"{labels[key]} is the mean of the stored scores of rows, and not the "
                "score of all answers together"
            )
