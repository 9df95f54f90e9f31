"""Rows with a fault have exactly the findings that `expected_findings.json` lists.

It has schemas, for each some rows, and for each row its findings as they are worded,
placed, explained and grouped, with and without values. Schemas and rows are added by
hand; `python tests/validation/diagnosis/test_expected_findings.py`, with
`tests/helpers` in PYTHONPATH, writes what is found on them now into the file. What
differs then is judged before it is kept.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor, FramingFault
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.model.problem import pointer_of
from harpia_formats.plugins import Advice, Problem
from harpia_formats.plugins import Path as Steps
from harpia_formats.validation.diagnosis import cached_causes
from harpia_formats.validation.diagnosis.cached_causes import (
    CachedCauses,
    FailedKeyword,
    _failed_keywords,
    pattern_matcher,
)
from harpia_formats.validation.diagnosis.hidden_values import hidden_problem_of
from harpia_formats.validation.diagnosis.messages import problem_of
from harpia_formats.validation.diagnosis.root_causes import (
    Cause,
    Finding,
    find_json_fault,
    find_repeated_keys,
    root_causes,
)
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.redaction.shown_words import SchemaWords
from harpia_formats.validation.unit.collector import container_message
from known_formats import RULES

EXPECTED = Path(__file__).with_name("expected_findings.json")
#: Where each row begins in its file.
START = Cursor(1_000, 7, 2)
#: What a problem without values does not say.
VALUES = {"marked", "fix", "cause"}


class Row:
    """A row of a group."""

    def __init__(self, given: dict[str, Any], errors_of: Any) -> None:
        self.text: str = given["row"]
        self.like = given.get("like")
        self.findings = given.get("findings")
        try:
            self.value = json.loads(self.text)
        except ValueError:
            self.value = None
        self.errors: list[Any] = list(errors_of(self.value))


class Group:
    """A schema with rows, and with advice on some of its conditions."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.schema = json.loads(given["schema"])
        self.formats = bool(given.get("formats"))
        self.prefix = tuple(given.get("prefix", ()))
        validator = schema_validator_of(self.schema, formats=self.formats)
        self.rows = [Row(each, validator.iter_errors) for each in given["rows"]]
        self.words = SchemaWords(self.schema)

    def __str__(self) -> str:
        return str(self.given["about"])

    def advise(self, pointer: str, path: Steps, record: Any) -> Advice | None:
        """Return the advice on a condition."""
        if pointer not in self.given.get("advice", {}):
            return None
        code, help_ = self.given["advice"][pointer]
        return Advice(code, f"{help_} at {pointer_of(path)!r} of {len(record)}")

    def cached_causes(self) -> CachedCauses:
        """Return what remembers the causes of rows, and knows none yet."""
        return CachedCauses(self.schema, self.advise, formats=self.formats)

    def causes_of(self, row: Row) -> tuple[Cause, ...]:
        """Return the causes in a row."""
        return tuple(root_causes(row.value, row.errors, self.schema, self.advise))

    @cached_property
    def remembered(self) -> "list[Remembered]":
        """For each row, how its causes are remembered."""
        cached = self.cached_causes()
        found = []
        for row in self.rows:
            key = cached._cache_key(row.errors, row.value)  # noqa: SLF001 - it decides which rows share their causes
            failed = () if key is None else _failed_keywords(row.errors)
            matches = failed and pattern_matcher(
                self.schema, failed, formats=self.formats
            )
            pattern = failed if matches else ()
            found.append(Remembered(key, pattern, matches or bool))
        return found


@dataclass(frozen=True)
class Remembered:
    """What of a row decides how its causes are remembered."""

    #: The key of its causes in the cache, None if they are not cached.
    key: Any
    #: Its errors as a pattern, () if none is known.
    pattern: tuple[FailedKeyword, ...]
    #: Whether a row has this pattern.
    matches: Callable[[Any], bool]


GROUPS = [Group(each) for each in json.loads(EXPECTED.read_text("utf-8"))]


def findings_on(row: Row, group: Group) -> Iterator[Finding]:
    """Yield the findings on a row."""
    text = row.text.encode()
    fault = find_json_fault(3, text)
    if fault:
        yield fault
        return
    yield from find_repeated_keys(3, text, row.value)
    for cause in group.causes_of(row):
        yield Finding(cause.code, 3, cause, row.value)


def found_in(row: Row, group: Group) -> list[dict[str, Any]]:
    """Return what is found on a row, as the file has it."""
    text = row.text.encode()
    found = []
    for finding in findings_on(row, group):
        rule = RULES[finding.code]
        context = RowContext("f", text, START, 5, row.value, "id", group.prefix)
        given = finding, rule, context, group.schema
        shown = described(problem_of(*given))
        hidden = described(hidden_problem_of(*given, group.words))
        # These hold values, so nothing stands in their place.
        assert hidden.keys().isdisjoint(VALUES)
        other = {
            name: hidden.get(name, "")
            for name in {**shown, **hidden}
            if name not in VALUES and shown.get(name) != hidden.get(name)
        }
        found.append({**shown, "hidden": other})
    return found


def described(problem: Problem) -> dict[str, Any]:
    """Return what a problem says, without what is empty or usual."""
    place, excerpt, fix = problem.place, problem.excerpt, problem.fix
    texts = {
        "code": problem.code,
        "name": problem.name,
        "severity": problem.severity.value,
        "place": f"{place.path} {place.line}:{place.column}-{place.end_column}"
        f" byte {place.byte_offset}",
        "pointer": place.pointer,
        "record": f"{place.record} {place.record_id_key} {place.record_id!r}",
        "marked": excerpt and excerpt.text[excerpt.start : excerpt.end],
        "message": problem.message,
        "because": [
            f"{one.pointer} {one.value} {one.path}{one.line}:{one.column}"
            for one in problem.because
        ],
        "help": problem.help,
        "fix": fix and f"{fix.kind} {fix.pointer} {fix.value!r}",
        "schema": problem.schema_pointer,
        "key": problem.key,
        "cause": problem.cause,
        "hides": problem.hides_values,
    }
    usual = {
        "name": RULES[problem.code].name,
        "severity": "error",
        "record": "5 id None",
        "hides": bool(not excerpt),
    }
    return {
        name: text for name, text in texts.items() if text and text != usual.get(name)
    }


def likeness(group: Group) -> list[list[int | None]]:
    """Return for each row which one is the first with the same key in the cache.

    Behind it is the first one with the same pattern of errors. It is None if the causes
    are not cached, or if no schema is known for the pattern.
    """
    keys = [each.key for each in group.remembered]
    patterns = [each.pattern for each in group.remembered]
    return [
        [
            None if key is None else keys.index(key),
            patterns.index(pattern) if pattern else None,
        ]
        for key, pattern in zip(keys, patterns, strict=True)
    ]


@for_each_case("group", GROUPS)
def test_findings_are_those_expected(group: Group) -> None:
    """Each finding on a row has its rule, place, message, help, fix and cause."""
    for row in group.rows:
        assert found_in(row, group) == row.findings, row.text


@for_each_case("group", GROUPS)
def test_rows_share_their_causes_as_expected(group: Group) -> None:
    """Causes are remembered for the rows that have the same, and only for these."""
    assert likeness(group) == [row.like for row in group.rows]


@for_each_case("group", GROUPS)
def test_pattern_matches_exactly_the_rows_with_its_errors(group: Group) -> None:
    """The schema that is built of the errors of a row holds for rows with the same."""
    rows = list(zip(group.rows, group.remembered, strict=True))
    for mine in group.remembered:
        if mine.pattern:
            alike = [mine.matches(row.value) for row, _ in rows]
            same = [{*each.pattern} == {*mine.pattern} for _, each in rows]
            assert alike == same, mine.pattern


@for_each_case("group", GROUPS)
def test_remembered_causes_are_those_computed(group: Group) -> None:
    """The causes of a row do not depend on the rows before it."""
    cached = group.cached_causes()
    with patch.object(cached_causes, "ENOUGH", 2):
        for row in group.rows * 3:
            expected = group.causes_of(row)
            by_pattern = cached.causes_by_pattern(row.value)
            assert by_pattern is None or (row.errors and by_pattern == expected)
            assert cached.causes_of(row.value, row.errors) == expected


@for_each_case(
    "kind",
    {
        kind
        for path in (Path(__file__).parents[3] / "harpia_formats").rglob("*.py")
        for kind in re.findall(r'\bFramingFault\("([a-z-]+)"', path.read_text("utf-8"))
    },
)
def test_every_fault_of_a_container_has_a_message(kind: str) -> None:
    """Every framing fault in the code has a known rule, a message and a help."""
    code, message, help_ = container_message(FramingFault(kind, Cursor()), 100)

    assert code in RULES
    assert message
    assert help_


def in_lines(group: Group) -> Iterator[str]:
    """Yield a group as JSON with what is found now, a line for each text."""
    head = {name: part for name, part in group.given.items() if name != "rows"}
    yield f'{{{members(head)},\n"rows": ['
    for row, like in zip(group.rows, likeness(group), strict=True):
        found = [f"\n{{{members(each)}}}" for each in found_in(row, group)]
        end = "" if row is group.rows[-1] else ","
        given = {"row": row.text, "like": like}
        yield f'\n{{{members(given)},\n"findings": [{",".join(found)}]}}{end}'
    yield "\n]}"


def members(given: dict[str, Any]) -> str:
    """Return the members of an object as JSON, each on a line."""
    return ",\n".join(
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
    )


if __name__ == "__main__":
    texts = ["".join(in_lines(each)) for each in GROUPS]
    EXPECTED.write_text("[\n" + ",\n".join(texts) + "\n]\n", "utf-8")
