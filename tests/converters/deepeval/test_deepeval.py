"""Goldens and test cases of DeepEval: detected, checked and read."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from cases import for_each_case
from harpia_formats import detect, read, score, validate

ROW = {"input": "2+2?", "actual_output": "4", "expected_output": "four"}


def claim_on(row: dict[str, Any]) -> str | None:
    """Return the format that a row is taken for."""
    (found,) = detect(json.dumps(row).encode())
    return found.format


def test_a_null_takes_no_place_of_another_spelling() -> None:
    """Of two spellings of a key the one with a value is read."""
    row = {"input": "2+2?", "actual_output": None, "actualOutput": "4"}
    (record,) = read(json.dumps(row | {"retrieval_context": ["a"]}).encode())

    assert [output.text for output in record.outputs] == ["4"]


@for_each_case(
    "others, format_",
    [
        ({"retrieval_context": None}, "deepeval"),
        ({"metricsData": []}, "deepeval"),
        ({"source_file": None, "name": None}, "deepeval"),
        ({}, "harpia"),
        ({"name": "a", "comments": "b"}, "harpia"),
        ({"input": {"text": "2+2?"}, "tools_called": []}, None),
    ],
)
def test_keys_of_its_own_tell_a_case_from_an_instance(
    others: Any, format_: str | None
) -> None:
    """Answers alone are spelt like HarpIA's; a key that DeepEval has decides."""
    assert claim_on(ROW | others) == format_


def test_documented_instance_stays_one_whatever_its_keys() -> None:
    """An instance with the keys that HarpIA documents is HarpIA's."""
    row = {"id": 1, "input": "2+2?", "actual-output": "4", "retrieval_context": []}

    assert claim_on(row) == "harpia"


FIXTURES = Path(__file__).parents[3] / "fixtures" / "deepeval" / "valid"


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("run", "run"),
        ("latest-run", "latest-run"),
        ("conversations", "conversations"),
        ("latest-conversations", "latest-conversations"),
    ],
)
def test_run_is_known_by_its_dialect(name: str, dialect: str) -> None:
    """Each file of a run is detected, and its cases are valid records."""
    (found,) = detect(FIXTURES / f"{name}.json")
    report = validate(FIXTURES / f"{name}.json", strict=True)

    assert (found.format, found.dialect) == ("deepeval", dialect)
    assert not report.problems
    assert report.files[0].records == (2 if "conv" in name else 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [("run", "latest-run"), ("conversations", "latest-conversations")],
)
def test_latest_run_is_read_as_the_run_in_it(one: str, other: str) -> None:
    """What stands around a run changes neither its records nor its scores."""
    files = (FIXTURES / f"{name}.json" for name in (one, other))
    first, second = ([to_builtins(each) for each in read(file)] for file in files)

    assert first == second


def test_scores_of_a_run_are_those_that_the_tool_printed() -> None:
    """The mean of a metric is that of its scores; a case that failed is left out."""
    run = json.loads((FIXTURES / "run.json").read_bytes())
    (printed,) = run["metricsScores"]
    found = score(FIXTURES / "run.json", stored=True, missing="skip")["Exact"]

    assert found.value == sum(printed["scores"]) / len(printed["scores"])
    assert found.count == printed["passes"] + printed["fails"]
    assert found.unscored == printed["errors"]


def test_run_with_test_cases_and_conversations_is_warned_of() -> None:
    """The conversations next to test cases are not read, and that is reported."""
    report = validate(FIXTURES / "D203-both.json")
    (problem,) = report.problems

    assert (problem.code, problem.place.pointer) == ("D203", "/conversationalTestCases")
    assert "2 conversations" in problem.message
    assert report.files[0].records == 3


def test_large_run_is_known_by_its_beginning(tmp_path: Path) -> None:
    """A run that is longer than the sample is detected, though its end is not seen."""
    case = {"name": "a", "input": "2+2?", "actualOutput": "x" * 100_000}
    path = tmp_path / "run.json"
    run = {"testCases": [case] * 100, "conversationalTestCases": []}
    path.write_text(json.dumps(run), encoding="utf-8")

    assert detect(path)[0].dialect == "run"
    assert validate(path).files[0].records == 100


@pytest.mark.parametrize(
    "document",
    [
        {"testCases": [{"name": "a", "input": "b"}]},
        {"testCases": "3", "metricsScores": []},
        {"testRunData": {"metricsScores": []}},
        {"testRunLink": "https://x.example"},
    ],
)
def test_other_documents_with_such_keys_are_no_runs(document: Any) -> None:
    """Test cases alone may be those of any tool."""
    assert claim_on(document) is None
