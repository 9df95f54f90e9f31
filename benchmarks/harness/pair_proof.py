"""Prove that a script by hand writes the rows that our command writes."""

import csv
import json
import subprocess
from filecmp import cmp
from itertools import zip_longest
from pathlib import Path
from typing import Any

from data.source_files import COLUMNS, LINES, TABLE, WRAPPED, layout_of

from harness.conversion_commands import PairFiles

#: How Python writes a truth value in a table, and how we do.
TRUTH = {"True": "true", "False": "false"}


class DifferentRowsError(Exception):
    """A script that writes another row than our command; has the pair and the row."""

    def __init__(self, pair: str, row: int, ours: object, theirs: object) -> None:
        super().__init__(pair, row, ours, theirs)
        self.pair, self.row, self.ours, self.theirs = pair, row, ours, theirs

    def __str__(self) -> str:
        return (
            f"{self.pair}: row {self.row} differs\n"
            f"ours:   {self.ours}\nscript: {self.theirs}"
        )


class DifferentBytesError(Exception):
    """Outputs of ours that differ by the number of processes; has the pair."""

    def __str__(self) -> str:
        return f"{self.args[0]}: one process writes other bytes than several"


def compare_bytes(pair: str, output: Path, other: Path) -> None:
    """Compare what several processes and one wrote; raises `DifferentBytesError`."""
    if not cmp(output, other, shallow=False):
        raise DifferentBytesError(pair)


def prove(files: PairFiles) -> None:
    """Convert a file by our command and by the script, and compare the rows.

    The script may leave out keys that ours has. Raises `DifferentRowsError`, and
    `subprocess.CalledProcessError` for a command that fails.
    """
    for command in (files.ours(), files.by_hand()):
        subprocess.run(command, check=True, capture_output=True)
    compare_rows(files)


def compare_rows(files: PairFiles) -> None:
    """Compare the rows that both wrote; raises `DifferentRowsError`."""
    layout = layout_of(files.target)
    ours = rows_in(files.ours_output, layout)
    theirs = rows_in(files.script_output, layout)
    for number, (mine, other) in enumerate(zip_longest(ours, theirs)):
        if mine is None or other is None or not is_part(other, mine):
            raise DifferentRowsError(files.pair, number, mine, other)


def rows_in(path: Path, layout: str) -> list[dict[str, Any]]:
    """Return the rows of a file as JSON values."""
    if layout == TABLE:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                {key: _cell(value) for key, value in row.items() if value}
                for row in csv.DictReader(file)
            ]
    data = path.read_bytes()
    if layout == LINES:
        return [json.loads(line) for line in data.splitlines()]
    whole = json.loads(data)
    if layout == COLUMNS:
        return [
            dict(zip(whole, items, strict=True))
            for items in zip(*whole.values(), strict=True)
        ]
    rows: list[dict[str, Any]] = whole["instances"] if layout == WRAPPED else whole
    return rows


def _cell(text: str) -> Any:
    """Return the value of a cell: a list of one in JSON is the same as its text."""
    if text.startswith('["') and text.endswith('"]'):
        items = json.loads(text)
        return items[0] if len(items) == 1 else items
    return TRUTH.get(text, text)


def is_part(part: Any, whole: Any) -> bool:
    """Tell whether objects of `part` have keys of `whole` only, with equal values."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(
            key in whole and is_part(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(is_part, part, whole))
    return type(part) is type(whole) and bool(part == whole)
