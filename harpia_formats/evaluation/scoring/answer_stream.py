"""Batches of answers from a stream of records, the totals of their scores, problems."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.answer_groups import (
    EVALUATION,
    AnswerGrouping,
    ModelSelection,
)
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.preparation import with_gt_as_reference
from harpia_formats.conversion.mapping.questions import (
    given_question,
    numbered_question,
)
from harpia_formats.conversion.reading.placed_record import NotApart, PlacedRecord
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import Sample, Statistics
from harpia_formats.evaluation.scoring.answers import SystemNames
from harpia_formats.evaluation.scoring.measures.outcomes import (
    BATCH,
    BatchQueue,
    BatchResult,
    ComputedMetric,
    GroupAnswer,
    Outcome,
    ScoredAnswer,
    StoredOutcomes,
    UnseenFields,
    full_sample,
    holds_documents,
    sample_needs,
    sample_outcomes,
)
from harpia_formats.evaluation.scoring.measures.stored_differences import (
    RepeatedAnswers,
    StoredDifferences,
    comparable_scores,
    score_of_row,
)
from harpia_formats.evaluation.scoring.measures.stored_metrics import with_unread_score
from harpia_formats.evaluation.scoring.measures.system_totals import SystemTotals
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.results.result_format import (
    ResultFormat,
    ResultWriter,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import Values
from harpia_formats.formats.detection.unexpected_format import (
    likely_map_of,
    likely_references_of,
)
from harpia_formats.formats.registry import all_rules, format_of
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.scoring_rules import (
    NO_ANSWER,
    NO_FIELD,
    NO_REFERENCE,
    NO_VERDICT,
    OTHER_THAN_STORED,
    UNSCORABLE,
)
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.safe_text import safe
from harpia_formats.model.vendor_metrics import ScoreError
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.findings import KILLED, KILLED_HELP

#: The codes of what a record lacks, whichever answer is scored.
_OF_RECORDS = frozenset({NO_REFERENCE, NO_FIELD})
#: Characters of the name of a model in a message.
_SHOWN = 80


def model_to_name(record: Record, output: Output) -> str:
    """Return the model of an answer if the record has answers of several, else ""."""
    are_same = all(one.model == output.model for one in record.outputs)
    return "" if output.model is UNSET or are_same else output.model


@dataclass(slots=True)
class AnswerProblems:
    """Counts findings on answers, and keeps the first ones until they are asked for."""

    options: ScoreOptions
    models: ModelSelection
    tally: Tally
    measured: tuple[ComputedMetric, ...]
    #: Problems that `pop` has not yielded yet.
    pending: list[Problem] = field(default_factory=list)
    #: Why the first answer without a score is refused, while the model is unknown.
    _refusal: ScoreError | None = None
    #: The record of the last message on a record, by its file and number, and all such
    #: messages on it.
    _record: tuple[int, int] = (0, 0)
    _reported: set[str] = field(default_factory=set)
    _rules: dict[str, Rule] = field(default_factory=all_rules)

    def add(self, code: str, answer: ScoredAnswer, message: str) -> None:
        """Report a finding on an answer."""
        rule = self._rules[code]

        def problem() -> Problem:
            place = answer.placed.row.place(0, 1, ())
            facts = rule.code, rule.name, rule.severity, place, message
            return Problem(*facts, help=self._help(code, answer))

        kept = self.tally.add(answer.count, rule, problem)
        if kept is not None:
            self.pending.append(kept)

    def _help(self, code: str, answer: ScoredAnswer) -> str:
        """Return what to do about a finding: an option that scores a record, mostly."""
        record = answer.placed.record
        if code == KILLED:
            return KILLED_HELP
        if code == NO_REFERENCE:
            # Of other formats a key may be one that they read themselves.
            name = answer.count.format
            has_columns = name is not None and format_of(name).general
            is_open = has_columns and not self.options.columns
            key = likely_references_of(record) if is_open else ""
            return f"if it is there, read it with {key}" if key else ""
        if code != NO_ANSWER:
            return ""
        if holds_documents(record):
            names = [
                name for name in METRICS if "retrieved" in METRICS[name].parameters
            ]
            return f"retrieved documents are scored by `--metrics {','.join(names)}`"
        if self.options.columns:
            return ""
        proposed = likely_map_of(record)
        return f"read columns as fields with {proposed}" if proposed else ""

    def add_unscored(
        self, code: str, answer: ScoredAnswer, message: str, model: str
    ) -> None:
        """Report an answer without a score; raises `ScoreError` if it is refused.

        What a record lacks is reported once, however many answers it has; of any other
        message `model` is the model of the answer, "" if the record shows it.
        """
        if model and code not in _OF_RECORDS:
            message = f"{message} (model {safe(model, _SHOWN)})"
        if self.options.missing is not None:
            if code not in _OF_RECORDS or self._is_new(answer, message):
                self.add(code, answer, message)
            return
        place = self.tally.in_member(answer.placed.row.place(0, 1, ()))
        error = ScoreError(
            f"{place.full_path}:{place.line}: {message}; "
            f'missing="skip" leaves answers without a score out{self._other_way(code)}'
        )
        self._refusal = self._refusal or error
        if not self._is_model_unknown:
            raise self._refusal

    def _is_new(self, answer: ScoredAnswer, message: str) -> bool:
        """Tell whether a message on a record is its first one with this text."""
        record = (id(answer.count), answer.placed.number)
        if record != self._record:
            self._record, self._reported = record, set()
        is_new = message not in self._reported
        self._reported.add(message)
        return is_new

    def _other_way(self, code: str) -> str:
        """Return how else than left out an answer may count, as the end of a text."""
        may_be_wrong = {
            f"{metric.request.label}.unreadable": "wrong"
            for metric in self.measured
            if metric.leaves_unreadable_out
        }
        if code == UNSCORABLE and may_be_wrong:
            given = json.dumps(may_be_wrong)
            return f", and parameters={given} counts unreadable ones as wrong"
        is_missing = code in {NO_ANSWER, NO_VERDICT}
        return ', and missing="zero" scores missing answers 0' if is_missing else ""

    @property
    def _is_model_unknown(self) -> bool:
        """Whether a model is wanted of which no answer was read yet."""
        return self.models.wanted is not None and not self.models.found

    def check_model(self) -> None:
        """Check that the wanted model has answers, after the last record.

        Raises `ConversionError` if not, and `ScoreError` if an answer without a score
        is refused.
        """
        self.models.check()
        if self._refusal is not None:
            raise self._refusal

    def pop(self) -> Iterator[Problem]:
        """Yield the new problems, and forget them.

        They are kept while no answer of the wanted model was read: if there is none,
        that is the error, and not that answers are missing.
        """
        if not self._is_model_unknown:
            yield from self.pop_last()

    def pop_last(self) -> Iterator[Problem]:
        """Yield the problems that are left, after the last record."""
        pending, self.pending = self.pending, []
        yield from pending


#: Characters of answers and references that are measured together.
SIZE = 4 * 1024 * 1024


@dataclass(slots=True)
class AnswerMeasuring:
    """Finds the answers of records, and what follows of their outcomes.

    In a worker process, it receives the rows of one range of a file only.
    """

    measured: tuple[ComputedMetric, ...]
    options: ScoreOptions
    models: ModelSelection
    grouping: AnswerGrouping
    names: SystemNames = field(default_factory=SystemNames)
    #: The counts of the file that is being read.
    count: FileCount = field(default_factory=lambda: FileCount(""))
    #: Returns the scores that an answer holds, if these are shown and none is computed.
    stored: StoredOutcomes | None = None
    #: Whether they are stored scores, and no verdicts of a judge.
    are_stored: bool = False
    #: Seconds that each metric took.
    seconds: list[float] = field(default_factory=list)
    #: Whether a record may hold answers of several models.
    holds_models: bool = False
    #: What no document has by which metrics compare them.
    unseen_fields: UnseenFields = field(init=False)
    #: The number of records so far.
    records: int = 0
    #: Answers without a stored score, where stored scores are shown.
    without_stored: int = 0
    #: The fields of samples that metrics need, none if only answers and references.
    _needs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.seconds = [0.0] * len(self.measured)
        self._needs = sample_needs(self.measured)
        self.unseen_fields = UnseenFields(self.measured)

    # --- The answers of a record ---

    def answers_of(self, placed: PlacedRecord) -> tuple[list[ScoredAnswer], int]:
        """Return the answers of the next record, and about how many characters."""
        count = self.count
        record = with_unread_score(placed.record) if self.are_stored else placed.record
        record = self.models.select(self.names.named(record, count.path))
        if self.options.reference_from == ReferenceFrom.GT:
            record = with_gt_as_reference(record, FieldOutcomes())
        self.records += 1
        wanted = self.options.model
        of_file = self.names.of_files.get(count.path, wanted)
        has_none = wanted is None and not placed.record.outputs
        # A row of one answer, which is of another model, lacks no answer.
        is_asked = self.holds_models and (wanted is None or of_file == wanted)
        if not record.outputs and (has_none or is_asked):
            record = replace(record, outputs=[Output()])
        size = sum(map(len, record.references or [])) * len(record.outputs)
        found = []
        for output in record.outputs:
            is_left_out = self.are_stored and not output.scores
            self.without_stored += is_left_out and bool(placed.record.outputs)
            # Its question tells of which systems files without model names are.
            if is_left_out and output.model is not UNSET:
                continue
            is_repeated = self.is_repeated(record, output)
            if is_repeated is None:
                continue
            text = answer_text(output)
            size += len(text or "")
            sample = Sample(text, record.references or ())
            if self._needs:
                sample, more = full_sample(self._needs, record, output, sample)
                size += more
            self.unseen_fields.add(sample)
            answer = ScoredAnswer(
                self.records, record, output, placed, count, is_repeated, sample
            )
            found.append(answer)
        return found, size

    @property
    def passes_repeats(self) -> bool:
        """Whether an answer of several rows counts once."""
        # Rows of one answer hold other scores of it; those of another filter hold
        # what a metric of filters compares.
        return not self.are_stored and "extracted" not in self._needs

    def is_repeated(self, record: Record, output: Output) -> bool | None:  # noqa: ARG002 - of another process
        """Tell whether an answer counts in its group only, None if not even there.

        Raises `NotApart` if that depends on other rows.
        """
        is_asked = self.passes_repeats or EVALUATION in self.options.by
        if is_asked and score_of_row(record) is not None:
            raise NotApart
        return False

    # --- What follows of their outcomes ---

    def measured_answers(
        self, answers: Sequence[ScoredAnswer], result: BatchResult
    ) -> list[GroupAnswer]:
        """Return what is made of some answers, of which `result` has the outcomes."""
        self.add_seconds(result.seconds)
        columns = [iter(column) for column in result.outcomes]
        has_groups = bool(self.grouping.within_system)
        may_be_zero = self.options.missing == Missing.ZERO
        last, question = 0, b""
        found = []
        for answer in answers:
            if answer.measured is not None:
                found.append(answer.measured)
                continue
            record, output = answer.record, answer.output
            if answer.record_number != last:
                last, question = answer.record_number, given_question(record)
            if self.stored is not None:
                outcomes = self.stored(record, output)
            else:
                outcomes = sample_outcomes(
                    answer.sample, self.measured, columns, may_be_zero
                )
            findings = outcomes.findings
            model = model_to_name(record, output) if findings else ""
            has_scores = self.stored is None and bool(output.scores)
            has_text = answer.sample.answer is not None
            found.append(
                GroupAnswer(
                    last,
                    question,
                    outcomes.outcomes,
                    None if output.model is UNSET else output.model,
                    bool(output.scores) or (has_text and not self.are_stored),
                    len(record.references or ()),
                    self.grouping.key_of(record, output) if has_groups else (),
                    answer.count.path,
                    answer.is_repeated,
                    tuple([(code, message, model) for code, message in findings]),
                    outcomes.is_zero,
                    has_scores and not has_text,
                    comparable_scores(output) if has_scores else (),
                )
            )
        return found

    def add_seconds(self, seconds: Sequence[float]) -> None:
        """Add the seconds that each metric took."""
        both = zip(self.seconds, seconds, strict=True)
        self.seconds = [a + b for a, b in both]


@dataclass(slots=True, kw_only=True)
class AnswerScorer(AnswerMeasuring):
    """Collects the answers of a run in batches, and totals their results."""

    #: The counts of all files.
    tally: Tally
    #: Returns the writer of results, None if no results are written.
    writer: Callable[[], ResultWriter | None] = lambda: None
    #: The format of results, None if none are written.
    target: ResultFormat | None = None
    problems: AnswerProblems = field(init=False)
    totals: SystemTotals = field(init=False)
    #: Where the answers are measured.
    batches: BatchQueue = field(init=False)
    #: Where computed scores differ from those of the same metric that answers hold.
    differences: StoredDifferences = field(init=False)
    #: Answers that rows repeat for each metric.
    repeated: RepeatedAnswers = field(default_factory=RepeatedAnswers)
    #: The number of those that count in no group, and of which nothing is written.
    left_out: int = 0
    #: The number of answers, and of missing ones among them that count as 0.
    number: int = 0
    zeros: int = 0
    #: Answers without a text that hold stored scores.
    only_stored: int = 0
    #: Characters of the waiting answers and references.
    _size: int = 0
    _waiting: list[ScoredAnswer] = field(default_factory=list)

    def __post_init__(self) -> None:
        AnswerMeasuring.__post_init__(self)
        self.batches = BatchQueue(self.measured, self.add_results)
        self.differences = StoredDifferences(self.measured)
        self.problems = AnswerProblems(
            self.options, self.models, self.tally, self.measured
        )
        target = self.target
        self.totals = SystemTotals(
            self.measured,
            self.options,
            self.grouping,
            one_model_format="" if target is None or target.holds_models else target.id,
            row_format=target.id if target and target.names_models_in_rows else "",
            are_stored=self.are_stored,
            owners=self.names.owners,
        )

    def add_record(self, placed: PlacedRecord) -> None:
        """Add the answers of a record, and submit a batch if enough are waiting."""
        self.add_answers(*self.answers_of(placed))

    def add_answers(self, answers: Sequence[ScoredAnswer], size: int) -> None:
        """Let the answers of a record wait, or submit all if they are enough.

        `size` is about how many characters they have.
        """
        self._waiting += answers
        self._size += size
        if len(self._waiting) >= BATCH or self._size >= SIZE:
            self.submit_waiting()

    def is_repeated(self, record: Record, output: Output) -> bool | None:
        """Tell whether an answer counts in its group only, None if not even there."""
        find = self.repeated.is_repeat
        # With this option answers without a model are of one system in all files.
        file = "" if self.options.pool else self.count.path
        is_repeat = self.passes_repeats and find(record, output, file, within=False)
        # Each answer must be known within its evaluation, too.
        is_apart = EVALUATION in self.options.by
        is_new = is_apart and not find(record, output, file, within=True)
        if is_repeat and not is_new:
            self.left_out += 1
            return None
        return is_repeat

    def submit_waiting(self) -> None:
        """Submit the waiting answers as one batch."""
        answers, self._waiting = self._waiting, []
        self._size = 0
        if answers:
            unmeasured = (one.sample for one in answers if one.measured is None)
            self.batches.add(answers, [] if self.stored else list(unmeasured))

    def add_results(
        self, answers: list[ScoredAnswer], measured: BatchResult | None
    ) -> None:
        """Add the results of a batch to the totals, and write its answers.

        Those of a batch that killed two workers, which has none, are left out.
        """
        if measured is None:
            self._report_killed([one for one in answers if one.measured is None])
            answers = [one for one in answers if one.measured is not None]
            nothing: list[list[Outcome]] = [[] for _ in self.measured]
            measured = BatchResult(nothing, [0.0] * len(nothing))
        found = self.measured_answers(answers, measured)
        for answer, mine in zip(answers, found, strict=True):
            mine.question = mine.question or numbered_question(mine.record_number)
            self._report(answer, mine)
        self.totals.add(found)
        writer = self.writer()
        for answer, mine in zip(answers, found, strict=True):
            if self.are_stored and not mine.is_given:
                continue
            self.number += 1
            if writer is not None:
                answer.statistics, answer.values = self._own_scores(mine.outcomes)
                writer.add(answer)

    def _report(self, answer: ScoredAnswer, measured: GroupAnswer) -> None:
        """Report what an answer lacks, and where its scores differ from stored ones.

        Raises `ScoreError` if an answer without a score is refused.
        """
        self.zeros += measured.is_zero
        self.only_stored += measured.is_only_stored
        for code, message, model in measured.findings:
            self.problems.add_unscored(code, answer, message, model)
        for message in self.differences.add(measured, answer.placed):
            self.problems.add(OTHER_THAN_STORED, answer, message)

    def _report_killed(self, answers: list[ScoredAnswer]) -> None:
        """Report answers that killed two workers; their records have no verdict."""
        for _, some in groupby(answers, lambda answer: id(answer.count)):
            of_file = list(some)
            first, number = of_file[0], len(of_file)
            first.count.undetermined += len({one.record_number for one in of_file})
            message = (
                f"{number:,} answer{'s' * (number != 1)} could not be scored: the "
                "process that measured them died twice"
            )
            self.problems.add(KILLED, first, message)

    def _own_scores(
        self, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Statistics | LabelPair | None, ...], tuple[Values, ...]]:
        """Return the statistics and the scores of an answer by each metric."""
        both = [
            (None, (None,) * len(metric.names)) if isinstance(outcome, str) else outcome
            for metric, outcome in zip(self.measured, outcomes, strict=True)
        ]
        return tuple(one for one, _ in both), tuple(scores for _, scores in both)
