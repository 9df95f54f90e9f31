"""Rows with very many findings: some are reported, and that there are more."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Report, validate

#: Schema errors of a row that are reported, and values of a row that is validated as a
#: whole.
FINDINGS, VALUES = 1_000, 5_000
#: Members of a row in the tests of time and memory.
MANY = 200_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}},
        "parts": {"items": {"required": ["a"], "properties": {"a": {"type": "null"}}}},
        "either": {"anyOf": [{"type": "string"}, {"items": {"type": "string"}}]},
        "few": {"maxItems": 3},
    },
    "additionalProperties": False,
}


def checked(row: Any, **options: Any) -> Report:
    """Return the report on a row between two valid ones."""
    text = row if isinstance(row, str) else json.dumps(row)
    good = json.dumps({"id": "a"})
    return validate(
        f"{good}\n{text}\n{good}\n".encode(), **{"schema": SCHEMA, **options}
    )


def counts(report: Report) -> dict[str, int]:
    """Return the number of findings of each rule."""
    found: dict[str, int] = {}
    for group in report.groups:
        found[group.code] = found.get(group.code, 0) + group.count
    return found


def unknown(count: int) -> dict[str, Any]:
    """Return a row with so many unknown keys."""
    return {"id": "a", **{f"key {number}": number for number in range(count)}}


def misspelt(count: int) -> dict[str, Any]:
    """Return a row without its id, with so many names that are nearly that."""
    return {f"id{number}": "a" for number in range(count)}


def wrong(count: int) -> dict[str, Any]:
    """Return a row with so many wrong items, behind as many right ones."""
    return {"id": "a", "items": [*"a" * count, *range(count)]}


def repeated(count: int) -> str:
    """Return a row with so many repeated keys."""
    return '{"id": "a"' + ', "id": "b"' * count + "}"


CASES = [(unknown, "S104"), (wrong, "S102"), (repeated, "J105")]


@pytest.mark.parametrize(("row_with", "code"), CASES)
@pytest.mark.parametrize("extra", [0, 1, VALUES])
def test_findings_of_a_row_are_limited(row_with: Any, code: str, extra: int) -> None:
    """At the limit all findings are reported; beyond it so many, and that it is."""
    report = checked(row_with(FINDINGS + extra))

    more = {"S107" if code == "J105" else "S106": 1} if extra else {}
    assert counts(report) == {code: FINDINGS, **more}
    (file,) = report.files
    assert (file.records, file.valid, file.invalid) == (3, 2, 1)


def test_row_with_few_errors_is_validated_as_a_whole() -> None:
    """Errors of a large row are all found if they are few, wherever they are."""
    row = {"id": 1, "items": ["a"] * 50_000 + [1, "b", 2], "few": [1] * 9_000, "c": 1}
    report = checked(row)

    assert counts(report) == {"S104": 1, "S102": 3, "V106": 1}
    assert {one.place.pointer for one in report.problems} == {
        "/c",
        "/id",
        "/items/50000",
        "/items/50002",
        "/few",
    }


@pytest.mark.parametrize("count", [FINDINGS, 3 * VALUES])
def test_misspelt_keys_are_limited(count: int) -> None:
    """Keys that are nearly the missing one are unknown keys like others."""
    found = counts(checked(misspelt(count)))

    assert found.pop("S106") == 1
    assert sum(found.values()) == FINDINGS


def test_places_are_those_in_the_row() -> None:
    """An item behind others that a part has not keeps its own index and column."""
    row = {"id": "a", "items": ["a"] * 30_000 + [1] * 5_000}
    report = checked(row, examples=1)
    first = next(one for one in report.problems if one.code == "S102")

    text = json.dumps(row)
    assert first.place.pointer == "/items/30000"
    assert first.place.column == text.index("1") + 1


def test_message_says_that_there_are_more() -> None:
    """One finding has its own code, is about the record, and says the limit."""
    problems = checked(unknown(FINDINGS + 1), max_problems=0).problems
    (more,) = [one for one in problems if one.code == "S106"]

    assert (more.name, more.place.line, more.place.pointer) == ("more-errors", 2, "")
    assert more.message == (
        "the record has more schema errors than the 1,000 that are looked for"
    )


@pytest.mark.parametrize(
    "options", [{"select": ("S101",)}, {"ignore": ("S106", "S104")}]
)
def test_row_is_not_valid_if_the_finding_is_not_selected(options: Any) -> None:
    """Without the rule that says so, a row of which more may be wrong is not valid."""
    (file,) = checked(unknown(VALUES + 1), **options).files

    assert (file.valid, file.invalid, file.undetermined) == (2, 0, 1)


def test_errors_that_only_a_whole_value_shows_are_never_invented() -> None:
    """A part of an array has fewer items, and parts of alternatives prove nothing."""
    schema = {
        "properties": {
            "long": {"minItems": 9_000, "items": {"type": "string"}},
            "any": {"anyOf": [{"minItems": 9_000}, {"maxItems": 1}]},
            "has": {"contains": {"const": "x"}},
        },
        "if": {"properties": {"long": {"minItems": 9_000}}},
        "else": {"required": ["other"]},
    }
    row = {"long": [1] * 9_000, "any": [0] * 9_000, "has": [0] * 9_000 + ["x"]}
    found = counts(checked(row, schema=schema))

    assert found == {"S102": FINDINGS, "S106": 1}


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("lint", [False, True])
@pytest.mark.parametrize(("row_with", "code"), [*CASES, (misspelt, "S104")])
def test_very_wide_rows_take_little(
    row_with: Any, code: str, jobs: int, tmp_path: Path, *, lint: bool
) -> None:
    """A row with 200,000 mistakes is reported at once, by any number of workers."""
    path = tmp_path / "wide.jsonl"
    row = row_with(MANY)
    text = row if isinstance(row, str) else json.dumps(row)
    path.write_text(f'{{"id": "a"}}\n{text}\n')
    start = time.process_time()
    report = validate(path, schema=SCHEMA, jobs=jobs, lint=lint)

    assert time.process_time() - start < 10
    assert counts(report)[code] >= FINDINGS - 1
    assert report.files[0].invalid == 1
