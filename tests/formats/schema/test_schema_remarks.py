import itertools
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import command_runs
from cases import for_each_case
from harpia_formats import SchemaError, validate

DRAFT = "http://json-schema.org/draft-07/schema#"
#: Keywords that draft-07 does not have.
OTHER_DRAFTS = (
    "$anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef $vocabulary "
    "contentSchema dependentRequired dependentSchemas disallow divisibleBy extends "
    "maxContains minContains prefixItems unevaluatedItems unevaluatedProperties"
).split()
#: Where a schema stands: the pointer of a part, and the schema around it.
PLACES: dict[str, Any] = {
    "": lambda part: part,
    "/properties/a": lambda part: {"properties": {"a": part}},
    "/definitions/a": lambda part: {"definitions": {"a": part}},
    "/$defs/a": lambda part: {"$defs": {"a": part}},
    "/patternProperties/a": lambda part: {"patternProperties": {"a": part}},
    "/items": lambda part: {"items": part},
    "/items/1": lambda part: {"items": [{}, part]},
    "/allOf/0": lambda part: {"allOf": [part]},
    "/then": lambda part: {"if": {}, "then": part},
    "/dependencies/a": lambda part: {"dependencies": {"a": part}},
    "/x/0/y~1z": lambda part: {
        "not": {"$ref": "#/x/0/y~1z"},
        "x": [{"y/z": part}],
    },
    "/definitions/b": lambda part: {
        "$ref": "#/definitions/c",
        "definitions": {"b": part, "c": {}},
    },
}
#: Where there is data.
DATA_PLACES: list[Any] = [
    lambda part: {"properties": part},
    lambda part: {"definitions": part},
    lambda part: {"const": part},
    lambda part: {"enum": [part]},
    lambda part: {"default": part, "examples": [part]},
    lambda part: {"x-notes": part},
]


@for_each_case("place, keyword", itertools.product(PLACES, OTHER_DRAFTS))
def test_keyword_of_another_draft_is_named(keyword: str, place: str) -> None:
    """Without `$schema`, a keyword that draft-07 lacks is refused with its pointer."""
    schema = PLACES[place]({keyword: {}})

    with pytest.raises(SchemaError, match="that draft-07 does not have") as caught:
        validate(b"", schema=schema)

    assert f": {place}/{keyword};" in caught.value.reason


@for_each_case("make, keyword", itertools.product(DATA_PLACES, OTHER_DRAFTS))
def test_property_may_be_called_so(keyword: str, make: Any) -> None:
    """Where no schema stands, the name of such a keyword is any key."""
    validate(b"", schema=make({keyword: {}}))


def test_all_are_named_up_to_a_few() -> None:
    """Several keywords are named in one error."""
    schema = {"prefixItems": [{}], "properties": {"a": {"minContains": 1}}}

    with pytest.raises(SchemaError) as caught:
        validate(b"", schema=schema)
    assert caught.value.reason.startswith(
        "has 2 keywords that draft-07 does not have: "
        "/prefixItems, /properties/a/minContains; only draft-07 is supported"
    )

    many: Any = {"properties": {key: {"prefixItems": []} for key in "abcdefg"}}
    with pytest.raises(SchemaError, match=r"/properties/e/prefixItems and 2 more;"):
        validate(b"", schema=many)


def codes_at(schema: Any) -> list[tuple[str, str]]:
    """Return the code and pointer of each remark on a schema."""
    return [
        (each.code, each.place.pointer)
        for each in validate(b"{}", schema=schema, examples=0).problems
        if each.place.path == "schema"
    ]


@for_each_case("keyword", OTHER_DRAFTS)
def test_ignored_keyword_is_a_remark_under_an_explicit_draft(keyword: str) -> None:
    """With draft-07 in `$schema`, a keyword of another draft is ignored, with S403."""
    assert codes_at({"$schema": DRAFT, keyword: {}}) == [("S403", f"/{keyword}")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"requird": ["a"]}, [("S401", "/requird")]),
        ({"tpye": "string"}, [("S401", "/tpye")]),
        ({"minlength": 1}, [("S401", "/minlength")]),
        ({"additional_properties": False}, [("S401", "/additional_properties")]),
        ({"enum": []}, [("S402", "/enum")]),
        ({"$ref": "#/properties/z", "minLength": 1}, [("S403", "/minLength")]),
        ({"note": "text"}, []),
        ({"version": 1, "unit": "s", "x-type": 1, "$comment": "", "deprecated": 1}, []),
        ({"$ref": "#/properties/z", "description": "text"}, []),
        ({"type": "string", "tpye": "string"}, []),
    ],
)
def test_remarks_are_made_at_any_place(
    place: str, part: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    """A misspelt or ignored keyword and an empty `enum` are remarks with a pointer."""
    schema = PLACES[place](deepcopy(part))
    schema.setdefault("properties", {})["z"] = {}
    expected = [(code, place + pointer) for code, pointer in found]
    if "$ref" in schema:
        expected.append(("S403", "/properties"))

    assert sorted(codes_at(schema)) == sorted(expected)


@for_each_case("make", DATA_PLACES)
def test_data_has_no_remarks(make: Any) -> None:
    """Names of properties and data are not taken for keywords."""
    assert codes_at(make({"requird": {}, "$anchor": {}})) == []


def test_remark_is_a_problem_of_the_schema_file(tmp_path: Path) -> None:
    """A remark is reported as a warning, with its place in the file of the schema."""
    path = tmp_path / "mine.json"
    path.write_text('{\n  "type": "object",\n  "requird": ["a"]\n}\n')

    report = validate(b"{}\n", schema=path)

    (problem,) = report.problems
    place = problem.place
    assert (problem.code, problem.severity, problem.help) == (
        "S401",
        "warning",
        "write required, if that is meant",
    )
    assert (place.path, place.line, place.column) == (str(path), 3, 3)
    assert (place.pointer, place.record) == ("/requird", None)
    assert report.ok
    assert [count.path for count in report.files] == [str(path), "<data>"]
    assert (report.files[0].records, report.files[1].valid) == (0, 1)
    assert validate(b"{}\n", schema=path, ignore=("S401",)).problems == ()


def test_repeated_key_is_an_error_of_the_schema_file(tmp_path: Path) -> None:
    """A key of the schema that is there twice is reported, as by `schema check`."""
    path = tmp_path / "mine.json"
    path.write_text('{"required": ["a"],\n "properties": {},\n "required": ["b"]}\n')

    report = validate(b'{"b": 1}\n', schema=path)

    (problem,) = report.problems
    place = problem.place
    assert (problem.code, problem.severity, place.pointer) == (
        "J105",
        "error",
        "/required",
    )
    assert (place.path, place.line, place.column) == (str(path), 3, 2)
    assert not report.ok
    assert report.files[1].valid == 1
    assert validate(b'{"b": 1}\n', schema=path, ignore=("J105",)).ok


@pytest.mark.parametrize(
    ("schema", "options", "code"),
    [
        ({"enum": []}, (), 1),
        ({"requird": ["a"]}, (), 0),
        ({"requird": ["a"]}, ("--error-on-warning",), 1),
        ({"prefixItems": [{}]}, (), 2),
        ({"dependentRequired": {}}, (), 2),
    ],
)
def test_exit_code(
    tmp_path: Path, schema: Any, options: tuple[str, ...], code: int
) -> None:
    """A remark is a warning; a keyword of another draft is an error of usage."""
    path, data = tmp_path / "mine.json", tmp_path / "rows.jsonl"
    path.write_text(json.dumps(schema))
    data.write_text("{}\n")

    done = command_runs.run("validate", data, "--schema", path, *options, timeout=60)

    assert done.returncode == code, done
    assert str(path) in (done.stdout + done.stderr).decode()
