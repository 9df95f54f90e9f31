"""The result of comparing systems."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from harpia_formats.evaluation.scoring.measures.metric_score import arrow_of
from harpia_formats.evaluation.scoring.results.compared_scores import (
    ComparedPair,
    ComparedScore,
    ComparedSystem,
    alpha_of,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    questions_for,
)
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result
from harpia_formats.model.vendor_metrics import ScoreError

#: The contract of `ComparisonReport.to_dict`.
SCHEMA = "harpia-formats/score-comparison/1"
#: What tables may call both systems of a pair.
_LETTERS = (("A", "B"), ("1", "2"), ("first", "second"))
#: Scores in a headline.
_LISTED = 6


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonReport(Result):
    """The result of comparing systems: each score of each pair."""

    columns: ClassVar = ComparedScore.columns

    #: Each score of each pair: one pair after the other by the first metric, and so on.
    compared: tuple[ComparedScore, ...]
    #: The systems, in the order of the inputs and of their first answers.
    systems: tuple[ComparedSystem, ...]
    #: The pairs of systems that are compared.
    pairs: tuple[ComparedPair, ...]
    #: The report of validation on each input.
    reports: tuple[Report, ...]
    #: The scores of each input, empty if stored scores are compared.
    scores: tuple[Scores, ...] = ()
    #: The name of the system to which all others are compared, None for all pairs.
    baseline: str | None = None
    #: Notes on the run, for people.
    said: tuple[str, ...] = ()
    #: The difference for which `questions_needed` of scores is, None if none is named.
    detect: float | None = None

    @property
    def is_of_two(self) -> bool:
        """Whether there is only one pair of systems."""
        return len(self.systems) <= 2  # noqa: PLR2004 - a pair is of two

    @property
    def has_other_intervals(self) -> bool:
        """Whether an interval is not that of the test, so that they may disagree."""
        tests = (one.comparison.test for one in self.compared if one.comparison)
        return any(not test.startswith("bootstrap|") for test in tests)

    @property
    def letters(self) -> tuple[str, str]:
        """What tables call both systems of a pair: A and B unless one has that name."""
        names = {system.name.strip().casefold() for system in self.systems}
        usual = [both for both in _LETTERS if names.isdisjoint(map(str.casefold, both))]
        return (usual or _LETTERS)[0]

    def pair(self, first: str, second: str) -> Sequence[ComparedScore]:
        """Return the scores of two systems by their names; raises `KeyError`."""
        found = [one for one in self.compared if one.systems == (first, second)]
        if not found:
            raise KeyError((first, second))
        return found

    @property
    def arrows(self) -> dict[tuple[str, str], str]:
        """Whether higher or lower is better, by the names of a metric and its score."""
        return {
            (one.metric, one.name): arrow_of(one)
            for system in self.systems
            for one in system.scores.scores
        }

    def headline(self) -> str:
        """Return the differences in one line, of several pairs how many there are."""
        if not self.is_of_two:
            return self._counts()
        shown = self.compared[:_LISTED]
        # With a baseline the first of a pair may be the second input.
        is_named = self.baseline is not None
        parts = [one.headline(is_named=is_named) for one in shown]
        parts = parts or ["no scores"]
        if len(self.compared) > len(shown):
            parts.append(f"{len(self.compared) - len(shown):,} more")
        parts += [
            f"{pair.only_first:,} questions only in the first, "
            f"{pair.only_second:,} only in the second"
            for pair in self.pairs
            if pair.only_first or pair.only_second
        ]
        return "; ".join(parts)

    def _counts(self) -> str:
        """Return which scores of how many systems differ, and how often."""
        names = list(dict.fromkeys(one.full_name for one in self.compared))
        more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
        scores = ", ".join(names[:_LISTED]) + more or "no scores"
        scores += f" of {len(self.systems):,} systems"
        alpha = alpha_of(self.compared)
        if alpha is None:
            return f"{scores}: no difference is tested"
        tested = sum(one.comparison is not None for one in self.compared)
        significant = sum(one.is_significant for one in self.compared)
        rest = len(self.compared) - tested
        adjusted = " (Holm)" if tested > 1 else ""
        return (
            f"{scores}: {significant:,} of {tested:,} differences have p{adjusted} "
            f"below {alpha:g}"
            f"{f', {rest:,} are not tested' if rest else ''}"
        )

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of each pair."""
        return [score.as_row() for score in self.compared]

    def shown_charts(self) -> str:
        """Return charts of the differences, as HTML for a notebook."""
        from harpia_formats.evaluation.scoring.results.score_charts import (  # noqa: PLC0415 - only notebooks show charts
            difference_charts,
            embedded,
        )

        return embedded(difference_charts(self.compared, self.arrows))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by its contract, as JSON has it."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "compared": self.table(),
            "systems": [system.to_dict() for system in self.systems],
            "pairs": [asdict(pair) for pair in self.pairs],
            "baseline": self.baseline,
            "detect": self.detect,
            "notes": list(self.said),
            "inputs": [one.to_dict() for one in self.scores or self.reports],
        }

    @property
    def ok(self) -> bool:
        """Whether all inputs were read as asked for and each score was compared."""
        is_read = all(report.ok_without_invalid for report in self.reports)
        return (
            is_read
            and bool(self.compared)
            and all(score.comparison for score in self.compared)
        )

    def raise_for_errors(self) -> None:
        """Raise an error unless all inputs were read and each score was compared.

        It is `ValidationFailed` or `ScoreError`.
        """
        for scores in self.scores:
            scores.raise_for_errors()
        for report in self.reports:
            if not (self.scores or report.ok_without_invalid):
                raise validation_failed(report)
        for score in self.compared:
            if score.comparison is None:
                raise ScoreError(f"{score.name} is not compared: {score.reason}")


#: The least difference of which the number of questions is told.
_LEAST_DIFFERENCE = 1e-9


def check_difference(difference: float | None) -> None:
    """Raise `OptionError` unless questions may be counted for a difference, or None."""
    if difference is None:
        return
    if isinstance(difference, bool) or not isinstance(difference, int | float):
        raise OptionError(f"detect must be a number or None, not {difference!r}")
    if not _LEAST_DIFFERENCE <= difference < math.inf:
        raise OptionError(
            f"a difference to detect is above 0, at least {_LEAST_DIFFERENCE:g}, and "
            f"not {difference:g}"
        )


def with_questions_needed(
    found: ComparisonReport, difference: float | None
) -> ComparisonReport:
    """Return a comparison with the number of questions that detect a difference.

    It is unchanged for None. Raises `ScoreError` if no scores of a metric can be so
    different.
    """
    if difference is None:
        return found
    for score in found.compared:
        if difference > score.widest:
            raise ScoreError(
                f"a difference of {difference:g} to detect is larger than the scale of "
                f"{score.full_name}, which is 0 to {score.widest:g}"
            )
    compared = tuple(
        replace(score, questions_needed=_questions_needed(score, difference))
        for score in found.compared
    )
    return replace(found, compared=compared, detect=difference)


def _questions_needed(score: ComparedScore, difference: float) -> int | None:
    """Return how many questions detect a difference, None if it is not known."""
    one = score.comparison
    if one is None or one.standard_error is None:
        return None
    return questions_for(
        difference, one.standard_error, score.questions, one.level, one.step
    )
