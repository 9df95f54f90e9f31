"""A value in a valid row arrives in its record, or its key is among the losses.

Values of the valid fixtures are replaced by others, and unknown keys are added, each in
a row of its own. What is still valid is converted to records.
"""

import csv
import io
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from effort import drawn
from fixture_files import valid_files
from harpia_formats import (
    ConversionError,
    Report,
    Severity,
    ValidationFailed,
    convert,
    validate,
)
from harpia_formats.plugins import Container
from json_lines import jsonl, jsonl_rows
from known_formats import FORMATS, READABLE

#: How many changes of each format the default run draws.
SOME = 150
#: Items of a list that are changed, and rows of a file.
FIRST = 2
#: The key that is added to objects.
NEW = "newkey"

#: The path of a value: keys and places in lists.
Keys = tuple[str | int, ...]


class Change(NamedTuple):
    """A value that is put into a row, or next to the rows of a document."""

    #: What the value has in it, and nothing else in the file.
    mark: str
    path: Keys
    value: Any

    def of(self, owner: Any) -> Any:
        """Return a copy of `owner` with the value."""
        changed = deepcopy(owner)
        reduce(getitem, self.path[:-1], changed)[self.path[-1]] = self.value
        return changed


class Source(NamedTuple):
    """A valid fixture, taken apart."""

    name: str
    format: str
    container: Container
    #: The keys of the rows in the document.
    rows_path: Keys
    #: The document without its rows; None if there is nothing but rows.
    document: Any
    rows: list[Any]

    def text_of(self, rows: Sequence[Any], document: Any = None) -> bytes:
        """Return the file with other rows, and another document around them."""
        if self.container is Container.TABLE:
            return csv_text(rows)
        if self.container is Container.WRAPPED:
            rows_member = Change("", self.rows_path, rows)
            return json.dumps(rows_member.of(document or self.document)).encode()
        if self.container is Container.COLUMNS:
            return json.dumps(rows[0]).encode()
        return jsonl(*rows)


def csv_text(rows: Sequence[dict[str, str]]) -> bytes:
    """Return rows as CSV."""
    written = io.StringIO(newline="")
    columns = dict.fromkeys(key for row in rows for key in row)
    writer = csv.DictWriter(written, list(columns))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue().encode()


def source_in(path: Path, format_id: str) -> Source | None:
    """Return a fixture, None if it cannot be taken apart."""
    data = path.read_bytes()
    (count,) = validate(data, format=format_id).files
    dialects = FORMATS[format_id].dialects
    dialect = next(each for each in dialects if each.name == count.dialect)
    document, rows_path = None, dialect.rows_path
    try:
        if dialect.container is Container.TABLE:
            rows: Any = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        elif path.suffix == ".jsonl":
            rows = jsonl_rows(data)
        else:
            rows = json.loads(data)
        if dialect.container is Container.WRAPPED:
            document = rows
            rows = reduce(getitem, rows_path, document)
    except (ValueError, KeyError):  # what is tolerated, such as comments
        return None
    rows = rows if isinstance(rows, list) else [rows]
    found = Source(
        path.name, format_id, dialect.container, rows_path, document, rows[:FIRST]
    )
    return found if is_valid(found.text_of(found.rows), format_id) else None


def is_valid(data: bytes, format_id: str) -> bool:
    """Tell whether a file is valid."""
    return report_on(data, format_id).ok


def report_on(data: bytes, format_id: str) -> Report:
    """Return the report on a file."""
    return validate(data, format=format_id, max_problems=0, examples=0)


def paths_in(value: Any, path: Keys = ()) -> Iterator[Keys]:
    """Yield the path of each value, and of a new key in each object.

    Of a list, that is of its first items.
    """
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
        yield (*path, NEW)
    elif isinstance(value, list):
        members = enumerate(value[:FIRST])
    if path:
        yield path
    for key, member in members:
        yield from paths_in(member, (*path, key))


def values_with(number: int) -> list[tuple[str, Any]]:
    """Return values of each kind, with the text in them by which they are found."""
    text, digits = f"MARK{number:06}", 10**8 + number
    # What follows these digits differs where numbers are counted from 0.
    whole = digits * 100 + 77
    texts = [text, f"{text} two words", [text], {"k": text}, [[text]], [text, 5]]
    numbers = [whole, [whole], whole + 0.25]
    return [(text, each) for each in texts] + [(f"{digits}", each) for each in numbers]


def owners_in(source: Source) -> list[Any]:
    """Return what has values: rows, or the document around them behind those."""
    return [*source.rows, source.document]


def places_in(source: Source) -> Iterator[tuple[int, Keys]]:
    """Yield the number of an owner, and the path of a value in it."""
    for at, owner in enumerate(owners_in(source)):
        for path in paths_in(owner):
            # The rows are owners of their own.
            both = zip(path, source.rows_path, strict=False)
            if at < len(source.rows) or any(one != other for one, other in both):
                yield at, path


def changes_in(
    sources: Sequence[Source], most: int | None
) -> Iterator[tuple[Source, int, Change]]:
    """Yield drawn changes, or all, each with its source and the number of its owner.

    Each place in objects has the same chance, however many items or rows have it.
    """
    places: dict[Keys, list[tuple[Source, int, Keys]]] = {}
    for source in sources:
        for at, path in places_in(source):
            keys = tuple("*" if isinstance(key, int) else key for key in path)
            places.setdefault(keys, []).append((source, at, path))
    kinds = range(len(values_with(0)))
    if most is None:
        chosen: Any = itertools.product(itertools.chain(*places.values()), kinds)
    else:
        draw = random.Random(1)  # noqa: S311 - the same cases each time
        chosen = (
            (draw.choice(places[draw.choice([*places])]), draw.choice(kinds))
            for _ in range(most)
        )
    for number, ((source, at, path), kind) in enumerate(chosen):
        mark, value = values_with(number)[kind]
        yield source, at, Change(mark, path, value)


def lost_in(source: Source, changes: Sequence[tuple[int, Change]]) -> Iterator[Change]:
    """Yield the changes after which a value is lost without a word."""
    owners, count = owners_in(source), len(source.rows)
    alone = [each for each in changes if each[0] == count]
    together = [each for each in changes if each[0] < count]
    if source.container is Container.COLUMNS:
        alone, together = together, []
    if together:
        alone += missing_in(source, together)
    for at, change in alone:
        changed = change.of(owners[at])
        data = (
            source.text_of(source.rows, changed)
            if at == count
            else source.text_of([changed])
        )
        if is_lost(data, source.format, change):
            yield change


def missing_in(
    source: Source, changes: Sequence[tuple[int, Change]]
) -> Iterator[tuple[int, Change]]:
    """Yield the changes of valid rows that do not arrive if all are in one file."""
    id_key, rows = FORMATS[source.format].id_key, []
    for number, (at, change) in enumerate(changes):
        row = change.of(source.rows[at])
        # In one file, ids may not repeat.
        if change.path[0] != id_key and id_key in row:
            row[id_key] = f"row {number}" if type(row[id_key]) is str else number
        rows.append(row)
    data, output = source.text_of(rows), io.BytesIO()
    problems = report_on(data, source.format).problems
    places = [each.place for each in problems if each.severity is Severity.ERROR]
    invalid = {place.record or place.line for place in places}
    with suppress(ConversionError, ValidationFailed):
        convert(
            data, from_=source.format, to="record", output=output, on_invalid="skip"
        )
    written = output.getvalue().decode()
    for number, each in enumerate(changes, start=1):
        if number not in invalid and each[1].mark not in written:
            yield each


def is_lost(data: bytes, format_id: str, change: Change) -> bool:
    """Tell whether a value does not arrive, and no key of it is among the losses."""
    output = io.BytesIO()
    try:
        report = convert(data, from_=format_id, to="record", output=output)
    except (ConversionError, ValidationFailed):  # what is refused, also as invalid
        return False
    if change.mark in output.getvalue().decode():
        return False
    path = ".".join(key for key in change.path if isinstance(key, str))
    names = [name for file in report.losses for name in file.lost_fields]
    starts = [name.partition(" (")[0] for name in names]
    return not any(path == start or path.startswith(f"{start}.") for start in starts)


def check(format_id: str, most: int | None) -> None:
    """Assert that no change of a fixture of a format is lost without a word."""
    found = [source_in(path, format_id) for path in valid_files(format_id)]
    sources = [source for source in found if source is not None]
    changes: dict[str, list[tuple[int, Change]]] = {}
    for source, at, change in changes_in(sources, most):
        changes.setdefault(source.name, []).append((at, change))
    lost = [
        f"{format_id}: {source.name}: {change.path} is {change.value!r}"
        for source in sources
        for change in lost_in(source, changes.get(source.name, []))
    ]

    assert sources
    assert not lost, "\n".join(lost)


@pytest.mark.parametrize("format_id", READABLE)
def test_some_changed_values_are_kept_or_named(format_id: str) -> None:
    """A drawn value that is put into a valid row is in its record, or is named."""
    check(format_id, drawn(SOME))


@pytest.mark.long
@pytest.mark.parametrize("format_id", READABLE)
def test_every_changed_value_is_kept_or_named(format_id: str) -> None:
    """Every value of every kind that is put into a valid row is kept, or is named."""
    check(format_id, None)
