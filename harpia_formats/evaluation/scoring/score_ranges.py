"""Read and score the answers of a large file in worker processes."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields
from itertools import islice
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from harpia_formats.conversion.mapping.answer_groups import (
    AnswerGrouping,
    ModelSelection,
)
from harpia_formats.conversion.reading.placed_record import NotApart, PlacedRecord
from harpia_formats.conversion.reading.record_ranges import (
    FileRows,
    RecordsState,
    are_apart,
    are_short,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.scoring.answer_stream import (
    AnswerMeasuring,
    AnswerScorer,
)
from harpia_formats.evaluation.scoring.answers import SystemNames
from harpia_formats.evaluation.scoring.measures.outcomes import (
    BATCH,
    GroupAnswer,
    ScoredAnswer,
    UnseenFields,
    computed_metric,
    measure_batch,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions, SystemName
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.formats.rules.scoring_rules import NO_ANSWER
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.vendor_metrics import MetricRequest, ScoreError
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import NotDone, RangeFrames
from harpia_formats.validation.parallel.ranges import MAX_LEFT, FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.findings import Findings


@dataclass(frozen=True, slots=True)
class ScoringWorkers:
    """The worker processes of a run, which score the answers of its large files."""

    pool: WorkerPool
    answers: AnswerScorer

    def work(self, local: LocalValidation) -> "RangeScoring":
        """Return the work to do on the ranges of a file."""
        self.answers.batches.is_pool_busy = False
        return RangeScoring(self.answers, local)

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:  # noqa: ARG002 - the protocol of workers
        """Score what is read only at the end of a file; yield after some rows."""
        self.answers.batches.is_pool_busy = False
        yield from stream.finish()


#: What stands for an answer and a record that only another process has read.
_NO_OUTPUT = Output()
_NOWHERE = PlacedRecord(Record(), "", 0, {}, "", lambda _: b"", lambda _: Cursor(), 0)


@dataclass(slots=True)
class RangeScoring:
    """The scoring of the ranges of one file."""

    answers: AnswerScorer
    local: LocalValidation
    #: The outcomes of all answers come back.
    is_wordy: bool = True
    #: Ranges in succession that workers left to this process.
    _left: int = 0

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work.

        They cannot where an answer depends on rows of other ranges, where the last
        digits of a score depend on the answers that a model is given together, and
        where metrics are made of the scores that records hold. What writes results or
        compares runs needs the records themselves: such runs do not ask.
        """
        answers = self.answers
        if answers.stored is not None or answers.repeated.have_begun:
            return False
        if any(metric.measure.batch is not None for metric in answers.measured):
            return False
        return are_apart(self.local) and are_short(self.local, done)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "ScoringJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        answers, options = self.answers, self.answers.options
        # The results of workers that end now, before those that score ranges begin.
        answers.batches.finish()
        answers.batches.is_pool_busy = True
        path = answers.count.path
        return ScoringJob(
            FileRows.of_file(plan, self.local),
            tuple(metric.request for metric in answers.measured),
            ScoreOptions(
                by=options.by,
                missing=options.missing,
                reference_from=options.reference_from,
                model=options.model,
            ),
            path,
            answers.names.of_files.get(path),
            answers.holds_models,
            answers.problems.tally.examples,
        )

    def given(self, part: FilePart) -> None:
        """Return nothing: a worker needs the rows only."""

    def merge(
        self,
        answer: "ScoredRange",
        ranges: Ranges,
        part: FilePart,
        given: None,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Add the answers of the next range, in the batches of a run without workers.

        The totals then get the same answers together, and findings come as early.
        """
        merge, answers, self._left = self.local.merge, self.answers, 0
        answers.models.add(answer.models.seen, found=answer.models.found)
        for named in answer.named_models.items():
            answers.names.add_model(*named)
        answers.add_seconds(answer.seconds)
        answers.unseen_fields.merge(answer.unseen_fields)
        for size, sent in answer.records:
            answers.records += 1
            mine = [self._read(*one, merge.records, ranges.lines) for one in sent]
            answers.add_answers(mine, size)
        merge.pass_over(answer.rows)
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, answer.lines)
        yield Findings()

    def _read(
        self,
        sent: tuple[Any, ...],
        placed: PlacedRecord | None,
        before: int,
        lines: int,
    ) -> ScoredAnswer:
        """Return an answer of the record that was counted last.

        `before` are the records before its range in the file, `lines` the lines.
        """
        count, number = self.answers.count, self.answers.records
        measured = GroupAnswer(number, *sent)
        if placed is None:
            placed = _NOWHERE
        else:
            start = replace(placed.start, line=placed.start.line + lines)
            placed = _placed_apart(placed, placed.record, placed.number + before, start)
        read = number, placed.record, _NO_OUTPUT, placed, count
        return ScoredAnswer(*read, measured=measured)

    def note_left(self, reason: NotDone | None) -> None:  # noqa: ARG002 - whatever it was
        """Note that workers get no more ranges after some in succession."""
        self._left += 1
        self.answers.batches.is_pool_busy = self._left < MAX_LEFT


def _placed_apart(
    placed: PlacedRecord, record: Record, number: int, start: Cursor
) -> PlacedRecord:
    """Return a row of which a message tells, as plain data: its text is one byte."""
    return replace(
        placed,
        record=record,
        number=number,
        text_of=[placed.text[:1]].__getitem__,
        start_of=[start].__getitem__,
        index=0,
    )


#: All of a `GroupAnswer` but the number of its record, in order.
_sent_fields = attrgetter(*[one.name for one in fields(GroupAnswer)[1:]])
#: An answer: these fields, and its row if there is something to say of it.
SentAnswer = tuple[tuple[Any, ...], PlacedRecord | None]


@dataclass(frozen=True, slots=True)
class ScoredRange:
    """The answers of a range, whose places count from its beginning."""

    #: For each record about how many characters it has, and its answers.
    records: list[tuple[int, list[SentAnswer]]]
    #: The number of rows that are records, and of lines.
    rows: int
    lines: int
    #: Seconds that each metric took.
    seconds: list[float]
    #: The models of the answers if one is wanted, and whether it is one of them.
    models: ModelSelection
    #: The model of the answers of the system that the user names, by that name.
    named_models: dict[str, str]
    unseen_fields: UnseenFields


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """How the answers of one file are scored, which is the same for all: plain data."""

    rows: FileRows
    metrics: tuple[MetricRequest, ...]
    #: The options of which answers depend.
    options: ScoreOptions
    path: str
    #: How the user calls the system of the file or its models, None for not at all.
    system: SystemName | None
    #: Whether a record may hold answers of several models.
    holds_models: bool
    #: Of how many findings of a kind the record is looked at.
    examples: int

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""
        return self.rows.plan

    def state(self) -> "ScoringState":
        """Return what a worker starts with."""
        return ScoringState(self)


class ScoringState(RecordsState):
    """Scores one range after the other."""

    def __init__(self, job: ScoringJob) -> None:
        super().__init__(job.rows, self._receive)
        self._job = job
        self._metrics = tuple(map(computed_metric, job.metrics))

    def _begin(self) -> None:
        """Forget what was found of a range, before the first record of the next one."""
        job = self._job
        names = {} if job.system is None else {job.path: job.system}
        self._answers = AnswerMeasuring(
            self._metrics,
            job.options,
            ModelSelection(job.options.model),
            AnswerGrouping(job.options.by),
            SystemNames(names),
            FileCount(job.path),
            holds_models=job.holds_models,
        )
        #: For each record about how many characters it has, and how many answers.
        self._records: list[tuple[int, int]] = []
        self._waiting: list[ScoredAnswer] = []
        self._sent: list[SentAnswer] = []
        #: How many answers are missing.
        self._missing = 0

    def _receive(self, placed: PlacedRecord) -> None:
        try:
            answers, size = self._answers.answers_of(placed)
        except ScoreError as error:
            # The main process raises it, after all that comes before.
            raise NotApart from error
        self._records.append((size, len(answers)))
        self._waiting += answers
        if len(self._waiting) >= BATCH:
            self._measure()

    def _measure(self) -> None:
        """Measure the answers that wait; raises `NotApart` if they are refused."""
        answers, self._waiting = self._waiting, []
        result = measure_batch(self._metrics, [one.sample for one in answers])
        measured = self._answers.measured_answers(answers, result)
        for answer, mine in zip(answers, measured, strict=True):
            self._sent.append((_sent_fields(mine), self._place_of(answer, mine)))

    def _place_of(
        self, answer: ScoredAnswer, measured: GroupAnswer
    ) -> PlacedRecord | None:
        """Return the row of an answer if there is something to say of it."""
        if not (measured.findings or measured.scores):
            return None
        if measured.findings and self._job.options.missing is None:
            raise NotApart  # the main process refuses it, with all that came before
        lacks_answer = any(code == NO_ANSWER for code, _, _ in measured.findings)
        self._missing += lacks_answer
        has_record = lacks_answer and self._missing <= self._job.examples
        placed = answer.placed
        record = placed.record if has_record else Record()
        return _placed_apart(placed, record, placed.number, placed.start)

    def run(self, frames: RangeFrames, given: None) -> ScoredRange | None:  # noqa: ARG002 - all is in the job
        """Score a range; None if the main process has to do that."""
        self._begin()
        rows = self.read(frames)
        if rows is None:
            return None
        try:
            self._measure()
        except NotApart:
            return None
        sent, answers = iter(self._sent), self._answers
        return ScoredRange(
            [(size, list(islice(sent, count))) for size, count in self._records],
            rows,
            frames.lines,
            answers.seconds,
            answers.models,
            answers.names.models,
            answers.unseen_fields,
        )
