"""The three EvalEval schemas: the user's own, and two that agree with upstream's."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cases import for_each_case
from corpora import CORPORA
from fixture_files import schema_file
from json_lines import jsonl_rows

ROOT = Path(__file__).parents[3]
SAMPLES = CORPORA / "eee" / "samples"
#: Each group of samples: its records, and how many are valid in each shape.
GROUPS = {
    "skill_reference": (1, {"0.2.0": 0, "0.2.0-tag": 1, "0.3.0": 1}),
    "hist_": (25, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 25}),
    "conv_helm": (190, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 190}),
    "conv_inspect_mock": (9, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 0}),
    "conv_inspect": (12, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 0}),
    "conv_lm_eval": (10, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 0}),
    "era96bd610f": (12, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 0}),
    "era320d58e9": (47, {"0.2.0": 0, "0.2.0-tag": 0, "0.3.0": 0}),
}
SHAPES = ("0.2.0", "0.2.0-tag", "0.3.0")
ALL = frozenset(SHAPES)
NEW = frozenset({"0.3.0"})
OLD = ALL - NEW
#: Each optional field, with the shapes in which it may be null; `turns` stands for
#: `interactions` or `messages`. Where a shape does not know a field of an open
#: object, anything goes.
NULLS = {
    "sample_hash": NEW,
    "evaluation_result_id": OLD,
    "input/formatted": NEW,
    "input/choices": NEW,
    "output": ALL,
    "output/reasoning_trace": ALL - {"0.2.0-tag"},
    "turns": ALL,
    "turns/*/content": ALL,
    "turns/*/reasoning_trace": ALL,
    "turns/*/tool_calls": ALL,
    "turns/*/tool_calls/*/arguments": NEW,
    "turns/*/tool_call_id": NEW,
    "evaluation/num_turns": NEW,
    "evaluation/tool_calls_count": NEW,
    "token_usage": ALL,
    "token_usage/input_tokens_cache_write": ALL,
    "token_usage/input_tokens_cache_read": ALL,
    "token_usage/reasoning_tokens": ALL,
    "performance": ALL,
    "performance/latency_ms": ALL,
    "performance/time_to_first_token_ms": ALL,
    "performance/generation_time_ms": ALL,
    "performance/additional_details": ALL,
    "error": ALL,
    "metadata": NEW,
}


def schema_validator_of(schema: Any) -> jsonschema_rs.Draft7Validator:
    """Return the schema validator for `schema`."""
    return jsonschema_rs.Draft7Validator(schema, offline=True, validate_formats=False)


def full_records(shape: str) -> list[Any]:
    """Return a record of each interaction type that has every field."""
    return jsonl_rows(ROOT / "fixtures" / f"eee@{shape}" / "valid" / "full.jsonl")


def sample_files() -> list[Path]:
    """Return the files of real records."""
    return sorted(SAMPLES.glob("*_samples*.jsonl"))


@pytest.mark.corpora
@for_each_case("group", GROUPS)
def test_real_records_have_known_valid_counts(group: str) -> None:
    """Each group of real records has the known number of valid ones in each version."""
    names = sorted(GROUPS, key=len, reverse=True)
    rows = [
        row
        for path in sample_files()
        if next(each for each in names if path.name.startswith(each)) == group
        for row in jsonl_rows(path)
    ]
    schema_validators = {
        shape: schema_validator_of(schema_file(f"eee@{shape}")) for shape in SHAPES
    }

    valid = {
        shape: sum(map(each.is_valid, rows))
        for shape, each in schema_validators.items()
    }

    assert (len(rows), valid) == GROUPS[group]


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_our_schemas_are_named(shape: str) -> None:
    """A schema of ours carries its version in its identifier and its title."""
    schema = schema_file(f"eee@{shape}")

    assert schema["$id"] == f"urn:harpia-formats:schema:eee:{shape}"
    assert schema["title"].endswith(shape)


def fields_of(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the path of every field in `schema`, and whether it is required."""
    if "items" in schema:
        yield from fields_of(schema["items"], f"{path}/*")
    for key, each in schema.get("properties", {}).items():
        name = "turns" if key in {"interactions", "messages"} else key
        inner = f"{path}/{name}".removeprefix("/")
        yield inner, key in schema.get("required", ())
        yield from fields_of(each, inner)


def places_of(value: Any, path: list[str]) -> Iterator[tuple[Any, str]]:
    """Yield every object in `value` that has or could have the field at `path`."""
    key, *rest = path
    if key == "*":
        for each in value or ():
            yield from places_of(each, rest)
    elif isinstance(value, dict):
        if not rest:
            yield value, key
        elif key in value:
            yield from places_of(value[key], rest)


def accepts_null(shape: str, path: str) -> bool:
    """Tell whether null at `path` leaves any full record valid."""
    schema_validator = schema_validator_of(schema_file(f"eee@{shape}"))
    turns = "messages" if shape == "0.3.0" else "interactions"
    steps = path.replace("turns", turns, int(path.startswith("turns"))).split("/")
    found = []
    for each in full_records(shape):
        record = deepcopy(each)
        for container, key in places_of(record, steps):
            before = dict(container)
            container[key] = None
            found.append(schema_validator.is_valid(record))
            container.clear()
            container.update(before)
    assert found, f"no full record can have {path}"
    return any(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_full_records_are_valid(shape: str) -> None:
    """The records that the null tests start from are valid, one of each type."""
    records = full_records(shape)

    assert all(map(schema_validator_of(schema_file(f"eee@{shape}")).is_valid, records))
    types = [each["interaction_type"] for each in records]
    assert types == ["single_turn", "multi_turn", "agentic"]


@for_each_case("path", NULLS)
def test_null_is_accepted_exactly_where_documented(path: str) -> None:
    """An optional field may be null in the versions that say so, and in no other."""
    assert {each for each in SHAPES if accepts_null(each, path)} == NULLS[path]


@pytest.mark.parametrize("shape", SHAPES)
def test_null_table_is_complete(shape: str) -> None:
    """Every optional field of every version is in the table of nulls."""
    optional = {
        path
        for path, required in fields_of(schema_file(f"eee@{shape}"))
        if not required
    }

    assert optional <= NULLS.keys()
    assert shape != "0.3.0" or optional == NULLS.keys()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_required_field_is_null(shape: str) -> None:
    """Null never stands for a required field."""
    needed = [
        path for path, required in fields_of(schema_file(f"eee@{shape}")) if required
    ]

    assert not [each for each in needed if accepts_null(shape, each)]
