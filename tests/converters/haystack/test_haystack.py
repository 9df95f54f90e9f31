"""Detection of Haystack's documents, which never fails."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import validate
from known_formats import FORMATS

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "Haystack"}
DIALECTS = {
    (format_.id, each.name): each
    for format_ in OWN.values()
    for each in format_.dialects
}
LLM = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
COLUMNS = {"questions": ["2+2?", "ação?"], "responses": ["4", "sim 🦉"]}
RESULTS = {"results": [{"score": 0}, None], "meta": None}
SCORES = {"score": 0.5, "individual_scores": [1, 0]}
RUN = {"run_name": "a", "inputs": COLUMNS, "results": {"match": SCORES}}
EXAMPLE = {"inputs": {"responses": "Olá"}, "outputs": {"score": 1}}
DEFINITION: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [["responses", "list[str]"]],
    "outputs": ["score"],
    "examples": [EXAMPLE],
}
DUMPED = {"type": LLM, "init_parameters": DEFINITION}
BUILDER = {"type": "haystack.PromptBuilder", "init_parameters": {"template": "{{x}}"}}
KEYS = (
    "questions responses contexts results meta score individual_scores inputs outputs "
    "examples instructions run_name type init_parameters components messages prompt "
    "statements statement_scores ground_truth_documents api LLMEvaluator"
).split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner)
    ),
    max_leaves=12,
)


def detected(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the formats and dialects as which `value` is detected."""
    return [key for key, each in DIALECTS.items() if each.sniff(value)]


@for_each_case(
    "value, key, sign",
    [
        (COLUMNS, ("haystack", ""), "`questions` and `responses`"),
        ({"nota": [1], "contexts": []}, ("haystack", ""), "`contexts`"),
        ({"c": COLUMNS}, ("haystack", "component"), "under a component's name"),
        ({"c": {"a": [1]}, "d": COLUMNS}, ("haystack", "component"), "`questions`"),
        (RESULTS, ("haystack-results", ""), "`results`"),
        (SCORES, ("haystack-results", ""), "`individual_scores`"),
        ({"c": RESULTS, "d": SCORES}, ("haystack-results", "component"), "`results`"),
        (RUN, ("haystack-run", ""), "`run_name`"),
        (DEFINITION, ("haystack-evaluator", ""), "`instructions` and `inputs`"),
        (DUMPED, ("haystack-evaluator", "to_dict"), "`type` that names an evaluator"),
        ({"c": DUMPED}, ("haystack-evaluator", "component"), "`init_parameters`"),
        ({"c": DEFINITION}, ("haystack-evaluator", "component"), "`instructions`"),
        (
            {"components": {"b": BUILDER, "c": DUMPED}, "connections": []},
            ("haystack-evaluator", "pipeline"),
            "in `components`",
        ),
    ],
)
def test_each_dialect_is_detected(
    value: dict[str, Any], key: tuple[str, str], sign: str
) -> None:
    """Each dialect is detected by its own keys, and by no other dialect's."""
    assert detected(value) == [key]
    assert sign in DIALECTS[key].sniff(value)


@for_each_case(
    "value, key",
    [
        ({**COLUMNS, "responses": "4"}, ("haystack", "")),
        ({**COLUMNS, "note": "x", "n": 1}, ("haystack", "")),
        ({**COLUMNS, "responses": None}, ("haystack", "")),
        ({"c": COLUMNS, "note": "x"}, ("haystack", "component")),
        ({"c": COLUMNS, "d": {"x": 1}}, ("haystack", "component")),
        ({"c": COLUMNS, "d": None}, ("haystack", "component")),
        ({"results": [1, {"score": 2}]}, ("haystack-results", "")),
        ({"results": [], "meta": None}, ("haystack-results", "")),
        ({"results": [{"nota": 1}], "meta": []}, ("haystack-results", "")),
        ({"individual_scores": "1"}, ("haystack-results", "")),
        ({"c": RESULTS, "d": 1}, ("haystack-results", "component")),
        ({"run_name": 1, "inputs": COLUMNS, "results": []}, ("haystack-run", "")),
        ({"inputs": COLUMNS, "results": {"m": SCORES}}, ("haystack-run", "")),
        ({**DEFINITION, "instructions": [1]}, ("haystack-evaluator", "")),
        ({"inputs": 1, "outputs": 2, "examples": 3}, ("haystack-evaluator", "")),
        ({"type": LLM}, ("haystack-evaluator", "to_dict")),
        ({"init_parameters": DEFINITION}, ("haystack-evaluator", "to_dict")),
    ],
)
def test_broken_document_is_detected_as_intended(
    value: dict[str, Any], key: tuple[str, str]
) -> None:
    """A document is detected despite a wrong value, a missing key or unknown keys."""
    assert detected(value) == [key]


@for_each_case(
    "value",
    [
        {},
        {"c": {}},
        {"results": {}},
        {"results": [1]},
        {"run_name": "a"},
        {"instructions": "x"},
        {"type": "x", "init_parameters": {}},
        {"type": "my.Evaluator"},
        {"components": {"b": BUILDER}},
        {"inputs": [1]},
        {"instances": [], "metrics": [{"id": "m"}]},
        {"metrics": ["m"], "score": [1]},
        {"tasks": {"a": {"metrics": {}}}, "run_name": "x", "results": {}},
        {"evaluation_results": [{}]},
        {"outputs": [{"text": "a"}], "references": ["a"]},
        {"messages": [{"role": "user", "content": "a"}]},
        {"id": "1", "question": "x", "contexts": ["a"]},
        {"a": [1], "b": 2},
        {"data": {"tags": [1]}, "more": {"n": 1}},
        {"interaction_type": "x", "answer_attribution": [], "results": [{}]},
        {"m": {"score": 1, "parameters": {}}},
        {"results": [{"id": "m", "score": 1, "elapsed_time": 1}]},
        {"INSTANCES": [{"id": 1}], "responses": ["a"]},
        {"c": COLUMNS, "id": "x"},
    ],
)
def test_other_formats_are_not_detected(value: dict[str, Any]) -> None:
    """Documents and rows of other formats are not detected as Haystack's."""
    assert detected(value) == []


@examples(20)
@given(value=st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), JSON))
def test_any_object_is_detected_at_most_once(value: dict[str, Any]) -> None:
    """No object is detected as two formats, and detection and checks never raise."""
    assert len({format_ for format_, _ in detected(value)}) <= 1
    for format_ in OWN:
        assert validate(json.dumps(value).encode(), format=format_, lint=True).files


@examples(50)
@given(value=JSON)
def test_checks_never_fail(value: Any) -> None:
    """The checks do not fail for a value of any type."""
    for format_ in OWN:
        assert validate(json.dumps(value).encode(), format=format_, lint=True).files
