"""Score the answers of any record format, by the metrics of one profile."""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.choosing import Choice, Chosen
from harpia_formats.convert_options import Output as OutputPlace
from harpia_formats.detection import Variant
from harpia_formats.filling import answer_of
from harpia_formats.format import Format
from harpia_formats.grouped_scores import GroupSums, Outcome
from harpia_formats.inputs import Input, kept
from harpia_formats.measuring import BATCH, Batches, Measured, jobs_of
from harpia_formats.models import Models
from harpia_formats.needs import holds_answers
from harpia_formats.problem import Problem
from harpia_formats.profile import ScoreError
from harpia_formats.profiles import DEFAULT, profile_named
from harpia_formats.reading import Reading
from harpia_formats.record import Header, Output, Record
from harpia_formats.registry import all_rules, result_format_named, spoke_of
from harpia_formats.report import FileCount
from harpia_formats.resampling import Resampling, why_not
from harpia_formats.result_files import ResultFiles
from harpia_formats.result_format import ResultFormat, ResultRun, ResultWriter
from harpia_formats.rules.scoring import NO_ANSWER, NO_REFERENCE, UNSCORABLE
from harpia_formats.score_groups import Grouper
from harpia_formats.score_options import ScoreOptions
from harpia_formats.scores import Measuring, ScoredAnswer, Scores
from harpia_formats.source import Source
from harpia_formats.taking import Taken


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer that waits to be measured."""

    record_number: int
    record: Record
    output: Output
    text: str | None
    taken: Taken
    #: The counts of the file that it is from.
    count: FileCount


class Scoring:
    """One run: iterate for the problems, then ask for the scores.

    Raises `ScoreError`, `ConversionError`, `SinkError`, `UnknownFormat` or
    `ValueError` for what cannot be done, before anything is read where it can.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        to: str | ResultFormat | None = None,
        output: OutputPlace = None,
        options: ScoreOptions | None = None,
    ) -> None:
        self._options = options or ScoreOptions()
        self._inputs = list(inputs)
        self._target: ResultFormat | None = None
        if to is not None:
            self._target = result_format_named(to) if isinstance(to, str) else to
            _check_names(self._options.names, self._target)
        self._files = ResultFiles(output, overwrite=self._options.overwrite)
        if to is not None:
            self._files.check()
        asked = self._options.profile
        usual = self._target.profile if self._target else DEFAULT.id
        self._profile = profile_named(asked or usual)
        self._grouper = Grouper(self._options.by)
        self._models = Models(self._options.model)
        self._choice = Choice.of(self._profile, self._options)
        self._chosen: Chosen | None = None
        self._header: Header | None = None
        if not self._choice.is_of_input:
            self._chosen = self._choice.settled()
        self._reading = self._new_reading()
        self._answers: list[_Answer] = []
        self._pending: list[Problem] = []
        self._count = FileCount("")
        self._total: GroupSums | None = None
        self._groups: dict[tuple[str, ...], GroupSums] = {}
        self._seconds: list[float] = []
        self._records = self._number = 0
        self._seen_models: dict[str, None] = {}
        self._source: Format | None = None
        self._writer: ResultWriter | None = None
        self._names: tuple[str, ...] = ()
        self._rules = all_rules()

    def _settle_by_input(self) -> bool:
        """Settle what is computed by what stands around the records.

        It comes behind them, so all is read for it; tell whether that can be.
        """
        self._inputs = [kept(each) for each in self._inputs]
        reading = self._new_reading()
        self._pending += reading.problems(
            lambda _: None, lambda *_: None, lambda _: None
        )
        report = reading.tally.report()
        if report.failures or not (report.ok or self._options.skip_invalid):
            self._reading = reading
            return False
        # What is wrong with rows that are left out is told when they are scored.
        self._pending = []
        headers = [each for found in reading.headers for each in found]
        self._header = headers[0] if headers else Header()
        self._chosen = self._choice.settled(self._header)
        for each in self._inputs:
            if isinstance(each, Source) and not isinstance(each.origin, (bytes, Path)):
                each.origin.seek(0)
        self._reading = self._new_reading()
        return True

    def _new_reading(self) -> Reading:
        options = self._options
        return Reading(
            self._inputs,
            options.from_,
            columns=options.columns,
            fail_fast=not options.skip_invalid,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
        )

    # -- the run --------------------------------------------------------------------

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score everything; yield the first problems of each kind."""
        try:
            yield from self._run()
        except BaseException:
            self._files.discard()
            if self._writer is not None:
                self._writer.drop()
            raise

    def _run(self) -> Generator[Problem, None, None]:
        if self._chosen is None and not self._settle_by_input():
            yield from self._flush()
            return
        measured = self._measured
        self._total = self._sums({})
        self._seconds = [0.0] * len(measured)
        with ExitStack() as stack:
            batches = Batches(measured, self._deliver)
            jobs = jobs_of(self._options.jobs)
            if jobs > 1:
                batches.jobs = jobs
                batches.executor = _Late(stack, jobs)
            problems = self._reading.problems(
                lambda taken: self._receive(taken, batches),
                self._begin,
                lambda _: None,
            )
            for each in problems:
                yield each
                yield from self._flush()
            self._hand_out(batches)
            batches.finish()
        yield from self._flush()
        self._models.check()
        self._finish()

    @property
    def _measured(self) -> tuple[Measuring, ...]:
        assert self._chosen is not None  # noqa: S101 - settled before the run
        return self._chosen.measured

    def _begin(self, variant: Variant, count: FileCount) -> None:
        """Open the output once it is known what is read. Raises `ScoreError`."""
        self._count = count
        if not holds_answers(spoke_of(variant.format)):
            raise ScoreError(
                f"{variant.format.id} holds no answers, so there is nothing to score"
            )
        self._source = self._source or variant.format

    def _open(self) -> None:
        if self._target is None or self._writer is not None:
            return
        config = self._choice.configured
        configured = {"task": config.task, "tree": config.tree} if config else {}
        names = {key: each for key, each in configured.items() if each}
        run = ResultRun(
            self._measured,
            self._profile.id,
            self._source,
            self._header,
            names | dict(self._options.names),
            self._options.constants,
            self._options.by,
        )
        self._writer = self._target.writer(self._files, run)

    def _receive(self, taken: Taken, batches: Batches) -> None:
        record = self._models.of(taken.record)
        self._records += 1
        if not record.outputs and self._options.model is None:
            record = replace(record, outputs=[Output()])
        for output in record.outputs:
            if output.model is not UNSET:
                self._seen_models[output.model] = None
            text = answer_of(output)
            self._answers.append(
                _Answer(self._records, record, output, text, taken, self._count)
            )
        if len(self._answers) >= BATCH:
            self._hand_out(batches)

    def _hand_out(self, batches: Batches) -> None:
        answers, self._answers = self._answers, []
        if answers:
            pairs = [
                (each.text, each.record.references)
                for each in answers
                if each.text is not None and each.record.references
            ]
            batches.add(answers, pairs)

    def _deliver(self, answers: list[_Answer], measured: Measured) -> None:
        """Take what some answers came to."""
        self._seconds = [
            a + b for a, b in zip(self._seconds, measured.seconds, strict=True)
        ]
        found = zip(*measured.outcomes, strict=True)
        outcomes = [self._outcomes_of(each, found) for each in answers]
        both = list(zip(answers, outcomes, strict=True))
        assert self._total is not None  # noqa: S101 - made when the run began
        self._total.add([(each.record_number, came) for each, came in both])
        self._add_to_groups(both)
        self._open()
        for answer, came in both:
            self._number += 1
            if self._writer is not None:
                self._writer.add(self._scored(answer, came))

    def _outcomes_of(
        self, answer: _Answer, found: Iterator[tuple[Outcome, ...]]
    ) -> tuple[Outcome, ...]:
        """Return what an answer came to, and say where it came to nothing."""
        count = len(self._measured)
        if answer.text is None:
            self._say(NO_ANSWER, answer, "there is no answer to score")
            return ("no answer",) * count
        if not answer.record.references:
            self._say(NO_REFERENCE, answer, "there is no reference to compare with")
            return ("no reference",) * count
        outcomes = next(found)
        for each, outcome in zip(self._measured, outcomes, strict=True):
            if isinstance(outcome, str):
                message = f"{each.asked.called} has no number: {outcome}"
                self._say(UNSCORABLE, answer, message)
        return outcomes

    def _scored(self, answer: _Answer, outcomes: tuple[Outcome, ...]) -> ScoredAnswer:
        values = tuple(
            (None,) * len(each.names) if isinstance(outcome, str) else outcome[1]
            for each, outcome in zip(self._measured, outcomes, strict=True)
        )
        return ScoredAnswer(
            self._number,
            answer.record_number,
            answer.record,
            answer.output,
            answer.text,
            values,
            tuple(None if isinstance(each, str) else each[0] for each in outcomes),
        )

    def _add_to_groups(self, both: list[tuple[_Answer, tuple[Outcome, ...]]]) -> None:
        if not self._options.by:
            return
        parts: dict[tuple[str, ...], list[tuple[int, tuple[Outcome, ...]]]] = {}
        for answer, came in both:
            key = self._grouper.key_of(answer.record, answer.output)
            parts.setdefault(key, []).append((answer.record_number, came))
        for key, part in parts.items():
            sums = self._groups.get(key)
            if sums is None:
                self._grouper.check(len(self._groups) + 1)
                names = dict(zip(self._options.by, key, strict=True))
                sums = self._groups[key] = self._sums(names)
            sums.add(part)

    def _sums(self, key: dict[str, str]) -> GroupSums:
        options = self._options
        resampling = None
        if options.replicates and not why_not():
            resampling = Resampling(options.replicates, options.seed)
        return GroupSums(key, self._measured, resampling)

    # -- what is said ---------------------------------------------------------------

    def _say(self, code: str, answer: _Answer, message: str) -> None:
        rule, tally = self._rules[code], self._reading.tally
        tally.resume(answer.count)
        if tally.wants(rule, ()):
            place = answer.taken.row.place(0, 1, ())
            problem = Problem(rule.code, rule.name, rule.severity, place, message)
            if tally.add(problem, ()):
                self._pending.append(problem)
        tally.resume(tally.files[-1])

    def _flush(self) -> Iterator[Problem]:
        pending, self._pending = self._pending, []
        yield from pending

    # -- the end ----------------------------------------------------------------------

    def _finish(self) -> None:
        """Write what is not written yet, if all was read."""
        if not self._is_readable:
            self._files.discard()
            if self._writer is not None:
                self._writer.drop()
            return
        if not self._number:
            raise ScoreError("there is no record, so there is nothing to score")
        if self._target is not None:
            self._open()
            assert self._writer is not None  # noqa: S101 - opened a line above
            self._writer.close(self.scores())
            self._names = self._files.commit()

    @property
    def _is_readable(self) -> bool:
        report = self._reading.tally.report()
        return not report.failures and (report.ok or self._options.skip_invalid)

    def scores(self) -> Scores:
        """Return what came of it, once all was read."""
        assert self._total is not None  # noqa: S101 - iterated before
        assert self._chosen is not None  # noqa: S101 - likewise
        options = self._options
        return Scores(
            profile=self._profile.id,
            measured=self._measured,
            unknown=self._chosen.unknown,
            total=self._total.group(options.level),
            groups=tuple(each.group(options.level) for each in self._groups.values()),
            seconds=tuple(self._seconds),
            resampling=self._resampling(),
            report=self._reading.tally.report(),
            is_broken=not self._is_readable,
            models=tuple(self._seen_models),
            outputs=self._names,
            said=self._said(),
        )

    def _resampling(self) -> str:
        options = self._options
        if not options.replicates or why_not():
            return ""
        return (
            f"bootstrap|level:{options.level:g}|replicates:{options.replicates}"
            f"|seed:{options.seed}"
        )

    def _said(self) -> tuple[str, ...]:
        """Return what is worth saying beside the scores."""
        chosen = () if self._chosen is None else self._chosen.said
        missing = why_not() if self._options.replicates else ""
        return (*chosen, *([missing] if missing else []))


@dataclass(slots=True)
class _Late:
    """Processes that are begun for the second batch: few answers need none."""

    stack: ExitStack
    jobs: int
    _pool: Executor | None = None

    def submit(self, act: Callable[..., Any], /, *given: Any) -> Future[Any]:
        """Hand out some work."""
        if self._pool is None:
            from harpia_formats.pool import pool_of  # noqa: PLC0415 - for much data only

            self._pool = self.stack.enter_context(pool_of(self.jobs))
        return self._pool.submit(act, *given)


def _check_names(names: Iterable[str], target: ResultFormat) -> None:
    """Raise `ScoreError` for a name that results have no place for."""
    for each in names:
        if each not in target.names:
            known = ", ".join(target.names) or "none"
            raise ScoreError(f"{target.id} has no place for {each} (it has: {known})")
