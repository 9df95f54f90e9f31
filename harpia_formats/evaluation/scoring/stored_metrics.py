"""The scores that answers hold already, as metrics of answers and of questions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.answer_groups import EVALUATION, MOST
from harpia_formats.evaluation.metrics import (
    METRICS,
    Measure,
    numbered,
    question_metrics,
)
from harpia_formats.evaluation.metrics.metric import (
    PAIR,
    Parameters,
    Sample,
    Statistics,
    means,
    read_parameters,
)
from harpia_formats.evaluation.metrics.question_metrics import Correctness
from harpia_formats.evaluation.scoring.intervals import number_or_none
from harpia_formats.evaluation.scoring.metric_samples import extracted_text
from harpia_formats.evaluation.scoring.outcomes import (
    NO_SUCH_SCORE,
    ComputedMetric,
    Outcome,
)
from harpia_formats.evaluation.scoring.select_metrics import (
    SelectedMetrics,
    check_parameters,
    with_parameters,
)
from harpia_formats.evaluation.scoring.system_answers import name_of
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.vendor_metrics import (
    LOWER_IS_BETTER,
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
    declared_best,
    declared_scale,
)


def is_pooled(name: str, signature: str) -> bool:
    """Tell whether a score of a whole data set is not the mean of those of its rows.

    The signature decides, and the name of the metric without one.
    """
    metric = METRICS.get((signature or name).partition("|")[0])
    return metric is not None and metric.is_pooled


def is_verdict(signature: str) -> bool:
    """Tell whether a signature is that of the verdicts of a judge."""
    return signature.partition("|")[0] == "judge"


def labels_of(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a name for each metric with a signature: its own if no other has it.

    Else the parts of its signature that others lack stand behind it.
    """
    by_name: dict[str, list[str]] = {}
    for name, signature in keys:
        by_name.setdefault(name, []).append(signature)
    labels = {}
    for name, signatures in by_name.items():
        if len(signatures) == 1:
            labels[name, signatures[0]] = name
            continue
        parts = [signature.split("|") for signature in signatures]
        common = set(parts[0]).intersection(*parts)
        for signature, own in zip(signatures, parts, strict=True):
            left = [part for part in own if part and part not in common]
            labels[name, signature] = "|".join([name, *(left or ["no more parts"])])
    return labels


_SPLIT = "metadata.split"
#: What the values of a field are called, by the field.
_nouns = {EVALUATION: "tasks", _SPLIT: "splits"}
#: The values of a field that a note names.
_NAMED = 5


@dataclass(slots=True)
class MixedScores:
    """Collects the tasks and splits of the stored scores of each quantity."""

    #: By the field, the metric and signature of the scores, and the model.
    _values: dict[tuple[str, tuple[str, str], str], dict[str, None]] = field(
        default_factory=dict
    )

    def add(
        self, key: tuple[str, str], record: Record, output: Output, score: Score
    ) -> None:
        """Add a score of an output; `key` is its metric and its signature."""
        model = output.model or ""
        if isinstance(score.evaluation_name, str):
            self._add((EVALUATION, key, model), score.evaluation_name)
        split = (record.metadata or {}).get("split")
        if isinstance(split, str):
            self._add((_SPLIT, key, model), split)

    def _add(self, key: tuple[str, tuple[str, str], str], value: str) -> None:
        values = self._values.setdefault(key, {})
        if len(values) < MOST:
            values[value] = None

    def notes(
        self, labels: Mapping[tuple[str, str], str], by: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield which of these quantities are a mean over several tasks or splits.

        Quantities of the same tasks are named together; fields in `by` are left out.
        """
        shown: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for (name, key, _), values in self._values.items():
            if name not in by and key in labels and len(values) > 1:
                shown.setdefault((name, tuple(values)), {})[labels[key]] = None
        for (name, found), metrics in shown.items():
            count = f"{MOST:,} or more" if len(found) >= MOST else f"{len(found):,}"
            more = ", ..." if len(found) > _NAMED else ""
            are = "is a mean" if len(metrics) == 1 else "are means"
            yield (
                f"{_some(list(metrics))} {are} over {count} {_nouns[name]} "
                f"({', '.join(found[:_NAMED])}{more}); `--by {name}` shows each"
            )


def _some(metrics: list[str]) -> str:
    more = len(metrics) - _NAMED
    return ", ".join(metrics[:_NAMED]) + (f" and {more} more" if more > 0 else "")


#: How answers are compared that no tool extracted, if `same` does not say.
SAME = "byob"
#: The metric of each name that can be computed of stored scores.
_MEASURES: Mapping[str, Callable[[Parameters, Correctness], Measure]] = {
    question_metrics.PASSES_AT_K: question_metrics.pass_at_k_measure,
    question_metrics.MAJ_AT_K: question_metrics.maj_at_k_measure,
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    question_metrics.PASSES_AT_K: {"k": 1, "correct": None},
    question_metrics.MAJ_AT_K: {"k": 1, "correct": None, "same": SAME},
}
_NEITHER = "whose values are neither right nor wrong"
#: Other values of a quantity that an error names.
_SHOWN = 3


def is_of_questions(name: str) -> bool:
    """Tell whether a metric called `name` can be computed of stored scores."""
    return numbered(name)[0] in _MEASURES


@dataclass(slots=True)
class Judgements:
    """Which values one stored quantity has, to tell whether they are wrong or right."""

    best: float
    #: The number of values that are wrong or right, and the first others.
    clear: int = 0
    others: dict[float, None] = field(default_factory=dict)

    @classmethod
    def of_quantity(cls, name: str, signature: str) -> "Judgements":
        """Return none so far, of a quantity with this name and signature."""
        best = declared_best(name, signature)
        return cls(100.0 if best == 100 else 1.0)  # noqa: PLR2004 - the scale 0-100

    def add(self, score: Score) -> None:
        """Add a stored score."""
        value = number_or_none(score.value)
        if isinstance(score.is_correct, bool) or value in {0.0, self.best}:
            self.clear += 1
        elif value is not None and len(self.others) < _SHOWN:
            self.others[value] = None


@dataclass(frozen=True, slots=True)
class StoredQuestions:
    """A metric of questions by one stored quantity."""

    metric: ComputedMetric
    #: The metric and the signature of the stored scores.
    key: tuple[str, str]
    best: float
    #: Returns the statistics of an answer of which it is known whether it is correct.
    statistics: Callable[[Output, float], Statistics | str]

    def outcome(self, output: Output, scores: Sequence[Score]) -> Outcome:
        """Return the outcome of an answer; `scores` are those of the quantity."""
        if not scores:
            return NO_SUCH_SCORE
        if len(scores) > 1:
            return f"there are several stored scores called {self.key[0]}"
        correct = self._correct(scores[0])
        if correct is None:
            return f"the stored {self.key[0]} is no number"
        found = self.statistics(output, correct)
        if isinstance(found, str):
            return found
        return found, self.metric.measure.scores(found)

    def _correct(self, score: Score) -> float | None:
        value = number_or_none(score.value)
        if isinstance(score.is_correct, bool):
            return float(score.is_correct)
        return None if value is None else float(value == self.best)


def stored_questions(
    request: MetricRequest,
    found: Mapping[tuple[str, str], Judgements],
    labels: Mapping[tuple[str, str], str],
) -> tuple[list[StoredQuestions], list[str]]:
    """Return a metric of questions, by each stored quantity that tells what is correct.

    With it come notes on the quantities that do not. `labels` has the name of each
    quantity. Raises `ScoreError` if none tells, and `MetricError` for a bad parameter.
    """
    family, k = numbered(request.metric)
    given = {**request.parameters, **({} if k is None else {"k": k})}
    parameters = read_parameters(family, _DEFAULTS[family], given)
    chosen = parameters.values["correct"]
    wanted = [key for key in found if chosen is None or chosen in {key[0], labels[key]}]
    if not wanted:
        raise parameters.wrong("correct", f"one of {', '.join(labels.values())}")
    able = [key for key in wanted if not found[key].others]
    if not able:
        shown = "; ".join(
            f"{labels[key]} has {', '.join(map(repr, found[key].others))}"
            for key in wanted
        )
        raise ScoreError(
            f"{request.label} needs stored scores that are right or wrong, and these "
            f"are neither: {shown}; without `--stored` {family} is computed of the "
            f"answers, and `--param {family}.threshold=SCORE` says from which score of "
            f"`--param {family}.correct=METRIC` on one is correct"
        )
    unable = [labels[key] for key in wanted if key not in able]
    notes = [
        f"{request.label} is not computed of {name}, {_NEITHER}" for name in unable
    ]
    return [
        _of_quantity(
            request,
            parameters,
            key,
            found[key].best,
            request.label if len(able) == 1 else f"{request.label} of {labels[key]}",
        )
        for key in able
    ], notes


def _of_quantity(
    request: MetricRequest,
    parameters: Parameters,
    key: tuple[str, str],
    best: float,
    label: str,
) -> StoredQuestions:
    """Return the metric of questions by one stored quantity."""
    of = (key[1] or f"{key[0]}|impl:unknown").replace("|", ";")
    correctness = Correctness(
        lambda sample: 0.0,  # noqa: ARG005 - what is correct is stored
        needs=PAIR,
        uses=(),
        signature=f"correct:stored|of:{of}",
        same_answer=None,
    )
    measure = _MEASURES[parameters.metric](parameters, correctness)
    names = (label,) if len(measure.names) == 1 else ()
    metric = ComputedMetric(
        MetricRequest(request.metric, request.parameters, key=label, names=names),
        measure,
    )
    return StoredQuestions(metric, key, best, _statistics(parameters))


def _statistics(parameters: Parameters) -> Callable[[Output, float], Statistics | str]:
    """Return what makes the statistics of an answer; raises `MetricError`."""
    if parameters.metric == question_metrics.PASSES_AT_K:
        return lambda _, correct: (correct, 1.0)
    same = question_metrics.same_answer_of(parameters, None)

    def statistics(output: Output, correct: float) -> Statistics | str:
        text = extracted_text(output)
        if text is None:
            text = answer_text(output)
        if text is None:
            return "there is no answer to compare with others"
        return question_metrics.statistics_of(same(Sample(text)), correct)

    return statistics


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
                "no answer has a stored score; without `--stored` scores are computed"
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
