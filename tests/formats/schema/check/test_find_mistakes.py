import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.validators import validator_for

from cases import for_each_case
from corpora import CORPORA
from fixture_files import ROOT, schema_file
from harpia_formats import Problem, check_schema
from json_lines import jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

#: The addresses of the drafts that are known, the newest last.
DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
#: The findings in schemas of Every Eval Ever, checked by hand: the files of each code
#: and pointer, `a` for aggregates and `i` for instances.
UPSTREAM = Path(__file__).with_name("upstream_findings.json")

#: What the bundled schemas of others say, which is theirs to mend.
GHOST = [
    ("S411", "/allOf/1/then/properties/metrics/required/0"),
    ("S413", "/allOf/0/if/properties/interaction_type"),
    ("S413", "/allOf/1/if/properties/interaction_type"),
    ("S414", "/allOf/0/then/properties/output/not"),
]
SCORE_TYPE = "/properties/evaluation_results/items/properties/metric_config"
BUNDLED = {
    "eee@0.2.0": [*GHOST, ("S414", "/allOf/1/then/properties/interactions/not")],
    "eee@0.2.0-tag": [*GHOST, ("S414", "/allOf/1/then/properties/interactions/not")],
    "eee@0.3.0": [*GHOST, ("S414", "/allOf/1/then/properties/messages/not")],
    "eee-aggregate@0.2.0": [
        ("S412", f"{SCORE_TYPE}/else/if/properties/score_type"),
        ("S412", f"{SCORE_TYPE}/if/properties/score_type"),
    ],
    # Without metadata or extra there are no documents, either.
    "record": [
        ("S412", "/anyOf/1/if/properties/extra"),
        ("S412", "/anyOf/1/if/properties/metadata"),
    ],
    # Lines of `jsonl`, which the report itself does not hold.
    "report-1": [
        ("S408", "/definitions/line"),
        ("S408", "/definitions/problem-line"),
        ("S408", "/definitions/summary-line"),
    ],
}


def mistakes_in(schema: Any) -> tuple[Problem, ...]:
    """Return the findings in a schema."""
    report = check_schema(json.dumps(schema).encode(), examples=0, max_problems=0)
    assert not report.failures
    return report.problems


def found_in(schema: Any) -> list[tuple[str, str]]:
    """Return the code and pointer of each finding in a schema."""
    return sorted((each.code, each.place.pointer) for each in mistakes_in(schema))


@for_each_case(
    "identifier",
    [path.name.removesuffix(".schema.json") for path in ROOT.glob("schemas/*/*.json")],
)
def test_bundled_schemas_have_known_mistakes_only(identifier: str) -> None:
    """The findings in the schemas that ship are those that were checked by hand."""
    assert found_in(schema_file(identifier)) == BUNDLED.get(identifier, [])


@pytest.mark.corpora
def test_upstream_schemas_have_the_listed_mistakes() -> None:
    """In 46 published schemas exactly the mistakes are found that are there."""
    paths = sorted((CORPORA / "eee/schemas").glob("*.schema.json"))
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        kind = "i" if "instance_level" in path.name else "a"
        for code, pointer in found_in(json.loads(path.read_bytes())):
            found[f"{code} {pointer}"].append(f"{kind}{path.name[:2]}")
    expected = json.loads(UPSTREAM.read_bytes())

    assert {key: sorted(files) for key, files in found.items()} == {
        key: sorted(files.split()) for key, files in expected.items()
    }


def on(**node: Any) -> dict[str, Any]:
    """Return a schema whose property `p` has the keywords `node`."""
    return {"properties": {"p": node}}


def condition(described: Any, tested: Any) -> dict[str, Any]:
    """Return a schema that describes `kind` one way, and tests it in another way."""
    return {
        "properties": {"kind": described},
        "if": {"required": ["kind"], "properties": {"kind": tested}},
        "then": {},
    }


_ONE_OF = "/properties/p/oneOf/0"
#: Schemas with one mistake each, and where it is.
MISTAKES: list[tuple[Any, str, str]] = jsonl_rows(CASES / "mistakes.jsonl")


@for_each_case("schema, code, pointer", MISTAKES)
def test_mistake_is_found_at_its_place(schema: Any, code: str, pointer: str) -> None:
    """Each mistake is found once, at the keyword that has it, and nothing else."""
    assert found_in(schema) == [(code, pointer)]


#: What looks like a mistake and is none.
RIGHT: list[Any] = jsonl_rows(CASES / "right.jsonl")


@for_each_case("schema", RIGHT)
def test_right_schema_has_no_finding(schema: Any) -> None:
    """What an author may mean is not reported, but for the name of another draft."""
    assert [code for code, _ in found_in(schema) if code != "S425"] == []


def test_keywords_of_a_newer_draft_are_checked_by_it() -> None:
    """A schema in 2020-12 may use its keywords, and keywords it lacks are reported."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "prefixItems": [{"type": "strin"}],
        "unevaluatedItems": False,
        "$defs": {"a": {"$anchor": "here", "required": ["b"], "properties": {"c": {}}}},
        "allOf": [{"$ref": "#here", "minimum": 1}],
        "additionalItems": False,
    }

    assert found_in(schema) == [
        ("S403", "/additionalItems"),
        ("S404", "/prefixItems/0/type"),
        ("S410", "/$defs/a/required/0"),
        ("S425", "/$schema"),
    ]


def test_anchor_of_two_parts() -> None:
    """A name of a newer draft that two parts have is found at the second one."""
    parts = {"a": {"$anchor": "x"}, "b": {"$dynamicAnchor": "x"}}
    found = found_in({"$schema": DRAFTS[4], "$defs": parts})

    assert found == [("S404", "/$defs/b/$dynamicAnchor"), ("S425", "/$schema")]


def test_dependencies_of_a_newer_draft() -> None:
    """They are not called ignored: jsonschema ignores them, jsonschema-rs does not."""
    schema = {"$schema": DRAFTS[4], "dependencies": {"a": ["b"]}}
    message = "dependencies is no keyword of 2020-12, and only some validators apply it"

    assert Draft202012Validator(schema).is_valid({"a": 1})
    assert not jsonschema_rs.Draft202012Validator(schema).is_valid({"a": 1})
    assert message in [each.message for each in mistakes_in(schema)]


OLDER = {"$schema": DRAFTS[1]}
KIND = {"definitions": {"k": {"type": "string"}}}


@for_each_case(
    "schema, codes",
    [
        (
            KIND
            | condition({"$ref": "#/definitions/k", "type": "null"}, {"const": ""}),
            "",
        ),
        (
            KIND
            | condition({"type": "string"}, {"$ref": "#/definitions/k", "const": 1}),
            "",
        ),
        (
            KIND
            | condition({"type": "string"}, {"const": 1})
            | {
                "if": {
                    "properties": {"kind": {"const": 1}},
                    "allOf": [{"$ref": "#/definitions/k", "required": ["kind"]}],
                }
            },
            "S412",
        ),
        (OLDER | condition({"type": "string"}, {"const": 1}), "S425"),
        ({"$schema": DRAFTS[2], **on(contains={}, minContains=2, maxContains=1)}, ""),
        ({"$schema": DRAFTS[0], **on(const=1, type="string")}, "S425"),
        (
            {"definitions": {"n": {"type": "integer"}}}
            | on(
                oneOf=[
                    {"$ref": "#/definitions/n", "type": "string"},
                    {"type": "string"},
                ]
            ),
            "",
        ),
    ],
)
def test_ignored_keywords_contradict_nothing(schema: Any, codes: str) -> None:
    """What a draft lacks, or ignores next to `$ref`, is only reported as ignored."""
    assert {code for code, _ in found_in(schema)} == {"S403", *codes.split()}


def test_nothing_else_is_checked_in_an_unknown_draft() -> None:
    """Keywords of a draft that is not known are not judged."""
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", "type": "any"}

    assert found_in(schema) == [("S427", "/$schema")]


def test_loop_of_references_through_dependent_schemas_is_found() -> None:
    """Schemas for objects with a key apply to the same object as the one around."""
    loop = {"dependentSchemas": {"b": {"$ref": "#/$defs/a"}}}
    schema = {"$schema": DRAFTS[-1], "$ref": "#/$defs/a", "$defs": {"a": loop}}

    assert found_in(schema) == [
        ("S406", "/$defs/a/dependentSchemas/b/$ref"),
        ("S425", "/$schema"),
    ]


@for_each_case(
    "schema, message",
    [
        (
            on(type=["string", "integer"], required=["a"]),
            "required has no effect on values of type integer or string",
        ),
        (
            on(items=[{}], additionalItems=False, minItems=2),
            "minItems 2 leaves no value: no more items than 1 are allowed",
        ),
    ],
)
def test_message_names_all_that_the_schema_allows(schema: Any, message: str) -> None:
    """Integers that a list of types names are named, and a bound as it is."""
    assert [each.message for each in mistakes_in(schema)] == [message]


def test_key_whose_schema_is_false_is_no_unnamed_one() -> None:
    """What is said of a required key is true: it is named, and has no value."""
    named, unnamed = (
        mistakes_in({"required": ["a"], **rest})[0].message
        for rest in (
            {"properties": {"a": False}},
            {"properties": {"b": {}}, "additionalProperties": False},
        )
    )

    assert named == '"a" is required, and its schema is false: no object is allowed'
    assert "no property is called so" in unnamed


def test_help_names_the_key_that_is_meant() -> None:
    """The ghost of a renamed key is explained by the key that describes it now."""
    (ghost,) = [
        each for each in mistakes_in(schema_file("eee@0.2.0")) if each.code == "S411"
    ]

    assert ghost.help == (
        "num_turns is described in evaluation: write evaluation in place of metrics"
    )


KEYWORDS = sorted(
    {
        keyword
        for draft in DRAFTS
        for keyword in validator_for({"$schema": draft}).VALIDATORS
    }
    | Draft7Validator.META_SCHEMA["properties"].keys()
)
NAMES = st.sampled_from(["a", "b", "required", "type"])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from(
        ["a", "string", "int", "#", "#/definitions/a", "(", r"^\d$", "x#y"]
    ),
)


def _with_members(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(NAMES, st.sampled_from(KEYWORDS)), inner, max_size=4),
        st.fixed_dictionaries(
            {},
            optional={
                "definitions": st.dictionaries(NAMES, inner, max_size=2),
                "properties": st.dictionaries(NAMES, inner, max_size=3),
                "required": st.lists(NAMES, max_size=2),
                "if": inner,
                "then": inner,
                "allOf": st.lists(inner, max_size=2),
                "$ref": st.sampled_from(
                    ["#", "#/definitions/a", "#/properties/b", "x"]
                ),
                "type": st.sampled_from(["object", "string", ["null", "array"]]),
                "default": inner,
            },
        ),
    )


@settings(deadline=None)
@given(
    schema=st.recursive(LEAVES, _with_members, max_leaves=25),
    draft=st.sampled_from([None, *DRAFTS]),
)
def test_any_value_can_be_checked(schema: Any, draft: Any) -> None:
    """Whatever JSON is checked, findings have places in it."""
    if isinstance(schema, dict) and draft is not None:
        schema = {"$schema": draft, **schema}
    for each in mistakes_in(schema):
        value = schema
        for part in each.place.pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            value = value[int(key) if isinstance(value, list) else key]


#: Schemas that a careless check needs very long for.
LARGE: dict[str, Any] = {
    "doubled references": {
        "$ref": "#/definitions/d0",
        "definitions": {
            **{
                f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2}
                for n in range(60)
            },
            "d60": {"default": 1, "type": "string"},
        },
    },
    "many references": {
        "properties": {f"p{n}": {"$ref": f"#/definitions/d{n}"} for n in range(3_000)},
        "definitions": {
            f"d{n}": {"type": "object", "properties": {"x": {"$ref": "#"}}}
            for n in range(3_000)
        },
    },
    "a long enum": on(enum=[f"value {n}" for n in range(20_000)], type="integer"),
    "many branches": {
        "anyOf": [
            {"properties": {f"a{n}": {"required": [f"b{n}"]}}} for n in range(1_000)
        ],
        **on(),
    },
    "many required keys": {
        "required": [f"key number {n}" for n in range(2_000)],
        "properties": {f"key number {n}": {} for n in range(1_000)},
        "patternProperties": {f"^x{n}[a-z]+": {} for n in range(200)},
        "additionalProperties": False,
    },
    "many unresolved references": {
        "properties": {f"p{n}": {"$ref": f"#/definitions/e{n}"} for n in range(2_000)},
        "definitions": {f"d{n}": {"$id": f"urn:d{n}"} for n in range(2_000)},
    },
    "a pattern that tries all ways": on(pattern="^(a+)+$", default="a" * 40 + "b"),
}


#: Large schemas of kinds that others are like.
ALIKE = {"a long enum", "many branches", "many unresolved references"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in ALIKE else [])
        for name in LARGE
    ],
)
def test_time_is_bounded(name: str) -> None:
    """Large schemas, and those whose work multiplies, are checked in seconds."""
    begun = time.process_time()
    check_schema(LARGE[name])

    assert time.process_time() - begun < 5
