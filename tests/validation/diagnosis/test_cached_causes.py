import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harpia_formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.model.format import Advice, Container, no_advice
from harpia_formats.model.problem import Path as Steps
from harpia_formats.registry import all_formats
from harpia_formats.schema.dialect import document_schema, is_whole, record_schema
from harpia_formats.schema.validator import schema_validator_of
from harpia_formats.testing.mutation import mutants
from harpia_formats.validation.diagnosis import cached_causes as module
from harpia_formats.validation.diagnosis.cached_causes import Reasons
from harpia_formats.validation.diagnosis.root_causes import draft_of, root_causes
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation

FIXTURES = Path(__file__).parents[3] / "fixtures"
IS_TOOL = {"properties": {"kind": {"const": "tool"}}}
#: What makes causes depend on more than where errors are.
SCHEMAS: tuple[Any, ...] = (
    {"required": ["name", "kind"], "properties": {"name": {}, "kind": {}}},
    {"additionalProperties": False, "properties": {"name": {"type": "string"}}},
    {"if": IS_TOOL, "then": {"required": ["call", "name"]}},
    {"if": IS_TOOL, "then": {"properties": {"call": {"type": "string"}}}},
    {"dependencies": {"name": ["call"], "kind": ["call"]}},
    {"dependencies": {"name": {"required": ["nmae", "1"]}}},
    {"propertyNames": {"maxLength": 3}},
    {"properties": {"": {"type": "string"}, "1": {"type": "null"}, "01": False}},
    {"additionalProperties": False},
    {"anyOf": [{"required": ["name"]}, {"properties": {"kind": {"const": 1}}}]},
    {"oneOf": [{"type": "array"}, {"required": ["call"]}, {"required": ["name"]}]},
    {"items": {"type": ["string", "null"], "maxLength": 1}, "uniqueItems": True},
    {
        "properties": {"call": {"items": {"$ref": "#/definitions/a"}}},
        "definitions": {"a": {"required": ["name"], "not": {"required": ["kind"]}}},
    },
    False,
    {
        "properties": {
            "name": {"type": "string", "enum": ["a", "tool"]},
            "kind": {"type": ["string", "null"], "minLength": 2, "maximum": 1},
            "call": {"$ref": "#/definitions/call"},
        },
        "required": ["call", "name", "kind"],
        "allOf": [{"if": IS_TOOL, "then": {"properties": {"name": {"const": 1}}}}],
        "definitions": {"call": {"required": ["name", "kind"], "type": "object"}},
    },
    {
        "if": {"required": ["name"]},
        "then": {"properties": {"kind": {"type": "null"}, "call": {"const": 1}}},
        "else": {"properties": {"kind": {"not": {"type": "null"}}}, "minProperties": 2},
    },
    {
        "properties": {"name": {"type": "null"}, "kind": {"type": "null"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    {"properties": {"call": {"$ref": "#"}, "name": {"type": "string"}}},
    {
        "properties": {"name": {"additionalProperties": {"type": "string"}}},
        "additionalProperties": {"type": ["object", "null"], "maxProperties": 1},
    },
    {
        "$id": "https://example.org/row.json",
        "properties": {
            "call": {
                "$id": "https://example.org/call.json",
                "definitions": {"own": {"type": "string"}},
                "properties": {"name": {"$ref": "#/definitions/own"}},
                "required": ["kind"],
            },
        },
        "required": ["name"],
    },
    {
        "$ref": "#/definitions/row",
        "definitions": {
            "row": {
                "properties": {"call": {"$ref": "#/definitions/call"}},
                "required": ["name"],
            },
            "call": {"type": ["string", "null"], "maxLength": 1},
        },
    },
)
KEYS = st.sampled_from(["name", "nmae", "kind", "call", "", "1", "01", "+1"])
LEAVES: st.SearchStrategy[Any] = st.sampled_from([None, 1, 2, "tool", "a", [], {}])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=8,
)


def advice_by_name(branch: str, path: Steps, record: Any) -> Advice | None:
    """Return advice that depends on the record, as that of formats may."""
    if isinstance(record, dict) and record.get("name") is not None:
        return Advice("C101", f"{branch} {path} {record['name']!r}")
    return None


def check_memory(schema: Any, advise: Any, records: list[Any]) -> int:
    """Assert that what is remembered changes no cause; return how many there are."""
    schema_validator, reasons, count = (
        schema_validator_of(schema),
        Reasons(schema, advise),
        0,
    )
    with patch.object(module, "ENOUGH", 2), patch.object(module, "WAYS", 64):
        for each in records * 3:
            errors = list(schema_validator.iter_errors(each))
            expected = list(root_causes(each, errors, schema, advise))
            at_once = reasons.at_once(each)
            assert at_once is None or (errors and list(at_once) == expected), each
            found = reasons.of(each, errors)
            assert list(found) == expected, each
            count += len(found)
    return count


@settings(max_examples=300)
@given(st.sampled_from(SCHEMAS), st.lists(VALUES, max_size=12))
def test_memory_changes_no_cause(schema: Any, records: list[Any]) -> None:
    """Whatever came before, a record has the causes that it has alone."""
    check_memory(schema, advice_by_name, records)


def variant_of(identifier: str) -> FormatVariant:
    """Return the first variant of the format with this id."""
    formats = variants_of(all_formats().values())
    return next(each for each in formats if each.format.id == identifier)


def mutated(variant: FormatVariant, count: int) -> list[Any]:
    """Return mutated records of a format's fixtures, some of them alike."""
    texts: list[bytes] = []
    for path in sorted((FIXTURES / variant.format.id / "valid").iterdir()):
        data = path.read_bytes()
        texts += [data] if path.suffix == ".json" else data.splitlines()
    values = [json.loads(each) for each in texts]
    rows = [row for each in values for row in (each if type(each) is list else [each])]
    return list(itertools.islice(mutants(rows, 8), count))


@pytest.mark.parametrize(
    "variant",
    [
        each
        for each in variants_of(all_formats().values())
        if each.dialect.container is not Container.TABLE
    ],
    ids=lambda each: each.name,
)
def test_memory_changes_no_cause_of_a_format(variant: FormatVariant) -> None:
    """Over mutated records of a format too, with what the format advises."""
    schema_of = record_schema if is_whole(variant.dialect) else document_schema
    records = mutated(variant, 150)

    assert check_memory(schema_of(variant.dialect), variant.format.advise, records)


def test_records_alike_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of records with the same errors only the first is looked into."""
    looked: list[Any] = []

    def counting(record: Any, errors: Any, paths: Any) -> Any:
        looked.append(record)
        return draft_of(record, errors, paths)

    monkeypatch.setattr(
        "harpia_formats.validation.diagnosis.cached_causes.draft_of", counting
    )
    schema = {"properties": {"a": {"type": "string"}}}
    schema_validator, reasons = schema_validator_of(schema), Reasons(schema, no_advice)
    for number in range(50):
        value = {"a": number, "b": number}
        reasons.of(value, schema_validator.iter_errors(value))

    assert looked == [{"a": 0, "b": 0}]


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return a value with the keys of its objects in another order."""
    if isinstance(value, list):
        return [shuffled(each, chance) for each in value]
    if not isinstance(value, dict):
        return value
    keys = chance.sample(list(value), len(value))
    return {key: shuffled(value[key], chance) for key in keys}


@pytest.mark.parametrize("identifier", ["eee@0.2.0", "eee@0.3.0", "nemo-output"])
def test_records_alike_are_known_by_one_question(identifier: str) -> None:
    """Records that are wrong as several were need no list of errors any more."""
    variant = variant_of(identifier)
    schema, advise = record_schema(variant.dialect), variant.format.advise
    schema_validator, chance = schema_validator_of(schema), random.Random(4)  # noqa: S311 - no secret
    known = 0
    for each in mutated(variant, 60):
        errors = list(schema_validator.iter_errors(each))
        if len(errors) != 1:
            continue
        reasons = Reasons(schema, advise)
        for _ in range(module.ENOUGH):
            reasons.of(each, errors)
        causes = reasons.at_once(shuffled(each, chance))
        known += causes is not None
        assert causes is None or list(causes) == list(reasons.of(each, errors))

    assert known >= 5


@pytest.mark.parametrize(
    ("start", "record"),
    [
        ({"$ref": "#/definitions/row"}, {"call": {"name": 1}, "name": "a"}),
        ({"$ref": "#/definitions/row"}, {"call": "a"}),
        ({"$id": "https://example.org/row.json"}, {"call": {"name": 1}, "name": "a"}),
    ],
)
def test_references_within_a_schema_lead_on(start: Any, record: Any) -> None:
    """However its parts refer to each other, records alike keep their causes."""
    schema = next(
        each
        for each in SCHEMAS
        if isinstance(each, dict) and start.items() <= each.items()
    )

    assert check_memory(schema, no_advice, [record] * module.ENOUGH)


def test_ways_that_no_longer_hold_cost_nothing() -> None:
    """Where records are wrong in other ways, the earlier ones are asked for no more."""
    schema = {"properties": {"a": {"type": "string"}}}
    schema_validator, reasons = schema_validator_of(schema), Reasons(schema, no_advice)
    wrong = {"a": 1}
    for _ in range(module.ENOUGH):
        reasons.of(wrong, schema_validator.iter_errors(wrong))
    known = reasons.at_once(wrong)
    for _ in range(module.MISSED + 1):
        reasons.at_once({"a": "right"})
    forgotten = reasons.at_once(wrong)
    again = reasons.of(wrong, schema_validator.iter_errors(wrong))

    assert known == again
    assert forgotten is None
    assert reasons.at_once(wrong) == again


def test_memory_is_bounded() -> None:
    """Neither many ways to be wrong nor long ones are kept."""
    schema = {"additionalProperties": False}
    schema_validator, reasons = schema_validator_of(schema), Reasons(schema, no_advice)
    for number in range(3 * module.REMEMBERED):
        value = {f"key {number}": 0}
        reasons.of(value, schema_validator.iter_errors(value))
    few = len(reasons._known)  # noqa: SLF001 - what is bounded
    reasons._known.clear()  # noqa: SLF001 - as above
    for value in ({"k" * module.LONGEST: 0}, dict.fromkeys(map(str, range(200)), 0)):
        reasons.of(value, schema_validator.iter_errors(value))

    assert few <= module.REMEMBERED
    assert not reasons._known  # noqa: SLF001 - as above


@pytest.mark.parametrize("identifier", ["eee@0.2.0", "nemo-output", "tencent-outputs"])
def test_caps_change_no_count(identifier: str) -> None:
    """Runs with and without caps agree on counts and groups, and on what they show."""
    variant = variant_of(identifier)
    lines = [json.dumps(each) for each in mutated(variant, 300)]
    data = "\n".join(lines).encode()
    capped = Validation([data], Options(format=identifier, examples=2))
    uncapped = Validation(
        [data], Options(format=identifier, examples=0, max_problems=0)
    )
    shown, everything = list(capped), list(uncapped)
    found = Counter(each.code for each in everything)

    assert capped.report().files == uncapped.report().files
    assert capped.report().groups == uncapped.report().groups
    assert [each for each in everything if each in shown] == shown
    assert sum(found.values()) == sum(each.count for each in capped.report().groups)
    assert len(shown) < len(everything)
