"""How HarpIA's files are detected, and the examples of its rules."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from cases import for_each_case
from effort import examples
from harpia_formats.plugins import Container, Format
from known_formats import FORMATS, RULES

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "HarpIA Lab"}
INSTANCE = {"id": "1", "input": "Que dia é hoje?", "actual-output": "Domingo ☀️"}
REFERENCE = {"id": "2", "input": "今天星期几?", "expected-output": ["星期天"]}
METRIC = {"id": "BLEU", "enable": True, "parameters": {}}
ITEM = {"id": "BLEU", "parameters": {}, "score": 0.5, "elapsed time": 1}
ROW = {"id": "BLEU", "parameters": {}, "instance_id": "1", "result": 0.5}
KEYS = [
    "elapsed time",
    *"id input actual-output actual_output actualOutput expected-output".split(),
    *"expected_output expectedOutput instances metrics instancias metricas".split(),
    *"Metrics enable enabled parameters score elapsed_time instance_id".split(),
    *"result results metric".split(),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), JSON)


def spelt(row: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Return `row` with another mark than a hyphen in its keys."""
    return {key.replace("-", mark): value for key, value in row.items()}


def detected(value: Any) -> dict[tuple[str, str], str]:
    """Return the keys by which `value` is detected, by format and dialect."""
    signs = {
        (format_.id, each.name): each.sniff(value)
        for format_ in OWN.values()
        for each in format_.dialects
    }
    return {where: sign for where, sign in signs.items() if sign}


@for_each_case(
    "row, dialect, sign",
    [
        (INSTANCE, "instances", "`actual-output`"),
        (REFERENCE, "instances", "`expected-output`"),
        ({"id": 1, "input": "Oi"}, "instances", "`id` and `input`"),
        ({"actual-output": 3, "input": {}}, "instances", "`actual-output`"),
        (spelt(INSTANCE, "_"), "instances", "`actual_output`"),
        (spelt(REFERENCE, "_"), "instances", "`expected_output`"),
        ({"actualOutput": "Oi"}, "instances", "`actualOutput`"),
        ({**INSTANCE, "expected_output": []}, "instances", "`actual-output`"),
        ({"instances": [INSTANCE], "metrics": []}, "", "`instances`"),
        ({"instances": [], "metrics": [METRIC]}, "", "`instances` and `metrics`"),
        ({"instances": None}, "", "`instances`"),
        ({"instances": {"1": INSTANCE}}, "", "`instances`"),
        ({"metrics": [METRIC]}, "", "`metrics`"),
        ({"instances": [], "metrics": [{"enabled": 0}]}, "", None),
        ({"instance": [INSTANCE]}, "", "`instance`"),
        ({"Instances": [INSTANCE]}, "", "`Instances`"),
        ({"instances": [INSTANCE], "instancias": []}, "", None),
        ({"instancias": [INSTANCE]}, "instancias", "`instancias`"),
        ({"instancias": [spelt(INSTANCE, "_")]}, "instancias", "`instancias`"),
    ],
)
def test_input_is_detected_in_one_dialect(
    row: Any, dialect: str, sign: str | None
) -> None:
    """An input is detected in one dialect only, even if its values are wrong."""
    found = detected(row)

    assert list(found) == [("harpia", dialect)]
    assert sign in {None, *found.values()}


@for_each_case(
    "value, format_, dialect, sign",
    [
        (ITEM, "harpia-output", "", "`score` and `parameters` and `elapsed time`"),
        (
            {"metric": "BLEU", "score": 1, "parameters": {}},
            "harpia-output",
            "",
            "`score` and `parameters`",
        ),
        ({"parameters": 1, "elapsed_time": 1}, "harpia-output", "", None),
        ({"score": 1, "elapsedTime": 1}, "harpia-output", "", None),
        ({"results": [None, ITEM]}, "harpia-output", "wrapped", None),
        ({"BLEU": ITEM}, "harpia-output", "keyed", None),
        ({"BLEU": ITEM, "a": 1, "b": {}, "c": []}, "harpia-output", "keyed", None),
        (ROW, "harpia-log", "", "`instance_id`"),
        (
            {"instance_id": None, "metric": "BLEU", "result": 1},
            "harpia-log",
            "",
            "`instance_id`",
        ),
        ({"metric": "BLEU", "result": 1, "parameters": {}}, "harpia-log", "", None),
    ],
)
def test_results_are_detected_in_one_dialect(
    value: Any, format_: str, dialect: str, sign: str | None
) -> None:
    """An output or a log is detected in one dialect only, even if a key is missing."""
    found = detected(value)

    assert list(found) == [(format_, dialect)]
    assert sign in {None, *found.values()}


@for_each_case(
    "value",
    [
        {},
        {"id": 1, "input": {"prompt": "Oi"}},
        {"id": 1, "input": "Oi", "output": "Olá"},
        {"id": 1, "input": "Oi", "reference": "Olá"},
        {"id": 1, "input": "Oi", "interaction_type": "single_turn"},
        {"input": "Oi"},
        {"expected-output": [], "input": {"prompt": "Oi"}},
        {"actual-output": "Oi", "model_outputs": []},
        {"actual_output": "Oi", "messages": []},
        {"actual_output": "", "interaction_type": 1, "answer_attribution": []},
        {"actual_output": "", "input": 1, "reference": 2, "output": 3},
        {"instance": "i-07", "state": "running"},
        {"instance_id": "django-1", "model_patch": "diff"},
        {"instances": 3},
        {"metrics": {"accuracy": 1}},
        {"metrics": ["bleu"]},
        {"score": 1},
        {"results": [{"score": 1}]},
        {"results": []},
        {"BLEU": ITEM, "a": 1, "b": 2, "c": 3, "d": 4},
        {"sample_id": 1, "score": 1, "parameters": {}},
    ],
)
def test_other_formats_are_not_detected(value: Any) -> None:
    """Keys of other formats, or too few of HarpIA's keys, are not detected."""
    assert detected(value) == {}


@for_each_case(
    "rule",
    [each for each in RULES.values() if each.code[0] == "H"],
    ids=lambda each: each.code,
)
def test_examples_of_rules_are_detected(rule: Any) -> None:
    """The examples of a rule are JSON and detected as the format of the rule."""
    for text in (rule.bad, rule.good):
        value = json.loads(text)
        first = value[0] if isinstance(value, list) else value

        assert {each for each, _ in detected(first)} == {rule.validated_as}


def test_the_message_on_a_missing_answer_names_the_earlier_instance() -> None:
    """The message on an instance without an answer is a sentence about both."""
    bad = RULES["H119"].bad

    report = harpia_formats.validate(bad, select=["H119"])

    (problem,) = report.problems
    assert problem.message == (
        "this instance has no acceptable answer, but an earlier one has acceptable "
        "answers: record 1"
    )


@pytest.mark.parametrize("format_", OWN.values(), ids=lambda each: each.id)
def test_dialects_have_the_required_parts(format_: Format) -> None:
    """Only unnamed dialects are documented; those with remarks have a strict schema."""
    assert [each.documented for each in format_.dialects] == [
        not each.name for each in format_.dialects
    ]
    assert all(each.strict for each in format_.dialects if each.remarks)
    assert all(
        bool(each.rows_at) or each.container is not Container.WRAPPED
        for each in format_.dialects
    )


@examples(26)
@given(OBJECTS)
def test_object_is_detected_at_most_once(value: dict[str, Any]) -> None:
    """No object is detected as two HarpIA formats or two dialects of one."""
    assert len(detected(value)) <= 1


@pytest.mark.parametrize(
    ("score", "is_wrong"), [(1.0000002384185791, False), (1.01, True), (71, True)]
)
def test_score_may_be_beyond_its_bounds_by_rounding(
    score: float, *, is_wrong: bool
) -> None:
    """BERTScore of equal texts, which 32 bits hold, is a little more than 1."""
    item = {"id": "BERTScore-HF", "parameters": {}, "score": score}

    report = harpia_formats.validate(json.dumps([item]).encode(), lint=True)
    assert ("H124" in {each.code for each in report.problems}) is is_wrong
