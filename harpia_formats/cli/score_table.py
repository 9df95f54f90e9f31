"""Scores as a table."""

import io
from collections.abc import Iterator

from harpia_formats.cli.losses import width_of_terminal
from harpia_formats.scoring.scores import Group, MetricScore, Scores
from harpia_formats.text.sanitize import safe

#: Columns where nothing tells how wide the terminal is.
WIDE = 200


def score_lines(scores: Scores) -> Iterator[str]:
    """Yield the lines of a table of scores, and of what they are."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow, and for a table only
    from rich.console import Console  # noqa: PLC0415 - likewise
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    fields = list(scores.groups[0].key) if scores.groups else []
    for each in (*fields, "metric", "score", *_interval_head(scores), "answers"):
        is_number = each in {"score", "answers"}
        table.add_column(each, justify="right" if is_number else "left")
    if any(each.unscored for each in scores.total.scores):
        table.add_column("left out", justify="right")
    for group in (*scores.groups, scores.total):
        for score in group.scores:
            cells = _cells(fields, group, score, scores)
            table.add_row(*(Text(safe(each)) for each in cells))
    width = width_of_terminal() or WIDE
    console = Console(file=io.StringIO(), width=width, height=100, color_system=None)
    with console.capture() as captured:
        console.print(table)
    yield from (each.rstrip() for each in captured.get().rstrip("\n").split("\n"))
    yield ""
    signatures = dict.fromkeys(each.signature for each in scores.total.scores)
    yield from (f"signature: {each}" for each in signatures)
    if scores.resampling:
        yield f"intervals: {scores.resampling}"


def _interval_head(scores: Scores) -> tuple[str, ...]:
    return ("interval",) if scores.resampling else ()


def _cells(
    fields: list[str], group: Group, score: MetricScore, scores: Scores
) -> Iterator[str]:
    for each in fields:
        yield group.key.get(each, "(all)")
    called = score.name
    if score.metric != score.name:
        called = f"{score.metric}.{score.name}"
    yield called
    yield "none" if score.value is None else f"{score.value:.4f}"
    if scores.resampling:
        ends = score.interval
        yield "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
    yield f"{score.count:,}"
    if any(each.unscored for each in scores.total.scores):
        yield f"{score.unscored:,}"
