"""Keys that a map of the user names, in rows of any format."""

from typing import Any

import pytest

from cases import for_each_case
from fixture_files import valid_files
from harpia_formats import validate
from json_lines import jsonl, jsonl_rows
from known_formats import FORMATS, READABLE

#: Rows of a file that has no typed decoder yet, and of one that has.
FEW, MANY = 2, 40


def verdict(row: dict[str, Any], count: int, format_id: str, strict: bool) -> Any:
    """Return the share of invalid rows and the codes of the findings on copies."""
    key = FORMATS[format_id].id_key
    known = {key: row[key]} if key in row else {}
    ids = (
        {name: f"{number}" if type(given) is str else number}
        for number in range(count)
        for name, given in known.items()
    )
    rows = [row | each for each in ids] if known else [row] * count
    report = validate(
        jsonl(*rows), format=format_id, map={"source": "mapped"}, strict=strict
    )
    found = {group.code for group in report.groups}
    return report.summary()["invalid"] / count, found


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("value", ["x", 7, None])
@pytest.mark.parametrize("format_id", READABLE)
def test_a_mapped_key_is_judged_alike_in_few_and_many_rows(
    format_id: str, value: Any, strict: bool
) -> None:
    """A key or value is refused in any number of rows, if it is in one of them."""
    paths = [each for each in valid_files(format_id) if each.suffix == ".jsonl"]
    firsts = [jsonl_rows(each.read_bytes())[:1] for each in paths]
    for (row,) in filter(None, firsts):
        if isinstance(row, dict):
            changed = row | {"mapped": value}
            few = verdict(changed, FEW, format_id, strict)
            assert verdict(changed, MANY, format_id, strict) == few


@for_each_case(
    "field, path, row, found",
    [
        ("prompt", "q", {"q": "a"}, ""),
        ("prompt", "q", {"q": 7}, "/q must be a text, found the number 7"),
        ("prompt", "q", {"q": None}, "/q must be a text, found null"),
        ("prompt", "q", {}, " is missing"),
        ("prompt", "a.b", {"a": {"b": "x"}}, ""),
        ("prompt", "a.b", {"a": {"b": 3}}, "/a/b must be a text, found the number 3"),
        ("prompt", "a.b", {"a.b": 3}, "/a.b must be a text, found the number 3"),
        ("prompt", "a.b", {"a": "b"}, " is missing"),
        ("id", "q", {"q": 1.5}, "/q must be text or an integer, found the number 1.5"),
        ("messages", "q", {"q": [{}]}, ""),
        ("messages", "q", {"q": 3}, "/q must be messages or text, found the number 3"),
        (
            "score",
            "q",
            {"q": {}},
            "/q must be a number, true, false or text, found an object",
        ),
        ("references", "q", {"q": ["a"]}, ""),
        (
            "references",
            "q",
            {"q": ["a", 1]},
            "/q must be a text or an array of texts, found an array with the number 1",
        ),
        ("response", "t[n]", {"t": ["a"], "n": 0}, ""),
        ("response", "t[n]", {"t": ["a"], "n": 1}, "/t 1 is not one of 1 items"),
    ],
)
def test_a_mapped_value_is_of_the_type_of_its_field(
    field: str, path: str, row: Any, found: str
) -> None:
    """The message on any row has the values that are allowed, and the one found."""
    options: Any = {"map": {field: path}, "select": ("S101", "S102")}
    place, text = found.split(" ", 1) if found else ("", "")
    start = f"{path}: " if "one of" in text else f"{path}, mapped to {field}, "
    for count in (FEW, MANY):
        report = validate(jsonl(*[row] * count), format="json", **options)

        assert report.files[0].invalid == (count if found else 0)
        for problem in report.problems:
            assert problem.place.pointer == place
            assert problem.message == start + text
