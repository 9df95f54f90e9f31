"""Compare the scores of systems on the same questions."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.answers import (
    FoundSystem,
    are_parts,
    chosen_systems,
    compared_places,
    distinct_inputs,
    distinct_names,
    inputs_by_name,
    named_baseline,
    shared_by_name,
    source_name,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group, MetricScore
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.evaluation.scoring.measures.question_scores import KnownLabels
from harpia_formats.evaluation.scoring.measures.stored_metrics import (
    ANY,
    StoredMetrics,
    labels_of,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedPair,
    ComparedScore,
    ComparedSystem,
    ComparisonReport,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring, score_redaction
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    np,
    unavailable_reason,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    Comparison,
    compare_pairs,
    holm,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    TESTS,
    MetricAnswers,
    PairedAnswers,
    PairedTest,
    QuestionSums,
)
from harpia_formats.evaluation.scoring.system_answers import (
    InputAnswers,
    MatchedQuestions,
    QuestionTable,
    SystemAnswers,
    both_or,
    input_name,
    match_questions,
    shared_inputs,
)
from harpia_formats.files.io.inputs import (
    Input,
    is_rereadable,
    refuse_repeated_streams,
)
from harpia_formats.model.problem import OptionError, Problem
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError
from harpia_formats.validation.redaction import errors_shown, redaction_of


@dataclass(frozen=True, slots=True)
class _System(FoundSystem):
    """A system with its answers and its scores."""

    answers: SystemAnswers = field(compare=False)
    scores: Group = field(compare=False)


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """A metric that is compared, and its place among those of each input."""

    metric: ComputedMetric
    places: Sequence[int]
    #: The signatures of each system, several if its stored scores have.
    signatures: Sequence[Sequence[str]]
    #: The name of stored scores in the comparison, None for that of the metric.
    label: str | None = None
    #: The best of stored scores, None for that on the scale of the metric.
    best: float | None = None
    #: Whether stored scores are compared although their signatures do not prove that
    #: they were computed the same way.
    is_forced: bool = False

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of the metric and of each score in the comparison."""
        if self.label is not None:
            return [(self.label, self.label)]
        return [(self.metric.request.label, name) for name in self.metric.names]

    def signature_of(self, *systems: int) -> str:
        """Return the signature of the scores of some systems, or all that are forced.

        The number of references is left out if it is not the same.
        """
        every = dict.fromkeys(chain(*(self.signatures[at] for at in systems)))
        if len(every) > 1 and not self.is_forced:
            return self.metric.measure.signature
        return " and ".join(filter(None, every))

    def score_of(self, system: int, scores: Group) -> MetricScore:
        """Return the stored score of a system by its name in the comparison."""
        label, ((metric, name),) = self.metric.request.label, self.names
        score = next(one for one in scores.scores if one.metric == label)
        signature = self.signature_of(system) or f"{metric}|impl:unknown"
        return replace(score, metric=metric, name=name, signature=signature)

    def answers(
        self,
        known: KnownLabels | None,
        keys: Sequence[bytes],
        sums: Sequence[QuestionSums],
    ) -> MetricAnswers:
        """Return the answers of all systems by it, or by one score of questions."""
        measure = self.metric.measure
        if measure.question is not None:
            return MetricAnswers(means(1), 1, measure.best, keys, sums, measure.best)
        best = self.best or (measure.best if measure.is_mean else None)
        by = known or measure
        remark = known.remark if known else None
        names = len(measure.names)
        return MetricAnswers(by.scores, names, best, keys, sums, measure.widest, remark)


def common_metrics(
    scores: Sequence[Scores], systems: Sequence[_System], are_verdicts: Sequence[bool]
) -> tuple[list[ComparedMetric], list[str]]:
    """Return each metric or verdict that all inputs have, and notes.

    Raises `ScoreError` if there is none, if one was computed in different ways, if only
    some inputs hold verdicts, and if some have other metrics than others.
    """
    if len(set(are_verdicts)) > 1:
        holds = ["verdicts of a judge" if are else "answers" for are in are_verdicts]
        raise ScoreOptionsError(
            f"{_by_input('holds', holds, ', and ')}, which have no common score: "
            "compare verdicts with verdicts, or answers with answers"
        )
    tables = [
        {(one.request.label, one.names): at for at, one in enumerate(mine.measured)}
        for mine in scores
    ]
    if not any(are_verdicts) and len(set(map(tuple, tables))) > 1:
        raise ScoreOptionsError(
            "the inputs select different metrics, which cannot be compared; name "
            "metrics with `--metrics`"
        )
    common = [one for one in tables[0] if all(one in table for table in tables)]
    if not common:
        own = [", ".join(name for name, _ in table) for table in tables]
        raise ScoreError(
            f"no verdicts in {both_or('all', len(scores))} inputs have the same name: "
            f"{_by_input('has', own, '; ')}"
        )
    found = []
    for one in common:
        places = [table[one] for table in tables]
        metrics = [mine.measured[at] for mine, at in zip(scores, places, strict=True)]
        _check_signatures([metric.measure.signature for metric in metrics], one[0])
        # They have the number of references, too.
        signatures = [
            [own.signature for own in system.scores.scores if own.metric == one[0]]
            for system in systems
        ]
        found.append(ComparedMetric(metrics[0], places, signatures))
    return found, _left_out(
        [[one[0] for one in table if one not in common] for table in tables]
    )


def _check_signatures(signatures: Sequence[str], label: str) -> None:
    """Raise `ScoreError` if a metric was computed in different ways."""
    for at, signature in enumerate(signatures):
        if signature != signatures[0]:
            ours, theirs = (input_name(place, len(signatures)) for place in (0, at))
            raise ScoreError(
                f"{label} was computed in different ways, which cannot be compared: "
                f"{signatures[0]} in {ours}, {signature} in {theirs}"
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
    labels = [label for label, _ in systems]
    held = [stored.held(scores) for _, scores in systems]
    names = [name for name in held[0] if all(name in one for one in held)]
    if not names:
        known = "; ".join(
            f"{label.removeprefix('the ').removesuffix(' input')}: "
            f"{', '.join(one) or 'none'}"
            for label, one in zip(labels, held, strict=True)
        )
        raise ScoreError(
            f"the inputs have no scores of the same metric ({known}); without "
            "`--stored` scores are computed"
        )
    _check_wanted(stored, names, held)
    others = dict.fromkeys(name for one in held for name in one if name not in names)
    found, notes = [], []
    if others:
        notes.append(
            f"not compared, since not all systems have it: {', '.join(others)}"
        )
    for name in names:
        places = dict(chain(*(one[name].items() for one in held)))
        signatures = [[one for one in own[name] if one != ANY] for own in held]
        for signature in chain(*signatures):
            stored.check_mean(places[signature])
        ours = signatures[0]
        is_forced = "" in ours or any(set(one) != set(ours) for one in signatures)
        if is_forced:
            notes.append(_unproven(name, labels, signatures, is_shown=stored.is_forced))
            shown = {(name, ANY if ANY in places else ours[0]): name}
        else:
            shown = labels_of((name, signature) for signature in ours)
        for (_, signature), label in shown.items():
            at, own = places[signature], signatures
            if not is_forced:
                own = [[signature]] * len(systems)
            one = stored.read[at]
            best = one.quantity.best
            found.append(
                ComparedMetric(one.metric, (at,) * inputs, own, label, best, is_forced)
            )
    return found, notes


def _check_wanted(
    stored: StoredMetrics,
    names: Sequence[str],
    held: Sequence[dict[str, dict[str, int]]],
) -> None:
    """Raise `ScoreError` for a metric of the options of which no score is compared."""
    read = [stored.read[at] for name in names for at in held[0][name].values()]
    known = {*names, *(one.label for one in read)}
    known |= {one.metric.request.metric for one in read}
    which = both_or("all", len(held))
    for wanted in stored.options.metrics:
        if wanted not in known:
            raise ScoreError(
                f"the inputs do not {which} have scores of {wanted} ({which} have: "
                f"{', '.join(names)})"
            )


def _unproven(
    name: str,
    labels: Sequence[str],
    signatures: Sequence[Sequence[str]],
    *,
    is_shown: bool,
) -> str:
    """Return that signatures do not prove that a stored score is comparable.

    Raises `ScoreError` with that unless scores `is_shown` anyway.
    """
    shown = ", ".join(
        f"{' and '.join(signature or 'none' for signature in one)} in {label}"
        for label, one in zip(labels, signatures, strict=True)
    )
    note = (
        f"the signatures of {name} do not prove that it was computed the same way: "
        f"{shown}"
    )
    if not is_shown:
        raise ScoreError(f"{note}; `--force` compares anyway")
    return note


def _by_input(verb: str, texts: Sequence[str], between: str) -> str:
    """Return a clause on each input, with the verb in the first one only."""
    parts = [
        f"{input_name(at, len(texts)).removesuffix(' input')} {text}"
        for at, text in enumerate(texts)
    ]
    parts[0] = f"{input_name(0, len(texts))} {verb} {texts[0]}"
    return between.join(parts)


def notes_of_inputs(by_input: Sequence[Sequence[str]]) -> list[str]:
    """Return the notes of all inputs, each with its input unless all have it."""
    found = []
    for at, notes in enumerate(by_input):
        for note in notes:
            if not all(note in others for others in by_input):
                found.append(
                    f"{input_name(at, len(by_input)).removeprefix('the ')}: {note}"
                )
            elif note not in found:
                found.append(note)
    return found


@dataclass(frozen=True, slots=True)
class _Family:
    """The systems that are compared, in which pairs, and how they are tested."""

    systems: Sequence[_System]
    names: Sequence[str]
    #: The places of the systems of each pair.
    pairs: Sequence[tuple[int, int]]
    matched: MatchedQuestions
    test: PairedTest

    def names_of(self, pair: tuple[int, int]) -> tuple[str, str]:
        """Return the names of the systems of a pair."""
        return self.names[pair[0]], self.names[pair[1]]

    def compared(
        self, metric: ComparedMetric, known: KnownLabels | None
    ) -> Iterator[ComparedScore]:
        """Return the scores by a metric, of one pair after the other."""
        keys, places = self.matched.keys, self.matched.places
        sums = [
            one.answers.sums(
                metric.places[one.place], metric.metric, known, places, len(keys)
            )
            for one in self.systems
        ]
        found: list[list[ComparedScore]] = [[] for _ in self.pairs]
        size = len(metric.names) // len(sums[0])
        for column, own in enumerate(zip(*sums, strict=True)):
            answers = metric.answers(known, keys, own)
            names = metric.names[column * size : (column + 1) * size]
            compared = compare_pairs(answers, self.pairs, self.test)
            for mine, pair, comparisons in zip(
                found, self.pairs, compared, strict=True
            ):
                paired = answers.pair(*pair)
                mine.extend(self._scores(metric, names, paired, comparisons))
        return chain.from_iterable(found)

    def _scores(
        self,
        metric: ComparedMetric,
        names: Sequence[tuple[str, str]],
        paired: PairedAnswers,
        comparisons: Sequence[Comparison | None],
    ) -> Iterator[ComparedScore]:
        """Yield the scores of a pair by a metric, or by one score of questions."""
        unscored = paired.unscored()
        for own, first, second, comparison in zip(
            names, *paired.values(), comparisons, strict=True
        ):
            yield ComparedScore(
                *own,
                self.names_of(paired.systems),
                first,
                second,
                comparison,
                metric.signature_of(*paired.systems),
                paired.questions,
                unscored,
                widest=paired.metric.widest,
                is_forced=metric.is_forced,
            )

    def compared_pairs(self) -> Iterator[ComparedPair]:
        """Yield each pair with how many questions both have, and only one of them."""
        places = np.asarray(self.matched.places)
        has = np.zeros((len(self.systems), len(self.matched.keys)), dtype=bool)
        for mine, one in zip(has, self.systems, strict=True):
            mine[places[np.asarray(one.answers.numbers, dtype=np.int64)]] = True
        for pair in self.pairs:
            one, other = has[list(pair)]
            counts = (one & other, one & ~other, other & ~one)
            yield ComparedPair(
                *self.names_of(pair), *(int(which.sum()) for which in counts)
            )


def paired_test(options: ScoreOptions, test: str | None) -> PairedTest:
    """Return the test that options describe; raises `ScoreError`."""
    if unavailable_reason():
        raise ScoreError(f"scores cannot be compared: {unavailable_reason()}")
    if not options.replicates:
        raise ScoreError("a comparison needs replicates: set at least one")
    if test == "mcnemar":
        raise OptionError(
            "`--test mcnemar` is gone; use `--test permutation`: of one answer of 0 or "
            "1 a question it is the same test"
        )
    if test is not None and test not in TESTS:
        raise OptionError(f"no test is called {test!r}{hint_on(str(test), TESTS)}")
    return PairedTest(test, options.replicates, options.seed, options.level)


def with_adjusted(compared: Sequence[ComparedScore]) -> tuple[ComparedScore, ...]:
    """Return the scores with their p-values adjusted for their number, by Holm."""
    tested = [score.comparison for score in compared if score.comparison is not None]
    adjusted = iter(holm([comparison.p_value for comparison in tested]))
    return tuple(
        score if score.comparison is None else replace(score, adjusted_p=next(adjusted))
        for score in compared
    )


class ScoreComparison:
    """A comparison of systems: iterate for the problems, then call `report`.

    The systems are the models of each input, or those that `models` names. `test` is
    one of `paired_tests.TESTS`, or None for permutation of means and the bootstrap of
    other scores. `force` compares stored scores that may have been computed
    differently.
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
        #: Those with a system of one name are read as one; the others may be, if they
        #: name none.
        self._given = inputs_by_name(inputs, options.systems)
        refuse_repeated_streams(chain(*self._given))
        self._options, self._is_forced = replace(options, by=()), force
        self._redaction = redaction_of(options)
        self._test = paired_test(options, test)
        self._models, self._baseline = models, baseline
        self._begin()

    def _begin(self) -> None:
        """Prepare a run for each of the given inputs, or of those of one system."""
        given, options = self._given, self._options
        #: The stored scores of all inputs are selected by one object.
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
        #: What remains of the runs, whose totals take memory.
        self._scores: list[Scores] = []
        self._are_verdicts: list[bool] = []
        self._are_chosen = True
        # `min_records` is about all inputs together: it counts at the end of the last.
        early = replace(options, min_records=0)
        last = len(given) - 1
        #: They are made at once, so that a wrong option is an error before any work.
        self._runs = [
            Scoring(
                one,
                options=options if at == last else early,
                observers=[self._answers[at].begin],
                source=self._stored,
            )
            for at, one in enumerate(given)
        ]

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score all systems; yield the problems of their inputs."""
        yield from self._score()
        parts = self._parts()
        if parts:
            self._check_rereadable()
            # The inputs are read again, as one.
            self._given = parts
            self._begin()
            for _ in self._score():
                continue

    def _check_rereadable(self) -> None:
        """Raise `ScoreError` for an input that cannot be read a second time."""
        for name, inputs in zip(self._sources, self._given, strict=True):
            if not all(map(is_rereadable, inputs)):
                raise ScoreOptionsError(
                    "inputs without model names are parts of one system, for which all "
                    f"inputs are read again, and {name} can be read only once: name "
                    "the system of each part with `NAME=FILE`, or give files"
                )

    def _parts(self) -> list[list[Input]]:
        """Return the inputs by system if several that name no model are of one.

        Returns nothing if each is a system. Raises `ScoreError` if it is not known.
        """
        nameless = [
            place
            for place, (answers, one) in enumerate(
                zip(self._answers, self._scores, strict=True)
            )
            if list(answers.systems) == [None] and not one.is_broken
        ]
        if len(nameless) < 2:  # noqa: PLR2004 - one is not parted
            return []
        names = distinct_inputs([self._sources[place] for place in nameless])
        if not self._options.pool:
            numbers = [set(self._answers[at].systems[None].numbers) for at in nameless]
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
        before = 0
        while self._runs:
            run = self._runs[0]
            run.valid_before = before
            yield from run
            before += run.valid
            self._scores.append(run.whole_scores())
            self._are_verdicts.append(run.are_verdicts)
            self._are_chosen &= run.has_chosen_metrics
            del self._runs[0], run

    def _read_stored(self, stored: StoredMetrics) -> None:
        """Read which scores all inputs hold, before any is added up.

        Raises `ScoreError` for an input without one.
        """
        before = 0
        for at, run in enumerate(self._runs):
            known = stored.scores
            run.valid_before = before
            if run.prepare() and stored.scores == known:
                raise ScoreOptionsError(
                    f"{input_name(at, len(self._runs))} has no stored score; without "
                    "`--stored` scores are computed"
                )
            before += run.valid

    def report(self) -> ComparisonReport:
        """Return the result as it may be shown.

        Raises `ScoreError` if no question is in two inputs, and if there are not two
        systems.
        """
        with errors_shown(self._redaction):
            found = self._report()
        shown = score_redaction(
            self._redaction, self._options.metrics, by_options=self._are_chosen
        )
        return found if shown is None else shown.comparison(found)

    def _report(self) -> ComparisonReport:
        """Return the result with all values."""
        scores = tuple(self._scores)
        reports = tuple(one.report for one in scores)
        # Stored scores that are not compared are not shown.
        shown = scores if self._stored is None else ()
        if any(one.is_broken for one in scores):
            return ComparisonReport((), (), (), reports, shown)
        family, metrics, baseline, notes = self._chosen(scores)
        compared = [
            score
            for metric in metrics
            for score in family.compared(metric, self._known(metric))
        ]
        return ComparisonReport(
            with_adjusted(compared),
            tuple(
                ComparedSystem(
                    name, one.source, one.model, self._shown(metrics, at, one.scores)
                )
                for at, (name, one) in enumerate(
                    zip(family.names, family.systems, strict=True)
                )
            ),
            tuple(family.compared_pairs()),
            reports,
            shown,
            baseline,
            (
                *notes_of_inputs([one.notes for one in scores]),
                *notes,
                *family.matched.notes,
            ),
        )

    def _chosen(
        self, scores: Sequence[Scores]
    ) -> tuple[_Family, list[ComparedMetric], str | None, list[str]]:
        """Return what is compared: systems, metrics and the baseline, and notes."""
        systems = chosen_systems(list(self._systems(scores)), self._models)
        names = distinct_names((one.model, one.source) for one in systems)
        baseline = named_baseline(systems, names, self._baseline)
        pairs = compared_places(names, baseline)
        if self._stored is None:
            metrics, notes = common_metrics(scores, systems, self._are_verdicts)
        else:
            count = len(scores)
            of_inputs = [input_name(one.place, count) for one in systems]
            labels = of_inputs if count == 2 else names  # noqa: PLR2004 - ordinals are for pairs
            held = [one.scores for one in systems]
            metrics, notes = common_stored(
                self._stored, list(zip(labels, held, strict=True)), count
            )
        matched = match_questions(
            self._questions,
            [_questions_of(own) for _, own in groupby(systems, attrgetter("place"))],
        )
        count = sum(len(one.metric.names) for one in metrics) * len(pairs)
        family = _Family(systems, names, pairs, matched, self._test.of_many(count))
        return family, metrics, baseline, notes

    def _known(self, metric: ComparedMetric) -> KnownLabels | None:
        """Return the labels of a metric of labels, None for any other."""
        labels = metric.metric.measure.labels
        table = self._labels[metric.metric.request.label]
        return KnownLabels(labels, table) if labels else None

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
            for (model, mine), group in zip(
                answers.systems.items(), one.systems, strict=True
            ):
                yield _System(place, self._sources[place], model, mine, group)


def _questions_of(systems: Iterable[_System]) -> Any:
    """Return the numbers of the questions of some systems, each once, as an array."""
    numbers = (np.asarray(one.answers.numbers) for one in systems)
    return reduce(np.union1d, numbers, np.zeros(0, dtype=np.uint32))
