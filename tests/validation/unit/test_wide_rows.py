"""Rows with very many findings: some are reported, and that there are more."""

import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Report, validate
from harpia_formats.model.format import no_advice
from harpia_formats.validation.unit import findings, wide_records
from harpia_formats.validation.unit.wide_records import WideErrors

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


def in_small_parts(row: Any, schema: Any) -> Report:
    """Return the report on a row in parts of six values, with at most three errors."""
    few: Any = {"PART": 6, "SMALL": 2, "FINDINGS": 3}
    with patch.multiple(wide_records, **few), patch.object(findings, "VALUES", 0):
        return checked(row, schema=schema, examples=0, max_problems=0)


def shown(report: Report) -> set[tuple[str, str, str]]:
    """Return the code, the place and the message of each problem."""
    return {(one.code, one.place.pointer, one.message) for one in report.problems}


def in_containers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and objects of values, and the values themselves."""
    keys = st.sampled_from("abcdefgh")
    return (
        values
        | st.lists(values, max_size=9)
        | st.dictionaries(keys, values, max_size=8)
    )


#: Rows in which each 1 is an error by the schemas below.
TREES = st.dictionaries(
    st.sampled_from("abcdefgh"), in_containers(in_containers(st.sampled_from([0, 1])))
)
#: Schemas of numbers.
ZERO: list[Any] = [
    {"maximum": 0},
    {"anyOf": [{"maximum": 0}, {"const": 2}]},
    {"if": {"maximum": 0}, "else": False},
    {"not": {"const": 1}},
]


def of_trees(zero: Any, names: str, depth: int = 3) -> Any:
    """Return the schema of trees of numbers, in which objects have keys by `names`."""
    if not depth:
        return zero
    inner = of_trees(zero, names, depth - 1)
    named = {"properties": dict.fromkeys(names, inner)}
    return {**zero, **named, "items": inner, "additionalProperties": inner}


@given(TREES, st.sampled_from(ZERO), st.sampled_from(["", "b"]))
def test_first_errors_are_those_of_the_whole_row(
    row: Any, zero: Any, names: str
) -> None:
    """Of more than three errors three are reported, and of fewer all, as they are."""
    schema = of_trees(zero, names)
    found = shown(in_small_parts(row, schema))
    expected = shown(checked(row, schema=schema, examples=0, max_problems=0))
    more = {one for one in found if one[0] == "S106"}

    assert found - more <= expected
    assert len(found - more) == min(3, len(expected))
    assert bool(more) == (len(expected) > 3)


@for_each_case(
    "row, schema, expected",
    [
        # The condition tests a value that is in every part.
        (
            {"kind": 1, "rows": [1] * 9},
            {
                "if": {"properties": {"kind": {"const": 1}}},
                "then": {"properties": {"rows": {"items": {"maximum": 0}}}},
            },
            ["/rows/0", "/rows/1", "/rows/2", "S106"],
        ),
        # Large values that the schema names are empty in other parts.
        (
            {"a": [0] * 9, "b": dict.fromkeys("vwxyz", 0), "c": 1, "d": [1, 1]},
            {
                "properties": {"a": {"type": "array"}, "b": {"type": "object"}},
                "additionalProperties": {"maximum": 0, "items": {"maximum": 0}},
            },
            ["/c", "/d/0", "/d/1"],
        ),
    ],
)
def test_values_that_others_depend_on_are_in_all_parts(
    row: Any, schema: Any, expected: list[str]
) -> None:
    """What a condition tests is in each part, and a large value keeps its type."""
    found = shown(in_small_parts(row, schema))

    assert sorted(place or code for code, place, _ in found) == expected


def parts_of(row: Any) -> list[int]:
    """Return how many numbers 1 each part of a row has."""
    sizes: list[int] = []

    def no_errors(part: Any) -> list[Any]:
        sizes.append(json.dumps(part).count("1"))
        return []

    assert WideErrors(True, no_errors, no_advice).many(row) is None
    return sizes


@given(TREES)
def test_each_value_is_in_one_part(row: Any) -> None:
    """Parts of six values have no more, and all together."""
    with patch.object(wide_records, "PART", 6):
        sizes = parts_of(row)

    assert sum(sizes) == json.dumps(row).count("1")
    assert max(sizes, default=0) <= 6


@for_each_case(
    "count, expected",
    [(2_000, [2_000]), (2_001, [2_000, 1]), (4_001, [2_000] * 2 + [1])],
)
def test_a_part_has_2000_values(count: int, expected: list[int]) -> None:
    """A list is validated 2,000 items at a time, which bounds the memory of errors."""
    assert parts_of([1] * count) == expected


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


def test_parts_that_are_too_small_are_no_errors() -> None:
    """Arrays of which each is long enough, and its parts are not, hide no error."""
    schema = {
        "properties": {
            "rows": {"items": {"minItems": 9, "items": {"type": "integer"}}},
            "last": {"type": "string"},
        }
    }
    rows = [[0] * 9 for _ in range(5)]
    short = in_small_parts({"rows": [*rows, [0] * 8]}, schema)

    assert {place for _, place, _ in shown(short)} == {"/rows/5"}
    assert shown(in_small_parts({"rows": rows, "last": 1}, schema)) == {
        ("S102", "/last", "last must be text, found the number 1")
    }
