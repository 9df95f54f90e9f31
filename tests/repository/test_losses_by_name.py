"""What of a row does not arrive is listed by its own key, for every pair of formats."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given

import harpia_formats
from effort import examples
from harpia_formats.api.testing import filled, records
from harpia_formats.conversion.losses.conversion_report import (
    FieldLine,
    FileLosses,
    OutcomeCounts,
    SourceNames,
    field_lines,
)
from harpia_formats.conversion.mapping.fit import can_list_scored
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.plugins import UNSET, Container, Outcome, Record, Unconvertible
from known_formats import WRITABLE, adapter_named, row_validator
from mapped_records import CONSTANTS, mapper_to, plain

FIXTURES = Path(__file__).parents[2] / "fixtures"
COMPLETE = {"prompt": "q", **CONSTANTS}
LOST = {Outcome.DROPPED, Outcome.CHANGED, Outcome.MERGED, Outcome.NULL}
#: Texts that decide how other values are read, and are not made unique.
KINDS = {"role", "interaction_type", "schema_version", "source", "column", "messages"}


@cache
def is_valid_in(source: str) -> Any:
    """Return what tells whether a row is valid in a format."""
    dialect = WRITABLE[source].dialects[0]
    validator = row_validator(dialect)

    def is_valid(row: Any) -> bool:
        is_column = dialect.container is Container.COLUMNS
        whole = {key: [item] for key, item in row.items()} if is_column else row
        return bool(validator.is_valid(plain(whole)))

    return is_valid


def with_unique_texts(row: Any, source: str) -> dict[str, tuple[str, ...]]:
    """Make each text of `row` unique where it stays valid, and add keys of its own.

    Return the keys of each text, without places in lists.
    """
    found: dict[str, tuple[str, ...]] = {}
    is_valid = is_valid_in(source)
    for owner, key, keys in list(texts_in(row, ())):
        before = owner.get(key, UNSET) if isinstance(owner, dict) else owner[key]
        text = f"u{len(found)}u"
        owner[key] = text
        if is_valid(row):
            found[text] = keys
        elif before is UNSET:
            del owner[key]
        else:
            owner[key] = before
    return found


def texts_in(
    value: Any, keys: tuple[str, ...]
) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """Yield the owner, the key and all keys of each text, and of unknown keys."""
    members: Any = ()
    if isinstance(value, dict):
        members = [(key, (*keys, key)) for key in value]
        yield value, "own", (*keys, "own")
    elif isinstance(value, list):
        members = [(place, keys) for place in range(len(value))]
    for key, inner in members:
        if not isinstance(value[key], str):
            yield from texts_in(value[key], inner)
        elif key not in KINDS:
            yield value, key, inner


def complete_mapper(target: str, source: str | None = None) -> RecordMapper:
    """Return what maps records to rows, and lists answers that have one score."""
    is_list = can_list_scored(adapter_named(target).capacity)
    how = "list" if is_list else "first"
    return mapper_to(target, source, constants=COMPLETE, responses=how)


def lines_for(row: Any, source: str, target: str) -> tuple[str, list[FieldLine]]:
    """Return the rows of `target` as text, and the lines of the table of losses."""
    ours = adapter_named(source)
    mapped = complete_mapper(target, source).map(ours.read(row))
    losses = OutcomeCounts(SourceNames(ours))
    losses.add(mapped.paths, mapped.outcomes, lambda: None)
    lines = field_lines([FileLosses("", WRITABLE[source], losses.up_to_date())])
    return json.dumps(plain(mapped.rows), ensure_ascii=False), lines


def speaks_of(line: FieldLine, keys: tuple[str, ...]) -> bool:
    """Tell whether the name of a line is that of a value or of its owner."""
    name, path = line.name.partition(" (")[0], ".".join(keys)
    return path == name or path.startswith(f"{name}.")


def check_row(row: Any, source: str) -> None:
    """Assert for each target that exactly the values that do not arrive are listed."""
    texts = with_unique_texts(row, source)
    for target in WRITABLE:
        check_pair(plain(row), texts, source, target)


def check_pair(
    row: Any, texts: dict[str, tuple[str, ...]], source: str, target: str
) -> None:
    """Assert that exactly the values that do not arrive are listed, by their keys."""
    try:
        written, lines = lines_for(row, source, target)
    except Unconvertible:
        return
    lost = [line for line in lines if LOST & line.outcomes.keys()]
    assert {(line.records, line.kept) for line in lost} <= {(1, 0)}, row
    for text, keys in texts.items():
        if text not in written:
            assert any(speaks_of(line, keys) for line in lost), (keys, row, written)
    items = Counter(texts.values())
    for line in lost:
        # Of the items of a list some may arrive.
        if set(line.outcomes) != {Outcome.DROPPED} or line.how or "(" in line.name:
            continue
        arrived = [
            keys
            for text, keys in texts.items()
            if text in written and speaks_of(line, keys) and items[keys] == 1
        ]
        assert arrived == [], (line, row, written)


def fixture_rows(source: str) -> Iterator[dict[str, Any]]:
    """Yield the valid rows of the fixtures of a format, in its first dialect."""
    mapper = complete_mapper(source)
    for path in sorted((FIXTURES / source / "valid").iterdir()):
        for record in harpia_formats.read(path, format=source):
            yield from mapper.map(record).rows


@pytest.mark.parametrize("source", WRITABLE)
def test_every_lost_key_of_a_fixture_is_listed(source: str) -> None:
    """Every key of the fixtures that no target has is listed, and no other key."""
    rows = [*fixture_rows(source)]
    for row in rows:
        check_row(plain(row), source)

    assert rows


@pytest.mark.parametrize("source", WRITABLE)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_every_lost_key_is_listed(source: str, record: Record) -> None:
    """Every key of any row that a target does not have is listed, and no other key."""
    try:
        # Each score of the answer that is kept is a row; one of them is enough here.
        row, *_ = mapper_to(source, constants=COMPLETE).map(filled(record)).rows
    except Unconvertible:
        assume(condition=False)
    check_row(plain(row), source)
