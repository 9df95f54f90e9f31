"""Read two files of rows and compare them by id: what a script does by hand.

Usage: plain_diff.py FILE OTHER; each is CSV, a JSON array or JSON Lines by its
extension. A row without an id is known by its question and its model. Ends with 1 if a
row differs.
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def rows_of(path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file."""
    with Path(path).open(encoding="utf-8", newline="") as lines:
        if path.endswith(".csv"):
            yield from csv.DictReader(lines)
        elif path.endswith(".json"):
            yield from json.load(lines)
        else:
            yield from map(json.loads, lines)


def key_of(row: dict[str, Any]) -> Any:
    """Return what a row is known by."""
    if "id" in row:
        return row["id"]
    return row["input"]["prompt"], row["llm_name"]


def main(path: str, other: str) -> int:
    """Print how many rows differ, or are in one file only; return 1 for any."""
    known: dict[Any, list[dict[str, Any]]] = {}
    for row in rows_of(path):
        known.setdefault(key_of(row), []).append(row)
    differing = alone = 0
    for row in rows_of(other):
        same = known.get(key_of(row))
        if not same:
            alone += 1
        elif same.pop(0) != row:
            differing += 1
    alone += sum(map(len, known.values()))
    print(f"{differing} rows differ, {alone} are in one file only")
    return int(differing + alone > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
