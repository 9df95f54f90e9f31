"""The scores of a data set."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.evaluation.plots import (
    EMBEDDED_STYLE,
    Axis,
    Interval,
    axis_of,
    interval_table,
)
from harpia_formats.evaluation.scoring.measures.metric_score import (
    COLUMNS,
    EMPTY,
    SIDES,
    Confusion,
    Group,
    MetricScore,
    no_such_score,
    score_name,
    score_row,
)
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import safe
from harpia_formats.model.vendor_metrics import LIMITS, ScoreError

#: The contract of `Scores.to_dict`.
SCHEMA = "harpia-formats/scores/1"
#: Stands for all values of a field.
ALL = "(all)"


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Result):
    """The scores of a data set, with the report on the input."""

    columns: ClassVar = COLUMNS

    profile: str
    #: The answers of each model, which are several systems if there are several.
    systems: tuple[Group, ...]
    #: The report of validation on the input.
    report: Report
    #: Whether reading stopped before the end of the input.
    is_broken: bool
    #: The metrics that were computed, in the requested order.
    measured: tuple[ComputedMetric, ...] = ()
    #: Names of requested metrics that cannot be computed.
    unknown: tuple[str, ...] = ()
    #: The groups of the answers of each model, in the order of their first one.
    groups: tuple[Group, ...] = ()
    #: Seconds that each metric took over all answers.
    seconds: tuple[float, ...] = ()
    #: The models of the answers, in the order of their first one.
    models: tuple[str, ...] = ()
    #: The first problems of each kind.
    problems: tuple[Problem, ...] = ()
    #: The names of the files that were written.
    outputs: tuple[str, ...] = ()
    #: Where computed scores differ from those that tools stored, as plain data.
    stored_differences: tuple[dict[str, Any], ...] = ()
    #: The names of the systems of answers without a model, by their files; None for
    #: one that has no name.
    files: Mapping[str, str | None] = field(default_factory=dict)
    #: Notes on the run, for people.
    notes: tuple[str, ...] = field(default=())
    #: Labels of metrics that the profile defines otherwise than the default does, and
    #: that nobody asked to be defined so.
    redefined: frozenset[str] = frozenset()

    @property
    def total(self) -> Group:
        """All answers, if they are of one model; raises `ScoreError` for several."""
        if len(self.systems) > 1:
            models = ", ".join(system.key["model"] for system in self.systems)
            raise ScoreError(
                f"the answers are of several models ({models}), which have no common "
                "score: `systems` has the scores of each, and `model` chooses one"
            )
        return self.systems[0] if self.systems else Group({}, 0, 0, ())

    def __getitem__(self, name: str) -> MetricScore:
        """Return the score over all answers with this name.

        The name is that of the score, or `METRIC.SCORE`. Raises `KeyError`, and
        `ScoreError` if it is one of the answers of several models.
        """
        if name not in self:
            raise no_such_score(name, self)
        return self.total[name]

    def __iter__(self) -> Iterator[MetricScore]:
        """Yield the scores over all answers, of one model after the other."""
        return chain.from_iterable(system.scores for system in self.systems)

    def __contains__(self, name: object) -> bool:
        """Tell whether a score over all answers has this name, or is this one."""
        return any(name in system for system in self.systems)

    def __len__(self) -> int:
        """Return the number of scores over all answers."""
        return sum(len(system.scores) for system in self.systems)

    def headline(self) -> str:
        """Return the scores over all answers in one line.

        Those of several models are in the tables only: here are their names.
        """
        if len(self.systems) > 1:
            names = dict.fromkeys(score.full_name for score in self)
            models = f"{len(self.systems):,} models"
            return f"{', '.join(names)} of {models} over {self._counts()}"
        values = [
            f"{score.full_name} "
            f"{'none' if score.value is None else f'{score.value:.4f}'}"
            for score in self
        ]
        return f"{', '.join(values)} over {self._counts()}"

    def _counts(self) -> str:
        """Return how many answers are scored, and how many there are if not all are."""
        answers = sum(system.answers for system in self.systems)
        counts = [{score.count for score in system.scores} for system in self.systems]
        least, most = (sum(map(end, filter(None, counts))) for end in (min, max))
        if least == most == answers:
            return f"{answers:,} answers"
        scored = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        return f"{scored} of {answers:,} answers"

    def groups_by_system(self) -> Iterator[Group]:
        """Yield the groups of each system, and then the system."""
        for system in self.systems:
            for group in self.groups:
                if system.key.items() <= group.key.items():
                    yield group
            yield system

    def as_over_answers(self) -> "Scores":
        """Return the scores by which each answer counts once, as vendors do."""
        systems = tuple(one.as_over_answers() for one in self.systems)
        groups = tuple(one.as_over_answers() for one in self.groups)
        return replace(self, systems=systems, groups=groups)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of all answers and of each group."""
        return self._rows(())

    def shown_tables(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the table with words for all answers and for values without text."""
        return [("", self._rows(self.groups[0].key if self.groups else ()))]

    def _rows(self, worded: Iterable[str]) -> list[dict[str, Any]]:
        """Return a row for each score, with words for the values of some fields."""
        return [
            {
                **group.key,
                **{name: group.key.get(name, ALL) or EMPTY for name in worded},
                **score_row(score),
            }
            for group in (*self.systems, *self.groups)
            for score in group.scores
        ]

    def shown_charts(self) -> str:
        """Return charts of the scores with their intervals, as HTML for a notebook."""
        return embedded(score_charts(self.groups_by_system(), self.systems))

    def to_dict(self) -> dict[str, Any]:
        """Return the scores by their contract, as JSON has them."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "profile": self.profile,
            "systems": [system.to_dict() for system in self.systems],
            "groups": [group.to_dict() for group in self.groups],
            "unknown": list(self.unknown),
            "models": list(self.models),
            "skipped": self.skipped,
            "outputs": list(self.outputs),
            "stored_differences": list(self.stored_differences),
            "notes": list(self.notes),
            "report": self.report.to_dict(),
        }

    @property
    def is_whole(self) -> bool:
        """Whether the whole input was read, so that the scores cover all answers."""
        return bool(self.systems) and not self.is_broken

    @property
    def skipped(self) -> int:
        """The invalid records that were left out, as the options ask."""
        return sum(file.invalid + file.undetermined for file in self.report.files)

    def raise_for_errors(self) -> None:
        """Raise an error unless there is a score of the whole input by each metric.

        It is `ValidationFailed` if the input was not read to its end, and `ScoreError`
        if no answer could be scored by a metric.
        """
        if not self.is_whole:
            raise validation_failed(self.report)
        for score in self:
            if score.value is not None:
                continue
            if score.left_out.questions:
                raise ScoreError(score.left_out.note(score.full_name, 0))
            reason = score.remark
            if score.confusion is None:
                reason = f"none of {score.unscored:,} answers could be scored"
            raise ScoreError(f"{score.metric}.{score.name} has no score: {reason}")

    @property
    def ok(self) -> bool:
        """Whether the input was read as asked for and each metric has a score.

        Invalid records that were left out as the options ask are no failure.
        """
        is_read = self.is_whole and self.report.ok_without_invalid
        return is_read and all(score.value is not None for score in self)


#: Characters of the tables of one result on a page of others.
_ROOM = 40_000


def interval_of(
    score: MetricScore, label: str = "", *, is_part: bool = False
) -> Interval:
    """Return the interval of a score, of a group that is a part of a system or not."""
    low, high = score.interval or (None, None)
    return Interval(score.value, low, high, score.remark, is_part, label)


#: Intervals of one score, and the ends of its scale.
_Rows = tuple[list[Interval], tuple[float, float] | None]


def rows_by_score(
    groups: Iterable[Group], systems: Iterable[Group] = ()
) -> dict[str, _Rows]:
    """Return the intervals of each score that has one, or that several groups have.

    Those of groups that are no system, which has all of its answers, are hollow.
    """
    found: dict[str, _Rows] = {}
    whole = {id(system) for system in systems}
    for group in groups:
        for score in group.scores:
            is_part = id(group) not in whole
            row = interval_of(score, group.label or "all answers", is_part=is_part)
            empty: _Rows = ([], LIMITS.get(score.scale))
            found.setdefault(score.full_name, empty)[0].append(row)
    return {
        name: (rows, scale)
        for name, (rows, scale) in found.items()
        if len(rows) > 1 or rows[0].low is not None
    }


def axes_of(groups: Iterable[Group]) -> dict[str, Axis]:
    """Return the axes of scores, by their names."""
    return {name: axis_of(*found) for name, found in rows_by_score(groups).items()}


def score_charts(groups: Iterable[Group], systems: Iterable[Group]) -> Iterator[str]:
    """Yield a table for each score, if there are intervals or several groups.

    `systems` are the groups that hold all answers of a system.
    """
    for title, (rows, scale) in rows_by_score(groups, systems).items():
        has_groups = any(row.is_hollow for row in rows)
        meaning = "Hollow dots are groups of answers." if has_groups else ""
        yield interval_table(title, rows, scale, meaning=meaning)


def embedded(charts: Iterable[str]) -> str:
    """Return the first tables for which a page of others has room, "" if none."""
    text = ""
    for chart in charts:
        if len(text) + len(chart) > _ROOM:
            break
        text += chart
    return f"<div><style>{EMBEDDED_STYLE}</style>{text}</div>" if text else ""


#: Code points of a label.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """A confusion matrix with what it is of."""

    title: str
    confusion: Confusion

    @property
    def columns(self) -> list[str]:
        """The names of the columns: references, each label of answers, and the sum."""
        return [
            _shown(self.confusion.sides[0]),
            *map(_shown, self.confusion.labels),
            ALL,
        ]

    @property
    def axes(self) -> str:
        """What rows and columns are, for people."""
        if self.confusion.sides == SIDES:
            return "columns are labels of answers"
        first, second = map(_shown, self.confusion.sides)
        return f"rows are labels of {first}, columns are labels of {second}"

    @property
    def rows(self) -> Iterator[list[str]]:
        """Yield a row for each label that references have."""
        labels = map(_shown, self.confusion.labels)
        for label, counts in zip(labels, self.confusion.counts, strict=True):
            if any(counts):
                yield [label, *(f"{count:,}" for count in (*counts, sum(counts)))]


def confusion_tables(scores: Scores) -> Iterator[ConfusionTable]:
    """Yield the confusion matrices of each model, each once with all of its metrics."""
    for system in scores.systems:
        names: dict[Confusion, list[str]] = {}
        for score in system.scores:
            if score.confusion is not None:
                name = score_name(score.metric, score.name)
                names.setdefault(score.confusion, []).append(name)
        model = system.label
        for confusion, metrics in names.items():
            title = f"answers by label, of {', '.join(metrics)}"
            yield ConfusionTable(f"{title}: {model}" if model else title, confusion)


def _shown(label: str) -> str:
    """Return a label as a cell shows it."""
    return safe(label, _SHOWN) or EMPTY
