"""Score the answers of any record format, by the metrics of one profile."""

from collections.abc import Generator, Iterable
from pathlib import Path

from harpia_formats.conversion.options import Output as OutputPlace
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.io.inputs import Input, rereadable_input
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source
from harpia_formats.mapping.requirements import holds_answers
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.adapter import Cardinality
from harpia_formats.model.format import Format
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Header
from harpia_formats.model.report import FileCount
from harpia_formats.reading.reader import Reading
from harpia_formats.registry import adapter_of, result_format_named
from harpia_formats.scoring.answer_stream import AnswerScorer
from harpia_formats.scoring.bootstrap import unavailable_reason
from harpia_formats.scoring.groups import AnswerGrouping
from harpia_formats.scoring.measure import BatchQueue
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.profiles import DEFAULT, profile_named
from harpia_formats.scoring.results.files import ResultFiles
from harpia_formats.scoring.results.format import ResultFormat, ResultRun, ResultWriter
from harpia_formats.scoring.scores import ComputedMetric, Scores
from harpia_formats.scoring.select_metrics import MetricSelection, SelectedMetrics
from harpia_formats.workers.pool import joined


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
        if to is None:
            _check_unused(output, self._options)
        else:
            self._target = result_format_named(to) if isinstance(to, str) else to
            _check_names(self._options.names, self._target)
        self._files = ResultFiles(output, overwrite=self._options.overwrite)
        if to is not None:
            self._files.check()
        asked = self._options.profile
        usual = self._target.profile if self._target else DEFAULT.id
        self._profile = profile_named(asked or usual)
        self._grouper = AnswerGrouping(self._options.by)
        self._models = ModelSelection(self._options.model)
        self._choice = MetricSelection.of(self._profile, self._options)
        self._chosen: SelectedMetrics | None = None
        self._header: Header | None = None
        if not self._choice.is_of_input:
            self._chosen = self._choice.settled()
        self._reading = self._new_reading()
        self._source: Format | None = None
        self._writer: ResultWriter | None = None
        self._names: tuple[str, ...] = ()
        self._answers = self._new_answers()

    def _new_answers(self) -> AnswerScorer:
        """Return what takes answers, by all that is computed."""
        return AnswerScorer(
            () if self._chosen is None else self._chosen.measured,
            self._options,
            self._models,
            self._grouper,
            self._reading.tally,
            self._opened,
        )

    def _settle_by_input(self) -> bool:
        """Settle what is computed by what stands around the records.

        It comes behind them, so all is read for it; tell whether that can be.
        """
        self._inputs = [rereadable_input(each) for each in self._inputs]
        reading = self._new_reading()
        problems = list(
            reading.problems(lambda _: None, lambda *_: None, lambda _: None)
        )
        report = reading.tally.report()
        if report.failures or not (report.ok or self._options.skip_invalid):
            self._reading = reading
            self._answers.pending = problems
            return False
        # What is wrong with rows that are left out is told when they are scored.
        headers = [each for found in reading.headers for each in found]
        self._header = headers[0] if headers else Header()
        self._chosen = self._choice.settled(self._header)
        asked = metric_identities(self._chosen.measured)
        for header in headers[1:]:
            if metric_identities(self._choice.settled(header).measured) != asked:
                raise ScoreError(
                    "the inputs ask for unlike metrics; score them one by one, or name "
                    "metrics with --metrics"
                )
        for each in self._inputs:
            if isinstance(each, Source) and not isinstance(
                each.origin, (bytes, Path, RemoteFile)
            ):
                each.origin.seek(0)
        self._reading = self._new_reading()
        self._answers = self._new_answers()
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
            yield from self._answers.told()
            return
        answers = self._answers
        options = self._options
        with joined(options.jobs, options.executor, options.engine) as pool:
            batches = BatchQueue(answers.measured, answers.deliver, pool)
            problems = self._reading.problems(
                lambda taken: answers.receive(taken, batches),
                self._begin,
                lambda _: None,
            )
            for each in problems:
                yield each
                yield from answers.told()
            answers.hand_out(batches)
            batches.finish()
        yield from answers.told()
        self._models.check()
        self._finish()

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Open the output once it is known what is read. Raises `ScoreError`."""
        self._answers.count = count
        if not holds_answers(adapter_of(variant.format)):
            raise ScoreError(
                f"{variant.format.id} holds no answers, so there is nothing to score"
            )
        self._source = self._source or variant.format
        holds = adapter_of(variant.format).capacity.outputs
        self._answers.holds_models = holds is Cardinality.MANY
        # What cannot be written is told before work starts.
        self._opened()

    def _opened(self) -> ResultWriter | None:
        """Return what writes results, None if nothing is written."""
        if self._target is None or self._writer is not None:
            return self._writer
        config = self._choice.configured
        configured = {"task": config.task, "tree": config.tree} if config else {}
        names = {key: each for key, each in configured.items() if each}
        run = ResultRun(
            self._answers.measured,
            self._profile.id,
            self._source,
            self._header,
            names | dict(self._options.names),
            self._options.constants,
            self._options.by,
        )
        self._writer = self._target.writer(self._files, run)
        return self._writer

    def _finish(self) -> None:
        """Write what is not written yet, if all was read."""
        if not self._is_readable:
            self._files.discard()
            if self._writer is not None:
                self._writer.drop()
            return
        if not self._answers.number:
            raise ScoreError("there is no record, so there is nothing to score")
        writer = self._opened()
        if writer is not None:
            writer.close(self.scores())
            self._names = self._files.commit()

    @property
    def _is_readable(self) -> bool:
        report = self._reading.tally.report()
        return not report.failures and (report.ok or self._options.skip_invalid)

    def scores(self) -> Scores:
        """Return what came of it, once all was read."""
        options, answers = self._options, self._answers
        return Scores(
            profile=self._profile.id,
            measured=answers.measured,
            unknown=() if self._chosen is None else self._chosen.unknown,
            total=answers.total.group(options.level),
            groups=tuple(each.group(options.level) for each in answers.groups.values()),
            seconds=tuple(answers.seconds),
            resampling=self._resampling(),
            report=self._reading.tally.report(),
            is_broken=not self._is_readable,
            models=tuple(answers.seen_models),
            outputs=self._names,
            said=self._said(),
        )

    def _resampling(self) -> str:
        options = self._options
        if not options.replicates or unavailable_reason():
            return ""
        return (
            f"bootstrap|level:{options.level!r}|replicates:{options.replicates}"
            f"|seed:{options.seed}"
        )

    def _said(self) -> tuple[str, ...]:
        """Return what is worth saying beside the scores."""
        chosen = () if self._chosen is None else self._chosen.said
        missing = unavailable_reason() if self._options.replicates else ""
        invalid = sum(each.invalid for each in self._reading.tally.report().files)
        left = f"{invalid:,} rows are not valid and were left out" if invalid else ""
        return (*chosen, *(each for each in (left, missing) if each))


def _check_unused(output: OutputPlace, options: ScoreOptions) -> None:
    """Raise `ScoreError` for what only results have a place for, if none are written.

    A script would go on without its file.
    """
    given = {
        "--output": output not in (None, "-"),
        "--name": bool(options.names),
        "--set": bool(options.constants),
    }
    unused = next((each for each, is_given in given.items() if is_given), "")
    if unused:
        raise ScoreError(f"{unused} is for results; name their format with --to")


def metric_identities(
    measured: Iterable[ComputedMetric],
) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what is computed, as what it is called and how it is worked out."""
    return [
        (each.request.label, each.names, each.measure.signature) for each in measured
    ]


def _check_names(names: Iterable[str], target: ResultFormat) -> None:
    """Raise `ScoreError` for a name that results have no place for."""
    for each in names:
        if each not in target.names:
            known = ", ".join(target.names) or "none"
            raise ScoreError(f"{target.id} has no place for {each} (it has: {known})")
