"""The three EvalEval schemas: the user's own, and two that agree with upstream's."""

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from cases import for_each_case
from corpora import CORPORA
from effort import drawn
from fixture_files import schema_file
from harpia_formats.api.testing import mutants
from json_lines import jsonl_rows

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "schemas" / "eee"
SAMPLES = CORPORA / "eee" / "samples"
#: Each shape, with the number and date of the upstream file that has it.
UPSTREAM = {
    "0.2.0": "05-2026-02-09",
    "0.2.0-tag": "06-2026-02-14",
    "0.3.0": "15-2026-08-04",
}
OURS = ("0.2.0-tag", "0.3.0")
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
ALL = frozenset(UPSTREAM)
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


def upstream_of(shape: str) -> Any:
    """Return the schema of `shape` as upstream published it."""
    folder = CORPORA / "eee" / "schemas"
    (path,) = folder.glob(f"{UPSTREAM[shape]}-*-instance_level_eval-*.json")
    return json.loads(path.read_bytes())


def schema_validator_of(schema: Any) -> jsonschema_rs.Draft7Validator:
    """Return the schema validator for `schema`."""
    return jsonschema_rs.Draft7Validator(schema, offline=True, validate_formats=False)


def full_records(shape: str) -> list[Any]:
    """Return a record of each interaction type that has every field."""
    return jsonl_rows(ROOT / "fixtures" / f"eee@{shape}" / "valid" / "full.jsonl")


def odd_records(shape: str) -> Iterator[Any]:
    """Yield records near the conditions: ghosts, crossings and a missing type."""
    turns = "messages" if shape in NEW else "interactions"
    single, multi, agentic = full_records(shape)
    ghosts: tuple[Any, ...] = ({}, {"num_turns": 3}, 5, None)
    for each in (single, multi, agentic):
        yield from (each | {"metrics": ghost} for ghost in ghosts)
        yield each | {"interaction_type": "chat"}
        yield {key: each[key] for key in each if key != "interaction_type"}
        yield {key: each[key] for key in each if key not in {"output", turns}}
    yield single | {turns: agentic[turns]}
    yield multi | {"output": single["output"]}
    yield agentic | {"output": {"raw": single["output"]["raw"]}}


def start_records(shape: str) -> list[Any]:
    """Return what mutants start from: full, invented, odd and real records."""
    folder = ROOT / "fixtures" / f"eee@{shape}" / "valid"
    invented = full_records(shape) * 10 + jsonl_rows(folder / "runs.jsonl") * 5
    name = "valid-0.3.0.jsonl" if shape in NEW else "valid-seed-0.2.0.jsonl"
    repaired = jsonl_rows(CORPORA / "eee" / name)[::6]
    real = [each for path in sample_files() for each in jsonl_rows(path)[:2]]
    return [*invented, *odd_records(shape), *repaired, *real]


def sample_files() -> list[Path]:
    """Return the files of real records."""
    return sorted(SAMPLES.glob("*_samples*.jsonl"))


def verdicts(shape: str, count: int, seed: int) -> Counter[bool]:
    """Count the verdicts on mutants, which must be upstream's."""
    ours, theirs = (
        schema_validator_of(schema_file(f"eee@{shape}")),
        schema_validator_of(upstream_of(shape)),
    )
    counts: Counter[bool] = Counter()
    for each in islice(mutants(start_records(shape), seed), count):
        verdict = ours.is_valid(each)
        assert verdict == theirs.is_valid(each), each
        counts[verdict] += 1
    return counts


@pytest.mark.corpora
@pytest.mark.parametrize("shape", OURS)
def test_mutants_are_validated_as_upstream_does(shape: str) -> None:
    """Our schema and upstream's agree on thousands of mutants, good and bad."""
    counts = verdicts(shape, drawn(800), seed=20_260_214)

    assert min(counts[True], counts[False]) > 80


@pytest.mark.corpora
@pytest.mark.long
@pytest.mark.parametrize("shape", OURS)
def test_many_mutants_are_validated_as_upstream_does(shape: str) -> None:
    """Our schema and upstream's agree on 100,000 mutants, good and bad."""
    counts = verdicts(shape, 100_000, seed=20_260_804)

    assert min(counts[True], counts[False]) > 10_000


@pytest.mark.corpora
@pytest.mark.parametrize("shape", OURS)
def test_second_engine_agrees(shape: str) -> None:
    """An independent engine gives our schema and upstream's the same verdicts."""
    ours = jsonschema.Draft7Validator(schema_file(f"eee@{shape}"))
    theirs = jsonschema.Draft7Validator(upstream_of(shape))
    schema_validator = schema_validator_of(schema_file(f"eee@{shape}"))

    for each in islice(mutants(start_records(shape), 9), 500):
        expected = schema_validator.is_valid(each)
        assert ours.is_valid(each) == theirs.is_valid(each) == expected, each


def constraints_of(node: Any) -> Any:
    """Return `node` without what never decides a verdict, unions in a fixed order."""
    if isinstance(node, list):
        return [constraints_of(each) for each in node]
    if not isinstance(node, dict):
        return node
    silent = {"$schema", "$id", "version", "title", "description"}
    kept = {key: constraints_of(node[key]) for key in node.keys() - silent}
    if kept.get("additionalProperties") is True:
        del kept["additionalProperties"]
    if "oneOf" in kept:
        kept["oneOf"].sort(key=lambda each: json.dumps(each, sort_keys=True))
    return kept


@pytest.mark.corpora
@pytest.mark.parametrize("shape", OURS)
def test_constraints_are_upstreams(shape: str) -> None:
    """Apart from its texts, our schema says what upstream's says."""
    assert constraints_of(schema_file(f"eee@{shape}")) == constraints_of(
        upstream_of(shape)
    )


@pytest.mark.corpora
def test_schema_equals_the_published_one() -> None:
    """The schema of 0.2.0 equals upstream's of 2026-02-09, value for value."""
    assert schema_file("eee@0.2.0") == upstream_of("0.2.0")


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
        shape: schema_validator_of(schema_file(f"eee@{shape}")) for shape in UPSTREAM
    }

    valid = {
        shape: sum(map(each.is_valid, rows))
        for shape, each in schema_validators.items()
    }

    assert (len(rows), valid) == GROUPS[group]


@for_each_case("path", sorted(SCHEMAS.glob("*.json")), ids=lambda each: each.name)
def test_schema_is_draft_07(path: Path) -> None:
    """Every schema says that it is draft-07, and is."""
    schema = json.loads(path.read_bytes())

    jsonschema.Draft7Validator.check_schema(schema)

    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("shape", OURS)
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


@pytest.mark.parametrize("shape", UPSTREAM)
def test_full_records_are_valid(shape: str) -> None:
    """The records that the null tests start from are valid, one of each type."""
    records = full_records(shape)

    assert all(map(schema_validator_of(schema_file(f"eee@{shape}")).is_valid, records))
    types = [each["interaction_type"] for each in records]
    assert types == ["single_turn", "multi_turn", "agentic"]


@for_each_case("path", NULLS)
def test_null_is_accepted_exactly_where_documented(path: str) -> None:
    """An optional field may be null in the versions that say so, and in no other."""
    assert {each for each in UPSTREAM if accepts_null(each, path)} == NULLS[path]


@pytest.mark.parametrize("shape", UPSTREAM)
def test_null_table_is_complete(shape: str) -> None:
    """Every optional field of every version is in the table of nulls."""
    optional = {
        path
        for path, required in fields_of(schema_file(f"eee@{shape}"))
        if not required
    }

    assert optional <= NULLS.keys()
    assert shape != "0.3.0" or optional == NULLS.keys()


@pytest.mark.parametrize("shape", UPSTREAM)
def test_no_required_field_is_null(shape: str) -> None:
    """Null never stands for a required field."""
    needed = [
        path for path, required in fields_of(schema_file(f"eee@{shape}")) if required
    ]

    assert not [each for each in needed if accepts_null(shape, each)]
