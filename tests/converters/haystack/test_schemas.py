"""What Haystack's schemas allow, and that a strict one leaves nothing to say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from cases import for_each_case
from effort import examples
from fixture_files import schema_file
from known_formats import FORMATS

SCHEMAS = Path(__file__).parents[3] / "schemas" / "haystack"
FILES = sorted(SCHEMAS.glob("*.schema.json"))
DIALECTS = [
    each
    for module in (
        FORMATS["haystack"],
        FORMATS["haystack-results"],
        FORMATS["haystack-run"],
        FORMATS["haystack-evaluator"],
    )
    for each in module.dialects
]
LLM = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
SCORES: dict[str, Any] = {"score": 0.5, "individual_scores": [1, 0]}
RUN: dict[str, Any] = {
    "run_name": "a",
    "inputs": {"q": [1, 2]},
    "results": {"m": SCORES},
}
EXAMPLE = {"inputs": {"responses": "Olá"}, "outputs": {"score": 1}}
DEFINITION: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [["responses", "list[str]"]],
    "outputs": ["score"],
    "examples": [EXAMPLE],
}
COLUMNS: dict[str, Any] = {
    "questions": ["2+2?"],
    "contexts": [["números", "数"]],
    "responses": ["4"],
    "predicted_answers": ["4"],
    "ground_truth_answers": ["4"],
    "ground_truth_documents": [[{"content": "a"}]],
    "retrieved_documents": [[]],
    "own": [None],
}
ITEMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)


def is_allowed(id_: str, value: Any) -> bool:
    """Tell whether a schema allows `value`."""
    return Draft7Validator(schema_file(id_)).is_valid(value)


def properties_in(node: Any) -> Iterator[Any]:
    """Yield what a schema says of the members of objects and of array items."""
    if not isinstance(node, dict):
        return
    for key, each in node.items():
        if key in {"properties", "definitions"}:
            if key == "properties":
                yield from each.values()
            for inner in each.values():
                yield from properties_in(inner)
        elif key in {"items", "additionalProperties", "then", "else"}:
            for inner in each if isinstance(each, list) else [each]:
                yield from properties_in(inner)


@for_each_case("path", FILES, ids=lambda each: str(each.name))
def test_schema_is_one(path: Path) -> None:
    """Each file is a draft-07 schema with a title, a description and a version."""
    schema = json.loads(path.read_text("utf-8"))

    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["version"] == "1"
    assert schema["title"]
    assert schema["description"]


@for_each_case("path", FILES, ids=lambda each: str(each.name))
def test_properties_are_described(path: Path) -> None:
    """Each member says what it is, except where a condition takes it up again."""
    for each in properties_in(json.loads(path.read_text("utf-8"))):
        assert "description" in each or each.keys() <= {"$ref", "properties"}


def test_dialects_name_the_schemas_that_there_are() -> None:
    """Each dialect has a schema and a strict one, and no schema is left over."""
    named = {each.schema for each in DIALECTS} | {each.strict for each in DIALECTS}

    assert {each.name.removesuffix(".schema.json") for each in FILES} == named


@pytest.mark.parametrize("suffix", ["", "-strict"])
def test_evaluators_share_their_definition(suffix: str) -> None:
    """A definition is the same by itself, dumped, under a name and in a pipeline."""
    alone = schema_file(f"haystack-evaluator{suffix}")

    for dialect in ("to-dict", "component", "pipeline"):
        schema = schema_file(f"haystack-evaluator-{dialect}{suffix}")
        inner = schema["definitions"]["definition"]
        assert inner == {key: alone[key] for key in inner.keys() - {"description"}} | {
            "description": inner["description"]
        }


@pytest.mark.parametrize("suffix", ["", "-strict"])
@pytest.mark.parametrize("id_", ["haystack", "haystack-results"])
def test_components_are_validated_like_documents(id_: str, suffix: str) -> None:
    """A document below the name of a component is validated as it is alone."""
    alone = schema_file(f"{id_}{suffix}")
    inner = schema_file(f"{id_}-component{suffix}")["additionalProperties"]

    keys = inner.keys() - {"description"}
    assert keys == alone.keys() - {"$schema", "title", "description", "version"}
    assert {key: inner[key] for key in keys} == {key: alone[key] for key in keys}


@for_each_case(
    "dumped, alone, in_pipeline",
    [
        ({"type": "x.SASEvaluator", "init_parameters": {"inputs": 1}}, True, True),
        ({"type": "x.SASEvaluator"}, False, True),
        ({"init_parameters": DEFINITION}, False, False),
        ({"type": 1, "init_parameters": {}}, False, False),
        ({"type": LLM, "init_parameters": []}, False, False),
        ({"type": LLM}, False, False),
        ({"type": "LLMEvaluator", "init_parameters": {}}, False, False),
        ({"type": "my.NotLLMEvaluator", "init_parameters": {}}, True, True),
    ],
)
def test_dumped_components(*, dumped: Any, alone: bool, in_pipeline: bool) -> None:
    """Only an LLMEvaluator's parameters are looked at; a pipeline has others, too."""
    pipeline = {"components": {"c": dumped}}

    assert is_allowed("haystack-evaluator-to-dict", dumped) is alone
    assert is_allowed("haystack-evaluator-component", {"c": dumped}) is alone
    assert is_allowed("haystack-evaluator-pipeline", pipeline) is in_pipeline


@examples(75)
@given(column=st.sampled_from(sorted(COLUMNS)), item=ITEMS)
def test_strict_items_leave_nothing_to_say(column: str, item: Any) -> None:
    """An item has no remark exactly where the strict schema allows it."""
    is_strict = is_allowed("haystack-strict", {column: [item]})

    remarks = FORMATS["haystack"].dialects[0].remarks
    assert remarks is not None
    assert is_strict is not any(remarks({column: item}))


@examples(20)
@given(
    change=st.dictionaries(
        st.sampled_from([*DEFINITION, "api", "score", "results", "inputs"]),
        ITEMS,
        max_size=2,
    )
)
def test_strict_allows_no_more(change: dict[str, Any]) -> None:
    """What a strict schema allows, the tolerant one allows too."""
    for value in (DEFINITION, RUN, SCORES, COLUMNS):
        for each in DIALECTS:
            document = value | change
            if is_allowed(each.strict, document):
                assert is_allowed(each.schema, document)
