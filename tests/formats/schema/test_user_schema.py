import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import command_runs
from cases import for_each_case
from fixture_files import ROOT
from harpia_formats import SchemaError, validate
from json_lines import jsonl, jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

#: Levels of a schema, at most (docs/reference/limits.md).
DEPTH_LIMIT = 100
DRAFT = "http://json-schema.org/draft-07/schema#"
TREE = {"properties": {"kids": {"items": {"$ref": "#"}}, "name": {"type": "string"}}}
LIST = {
    "$ref": "#/definitions/node",
    "definitions": {
        "node": {
            "type": "object",
            "properties": {
                "next": {"anyOf": [{"$ref": "#/definitions/node"}, {"type": "null"}]}
            },
        }
    },
}
TEXT = {"type": "string"}


def nested(levels: int) -> dict[str, Any]:
    """Return a schema of that many levels."""
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return schema


def reason(schema: Any) -> str:
    """Return why `schema` is refused."""
    with pytest.raises(SchemaError) as caught:
        validate(b"", schema=schema)
    assert str(caught.value) == f"{caught.value.name}: {caught.value.reason}"
    return caught.value.reason


@for_each_case("path", sorted((ROOT / "schemas").glob("*/*.schema.json")))
def test_built_in_schemas_pass_the_same_check(path: Path) -> None:
    """The built-in schemas are draft-07, and nothing in them is doubtful."""
    assert json.loads(path.read_bytes())["$schema"] == DRAFT
    assert validate(b"{}", schema=path).files[0].path == "<data>"


@for_each_case(
    "schema",
    jsonl_rows(CASES / "taken.jsonl"),
)
def test_draft_07_schema_is_taken(schema: Any) -> None:
    """A schema without references to other files is accepted, even if recursive."""
    validate(b"", schema=schema)


@pytest.mark.parametrize(
    "draft",
    [
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2020-12/schema",
        "http://example.org/schema",
    ],
)
def test_other_draft_is_named(draft: str) -> None:
    """A schema of another draft is refused by the name of its draft."""
    assert reason({"$schema": draft}) == (
        f"is written in {draft}; only draft-07 is supported"
    )


@pytest.mark.parametrize("schema", [None, 5, "object", [{}]])
def test_other_values_are_no_schema(tmp_path: Path, schema: Any) -> None:
    """Only objects and booleans are schemas."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(schema))

    assert reason(path) == "is not a schema: neither an object nor true or false"


@for_each_case(
    "schema, place",
    jsonl_rows(CASES / "not_draft_07.jsonl"),
)
def test_breach_of_the_meta_schema_has_a_pointer(schema: Any, place: str) -> None:
    """A schema that is not draft-07 is refused with the place of the error."""
    assert reason(schema).startswith(f"is not a draft-07 schema: at {place}")


@for_each_case(
    "target, keyword",
    itertools.product(
        [
            "http://127.0.0.1/schema.json",
            "file:///etc/passwd",
            "other.json",
            "other.json#/definitions/a",
            "//host/x",
        ],
        ["items", "not", "additionalProperties"],
    ),
)
def test_reference_out_of_the_file_is_refused(target: str, keyword: str) -> None:
    """A reference to another file is refused at any place, and nothing is fetched."""
    assert reason({"properties": {"const": {keyword: {"$ref": target}}}}) == (
        f"refers to {target}; only references inside the file are followed"
    )


@for_each_case(
    "schema",
    jsonl_rows(CASES / "loops.jsonl"),
)
def test_loop_is_refused(schema: Any) -> None:
    """A reference that leads to itself without a step into the data is refused."""
    assert reason(schema).endswith(" refers to itself")


@for_each_case(
    "target",
    [
        *("#/definitions/none", "#none", "#/allOf/1", "#/allOf/-1", "#/%zz"),
        *("#/definitions/a/title/x", "#/allOf/%D9%A0", f"#/allOf/{'9' * 5_000}"),
    ],
)
def test_dangling_reference_is_refused(target: str) -> None:
    """A reference to nothing is refused by name."""
    part = {"items": {"$ref": target}, "title": "t"}
    schema = {"allOf": [{}], "definitions": {"a": part}}

    assert reason(schema) == f"refers to {target}, which is not there"


@pytest.mark.parametrize("target", ["#/title", "#/enum/0", "#/required"])
def test_reference_to_another_value_is_refused(target: str) -> None:
    """A reference must lead to a schema."""
    schema: dict[str, Any] = {"title": "a", "enum": [5], "required": []}
    schema["properties"] = {"a": {"$ref": target}}

    assert reason(schema) == f"refers to {target}, which is not a schema"


def test_reference_inside_an_embedded_schema_starts_there() -> None:
    """Inside a schema with an `$id`, references are relative to that schema."""
    inner = {"$id": "urn:inner", "items": {"$ref": "#/definitions/a"}}
    inner |= {"definitions": {"a": TEXT}}

    validate(b"", schema={"properties": {"x": inner}})

    assert reason({"properties": {"x": inner | {"definitions": {}}}}) == (
        "refers to #/definitions/a, which is not there"
    )


def test_referenced_schema_is_checked() -> None:
    """A reference under an unknown keyword is checked once another one refers to it."""
    schema: dict[str, Any] = {"x": {"y": {"items": {"$ref": "#/nowhere"}}}}
    schema["items"] = {"$ref": "#/x/y"}

    assert reason(schema) == "refers to #/nowhere, which is not there"


@for_each_case(
    "schema, found",
    jsonl_rows(CASES / "dangling.jsonl"),
)
def test_reference_that_nobody_can_follow(schema: Any, found: str) -> None:
    """An ambiguous or dangling name is refused, with the name."""
    assert reason(schema) == found


def test_depth_is_limited() -> None:
    """A schema that is too deep for the engine is refused before the engine sees it."""
    assert reason(nested(100_000)) == f"is nested deeper than {DEPTH_LIMIT} levels"
    assert "nested deeper" in reason(nested(DEPTH_LIMIT + 1))
    validate(b"", schema=nested(DEPTH_LIMIT))


@for_each_case(
    "schema, place",
    jsonl_rows(CASES / "refused_by_the_engine.jsonl"),
)
def test_error_of_the_engine_is_a_schema_error(schema: Any, place: str) -> None:
    """An error that only the engine finds, such as a bad pattern, is a schema error."""
    assert reason(schema).startswith(f"cannot be used: at {place}: ")


@for_each_case(
    "text, fault",
    [
        (b"", "the text is empty (line 1, column 1)"),
        (b'{\n  "minimum": NaN}', "(line 2, column 14)"),
        (b'{"type": "object",}', "(line 1, column 18)"),
        ('{"título": }'.encode(), "(line 1, column 12)"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b'{"pattern": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "nested"),
        (b'{"minimum": 1e400}', "too large"),
    ],
)
def test_broken_file_has_a_place(tmp_path: Path, text: bytes, fault: str) -> None:
    """A schema that is not JSON is refused, with line and column of the fault."""
    path = tmp_path / "mine.json"
    path.write_bytes(text)

    found = reason(path)

    assert found.startswith("is not a schema: not JSON: ")
    assert fault in found


def test_file_that_is_not_there(tmp_path: Path) -> None:
    """A schema that cannot be read is a schema error that says why."""
    missing = tmp_path / "none.json"

    with pytest.raises(SchemaError, match=r"none\.json: no such file or directory"):
        validate(b"", schema=missing)
    with pytest.raises(SchemaError, match="is a folder"):
        validate(b"", schema=tmp_path)


@for_each_case(
    "schema, text, is_valid",
    [
        ({"type": "integer"}, str(10**30), True),
        ({"type": "integer"}, "1.5", False),
        ({"type": "integer"}, '""', False),
        # Exponential with backtracking.
        ({"pattern": "^(a+)+$"}, json.dumps("a" * 50_000 + "b"), False),
        # Not supported by the engine that is linear.
        ({"pattern": "^(?!no)"}, '"yes"', True),
        ({"pattern": "^(?!no)"}, '"no"', False),
    ],
)
def test_verdict_is_that_of_the_schema(schema: Any, text: str, is_valid: bool) -> None:
    """Draft 07 is followed, with integers of any size and any pattern."""
    report = validate(text.encode(), schema=schema)

    assert (report.ok, report.failures) == (is_valid, ())


#: A pattern on which the engine gives up in a text that `HARD` is.
GIVEN_UP, HARD = {"pattern": r"^(?=a)(a|aa|a?)+\1+$"}, "a" * 40 + "b"


def test_given_up_pattern_gives_no_verdict_below_other_keywords() -> None:
    """A row is undetermined, whichever keyword asks whether the pattern matches."""
    asking: dict[str, Any] = {
        "not": {"not": GIVEN_UP},
        "not not": {"not": {"not": GIVEN_UP}},
        "not anyOf": {"not": {"anyOf": [GIVEN_UP, False]}},
        "then": {"if": GIVEN_UP, "then": False},
        "else": {"if": GIVEN_UP, "else": False},
        "if not": {"if": {"not": GIVEN_UP}, "then": False},
        "oneOf": {"oneOf": [GIVEN_UP, True]},
        "two": {"oneOf": [GIVEN_UP, {"pattern": r"^(?=a)(a|aa|a?)+\1+\1$"}]},
    }
    rows = jsonl(*({name: HARD} for name in asking))
    report = validate(rows, schema={"properties": asking})
    (file,) = report.files

    assert (file.records, file.undetermined) == (8, 8)
    assert [each.code for each in report.problems] == ["V901"] * 8


def test_recursive_schema_validates_every_level() -> None:
    """A recursive schema validates a tree down to its leaves."""
    report = validate(b'{"kids": [{"kids": [{"name": 5}]}]}', schema=TREE)

    assert [each.place.pointer for each in report.problems] == ["/kids/0/kids/0/name"]


def test_error_below_many_references_has_its_place() -> None:
    """The path through the schema may have several steps for each level of a record."""
    node = {"additionalProperties": {"allOf": [{"$ref": "#/definitions/node"}]}}
    either = {"anyOf": [{"type": "integer"}, {"type": "object", **node}]}
    start = {"allOf": [{"$ref": "#/definitions/node"}]}
    schema = {"definitions": {"node": either}, **start}

    data = b'{"a":' * 190 + b'""' + b"}" * 190
    report = validate(data, schema=schema, row_timeout=100)

    (problem,) = report.problems
    assert (problem.code, problem.place.pointer) == ("S102", "/a" * 190)


@pytest.mark.parametrize(
    "text", ['{"pattern": "("}', '{"$ref": "#"}', '{"$ref": "http://x"}', "{"]
)
def test_command_says_it_in_one_line(tmp_path: Path, text: str) -> None:
    """On the command line a bad schema is one line on standard error, and exit 2."""
    schema, data = tmp_path / "mine.json", tmp_path / "data.jsonl"
    schema.write_text(text)
    data.write_text("{}\n")

    done = command_runs.run("validate", "--schema", schema, data, timeout=60)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"error: {schema}: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("pattern", ["(", "[a-", "a{2,1}", "é("])
def test_pattern_that_cannot_be_used_is_shown(pattern: str) -> None:
    """The message on a bad pattern has its place and the pattern itself."""
    found = reason({"properties": {"a": {"pattern": pattern}}})

    assert "/properties/a/pattern" in found
    assert json.dumps(pattern, ensure_ascii=False) in found
    assert "…" not in found
