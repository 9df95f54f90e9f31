"""EvalEval aggregates: their two versions, and how they are detected."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from corpora import CORPORA
from fixture_files import schema_file
from harpia_formats.plugins import Container
from known_formats import FORMATS

ROOT = Path(__file__).parents[3]
SAMPLES = CORPORA / "eee" / "samples"
VALID = ROOT / "fixtures" / "eee-aggregate" / "valid"
FULL = {
    each: json.loads((VALID / f"full-{each}.json").read_bytes())
    for each in ("0.3.0", "0.2.0")
}


def schema_validator_of(schema: Any) -> jsonschema_rs.Draft7Validator:
    """Return the schema validator for `schema`."""
    return jsonschema_rs.Draft7Validator(schema, offline=True, validate_formats=False)


def real_aggregates() -> dict[str, Any]:
    """Return the aggregates of the corpus by their names."""
    paths = sorted(SAMPLES.glob("*_aggregate.json"))
    return {each.name: json.loads(each.read_bytes()) for each in paths}


def shapes_of(document: Any) -> list[str]:
    """Return the versions that an object is taken for."""
    signs = {
        each.schema: each.sniff(document) for each in FORMATS["eee-aggregate"].dialects
    }
    return [each.removeprefix("eee-aggregate@") for each, sign in signs.items() if sign]


@pytest.mark.corpora
def test_real_aggregates_are_valid_in_their_shape_only() -> None:
    """The files of February have the old version, those of August the new one."""
    schema_validators = {
        each: schema_validator_of(schema_file(f"eee-aggregate@{each}"))
        for each in ("0.3.0", "0.2.0")
    }
    aggregates = real_aggregates()

    assert len(aggregates) == 18
    for name, each in aggregates.items():
        shape = "0.2.0" if name.startswith("era96bd610f") else "0.3.0"
        valid = [
            key
            for key, schema_validator in schema_validators.items()
            if schema_validator.is_valid(each)
        ]
        assert (valid, shapes_of(each)) == ([shape], [shape]), name


def keys_of(node: Any) -> Iterator[str]:
    """Yield every key that a schema names."""
    if isinstance(node, list):
        for each in node:
            yield from keys_of(each)
    elif isinstance(node, dict):
        yield from node.get("properties", ())
        for each in node.values():
            yield from keys_of(each)


def test_full_documents_have_every_key() -> None:
    """The bases of the mutants hold each key that the schema of their version names."""
    for shape, document in FULL.items():
        text = json.dumps(document, ensure_ascii=False)
        assert not [
            each
            for each in keys_of(schema_file(f"eee-aggregate@{shape}"))
            if f'"{each}"' not in text
        ]


def test_silent_score_type_is_explained() -> None:
    """A metric without score_type, which 0.2.0 takes for levels, gets advice."""
    branch = "/properties/evaluation_results/items/properties/metric_config/then"
    path = ("evaluation_results", 0, "metric_config")
    silent = {"evaluation_results": [{"metric_config": {"lower_is_better": True}}]}

    advice = FORMATS["eee-aggregate"].advise(branch, path, silent)

    assert advice is not None
    assert advice.code == "C101"
    assert advice.help.startswith("give score_type")
    assert FORMATS["eee-aggregate"].advise(branch, path, FULL["0.2.0"]) is None


def test_dialects_are_documents() -> None:
    """The current version comes first and unnamed, the old one has a name."""
    new, old = FORMATS["eee-aggregate"].dialects

    assert (new.name, old.name) == ("", "0.2.0")
    assert {new.container, old.container} == {Container.DOCUMENT}
