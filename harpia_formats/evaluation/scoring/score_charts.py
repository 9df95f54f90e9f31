"""Charts of scores as inline SVG, for HTML pages and for notebooks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from harpia_formats.evaluation.plots import (
    EMBEDDED,
    EMBEDDED_STYLE,
    Interval,
    intervals,
)
from harpia_formats.evaluation.scoring.compared_scores import (
    ComparedScore,
    marks_of_differences,
)
from harpia_formats.evaluation.scoring.metric_score import Group
from harpia_formats.model.vendor_metrics import LIMITS

#: Charts of one result, and their characters on a page of others.
_CHARTS, _ROOM = 24, 60_000
#: Stands for a value that is the empty text.
_EMPTY = "(empty)"


def score_charts(
    groups: Iterable[Group], systems: Iterable[Group], name: str
) -> Iterator[str]:
    """Yield a chart for each score, if there are intervals or several groups.

    `systems` are the groups that hold all answers of a system. `name` starts the ids of
    their elements; it is unique on the page.
    """
    named: dict[str, list[Interval]] = {}
    scales: dict[str, tuple[float, float] | None] = {}
    whole = {id(system) for system in systems}
    for group in groups:
        for score in group.scores:
            low, high = score.interval or (None, None)
            row = Interval(
                _label(group),
                score.value,
                low,
                high,
                score.remark,
                is_hollow=id(group) not in whole,
            )
            title = score.full_name
            named.setdefault(title, []).append(row)
            scales[title] = LIMITS.get(score.scale)
    for at, (title, rows) in enumerate(named.items()):
        has_line = any(row.low is not None for row in rows)
        if at < _CHARTS and (has_line or len(rows) > 1):
            has_groups = any(row.is_hollow for row in rows)
            meaning = "Hollow dots are groups of answers." if has_groups else ""
            yield intervals(
                f"plot-{name}-{at}", title, rows, scale=scales[title], meaning=meaning
            )


def difference_charts(
    compared: Sequence[ComparedScore],
    arrows: Mapping[tuple[str, str], str],
    name: str,
    label: Callable[[ComparedScore, str], str],
) -> Iterator[str]:
    """Yield a chart of the differences of shares, and one of all others.

    `arrows` has the better direction of each score, by its metric and name.
    `name` starts the ids of their elements, and `label` returns what a row is called,
    from a difference and the name of its score.
    """
    pairs = {score.systems for score in compared}
    names = f": {' - '.join(*pairs)}" if len(pairs) == 1 else ""
    scales: dict[bool, tuple[list[Interval], list[str]]] = {}
    for score in compared:
        found = score.comparison
        arrow = arrows.get((score.metric, score.name), "")
        row_label = label(score, f"{score.full_name} {arrow}".rstrip())
        if found is None:
            row = Interval(row_label, None, remark=score.reason)
            is_small = True
        else:
            row = Interval(
                row_label,
                found.difference,
                found.low,
                found.high,
                found.remark,
                is_hollow=not score.is_significant,
            )
            # On one axis with percentages, shares could not be told apart.
            is_small = max(abs(score.first or 0), abs(score.second or 0)) <= 1
        of_scale = scales.setdefault(is_small, ([], []))
        of_scale[0].append(row)
        of_scale[1].append(arrow)
    for at, (rows, directions) in enumerate(scales.values()):
        yield intervals(
            f"plot-{name}-{at}",
            f"Differences with their intervals{names}",
            rows,
            zero=True,
            meaning=" ".join(marks_of_differences(compared, directions)),
        )


def _label(group: Group) -> str:
    """Return the values that the answers of a group share."""
    values = (value or _EMPTY for value in group.key.values())
    return ", ".join(values) or "all answers"


def embedded(draw: Callable[[str], Iterable[str]]) -> str:
    """Return the first charts of a result for a page of others; "" if there is none.

    `draw` returns them for the name with which the ids of their elements start. It
    follows from what they show, so that different charts have different ids.
    """
    text = "".join(_kept(draw("")))
    if not text:
        return ""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
    text = "".join(_kept(draw(digest)))
    return f'<div class="{EMBEDDED}"><style>{EMBEDDED_STYLE}</style>{text}</div>'


def _kept(charts: Iterable[str]) -> Iterator[str]:
    """Yield the first charts, for which there is room."""
    size = 0
    for chart in charts:
        size += len(chart)
        if size > _ROOM:
            return
        yield chart
