"""Compare the scores of systems on the same questions."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harpia_formats.conversion.mapping.answer_groups import NONE
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.choose_systems import (
    FoundSystem,
    chosen_systems,
    compared_places,
    distinct_names,
    named_baseline,
    source_name,
)
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compare_stored import StoredComparison
from harpia_formats.evaluation.scoring.compared_scores import (
    ComparedScore,
    ComparedSystem,
    PairFamily,
    paired_test,
    with_adjusted,
    with_references,
)
from harpia_formats.evaluation.scoring.input_files import (
    are_parts,
    distinct_inputs,
    inputs_by_name,
    shared_by_name,
)
from harpia_formats.evaluation.scoring.label_totals import KnownLabels
from harpia_formats.evaluation.scoring.match_questions import (
    QuestionTable,
    input_name,
    match_questions,
    shared_inputs,
)
from harpia_formats.evaluation.scoring.metric_score import Group
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import ComputedMetric
from harpia_formats.evaluation.scoring.paired_answers import MetricAnswers, QuestionSums
from harpia_formats.evaluation.scoring.result_format import (
    Files,
    ResultFormat,
    ResultRun,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.evaluation.scoring.select_metrics import metric_identities
from harpia_formats.evaluation.scoring.stored_run import check_computed
from harpia_formats.evaluation.scoring.system_answers import InputAnswers, SystemAnswers
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.problem import Problem
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError
from harpia_formats.validation.redaction import redaction_of


def common_places(
    inputs: Sequence[Sequence[ComputedMetric]], are_verdicts: Sequence[bool]
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the places of each metric that is compared, in each input, and notes.

    Raises `ScoreError` if there is none, or if one was computed in different ways.
    """
    if len(set(are_verdicts)) > 1:
        holds = ["verdicts of a judge" if are else "answers" for are in are_verdicts]
        raise ScoreOptionsError(
            f"{_by_input('holds', holds, ', and ')}, which have no common score: "
            "compare verdicts with verdicts, or answers with answers"
        )
    if all(are_verdicts):
        return _common_verdicts(inputs)
    for at in range(1, len(inputs)):
        check_same_metrics(inputs, at)
    return [(place,) * len(inputs) for place in range(len(inputs[0]))], []


def check_same_metrics(inputs: Sequence[Sequence[ComputedMetric]], at: int) -> None:
    """Raise `ScoreError` if an input has other metrics than the first one."""
    ours, theirs = metric_identities(inputs[0]), metric_identities(inputs[at])
    if ours == theirs:
        return
    if [one[:2] for one in ours] == [one[:2] for one in theirs]:
        pairs = zip(ours, theirs, strict=True)
        one, other = next((a, b) for a, b in pairs if a != b)
        names = [input_name(place, len(inputs)) for place in (0, at)]
        raise ScoreError(
            f"{one[0]} was computed in different ways, which cannot be compared: "
            f"{one[2]} in {names[0]}, {other[2]} in {names[1]}"
        )
    raise ScoreOptionsError(
        "the inputs select different metrics, which cannot be compared; name metrics "
        "with `--metrics`"
    )


def _common_verdicts(
    inputs: Sequence[Sequence[ComputedMetric]],
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the places of the verdicts with the same name, and notes on the others.

    Raises `ScoreError` if there is none, or if one was made in different ways.
    """
    tables = [
        {metric.request.label: at for at, metric in enumerate(metrics)}
        for metrics in inputs
    ]
    names = [name for name in tables[0] if all(name in one for one in tables)]
    count = len(inputs)
    if not names:
        has = _by_input("has", [", ".join(one) for one in tables], "; ")
        which = "both" if count == 2 else "all"  # noqa: PLR2004 - both are two
        raise ScoreError(f"no verdicts in {which} inputs have the same name: {has}")
    common = [
        [metrics[table[name]] for name in names]
        for metrics, table in zip(inputs, tables, strict=True)
    ]
    for at in range(1, count):
        check_same_metrics(common, at)
    every = dict.fromkeys(name for table in tables for name in table)
    notes = []
    for at, table in enumerate(tables):
        others = [name for name in every if name in table and name not in names]
        if others and count == 2:  # noqa: PLR2004 - the other one lacks it
            only = f"since only {input_name(at, count)} has it"
            notes.append(f"not compared, {only}: {', '.join(others)}")
    lacking = [name for name in every if name not in names]
    if lacking and count > 2:  # noqa: PLR2004 - of two, the one that has it is named
        listed = ", ".join(lacking)
        notes.append(f"not compared, since not all inputs have it: {listed}")
    return [tuple(table[name] for table in tables) for name in names], notes


def _by_input(verb: str, texts: Sequence[str], between: str) -> str:
    """Return what is said of each input, with the verb of the first one only."""
    parts = [
        f"{input_name(at, len(texts)).removesuffix(' input')} {text}"
        for at, text in enumerate(texts)
    ]
    parts[0] = f"{input_name(0, len(texts))} {verb} {texts[0]}"
    return between.join(parts)


def notes_of_inputs(said: Sequence[Sequence[str]]) -> list[str]:
    """Return the notes of all inputs, each with its input unless all have it."""
    found = []
    for at, notes in enumerate(said):
        for note in notes:
            if not all(note in others for others in said):
                found.append(
                    f"{input_name(at, len(said)).removeprefix('the ')}: {note}"
                )
            elif note not in found:
                found.append(note)
    return found


@dataclass(frozen=True, slots=True)
class _System:
    """A system with its answers and its scores."""

    found: FoundSystem
    answers: SystemAnswers
    scores: Group


@dataclass(frozen=True, slots=True)
class _FinishedRun:
    """What remains of the scoring of an input, whose totals take memory."""

    scores: Scores
    are_verdicts: bool
    has_chosen_metrics: bool


class ScoreComparison:
    """A comparison of systems: iterate for the problems, then call `report`.

    The systems are the models of each input, or those that `models` names. `test` is
    one of `p_values.TESTS`, or None for permutation of means and the bootstrap of other
    scores. Raises what `Scoring` raises.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: ScoreOptions,
        models: Sequence[str] = (),
        test: str | None = None,
        baseline: str | None = None,
    ) -> None:
        if options.stored:
            raise ScoreError("stored scores are compared by StoredComparison")
        #: Those with one name are one system; the others may be, if they name none.
        self._given = inputs_by_name(inputs, options.systems)
        self._options = options
        self._redaction = redaction_of(options)
        self._wanted = frozenset(options.metrics)
        self._test = paired_test(options, test)
        self._models, self._baseline = models, baseline
        self._begin()

    def _begin(self) -> None:
        """Prepare a run for each of the given inputs, or of those of one system."""
        given = self._given
        self._sources = [source_name(one[0], at) for at, one in enumerate(given)]
        self._questions = QuestionTable()
        self._labels: dict[str, dict[str, int]] = {}
        self._answers = [InputAnswers(self._questions, self._labels) for _ in given]
        self._finished: list[_FinishedRun] = []
        #: They are made at once, so that a wrong option is an error before any work.
        self._runs = [
            Scoring(
                one,
                ResultFormat(
                    "compared",
                    "default",
                    _writer_of(answers),
                    holds_models=True,
                    takes_verdicts=True,
                    takes_labels=True,
                    takes_questions=True,
                ),
                None,
                replace(self._options, by=()),
            )
            for one, answers in zip(given, self._answers, strict=True)
        ]

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score all systems; yield the problems of their inputs."""
        yield from self._score()
        parts = self._parts()
        if parts:
            # The inputs are read again, as one.
            self._given = parts
            self._begin()
            for _ in self._score():
                continue

    def _parts(self) -> list[list[Input]]:
        """Return the inputs by system if several that name no model are of one.

        Returns nothing if each is a system. Raises `ScoreError` if it is not known.
        """
        nameless = [
            place
            for place, (answers, run) in enumerate(
                zip(self._answers, self._finished, strict=True)
            )
            if list(answers.systems) == [NONE] and not run.scores.is_broken
        ]
        if len(nameless) < 2:  # noqa: PLR2004 - one is not parted
            return []
        names = distinct_inputs([self._sources[place] for place in nameless])
        if not self._options.pool:
            numbers = [set(self._answers[at].systems[NONE].numbers) for at in nameless]
            places = shared_inputs(self._questions, numbers)
            shared = shared_by_name(names, places)
            # Without any other system there is nothing to compare with, which an error
            # says, and why the questions do not match.
            if len(nameless) == len(self._given) and not any(shared.values()):
                return []
            if not are_parts(names, shared):
                return []
        first = nameless[0]
        return [
            [part for at in nameless for part in self._given[at]]
            if place == first
            else one
            for place, one in enumerate(self._given)
            if place == first or place not in nameless
        ]

    def _score(self) -> Generator[Problem, None, None]:
        """Score all systems; yield the problems of their inputs."""
        while self._runs:
            run = self._runs[0]
            yield from run
            self._finished.append(
                _FinishedRun(
                    run.whole_scores(), run.are_verdicts, run.has_chosen_metrics
                )
            )
            del self._runs[0], run

    def report(self) -> ComparisonReport:
        """Return the result as it may be shown.

        Raises `ScoreError` if no question is in two inputs, and if there are not two
        systems.
        """
        if self._redaction is None:
            return self._report()
        from harpia_formats.evaluation.scoring.redacted_scores import ScoreRedaction  # noqa: PLC0415 - most runs show values
        from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
            errors_without_values,
        )

        with errors_without_values(self._redaction):
            found = self._report()
        are_chosen = all(run.has_chosen_metrics for run in self._finished)
        shown = ScoreRedaction(self._redaction, self._wanted, are_chosen)
        return shown.comparison(found)

    def _report(self) -> ComparisonReport:
        scores = tuple(run.scores for run in self._finished)
        reports = tuple(one.report for one in scores)
        if any(one.is_broken for one in scores):
            return ComparisonReport((), (), (), reports, scores)
        every = list(self._systems(scores))
        chosen = chosen_systems([one.found for one in every], self._models)
        systems = [one for one in every if one.found in chosen]
        names = distinct_names((one.model, one.source) for one in chosen)
        baseline = named_baseline(chosen, names, self._baseline)
        pairs = compared_places(names, baseline)
        places, notes = common_places(
            [one.measured for one in scores],
            [run.are_verdicts for run in self._finished],
        )
        inputs = [
            _questions_of(one.answers for one in systems if one.found.place == place)
            for place in dict.fromkeys(one.found.place for one in systems)
        ]
        matched = match_questions(self._questions, inputs)
        measured = scores[0].measured
        count = sum(len(measured[at[0]].names) for at in places)
        test = self._test.of_many(count * len(pairs))
        named = tuple(
            ComparedSystem(name, one.found.source, one.found.model, one.scores)
            for name, one in zip(names, systems, strict=True)
        )
        family = PairFamily(pairs, names, matched, test)
        compared = [
            score
            for at in places
            for score in self._compared(at, measured[at[0]], systems, family)
        ]
        return ComparisonReport(
            with_adjusted(with_references(compared, named)),
            named,
            tuple(family.compared_pairs([one.answers.numbers for one in systems])),
            reports,
            scores,
            baseline,
            (*notes_of_inputs([one.said for one in scores]), *notes, *matched.notes),
        )

    def _systems(self, scores: Sequence[Scores]) -> Generator[_System, None, None]:
        """Yield the systems of each input, in the order of their first answers."""
        for place, (answers, one) in enumerate(zip(self._answers, scores, strict=True)):
            for (name, mine), group in zip(
                answers.systems.items(), one.systems, strict=True
            ):
                model = None if name == NONE else name
                yield _System(
                    FoundSystem(place, self._sources[place], model), mine, group
                )

    def _compared(
        self,
        places: Sequence[int],
        metric: ComputedMetric,
        systems: Sequence[_System],
        family: PairFamily,
    ) -> Generator[ComparedScore, None, None]:
        """Yield the scores of one metric for each pair.

        `places` has the place of the metric in each input.
        """
        label, labels = metric.request.label, metric.measure.labels
        known = KnownLabels(labels, [self._labels[label]]) if labels else None
        sums = [
            one.answers.sums(
                places[one.found.place],
                metric,
                known,
                family.matched.places,
                len(family.matched.keys),
            )
            for one in systems
        ]
        columns = [
            family.compared_scores(
                _metric_answers(metric, known, family.matched.keys, mine)
            )
            for mine in zip(*sums, strict=True)
        ]
        for found in zip(*columns, strict=True):
            scored = [score for column in found for score in column]
            for name, score in zip(metric.names, scored, strict=True):
                yield replace(
                    score, metric=label, name=name, signature=metric.measure.signature
                )


def _metric_answers(
    metric: ComputedMetric,
    known: KnownLabels | None,
    keys: Sequence[bytes],
    sums: Sequence[QuestionSums],
) -> MetricAnswers:
    """Return the answers of all systems by a metric, or by one score of questions."""
    measure = metric.measure
    if measure.question is not None:
        return MetricAnswers(means(1), measure.best, keys, sums, measure.best)
    best = measure.best if measure.is_mean else None
    scores = known.scores if known else measure.scores
    remark = known.remark if known else None
    return MetricAnswers(scores, best, keys, sums, measure.widest, remark)


def _questions_of(systems: Iterable[SystemAnswers]) -> Any:
    """Return the numbers of the questions of some systems, each once, as an array."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    found = np.zeros(0, dtype=np.uint32)
    for one in systems:
        found = np.union1d(found, np.asarray(one.numbers))
    return found


def _writer_of(answers: InputAnswers) -> Callable[[Files, ResultRun], InputAnswers]:
    return lambda _, run: answers.begin(run)


def comparison_of(  # noqa: PLR0913 - inputs, and how they are compared
    inputs: Iterable[Input],
    options: ScoreOptions,
    models: Sequence[str] = (),
    test: str | None = None,
    baseline: str | None = None,
    *,
    force: bool = False,
) -> ScoreComparison | StoredComparison:
    """Return the run that compares the scores of systems.

    `force` compares stored scores that may have been computed differently. Raises
    `ScoreError` for options that cannot be combined.
    """
    if not options.stored:
        if force:
            raise ScoreOptionsError(
                "`--force` is about stored scores, and needs `--stored`"
            )
        return ScoreComparison(inputs, options, models, test, baseline)
    check_computed(options, options.parameters)
    options = replace(options, stored=False)
    return StoredComparison(inputs, options, models, test, baseline, force=force)
