"""What Haystack's schemas allow, and that a strict one leaves nothing to say."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from cases import for_each_case
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
EXAMPLE = {"inputs": {"responses": "Olá"}, "outputs": {"score": 1}}
DEFINITION: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [["responses", "list[str]"]],
    "outputs": ["score"],
    "examples": [EXAMPLE],
}


def is_allowed(id_: str, value: Any) -> bool:
    """Tell whether a schema allows `value`."""
    return Draft7Validator(schema_file(id_)).is_valid(value)


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
