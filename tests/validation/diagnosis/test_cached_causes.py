import itertools
import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import drawn, examples
from harpia_formats.api.testing.mutation import mutants
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    is_whole,
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.format import Advice, Container, no_advice
from harpia_formats.model.problem import Path as Steps
from harpia_formats.model.problem import Problem
from harpia_formats.validation.diagnosis import cached_causes as module
from harpia_formats.validation.diagnosis.cached_causes import CachedCauses
from harpia_formats.validation.diagnosis.root_causes import root_causes, shared_causes
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation

FIXTURES = Path(__file__).parents[3] / "fixtures"
IS_TOOL = {"properties": {"kind": {"const": "tool"}}}
#: Schemas with causes that depend on more than the paths of errors.
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


def advice_by_name(pointer: str, path: Steps, record: Any) -> Advice | None:
    """Return advice that depends on the record, as that of formats may."""
    if isinstance(record, dict) and record.get("name") is not None:
        return Advice("C101", f"{pointer} {path} {record['name']!r}")
    return None


def check_cached_causes(schema: Any, advise: Any, records: list[Any]) -> int:
    """Assert that cached causes equal computed ones; return how many there are."""
    schema_validator, cached, count = (
        schema_validator_of(schema),
        CachedCauses(schema, advise),
        0,
    )
    with patch.object(module, "ENOUGH", 2), patch.object(module, "COMPARED", 64):
        for record in records * 3:
            errors = list(schema_validator.iter_errors(record))
            expected = list(root_causes(record, errors, schema, advise))
            by_pattern = cached.causes_by_pattern(record)
            assert by_pattern is None or (errors and list(by_pattern) == expected)
            found = cached.causes_of(record, errors)
            assert list(found) == expected, record
            count += len(found)
    return count


@examples(75)
@given(st.sampled_from(SCHEMAS), st.lists(VALUES, max_size=12))
def test_cache_changes_no_cause(schema: Any, records: list[Any]) -> None:
    """A record has the same causes after any other records."""
    check_cached_causes(schema, advice_by_name, records)


def variant_of(identifier: str) -> FormatVariant:
    """Return the first variant of the format with this id."""
    formats = variants_of(all_formats().values())
    return next(variant for variant in formats if variant.format.id == identifier)


def records_of(identifier: str) -> list[Any]:
    """Return the records of a format's fixtures."""
    texts: list[bytes] = []
    for path in sorted((FIXTURES / identifier / "valid").iterdir()):
        data = path.read_bytes()
        texts += [data] if path.suffix == ".json" else data.splitlines()
    values = [json.loads(text) for text in texts]
    return [
        row for value in values for row in (value if type(value) is list else [value])
    ]


def mutated(variant: FormatVariant, count: int) -> list[Any]:
    """Return mutated records of a format's fixtures; some are equal."""
    return list(itertools.islice(mutants(records_of(variant.format.id), 8), count))


#: Formats whose records are values of their own.
ROW_FORMATS = sorted(
    {
        variant.format.id
        for variant in variants_of(all_formats().values())
        if variant.dialect.container is Container.ROWS
        and (FIXTURES / variant.format.id).is_dir()
    }
)
#: Rows that are no JSON, each by another mistake.
BROKEN = (
    "{'a': 1}",
    '{"a": 1,}',
    '{"a" 1}',
    '{"a": @}',
    '{"a": &}',
    '{"a": "\\q"}',
    '{"a": "\\w"}',
    '{"a": NaN}',
    '{"a": 1',
    '{"aaa": 1',
    '{"a": [1',
    '{"a": 01}',
)


@pytest.mark.parametrize(
    "variant",
    [
        variant
        for variant in variants_of(all_formats().values())
        if variant.dialect.container is not Container.TABLE
    ],
    ids=lambda variant: variant.name,
)
def test_cache_changes_no_cause_of_a_format(variant: FormatVariant) -> None:
    """Mutated records of each format keep their causes, and the format's advice."""
    schema_of = record_schema if is_whole(variant.dialect) else document_schema
    records = mutated(variant, drawn(25))

    assert check_cached_causes(
        schema_of(variant.dialect), variant.format.advise, records
    )


def test_causes_of_equal_errors_are_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The causes of records with equal errors are computed for the first one only."""
    computed: list[Any] = []

    def counting(record: Any, errors: Any, paths: Any) -> Any:
        computed.append(record)
        return shared_causes(record, errors, paths)

    monkeypatch.setattr(
        "harpia_formats.validation.diagnosis.cached_causes.shared_causes", counting
    )
    schema = {"properties": {"a": {"type": "string"}}}
    schema_validator, cached = (
        schema_validator_of(schema),
        CachedCauses(schema, no_advice),
    )
    for number in range(50):
        value = {"a": number, "b": number}
        cached.causes_of(value, schema_validator.iter_errors(value))

    assert computed == [{"a": 0, "b": 0}]


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return a value with the keys of its objects in another order."""
    if isinstance(value, list):
        return [shuffled(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    keys = chance.sample(list(value), len(value))
    return {key: shuffled(value[key], chance) for key in keys}


@pytest.mark.parametrize("identifier", ["eee@0.2.0", "eee@0.3.0", "nemo-output"])
def test_common_errors_are_recognised_by_a_pattern(identifier: str) -> None:
    """The causes of errors that several records had are found without their list."""
    variant = variant_of(identifier)
    schema, advise = record_schema(variant.dialect), variant.format.advise
    schema_validator, chance = schema_validator_of(schema), random.Random(4)  # noqa: S311 - no secret
    known = 0
    for record in mutated(variant, 60):
        errors = list(schema_validator.iter_errors(record))
        if len(errors) != 1:
            continue
        cached = CachedCauses(schema, advise)
        for _ in range(module.ENOUGH):
            cached.causes_of(record, errors)
        causes = cached.causes_by_pattern(shuffled(record, chance))
        known += causes is not None
        assert causes is None or list(causes) == list(cached.causes_of(record, errors))

    assert known >= 5


@pytest.mark.parametrize(
    ("start", "record"),
    [
        ({"$ref": "#/definitions/row"}, {"call": {"name": 1}, "name": "a"}),
        ({"$ref": "#/definitions/row"}, {"call": "a"}),
        ({"$id": "https://example.org/row.json"}, {"call": {"name": 1}, "name": "a"}),
    ],
)
def test_causes_behind_references_are_cached(start: Any, record: Any) -> None:
    """Causes are the same from the cache for schemas with references and ids."""
    schema = next(
        schema
        for schema in SCHEMAS
        if isinstance(schema, dict) and start.items() <= schema.items()
    )

    assert check_cached_causes(schema, no_advice, [record] * module.ENOUGH)


def test_patterns_that_no_longer_match_are_dropped() -> None:
    """After many records without a match, records are not compared with patterns."""
    schema = {"properties": {"a": {"type": "string"}}}
    schema_validator, cached = (
        schema_validator_of(schema),
        CachedCauses(schema, no_advice),
    )
    wrong = {"a": 1}
    for _ in range(module.ENOUGH):
        cached.causes_of(wrong, schema_validator.iter_errors(wrong))
    known = cached.causes_by_pattern(wrong)
    for _ in range(module.MISSED + 1):
        cached.causes_by_pattern({"a": "right"})
    forgotten = cached.causes_by_pattern(wrong)
    again = cached.causes_of(wrong, schema_validator.iter_errors(wrong))

    assert known == again
    assert forgotten is None
    assert cached.causes_by_pattern(wrong) == again


def test_cache_is_bounded() -> None:
    """Only so many sets of causes are kept, and none with a long key."""
    schema = {"additionalProperties": False}
    schema_validator, cached = (
        schema_validator_of(schema),
        CachedCauses(schema, no_advice),
    )
    for number in range(3 * module.REMEMBERED):
        value = {f"key {number}": 0}
        cached.causes_of(value, schema_validator.iter_errors(value))
    few = len(cached._known)  # noqa: SLF001 - the cache that is bounded
    cached._known.clear()  # noqa: SLF001 - the cache that is bounded
    for value in ({"k" * module.LONGEST: 0}, dict.fromkeys(map(str, range(200)), 0)):
        cached.causes_of(value, schema_validator.iter_errors(value))

    assert few <= module.REMEMBERED
    assert not cached._known  # noqa: SLF001 - the cache that is bounded


def wording(problem: Problem) -> tuple[str, str, str]:
    """Return a problem's code, its place without indices, and what is wrong there."""
    found = re.sub(
        r", found .*?(?=; and |$)|(?<=must not be ).*"
        r"|(?<=before )\w(?= is not an escape)|(?<=^found )\S(?= instead of)",
        "",
        problem.message,
    )
    pointer = re.sub(r"(?<=/)\d+(?=/|$)", "*", problem.place.pointer)
    return problem.code, pointer, re.sub(r"\[\d+\]|-?\d+", "…", found)


@pytest.mark.parametrize("identifier", ROW_FORMATS)
def test_findings_of_a_group_have_one_cause(identifier: str) -> None:
    """All findings of a group word one thing, so one example of each says all."""
    lines = [
        json.dumps(record) for record in mutated(variant_of(identifier), drawn(60))
    ]
    data = "\n".join([*lines, *BROKEN]).encode()
    options = Options(format=identifier, examples=0, max_problems=0, ignore=("X101",))
    groups: dict[Any, set[Any]] = {}
    for problem in Validation([data], options):
        code, pointer, text = wording(problem)
        is_null = code == "S102" and problem.message.endswith(", found null")
        group = (code, pointer, problem.cause)
        groups.setdefault(group, set()).add((text, problem.key, is_null))
    first = Validation([data], replace(options, examples=1))
    said = Counter(map(wording, first))

    assert {group: texts for group, texts in groups.items() if len(texts) > 1} == {}
    assert said.total() == len(groups) == len(first.report().groups)


CONDITIONS: dict[str, dict[str, Any]] = {
    "interactions": {"interaction_type": "multi_turn", "output": None},
    "output": {"interaction_type": "single_turn"},
}


@pytest.mark.parametrize("first", CONDITIONS)
def test_causes_of_one_rule_are_groups_of_their_own(first: str) -> None:
    """Rows that lack `output` and rows that lack `interactions` are distinguished."""
    row = records_of("eee@0.2.0")[0]
    rows = []
    for key in sorted(CONDITIONS, key=lambda key: key != first):
        spoilt = {**row, **CONDITIONS[key]}
        spoilt.pop(key, None)
        rows += [{**spoilt, "sample_id": f"{key} {n}"} for n in range(75)]
    data = "\n".join(map(json.dumps, rows)).encode()
    run = Validation([data], Options())
    messages = Counter(problem.message for problem in run)
    groups = run.report().groups

    assert messages == {"interactions is missing": 5, "output is missing": 5}
    assert {(group.code, group.key, group.count) for group in groups} == {
        ("C201", "interactions", 75),
        ("C201", "output", 75),
    }


@pytest.mark.parametrize("identifier", ["eee@0.2.0", "nemo-output", "tencent-outputs"])
def test_caps_change_no_count(identifier: str) -> None:
    """A run with caps has the counts and groups of one without, and fewer examples."""
    variant = variant_of(identifier)
    lines = [json.dumps(record) for record in mutated(variant, drawn(150))]
    data = "\n".join(lines).encode()
    capped = Validation([data], Options(format=identifier, examples=2))
    uncapped = Validation(
        [data], Options(format=identifier, examples=0, max_problems=0)
    )
    shown, everything = list(capped), list(uncapped)
    found = Counter(problem.code for problem in everything)

    assert capped.report().files == uncapped.report().files
    assert capped.report().groups == uncapped.report().groups
    assert [problem for problem in everything if problem in shown] == shown
    assert sum(found.values()) == sum(group.count for group in capped.report().groups)
    assert len(shown) < len(everything)
