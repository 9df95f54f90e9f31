"""Tencent's schemas: what they allow, what strict ones refuse, and how they relate."""

import csv
import json
from typing import Any

import pytest
from jsonschema import Draft7Validator

from cases import for_each_case
from corpora import CORPORA
from harpia_formats.plugins import Dialect
from known_formats import FORMATS, RULES, bundled_schema

CORPUS = CORPORA / "harpia"
DIALECTS = {
    each.schema: each
    for one in (
        FORMATS["tencent-messages"],
        FORMATS["tencent-outputs"],
        FORMATS["tencent-manual"],
        FORMATS["tencent-csv"],
    )
    for each in one.dialects
}
LINT = {each.code for each in RULES.values() if each.lint and each.code[0] == "T"}
QUESTION = {"role": "user", "content": "Qual é a capital do Acre?"}
ANSWER = {"role": "assistant", "content": "Rio Branco"}
RESPONSE = {"content": "Rio Branco", "reasoning_content": "阿克里州的首府……"}
OUTPUT = {"model_name": "finch-3b", "responses": [RESPONSE]}
TURN = {"prompt": "7 + 5 =", "response": "12"}
CELLS = {"system": "", "prompt": "7 + 5 =", "response": "12"}
ASKED = {"messages": [QUESTION]}
ANSWERED = {"messages": [QUESTION], "model_outputs": [OUTPUT]}
#: Rows whose parts the mutants are made of, by schema.
GOOD: dict[str, list[dict[str, Any]]] = {
    "tencent-messages": [
        ASKED,
        {"messages": [QUESTION, ANSWER], "ref_answer": "Rio Branco 🏙️", "id": "1"},
        {"messages": [{"role": "system", "content": ""}, QUESTION], "level": 3},
    ],
    "tencent-outputs": [
        ANSWERED,
        ANSWERED | {"ref_answer": "", "model_outputs": [OUTPUT, OUTPUT]},
    ],
    "tencent-manual": [
        {"conversation": [TURN]},
        {"system": "", "conversation": [TURN, TURN]},
    ],
    "tencent-csv": [CELLS],
    "tencent-csv-answer": [{"system": "", "prompt": "7 + 5 =", "answer": "12"}],
}


def allows(schema: str, row: Any) -> bool:
    """Tell whether the reference engine finds `row` valid."""
    return Draft7Validator(bundled_schema(schema)).is_valid(row)


def default_remarks(row: Any, dialect: Dialect) -> list[str]:
    """Return the codes of the remarks on `row` that are on by default."""
    found = dialect.remarks(row) if dialect.remarks else ()
    return [each.code for each in found if each.code not in LINT]


@for_each_case("name", DIALECTS)
def test_good_rows_are_good_in_every_way(name: str) -> None:
    """A row as documented is detected, is valid, also if strict, and has no remark."""
    for each in GOOD[name]:
        assert DIALECTS[name].sniff(each)
        assert allows(name, each)
        assert allows(DIALECTS[name].strict, each)
        assert default_remarks(each, DIALECTS[name]) == []


@for_each_case(
    "name, row, verdict",
    [
        ("tencent-csv", {"prompt": "", "response": ""}, True),
        ("tencent-csv", CELLS | {"level": "1"}, True),
        ("tencent-csv", CELLS | {"level": 1}, False),
        ("tencent-csv", {"system": "", "response": ""}, False),
        ("tencent-csv", {"prompt": "", "answer": ""}, False),
        ("tencent-csv-answer", {"prompt": "", "answer": ""}, True),
        ("tencent-csv-answer", CELLS, False),
    ],
)
def test_verdict_of_the_tolerant_schema(name: str, row: Any, verdict: bool) -> None:
    """By default a row is refused for what the documentation rules out, no more."""
    assert allows(name, row) == verdict


@for_each_case(
    "name, row",
    [
        ("tencent-csv", {"prompt": "", "response": ""}),
        ("tencent-csv", CELLS | {"level": "1"}),
        ("tencent-csv-answer", {"prompt": "", "answer": ""}),
    ],
)
def test_strict_refuses_undocumented_values(name: str, row: Any) -> None:
    """The strict schema refuses undocumented values that the tolerant one accepts."""
    assert allows(name, row)
    assert not allows(DIALECTS[name].strict, row)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("file", "name", "rows"),
    [
        ("tencent_infer_eval.jsonl", "tencent-messages", 2),
        ("tencent_eval_only.jsonl", "tencent-outputs", 1),
        ("tencent_legacy.jsonl", "tencent-manual", 2),
    ],
)
def test_rows_of_the_corpus_are_valid(file: str, name: str, rows: int) -> None:
    """The small examples of the corpus are detected and valid, also if strict."""
    lines = (CORPUS / file).read_text().splitlines()
    found = [json.loads(each) for each in lines]

    assert len(found) == rows
    for each in found:
        assert DIALECTS[name].sniff(each)
        assert allows(DIALECTS[name].strict, each)


@pytest.mark.corpora
def test_table_of_the_corpus_is_valid() -> None:
    """The small table of the corpus is detected and valid, also if strict."""
    with (CORPUS / "tencent_legacy.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)

    assert DIALECTS["tencent-csv"].sniff(row)
    assert allows("tencent-csv-strict", row)
