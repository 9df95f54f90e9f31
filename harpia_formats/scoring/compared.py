"""One score of two systems, and the settings of their comparison."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harpia_formats.model.errors import OptionError
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.scoring.draws import unavailable_reason
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.p_values import TESTS, PairedTest
from harpia_formats.scoring.paired import Comparison, holm
from harpia_formats.scoring.scores import Scores, score_name
from harpia_formats.text.spelling import nearest

#: Models that an error names.
_LISTED = 5


#: Columns of a table that are attributes of a comparison.
_OF_COMPARISON = tuple(
    "difference low high p_value test method detectable remark".split()
)


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of two systems over the questions that both have."""

    #: The columns of `as_row`.
    columns: ClassVar = (
        *("metric", "name", "first", "second"),
        *_OF_COMPARISON,
        *("adjusted_p", "questions", "unscored_first", "unscored_second", "signature"),
    )

    metric: str
    name: str
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
    #: The p-value adjusted for all scores that are compared together, by Holm.
    adjusted_p: float | None = None

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

    def headline(self) -> str:
        """Return the difference in one line."""
        name = score_name(self.metric, self.name)
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
            "first": self.first,
            "second": self.second,
            **{name: getattr(self.comparison, name, None) for name in _OF_COMPARISON},
            **({"remark": self.reason} if self.comparison is None else {}),
            "adjusted_p": self.adjusted_p,
            "questions": self.questions,
            "unscored_first": self.unscored[0],
            "unscored_second": self.unscored[1],
            "signature": self.signature,
        }


def compared_headline(
    compared: Iterable[ComparedScore], only_first: int, only_second: int
) -> str:
    """Return the differences in one line, and how many questions one system has."""
    parts = [score.headline() for score in compared] or ["no scores"]
    if only_first or only_second:
        parts.append(
            f"{only_first:,} questions only in the first, {only_second:,} only in the "
            "second"
        )
    return "; ".join(parts)


def paired_test(options: ScoreOptions, test: str | None) -> PairedTest:
    """Return the test that options describe; raises `ScoreError`."""
    if unavailable_reason():
        raise ScoreError(f"scores cannot be compared: {unavailable_reason()}")
    if not options.replicates:
        raise ScoreError("a comparison needs replicates: set at least one")
    if test is not None and test not in TESTS:
        near = nearest(test, TESTS)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(TESTS)}"
        raise OptionError(f"no test is called {test!r}; {hint}")
    return PairedTest(test, options.replicates, options.seed, options.level)


def with_adjusted(compared: Sequence[ComparedScore]) -> tuple[ComparedScore, ...]:
    """Return the scores with their p-values adjusted for their number."""
    tested = [score.comparison for score in compared if score.comparison is not None]
    adjusted = iter(holm([comparison.p_value for comparison in tested]))
    return tuple(
        score if score.comparison is None else replace(score, adjusted_p=next(adjusted))
        for score in compared
    )


def with_references(
    compared: Iterable[ComparedScore], first: Scores, second: Scores
) -> list[ComparedScore]:
    """Return the scores with the number of references in their signatures.

    It is left out where the inputs have different numbers.
    """
    signatures: dict[tuple[str, str], set[str]] = {}
    for system in (*first.systems, *second.systems):
        for one in system.scores:
            signatures.setdefault((one.metric, one.name), set()).add(one.signature)
    found = []
    for score in compared:
        both = signatures[score.metric, score.name]
        signature = next(iter(both)) if len(both) == 1 else score.signature
        found.append(replace(score, signature=signature))
    return found


def check_one_model(first: Iterable[str], second: Iterable[str]) -> None:
    """Raise `ScoreError` if an input has answers of several models.

    `first` and `second` are the names of the models of both inputs.
    """
    for which, names in (("first", sorted(first)), ("second", sorted(second))):
        if len(names) > 1:
            rest = len(names) - _LISTED
            more = f" and {rest:,} more" if rest > 0 else ""
            raise ScoreError(
                f"the answers of the {which} input are of several models "
                f"({', '.join(names[:_LISTED])}{more}), which are several systems: "
                "choose one model of each input with --model-a and --model-b, in "
                "Python with models="
            )
