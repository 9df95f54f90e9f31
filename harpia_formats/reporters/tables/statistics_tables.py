"""The tables of statistics, with all of their columns, for terminals and pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from harpia_formats.evaluation.statistics.statistics_result import UNITS, Statistics
from harpia_formats.reporters.tables.table import Table, table_of

#: The columns of the numbers that sum others up.
SUMMARY = ("count", "min", "p5", "p25", "p50", "p75", "p95", "p99", "max", "mean")
#: The columns of stored scores.
_SCORES = ("scores", "numbers", "correct", "incorrect")


def lengths_table(found: Statistics) -> Table:
    """Return how long texts are in each unit."""
    parts = (
        ((text, unit), lengths[unit])
        for text, lengths in found.lengths.items()
        for unit in UNITS
    )
    return _summaries("Lengths", ("text", "length"), parts)


def sizes_table(found: Statistics) -> Table:
    """Return how many items there are in records."""
    parts = (((name,), each) for name, each in found.sizes.items())
    return _summaries("Numbers of items", ("number of",), parts)


def times_table(found: Statistics) -> Table:
    """Return how long answers took."""
    parts = (((kind,), each) for kind, each in (found.times or {}).items())
    return _summaries("Milliseconds", ("milliseconds",), parts)


def _summaries(
    title: str,
    names: tuple[str, ...],
    parts: Iterable[tuple[tuple[str, ...], Mapping[str, Any]]],
) -> Table:
    """Return a table of summaries by what they are of."""
    rows = [[*of, *map(each.get, SUMMARY)] for of, each in parts]
    return table_of(title, [*names, *SUMMARY], rows, SUMMARY)


def tokens_table(models: Iterable[Mapping[str, Any]]) -> Table:
    """Return how many tokens of each kind the answers of models have."""
    rows = [
        [each["model"], kind, count["answers"], count["sum"]]
        for each in models
        for kind, count in each["counts"].items()
    ]
    columns = ("model", "tokens", "answers", "sum")
    return table_of("Tokens", columns, rows, columns[2:])


def stored_table(found: Statistics) -> Table:
    """Return how many scores of each metric are stored."""
    columns = ("evaluation", "metric", *_SCORES)
    rows = [[each[name] for name in columns] for each in found.scores or ()]
    return table_of("Stored scores", columns, rows, _SCORES)
