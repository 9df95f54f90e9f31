"""The best scores among systems, and those that are not significantly worse."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from harpia_formats.evaluation.scoring.measures.metric_score import (
    DOWN,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparisonReport,
    alpha_of,
)
from harpia_formats.model.describe import with_noun

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
    def arrow(self) -> str:
        """Whether higher or lower scores are better, "" if that is not known."""
        return arrow_of(self.there[0])


def columns_of(groups: Sequence[Group]) -> list[Column]:
    """Return a column for each score that any of some groups has."""
    found = [{(one.metric, one.name): one for one in group.scores} for group in groups]
    keys = dict.fromkeys(chain.from_iterable(found))
    return [Column(key, tuple(scores.get(key) for scores in found)) for key in keys]


_TESTED = (
    "Bold: the best, and all that are not significantly worse (p of a paired test by "
    "question, adjusted by Holm for {family} and scores, at least {alpha:g})."
)
_IMPOSSIBLE = (
    "Nothing is bold: no two systems could be tested by all of their questions."
)
_NOT_ALL = (
    " A system that was not tested against the best by all questions of both is not "
    "bold."
)
#: Systems for which a note explains why they are not tested.
_LISTED = 5
_NO_TEST = " In a column without such a test nothing is bold."


@dataclass(frozen=True, slots=True)
class Best:
    """The rows of a table whose scores are bold, and what that means."""

    rows: Mapping[Key, Collection[int]]
    note: str
    #: Why systems are not tested by all questions, where that takes away marks.
    reasons: Sequence[str] = ()

    def rows_of(self, key: Key) -> Collection[int]:
        """Return the rows whose score in a column is bold."""
        return self.rows.get(key, ())


def best_tested(report: ComparisonReport) -> Best:
    """Return the best scores, and all that are not significantly worse.

    A test counts only if it has all questions of both scores.
    """
    names = [system.name for system in report.systems]
    tested, lacking = _tested(report)
    found: dict[Key, set[int]] = {}
    is_tested, untested = True, False
    for column in columns_of([system.scores for system in report.systems]):
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
    reasons = [_reason(report, *one) for one in lacking.items()]
    if len(reasons) > _LISTED:
        more = len(reasons) - _LISTED
        reasons[_LISTED:] = [f"Systems for which this holds, too: {more:,} more."]
    if not any(found.values()):
        note = _IMPOSSIBLE if untested else ""
        return Best({}, note, reasons if untested else ())
    note = _TESTED.format(family=report.family, alpha=alpha_of(report.compared))
    note += "" if is_tested else _NOT_ALL
    note += _NO_TEST if untested else ""
    return Best(found, note, () if is_tested and not untested else reasons)


def _tested(
    report: ComparisonReport,
) -> tuple[dict[tuple[Key, str, str], bool], dict[str, int]]:
    """Return whether systems differ, and what systems lack.

    The first is by the score and both systems, in either order; a test by only some
    questions of a system says nothing about its score. The second is the number of
    questions of another one for which a system has no score.
    """
    tested: dict[tuple[Key, str, str], bool] = {}
    lacking: dict[str, int] = {}
    own = {system.name: report.scores_of(system.name) for system in report.systems}
    for score in report.compared:
        key = score.metric, score.name
        has_all = score.adjusted_p is not None
        for name, other in (score.systems, score.systems[::-1]):
            there = own.get(other, {}).get(key)
            lacks = there.questions - score.questions if there else 0
            has_all = has_all and there is not None and not lacks
            if lacks:
                lacking[name] = max(lacking.get(name, 0), lacks)
        if has_all:
            for one, other in (score.systems, score.systems[::-1]):
                tested[key, one, other] = score.is_significant
    return tested, lacking


def _reason(report: ComparisonReport, name: str, lacks: int) -> str:
    """Return that a system has no score for so many questions, and why."""
    source = next(one.source for one in report.systems if one.name == name)
    invalid = sum(
        file.invalid + file.undetermined
        for one in report.reports
        if any(file.path == source for file in one.files)
        for file in one.files
    )
    unscored = max(
        score.unscored[score.systems.index(name)]
        for score in report.compared
        if name in score.systems
    )
    reasons = []
    if unscored:
        reasons.append(f"{unscored:,} of its answers could not be scored")
    if invalid:
        were = "was" if invalid == 1 else "were"
        rows = with_noun(invalid, "invalid row")
        reasons.append(f"{rows} of its files {were} left out")
    # What an invalid row asks is not known, so that more of them may not be there.
    if (absent := lacks - unscored - invalid) > 0:
        some = f"at least {absent:,} of them" if reasons else "them"
        reasons.append(f"its files do not have {some}")
    questions = with_noun(lacks, "question")
    found = "; ".join(reasons)
    return f"{name} has no score for {questions} of other systems: {found}."


def _best_of(column: Column) -> list[int]:
    """Return the rows of the best score among several systems."""
    values = {
        at: score.value
        for at, score in enumerate(column.scores)
        if score is not None and score.value is not None
    }
    if len(values) <= 1 or not column.arrow:
        return []
    best = (min if column.arrow == DOWN else max)(values.values())
    return [at for at, value in values.items() if value == best]
