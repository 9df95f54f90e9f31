"""Goldens and test cases of DeepEval: detected, checked and read."""

import json
from pathlib import Path
from typing import Any

import pytest

from harpia_converters.deepeval.mapping import DEEPEVAL
from harpia_formats import convert, detect, validate
from harpia_formats.model.record import as_dict

ROW = {"input": "2+2?", "actual_output": "4", "expected_output": "four"}
METRIC = {"name": "Faithfulness", "score": 0.5, "success": True}


def record_of(**others: Any) -> dict[str, Any]:
    """Return the record of a row with these keys."""
    return as_dict(DEEPEVAL.read(ROW | others))


def claim_on(row: dict[str, Any]) -> str | None:
    """Return the format that a row is taken for."""
    (found,) = detect(json.dumps(row).encode())
    return found.format


def test_case_is_a_question_with_an_answer() -> None:
    """Question, answer, reference, file and metadata of a case are fields."""
    found = record_of(
        retrieval_context=["2+2=4"],
        source_file="sums.pdf",
        additional_metadata={"level": 1},
        comments=None,
    )

    assert found == {
        "prompt": "2+2?",
        "references": ["four"],
        "contexts": ["2+2=4"],
        "source": "sums.pdf",
        "metadata": {"level": 1},
        "outputs": [{"text": "4"}],
    }


def test_golden_without_an_answer_has_no_output() -> None:
    """The answer of a golden that nobody has asked yet is null, and is none."""
    assert record_of(actual_output=None)["outputs"] == []


@pytest.mark.parametrize(
    ("given", "contexts"),
    [
        ({"retrieval_context": ["a"], "context": ["b"]}, ["a"]),
        ({"retrieval_context": None, "context": ["b"]}, ["b"]),
        ({"retrieval_context": "a|b"}, ["a", "b"]),
        ({"context": ""}, []),
    ],
)
def test_passages_are_the_retrieved_ones(given: Any, contexts: list[str]) -> None:
    """Retrieved passages come before the ideal ones; one text is cut at each bar."""
    assert record_of(**given)["contexts"] == contexts


def test_ideal_passages_are_kept_beside_retrieved_ones() -> None:
    """Of two lists of passages none is lost."""
    found = record_of(retrieval_context=["a"], context=["b"])

    assert found["extra"] == {"deepeval": {"context": ["b"]}}


def test_spelling_of_the_service_is_read_as_that_of_files() -> None:
    """Keys in camel case are the same fields, and the same keys in extra."""
    row = {
        "input": "2+2?",
        "actualOutput": "4",
        "expectedOutput": "four",
        "retrievalContext": ["a"],
        "toolsCalled": [{"name": "add"}],
    }
    snake = record_of(retrieval_context=["a"], tools_called=[{"name": "add"}])

    assert as_dict(DEEPEVAL.read(row)) == snake
    assert claim_on(row) == "deepeval"


def test_metrics_are_scores_of_the_answer() -> None:
    """A metric has its score, its verdict, and a signature with tool and judge."""
    judged = METRIC | {"evaluationModel": "acme/judge", "reason": "so it is"}
    (output,) = record_of(metricsData=[judged])["outputs"]

    assert output["scores"] == [
        {
            "metric": "Faithfulness",
            "value": 0.5,
            "is_correct": True,
            "signature": "Faithfulness|impl:deepeval|judge:acme/judge",
        }
    ]
    assert output["extra"]["deepeval"]["metrics_data"] == [
        {"evaluationModel": "acme/judge", "reason": "so it is"}
    ]


def test_metric_that_failed_has_no_value_and_no_verdict() -> None:
    """An error of a metric does not make an answer wrong, nor its score 0."""
    failed = {"name": "Recall", "score": None, "success": False, "error": "time-out"}
    (output,) = record_of(metrics_data=[METRIC, failed])["outputs"]

    assert [score["value"] for score in output["scores"]] == [0.5, None]
    assert "is_correct" not in output["scores"][1]
    assert output["extra"]["deepeval"]["metrics_data"][1] == {
        "success": False,
        "error": "time-out",
    }


@pytest.mark.parametrize(
    ("others", "format_"),
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


@pytest.mark.parametrize(
    ("others", "codes"),
    [
        ({"retrieval_context": "a|b"}, ["D201"]),
        ({"retrieval_context": ["a"], "context": ""}, []),
        ({"metricsData": [{"name": "Recall", "score": None}]}, ["D202"]),
        ({"metricsData": [{"name": "Recall", "error": "x"}, METRIC]}, []),
    ],
)
def test_doubtful_cases_are_reported(others: Any, codes: list[str]) -> None:
    """Passages as one text are noted, and a metric that says nothing is found."""
    problems = validate(json.dumps(ROW | others).encode()).problems

    assert [each.code for each in problems] == codes


def test_case_becomes_a_row_of_haystack(tmp_path: Path) -> None:
    """The retrieved passages arrive as the contexts of an evaluator."""
    output = tmp_path / "out.json"
    row = ROW | {"retrieval_context": ["2+2=4"]}
    convert(json.dumps(row).encode(), to="haystack", output=output)

    assert json.loads(output.read_bytes())["contexts"] == [["2+2=4"]]
