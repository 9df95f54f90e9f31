"""What dialects HarpIA's files have, and what its rules say of their examples."""

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator

import harpia_formats
from cases import for_each_case
from fixture_files import schema_file
from harpia_formats.plugins import Container, Format
from known_formats import FORMATS, RULES

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "HarpIA Lab"}
ITEM = {"id": "BLEU", "parameters": {}, "score": 0.5, "elapsed time": 1}


def detected(value: Any) -> dict[tuple[str, str], str]:
    """Return the keys by which `value` is detected, by format and dialect."""
    signs = {
        (format_.id, each.name): each.sniff(value)
        for format_ in OWN.values()
        for each in format_.dialects
    }
    return {where: sign for where, sign in signs.items() if sign}


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


def test_an_answer_under_a_near_key_is_named() -> None:
    """The finding on a misspelt key of an answer names that key and the right one."""
    data = {"instances": [{"id": 1, "input": "Oi?", "actual-ouput": "Olá"}]}

    (problem,) = harpia_formats.validate(json.dumps(data).encode()).problems
    assert '"actual-ouput"' in problem.message
    assert '"actual-output"' in problem.help


@for_each_case(
    "changes, tolerant, strict",
    [
        ({}, True, True),
        ({"id": ...}, True, True),
        ({"elapsed time": ..., "elapsed-time": 1}, True, False),
        ({"parameters": []}, True, False),
        ({"score": ...}, False, False),
    ],
)
def test_output_by_metric(changes: Any, tolerant: bool, strict: bool) -> None:
    """An output under its metric's name is validated in the same way, without an id."""
    item = {key: each for key, each in (ITEM | changes).items() if each is not ...}
    found = [
        Draft7Validator(schema_file(each)).is_valid({"BLEU": item})
        for each in ("harpia-output-keyed", "harpia-output-keyed-strict")
    ]

    assert found == [tolerant, strict]


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
