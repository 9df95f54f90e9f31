"""The result of a comparison: pairs of systems, their differences, the best scores."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.evaluation.plots import Axis, Interval, axis_of, interval_table
from harpia_formats.evaluation.scoring.measures.metric_score import (
    DOWN,
    UP,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.results.scores import Scores, embedded
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    Comparison,
    questions_for,
)
from harpia_formats.model.describe import first_of, p_text, with_noun
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result
from harpia_formats.model.vendor_metrics import ScoreError

#: The contract of `ComparisonReport.to_dict`.
SCHEMA = "harpia-formats/score-comparison/1"
#: Columns of a table that are attributes of a comparison.
_OF_COMPARISON = (
    *("difference", "low", "high", "p_value", "test", "method", "detectable"),
    "remark",
)
#: What tables may call both systems of a pair.
_LETTERS = (("A", "B"), ("1", "2"), ("first", "second"))
#: Scores in a headline.
_LISTED = 6


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
        p = p_text(found.p_value, is_least=found.is_least)
        p = p.replace("\u2264", "<=")  # printable anywhere
        return (
            f"{name}: {found.difference:+.4f}, p {p} over {self.questions:,} questions"
        )

    def as_row(self) -> dict[str, Any]:
        """Return the comparison as a row of a table."""
        one = self.comparison
        cells = (
            *(self.metric, self.name, *self.systems, self.first, self.second),
            *(getattr(one, name, None) for name in _OF_COMPARISON),
            *(self.adjusted_p, self.questions, self.questions_needed),
            *(*self.unscored, self.signature),
        )
        row = dict(zip(self.columns, cells, strict=True))
        return row if one is not None else row | {"remark": self.reason}


def tests_of(compared: Iterable[ComparedScore]) -> list[tuple[str, Comparison]]:
    """Return each difference that was tested, with the name of its score."""
    return [(one.full_name, one.comparison) for one in compared if one.comparison]


def alpha_of(compared: Iterable[ComparedScore]) -> float | None:
    """Return below which p-value differences are significant, None without tests."""
    return next((test.alpha for _, test in tests_of(compared)), None)


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
    notes: tuple[str, ...] = ()
    #: The difference for which `questions_needed` of scores is, None if none is named.
    detect: float | None = None
    #: What the data set is called, "" if it is the only one.
    name: str = ""

    @property
    def is_of_two(self) -> bool:
        """Whether there is only one pair of systems."""
        return len(self.systems) <= 2  # noqa: PLR2004 - a pair is of two

    @property
    def has_other_intervals(self) -> bool:
        """Whether an interval is not that of the test, so that they may disagree."""
        every = tests_of(self.compared)
        return any(not one.test.startswith("bootstrap|") for _, one in every)

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

    def scores_of(self, system: str) -> Mapping[tuple[str, str], MetricScore]:
        """Return the scores of a system by metric and name, none if it has none."""
        own = (one.scores.scores for one in self.systems if one.name == system)
        return {(one.metric, one.name): one for one in chain.from_iterable(own)}

    def difference(
        self, system: str, baseline: str, key: tuple[str, str]
    ) -> ComparedScore | None:
        """Return how a system differs from another, the first minus the second."""
        for one in self.compared:
            if (one.metric, one.name) == key and set(one.systems) == {system, baseline}:
                return one if one.systems[0] == system else one.reversed()
        return None

    @property
    def family(self) -> str:
        """The pairs for whose number p-values are adjusted, in words."""
        return "all pairs" + (f" with {self.baseline}" if self.baseline else "")

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
        # With a baseline the first of a pair may be the second input.
        is_named = self.baseline is not None
        shown = self.compared[:_LISTED]
        parts = [one.headline(is_named=is_named) for one in shown] or ["no scores"]
        if len(self.compared) > _LISTED:
            parts.append(f"{len(self.compared) - _LISTED:,} more")
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
        scores = first_of(names, _LISTED) or "no scores"
        scores += f" of {len(self.systems):,} systems"
        tested = tests_of(self.compared)
        if not tested:
            return f"{scores}: no difference is tested"
        significant = sum(one.is_significant for one in self.compared)
        rest = len(self.compared) - len(tested)
        adjusted = " (Holm)" if len(tested) > 1 else ""
        return (
            f"{scores}: {significant:,} of {len(tested):,} differences have "
            f"p{adjusted} below {tested[0][1].alpha:g}"
            f"{f', {rest:,} are not tested' if rest else ''}"
        )

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of each pair."""
        return [score.as_row() for score in self.compared]

    def shown_charts(self) -> str:
        """Return charts of the differences, as HTML for a notebook."""
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
            "notes": list(self.notes),
            "inputs": [one.to_dict() for one in self.scores or self.reports],
        }

    @property
    def ok(self) -> bool:
        """Whether all inputs were read as asked for and each score was compared."""
        is_read = all(report.ok_without_invalid for report in self.reports)
        are_compared = [score.comparison is not None for score in self.compared]
        return is_read and bool(are_compared) and all(are_compared)

    def raise_for_errors(self) -> None:
        """Raise an error unless all inputs were read and each score was compared.

        It is `ValidationFailed` or `ScoreError`.
        """
        self.raise_for_scores()
        for score in self.compared:
            if score.comparison is None:
                raise ScoreError(f"{score.name} is not compared: {score.reason}")

    def raise_for_scores(self) -> None:
        """Raise an error unless all inputs were read and each has its scores.

        It is `ValidationFailed` or `ScoreError`.
        """
        for scores in self.scores:
            scores.raise_for_errors()
        for report in self.reports:
            if not (self.scores or report.ok_without_invalid):
                raise validation_failed(report)


def difference_of(score: ComparedScore, label: str = "") -> Interval:
    """Return the interval of a difference, hollow unless it is significant."""
    found = score.comparison
    if found is None:
        return Interval(None, remark=score.reason, label=label)
    ends = found.difference, found.low, found.high
    return Interval(*ends, found.remark, not score.is_significant, label)


def is_share(score: ComparedScore) -> bool:
    """Tell whether a score may be one from 0 to 1.

    On one axis with percentages such differences could not be distinguished.
    """
    return max(abs(score.first or 0), abs(score.second or 0)) <= 1


def difference_axes(compared: Iterable[ComparedScore]) -> dict[bool, Axis]:
    """Return the axis of the differences of shares, by True, and that of all others."""
    rows: dict[bool, list[Interval]] = {True: [], False: []}
    for one in compared:
        rows[is_share(one)].append(difference_of(one))
    return {kind: axis_of(of_kind, zero=True) for kind, of_kind in rows.items()}


def difference_charts(
    compared: Sequence[ComparedScore], arrows: dict[tuple[str, str], str]
) -> Iterator[str]:
    """Yield a table of the differences of shares, and one of all others.

    `arrows` has the better direction of each score, by its metric and name.
    """
    pairs = {score.systems for score in compared}
    names = f": {' - '.join(*pairs)}" if len(pairs) == 1 else ""
    for of_shares in (True, False):
        drawn = [one for one in compared if is_share(one) == of_shares]
        signs = [arrows.get((one.metric, one.name), "") for one in drawn]
        rows = []
        for one, sign in zip(drawn, signs, strict=True):
            label = f"{one.full_name} {sign}".rstrip()
            if not names:
                label += f" of {' - '.join(one.systems)}"
            rows.append(difference_of(one, label))
        if rows:
            yield interval_table(
                f"Differences with their intervals{names}",
                rows,
                zero=True,
                meaning=" ".join(marks_of_differences(compared, signs)),
            )


def marks_of_differences(
    compared: Iterable[ComparedScore], arrows: Collection[str]
) -> Iterator[str]:
    """Yield what the places and the looks of the marks of differences mean.

    `arrows` are those behind the names of scores.
    """
    tested = tests_of(compared)
    if not tested:
        return
    adjusted = " (Holm)" if len(tested) > 1 else ""
    alpha = tested[0][1].alpha
    yield f"Filled marks have p{adjusted} below {alpha:g}, open ones do not."
    for arrow, side in ((UP, "right"), (DOWN, "left")):
        if arrow in arrows:
            yield f"{arrow}: {side} of 0 the first system is better."


#: The least difference for which the number of questions is reported.
_LEAST_DIFFERENCE = 1e-9


def check_difference(difference: float | None) -> None:
    """Raise `OptionError` unless questions may be counted for a difference, or None."""
    if difference is not None and not _LEAST_DIFFERENCE <= difference < math.inf:
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
_EXPLAINED = 5
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
            if at in best or score is None or score.value is None:
                continue
            tests = [tested.get((column.key, names[one], names[at])) for one in best]
            is_tested = is_tested and None not in tests
            if False in tests:
                found[column.key].add(at)
    reasons = [_reason(report, *one) for one in lacking.items()]
    if len(reasons) > _EXPLAINED:
        more = len(reasons) - _EXPLAINED
        reasons[_EXPLAINED:] = [f"Systems for which this holds, too: {more:,} more."]
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
