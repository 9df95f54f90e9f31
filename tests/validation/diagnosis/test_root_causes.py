import itertools
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from cases import for_each_case
from effort import drawn, examples
from harpia_formats.api.testing.mutation import POOL, mutants
from harpia_formats.files.framing.chunk import Cursor, with_nulls
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.registry import all_formats, all_rules
from harpia_formats.formats.schema.bundled_schemas import (
    SchemaError,
    document_schema,
    is_whole,
    record_schema,
    schema_validator_of,
)
from harpia_formats.formats.schema.user_schema import check_schema
from harpia_formats.model.format import Advice, Container, no_advice
from harpia_formats.model.problem import Path as Steps
from harpia_formats.model.problem import pointer_of
from harpia_formats.validation.diagnosis.engine_errors import value_at
from harpia_formats.validation.diagnosis.messages import problem_of
from harpia_formats.validation.diagnosis.root_causes import Cause, Finding, root_causes
from harpia_formats.validation.diagnosis.row_context import RowContext

FIXTURES = Path(__file__).parents[3] / "fixtures"
RULES = all_rules()
IS_TOOL = {"properties": {"kind": {"const": "tool"}}}
TOOL = {"if": IS_TOOL | {"required": ["kind"]}, "then": {"required": ["call"]}}
LAX_TOOL = {"if": IS_TOOL, "then": {"required": ["call"]}}
TEXT_OR_LIST = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
SHAPES = [
    {"required": ["url"], "properties": {"kind": {"const": "url"}}},
    {"required": ["path"], "properties": {"kind": {"const": "file"}}},
]

#: The code and the JSON pointer of a cause.
CodeAndPointer = tuple[str, str]


def causes_of(schema: Any, record: Any) -> list[Cause]:
    """Return the causes that are found in `record`, in order of their pointers."""
    errors = schema_validator_of(schema).iter_errors(record)
    causes = root_causes(record, errors, schema, no_advice)
    return sorted(causes, key=lambda cause: pointer_of(cause.path))


def codes_and_pointers(schema: Any, record: Any) -> list[CodeAndPointer]:
    """Return code and pointer of the causes that are found in `record`."""
    return [(cause.code, pointer_of(cause.path)) for cause in causes_of(schema, record)]


def pointers_of_condition(schema: Any, record: Any) -> list[str]:
    """Return the pointers of the values that made the condition of a cause apply.

    `record` has only one cause.
    """
    (cause,) = causes_of(schema, record)
    return [pointer_of(path) for path in cause.because]


@for_each_case(
    "schema, record, expected",
    [
        # The condition is met: one cause, at the object.
        (TOOL, {"kind": "tool"}, [("C101", "")]),
        ({"items": TOOL}, [{"kind": "tool"}, {}], [("C101", "/0")]),
        (
            {"properties": {"a": {"items": [{}, TOOL]}}},
            {"a": [1, {"kind": "tool"}]},
            [("C101", "/a/1")],
        ),
        ({"additionalProperties": TOOL}, {"x": {"kind": "tool"}}, [("C101", "/x")]),
        (
            {"items": [{}], "additionalItems": TOOL},
            [1, {"kind": "tool"}],
            [("C101", "/1")],
        ),
        ({"patternProperties": {"x": TOOL}}, {"x": {"kind": "tool"}}, [("C101", "/x")]),
        # Through references.
        (
            {"items": {"$ref": "#/definitions/t"}, "definitions": {"t": TOOL}},
            [{"kind": "tool"}],
            [("C101", "/0")],
        ),
        # `else`, nested conditions, and conditions that forbid.
        (
            {"if": {"required": ["a"]}, "else": {"required": ["b"]}},
            {},
            [("C101", "")],
        ),
        (
            {
                "if": {"required": ["a"]},
                "then": {"if": {"required": ["b"]}, "then": {"required": ["c"]}},
            },
            {"a": 1, "b": 1},
            [("C101", "")],
        ),
        ({"if": {"required": ["a"]}, "then": False}, {"a": 1}, [("C101", "")]),
        (
            {"if": {"required": ["a"]}, "then": {"properties": {"b": False}}},
            {"a": 1, "b": 2},
            [("C101", "/b")],
        ),
        # A condition on the value of a key has the rule of the keyword.
        (
            {"if": {"required": ["a"]}, "then": {"properties": {"a": {"minimum": 5}}}},
            {"a": 1},
            [("V102", "/a")],
        ),
        # Several demands of one condition are one cause, the required key first.
        (
            {
                "if": {"required": ["a"]},
                "then": {
                    "required": ["c"],
                    "properties": {"b": {"type": "null"}, "c": {"type": "array"}},
                },
            },
            {"a": 1, "b": 2, "c": None},
            [("C101", "/c")],
        ),
        # Dependencies are conditions.
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, [("C101", "")]),
        (
            {"dependencies": {"x": True, "y": {"c": {}}, "a": ["c"]}},
            {"x": 1, "y": 1, "a": 1},
            [("C101", "")],
        ),
        (
            {"dependencies": {"a": {"properties": {"b": {"type": "null"}}}}},
            {"a": 1, "b": 1},
            [("C101", "/b")],
        ),
    ],
)
def test_conditions(schema: Any, record: Any, expected: list[CodeAndPointer]) -> None:
    """All demands of one broken condition are one cause, at any place of the schema."""
    assert codes_and_pointers(schema, record) == expected


@for_each_case(
    "schema, record, expected",
    [
        (TOOL, {"kind": "tool"}, ["/kind"]),
        (LAX_TOOL, {}, []),
        ({"items": TOOL}, [{"kind": "tool"}], ["/0/kind"]),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, ["/a"]),
        ({"dependencies": {"z": ["b"], "a": ["b"]}}, {"a": 1}, ["/a"]),
        (
            {"dependencies": {"x": True, "y": {"b": {}}, "a": ["b"]}},
            {"x": 1, "y": 1, "a": 1},
            ["/a"],
        ),
        ({"dependencies": {"then": {"required": ["b"]}}}, {"then": 1}, ["/then"]),
        (
            {
                "if": {"properties": {"meta": {"properties": {"kind": {"const": 1}}}}},
                "then": {"required": ["x"]},
            },
            {"meta": {"kind": 1}},
            ["/meta/kind"],
        ),
        (
            {
                "if": {
                    "allOf": [{"$ref": "#/definitions/a"}, {"required": ["c"]}],
                    "not": {"required": ["b"]},
                },
                "then": {"required": ["x"]},
                "definitions": {"a": {"properties": {"a": {"const": 1}}}},
            },
            {"a": 1, "c": 2},
            ["/a", "/c"],
        ),
    ],
)
def test_cause_has_the_values_that_the_condition_tests(
    schema: Any, record: Any, expected: list[str]
) -> None:
    """The cause has the paths of the tested values that the record has."""
    assert pointers_of_condition(schema, record) == expected


@for_each_case(
    "schema, record, expected",
    [
        # The missing key is reported by itself.
        (LAX_TOOL | {"required": ["kind"]}, {}, [("S101", "")]),
        (
            {"allOf": [LAX_TOOL], "required": ["kind"]},
            {"knid": "tool", "call": 1},
            [("S103", "/knid")],
        ),
        (
            {"items": {"allOf": [LAX_TOOL, LAX_TOOL], "required": ["kind"]}},
            [{}],
            [("S101", "/0")],
        ),
        # The tested key is not required: the condition is reported.
        (LAX_TOOL, {}, [("C101", "")]),
        # The missing key is one of another object: both are reported.
        (
            {"required": ["kind"], "properties": {"a": LAX_TOOL}},
            {"a": {}},
            [("S101", ""), ("C101", "/a")],
        ),
        # Another key is missing: both are reported.
        (TOOL | {"required": ["id"]}, {"kind": "tool"}, [("S101", ""), ("C101", "")]),
    ],
)
def test_vacuous_conditions(
    schema: Any, record: Any, expected: list[CodeAndPointer]
) -> None:
    """A condition that holds only because a required key is missing is not reported."""
    assert codes_and_pointers(schema, record) == expected


@for_each_case(
    "schema, record, expected",
    [
        ({"type": "string", "not": {"type": "null"}}, None, [("S102", "")]),
        ({"type": "string", "not": {"enum": [None]}}, None, [("S102", "")]),
        ({"not": {"type": "null"}}, None, [("V111", "")]),
        ({"type": "string", "enum": ["a"]}, 5, [("V101", "")]),
        ({"allOf": [{"type": "string"}, {"type": ["string", "null"]}]}, 5, 1),
        ({"type": "object", "oneOf": [{"type": "object"}]}, 5, 1),
        # A value that must be removed or replaced has no errors inside.
        (
            {
                "properties": {"a": {"required": ["b"]}, "k": {}},
                "if": {"required": ["k"]},
                "then": {"properties": {"a": {"type": "null"}}},
            },
            {"a": {}, "k": 1},
            [("C101", "/a")],
        ),
        (
            {"additionalProperties": False, "allOf": [{"properties": {"a": TOOL}}]},
            {"a": {"kind": "tool"}},
            [("S104", "/a")],
        ),
    ],
)
def test_redundant_errors(schema: Any, record: Any, expected: Any) -> None:
    """Two keywords on one value, or on the inside of a refused value, are one cause."""
    found = codes_and_pointers(schema, record)

    assert found == ([("S102", "")] if expected == 1 else expected)


@for_each_case(
    "schema, record, expected",
    [
        # Alternatives that differ only in the type are one type error.
        ({"oneOf": TEXT_OR_LIST}, 5, [("S102", "")]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, [("S102", "")]),
        # The alternative whose type is right was meant.
        ({"oneOf": TEXT_OR_LIST}, ["a", 5], [("S102", "/1")]),
        (
            {"properties": {"a": {"anyOf": TEXT_OR_LIST}}},
            {"a": [5]},
            [("S102", "/a/0")],
        ),
        # The alternative whose fixed value is right was meant.
        ({"oneOf": SHAPES}, {"kind": "file"}, [("S101", "")]),
        ({"oneOf": SHAPES}, {"kind": "url", "path": 1}, [("S101", "")]),
        # It cannot be known which one was meant.
        ({"oneOf": SHAPES}, {}, [("V109", "")]),
        ({"oneOf": SHAPES}, {"kind": "other"}, [("V109", "")]),
        ({"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}, 3, [("V109", "")]),
        ({"oneOf": [{}, True]}, 3, [("V110", "")]),
        # Alternatives in alternatives.
        (
            {"anyOf": [{"type": "null"}, {"items": {"oneOf": TEXT_OR_LIST}}]},
            [["a"], [5]],
            [("S102", "/1/0")],
        ),
    ],
)
def test_alternatives(schema: Any, record: Any, expected: list[CodeAndPointer]) -> None:
    """The causes are those of the alternative that the record was meant as."""
    assert codes_and_pointers(schema, record) == expected


@for_each_case(
    "schema, record, expected",
    [
        ({"required": ["name"]}, {"nmae": 1}, [("S103", "/nmae")]),
        ({"required": ["name"]}, {"nmae": 1, "naem": 1}, [("S101", "")]),
        ({"required": ["name", "nmea"]}, {"nmae": 1}, [("S101", ""), ("S101", "")]),
        # A known key is not a misspelt one.
        ({"required": ["name"], "properties": {"names": {}}}, {"names": 1}, 1),
        # A key that is missing and its misspelling are one cause.
        (
            {"required": ["name"], "properties": {"name": {}}}
            | {"additionalProperties": False},
            {"nmae": 1, "x": 1},
            [("S103", "/nmae"), ("S104", "/x")],
        ),
        # In a condition, its other demands are reported, too.
        (
            {"if": {"required": ["a"]}}
            | {"then": {"required": ["call"], "properties": {"b": {"type": "null"}}}},
            {"a": 1, "b": 1, "clal": 1},
            [("C101", "/b"), ("S103", "/clal")],
        ),
        ({"additionalProperties": False}, {"a": 1, "b": 1}, 2),
        ({"maxProperties": 0, "propertyNames": False}, {"a": 1}, 3),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, [("V114", "/ab")]),
    ],
)
def test_keys(schema: Any, record: Any, expected: Any) -> None:
    """A misspelt key is one cause; the path of an unknown key is the key itself."""
    special = {
        1: [("S101", "")],
        2: [("S104", "/a"), ("S104", "/b")],
        3: [("V106", ""), ("V114", "/a")],
    }

    found = codes_and_pointers(schema, record)

    assert found == (special[expected] if isinstance(expected, int) else expected)


@for_each_case(
    "key, name",
    itertools.product(
        ["1", "01", "+1", "007", "-1", "", "a/b", "a~b", "then"],
        ["x", "", "2", "properties", "items"],
    ),
)
def test_odd_keys_are_found(key: str, name: str) -> None:
    """Keys of digits, empty keys and keys named like keywords have exact paths."""
    schema = {"additionalProperties": {"additionalProperties": {"type": "string"}}}
    named = {"properties": {name: {"properties": {key: {"type": "string"}}}}}
    record = {"a": {"b": "c"}, name: {"z": "y", key: 5}}

    assert codes_and_pointers(schema, record) == [("S102", pointer_of((name, key)))]
    assert codes_and_pointers(named, record) == [("S102", pointer_of((name, key)))]


def test_keys_with_equal_engine_paths() -> None:
    """Keys that have the same path in the engine are distinguished by their values."""
    schema = {"additionalProperties": {"type": "string"}}

    assert codes_and_pointers(schema, {"1": "a", "01": 5}) == [("S102", "/01")]
    assert codes_and_pointers(schema, {"": "a", "1": True}) == [("S102", "/1")]
    assert codes_and_pointers(schema, {"": 5, "x": "a"}) == [("S102", "/")]


def test_properties_named_like_keywords() -> None:
    """A property called `then` or `properties` is not taken for the keyword."""
    names = ("then", "properties", "items", "dependencies", "$ref", "allOf")
    inner = {"required": ["q"], "properties": {name: {} for name in names}}
    schema = {"properties": dict.fromkeys(names, inner)}
    record: Any = {name: {} for name in names}

    assert codes_and_pointers(schema, record) == sorted(
        ("S101", f"/{name}") for name in names
    )


def test_pattern_without_a_verdict() -> None:
    """A pattern on which the engine gives up is V901, also in `anyOf`."""
    pattern = {"pattern": r"^(?:(\w+\s?)*b|a*!)(?<!x)$"}
    value = "a" * 40 + "!"

    assert codes_and_pointers(pattern, value) == [("V901", "")]
    assert codes_and_pointers({"anyOf": [pattern, {"type": "null"}]}, value) == [
        ("V901", "")
    ]


def test_advice_of_a_format_names_the_rule() -> None:
    """The rule and the help of a format's advice replace those of the condition."""

    def advise(pointer: str, path: Steps, record: Any) -> Advice | None:
        return Advice("C201", f"{pointer} {pointer_of(path)} {len(record)}")

    record = {"kind": "tool"}
    errors = schema_validator_of(TOOL).iter_errors(record)
    (cause,) = root_causes(record, errors, TOOL, advise)

    assert (cause.code, cause.advice) == ("C201", Advice("C201", "/then  1"))


#: All variants of formats that are JSON.
VARIANTS = [
    variant
    for variant in variants_of(all_formats().values())
    if variant.dialect.container is not Container.TABLE
]


def schema_of(variant: FormatVariant) -> Any:
    """Return the schema of a record, or of a document that has no list of records."""
    return (record_schema if is_whole(variant.dialect) else document_schema)(
        variant.dialect
    )


def records_of(variant: FormatVariant) -> list[Any]:
    """Return the records of a format's fixtures that its schema allows."""
    texts: list[bytes] = []
    for path in sorted((FIXTURES / variant.format.id / "valid").iterdir()):
        data = path.read_bytes()
        texts += [data] if path.suffix == ".json" else data.splitlines()
    schema_validator = schema_validator_of(schema_of(variant))
    if variant.dialect.reads_nan:
        texts = [with_nulls(text) for text in texts]
    values = [msgspec.json.decode(text) for text in texts]
    rows = [
        row for value in values for row in (value if type(value) is list else [value])
    ]
    return [row for row in rows if schema_validator.is_valid(row)]


def takes_any_member(variant: FormatVariant) -> bool:
    """Return whether rows may have any keys with any values."""
    schema = schema_of(variant)
    schema_validator = schema_validator_of(schema)
    return "properties" not in schema and all(
        schema_validator.is_valid({"key": value}) for value in POOL
    )


def enough_of(variant: FormatVariant, count: int) -> int:
    """Return how many of so many mutants must be refused, so that much is tested.

    Where rows may have any members, only mutants that are no objects are refused.
    """
    return count // (50 if takes_any_member(variant) else 5)


def laws_hold(variant: FormatVariant, records: Iterator[Any]) -> int:
    """Check the laws on each record, and return how many of them are refused."""
    schema, advise = schema_of(variant), variant.format.advise
    schema_validator, refused = schema_validator_of(schema), 0
    for record in records:
        causes = root_causes(
            record, schema_validator.iter_errors(record), schema, advise
        )
        assert bool(causes) != schema_validator.is_valid(record), record
        refused += bool(causes)
        text = json.dumps(record, ensure_ascii=False).encode()
        for cause in causes:
            check_cause(cause, text, record, schema)
    return refused


def check_cause(cause: Cause, text: bytes, record: Any, schema: Any) -> None:
    """Check that a cause has a value in the record, and a message with a place."""
    value_at(record, cause.path)
    row = RowContext("f", text, Cursor(), 1, record, "sample_id")
    problem = problem_of(
        Finding(cause.code, 0, cause, record), RULES[cause.code], row, schema
    )
    place, excerpt = problem.place, problem.excerpt
    assert 0 <= place.byte_offset < len(text)
    assert len(problem.message) < 1_000
    assert excerpt is not None
    assert 0 <= excerpt.start < excerpt.end <= len(excerpt.text)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_laws(variant: FormatVariant) -> None:
    """Invalid records have causes, each with a message; valid ones have none."""
    count = drawn(250)
    records = islice(mutants(records_of(variant), 20_260_214), count)

    assert laws_hold(variant, records) > enough_of(variant, count)


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_laws_at_length(variant: FormatVariant) -> None:
    """The laws hold for twenty thousand mutants of each format."""
    records = islice(mutants(records_of(variant), 20_260_804), 20_000)

    assert laws_hold(variant, records) > enough_of(variant, 20_000)


KEYS = st.sampled_from(["a", "b", "", "1", "01", "then", "items", "properties"])
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2.5, 10**30, "", "a", "aa"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = st.sampled_from("null boolean integer number string array object".split())


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas of one or a few keywords that hold others."""
    by_name = st.dictionaries(KEYS, inner, min_size=1, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": by_name,
            "patternProperties": st.dictionaries(st.just("a"), inner),
            "additionalProperties": inner,
            "items": inner | several,
            "additionalItems": inner,
            "dependencies": by_name | st.dictionaries(KEYS, st.lists(KEYS, max_size=1)),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "contains": inner,
            "propertyNames": inner,
            "required": st.lists(KEYS, max_size=2, unique=True),
        },
    )


SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({"type": st.lists(TYPES, min_size=1, unique=True)})
    | st.fixed_dictionaries({"const": VALUES})
    | st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=2)})
    | st.sampled_from(
        [
            {"minimum": 1},
            {"maxLength": 1},
            {"pattern": "^a$"},
            {"maxItems": 1},
            {"uniqueItems": True},
            {"minProperties": 2},
            {"multipleOf": 2},
            {"$ref": "#/definitions/d"},
        ]
    ),
    larger,
    max_leaves=8,
)


@given(larger(SCHEMAS), larger(SCHEMAS), VALUES)
@examples(15, suppress_health_check=[HealthCheck.too_slow])
def test_laws_for_any_schema(schema: Any, definition: Any, record: Any) -> None:
    """The laws hold for schemas of every kind, references included."""
    schema = schema | {"definitions": {"d": definition}}
    try:
        check_schema("any", schema)
    except SchemaError:
        assume(condition=False)
    schema_validator = schema_validator_of(schema)

    causes = root_causes(
        record, schema_validator.iter_errors(record), schema, no_advice
    )

    assert bool(causes) != schema_validator.is_valid(record)
    for cause in causes:
        check_cause(cause, json.dumps(record).encode(), record, schema)
