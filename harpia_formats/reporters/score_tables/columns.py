"""The columns of a table of scores: the scores of one name in all rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from harpia_formats.evaluation.scoring.metric_score import (
    DOWN,
    UP,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.reporters.score_tables.table import Better

#: The metric and the name of a score.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one column, None in each row that has none."""

    key: Key
    scores: tuple[MetricScore | None, ...]

    @property
    def there(self) -> list[MetricScore]:
        """The scores that there are."""
        return [score for score in self.scores if score is not None]

    @property
    def name(self) -> str:
        """The name of the score."""
        return score_name(*self.key)

    @property
    def better(self) -> Better:
        """Which of its scores are better."""
        return better_of(self.there[0])


def better_of(score: MetricScore) -> Better:
    """Return which scores of a metric are better."""
    better = {UP: Better.HIGHER, DOWN: Better.LOWER}
    return better.get(arrow_of(score), Better.UNKNOWN)


def columns_of(groups: Sequence[Group]) -> list[Column]:
    """Return a column for each score that any of some groups has."""
    found = [{(one.metric, one.name): one for one in group.scores} for group in groups]
    keys = dict.fromkeys(chain.from_iterable(found))
    return [Column(key, tuple(scores.get(key) for scores in found)) for key in keys]
