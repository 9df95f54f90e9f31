"""EvalEval's schemas of samples and aggregates agree with those that upstream has."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from corpora import CORPORA
from effort import drawn
from fixture_files import ROOT, schema_file
from harpia_formats.api.testing import mutants
from json_lines import jsonl_rows
from known_formats import FORMATS

SAMPLES = CORPORA / "eee" / "samples"
VALID = ROOT / "fixtures" / "eee-aggregate" / "valid"
AGGREGATE = "eee-aggregate@"
#: Each schema, with the beginning and the middle of the name of upstream's file.
UPSTREAM = {
    "eee@0.2.0-tag": "06-2026-02-14-*-instance_level_eval-",
    "eee@0.3.0": "15-2026-08-04-*-instance_level_eval-",
    "eee-aggregate@0.2.0": "13-2026-02-10-*-eval-",
    "eee-aggregate@0.3.0": "29-2026-08-04-*-eval-",
}
ALL = pytest.mark.parametrize("schema", UPSTREAM)
#: What never decides a verdict; upstream has `parameters` and `solver` as keywords.
SILENT = frozenset(
    "$schema $id $defs version title description default parameters solver".split()
)


def upstream_of(schema: str) -> Any:
    """Return a schema as upstream published it."""
    (path,) = (CORPORA / "eee" / "schemas").glob(f"{UPSTREAM[schema]}*.json")
    return json.loads(path.read_bytes())


def verdict_of(schema: Any) -> Any:
    """Return the verdict by a schema."""
    return jsonschema_rs.Draft7Validator(
        schema, offline=True, validate_formats=False
    ).is_valid


def odd_samples(schema: str) -> Iterator[Any]:
    """Yield samples near the conditions: ghosts, crossings and a missing type."""
    turns = "messages" if schema == "eee@0.3.0" else "interactions"
    single, multi, agentic = jsonl_rows(ROOT / f"fixtures/{schema}/valid/full.jsonl")
    ghosts: tuple[Any, ...] = ({}, {"num_turns": 3}, 5, None)
    for each in (single, multi, agentic):
        yield from (each | {"metrics": ghost} for ghost in ghosts)
        yield each | {"interaction_type": "chat"}
        yield {key: each[key] for key in each if key != "interaction_type"}
        yield {key: each[key] for key in each if key not in {"output", turns}}
    yield single | {turns: agentic[turns]}
    yield multi | {"output": single["output"]}
    yield agentic | {"output": {"raw": single["output"]["raw"]}}


def samples_to_change(schema: str) -> list[Any]:
    """Return samples that mutants start from: full, invented, odd and real ones."""
    folder = ROOT / "fixtures" / schema / "valid"
    full, runs = (jsonl_rows(folder / name) for name in ("full.jsonl", "runs.jsonl"))
    name = "valid-0.3.0.jsonl" if schema == "eee@0.3.0" else "valid-seed-0.2.0.jsonl"
    repaired = jsonl_rows(CORPORA / "eee" / name)[::6]
    files = sorted(SAMPLES.glob("*_samples*.jsonl"))
    real = [each for path in files for each in jsonl_rows(path)[:2]]
    return [*full * 10, *runs * 5, *odd_samples(schema), *repaired, *real]


def odd_aggregates(full: Any) -> Iterator[Any]:
    """Yield aggregates near the conditions: each kind of score, and none."""
    result = full["evaluation_results"][0]
    bounds = {"min_score": 0, "max_score": 1}
    levels = {"level_names": ["não", "sim"], "has_unknown_level": False}
    kinds = ({"score_type": each} for each in ("binary", "continuous", "levels", "?"))
    for kind in ({}, *kinds):
        for more in ({}, bounds, levels):
            metric = {"lower_is_better": False} | kind | more
            yield full | {"evaluation_results": [result | {"metric_config": metric}]}


def aggregates_to_change(schema: str) -> list[Any]:
    """Return aggregates that mutants start from: full, odd, small and real ones."""
    version = schema.removeprefix(AGGREGATE)
    full = json.loads((VALID / f"full-{version}.json").read_bytes())
    paths = [*sorted(VALID.glob("*.json")), *sorted(SAMPLES.glob("*_aggregate.json"))]
    small = [
        each | {"evaluation_results": each["evaluation_results"][:2]}
        for each in (json.loads(path.read_bytes()) for path in paths)
    ]
    (dialect,) = (
        each for each in FORMATS["eee-aggregate"].dialects if each.schema == schema
    )
    return [*[full] * 10, *odd_aggregates(full), *filter(dialect.sniff, small)]


def changed(schema: str, seed: int, count: int) -> Iterator[Any]:
    """Yield mutants of samples or aggregates."""
    is_aggregate = schema.startswith(AGGREGATE)
    make = aggregates_to_change if is_aggregate else samples_to_change
    return islice(mutants(make(schema), seed), count)


def check_verdicts(schema: str, seed: int, count: int) -> None:
    """Assert that verdicts on mutants are upstream's, and that there are both."""
    ours, theirs = verdict_of(schema_file(schema)), verdict_of(upstream_of(schema))
    counts: Counter[bool] = Counter()
    for each in changed(schema, seed, count):
        verdict = ours(each)
        assert verdict == theirs(each), each
        counts[verdict] += 1

    assert min(counts[True], counts[False]) > count / 10


@pytest.mark.corpora
@ALL
def test_mutants_are_validated_as_upstream_does(schema: str) -> None:
    """Our schema and upstream's agree on many mutants, good and bad."""
    check_verdicts(schema, 20_260_214, drawn(800))


@pytest.mark.corpora
@pytest.mark.long
@ALL
def test_many_mutants_are_validated_as_upstream_does(schema: str) -> None:
    """Our schema and upstream's agree on 100,000 mutants, good and bad."""
    check_verdicts(schema, 20_260_804, 100_000)


@pytest.mark.corpora
@ALL
def test_second_engine_agrees(schema: str) -> None:
    """An independent engine gives our schema and upstream's the same verdicts."""
    ours = jsonschema.Draft7Validator(schema_file(schema))
    theirs = jsonschema.Draft7Validator(upstream_of(schema))
    verdict = verdict_of(schema_file(schema))
    for each in changed(schema, 9, 500):
        expected = verdict(each)
        assert ours.is_valid(each) == theirs.is_valid(each) == expected, each


def constraints_of(node: Any, root: Any) -> Any:
    """Return what decides a verdict, references written out, unions in one order."""
    if isinstance(node, list):
        return [constraints_of(each, root) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return constraints_of(root["$defs"][node["$ref"].split("/")[-1]], root)
    kept = {key: constraints_of(node[key], root) for key in node.keys() - SILENT}
    if "properties" in node:
        members = node["properties"].items()
        kept["properties"] = {key: constraints_of(each, root) for key, each in members}
    if "oneOf" in kept:
        kept["oneOf"].sort(key=lambda each: json.dumps(each, sort_keys=True))
    empty = {"additionalProperties": True, "items": {}}
    return {key: each for key, each in kept.items() if each != empty.get(key, ...)}


@pytest.mark.corpora
@ALL
def test_constraints_are_upstreams(schema: str) -> None:
    """Apart from its texts and references, our schema says what upstream's says."""
    ours, theirs = schema_file(schema), upstream_of(schema)

    assert constraints_of(ours, ours) == constraints_of(theirs, theirs)


@pytest.mark.corpora
def test_schema_equals_the_published_one() -> None:
    """The schema of 0.2.0 equals upstream's of 2026-02-09, value for value."""
    (path,) = (CORPORA / "eee" / "schemas").glob("05-2026-02-09-*instance_level*.json")

    assert schema_file("eee@0.2.0") == json.loads(path.read_bytes())
