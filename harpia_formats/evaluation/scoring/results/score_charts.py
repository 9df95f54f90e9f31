"""Intervals of scores and of differences on common axes, for HTML and notebooks."""

from collections.abc import Iterable, Iterator, Sequence

from harpia_formats.evaluation.plots import (
    EMBEDDED_STYLE,
    Axis,
    Interval,
    axis_of,
    interval_table,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group, MetricScore
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    marks_of_differences,
)
from harpia_formats.model.vendor_metrics import LIMITS

#: Characters of the tables of one result on a page of others.
_ROOM = 40_000
#: Stands for a value that is the empty text.
_EMPTY = "(empty)"


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
        label = ", ".join(value or _EMPTY for value in group.key.values())
        for score in group.scores:
            is_part = id(group) not in whole
            row = interval_of(score, label or "all answers", is_part=is_part)
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


def difference_of(score: ComparedScore, label: str = "") -> Interval:
    """Return the interval of a difference, hollow unless it is significant."""
    found = score.comparison
    if found is None:
        return Interval(None, remark=score.reason, label=label)
    ends = found.difference, found.low, found.high
    return Interval(*ends, found.remark, not score.is_significant, label)


def is_share(score: ComparedScore) -> bool:
    """Tell whether a score may be one from 0 to 1.

    On one axis with percentages such differences could not be told apart.
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


def embedded(charts: Iterable[str]) -> str:
    """Return the first tables for which a page of others has room, "" if none."""
    text = ""
    for chart in charts:
        if len(text) + len(chart) > _ROOM:
            break
        text += chart
    return f"<div><style>{EMBEDDED_STYLE}</style>{text}</div>" if text else ""
