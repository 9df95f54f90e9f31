"""Batches of answers from a stream of records, and the totals of their scores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from msgspec.structs import replace

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.answer_groups import (
    EVALUATION,
    AnswerGrouping,
    ModelSelection,
)
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.preparation import with_gt_as_reference
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics.metric import Sample
from harpia_formats.evaluation.scoring.answer_problems import (
    AnswerProblems,
    model_to_name,
)
from harpia_formats.evaluation.scoring.input_files import with_model
from harpia_formats.evaluation.scoring.measure import (
    BATCH,
    BatchQueue,
    BatchResult,
    zero_outcome,
)
from harpia_formats.evaluation.scoring.metric_samples import (
    NO_SAMPLE,
    SampleNeeds,
    UnseenFields,
    outcomes_by_needs,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import (
    ComputedMetric,
    GroupAnswer,
    Outcome,
    ScoredAnswer,
)
from harpia_formats.evaluation.scoring.result_format import ResultWriter
from harpia_formats.evaluation.scoring.stored_differences import (
    RepeatedAnswers,
    StoredDifferences,
)
from harpia_formats.evaluation.scoring.system_totals import SystemTotals
from harpia_formats.evaluation.scoring.verdict_metrics import verdict_outcomes
from harpia_formats.formats.rules.scoring_rules import (
    NO_ANSWER,
    NO_REFERENCE,
    NO_STORED_NUMBER,
    NO_VERDICT,
    OTHER_THAN_STORED,
    UNSCORABLE,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.findings import KILLED

_Outcomes = tuple[Outcome, ...]
#: Returns the stored scores of an answer.
StoredOutcomes = Callable[[Output], tuple[Outcome, ...]]
#: Characters of answers and references that are measured together.
SIZE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer that is not measured yet."""

    record_number: int
    record: Record
    output: Output
    text: str | None
    placed: PlacedRecord
    #: The counts of the file of the answer.
    count: FileCount
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool = False
    #: What metrics with needs of their own get, without values if there are none.
    sample: Sample = NO_SAMPLE


@dataclass(slots=True)
class AnswerScorer:
    """Collects the answers of a run in batches, and totals their results."""

    measured: tuple[ComputedMetric, ...]
    options: ScoreOptions
    models: ModelSelection
    grouping: AnswerGrouping
    tally: Tally
    #: Returns the writer of results, None if no results are written.
    writer: Callable[[], ResultWriter | None]
    #: The name of the system of each file that the user names.
    file_names: Mapping[str, str] = field(default_factory=dict)
    #: The counts of the file that is being read.
    count: FileCount = field(default_factory=lambda: FileCount(""))
    #: The id of a result format that holds the scores of one model, "" for others.
    one_model_format: str = ""
    #: The id of a result format whose rows have the answer's model, "" for others.
    row_format: str = ""
    #: Whether the verdicts of a judge are scored, and not answers.
    are_verdicts: bool = False
    #: Returns the stored scores of an answer, if these are shown and none is computed.
    stored: StoredOutcomes | None = None
    problems: AnswerProblems = field(init=False)
    #: Where computed scores differ from those of the same metric that answers hold.
    differences: StoredDifferences = field(init=False)
    totals: SystemTotals = field(init=False)
    #: Answers that rows repeat for each metric, in all and within an evaluation; the
    #: latter is None if scores are not grouped by evaluation.
    repeated: RepeatedAnswers = field(default_factory=RepeatedAnswers)
    _by_evaluation: RepeatedAnswers | None = None
    #: Seconds that each metric took.
    seconds: list[float] = field(default_factory=list)
    #: The number of answers, and of missing ones among them that count as 0.
    number: int = 0
    zeros: int = 0
    #: Answers without a text that hold stored scores.
    only_stored: int = 0
    #: Whether a record may hold answers of several models.
    holds_models: bool = False
    #: Characters of the waiting answers and references.
    _size: int = 0
    _records: int = 0
    #: What metrics need besides answers and references, None if no metric does.
    _needs: SampleNeeds | None = None
    #: What no document has by which metrics compare them, None if none compares any.
    unseen_fields: UnseenFields | None = None
    _waiting: list[_Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        may_be_wrong = tuple(
            metric.request.label
            for metric in self.measured
            if metric.leaves_unreadable_out
        )
        self.problems = AnswerProblems(
            self.options, self.models, self.tally, may_be_wrong
        )
        self.differences = StoredDifferences(self.measured)
        self.totals = SystemTotals(
            self.measured,
            self.options,
            self.grouping,
            self.one_model_format,
            self.row_format,
            are_stored=self.stored is not None,
        )
        self.seconds = [0.0] * len(self.measured)
        self._needs = SampleNeeds.of_metrics(self.measured)
        self.unseen_fields = UnseenFields.of_metrics(self.measured)
        if EVALUATION in self.options.by:
            self._by_evaluation = RepeatedAnswers(by_evaluation=True)

    def add_record(self, placed: PlacedRecord, batches: BatchQueue) -> None:
        """Add the answers of a record, and submit a batch if enough are waiting."""
        record = with_model(placed.record, self.count.path, self.file_names)
        record = self.models.select(record)
        if self.options.reference_from == ReferenceFrom.GT:
            record = with_gt_as_reference(record, FieldFates())
        self._records += 1
        wanted = self.options.model
        of_file = self.file_names.get(self.count.path, wanted)
        is_asked = wanted is None or (self.holds_models and of_file == wanted)
        if not record.outputs and is_asked:
            record = replace(record, outputs=[Output()])
        self._size += sum(map(len, record.references or [])) * len(record.outputs)
        for output in record.outputs:
            if self.stored is not None and not output.scores:
                continue
            # Rows of one answer hold other scores of it; those of another filter hold
            # what a metric of filters compares.
            is_repeated = (
                self.stored is None
                and not (self._needs is not None and self._needs.has_filters)
                and self.repeated.is_repeat(record, output)
            )
            # Each answer must be known within its evaluation, too.
            is_new = self._is_new_in_evaluation(record, output)
            if is_repeated and not is_new:
                continue
            text = answer_text(output)
            self._size += len(text or "")
            sample = NO_SAMPLE
            if self._needs is not None:
                sample, size = self._needs.sample_of(record, output, text)
                self._size += size
            if self.unseen_fields is not None:
                self.unseen_fields.add(sample)
            self._waiting.append(
                _Answer(
                    self._records,
                    record,
                    output,
                    text,
                    placed,
                    self.count,
                    is_repeated,
                    sample,
                )
            )
        if len(self._waiting) >= BATCH or self._size >= SIZE:
            self.submit_waiting(batches)

    def _is_new_in_evaluation(self, record: Record, output: Output) -> bool:
        """Tell whether an answer is new in its evaluation, if that has own scores."""
        within = self._by_evaluation
        return within is not None and not within.is_repeat(record, output)

    def submit_waiting(self, batches: BatchQueue) -> None:
        """Submit the waiting answers as one batch."""
        answers, self._waiting = self._waiting, []
        self._size = 0
        if answers:
            pairs = [
                (answer.text, answer.record.references)
                for answer in answers
                if answer.text is not None and answer.record.references
            ]
            pairs = [] if self.are_verdicts or self.stored else pairs
            samples = [answer.sample for answer in answers] if self._needs else []
            batches.add(answers, pairs, samples)

    def add_results(self, answers: list[_Answer], measured: BatchResult | None) -> None:
        """Add the results of a batch to the totals, and write its answers.

        Those of a batch that killed two workers, which has none, are left out.
        """
        if measured is None:
            self._report_killed(answers)
            return
        self.seconds = [
            a + b for a, b in zip(self.seconds, measured.seconds, strict=True)
        ]
        if self._needs is None:
            found = zip(*measured.outcomes, strict=True)
            outcomes = [self._checked_outcomes(answer, found) for answer in answers]
        else:
            columns = [iter(column) for column in measured.outcomes]
            outcomes = [self._outcomes_by_needs(answer, columns) for answer in answers]
        scored = list(zip(answers, outcomes, strict=True))
        self._add_to_totals(scored)
        writer = self.writer()
        for answer, answer_outcomes in scored:
            self.number += 1
            if writer is not None:
                writer.add(self._scored_answer(answer, answer_outcomes))

    def _report_killed(self, answers: list[_Answer]) -> None:
        """Report answers that killed two workers; their records have no verdict."""
        for _, some in groupby(answers, lambda answer: id(answer.count)):
            first, *others = some
            number = 1 + len(others)
            first.count.undetermined += len(
                {answer.record_number for answer in (first, *others)}
            )
            message = (
                f"{number:,} answer{'s' * (number != 1)} could not be scored: the "
                "process that measured them died twice"
            )
            self.problems.add(KILLED, first.placed, first.count, message)

    def _checked_outcomes(
        self, answer: _Answer, found: Iterator[_Outcomes]
    ) -> _Outcomes:
        """Return the outcomes of an answer, and report each that has no score."""
        if self.are_verdicts:
            return self._verdicts(answer)
        if self.stored is not None:
            return self._stored(answer, self.stored(answer.output))
        count = len(self.measured)
        self.only_stored += answer.text is None and bool(answer.output.scores)
        is_zero = answer.text is None and self.options.missing == Missing.ZERO
        if answer.text is None and not (is_zero and answer.record.references):
            self._report(NO_ANSWER, answer, "there is no answer to score")
            return ("no answer",) * count
        if is_zero:
            self.zeros += 1
            self._report(NO_ANSWER, answer, "there is no answer, which scores 0")
            pair = Sample("", answer.record.references or ())
            return tuple(zero_outcome(metric.measure, pair) for metric in self.measured)
        if not answer.record.references:
            self._report(NO_REFERENCE, answer, "there is no reference to compare with")
            return ("no reference",) * count
        outcomes = next(found)
        for metric, outcome in zip(self.measured, outcomes, strict=True):
            if isinstance(outcome, str):
                message = f"{metric.request.label} has no score: {outcome}"
                self._report(UNSCORABLE, answer, message)
        self._add_differences(answer, outcomes)
        return outcomes

    def _outcomes_by_needs(
        self, answer: _Answer, columns: Sequence[Iterator[Outcome]]
    ) -> _Outcomes:
        """Return the outcomes of an answer if metrics need different fields."""
        self.only_stored += answer.text is None and bool(answer.output.scores)
        may_be_zero = self.options.missing == Missing.ZERO
        found = outcomes_by_needs(answer.sample, self.measured, columns, may_be_zero)
        self.zeros += found.is_zero
        for code, message in found.findings:
            self._report(code, answer, message)
        self._add_differences(answer, found.outcomes)
        return found.outcomes

    def _add_differences(self, answer: _Answer, outcomes: _Outcomes) -> None:
        """Report where the scores of an answer differ from those that it holds."""
        if answer.output.scores:
            for message in self.differences.add(answer.output, answer.placed, outcomes):
                place = answer.placed, answer.count
                self.problems.add(OTHER_THAN_STORED, *place, message)

    def _stored(self, answer: _Answer, outcomes: _Outcomes) -> _Outcomes:
        """Return the stored scores of an answer, and report those without a number."""
        reasons = (reason for reason in outcomes if isinstance(reason, str))
        for reason in filter(None, reasons):
            self._report(NO_STORED_NUMBER, answer, reason)
        return outcomes

    def _verdicts(self, answer: _Answer) -> _Outcomes:
        """Return the outcomes of a verdict, and report if it lacks a number."""
        outcomes = verdict_outcomes(answer.record, answer.output, self.measured)
        lacking = {outcome for outcome in outcomes if isinstance(outcome, str)}
        for reason in sorted(lacking):
            self._report(NO_VERDICT, answer, reason)
        if not lacking or self.options.missing != Missing.ZERO:
            return outcomes
        self.zeros += 1
        return tuple(
            ((0.0, 1.0), (0.0,)) if isinstance(outcome, str) else outcome
            for outcome in outcomes
        )

    def _scored_answer(self, answer: _Answer, outcomes: _Outcomes) -> ScoredAnswer:
        values = tuple(
            (None,) * len(metric.names) if isinstance(outcome, str) else outcome[1]
            for metric, outcome in zip(self.measured, outcomes, strict=True)
        )
        return ScoredAnswer(
            self.number,
            answer.record_number,
            answer.record,
            answer.output,
            answer.text,
            values,
            tuple(
                None if isinstance(outcome, str) else outcome[0] for outcome in outcomes
            ),
            answer.placed,
            answer.is_repeated,
            answer.count.path,
        )

    def _add_to_totals(self, scored: list[tuple[_Answer, _Outcomes]]) -> None:
        last, question = 0, b""
        found = []
        for answer, outcomes in scored:
            if answer.record_number != last:
                last = answer.record_number
                question = question_key(answer.record, last)
            mine = GroupAnswer(last, question, outcomes)
            output, path = answer.output, answer.count.path
            found.append((mine, answer.record, output, answer.is_repeated, path))
        self.totals.add(found)

    def _report(self, code: str, answer: _Answer, message: str) -> None:
        """Report an answer without a score; raises `ScoreError` if it is refused."""
        model = model_to_name(answer.record, answer.output)
        self.problems.add_unscored(code, answer.placed, answer.count, message, model)
