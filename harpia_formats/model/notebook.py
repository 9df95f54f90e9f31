"""Results as HTML for notebooks: readable on light and dark pages, and bounded.

There is nothing in it but tables, and charts of some results, with inherited colours:
no script, nothing that is loaded, and no identifiers that different results on one page
would share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

#: Rows of a table that are shown, and characters of a cell.
SHOWN, CELL = 20, 300
#: Numbers below are written with all of their digits that count.
_SMALL = 0.001
#: Grey lines stand out on white and on black.
_LINE = "1px solid rgba(128,128,128,.4)"
_TABLE = "border-collapse:collapse;color:inherit;background:none;margin:.4em 0"
_CELL = (
    f"border-bottom:{_LINE};padding:.15em .6em;text-align:{{}};vertical-align:top;"
    "white-space:{};overflow-wrap:break-word;max-width:40em;color:inherit;"
    "background:none"
)
#: How numbers and texts are aligned, and whether their lines are broken.
_NUMBER, _TEXT = ("right", "nowrap"), ("left", "pre-wrap")
_TITLE = "caption-side:top;text-align:left;font-weight:bold;color:inherit"
#: Columns of tables for programs that say nothing at a glance.
_TECHNICAL = {
    *("signature", "method", "test", "standard_error", "record_id"),
    *("lower_is_better", "questions_left_out"),
}

Row = Mapping[str, Any]
#: A caption, which may be empty, and rows.
Table = tuple[str, Sequence[Row]]


def result_html(headline: str, tables: Iterable[Table], *, ok: bool) -> str:
    """Return a result as HTML: its headline and the first rows of its tables."""
    sign, word = ("\u2713", "ok") if ok else ("\u2717", "not ok")
    rest = _text(headline.removeprefix(f"{word}, "))
    parts = [f"<p><strong>{sign} {word}</strong> {rest}</p>"]
    parts += [html_table(rows, caption) for caption, rows in tables]
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def html_table(rows: Iterable[Row], caption: str = "") -> str:
    """Return the first rows as an HTML table, with a line on how many there are."""
    rows = list(rows)
    if not rows:
        return ""
    names, shown = displayed(rows[:SHOWN])
    is_number = {
        name: all(isinstance(row.get(name), (int, float, type(None))) for row in shown)
        for name in names
    }
    style = {
        name: _CELL.format(*(_NUMBER if is_number[name] else _TEXT)) for name in names
    }
    head = "".join(
        f'<th scope="col" style="{style[name]}">{_text(name)}</th>' for name in names
    )
    body = "".join(
        f"<tr>{''.join(_cell(row.get(name), style[name]) for name in names)}</tr>"
        for row in shown
    )
    title = f'<caption style="{_TITLE}">{_text(caption)}</caption>' if caption else ""
    more = len(rows) - SHOWN
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="{_TABLE}">{title}{table}</table>{rest}'


def report_tables(
    files: Sequence[Any], groups: Iterable[Any], examples: Iterable[Row]
) -> Iterator[Table]:
    """Yield what a report of a validation shows: files, findings and examples.

    `files` and `groups` are those of the report, and `examples` the rows of its table.
    """
    if len(files) > 1 or any(file.reason for file in files):
        counts = "format records valid invalid undetermined errors warnings".split()
        yield (
            "Files",
            [
                {
                    "file": file.path,
                    **{name: getattr(file, name) for name in counts},
                    "not read": file.reason,
                }
                for file in files
            ],
        )
    yield (
        "Findings",
        [
            {
                "severity": group.severity.value,
                "rule": f"{group.code} {group.name}",
                "field": f"{group.pointer}/{group.key}" if group.key else group.pointer,
                "count": group.count,
                "first": f"{group.path}:{group.line}:{group.column}",
            }
            for group in sorted(groups, key=lambda group: -group.count)
        ],
    )
    kept = "path line column record pointer code message help".split()
    yield "Examples", [{name: row[name] for name in kept} for row in examples]


def displayed(rows: Iterable[Row]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return rows for readers, and the names of their columns that are not empty."""
    shown = list(map(_display_row, rows))
    # The fields of a group stand before its scores.
    longest_first = sorted(shown, key=len, reverse=True)
    # A column without any value says nothing.
    names = [
        name
        for name in dict.fromkeys(name for row in longest_first for name in row)
        if any(row.get(name) not in (None, "") for row in shown)
    ]
    return names, shown


def _display_row(row: Row) -> dict[str, Any]:
    """Return a row for readers: one cell for a place, and one for an interval."""
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if name == "path" and "line" in row:
            shown["place"] = _place(row)
        elif name == "low" and "high" in row:
            shown["interval"] = _interval(row)
        elif name == "share":
            shown[name] = f"{100 * value:.2f} %"
        elif name not in _TECHNICAL and not (
            (name in {"line", "column"} and "path" in row) or name == "high"
        ):
            shown[name] = value
    if shown.get("name") == shown.get("metric"):
        shown.pop("name", None)
    return shown


def _place(row: Row) -> str:
    """Return a place as editors take it: path, line and column."""
    parts = [row.get("path"), row.get("line"), row.get("column")]
    return ":".join(str(part) for part in parts if part is not None)


def _interval(row: Row) -> str:
    """Return the limits of an interval with its level, "" if there is none."""
    if row["low"] is None or row["high"] is None:
        return ""
    limits = f"{row['low']:.4f} to {row['high']:.4f}"
    parts = str(row.get("method", "")).split("|")
    level = next((part[6:] for part in parts if part.startswith("level:")), "")
    return f"{limits} ({100 * float(level):g} %)" if level else limits


def _cell(value: Any, style: str) -> str:
    """Return a value as a cell."""
    if value is None:
        text = ""
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, float):
        text = f"{value:.4f}" if abs(value) >= _SMALL or not value else f"{value:.4g}"
    elif isinstance(value, int):
        text = f"{value:,}"
    else:
        text = str(value)
    return f'<td style="{style}">{_text(text)}</td>'


def _text(text: str) -> str:
    """Return text for an HTML page, bounded and without control characters."""
    cut = text if len(text) <= CELL else f"{text[:CELL]}\u2026"
    visible = "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in cut
    )
    return escape(visible)
