"""Scores and comparisons of scores without the values of records."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harpia_formats.metrics import metric_names
from harpia_formats.redaction.reports import Redaction
from harpia_formats.scoring.compared import ComparedScore
from harpia_formats.scoring.groups import NONE
from harpia_formats.scoring.scores import Group, MetricScore, Scores

if TYPE_CHECKING:  # they import this module
    from harpia_formats.scoring.compare_runs import ComparisonReport
    from harpia_formats.scoring.compare_stored import StoredReport


@dataclass(frozen=True, slots=True)
class ScoreRedaction:
    """Takes the values of records out of scores: names of groups, models and metrics.

    Each is called by a number, in order of appearance: `model 1`, `category 2`.
    """

    redaction: Redaction
    #: Names that the user gave, such as those of metrics.
    given: frozenset[str]
    #: Whether the metrics are named by the options, and not by what is read.
    by_options: bool
    _numbers: dict[str, dict[str, str]] = field(default_factory=dict)

    def name(self, kind: str, value: str) -> str:
        """Return what a value of some kind is called."""
        numbers = self._numbers.setdefault(kind, {})
        return numbers.setdefault(value, f"{kind} {len(numbers) + 1}")

    def metric(self, name: str) -> str:
        """Return the name of a metric, if the program or the user named it."""
        if self.by_options or name in self.given or name in metric_names():
            return name
        return self.name("metric", name)

    def group(self, group: Group) -> Group:
        """Return the scores of a group."""
        key = {
            one: value if value == NONE else self.name(one, value)
            for one, value in group.key.items()
        }
        return replace(group, key=key, scores=tuple(map(self._score, group.scores)))

    def _score(self, score: MetricScore) -> MetricScore:
        metric, name = self.metric(score.metric), self.metric(score.name)
        if self.by_options:
            return replace(score, metric=metric, name=name)
        return replace(score, metric=metric, name=name, signature="", remark="")

    def compared(self, scores: Sequence[ComparedScore]) -> tuple[ComparedScore, ...]:
        """Return compared scores."""
        return tuple(
            replace(
                score,
                metric=self.metric(score.metric),
                name=self.metric(score.name),
                signature=score.signature if self.by_options else "",
            )
            for score in scores
        )

    def notes(self, notes: Sequence[str]) -> tuple[str, ...]:
        """Return in the place of notes how many there are."""
        if not notes:
            return ()
        number = "1 note is" if len(notes) == 1 else f"{len(notes):,} notes are"
        return (f"{number} not shown: they may hold values of records",)

    def scores(self, found: Scores) -> Scores:
        """Return the scores of a data set."""
        return replace(
            found,
            measured=found.measured if self.by_options else (),
            unknown=tuple(map(self.metric, found.unknown)),
            systems=tuple(map(self.group, found.systems)),
            groups=tuple(map(self.group, found.groups)),
            report=self.redaction.report(found.report),
            models=tuple(self.name("model", name) for name in found.models),
            problems=tuple(map(self.redaction.problem, found.problems)),
            stored_differences=(),
            said=self.notes(found.said),
        )

    def comparison(self, found: "ComparisonReport") -> "ComparisonReport":
        """Return the comparison of two systems."""
        return replace(
            found,
            compared=self.compared(found.compared),
            first=self.scores(found.first),
            second=self.scores(found.second),
            said=self.notes(found.said),
        )

    def stored(self, found: "StoredReport") -> "StoredReport":
        """Return the comparison of stored scores."""
        first, second = map(self.redaction.report, found.reports)
        return replace(
            found,
            compared=self.compared(found.compared),
            reports=(first, second),
            said=self.notes(found.said),
        )
