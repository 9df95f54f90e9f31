"""Systems on benchmarks: each benchmark is a comparison, and all are one table.

A benchmark is a data set with its metrics, and a system is who answered. A plan says
which files hold the answers of which system to which benchmark.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import fsum
from pathlib import PurePath
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.scoring.answers.choose_systems import distinct_names
from harpia_formats.evaluation.scoring.answers.input_files import reading_of
from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison
from harpia_formats.evaluation.scoring.measures.metric_score import (
    COLUMNS,
    MetricScore,
    score_row,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions, SystemName
from harpia_formats.evaluation.scoring.results.best_scores import (
    Best,
    best_tested,
    columns_of,
)
from harpia_formats.evaluation.scoring.results.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.results.compared_scores import (
    ComparedScore,
    ComparedSystem,
)
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.files.io.discovery import find_sources, parts_of
from harpia_formats.files.io.discovery import matches as path_matches
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.problem import Problem
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


def with_progress(plan: Plan, progress: Callable[[ReadProgress], None]) -> Plan:
    """Return a plan whose runs call `progress` now and then."""
    return replace(
        plan,
        benchmarks=tuple(
            replace(one, options=replace(one.options, progress=progress))
            for one in plan.benchmarks
        ),
    )


def systems_in(inputs: Sequence[str], options: ScoreOptions) -> list[PlannedSystem]:
    """Return the systems whose answers files hold, by their models or the files.

    They are the models in files, and the files that name none; files with a name of
    `systems` of the options are those of one. Raises what `Reading` raises.
    """
    found: dict[tuple[str | None, str | None, str], dict[str, None]] = {}
    for given in inputs:
        name = options.systems.get(given)
        if isinstance(name, str):
            found.setdefault((name, None, ""), {})[given] = None
            continue
        models: dict[str | None, None] = {}
        reading = reading_of([given], options)
        receive = partial(_add_models, models)
        for _ in reading.problems(receive, lambda *_: None, lambda _: None):
            continue
        for model in models:
            source = given if model is None else ""
            found.setdefault((None, model, source), {})[given] = None
    names = distinct_names((name or model, source) for name, model, source in found)
    return [
        PlannedSystem(name, tuple(files), model)
        for name, ((_, model, _), files) in zip(names, found.items(), strict=True)
    ]


def _add_models(models: dict[str | None, None], placed: PlacedRecord) -> None:
    """Add the models of the answers of a record, None for those that name none."""
    for output in placed.record.outputs:
        models[None if output.model is UNSET else output.model] = None


def check_system(name: str, names: Sequence[str]) -> None:
    """Raise `ScoreError` for a name that no system has."""
    if name not in names:
        raise ScoreOptionsError(f"no system is called {name!r}{hint_on(name, names)}")


def files_of(plan: Plan, benchmark: Benchmark) -> dict[str, SystemName]:
    """Return the files with the answers to a benchmark, each with its system.

    Raises `ScoreError` if a system has no file, or a file is of two systems.
    """
    found: dict[str, SystemName] = {}
    for system in plan.systems:
        if benchmark.systems is not None and system.name not in benchmark.systems:
            continue
        mine = [one for one in _files(system) if _is_of(one, benchmark.files)]
        if not mine:
            raise ScoreOptionsError(
                f"no file of {system.name} is of {benchmark.name}: none of "
                f"{', '.join(system.files)} matches {', '.join(benchmark.files)}; "
                "`systems` of a benchmark names those that have answers to it"
            )
        for path in mine:
            found[path] = _with_system(path, found.get(path), system)
    return found


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


def _files(system: PlannedSystem) -> Iterator[str]:
    """Yield the paths of the files of a system; raises `SourceError`."""
    for source in find_sources(system.files, all_unpackers()):
        yield str(source.origin) if isinstance(source.origin, PurePath) else source.name


def _is_of(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path matches a pattern, if there is any: its last parts do."""
    parts = PurePath(path).parts
    return not patterns or any(
        path_matches(parts[-len(wanted) :], wanted)
        for wanted in map(parts_of, patterns)
    )


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """The scores of all systems on one benchmark, and their differences."""

    name: str
    found: ComparisonReport

    def scores_of(self, system: str) -> Mapping[tuple[str, str], MetricScore]:
        """Return the scores of a system by metric and name, none if it has none."""
        for one in self.found.systems:
            if one.name == system:
                return {
                    (score.metric, score.name): score for score in one.scores.scores
                }
        return {}

    def best(self) -> Best:
        """Return the best scores, and those that are not significantly worse."""
        names = [system.name for system in self.found.systems]
        groups = [system.scores for system in self.found.systems]
        return best_tested(columns_of(groups), names, self.found.compared)

    def difference(
        self, system: str, baseline: str, key: tuple[str, str]
    ) -> ComparedScore | None:
        """Return how a system differs from another, the first minus the second."""
        for one in self.found.compared:
            if (one.metric, one.name) == key and set(one.systems) == {system, baseline}:
                return one if one.systems[0] == system else one.reversed()
        return None


@dataclass(frozen=True, slots=True, repr=False)
class BenchmarkScores(Result):
    """The scores of systems on benchmarks, as one table."""

    columns: ClassVar = (
        *("system", "benchmark", *COLUMNS, "is_best"),
        *("difference", "difference_low", "difference_high", "p_value", "adjusted_p"),
        "questions_compared",
    )

    systems: tuple[str, ...]
    benchmarks: tuple[BenchmarkResult, ...]
    baseline: str | None = None
    has_mean: bool = False
    #: Notes on the run, for people.
    said: tuple[str, ...] = field(default=())

    def means(self) -> dict[str, float | None]:
        """Return the mean of each system over the first scores of all benchmarks.

        It is None for a system without one of them.
        """
        firsts = [one.found.systems[0].scores.scores[0] for one in self.benchmarks]
        keys = [(score.metric, score.name) for score in firsts]
        found: dict[str, float | None] = {}
        for system in self.systems:
            scores = [
                one.scores_of(system).get(key)
                for one, key in zip(self.benchmarks, keys, strict=True)
            ]
            values = [
                score.value for score in scores if score and score.value is not None
            ]
            is_whole = len(values) == len(keys)
            found[system] = fsum(values) / len(values) if is_whole else None
        return found

    def headline(self) -> str:
        """Return what was scored in one line."""
        return (
            f"{len(self.systems):,} systems on {len(self.benchmarks):,} benchmarks: "
            f"{', '.join(one.name for one in self.benchmarks)}"
        )

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of each system on each benchmark."""
        return [
            self._row(system, benchmark, best, place)
            for benchmark in self.benchmarks
            for best in [benchmark.best()]
            for system in benchmark.found.systems
            for place in range(len(system.scores.scores))
        ]

    def _row(
        self, system: ComparedSystem, benchmark: BenchmarkResult, best: Best, place: int
    ) -> dict[str, Any]:
        score = system.scores.scores[place]
        key = (score.metric, score.name)
        at = benchmark.found.systems.index(system)
        tested = None
        if self.baseline not in {None, system.name}:
            tested = benchmark.difference(system.name, self.baseline or "", key)
        one = None if tested is None else tested.comparison
        return {
            "system": system.name,
            "benchmark": benchmark.name,
            **score_row(score),
            "is_best": at in best.rows[key] if key in best.rows else None,
            "difference": None if one is None else one.difference,
            "difference_low": None if one is None else one.low,
            "difference_high": None if one is None else one.high,
            "p_value": None if one is None else one.p_value,
            "adjusted_p": None if tested is None else tested.adjusted_p,
            "questions_compared": None if tested is None else tested.questions,
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
                {"name": one.name, **one.found.to_dict()} for one in self.benchmarks
            ],
            "notes": list(self.said),
        }

    @property
    def is_whole(self) -> bool:
        """Whether each benchmark has scores."""
        return all(bool(one.found.systems) for one in self.benchmarks)

    @property
    def ok(self) -> bool:
        """Whether all files were read as asked for and each system has its scores."""
        return self.is_whole and all(
            all(report.ok_without_invalid for report in one.found.reports)
            and all(score.value is not None for score in _scores(one))
            and all(score.comparison is not None for score in one.found.compared)
            for one in self.benchmarks
        )

    def raise_for_errors(self) -> None:
        """Raise an error unless each file was read and each system has its scores."""
        for one in self.benchmarks:
            one.found.raise_for_errors()


def _scores(result: BenchmarkResult) -> Iterator[MetricScore]:
    for system in result.found.systems:
        yield from system.scores.scores


class BenchmarkRun:
    """A run of a plan: iterate for the problems, then call `report`.

    Raises `ScoreError` and what comparisons raise.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._files = [files_of(plan, one) for one in plan.benchmarks]
        #: They are made at once, so that a wrong option is an error before any work.
        self._runs = [
            _run_of(benchmark, files)
            for benchmark, files in zip(plan.benchmarks, self._files, strict=True)
        ]
        self._found: list[BenchmarkResult] = []

    @property
    def paths(self) -> list[str]:
        """The files that are read."""
        return list(dict.fromkeys(path for files in self._files for path in files))

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score all systems on all benchmarks; yield the problems of their files."""
        for benchmark in self._plan.benchmarks:
            run = self._runs.pop(0)
            yield from run
            try:
                found = run.report()
            except ScoreError as error:
                error.args = (_of(benchmark.name, f"{error.args[0]}"), *error.args[1:])
                raise
            self._found.append(BenchmarkResult(benchmark.name, found))
            self._check_systems(benchmark, found)

    def _check_systems(self, benchmark: Benchmark, found: ComparisonReport) -> None:
        """Raise `ScoreError` if a system has no answer in its files."""
        if not found.systems:
            return  # an input could not be read, which its report says
        there = {system.name for system in found.systems}
        for system in self._plan.systems:
            is_asked = benchmark.systems is None or system.name in benchmark.systems
            if is_asked and system.name not in there:
                what = "is there" if system.model is None else f"is of {system.model}"
                reason = f"no answer of {system.name} {what} in its files"
                raise ScoreOptionsError(_of(benchmark.name, reason))

    def report(self) -> BenchmarkScores:
        """Return the table; raises `ScoreError` for a mean over different scales."""
        plan = self._plan
        whole = [one for one in self._found if one.found.systems]
        found = BenchmarkScores(
            tuple(system.name for system in plan.systems),
            tuple(self._found),
            plan.baseline,
            plan.has_mean and len(whole) == len(self._found),
            tuple(
                dict.fromkeys(
                    _of(one.name, note)
                    for one in self._found
                    for note in one.found.said
                )
            ),
        )
        if found.has_mean:
            _check_mean(found)
        return found


def _of(name: str, text: str) -> str:
    """Return a text with the benchmark that it is about."""
    return f"{name}: {text}" if name else text


def _check_mean(found: BenchmarkScores) -> None:
    """Raise `ScoreError` if first scores have no mean: other scales, or directions."""
    kinds: dict[tuple[str, bool | None], str] = {}
    for benchmark in found.benchmarks:
        score = benchmark.found.systems[0].scores.scores[0]
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


class _OnlyScores:
    """The scores of the only system of a benchmark, as a comparison without pairs."""

    def __init__(self, files: Sequence[str], options: ScoreOptions) -> None:
        self._files = files
        self._run = Scoring(files, options=options)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._run)

    def report(self) -> ComparisonReport:
        """Return the scores of the system."""
        scores = self._run.scores()
        scores.raise_for_errors()
        systems = tuple(
            ComparedSystem(group.key.get("model", scores.models[0]), "", None, group)
            for group in scores.systems
        )
        return ComparisonReport((), systems, (), (scores.report,), (scores,))


def _run_of(benchmark: Benchmark, files: Mapping[str, SystemName]) -> Any:
    """Return the run that compares the systems of a benchmark, or scores one."""
    names: set[str] = set()
    for name in files.values():
        names |= {name} if isinstance(name, str) else set(name.values())
    options = replace(benchmark.options, systems=files)
    if len(names) == 1:
        return _OnlyScores(list(files), options)
    return ScoreComparison(list(files), options, (), benchmark.test)
