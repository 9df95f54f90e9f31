"""Systems that are compared, one score of two of them, and the settings of tests."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harpia_formats.evaluation.scoring.bootstrap import unavailable_reason
from harpia_formats.evaluation.scoring.match_questions import MatchedQuestions
from harpia_formats.evaluation.scoring.metric_score import DOWN, UP, Group, score_name
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.p_values import TESTS, PairedTest
from harpia_formats.evaluation.scoring.paired_answers import (
    MetricAnswers,
)
from harpia_formats.evaluation.scoring.paired_differences import (
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
        p_value = self.comparison.p_value
        if self.adjusted_p is not None:
            p_value = self.adjusted_p
        return p_value < self.comparison.alpha

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


def with_references(
    compared: Iterable[ComparedScore], systems: Iterable[ComparedSystem]
) -> list[ComparedScore]:
    """Return the scores with the number of references in their signatures.

    It is left out where the systems of a pair have different numbers.
    """
    signatures = {
        (system.name, one.metric, one.name): one.signature
        for system in systems
        for one in system.scores.scores
    }
    found = []
    for score in compared:
        both = {
            signatures.get((system, score.metric, score.name), score.signature)
            for system in score.systems
        }
        signature = next(iter(both)) if len(both) == 1 else score.signature
        found.append(replace(score, signature=signature))
    return found


@dataclass(frozen=True, slots=True)
class PairFamily:
    """The pairs of systems that are compared, and how they are tested."""

    #: The places of the systems of each pair.
    pairs: Sequence[tuple[int, int]]
    #: The names of all systems.
    names: Sequence[str]
    matched: MatchedQuestions
    test: PairedTest

    def compared_scores(self, answers: MetricAnswers) -> list[list[ComparedScore]]:
        """Return the scores by a metric for each pair, without the names of scores."""
        found = []
        compared = compare_pairs(answers, self.pairs, self.test)
        for (one, other), comparisons in zip(self.pairs, compared, strict=True):
            paired = answers.pair(one, other)
            unscored = paired.unscored()
            found.append(
                [
                    ComparedScore(
                        "",
                        "",
                        (self.names[one], self.names[other]),
                        first,
                        second,
                        comparison,
                        "",
                        paired.questions,
                        unscored,
                        widest=answers.widest,
                    )
                    for first, second, comparison in zip(
                        *paired.values(), comparisons, strict=True
                    )
                ]
            )
        return found

    def compared_pairs(
        self, numbers: Sequence[Sequence[int]]
    ) -> Iterator[ComparedPair]:
        """Yield each pair with how many questions both have, and only one of them.

        `numbers` has the questions of each system, by their numbers in the table.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

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
