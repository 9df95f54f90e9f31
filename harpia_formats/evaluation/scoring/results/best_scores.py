"""The best scores among systems, and those that are not significantly worse."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from harpia_formats.evaluation.scoring.measures.metric_score import (
    DOWN,
    UP,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    alpha_of,
)


class Better(Enum):
    """Which scores of a column are better; none for one where neither is known."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    UNKNOWN = ""


#: The metric and the name of a score.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one column, None in each row that has none."""

    key: Key
    scores: tuple[MetricScore | None, ...]
    #: What the scores are of, such as a benchmark.
    group: str = ""

    @property
    def there(self) -> list[MetricScore]:
        """The scores that there are."""
        return [score for score in self.scores if score is not None]

    @property
    def name(self) -> str:
        """The name of the score."""
        return score_name(*self.key)

    @property
    def full_name(self) -> str:
        """The name of the score, behind that of its benchmark if there is one."""
        return f"{self.group} {self.name}" if self.group else self.name

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


_TESTED = (
    "Bold: the best, and all that are not significantly worse (p of a paired test by "
    "question, adjusted by Holm for all pairs and scores, at least {alpha:g})."
)
_IMPOSSIBLE = (
    "Nothing is bold: no two systems could be tested by all of their questions."
)
_NOT_ALL = (
    " A system that was not tested against the best by all questions of both is not "
    "bold."
)
_NO_TEST = " In a column without such a test nothing is bold."


@dataclass(frozen=True, slots=True)
class Best:
    """The rows of a table whose scores are bold, and what that means."""

    rows: Mapping[Key, Collection[int]]
    note: str

    def rows_of(self, key: Key) -> Collection[int]:
        """Return the rows whose score in a column is bold."""
        return self.rows.get(key, ())


def best_tested(
    columns: Iterable[Column], names: Sequence[str], compared: Iterable[ComparedScore]
) -> Best:
    """Return the best scores, and all that are not significantly worse.

    `names` are those of the systems of the rows, as in `compared`. A test counts only
    if it has all questions of both scores.
    """
    columns, compared = list(columns), list(compared)
    tested = dict(_tested(columns, names, compared))
    found: dict[Key, set[int]] = {}
    is_tested, untested = True, False
    for column in columns:
        best = _best_of(column)
        if not any(key == column.key for key, *_ in tested):
            untested = untested or bool(best)
            continue
        found[column.key] = set(best)
        for at, score in enumerate(column.scores):
            if not best or at in best or score is None or score.value is None:
                continue
            tests = [tested.get((column.key, names[one], names[at])) for one in best]
            is_tested = is_tested and None not in tests
            if False in tests:
                found[column.key].add(at)
    if not any(found.values()):
        return Best({}, _IMPOSSIBLE if untested else "")
    note = _TESTED.format(alpha=alpha_of(compared))
    note += "" if is_tested else _NOT_ALL
    return Best(found, note + (_NO_TEST if untested else ""))


def _tested(
    columns: Iterable[Column], names: Sequence[str], compared: Iterable[ComparedScore]
) -> Iterator[tuple[tuple[Key, str, str], bool]]:
    """Yield by the score and both systems whether they differ, in either order.

    A test by only some questions of a system says nothing about its score.
    """
    questions = {
        (column.key, name): score.questions
        for column in columns
        for name, score in zip(names, column.scores, strict=True)
        if score is not None
    }
    for score in compared:
        key, (one, other) = (score.metric, score.name), score.systems
        has_all = {questions.get((key, name)) for name in score.systems} == {
            score.questions
        }
        if score.adjusted_p is not None and has_all:
            yield (key, one, other), score.is_significant
            yield (key, other, one), score.is_significant


def _best_of(column: Column) -> list[int]:
    """Return the rows of the best score among several systems."""
    values = {
        at: score.value
        for at, score in enumerate(column.scores)
        if score is not None and score.value is not None
    }
    if len(values) <= 1 or column.better is Better.UNKNOWN:
        return []
    best = (min if column.better is Better.LOWER else max)(values.values())
    return [at for at, value in values.items() if value == best]
