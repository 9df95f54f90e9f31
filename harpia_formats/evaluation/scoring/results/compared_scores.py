"""Systems that are compared, one score of two of them, and the settings of tests."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.answers.match_questions import MatchedQuestions
from harpia_formats.evaluation.scoring.measures.label_totals import KnownLabels
from harpia_formats.evaluation.scoring.measures.metric_score import (
    DOWN,
    UP,
    Group,
    MetricScore,
    score_name,
)
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    np,
    unavailable_reason,
)
from harpia_formats.evaluation.scoring.significance.p_values import TESTS, PairedTest
from harpia_formats.evaluation.scoring.significance.paired_answers import (
    MetricAnswers,
    QuestionSums,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    Comparison,
    compare_pairs,
    holm,
)
from harpia_formats.model.problem import OptionError
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError

#: Columns of a table that are attributes of a comparison.
_OF_COMPARISON = tuple(
    "difference low high p_value test method detectable remark".split()
)


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system that is compared: the answers of one model in one input."""

    #: The model, else the name of the input, made different from those of the others.
    name: str
    #: The name of the input.
    source: str
    #: The model of its answers, None if none is named.
    model: str | None
    #: The scores of all of its answers.
    scores: Group

    def to_dict(self) -> dict[str, Any]:
        """Return the system as plain data that can be written as JSON."""
        return {
            "name": self.name,
            "source": self.source,
            "model": self.model,
            "scores": self.scores.to_dict()["scores"],
        }


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """The questions of two systems."""

    #: The names of the systems.
    first: str
    second: str
    #: The number of questions that both have, and that only one has.
    questions: int
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of two systems over the questions that both have."""

    #: The columns of `as_row`.
    columns: ClassVar = (
        *("metric", "name", "system_first", "system_second", "first", "second"),
        *_OF_COMPARISON,
        *("adjusted_p", "questions", "questions_needed"),
        *("unscored_first", "unscored_second", "signature"),
    )

    metric: str
    name: str
    #: The names of both systems.
    systems: tuple[str, str]
    #: The scores of both systems, None if no answer could be scored.
    first: float | None
    second: float | None
    #: Their difference, None if it cannot be computed.
    comparison: Comparison | None
    signature: str
    #: The number of questions with a scored answer of both systems.
    questions: int
    #: The number of answers to paired questions that have no score, by system; of
    #: stored scores the number of such questions.
    unscored: tuple[int, int] = (0, 0)
    #: The p-value adjusted for all pairs and scores that are compared together, by
    #: Holm.
    adjusted_p: float | None = None
    #: The largest difference that the scale allows, infinite if it is not known.
    widest: float = math.inf
    #: Whether stored scores are compared although their signatures do not prove that
    #: they were computed the same way.
    is_forced: bool = False
    #: How many questions detect the difference that is named with a power of 80 %, None
    #: if none is named or the number is not known.
    questions_needed: int | None = None

    @property
    def full_name(self) -> str:
        """The name of the score, with that of its metric if they differ."""
        return score_name(self.metric, self.name)

    @property
    def reason(self) -> str:
        """Why no difference can be tested, "" if it was."""
        if self.comparison is not None:
            return ""
        if self.questions == 1:
            return "one question: no difference can be tested"
        if not self.questions:
            return "no question has a scored answer of both systems"
        return "a system has no score"

    @property
    def is_approximate_p(self) -> bool:
        """Whether the p-value is approximate, for the reason of the interval."""
        return self.comparison is not None and self.comparison.is_approximate_p

    @property
    def is_significant(self) -> bool:
        """Whether there is a difference, by the adjusted p-value if there is one."""
        if self.comparison is None:
            return False
        found, p_value = self.comparison, self.adjusted_p
        return (found.p_value if p_value is None else p_value) < found.alpha

    def reversed(self) -> "ComparedScore":
        """Return the difference of the second system minus the first one."""
        one = self.comparison
        return replace(
            self,
            systems=self.systems[::-1],
            first=self.second,
            second=self.first,
            # 0 is added, so that no number is the negative 0.
            comparison=one
            and replace(
                one,
                difference=-one.difference + 0.0,
                low=-one.high + 0.0,
                high=-one.low + 0.0,
            ),
            unscored=self.unscored[::-1],
        )

    def headline(self, *, is_named: bool = False) -> str:
        """Return the difference in one line, with the systems if `is_named`."""
        name = self.full_name
        if is_named:
            name += f" of {self.systems[0]} - {self.systems[1]}"
        if self.comparison is None:
            return f"{name}: {self.reason}"
        found = self.comparison
        return (
            f"{name}: {found.difference:+.4f}, p {found.p_value:.4g} over "
            f"{self.questions:,} questions"
        )

    def as_row(self) -> dict[str, Any]:
        """Return the comparison as a row of a table."""
        return {
            "metric": self.metric,
            "name": self.name,
            "system_first": self.systems[0],
            "system_second": self.systems[1],
            "first": self.first,
            "second": self.second,
            **{name: getattr(self.comparison, name, None) for name in _OF_COMPARISON},
            **({"remark": self.reason} if self.comparison is None else {}),
            "adjusted_p": self.adjusted_p,
            "questions": self.questions,
            "questions_needed": self.questions_needed,
            "unscored_first": self.unscored[0],
            "unscored_second": self.unscored[1],
            "signature": self.signature,
        }


def alpha_of(compared: Iterable[ComparedScore]) -> float | None:
    """Return below which p-value differences are significant, None without tests."""
    return next((one.comparison.alpha for one in compared if one.comparison), None)


def marks_of_differences(
    compared: Sequence[ComparedScore], arrows: Collection[str]
) -> Iterator[str]:
    """Yield what the places and the looks of the marks of differences mean.

    `arrows` are those behind the names of scores.
    """
    alpha = alpha_of(compared)
    if alpha is None:
        return
    tested = sum(one.comparison is not None for one in compared)
    adjusted = " (Holm)" if tested > 1 else ""
    yield f"Filled marks have p{adjusted} below {alpha:g}, open ones do not."
    for arrow, side in ((UP, "right"), (DOWN, "left")):
        if arrow in arrows:
            yield f"{arrow}: {side} of 0 the first system is better."


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
        raise OptionError(f"no test is called {test!r}{hint_on(test, TESTS)}")
    return PairedTest(test, options.replicates, options.seed, options.level)


def with_adjusted(compared: Sequence[ComparedScore]) -> tuple[ComparedScore, ...]:
    """Return the scores with their p-values adjusted for their number, by Holm."""
    tested = [score.comparison for score in compared if score.comparison is not None]
    adjusted = iter(holm([comparison.p_value for comparison in tested]))
    return tuple(
        score if score.comparison is None else replace(score, adjusted_p=next(adjusted))
        for score in compared
    )


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
            return MetricAnswers(means(1), measure.best, keys, sums, measure.best)
        best = self.best or (measure.best if measure.is_mean else None)
        scores = known.scores if known else measure.scores
        remark = known.remark if known else None
        return MetricAnswers(scores, best, keys, sums, measure.widest, remark)


@dataclass(frozen=True, slots=True)
class PairFamily:
    """The pairs of systems that are compared, and how they are tested."""

    #: The places of the systems of each pair.
    pairs: Sequence[tuple[int, int]]
    #: The names of all systems.
    names: Sequence[str]
    matched: MatchedQuestions
    test: PairedTest

    def compared_scores(
        self,
        metric: ComparedMetric,
        known: KnownLabels | None,
        columns: Sequence[Sequence[QuestionSums]],
    ) -> Iterator[ComparedScore]:
        """Return the scores by a metric, of one pair after the other.

        `columns` has the sums of all systems by the metric, or by each of its scores of
        questions.
        """
        found: list[list[ComparedScore]] = [[] for _ in self.pairs]
        size = len(metric.names) // len(columns)
        for column, sums in enumerate(columns):
            answers = metric.answers(known, self.matched.keys, sums)
            names = metric.names[column * size : (column + 1) * size]
            compared = compare_pairs(answers, self.pairs, self.test)
            for mine, pair, comparisons in zip(
                found, self.pairs, compared, strict=True
            ):
                paired = answers.pair(*pair)
                unscored = paired.unscored()
                mine += [
                    ComparedScore(
                        *own,
                        (self.names[pair[0]], self.names[pair[1]]),
                        first,
                        second,
                        comparison,
                        metric.signature_of(*pair),
                        paired.questions,
                        unscored,
                        widest=answers.widest,
                        is_forced=metric.is_forced,
                    )
                    for own, first, second, comparison in zip(
                        names, *paired.values(), comparisons, strict=True
                    )
                ]
        return chain.from_iterable(found)

    def compared_pairs(
        self, numbers: Sequence[Sequence[int]]
    ) -> Iterator[ComparedPair]:
        """Yield each pair with how many questions both have, and only one of them.

        `numbers` has the questions of each system, by their numbers in the table.
        """
        places = np.asarray(self.matched.places)
        has = np.zeros((len(numbers), len(self.matched.keys)), dtype=bool)
        for mine, of_system in zip(has, numbers, strict=True):
            mine[places[np.asarray(of_system, dtype=np.int64)]] = True
        for one, other in self.pairs:
            yield ComparedPair(
                self.names[one],
                self.names[other],
                int((has[one] & has[other]).sum()),
                int((has[one] & ~has[other]).sum()),
                int((has[other] & ~has[one]).sum()),
            )
