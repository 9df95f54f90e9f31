"""EvalEval aggregates: their two versions, and how they are detected."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
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

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
#: Objects that have some of the keys that tell an aggregate, with any values.
near_documents = st.dictionaries(
    st.sampled_from([*FULL["0.3.0"], "interaction_type", "input", "unknown"]), any_json
)


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


@for_each_case("path", sorted(VALID.glob("*.json")), ids=lambda each: each.stem)
def test_fixture_is_valid_in_the_shape_it_is_taken_for(path: Path) -> None:
    """Each valid file is detected as one version, and is valid in it."""
    document = json.loads(path.read_bytes())

    (shape,) = shapes_of(document)

    assert schema_validator_of(schema_file(f"eee-aggregate@{shape}")).is_valid(document)


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


def without(document: Any, *keys: str) -> Any:
    """Return `document` without some members of its root."""
    return {key: each for key, each in document.items() if key not in keys}


@for_each_case(
    "document, sign",
    [
        (FULL["0.3.0"], "`evaluation_results` with `eval_library`"),
        (
            without(FULL["0.3.0"], "eval_library"),
            "`evaluation_results` with `deployment_type`",
        ),
        (
            without(FULL["0.3.0"], "evaluation_results"),
            "`source_metadata` and `model_info` with `eval_library`",
        ),
        (
            without(FULL["0.3.0"], "eval_library", "model_info"),
            "`evaluation_results` with `evaluation_result_id`",
        ),
        (
            {"evaluation_results": [3, {"metric_config": {"metric_unit": "ms"}}]},
            "`evaluation_results` with `metric_unit`",
        ),
    ],
)
def test_new_version_is_detected_by_its_keys(document: Any, sign: str) -> None:
    """Any key that only the new version has detects the new version."""
    new, old = FORMATS["eee-aggregate"].dialects

    assert (new.sniff(document), old.sniff(document)) == (sign, "")


@for_each_case(
    "label, shape",
    [
        ("0.3.0", "0.3.0"),
        ("0.2.1", "0.3.0"),
        ("0.10.0", "0.3.0"),
        ("instance_level_eval_0.2.2", "0.3.0"),
        ("0.2.0", "0.2.0"),
        ("0.1.0", "0.2.0"),
        ("banana", "0.2.0"),
        ("0.2." + "9" * 5_000, "0.2.0"),
        (3, "0.2.0"),
        (None, "0.2.0"),
    ],
)
def test_label_decides_where_no_key_does(label: Any, shape: str) -> None:
    """Without a key of the new version, only a label above 0.2.0 detects it."""
    assert shapes_of(FULL["0.2.0"] | {"schema_version": label}) == [shape]


@pytest.mark.parametrize("label", ["0.2.0", "0.1.0", "0.3.0"])
def test_key_decides_against_the_label(label: str) -> None:
    """An aggregate with `eval_library` has the new version, with any label."""
    assert shapes_of(FULL["0.3.0"] | {"schema_version": label}) == ["0.3.0"]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"model_info": {}},
        {"results": [], "eval_library": {}},
        json.loads(
            (ROOT / "fixtures/eee@0.3.0/valid/full.jsonl").read_bytes().splitlines()[0]
        )
        | {"evaluation_results": []},
    ],
)
def test_other_objects_are_no_aggregate(value: Any) -> None:
    """What lacks the signs is not taken, nor a sample with a stray key."""
    assert not shapes_of(value)


@given(near_documents)
def test_any_object_has_one_shape_at_most(document: Any) -> None:
    """Detecting the version never fails, and never takes an object for both."""
    signs = [each.sniff(document) for each in FORMATS["eee-aggregate"].dialects]

    assert len(list(filter(None, signs))) <= 1


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
