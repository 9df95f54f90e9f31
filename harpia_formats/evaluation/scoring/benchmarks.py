"""Score systems on several benchmarks: a comparison for each, and one table of all.

A benchmark is a data set with its metrics, and a system is who answered. A plan says
which files hold the answers of which system to which benchmark.
"""

from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from math import fsum
from pathlib import PurePath
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import (
    NONE,
    AnswerGrouping,
    ModelSelection,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.scoring.answer_stream import AnswerScorer
from harpia_formats.evaluation.scoring.answers import (
    SystemNames,
    distinct_names,
    names_of,
    reading_of,
)
from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison
from harpia_formats.evaluation.scoring.measures.metric_score import (
    COLUMNS,
    MetricScore,
    score_row,
)
from harpia_formats.evaluation.scoring.measures.stored_metrics import StoredMetrics
from harpia_formats.evaluation.scoring.options import ScoreOptions, SystemName
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedSystem,
    ComparisonReport,
    best_tested,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import (
    Scoring,
    check_holds_answers,
)
from harpia_formats.files.io.discovery import Exclusion, parts_of
from harpia_formats.files.io.discovery import matches as path_matches
from harpia_formats.files.io.inputs import is_rereadable, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import STANDARD_INPUT, Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.describe import first_of
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output
from harpia_formats.model.report import FileCount, Report
from harpia_formats.model.result import Result
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: The contract of `BenchmarkScores.to_dict`.
SCHEMA = "harpia-formats/benchmark-scores/1"


@dataclass(frozen=True, slots=True)
class PlannedSystem:
    """A system with its files: paths, folders or patterns, and its model in them."""

    name: str
    files: tuple[str, ...]
    #: The model whose answers are meant, where the files hold those of several.
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set with its metrics."""

    #: What it is called; "" for the only one of a plan without names.
    name: str
    options: ScoreOptions
    #: Patterns of the files of each system that hold its answers; all if there is none.
    files: tuple[str, ...] = ()
    #: The names of the systems that have answers; all if None.
    systems: tuple[str, ...] | None = None
    #: The test of differences, by the metric if None.
    test: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Which systems are scored on which benchmarks, and what the table shows.

    Raises `ScoreError` for names that are not known.
    """

    systems: tuple[PlannedSystem, ...]
    benchmarks: tuple[Benchmark, ...]
    #: The system to which the others are compared, None for none.
    baseline: str | None = None
    #: Whether the table has the mean over all benchmarks.
    has_mean: bool = False

    def __post_init__(self) -> None:
        names = [system.name for system in self.systems]
        for benchmark in self.benchmarks:
            for name in benchmark.systems or ():
                check_system(name, names)
        if self.baseline is not None:
            check_system(self.baseline, names)


class SystemSearch:
    """Finds the systems whose answers files hold: iterate, then call `systems`.

    They are those that `score` finds, by the same totals, which get no metric. Raises
    what `Reading` and `SystemTotals` raise.
    """

    def __init__(self, inputs: Sequence[str], options: ScoreOptions) -> None:
        self._options = options
        exclusion = Exclusion(options.exclude)
        #: The files of each input.
        self._inputs = {
            given: [
                source.name
                for source in sources_of_inputs([given], exclusion, all_unpackers())
                if isinstance(source, Source)
            ]
            for given in inputs
        }
        self._reading = reading_of(inputs, options)
        #: The models of the answers of each file, None for answers that name none.
        self._models: dict[str, dict[str | None, None]] = {}
        self._answers = AnswerScorer(
            (),
            options,
            ModelSelection(None),
            AnswerGrouping(()),
            SystemNames.of_inputs(inputs, options.systems),
            are_stored=options.stored,
            tally=self._reading.tally,
        )
        self._totals = self._answers.totals

    def __iter__(self) -> Generator[Problem, None, None]:
        """Read the inputs; yield their problems."""
        with closing(self._totals):
            yield from self._reading.problems(
                self._receive, self._begin, lambda _: None
            )
            self._answers.submit_waiting()
            if self.is_whole:
                self._totals.finish()

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Begin a file whose models are not known yet.

        Raises `ScoreError` for a file that `score` refuses by its format.
        """
        if self._options.stored:
            StoredMetrics(self._options).check_file(variant, count)
        else:
            check_holds_answers(variant, count, self._options)
        self._answers.count = count
        self._models.setdefault(count.path, {})

    def _receive(self, placed: PlacedRecord) -> None:
        """Add the answers of a record, and their models to those of its file."""
        models = self._models[self._answers.count.path]
        for output in placed.record.outputs or [Output()]:
            if output.model is not UNSET:
                models[output.model] = None
            elif output.scores or not self._options.stored:
                models[None] = None
        self._answers.add_record(placed)

    @property
    def report(self) -> Report:
        """What was found in the inputs."""
        return self._reading.tally.report()

    @property
    def is_whole(self) -> bool:
        """Whether all inputs were read as the options ask."""
        return self._options.are_met_by(self.report)

    @property
    def notes(self) -> list[str]:
        """Notes on the systems, for people."""
        return self._totals.notes()

    def systems(self) -> list[PlannedSystem]:
        """Return the systems, in the order of their first answers.

        Raises `ScoreError` if there is none, and for one that a plan cannot state.
        """
        if not self._totals.names:
            raise ScoreOptionsError("there are no records to score")
        if "" in self._totals.names:
            raise ScoreOptionsError(
                "the name of a model is empty, and a plan has a name for each system: "
                "name the system of its file with `NAME=FILE`"
            )
        files = {
            path: {model: self._system_of(path, model) for model in models}
            for path, models in self._models.items()
        }
        found = [self._planned(name, files) for name in self._totals.names]
        names = distinct_names(
            (one.name if one.name in self._totals.models else None, one.files[0])
            for one in found
        )
        both = zip(found, names, strict=True)
        return [replace(system, name=name) for system, name in both]

    def _system_of(self, path: str, model: str | None) -> str:
        """Return the system of the answers of a model in a file, "" for none."""
        own = self._answers.names.of_files.get(path, model)
        if own is None:
            files = self._totals.files
            # Missing answers may be of no system; with this option all others are of
            # one, also of a file that repeats those of another one.
            rest = next(iter(files.values()), "") if self._options.pool else ""
            own = files.get(path, rest)
        return NONE if own is None else str(own)

    def _planned(
        self, name: str, every: Mapping[str, Mapping[str | None, str]]
    ) -> PlannedSystem:
        """Return a system with its files; raises `ScoreError` if no plan can state it.

        `every` has the system of each model in each file. A plan names the systems of
        whole files, or those of the models in them.
        """
        files = {path: own for path, own in every.items() if name in own.values()}
        models = {one for own in files.values() for one in own if own[one] == name}
        is_shared = False
        for path, own in files.items():
            systems = set(own.values())
            is_shared = is_shared or systems != {name}
            # A plan counts missing answers of none as those of the only system.
            if systems != {name} and (models == {None} or systems == {name, ""}):
                raise ScoreOptionsError(
                    f"{path} holds answers with and without a model, and a plan names "
                    "no system for the second: name the model of each answer, or the "
                    "system of each file with `NAME=FILE`"
                )
        if len(models - {None}) > 1 or (is_shared and None in models):
            raise ScoreOptionsError(
                f"{name} is the name of a file and the model of another one, and a "
                "plan has one model for all files of a system: give the file another "
                "name"
            )
        model = next(iter(models)) if is_shared else None
        return PlannedSystem(name, tuple(self._inputs_of(files)), model)

    def _inputs_of(self, files: Collection[str]) -> Iterator[str]:
        """Yield the inputs that hold some files: their files if they hold others."""
        left = set(files)
        for given, paths in self._inputs.items():
            mine = [path for path in paths if path in left]
            if mine:
                is_whole = all(path in files for path in paths)
                yield from [given] if is_whole else mine
                left.difference_update(mine)


def check_system(name: str, names: Sequence[str]) -> None:
    """Raise `ScoreError` for a name that no system has."""
    if name not in names:
        raise ScoreOptionsError(f"no system is called {name!r}{hint_on(name, names)}")


def paths_of(exclusion: Exclusion, given: Sequence[str]) -> list[str]:
    """Return the paths of files without those that patterns leave out.

    Raises `SourceError` for what is not there.
    """
    found = []
    for source in sources_of_inputs(given, exclusion, all_unpackers()):
        if isinstance(source, SourceError):
            raise source
        at = source.origin
        name = "-" if source.name == STANDARD_INPUT else source.name
        found.append(str(at) if isinstance(at, PurePath) else name)
    return found


def with_files(
    plan: Plan, benchmark: Benchmark, paths: Callable[[tuple[str, ...]], list[str]]
) -> Benchmark:
    """Return a benchmark whose options name the system of each file of answers to it.

    `paths` returns those of the files of a system. Raises `ScoreError` if a system has
    no file, or a file is of two systems.
    """
    found: dict[str, SystemName] = {}
    for system in plan.systems:
        if benchmark.systems is not None and system.name not in benchmark.systems:
            continue
        mine = [one for one in paths(system.files) if _is_of(one, benchmark.files)]
        if not mine:
            raise ScoreOptionsError(
                f"no file of {system.name} is of {benchmark.name}: none of "
                f"{', '.join(system.files)} matches {', '.join(benchmark.files)}; "
                "`systems` of a benchmark names those that have answers to it"
            )
        for path in mine:
            found[path] = _with_system(path, found.get(path), system)
    # The files are named one by one.
    options = replace(benchmark.options, systems=found, exclude=())
    return replace(benchmark, options=options)


def _with_system(
    path: str, known: SystemName | None, system: PlannedSystem
) -> SystemName:
    """Return how the systems of a file are called, with one more."""
    own: SystemName = (
        system.name if system.model is None else {system.model: system.name}
    )
    if known is None:
        return own
    if isinstance(known, str) or isinstance(own, str) or system.model in known:
        raise ScoreOptionsError(
            f"{path} is a file of {system.name} and of another system: say with "
            "`model` which of its models each of them is"
        )
    return {**known, **own}


def _is_of(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path matches a pattern, if there is any: its last parts do."""
    parts = PurePath(path).parts
    return not patterns or any(
        path_matches(parts[-len(wanted) :], wanted)
        for wanted in map(parts_of, patterns)
    )


#: The columns of the difference from the baseline, and those of the comparison.
_TESTED = {
    "difference": "difference",
    "difference_low": "low",
    "difference_high": "high",
    "p_value": "p_value",
    "adjusted_p": "adjusted_p",
    "questions_compared": "questions",
}


@dataclass(frozen=True, slots=True, repr=False)
class BenchmarkScores(Result):
    """The scores of systems on benchmarks, as one table."""

    columns: ClassVar = (
        *("system", "benchmark", *COLUMNS, "is_best"),
        *_TESTED,
    )

    systems: tuple[str, ...]
    #: What was found of each benchmark, in which it has its name.
    benchmarks: tuple[ComparisonReport, ...]
    baseline: str | None = None
    has_mean: bool = False
    #: Notes on the run, for people.
    notes: tuple[str, ...] = field(default=())
    #: Which files of the systems no benchmark takes, "" if there is none.
    passed_over: str = ""

    def means(self) -> dict[str, float | None]:
        """Return the mean of each system over the first scores of all benchmarks.

        It is None for a system without one of them.
        """
        firsts = [*map(_first_score, self.benchmarks)]
        found: dict[str, float | None] = {}
        for system in self.systems:
            scores = [
                one.scores_of(system).get((first.metric, first.name))
                for one, first in zip(self.benchmarks, firsts, strict=True)
            ]
            values = [score.value for score in scores if score]
            known = [value for value in values if value is not None]
            is_whole = len(known) == len(firsts)
            found[system] = fsum(known) / len(known) if is_whole else None
        return found

    def headline(self) -> str:
        """Return what was scored in one line."""
        return (
            f"{len(self.systems):,} systems on {len(self.benchmarks):,} benchmarks: "
            f"{', '.join(one.name for one in self.benchmarks)}"
        )

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of each system on each benchmark."""
        return [row for benchmark in self.benchmarks for row in self._rows(benchmark)]

    def _rows(self, benchmark: ComparisonReport) -> Iterator[dict[str, Any]]:
        best = best_tested(benchmark).rows
        for at, system in enumerate(benchmark.systems):
            for score in system.scores.scores:
                key, tested = (score.metric, score.name), None
                if self.baseline not in {None, system.name}:
                    tested = benchmark.difference(system.name, self.baseline or "", key)
                difference = {} if tested is None else tested.as_row()
                yield {
                    "system": system.name,
                    "benchmark": benchmark.name,
                    **score_row(score),
                    "is_best": at in best[key] if key in best else None,
                    **{name: difference.get(of) for name, of in _TESTED.items()},
                }

    def to_dict(self) -> dict[str, Any]:
        """Return the scores by their contract, as JSON has them."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "systems": list(self.systems),
            "scores": self.table(),
            "baseline": self.baseline,
            "means": self.means() if self.has_mean else None,
            "benchmarks": [
                {"name": one.name, **one.to_dict()} for one in self.benchmarks
            ],
            "notes": list(self.notes),
        }

    @property
    def is_whole(self) -> bool:
        """Whether each benchmark has scores."""
        return all(one.systems for one in self.benchmarks)

    @property
    def ok(self) -> bool:
        """Whether all files were read as asked for and each system has its scores."""
        return self.is_whole and all(
            all(report.ok_without_invalid for report in one.reports)
            and all(
                score.value is not None
                for system in one.systems
                for score in system.scores.scores
            )
            for one in self.benchmarks
        )

    def raise_for_errors(self) -> None:
        """Raise an error unless each file was read and each system has its scores."""
        for one in self.benchmarks:
            one.raise_for_scores()


class BenchmarkRun:
    """A run of a plan: iterate for the problems, then call `report`.

    Raises `ScoreError` and what comparisons raise.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        # Patterns are an option of the whole plan.
        self._exclusion = Exclusion(plan.benchmarks[0].options.exclude)
        # What is left out is counted once.
        paths = cache(partial(paths_of, self._exclusion))
        self._benchmarks = [with_files(plan, one, paths) for one in plan.benchmarks]
        every = dict[str, None]()
        for system in plan.systems:
            with suppress(SourceError):  # the files of a system of no benchmark
                every |= dict.fromkeys(paths(system.files))
        self._passed_over = _passed_over(every, {*self.paths})
        #: They are made at once, so that a wrong option is an error before any work.
        self._runs = list(map(_run_of, self._benchmarks))
        self._found: list[ComparisonReport] = []

    @property
    def paths(self) -> list[str]:
        """The files that are read."""
        every = (one.options.systems for one in self._benchmarks)
        return list(dict.fromkeys(chain.from_iterable(every)))

    @property
    def left_out(self) -> Report:
        """How many files patterns left out, and which of them matched none."""
        return Report((), (), (), self._exclusion.count, self._exclusion.unmatched)

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score all systems on all benchmarks; yield the problems of their files."""
        for benchmark in self._benchmarks:
            run = self._runs.pop(0)
            try:
                yield from run
                if isinstance(run, Scoring):
                    found = _only_scores(run.scores(), "a comparison needs replicates")
                else:
                    found = _compared(run, benchmark.options)
            except ScoreError as error:
                error.args = (_of(benchmark.name, f"{error.args[0]}"), *error.args[1:])
                raise
            self._found.append(replace(found, name=benchmark.name))

    def report(self) -> BenchmarkScores:
        """Return the table; raises `ScoreError` for a mean over different scales."""
        plan = self._plan
        notes = [_of(one.name, note) for one in self._found for note in one.notes]
        notes += filter(None, [self._passed_over])
        found = BenchmarkScores(
            tuple(system.name for system in plan.systems),
            tuple(self._found),
            plan.baseline,
            plan.has_mean and all(one.systems for one in self._found),
            tuple(dict.fromkeys(notes)),
            self._passed_over,
        )
        if found.has_mean:
            _check_mean(found)
        return found


def _passed_over(files: Iterable[str], read: Collection[str]) -> str:
    """Return a text on the files of systems that are not scored, "" if none is left."""
    left = [path for path in files if path not in read]
    are = "file is" if len(left) == 1 else "files are"
    start = f"{len(left):,} {are} of a system but of no benchmark"
    return f"{start}: {first_of(left)}" if left else ""


def _of(name: str, text: str) -> str:
    """Return a text with the benchmark that it is about."""
    return f"{name}: {text}" if name else text


def _first_score(benchmark: ComparisonReport) -> MetricScore:
    """Return the first score of a benchmark, of the first system that has any."""
    every = (score for one in benchmark.systems for score in one.scores.scores)
    return next(every)


def _check_mean(found: BenchmarkScores) -> None:
    """Raise `ScoreError` if first scores have no mean: other scales, or directions."""
    kinds: dict[tuple[str, bool | None], str] = {}
    for benchmark in found.benchmarks:
        score = _first_score(benchmark)
        kinds.setdefault(
            (score.scale, score.lower_is_better),
            f"{score.full_name} of {benchmark.name} ({score.scale}"
            f"{', lower is better' if score.lower_is_better else ''})",
        )
    if len(kinds) > 1:
        raise ScoreOptionsError(
            "there is no mean over scores of different scales or directions: "
            f"{', '.join(kinds.values())}; leave out `mean`, or give metrics of one "
            "scale"
        )


def _compared(run: ScoreComparison, options: ScoreOptions) -> ComparisonReport:
    """Return what a run found; the scores without pairs if none can be compared.

    A note says why. Raises `ScoreError` if a system has no answers.
    """
    try:
        return run.report()
    except ScoreError as error:
        if not all(map(is_rereadable, options.systems)):
            raise
        alone = Scoring(options.systems, options=options)
        for _ in alone:  # the problems of the files are known
            continue
        found = _only_scores(alone.scores(), str(error))
        has_scores = any(one.scores.scores for one in found.systems)
        if not has_scores or {one.name for one in found.systems} != _names_in(options):
            raise
        return found


def _only_scores(scores: Scores, why: str) -> ComparisonReport:
    """Return the scores of the systems of a benchmark and its notes, without pairs.

    There are none if its files were not read to their ends. A note tells `why` several
    systems are not compared.
    """
    reports, inputs = (scores.report,), (scores,)
    if not scores.is_whole:
        return ComparisonReport((), (), (), reports, inputs)
    # Without an answer of the system there is no model, which is an error.
    model = next(iter(scores.models), "")
    systems = tuple(
        ComparedSystem(group.key.get("model", model), "", None, group)
        for group in scores.systems
    )
    untested = [f"no difference is tested: {why}"] if len(systems) > 1 else []
    notes = (*scores.notes, *untested)
    return ComparisonReport((), systems, (), reports, inputs, notes=notes)


def _run_of(benchmark: Benchmark) -> ScoreComparison | Scoring:
    """Return the run that compares the systems of a benchmark.

    One system alone is scored, and so are several if nothing is to be resampled.
    """
    options = benchmark.options
    if len(_names_in(options)) == 1 or not options.replicates:
        return Scoring(options.systems, options=options)
    return ScoreComparison(options.systems, options, (), benchmark.test)


def _names_in(options: ScoreOptions) -> set[str]:
    """Return the names of the systems whose files the options name."""
    return {one for name in options.systems.values() for one in names_of(name)}
