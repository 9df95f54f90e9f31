"""The agreement of two raters: judges, or a judge and labels that records hold.

It has two scores: `agreement`, the share of equal labels, and `kappa`. Their intervals
are by question.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics.label_counts import (
    POWERS,
    LabelCounts,
    LabelPair,
    LabelReading,
)
from harpia_formats.evaluation.metrics.label_metrics import (
    kappa,
    label_measure,
    shown_labels,
)
from harpia_formats.evaluation.metrics.metric import OWN_LIBRARY, mean_measure
from harpia_formats.evaluation.scoring.answers.choose_systems import source_name
from harpia_formats.evaluation.scoring.answers.input_files import reading_of
from harpia_formats.evaluation.scoring.answers.match_questions import (
    QuestionTable,
    match_questions,
)
from harpia_formats.evaluation.scoring.measures.answer_sums import (
    AnswerStore,
    GroupTotals,
)
from harpia_formats.evaluation.scoring.measures.label_totals import FEW_REFERENCES
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    GroupAnswer,
    Outcome,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.rater_labels import (
    NO_LABEL,
    LabelNumbers,
    LabelPairs,
    RaterLabels,
    fields_of_both,
    given_labels,
    rater_names,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.bootstrap import unavailable_reason
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.vendor_metrics import MetricRequest, ScoreOptionsError
from harpia_formats.validation.redaction import problems_shown, redaction_of

FEW_LABELS = "few answers with a label: the interval is approximate"
_NO_PAIR = "a label is missing"
#: Answers that are added up together.
_PART = 2048


def agreement_group(
    pairs: LabelPairs,
    keys: Sequence[bytes],
    metrics: tuple[ComputedMetric, ComputedMetric],
    options: ScoreOptions,
) -> Group:
    """Return the share of equal labels and kappa of all pairs, with their intervals.

    `keys` are the digests of the questions by their places.
    """
    totals = GroupTotals({}, metrics)
    labels = list(pairs.raters[0].numbers.labels)
    rest = iter(pairs)
    with closing(AnswerStore(metrics, options)) as store:
        while part := list(islice(rest, _PART)):
            found = []
            for place, first, second in part:
                outcomes: tuple[Outcome, ...] = (_NO_PAIR, _NO_PAIR)
                if first is not None and second is not None:
                    is_equal = float(first == second)
                    pair = LabelPair(labels[first], labels[second])
                    outcomes = ((is_equal, 1.0), (is_equal,)), (pair, (None,))
                found.append(GroupAnswer(place, keys[place], outcomes))
            totals.add(found)
            store.add_answers(found, 0)
        group = totals.group(store.wholes([{0}])[0], options)
    first_rater, second_rater = pairs.raters
    names = first_rater.name, second_rater.name
    scores = (
        replace(
            one,
            remark=FEW_LABELS if one.remark == FEW_REFERENCES else one.remark,
            confusion=one.confusion and replace(one.confusion, sides=names),
        )
        for one in group.scores
    )
    return replace(group, scores=tuple(scores))


#: The names of weights of distances between labels in their order.
WEIGHTS = tuple(POWERS)
_UNDEFINED = "both have one label only, the same"


class Agreement:
    """The agreement of two raters: iterate for the problems, then call `scores`.

    There are two inputs, or one with two fields. `fields` names what holds the labels:
    one for both raters, or one for each. `labels` names those that count, in their
    order, which `weights` needs. Raises `ScoreError` for what cannot be compared.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: ScoreOptions,
        fields: Sequence[str] = (),
        labels: Sequence[object] = (),
        weights: str = "none",
    ) -> None:
        given = list(inputs)
        both = fields_of_both(len(given), fields)
        self._options = options
        self._redaction = redaction_of(options)
        self._given = given_labels(labels)
        self._weights = weights
        if weights not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            raise ScoreOptionsError(f"there are no weights {weights!r} ({known})")
        if weights != "none" and not self._given:
            raise ScoreOptionsError(
                f"{weights} weights need the labels in their order: name them with "
                "`--labels`, or the definition of the judge with `--definition`"
            )
        numbers, counting = LabelNumbers(), frozenset(self._given)
        sources = [source_name(one, at) for at, one in enumerate(given)]
        names = rater_names(sources, both)
        first, second = (
            RaterLabels(name, path, counting, numbers)
            for name, path in zip(names, both, strict=True)
        )
        self._raters = first, second
        self._questions = QuestionTable()
        self._keys: dict[bytes, int] = {}
        self._readings = [reading_of([one], options) for one in given]

    def __iter__(self) -> Generator[Problem, None, None]:
        """Read all inputs; yield their problems."""
        for at, reading in enumerate(self._readings):
            found = reading.problems(
                partial(self._add, at), lambda *_: None, lambda _: None
            )
            yield from problems_shown(found, self._redaction)

    def _add(self, at: int, placed: PlacedRecord) -> None:
        """Add the labels of a record of the input at a place.

        A record of the only input has those of both raters, and must not be matched.
        """
        record, raters = placed.record, self._raters[at : at + 1]
        if len(self._readings) == 1:
            key = question_key(record, len(self._keys))
            number, raters = self._keys.setdefault(key, len(self._keys)), self._raters
        else:
            number = self._questions.number_of(record)
        for rater in raters:
            rater.add(number, record)

    def scores(self) -> Scores:
        """Return both scores as they may be shown.

        Raises `ScoreError` if there are no two labels of one answer.
        """
        if self._redaction is None:
            return self._scores()
        from harpia_formats.evaluation.scoring.results.redacted_scores import (  # noqa: PLC0415 - most runs show values
            ScoreRedaction,
        )
        from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
            errors_without_values,
        )

        with errors_without_values(self._redaction):
            found = self._scores()
        return ScoreRedaction(self._redaction, frozenset(), by_options=True).scores(
            found
        )

    def _scores(self) -> Scores:
        reports = [one.tally.report() for one in self._readings]
        report = Report(
            tuple(chain.from_iterable(one.files for one in reports)),
            tuple(chain.from_iterable(one.groups for one in reports)),
            tuple(chain.from_iterable(one.problems for one in reports)),
        )
        is_broken = any(
            one.failures or not (one.ok or self._options.skips_invalid)
            for one in reports
        )
        groups, said = ((), ()) if is_broken else self._compared()
        return Scores(
            profile="agreement",
            measured=(),
            unknown=(),
            systems=groups,
            groups=(),
            seconds=(),
            report=report,
            is_broken=is_broken,
            problems=report.problems,
            said=said,
        )

    def _compared(self) -> tuple[tuple[Group], tuple[str, ...]]:
        """Return both scores and notes; raises `ScoreError`."""
        for rater in self._raters:
            rater.check()
        keys, places, notes = self._matched()
        pairs = LabelPairs(self._raters, places)
        group = agreement_group(pairs, keys, self._metrics(), self._options)
        if not group.scores[0].count:
            raise ScoreOptionsError("no answer has a label of both")
        return (group,), (*self._notes(pairs), *notes)

    def _matched(self) -> tuple[Sequence[bytes], Sequence[int], Sequence[str]]:
        """Return digests of questions, the place of each question in them, and notes.

        Raises `ScoreError` if two inputs share no question.
        """
        if len(self._readings) == 1:
            keys = list(self._keys)
            return keys, range(len(keys)), ()
        questions = [sorted(set(rater.questions)) for rater in self._raters]
        matched = match_questions(self._questions, questions)
        return matched.keys, matched.places, matched.notes

    def _metrics(self) -> tuple[ComputedMetric, ComputedMetric]:
        """Return the share of equal labels and kappa."""
        fields = ",".join(dict.fromkeys(rater.path for rater in self._raters))
        shown = fields.replace("|", "\\u007c")
        options = f"field:{shown}|labels:{shown_labels(self._given)}"
        weights = self._weights
        reading = LabelReading(options, _no_texts, self._given, weights)

        def score(counts: LabelCounts) -> float | None:
            return kappa(counts, weights)

        share = mean_measure(
            "agreement",
            f"agreement|{OWN_LIBRARY}|{options}",
            lambda *_: 1.0,
            is_binary=True,
        )
        chance_corrected = label_measure(
            "kappa",
            reading,
            score,
            options=f"weights:{weights}",
            undefined=_UNDEFINED,
        )
        return (
            ComputedMetric(MetricRequest("agreement"), share),
            ComputedMetric(MetricRequest("kappa"), chance_corrected),
        )

    def _notes(self, pairs: LabelPairs) -> Generator[str, None, None]:
        """Yield what was left out, and how verdicts were made."""
        for rater, alone, empty in zip(
            self._raters, pairs.alone, pairs.empty, strict=True
        ):
            if alone:
                yield f"{_answers(alone)} only in {rater.name}: left out"
            if empty:
                yield f"{_answers(empty)} without a label in {rater.name}: left out"
        for rater in self._raters:
            yield from (f"{rater.name}: {one}" for one in rater.signatures)
        first, second = self._raters
        if not set(first.labels) & set(second.labels) - {NO_LABEL}:
            yield f"no label of {first.name} is one of {second.name}"
        if self._options.replicates and unavailable_reason():
            yield unavailable_reason()


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count:,} answers"


def _no_texts(answer: str | None, references: Sequence[str]) -> LabelPair:
    """Do not read labels of texts: they are read of verdicts and fields."""
    raise NotImplementedError
