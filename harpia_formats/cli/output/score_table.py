"""Scores, and comparisons of scores, as tables."""

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from harpia_formats.cli.output.terminal import rendered, stderr_width
from harpia_formats.scoring.compare_runs import ComparedScore
from harpia_formats.scoring.scores import Group, MetricScore, Scores
from harpia_formats.text.sanitize import safe

if TYPE_CHECKING:  # rich is slow to import
    from rich.table import Table

#: Columns of a table that is not for a terminal: no cell is cut.
WIDE = 200
#: The columns of scores that are aligned on the right.
_NUMBERS = frozenset({"score", "answers", "left out"})
#: The columns of a comparison behind the name of the metric.
_COMPARED = ("A", "B", "A - B", "interval", "p", "pairs")


def score_lines(scores: Scores) -> Iterator[str]:
    """Yield the table of scores, and below it their signatures."""
    fields = list(scores.groups[0].key) if scores.groups else []
    is_left_out = any(score.unscored for score in scores.total.scores)
    names = [*fields, "metric", "score"]
    names += ["interval"] if scores.resampling else []
    names += ["answers", *(["left out"] if is_left_out else [])]
    table = _table(names, _NUMBERS)
    for group in (*scores.groups, scores.total):
        for score in group.scores:
            _add_row(table, _score_cells(fields, group, score, scores))
    yield from _lines(table)
    yield ""
    yield from _signature_lines(score.signature for score in scores.total.scores)
    if scores.resampling:
        yield f"intervals: {scores.resampling}"


def _score_cells(
    fields: list[str], group: Group, score: MetricScore, scores: Scores
) -> Iterator[str]:
    """Yield the cells of one score of one group."""
    for field in fields:
        yield group.key.get(field, "(all)")
    yield _full_name(score.metric, score.name)
    yield _number(score.value)
    if scores.resampling:
        ends = score.interval
        yield "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
    yield f"{score.count:,}"
    if any(other.unscored for other in scores.total.scores):
        yield f"{score.unscored:,}"


def comparison_lines(compared: Iterable[ComparedScore]) -> Iterator[str]:
    """Yield the table of scores of two systems, and below it their signatures."""
    compared = tuple(compared)
    table = _table(["metric", *_COMPARED], _COMPARED)
    for score in compared:
        found = score.comparison
        cells = [_full_name(score.metric, score.name)]
        cells += [_number(score.first), _number(score.second)]
        if found is None:
            cells += ["", "", ""]
        else:
            cells.append(f"{found.difference:+.4f}")
            cells.append(f"{found.low:+.4f} to {found.high:+.4f}")
            cells.append(f"{found.p_value:.4f}")
        _add_row(table, [*cells, f"{score.pairs:,}"])
    yield from _lines(table)
    yield ""
    yield from _signature_lines(score.signature for score in compared)


def _table(names: Iterable[str], right: Container[str]) -> "Table":
    """Return an empty table with the columns `names`, some of them right-aligned."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - rich is slow, `--help` needs no table
    from rich.table import Table  # noqa: PLC0415 - rich is slow, `--help` needs no table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def _add_row(table: "Table", cells: Iterable[str]) -> None:
    """Add cells to `table` as text that rich does not search for markup."""
    from rich.text import Text  # noqa: PLC0415 - rich is slow, `--help` needs no table

    table.add_row(*(Text(safe(cell)) for cell in cells))


def _lines(table: "Table") -> list[str]:
    """Return the lines of `table`, fitted to the terminal if there is one."""
    return rendered(table, stderr_width() or WIDE, color=False)


def _full_name(metric: str, name: str) -> str:
    """Return the name of a score, with that of its metric if it has several."""
    return name if metric == name else f"{metric}.{name}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Yield a line for each different signature that is not empty."""
    yield from (f"signature: {text}" for text in dict.fromkeys(signatures) if text)
