import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from harpia_formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.framing.chunk import Cursor
from harpia_formats.model.format import Advice, Container, no_advice
from harpia_formats.model.problem import Path as Steps
from harpia_formats.model.problem import pointer_of
from harpia_formats.registry import all_formats, all_rules
from harpia_formats.schema.dialect import document_schema, is_whole, record_schema
from harpia_formats.schema.load import SchemaError
from harpia_formats.schema.user_schema import check_schema
from harpia_formats.schema.validator import schema_validator_of
from harpia_formats.testing.mutation import mutants
from harpia_formats.validation.diagnosis.engine_errors import value_at
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.root_causes import Cause, root_causes
from harpia_formats.validation.diagnosis.row_context import Row
from harpia_formats.validation.diagnosis.to_problem import problem_of

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

Told = tuple[str, str]


def causes_of(schema: Any, record: Any) -> list[Cause]:
    """Return the causes that are found in `record`, in order of their pointers."""
    errors = schema_validator_of(schema).iter_errors(record)
    causes = root_causes(record, errors, schema, no_advice)
    return sorted(causes, key=lambda each: pointer_of(each.path))


def told(schema: Any, record: Any) -> list[Told]:
    """Return code and pointer of the causes that are found in `record`."""
    return [(each.code, pointer_of(each.path)) for each in causes_of(schema, record)]


def reasons(schema: Any, record: Any) -> list[str]:
    """Return the pointers of what made the only cause in `record` one."""
    (cause,) = causes_of(schema, record)
    return [pointer_of(each) for each in cause.because]


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
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
        # What a condition says of the inside of a value is told as what it is.
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
            {"dependencies": {"a": {"properties": {"b": {"type": "null"}}}}},
            {"a": 1, "b": 1},
            [("C101", "/b")],
        ),
    ],
    ids=range(15),
)
def test_conditions(schema: Any, record: Any, expected: list[Told]) -> None:
    """A broken condition is one cause, wherever in the schema it stands."""
    assert told(schema, record) == expected


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
    [
        (TOOL, {"kind": "tool"}, ["/kind"]),
        (LAX_TOOL, {}, []),
        ({"items": TOOL}, [{"kind": "tool"}], ["/0/kind"]),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, ["/a"]),
        ({"dependencies": {"z": ["b"], "a": ["b"]}}, {"a": 1}, ["/a"]),
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
    ids=range(8),
)
def test_reasons_are_what_the_condition_looks_at(
    schema: Any, record: Any, expected: list[str]
) -> None:
    """The values that a condition looks at are told, those that are there."""
    assert reasons(schema, record) == expected


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
    [
        # The missing key itself says it all.
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
        # A key that nobody requires may be missing: then the condition counts.
        (LAX_TOOL, {}, [("C101", "")]),
        # Another object's missing key is no excuse.
        (
            {"required": ["kind"], "properties": {"a": LAX_TOOL}},
            {"a": {}},
            [("S101", ""), ("C101", "/a")],
        ),
        # Another missing key is no excuse either.
        (TOOL | {"required": ["id"]}, {"kind": "tool"}, [("S101", ""), ("C101", "")]),
    ],
    ids=range(6),
)
def test_vacuous_conditions(schema: Any, record: Any, expected: list[Told]) -> None:
    """A condition that holds only because a required key is missing is silent."""
    assert told(schema, record) == expected


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
    [
        ({"type": "string", "not": {"type": "null"}}, None, [("S102", "")]),
        ({"type": "string", "not": {"enum": [None]}}, None, [("S102", "")]),
        ({"not": {"type": "null"}}, None, [("V111", "")]),
        ({"type": "string", "enum": ["a"]}, 5, [("V101", "")]),
        ({"allOf": [{"type": "string"}, {"type": ["string", "null"]}]}, 5, 1),
        ({"type": "object", "oneOf": [{"type": "object"}]}, 5, 1),
        # What must go is not judged inside.
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
    ids=range(8),
)
def test_twins_and_followers(schema: Any, record: Any, expected: Any) -> None:
    """What two keywords say of one value, or of what must go, is said once."""
    found = told(schema, record)

    assert found == ([("S102", "")] if expected == 1 else expected)


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
    [
        # Types alone make one type.
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
        # Nothing tells which one was meant.
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
    ids=range(11),
)
def test_alternatives(schema: Any, record: Any, expected: list[Told]) -> None:
    """Of several alternatives the one that was meant tells the cause."""
    assert told(schema, record) == expected


@pytest.mark.parametrize(
    ("schema", "record", "expected"),
    [
        ({"required": ["name"]}, {"nmae": 1}, [("S103", "/nmae")]),
        ({"required": ["name"]}, {"nmae": 1, "naem": 1}, [("S101", "")]),
        ({"required": ["name", "nmea"]}, {"nmae": 1}, [("S101", ""), ("S101", "")]),
        # A known key is not a misspelt one.
        ({"required": ["name"], "properties": {"names": {}}}, {"names": 1}, 1),
        # Missing and unknown are one.
        (
            {"required": ["name"], "properties": {"name": {}}}
            | {"additionalProperties": False},
            {"nmae": 1, "x": 1},
            [("S103", "/nmae"), ("S104", "/x")],
        ),
        # In a condition: the rest of its demands stays.
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
    ids=range(9),
)
def test_keys(schema: Any, record: Any, expected: Any) -> None:
    """A key that is misspelt is one cause; one that is unknown is told at the key."""
    special = {
        1: [("S101", "")],
        2: [("S104", "/a"), ("S104", "/b")],
        3: [("V106", ""), ("V114", "/a")],
    }

    found = told(schema, record)

    assert found == (special[expected] if isinstance(expected, int) else expected)


@pytest.mark.parametrize(
    "key", ["1", "01", "+1", "007", "-1", "", "a/b", "a~b", "then"]
)
@pytest.mark.parametrize("name", ["x", "", "2", "properties", "items"])
def test_odd_keys_are_found(key: str, name: str) -> None:
    """Keys of digits, empty keys and keys called like keywords are told as they are."""
    schema = {"additionalProperties": {"additionalProperties": {"type": "string"}}}
    named = {"properties": {name: {"properties": {key: {"type": "string"}}}}}
    record = {"a": {"b": "c"}, name: {"z": "y", key: 5}}

    assert told(schema, record) == [("S102", pointer_of((name, key)))]
    assert told(named, record) == [("S102", pointer_of((name, key)))]


def test_keys_that_the_engine_tells_alike() -> None:
    """Keys that the engine cannot tell apart are told apart by their values."""
    schema = {"additionalProperties": {"type": "string"}}

    assert told(schema, {"1": "a", "01": 5}) == [("S102", "/01")]
    assert told(schema, {"": "a", "1": True}) == [("S102", "/1")]
    assert told(schema, {"": 5, "x": "a"}) == [("S102", "/")]


def test_properties_called_like_keywords() -> None:
    """A property called `then` or `properties` is not taken for the keyword."""
    names = ("then", "properties", "items", "dependencies", "$ref", "allOf")
    inner = {"required": ["q"], "properties": {each: {} for each in names}}
    schema = {"properties": dict.fromkeys(names, inner)}
    record: Any = {each: {} for each in names}

    assert told(schema, record) == sorted(("S101", f"/{each}") for each in names)


def test_no_verdict_is_not_a_fault() -> None:
    """A pattern on which the engine gives up is undetermined, also in a choice."""
    pattern = {"pattern": r"^(?:(\w+\s?)*b|a*!)(?<!x)$"}
    value = "a" * 40 + "!"

    assert told(pattern, value) == [("V901", "")]
    assert told({"anyOf": [pattern, {"type": "null"}]}, value) == [("V901", "")]


def test_advice_of_a_format_names_the_rule() -> None:
    """Where the format knows a condition, its rule and its help are taken."""

    def advise(branch: str, path: Steps, record: Any) -> Advice | None:
        return Advice("C201", f"{branch} {pointer_of(path)} {len(record)}")

    record = {"kind": "tool"}
    errors = schema_validator_of(TOOL).iter_errors(record)
    (cause,) = root_causes(record, errors, TOOL, advise)

    assert (cause.code, cause.advice) == ("C201", Advice("C201", "/then  1"))


#: Every way of writing JSON.
WAYS = [
    each
    for each in variants_of(all_formats().values())
    if each.dialect.container is not Container.TABLE
]


def schema_of(way: FormatVariant) -> Any:
    """Return the schema of a record, or of a document that is not cut by its layout."""
    return (record_schema if is_whole(way.dialect) else document_schema)(way.dialect)


def records_of(way: FormatVariant) -> list[Any]:
    """Return what a format's fixtures hold that its schema allows."""
    texts: list[bytes] = []
    for path in sorted((FIXTURES / way.format.id / "valid").iterdir()):
        data = path.read_bytes()
        texts += [data] if path.suffix == ".json" else data.splitlines()
    schema_validator = schema_validator_of(schema_of(way))
    values = [msgspec.json.decode(each) for each in texts]
    rows = [row for each in values for row in (each if type(each) is list else [each])]
    return [each for each in rows if schema_validator.is_valid(each)]


def laws_hold(way: FormatVariant, records: Iterator[Any]) -> int:
    """Check the laws on each record, and return how many of them are refused."""
    schema, advise = schema_of(way), way.format.advise
    schema_validator, refused = schema_validator_of(schema), 0
    for record in records:
        causes = root_causes(
            record, schema_validator.iter_errors(record), schema, advise
        )
        assert bool(causes) != schema_validator.is_valid(record), record
        refused += bool(causes)
        text = json.dumps(record, ensure_ascii=False).encode()
        for each in causes:
            check_cause(each, text, record, schema)
    return refused


def check_cause(cause: Cause, text: bytes, record: Any, schema: Any) -> None:
    """Check that a cause leads to a value, and can be put into words and placed."""
    value_at(record, cause.path)
    row = Row("f", text, Cursor(), 1, record, "sample_id")
    problem = problem_of(
        Finding(cause.code, 0, cause, record), RULES[cause.code], row, schema
    )
    place, excerpt = problem.place, problem.excerpt
    assert 0 <= place.byte_offset < len(text)
    assert len(problem.message) < 1_000
    assert excerpt is not None
    assert 0 <= excerpt.start < excerpt.end <= len(excerpt.text)


@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.name)
def test_laws(way: FormatVariant) -> None:
    """Refused records have causes, accepted ones have none, and each can be told."""
    records = islice(mutants(records_of(way), 20_260_214), 500)

    assert laws_hold(way, records) > 100


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.name)
def test_laws_at_length(way: FormatVariant) -> None:
    """The laws hold for twenty thousand mutants of each format."""
    records = islice(mutants(records_of(way), 20_260_804), 20_000)

    assert laws_hold(way, records) > 4_000


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
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
    for each in causes:
        check_cause(each, json.dumps(record).encode(), record, schema)
