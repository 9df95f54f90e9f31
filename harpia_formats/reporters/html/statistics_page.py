"""The page of statistics: lengths, fields, values, repetitions, tokens and times."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from harpia_formats.evaluation.statistics.statistics_result import Statistics
from harpia_formats.model.bins import Bin
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    bar_cell,
    bars,
    code,
    histogram,
    section,
    sentence,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import alerts, files_section
from harpia_formats.reporters.tables.statistics_tables import (
    lengths_table,
    sizes_table,
    stored_table,
    times_table,
    tokens_table,
)
from harpia_formats.reporters.tables.table import table_of

_LACKS = ("missing", "null", "empty")
#: The lengths of texts that are drawn: bytes look like characters.
_DRAWN = ("characters", "words")
#: Code points of a value that stands below a bar.
_LABEL = 80


def page(found: Statistics) -> Page:
    """Return the page of statistics."""
    cards = [
        ("records", f"{found.records:,}"),
        ("questions", f"{found.questions:,}"),
        ("answers", f"{found.answers:,}"),
    ]
    if found.skipped:
        cards.append(("left out", f"{found.skipped:,}"))
    if found.is_broken:
        return Page(
            "stats",
            "no statistics: not all of the input was read",
            ok=False,
            alerts=alerts(found.report),
            sections=[files_section(found.report)],
        )
    made = (
        ("lengths", "Lengths", _lengths(found)),
        ("fields", "Fields", _fields(found)),
        ("values", "Values", _values(found)),
        ("scripts", "Scripts", _scripts(found)),
        ("repeated", "Repetitions", _repetitions(found)),
        ("stored", "Tokens, times and scores", _stored(found)),
    )
    sections = [_section(name, title, parts) for name, title, parts in made]
    return Page(
        "stats",
        found.headline(),
        found.ok,
        cards=cards,
        alerts=alerts(found.report),
        sections=[*filter(None, sections), files_section(found.report)],
    )


def _section(name: str, title: str, parts: Iterable[Markup]) -> Section | None:
    """Return a section, None if there is nothing in it."""
    kept = [part for part in parts if part]
    return section(name, title, kept) if kept else None


def _lengths(found: Statistics) -> Iterator[Markup]:
    for text, lengths in found.lengths.items():
        for unit in _DRAWN:
            bins = [
                Bin(each["from"], each["to"] + 1, each["count"])
                for each in lengths[unit]["histogram"]
            ]
            title = f"{unit.capitalize()} of {text}"
            yield histogram(title, bins, unit, "texts")
    if found.lengths:
        yield table(lengths_table(found))
        yield sentence(
            "Words are runs without white space; in scripts without spaces, such as "
            "Chinese, each character is a word, and Chinese and Japanese punctuation "
            "parts words."
        )
    if found.sizes:
        yield table(sizes_table(found))


def _fields(found: Statistics) -> Iterator[Markup]:
    lacking = [each for each in found.fields if _lacks(each)]
    if lacking:
        rows = [
            [
                code(each["field"]),
                each["count"],
                bar_cell(_lacks(each), each["count"], "warning"),
                *(each[how]["count"] for how in _LACKS),
                _first(each),
            ]
            for each in sorted(lacking, key=_lacks, reverse=True)
        ]
        columns = ["field", "of", "lack it", *_LACKS, "first record"]
        yield table(table_of("Fields", columns, rows, columns[1:-1], _LACKS))
    whole = [each["field"] for each in found.fields if each not in lacking]
    if whole:
        yield sentence(f"Always there: {', '.join(whole)}")
    if found.absent:
        yield sentence(f"Never there: {', '.join(found.absent)}")


def _lacks(field: Mapping[str, Any]) -> int:
    """Return in how many records or answers a field is missing, null or empty."""
    return sum(field[how]["count"] for how in _LACKS)


def _first(field: Mapping[str, Any]) -> Markup:
    """Return the place of the first record that lacks a field."""
    place = next(field[how]["first"] for how in _LACKS if field[how]["count"])
    line = f":{place['line']}" if place["line"] else ""
    return code(f"{place['path']}{line}, record {place['record']:,}")


def _values(found: Statistics) -> Iterator[Markup]:
    for name, values in found.values.items():
        if values["distinct"] is None:
            yield sentence(f"{name}: more than 10,000 different values")
            continue
        rows = [
            (safe(each["value"], _LABEL) or "(empty)", each["count"], "mark")
            for each in values["top"]
        ]
        if values["others"]:
            left = values["distinct"] - len(rows)
            rows.append((f"{left:,} others", values["others"], "note"))
        title = f"{name}: {with_noun(values['distinct'], 'different value')}"
        yield bars(title, ("value", "records"), rows, len(rows))


def _scripts(found: Statistics) -> Iterator[Markup]:
    names = dict.fromkeys(
        script for lengths in found.lengths.values() for script in lengths["scripts"]
    )
    rows = [
        [text, *(lengths["scripts"].get(name, 0) for name in names)]
        for text, lengths in found.lengths.items()
    ]
    if rows:
        yield table(table_of("Texts by script", ["text", *names], rows, list(names)))


def _repetitions(found: Statistics) -> Iterator[Markup]:
    rows = [
        [kind, *(each[name] for name in ("count", "distinct", "surplus"))]
        for kind, each in found.duplicates.items()
    ]
    columns = ["what", "compared", "different", "repeat an earlier one"]
    yield table(table_of("Repetitions", columns, rows, columns[1:]))
    examples = [
        [kind, each["count"], code(_places(each["places"]))]
        for kind, repeated in found.duplicates.items()
        for each in repeated["first"]
    ]
    if examples:
        columns = ["what", "times", "first places"]
        yield table(
            table_of("The most frequent repetitions", columns, examples, ["times"])
        )


def _places(places: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{each['path']} record {each['record']:,}" for each in places)


def _stored(found: Statistics) -> Iterator[Markup]:
    tokens_of = found.tokens
    every = {"model": "(all)", "counts": tokens_of["all"] or {}}
    tokens = tokens_table(tokens_of["models"] or [every])
    if tokens.rows:
        yield table(tokens)
    if tokens_of["all"] is None:
        yield sentence("Tokens: too many kinds of counts to tell them.")
    elif tokens_of["models"] is None:
        yield sentence("Tokens: of too many models to tell them apart.")
    if found.times:
        yield table(times_table(found))
    if found.times is None:
        yield sentence("Milliseconds: too many kinds of times to tell them.")
    if found.scores:
        yield table(stored_table(found))
    if found.scores is None:
        count = f"Stored scores: {found.score_count:,}"
        yield sentence(f"{count}, of too many metrics to tell them apart.")
    yield sentences(found.notes)
