"""Compare the scores of systems on the same questions."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from harpia_formats.conversion.mapping.answer_groups import NONE
from harpia_formats.evaluation.scoring.answers.choose_systems import (
    FoundSystem,
    chosen_systems,
    compared_places,
    distinct_names,
    named_baseline,
    source_name,
)
from harpia_formats.evaluation.scoring.answers.input_files import (
    are_parts,
    distinct_inputs,
    inputs_by_name,
    shared_by_name,
)
from harpia_formats.evaluation.scoring.answers.match_questions import (
    QuestionTable,
    input_name,
    match_questions,
    shared_inputs,
)
from harpia_formats.evaluation.scoring.measures.label_totals import KnownLabels
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.stored_metrics import (
    ANY,
    StoredMetrics,
    labels_of,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.results.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.results.compared_scores import (
    ComparedMetric,
    ComparedScore,
    ComparedSystem,
    PairFamily,
    paired_test,
    with_adjusted,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.evaluation.scoring.system_answers import InputAnswers, SystemAnswers
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.problem import Problem
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError
from harpia_formats.validation.redaction import errors_shown, redaction_of


@dataclass(frozen=True, slots=True)
class _System(FoundSystem):
    """A system with its answers and its scores."""

    answers: SystemAnswers = field(compare=False)
    scores: Group = field(compare=False)


@dataclass(frozen=True, slots=True)
class _FinishedRun:
    """What remains of the scoring of an input, whose totals take memory."""

    scores: Scores
    are_verdicts: bool
    has_chosen_metrics: bool


def common_metrics(
    runs: Sequence[_FinishedRun], systems: Sequence[_System]
) -> tuple[list[ComparedMetric], list[str]]:
    """Return each computed metric or verdict that is compared, and notes.

    Raises `ScoreError` if there is none, or if one was computed in different ways.
    """
    are_verdicts = [run.are_verdicts for run in runs]
    if len(set(are_verdicts)) > 1:
        holds = ["verdicts of a judge" if are else "answers" for are in are_verdicts]
        raise ScoreOptionsError(
            f"{_by_input('holds', holds, ', and ')}, which have no common score: "
            "compare verdicts with verdicts, or answers with answers"
        )
    tables = [
        {
            (metric.request.label, metric.names): (at, metric)
            for at, metric in enumerate(run.scores.measured)
        }
        for run in runs
    ]
    common = [one for one in tables[0] if all(one in table for table in tables)]
    if not are_verdicts[0] and any(list(table) != common for table in tables):
        raise ScoreOptionsError(
            "the inputs select different metrics, which cannot be compared; name "
            "metrics with `--metrics`"
        )
    if not common:
        own = [", ".join(name for name, _ in table) for table in tables]
        which = "both" if len(runs) == 2 else "all"  # noqa: PLR2004 - both are two
        raise ScoreError(
            f"no verdicts in {which} inputs have the same name: "
            f"{_by_input('has', own, '; ')}"
        )
    found = []
    for one in common:
        places, metrics = zip(*(table[one] for table in tables), strict=True)
        signature = metrics[0].measure.signature
        for at, metric in enumerate(metrics):
            if metric.measure.signature != signature:
                ours, theirs = (input_name(place, len(runs)) for place in (0, at))
                raise ScoreError(
                    f"{one[0]} was computed in different ways, which cannot be "
                    f"compared: {signature} in {ours}, {metric.measure.signature} in "
                    f"{theirs}"
                )
        # They have the number of references, too.
        signatures = [
            [
                score.signature
                for score in system.scores.scores
                if score.metric == one[0]
            ]
            for system in systems
        ]
        found.append(ComparedMetric(metrics[0], places, signatures))
    return found, _left_out(
        [[one[0] for one in table if one not in common] for table in tables]
    )


def _left_out(inputs: Sequence[Sequence[str]]) -> list[str]:
    """Return notes on the verdicts of each input that others do not have."""
    if len(inputs) == 2:  # noqa: PLR2004 - the other one lacks it
        return [
            f"not compared, since only {input_name(at, 2)} has it: {', '.join(names)}"
            for at, names in enumerate(inputs)
            if names
        ]
    names = ", ".join(dict.fromkeys(chain(*inputs)))
    return [f"not compared, since not all inputs have it: {names}"] if names else []


def common_stored(
    stored: StoredMetrics, systems: Sequence[tuple[str, Group]], inputs: int
) -> tuple[list[ComparedMetric], list[str]]:
    """Return each stored score that is compared, and notes.

    `systems` has the name of each system in messages, and its scores. Raises
    `ScoreError` if there is none, and for one that cannot be compared.
    """
    held = [stored.held(scores) for _, scores in systems]
    which = "both" if len(systems) == 2 else "all"  # noqa: PLR2004 - both are two
    names = [name for name in held[0] if all(name in one for one in held)]
    if not names:
        known = "; ".join(
            f"{label.removeprefix('the ').removesuffix(' input')}: "
            f"{', '.join(one) or 'none'}"
            for (label, _), one in zip(systems, held, strict=True)
        )
        raise ScoreError(
            f"the inputs have no scores of the same metric ({known}); without "
            "`--stored` scores are computed"
        )
    for wanted in stored.options.metrics:
        if not any(
            wanted
            in {name, stored.read[at].label, stored.read[at].metric.request.metric}
            for name in names
            for at in held[0][name].values()
        ):
            raise ScoreError(
                f"the inputs do not {which} have scores of {wanted} ({which} have: "
                f"{', '.join(names)})"
            )
    found, notes = [], []
    for name in names:
        places = dict(chain(*(one[name].items() for one in held)))
        signatures = [[one for one in own[name] if one != ANY] for own in held]
        for signature in chain(*signatures):
            stored.check_mean(places[signature])
        ours = signatures[0]
        is_forced = "" in ours or any(set(one) != set(ours) for one in signatures)
        labels = labels_of((name, signature) for signature in ours)
        if is_forced:
            labels = {(name, ANY if ANY in places else ours[0]): name}
            shown = ", ".join(
                f"{' and '.join(signature or 'none' for signature in one)} in {label}"
                for (label, _), one in zip(systems, signatures, strict=True)
            )
            notes.append(
                f"the signatures of {name} do not prove that it was computed the same "
                f"way: {shown}"
            )
            if not stored.is_forced:
                raise ScoreError(f"{notes[-1]}; `--force` compares anyway")
        for (_, signature), label in labels.items():
            at = places[signature]
            one = stored.read[at]
            own = signatures if is_forced else [[signature]] * len(systems)
            best = one.quantity.best
            found.append(
                ComparedMetric(one.metric, (at,) * inputs, own, label, best, is_forced)
            )
    return found, notes


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


class ScoreComparison:
    """A comparison of systems: iterate for the problems, then call `report`.

    The systems are the models of each input, or those that `models` names. `test` is
    one of `p_values.TESTS`, or None for permutation of means and the bootstrap of other
    scores. `force` compares stored scores that may have been computed differently.
    Raises what `Scoring` raises, and `ScoreError` for options that cannot be combined.
    """

    def __init__(  # noqa: PLR0913 - inputs, and how they are compared
        self,
        inputs: Iterable[Input],
        options: ScoreOptions,
        models: Sequence[str] = (),
        test: str | None = None,
        baseline: str | None = None,
        *,
        force: bool = False,
    ) -> None:
        if force and not options.stored:
            raise ScoreOptionsError(
                "`--force` is about stored scores, and needs `--stored`"
            )
        #: Those with one name are one system; the others may be, if they name none.
        self._given = inputs_by_name(inputs, options.systems)
        self._options, self._is_forced = replace(options, by=()), force
        self._redaction = redaction_of(options)
        self._test = paired_test(options, test)
        self._models, self._baseline = models, baseline
        self._begin()

    def _begin(self) -> None:
        """Prepare a run for each of the given inputs, or of those of one system."""
        given, options = self._given, self._options
        #: The stored scores of all inputs are told by one source.
        self._stored: StoredMetrics | None = None
        if options.stored:
            self._stored = StoredMetrics(
                options, is_compared=True, is_forced=self._is_forced
            )
            options = replace(options, missing=options.missing or Missing.SKIP)
        self._sources = [source_name(one[0], at) for at, one in enumerate(given)]
        self._questions = QuestionTable()
        self._labels: dict[str, dict[str, int]] = {}
        self._answers = [
            InputAnswers(self._questions, self._labels, options.stored) for _ in given
        ]
        self._finished: list[_FinishedRun] = []
        #: They are made at once, so that a wrong option is an error before any work.
        self._runs = [
            Scoring(
                one, options=options, observers=[answers.begin], source=self._stored
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
        first, *others = nameless
        whole = [part for at in nameless for part in self._given[at]]
        return [
            whole if place == first else one
            for place, one in enumerate(self._given)
            if place not in others
        ]

    def _score(self) -> Generator[Problem, None, None]:
        """Score all systems; yield the problems of their inputs."""
        if self._stored is not None:
            with errors_shown(self._redaction):
                self._read_stored(self._stored)
        while self._runs:
            run = self._runs[0]
            yield from run
            self._finished.append(
                _FinishedRun(
                    run.whole_scores(), run.are_verdicts, run.has_chosen_metrics
                )
            )
            del self._runs[0], run

    def _read_stored(self, stored: StoredMetrics) -> None:
        """Read which scores all inputs hold, before any is added up.

        Raises `ScoreError` for an input without one.
        """
        for at, run in enumerate(self._runs):
            before = stored.scores
            if run.prepare() and stored.scores == before:
                raise ScoreOptionsError(
                    f"{input_name(at, len(self._runs))} has no stored score; without "
                    "`--stored` scores are computed"
                )

    def report(self) -> ComparisonReport:
        """Return the result as it may be shown.

        Raises `ScoreError` if no question is in two inputs, and if there are not two
        systems.
        """
        if self._redaction is None:
            return self._report()
        from harpia_formats.evaluation.scoring.results.redacted_scores import (  # noqa: PLC0415 - most runs show values
            ScoreRedaction,
        )
        from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
            errors_without_values,
        )

        with errors_without_values(self._redaction):
            found = self._report()
        are_chosen = all(run.has_chosen_metrics for run in self._finished)
        wanted = frozenset(self._options.metrics)
        return ScoreRedaction(self._redaction, wanted, are_chosen).comparison(found)

    def _report(self) -> ComparisonReport:
        scores = tuple(run.scores for run in self._finished)
        reports = tuple(one.report for one in scores)
        if any(one.is_broken for one in scores):
            shown = scores if self._stored is None else ()
            return ComparisonReport((), (), (), reports, shown)
        systems = chosen_systems(list(self._systems(scores)), self._models)
        names = distinct_names((one.model, one.source) for one in systems)
        baseline = named_baseline(systems, names, self._baseline)
        pairs = compared_places(names, baseline)
        metrics, notes = self._metrics(systems, names)
        inputs = [
            _questions_of(one.answers for one in systems if one.place == place)
            for place in dict.fromkeys(one.place for one in systems)
        ]
        matched = match_questions(self._questions, inputs)
        count = sum(len(one.metric.names) for one in metrics)
        test = self._test.of_many(count * len(pairs))
        family = PairFamily(pairs, names, matched, test)
        compared = chain(*(self._compared(one, systems, family) for one in metrics))
        said = notes_of_inputs([one.said for one in scores])
        return ComparisonReport(
            with_adjusted(list(compared)),
            tuple(
                ComparedSystem(
                    names[at],
                    one.source,
                    one.model,
                    self._shown(metrics, at, one.scores),
                )
                for at, one in enumerate(systems)
            ),
            tuple(family.compared_pairs([one.answers.numbers for one in systems])),
            reports,
            # Stored scores that are not compared are not shown.
            scores if self._stored is None else (),
            baseline,
            (*said, *notes, *matched.notes),
        )

    def _shown(
        self, metrics: Iterable[ComparedMetric], system: int, scores: Group
    ) -> Group:
        """Return the scores of a system, of stored ones those that are compared."""
        if self._stored is None:
            return scores
        own = tuple(metric.score_of(system, scores) for metric in metrics)
        return replace(scores, scores=own)

    def _systems(self, scores: Sequence[Scores]) -> Generator[_System, None, None]:
        """Yield the systems of each input, in the order of their first answers."""
        for place, (answers, one) in enumerate(zip(self._answers, scores, strict=True)):
            for (name, mine), group in zip(
                answers.systems.items(), one.systems, strict=True
            ):
                model = None if name == NONE else name
                yield _System(place, self._sources[place], model, mine, group)

    def _metrics(
        self, systems: Sequence[_System], names: Sequence[str]
    ) -> tuple[list[ComparedMetric], list[str]]:
        """Return the metrics that are compared, and notes; raises `ScoreError`."""
        count = len(self._finished)
        if self._stored is None:
            return common_metrics(self._finished, systems)
        labels = [
            input_name(one.place, count) if count == 2 else name  # noqa: PLR2004 - ordinals are for pairs
            for one, name in zip(systems, names, strict=True)
        ]
        scores = [one.scores for one in systems]
        return common_stored(
            self._stored, list(zip(labels, scores, strict=True)), count
        )

    def _compared(
        self, metric: ComparedMetric, systems: Sequence[_System], family: PairFamily
    ) -> Generator[ComparedScore, None, None]:
        """Yield the scores of one metric for each pair."""
        labels = metric.metric.measure.labels
        table = self._labels[metric.metric.request.label]
        known = KnownLabels(labels, table) if labels else None
        matched = family.matched
        sums = [
            one.answers.sums(
                metric.places[one.place],
                metric.metric,
                known,
                matched.places,
                len(matched.keys),
            )
            for one in systems
        ]
        yield from family.compared_scores(metric, known, list(zip(*sums, strict=True)))


def _questions_of(systems: Iterable[SystemAnswers]) -> Any:
    """Return the numbers of the questions of some systems, each once, as an array."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    found = np.zeros(0, dtype=np.uint32)
    for one in systems:
        found = np.union1d(found, np.asarray(one.numbers))
    return found
