"""Have answers measured as they come, and hand on what they came to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.reading.record_stream import PlacedRecord
from harpia_formats.registry import all_rules
from harpia_formats.rules import Rule
from harpia_formats.rules.scoring import NO_ANSWER, NO_REFERENCE, UNSCORABLE
from harpia_formats.scoring.accumulate import GroupTotals, Outcome, statistics_width
from harpia_formats.scoring.bootstrap import PoissonBootstrap, unavailable_reason
from harpia_formats.scoring.groups import AnswerGrouping
from harpia_formats.scoring.measure import BATCH, BatchQueue, BatchResult
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.results.format import ResultWriter
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer
from harpia_formats.validation.file.tally import Tally

_Came = tuple[Outcome, ...]
#: Characters of answers and references that are measured together.
SIZE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer that waits to be measured."""

    record_number: int
    record: Record
    output: Output
    text: str | None
    taken: PlacedRecord
    #: The counts of the file that it is from.
    count: FileCount


@dataclass(slots=True)
class AnswerScorer:
    """The answers of one run, and what they came to so far."""

    measured: tuple[ComputedMetric, ...]
    options: ScoreOptions
    models: ModelSelection
    grouper: AnswerGrouping
    tally: Tally
    #: Returns what writes results, once there is something to write; None for nothing.
    writer: Callable[[], ResultWriter | None]
    #: The counts of the file that is read.
    count: FileCount = field(default_factory=lambda: FileCount(""))
    #: Problems that were not told yet.
    pending: list[Problem] = field(default_factory=list)
    groups: dict[tuple[str, ...], GroupTotals] = field(default_factory=dict)
    #: Seconds that each metric took.
    seconds: list[float] = field(default_factory=list)
    seen_models: dict[str, None] = field(default_factory=dict)
    #: Answers that were handed on.
    number: int = 0
    total: GroupTotals = field(init=False)
    #: Whether a record may hold answers of several models.
    holds_models: bool = False
    #: Characters of what waits.
    _size: int = 0
    _widths: tuple[int, ...] = ()
    _records: int = 0
    _waiting: list[_Answer] = field(default_factory=list)
    _rules: dict[str, Rule] = field(default_factory=all_rules)

    def __post_init__(self) -> None:
        if self.options.replicates and not unavailable_reason():
            self._widths = tuple(
                statistics_width(each.measure) for each in self.measured
            )
        self.total = self._sums({})
        self.seconds = [0.0] * len(self.measured)

    def receive(self, taken: PlacedRecord, batches: BatchQueue) -> None:
        """Take a record, and hand out its answers once there are enough."""
        record = self.models.select(taken.record)
        self._records += 1
        if not record.outputs and (self.options.model is None or self.holds_models):
            record = replace(record, outputs=[Output()])
        self._size += sum(map(len, record.references or [])) * len(record.outputs)
        for output in record.outputs:
            if output.model is not UNSET:
                self.seen_models[output.model] = None
            text = answer_text(output)
            self._size += len(text or "")
            self._waiting.append(
                _Answer(self._records, record, output, text, taken, self.count)
            )
        if len(self._waiting) >= BATCH or self._size >= SIZE:
            self.hand_out(batches)

    def hand_out(self, batches: BatchQueue) -> None:
        """Have the answers measured that wait."""
        answers, self._waiting = self._waiting, []
        self._size = 0
        if answers:
            pairs = [
                (each.text, each.record.references)
                for each in answers
                if each.text is not None and each.record.references
            ]
            batches.add(answers, pairs)

    def deliver(self, answers: list[_Answer], measured: BatchResult) -> None:
        """Take what some answers came to."""
        self.seconds = [
            a + b for a, b in zip(self.seconds, measured.seconds, strict=True)
        ]
        found = zip(*measured.outcomes, strict=True)
        outcomes = [self._outcomes_of(each, found) for each in answers]
        both = list(zip(answers, outcomes, strict=True))
        self.total.add([(each.record_number, came) for each, came in both])
        self._add_to_groups(both)
        writer = self.writer()
        for answer, came in both:
            self.number += 1
            if writer is not None:
                writer.add(self._scored(answer, came))

    def _outcomes_of(self, answer: _Answer, found: Iterator[_Came]) -> _Came:
        """Return what an answer came to, and say where it came to nothing."""
        count = len(self.measured)
        if answer.text is None:
            self._say(NO_ANSWER, answer, "there is no answer to score")
            return ("no answer",) * count
        if not answer.record.references:
            self._say(NO_REFERENCE, answer, "there is no reference to compare with")
            return ("no reference",) * count
        outcomes = next(found)
        for each, outcome in zip(self.measured, outcomes, strict=True):
            if isinstance(outcome, str):
                message = f"{each.request.label} has no number: {outcome}"
                self._say(UNSCORABLE, answer, message)
        return outcomes

    def _scored(self, answer: _Answer, outcomes: _Came) -> ScoredAnswer:
        values = tuple(
            (None,) * len(each.names) if isinstance(outcome, str) else outcome[1]
            for each, outcome in zip(self.measured, outcomes, strict=True)
        )
        return ScoredAnswer(
            self.number,
            answer.record_number,
            answer.record,
            answer.output,
            answer.text,
            values,
            tuple(None if isinstance(each, str) else each[0] for each in outcomes),
        )

    def _add_to_groups(self, both: list[tuple[_Answer, _Came]]) -> None:
        if not self.options.by:
            return
        parts: dict[tuple[str, ...], list[tuple[int, _Came]]] = {}
        for answer, came in both:
            key = self.grouper.key_of(answer.record, answer.output)
            parts.setdefault(key, []).append((answer.record_number, came))
        for key, part in parts.items():
            sums = self.groups.get(key)
            if sums is None:
                self.grouper.check(len(self.groups) + 1)
                names = dict(zip(self.options.by, key, strict=True))
                sums = self.groups[key] = self._sums(names)
            sums.add(part)

    def _sums(self, key: dict[str, str]) -> GroupTotals:
        options = self.options
        resampling = None
        if options.replicates and not unavailable_reason():
            resampling = PoissonBootstrap(options.replicates, options.seed)
        return GroupTotals(key, self.measured, resampling, self._widths)

    def _say(self, code: str, answer: _Answer, message: str) -> None:
        rule, tally = self._rules[code], self.tally
        tally.resume(answer.count)
        if tally.wants(rule, ()):
            place = answer.taken.row.place(0, 1, ())
            problem = Problem(rule.code, rule.name, rule.severity, place, message)
            if tally.add(problem, ()):
                self.pending.append(problem)
        tally.resume(tally.files[-1])

    def told(self) -> Iterator[Problem]:
        """Yield the problems that were not told yet."""
        pending, self.pending = self.pending, []
        yield from pending
