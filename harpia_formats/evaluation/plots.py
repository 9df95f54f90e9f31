"""Bars and intervals in cells of HTML tables: pure functions from numbers to markup.

The numbers stand in the cells as text, so that what is drawn is for the eye only.
Widths are classes, since a strict page allows no style in an element. Bars and marks
differ by shape or lightness too, for prints in grey. A page has `STYLE` once.

>>> from harpia_formats.evaluation.plots import bar
>>> bar(0.25)
'<i class="plot"><i class="t2 u5 mark"></i></i>'
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from harpia_formats.model.safe_text import safe

#: The difference of two such numbers is finite.
_GREATEST = 1e300


def _width(percent: int) -> str:
    """Return the classes of a width."""
    return f"t{percent // 10} u{percent % 10}"


def bar(share: float, kind: str = "mark") -> str:
    """Return a bar over a share of its cell; any share above 0 can be seen.

    `kind` is its look: `mark`, `error` (dark), `warning` (light), `note` (an outline).
    """
    width = max(min(round(100 * share), 100), int(share > 0))
    return f'<i class="plot"><i class="{_width(width)} {kind}"></i></i>'


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its interval; None for what is unknown, which `remark` explains."""

    value: float | None
    low: float | None = None
    high: float | None = None
    remark: str = ""
    #: Whether its dot is hollow: a part of another row, or no sure difference.
    is_hollow: bool = False
    #: What has the number.
    label: str = ""

    @property
    def numbers(self) -> list[float]:
        """Its numbers that an axis can show."""
        found = (self.value, self.low, self.high)
        return [one for one in found if one is not None and abs(one) <= _GREATEST]


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis that the intervals of several cells share."""

    low: float
    high: float
    #: Whether there is a line at 0, which it then holds.
    has_zero: bool = False

    def place(self, value: float) -> int:
        """Return where a number is, in percent of the width."""
        return round(100 * (value - self.low) / (self.high - self.low))

    def drawn(self, row: Interval) -> str:
        """Return a dot at a number and a line over its interval, "" without one."""
        if row.value is None or row.value not in row.numbers:
            return ""
        value = self.place(row.value)
        ends = [self.place(one) for one in (row.low, row.high) if one in row.numbers]
        marks = {value: f'<i class="dot{" hollow" * row.is_hollow}"></i>'}
        if self.has_zero:
            zero = self.place(0.0)
            marks[zero] = '<i class="zero"></i>' + marks.get(zero, "")
        parts = [marks.get(0, "")]
        for start, end in pairwise(sorted({0, *ends, *marks})):
            is_within = len(ends) > 1 and ends[0] <= start and end <= ends[1]
            line = " reach" * is_within
            parts.append(
                f'<i class="{_width(end - start)}{line}"></i>{marks.get(end, "")}'
            )
        return f'<i class="plot axis">{"".join(parts)}</i>'


def axis_of(
    rows: Iterable[Interval],
    scale: tuple[float, float] | None = None,
    *,
    zero: bool = False,
) -> Axis:
    """Return the axis of some rows: that of their `scale`, or not much more than they.

    It holds 0 and marks it if `zero`: for differences.
    """
    numbers = [one for row in rows for one in row.numbers] + [0.0] * zero
    if scale is not None:
        numbers += scale
        return Axis(min(numbers), max(numbers))
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    room = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return Axis(low - room, high + room, zero)


def interval_text(row: Interval, sign: str = "") -> str:
    """Return a number with its interval as text; `sign` is "+" for differences."""
    if row.value is None:
        return "none"
    if row.low is None or row.high is None:
        return f"{row.value:{sign}.4f}"
    return f"{row.value:{sign}.4f} [{row.low:{sign}.4f}, {row.high:{sign}.4f}]"


#: Rows of a table, and code points of a label.
_ROWS, _LABEL = 40, 120


def interval_table(
    title: str,
    rows: Sequence[Interval],
    scale: tuple[float, float] | None = None,
    *,
    zero: bool = False,
    meaning: str = "",
) -> str:
    """Return rows as a table for a notebook, each with its number and its interval.

    `meaning` says below the title what hollow dots are.
    """
    axis = axis_of(rows, scale, zero=zero)
    body = "".join(
        f'<tr><th scope="row">{_shown(row.label)}</th>'
        f"<td>{_shown(interval_text(row, '+' * zero))} {_shown(row.remark)}</td>"
        f"<td>{axis.drawn(row)}</td></tr>"
        for row in rows[:_ROWS]
    )
    rest = f"<p>and {len(rows) - _ROWS:,} more</p>" if len(rows) > _ROWS else ""
    subtitle = f"<br><small>{escape(safe(meaning, 300))}</small>" if meaning else ""
    ends = f"{axis.low:.4g} to {axis.high:.4g}"
    head = f'<td></td><th scope="col">value</th><th scope="col">{ends}</th>'
    return (
        f'<table class="{EMBEDDED}"><caption>{_shown(title)}{subtitle}</caption><thead>'
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"
    )


def _shown(text: str) -> str:
    """Return a text for an element, without unsafe characters."""
    return escape(safe(text, _LABEL))


#: The digits of widths in percent.
_DIGITS = "".join(
    f".{name}{digit}{{--{name}:{digit}}}"
    for name in "tu"
    for digit in range(10 + (name == "t"))
)
#: CSS for a page with bars and intervals, which names the colours of its variables.
STYLE = (
    """
.plot {
  display: flex; height: .4rem; margin-top: .2rem; min-width: 6rem;
  background: var(--line);
}
.plot i { width: calc(var(--t) * 10% + var(--u) * 1%); print-color-adjust: exact; }
.plot .mark { background: var(--link); }
.plot .error { background: var(--error); }
.plot .warning { background: var(--warning); opacity: .5; }
.plot .note { box-sizing: border-box; border: 1px solid var(--soft); }
.plot.axis, .plot .reach { height: 10px; background: 0 50%/100% 2px no-repeat; }
.plot.axis { background-image: linear-gradient(var(--line), var(--line)); }
.plot .reach { background-image: linear-gradient(var(--link), var(--link)); }
.plot .dot, .plot .zero { width: 0; }
.plot .dot::before {
  content: ""; display: block; position: relative; width: 6px; height: 6px;
  margin-left: -5px; border: 2px solid var(--link); border-radius: 50%;
  background: var(--link);
}
.plot .hollow::before { background: var(--page); }
.plot .zero { border-left: 2px dotted var(--soft); margin: -3px -1px; }
"""
    + _DIGITS
)
#: The class of tables of intervals on a page of others, such as a notebook.
EMBEDDED = "harpia-formats-charts"
#: CSS for such tables, and for nothing else on the page: it has the text colour of the
#: page, and colours that can be seen on white and on black.
EMBEDDED_STYLE = f"""
.{EMBEDDED} {{
  --soft: #7d858f; --line: rgba(128, 128, 128, .25); --link: #3585cb;
  --page: var(--jp-layout-color0, var(--vscode-editor-background, Canvas));
  width: 100%; max-width: 46rem; color: inherit; background: none;
  border-collapse: collapse;
  caption {{ text-align: left; font-weight: bold; color: inherit; }}
  th, td {{ text-align: left; padding: .1rem .6rem .1rem 0; overflow-wrap: anywhere; }}
  .plot {{ min-width: 14rem; }}
{STYLE}}}
"""
