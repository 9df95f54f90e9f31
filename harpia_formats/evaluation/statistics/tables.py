"""The tables of statistics that notebooks and Markdown show."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the class imports this module
    from harpia_formats.evaluation.statistics.result import Statistics


def tables(found: "Statistics") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the tables that notebooks and Markdown show, each with its caption."""
    yield "Lengths", found.table()
    lacks = ("missing", "null", "empty")
    lacking = (
        {"field": field["field"], "of": field["count"]}
        | {name: field[name]["count"] for name in lacks}
        for field in found.fields
    )
    yield "Fields", [row for row in lacking if any(map(row.get, lacks))]
    yield (
        "Values",
        [
            {
                "field": name,
                "value": one["value"] or "(empty)",
                "count": one["count"],
            }
            for name, values in found.values.items()
            for one in values["top"]
        ],
    )
    yield (
        "Repetitions",
        [
            {"of": kind, "compared": each["count"], "repeated": each["surplus"]}
            for kind, each in found.duplicates.items()
        ],
    )
    every = {"model": "(all)", "counts": found.tokens["all"] or {}}
    yield (
        "Tokens",
        [
            {"model": one["model"], "count of": kind, **counts}
            for one in found.tokens["models"] or [every]
            for kind, counts in one["counts"].items()
        ],
    )
