"""What all charts are made of: escaped text, ticks, and the figure around a drawing."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from harpia_formats.model.text.sanitize import safe

#: Code points of a label.
_LABEL = 120
#: Rows of the table of numbers.
_ROWS = 100


def shown(text: str, limit: int = _LABEL) -> str:
    """Return text for an element or a quoted attribute, without unsafe characters."""
    return escape(safe(text, limit))


def number(value: float) -> str:
    """Return a number for people: integers with commas, others with 4 digits."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value)):
        return f"{int(value):,}"
    return f"{value:.4g}"


def with_noun(count: int, nouns: str) -> str:
    """Return a count with its noun, which is given in the plural."""
    return f"{count:,} {nouns.removesuffix('s') if count == 1 else nouns}"


def percent(share: float) -> str:
    """Return a share of the width as a length, such as `12.5%` for 0.125."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return about `wanted` round numbers from `low` to `high`, which are different."""
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


def said(title: str, sentence: str) -> str:
    """Return a sentence in the place of a chart that has too little to draw."""
    return f'<p class="plot-said">{shown(title)}: {shown(sentence)}</p>'


def anchored(share: float, y: float, text: str, kind: str = "soft") -> str:
    """Return a text whose start, middle or end is at a share of the width.

    Near the borders it is the start or the end, so that nothing stands outside.
    """
    anchor = "start" if share < 0.08 else "end" if share > 0.92 else "middle"  # noqa: PLR2004 - about half a label
    return (
        f'<text class="{kind}" x="{percent(share)}" y="{y:g}" '
        f'text-anchor="{anchor}">{shown(text)}</text>'
    )


def figure(  # noqa: PLR0913 - the parts of a chart
    name: str,
    title: str,
    description: str,
    *,
    height: float,
    parts: Iterable[str],
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    legend: str = "",
) -> str:
    """Return a drawing with its title, its description and its numbers as a table.

    `name` starts the ids of its elements; it is unique on the page and has letters,
    digits and hyphens only. `height` is in pixels, and the width is what there is. Of
    many rows the table has the first ones, and says how many there are. `legend` is
    markup above the drawing.
    """
    title_id, description_id = f"{name}-title", f"{name}-desc"
    header = "".join(f'<th scope="col">{shown(cell)}</th>' for cell in head)
    rows = list(rows)
    body = "".join(
        f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in row)}</tr>"
        for row in rows[:_ROWS]
    )
    rest = len(rows) - _ROWS
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    return (
        f'<figure class="plot" id="{name}"><figcaption>{shown(title)}</figcaption>'
        f'{legend}<svg role="img" aria-labelledby="{title_id} {description_id}" '
        f'width="100%" height="{height:g}">'
        f'<title id="{title_id}">{shown(title)}</title>'
        f'<desc id="{description_id}">{shown(description, 1000)}</desc>'
        f"{''.join(parts)}</svg>"
        '<details class="plot-numbers"><summary>Numbers</summary>'
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
        f"{more}</details></figure>"
    )
