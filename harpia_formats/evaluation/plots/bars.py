"""Horizontal bars of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harpia_formats.evaluation.plots.drawing import figure, number, percent, said, shown

#: Pixels of a row: the line with its label, and all of it.
_TEXT, _ROW = 18, 36
_BAR = 10
#: The classes of bars that `STYLE` knows.
KINDS = ("mark", "error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Bar:
    """A count with its label; `kind` is its look, one of `KINDS`.

    An error is filled dark, a warning filled light, and a note has an outline only.
    """

    label: str
    value: int
    kind: str = "mark"


def bars(  # noqa: PLR0913 - all but the rows are about the look
    name: str,
    title: str,
    rows: Sequence[Bar],
    *,
    noun: str = "count",
    most: int = 20,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return bars as HTML, in the order that they are given, from 0.

    `name` is an id that is unique on the page. Bars behind the first `most` are in the
    table only, which the description says. No bar, or one, is said and not drawn.
    `kinds` says what a kind of bar stands for.
    """
    if not rows:
        return said(title, "nothing")
    if len(rows) == 1:
        return said(title, f"{rows[0].label}: {number(rows[0].value)}")
    drawn = rows[:most]
    longest = max(drawn, key=lambda row: row.value)
    rest = len(rows) - len(drawn)
    description = (
        f"{len(drawn):,} bars, the longest {longest.label} with "
        f"{number(longest.value)}."
    )
    if rest:
        title = f"{title} (first {most:,} of {len(rows):,})"
        description += f" {rest:,} more are in the table only."
    return figure(
        name,
        title,
        description,
        height=len(drawn) * _ROW,
        parts=[_drawn(row, at * _ROW, longest.value) for at, row in enumerate(drawn)],
        head=("", noun, *([""] * bool(kinds))),
        rows=[
            (row.label, number(row.value), *([kinds.get(row.kind, "")] * bool(kinds)))
            for row in rows
        ],
        legend=_legend(drawn, kinds),
    )


def _legend(drawn: Sequence[Bar], kinds: Mapping[str, str]) -> str:
    """Return what the kinds of bars that are drawn stand for."""
    found = {row.kind for row in drawn}
    entries = "".join(
        f'<span><svg aria-hidden="true" width="{_BAR}" height="{_BAR}">'
        f'<rect class="{kind}" width="{_BAR}" height="{_BAR}"/></svg> '
        f"{shown(meaning)}</span>"
        for kind, meaning in kinds.items()
        if kind in found
    )
    return f'<p class="plot-legend">{entries}</p>' if entries else ""


def _drawn(row: Bar, y: int, longest: int) -> str:
    """Return the label, the number and the bar of a row."""
    kind = row.kind if row.kind in KINDS else KINDS[0]
    width = max(row.value / max(longest, 1), 0.002 if row.value else 0)
    text_y = y + _TEXT - 5
    return (
        f'<svg x="0" width="80%" y="{y}" height="{_TEXT + 2}">'
        f'<text x="0" y="{_TEXT - 5}">{shown(row.label)}</text></svg>'
        f'<text x="100%" y="{text_y}" text-anchor="end">{number(row.value)}</text>'
        f'<rect class="{kind}" x="0" y="{y + _TEXT}" width="{percent(width)}" '
        f'height="{_BAR}"><title>{shown(row.label)}: {number(row.value)}</title></rect>'
    )
