"""Score the answers of files in any record format by the metrics of a profile."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from harpia_formats.conversion.mapping.answer_groups import (
    AnswerGrouping,
    ModelSelection,
)
from harpia_formats.conversion.mapping.requirements import (
    find_field_path,
    holds_answers,
)
from harpia_formats.conversion.options import Output as OutputPlace
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.answer_stream import AnswerScorer
from harpia_formats.evaluation.scoring.answers import SystemNames, reading_of
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.evaluation.scoring.measures.profiles import DEFAULT, profile_named
from harpia_formats.evaluation.scoring.measures.select_metrics import (
    MetricSelection,
    MetricSource,
    SelectedMetrics,
)
from harpia_formats.evaluation.scoring.measures.stored_metrics import StoredMetrics
from harpia_formats.evaluation.scoring.measures.verdict_metrics import (
    VerdictMetrics,
    VerdictsFound,
    holds_verdicts,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.result_files import (
    ResultFiles,
    result_format_named,
)
from harpia_formats.evaluation.scoring.results.result_format import (
    Observer,
    ResultFormat,
    ResultRun,
    ResultWriter,
    ResultWriters,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.bootstrap import unavailable_reason
from harpia_formats.files.io.inputs import Input, rereadable_input, rewind_inputs
from harpia_formats.files.io.outputs import FilesRead
from harpia_formats.files.workers.pool import open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of, all_unpackers
from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.describe import first_of, with_noun
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.model.safe_text import is_utf_8
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError
from harpia_formats.validation.redaction import (
    errors_shown,
    problems_shown,
    redaction_of,
)

if TYPE_CHECKING:  # most runs show values, and are small
    from harpia_formats.evaluation.scoring.results.redacted_scores import ScoreRedaction
    from harpia_formats.evaluation.scoring.score_ranges import ScoringWorkers
    from harpia_formats.files.workers.pool import WorkerPool
    from harpia_formats.validation.redaction.redacted_reports import Redaction


def first_problem(document: bytes, format_id: str) -> Problem | None:
    """Return the first problem of `document` in a format, None if it is valid."""
    from harpia_formats.validation.options import Options  # noqa: PLC0415 - only some result formats need it
    from harpia_formats.validation.run import Validation  # noqa: PLC0415 - only some result formats need it

    run = Validation([document], Options(format=format_id, jobs=1))
    problems = list(run)
    return None if run.report().ok else problems[0]


def check_results(
    target: ResultFormat | None, output: OutputPlace, options: ScoreOptions
) -> None:
    """Raise `ScoreError` for options that the result format cannot follow.

    Nor may there be options of result files if no results are written: otherwise a
    script would continue without the file that it expects.
    """
    given = {
        "--output": output not in (None, "-"),
        "--name": bool(options.names),
        "--set": bool(options.constants),
        "--csv-safe": options.csv_safe,
        "--overwrite": options.overwrite,
    }
    unused = next((option for option, is_given in given.items() if is_given), "")
    if target is None and unused:
        raise ScoreError(f"`{unused}` needs a result format; name one with `--to`")
    if target is None:
        return
    for name, value in options.names.items():
        if name not in target.names:
            hint = hint_on(name, target.names, word="it has")
            raise ScoreError(f"{target.id} has no place for {name}{hint}")
        if not is_utf_8(value):
            raise ScoreOptionsError(f"`--name` {name}: {value!r} is not UTF-8")
    for name in options.constants:
        if _is_misplaced(name, target.rows):
            known = [one.name for one in target.rows.fields] if target.rows else []
            hint = hint_on(name, known, word="it has") or ": leave out `--set`"
            raise ScoreError(f"{target.id} has no place for {name}{hint}")
    if options.csv_safe and target.id != "csv":
        raise ScoreError(f"`--csv-safe` is for csv, and not {target.id}")


def _is_misplaced(name: str, rows: FormatAdapter | None) -> bool:
    """Tell whether `rows` have no place for the field that is called `name`.

    A name of no field may be that of another place, which the writer knows.
    """
    if rows is None:
        return True
    path = find_field_path(name, rows)
    return path is not None and not rows.carries(path)


def check_scored_units(
    measured: Iterable[ComputedMetric], target: ResultFormat
) -> None:
    """Raise `ScoreError` for a metric of no single answer in a format of such scores.

    It scores questions, or the labels of all answers.
    """
    for metric in measured:
        is_of_questions = metric.measure.question is not None
        is_held = target.takes_questions if is_of_questions else target.takes_labels
        if not (metric.measure.scores_answers or is_held):
            scored = "questions" if is_of_questions else "the labels of all answers"
            raise ScoreOptionsError(
                f"{target.id} holds the scores of single answers, and "
                f"{metric.request.label} scores {scored}: leave it out, or write "
                "nemo-results or harpia-output, which hold the scores of all answers"
            )


def check_holds_answers(
    variant: FormatVariant, count: FileCount, options: ScoreOptions
) -> None:
    """Raise `ScoreError` for a file whose rows hold no answers."""
    is_mapped = "response" in (options.columns or {})
    if not is_mapped and not holds_answers(adapter_of(variant.format)):
        raise ScoreOptionsError(
            f"{count.path} is read as {variant.format.id}, which holds no answers; "
            "if they are under a key of their own, name it with `--map response=KEY`"
        )


def _answers_have(number: int) -> str:
    """Return the beginning of a sentence on what so many answers have."""
    return f"{with_noun(number, 'answer')} {'has' if number == 1 else 'have'}"


def score_redaction(
    redaction: "Redaction | None", given: Iterable[str] = (), *, by_options: bool = True
) -> "ScoreRedaction | None":
    """Return the redaction of scores, None if all values of records are shown.

    `given` are names by the user; `by_options` tells whether options name all metrics.
    """
    if redaction is None:
        return None
    from harpia_formats.evaluation.scoring.results.redacted_scores import (  # noqa: PLC0415 - most runs show values
        ScoreRedaction,
    )

    return ScoreRedaction(redaction, frozenset(given), by_options)


class Scoring:
    """One scoring run: iterate over it for the problems, then call `scores`.

    Scores are computed, or are those that answers hold if the options say so; `source`
    tells them for several runs. Each of the `observers` gets all answers. Raises
    `ScoreError`, `ConversionError`, `SinkError`, `UnknownFormat` or `ValueError` for a
    run that is not possible, before anything is read if the options show it.
    """

    def __init__(  # noqa: PLR0913 - inputs, results and how they are scored
        self,
        inputs: Iterable[Input],
        to: str | ResultFormat | None = None,
        output: OutputPlace = None,
        options: ScoreOptions | None = None,
        observers: Sequence[Observer] = (),
        *,
        source: MetricSource | None = None,
    ) -> None:
        self._options = options or ScoreOptions()
        if source is None and self._options.stored:
            source = StoredMetrics(self._options)
        self._target = result_format_named(to) if isinstance(to, str) else to
        if self._options.stored and self._target and self._target.holds_records:
            raise ScoreError(
                f"{self._target.id} holds records, which have these scores already: "
                f"write them with `convert --to {self._target.id}`"
            )
        self._observers = observers
        self._redaction = redaction_of(self._options)
        self._inputs = list(inputs)
        check_results(self._target, output, self._options)
        self._files = ResultFiles(
            output,
            overwrite=self._options.overwrite,
            reads=FilesRead(
                self._inputs,
                [self._options.companion, self._options.config],
                exclude=self._options.exclude,
                unpackers=all_unpackers(),
            ),
        )
        if to is not None:
            self._files.check()
        usual = self._target.profile if self._target else DEFAULT.id
        self._profile = profile_named(self._options.profile or usual)
        self._grouping = AnswerGrouping(self._options.by)
        self._models = ModelSelection(self._options.model)
        self._selection = MetricSelection.from_options(self._profile, self._options)
        self._source: MetricSource = source or self._selection
        self._metrics = SelectedMetrics(())
        if self.has_chosen_metrics:
            self._metrics = self._selection.selected()
        #: The names of systems by file: a copy of a stream has the name of the stream.
        self._called = SystemNames.of_inputs(self._inputs, self._options.systems)
        #: The valid records of runs before, which count for `min_records`, too.
        self.valid_before = 0
        #: The reading before that of the answers, if the inputs select the metrics.
        self._read_before: Reading | None = None
        self._reading = reading_of(self._inputs, self._options)
        self._format: Format | None = None
        self._writer: ResultWriter | None = None
        self._names: tuple[str, ...] = ()
        self._answers = self._new_answers()
        self._problems: list[Problem] = []

    def _new_answers(self) -> AnswerScorer:
        """Return a scorer for the answers of this run, which is still empty."""
        stored = self._source.outcomes
        return AnswerScorer(
            self._metrics.measured,
            self._options,
            self._models,
            self._grouping,
            self._called,
            stored=stored,
            are_stored=stored is not None and not self.are_verdicts,
            tally=self._reading.tally,
            writer=self._opened_writer,
            target=self._target,
        )

    def prepare(self) -> bool:
        """Read the inputs to their ends, to know the metrics of the run.

        Returns whether they can be scored. Raises `ScoreError` for inputs of which no
        metric can be made. It is done once, and for most runs not at all.
        """
        if self.has_chosen_metrics or self._read_before is not None:
            return self.has_chosen_metrics or self._is_readable
        self._inputs = [rereadable_input(source) for source in self._inputs]
        self._reading = reading = reading_of(self._inputs, self._options)
        reading.valid_before = self.valid_before
        path = ""

        def begin(variant: FormatVariant, count: FileCount) -> None:
            nonlocal path
            path = count.path
            self._source.check_file(variant, count)

        def receive(placed: PlacedRecord) -> None:
            named = self._called.named(placed.record, path)
            self._source.add(self._models.select(named))

        # Problems of skipped rows are reported later, while their file is scored.
        problems = list(reading.problems(receive, begin, lambda _: None))
        self._read_before = reading
        if not self._is_readable:
            self._answers.problems.pending = problems
            return False
        self._models.check()
        rewind_inputs(self._inputs)
        return True

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Score everything; yield the first problems of each kind."""
        return problems_shown(self._found(), self._redaction)

    def steps(self) -> Generator[None, None, None]:
        """Score everything; yield each time that a bounded number of rows was read."""
        with closing(self._stream()) as stream, errors_shown(self._redaction):
            for problem in stream:
                if problem is None:
                    yield

    def _found(self) -> Generator[Problem, None, None]:
        """Score everything; yield the problems as they are."""
        with closing(self._stream()) as stream:
            for problem in stream:
                if problem is not None:
                    yield problem

    def _stream(self) -> Generator[Problem | None, None, None]:
        """Yield the problems, and None after each step of reading."""
        try:
            for problem in self._run():
                if problem is not None:
                    self._problems.append(problem)
                yield problem
        except BaseException:  # an interrupt, too, leaves no half of an output
            self._discard()
            raise
        finally:
            self._answers.totals.close()

    def _run(self) -> Generator[Problem | None, None, None]:
        """Find out what the metrics are, and score all answers by them."""
        if not self.prepare():
            yield from self._answers.problems.pop_last()
            return
        if self._read_before is not None:
            self._metrics = self._source.metrics(self._read_before)
            self._reading = reading_of(self._inputs, self._options)
            self._answers = self._new_answers()
        try:
            yield from self._score_answers()
        except VerdictsFound:
            refused = "" if self._target is None else self._target.id
            self._source = VerdictMetrics(self._options, self._inputs, refused)
            self._read_before = None
            yield from self._run()

    def _score_answers(self) -> Generator[Problem | None, None, None]:
        """Read and score all answers; yield the problems, and None after each step."""
        answers, options = self._answers, self._options
        with open_pool(options) as pool:
            answers.batches.pool = pool
            self._reading.valid_before = self.valid_before
            reading = self._reading.steps(
                answers.add_record,
                self._open_output,
                lambda _: None,
                workers=self._workers(pool),
            )
            with closing(reading):
                for problems in reading:
                    for problem in problems:
                        yield problem
                        yield from answers.problems.pop()
                    yield None
            answers.submit_waiting()
            answers.batches.finish()
        if self._is_readable:
            answers.problems.check_model()
        yield from answers.problems.pop_last()
        answers.totals.finish()
        self._finish()

    def _workers(self, pool: "WorkerPool | None") -> "ScoringWorkers | None":
        """Return what scores the answers of large files, None if it has to be here.

        Who writes answers or observes them needs their records.
        """
        is_observed = self._target is not None or self._observers
        if pool is None or is_observed or self._reading.companions.are_by_id:
            return None
        from harpia_formats.evaluation.scoring.score_ranges import ScoringWorkers  # noqa: PLC0415 - only with workers

        return ScoringWorkers(pool, self._answers)

    def _open_output(self, variant: FormatVariant, count: FileCount) -> None:
        """Open the output as soon as the input format is known.

        Raises `ScoreError` for a file that holds no answers, and `VerdictsFound`.
        """
        self._answers.count = count
        self._source.check_file(variant, count)
        adapter = adapter_of(variant.format)
        if self._source.outcomes is None:
            check_holds_answers(variant, count, self._options)
        if self._source.outcomes is None and holds_verdicts(adapter):
            raise VerdictsFound
        self._format = self._format or variant.format
        self._answers.holds_models = adapter.capacity.outputs is Cardinality.MANY
        # An output that is not possible is an error before work starts.
        self._opened_writer()

    def _opened_writer(self) -> ResultWriter | None:
        """Return the writer of the results, None if none are written."""
        is_needed = self._target is not None or self._observers
        if self._writer is not None or not is_needed:
            return self._writer
        if self._target is not None:
            check_scored_units(self._answers.measured, self._target)
        config = self._selection.configured
        configured = {"task": config.task, "tree": config.tree} if config else {}
        names = {key: value for key, value in configured.items() if value}
        run = ResultRun(
            self._answers.measured,
            self._profile.id,
            first_problem,
            source=self._format,
            source_adapter=None if self._format is None else adapter_of(self._format),
            header=self._metrics.header,
            names=names | dict(self._options.names),
            constants=self._options.constants,
            by=self._options.by,
            csv_safe=self._options.csv_safe,
        )
        self._writer = ResultWriters(
            [observer(run) for observer in self._observers],
            None if self._target is None else self._target.writer(self._files, run),
        )
        return self._writer

    def _discard(self) -> None:
        """Leave no output file, and no temporary one."""
        self._files.discard()
        if self._writer is not None:
            self._writer.drop()

    def _finish(self) -> None:
        """Complete the output files, or discard them if the input is unreadable."""
        if not self._is_readable:
            self._discard()
            return
        self._check_answers()
        if self._options.missing is None:
            self._answers.totals.check_questions()
        writer = self._opened_writer()
        if writer is not None:
            writer.close(self.whole_scores())
            self._files.check_apart(self._reading.companions.used.values())
            self._names = self._files.commit()

    def _check_answers(self) -> None:
        """Raise `ScoreError` if nothing is to be scored, or no answer of a system is.

        Those are systems whose models the options name.
        """
        there = self._answers.totals.models
        lacking = {
            name: model
            for names in self._called.of_files.values()
            if not isinstance(names, str)
            for model, name in names.items()
            if name not in there and self._options.model in {None, name}
        }
        if len(lacking) > 1:
            named = [f"{name} (model {model})" for name, model in lacking.items()]
            raise ScoreOptionsError(
                f"no answers of these systems are in their files: {first_of(named)}"
            )
        if lacking:
            ((name, model),) = lacking.items()
            raise ScoreOptionsError(f"no answer of {name} is of {model} in its files")
        if not self._answers.number:
            raise ScoreOptionsError("there are no records to score")

    @property
    def valid(self) -> int:
        """The number of valid records that were read."""
        return sum(file.valid for file in self._reading.tally.files)

    @property
    def are_verdicts(self) -> bool:
        """Whether the inputs hold verdicts of a judge, and not answers."""
        return isinstance(self._source, VerdictMetrics)

    @property
    def _is_readable(self) -> bool:
        return self._options.are_met_by(self._reading.tally.report())

    @property
    def has_chosen_metrics(self) -> bool:
        """Whether the options name the metrics, and not what is read."""
        is_known = self._source is self._selection
        return is_known and not self._selection.depends_on_input

    @property
    def may_score_labels(self) -> bool:
        """Whether a metric scores labels, or may if what is read selects it."""
        return not self.has_chosen_metrics or any(
            one.measure.labels is not None for one in self._metrics.measured
        )

    def scores(self) -> Scores:
        """Return the scores as they may be shown, after the iteration has ended."""
        found, shown = self.whole_scores(), self.redaction()
        return found if shown is None else shown.scores(found)

    def redaction(self) -> "ScoreRedaction | None":
        """Return what takes values out of scores and answers, None if all are shown.

        It is known from the first answer on.
        """
        return score_redaction(
            self._redaction, self._options.metrics, by_options=self.has_chosen_metrics
        )

    def whole_scores(self) -> Scores:
        """Return the scores with all names, after the iteration has ended."""
        answers, problems = self._answers, tuple(self._problems)
        return Scores(
            profile=self._profile.id,
            measured=answers.measured,
            unknown=self._metrics.unknown,
            systems=answers.totals.systems,
            groups=answers.totals.groups,
            seconds=tuple(answers.seconds),
            report=replace(self._reading.tally.report(), problems=problems),
            is_broken=not self._is_readable,
            models=answers.totals.models,
            problems=problems,
            outputs=self._names,
            stored_differences=tuple(
                one.to_dict() for one in answers.differences.differing()
            ),
            notes=tuple(self._notes()),
            files=answers.totals.files,
            redefined=self._metrics.redefined,
        )

    def _notes(self) -> Iterator[str]:
        """Yield notes on the run and on the selection, for people."""
        answers = self._answers
        yield from self._metrics.notes
        yield from self._reading.companions.notes()
        yield from answers.totals.notes()
        repeated = answers.repeated.count
        if repeated:
            yield (
                "rows that repeat an answer with the score of another metric: "
                f"{repeated:,}, not counted again"
            )
        if answers.left_out and self._target and self._target.keeps_scores:
            yield (
                "rows of these that are not written, with the scores that they hold: "
                f"{answers.left_out:,}; `convert --to record --group id` makes one "
                "answer with all scores of them"
            )
        invalid = sum(file.invalid for file in self._reading.tally.report().files)
        if invalid:
            were = " was" if invalid == 1 else "s were"
            yield f"{invalid:,} invalid row{were} left out"
        yield from (entry.note for entry in answers.differences.differing())
        yield from answers.unseen_fields.notes()
        if answers.zeros:
            yield f"{answers.zeros:,} missing answers count as 0"
        if answers.only_stored:
            have = _answers_have(answers.only_stored)
            yield f"{have} no text and a stored score: `--stored` shows stored scores"
        if answers.without_stored:
            have = _answers_have(answers.without_stored)
            are = "is" if answers.without_stored == 1 else "are"
            yield f"{have} no stored score, and {are} passed over"
        is_resampled = self._options.replicates and any(
            not metric.measure.is_bounded_mean for metric in answers.measured
        )
        if is_resampled and unavailable_reason():
            yield unavailable_reason()
        yield from self._files.notes
