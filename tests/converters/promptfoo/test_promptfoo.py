"""Results of promptfoo: detected, checked and read, as a document and as lines."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_converters.promptfoo.mapping import PROMPTFOO
from harpia_formats import convert, detect, read, validate
from harpia_formats.model.record import as_dict

ITEM: dict[str, Any] = {
    "promptIdx": 0,
    "testIdx": 3,
    "provider": {"id": "acme:finch", "label": "finch"},
    "prompt": {"raw": "2+2?", "label": "sum"},
    "vars": {"x": 2},
    "response": {"output": "4"},
    "success": True,
    "score": 0.5,
    "failureReason": 0,
    "namedScores": {},
}
FAILED = {
    "success": False,
    "score": 0,
    "failureReason": 2,
    "error": "time-out",
    "response": None,
}


def document(*items: Any, **others: Any) -> bytes:
    """Return the results of an evaluation with these items."""
    results = {"version": 3, "timestamp": "t", "prompts": [], "results": [*items]}
    return json.dumps(
        {"evalId": "e-1", "results": results | others, "config": {"a": {"results": []}}}
    ).encode()


def record_of(**others: Any) -> dict[str, Any]:
    """Return the record of an item with these keys."""
    return as_dict(PROMPTFOO.read(ITEM | others))


def output_of(**others: Any) -> dict[str, Any]:
    """Return the only answer in the record of an item with these keys."""
    (output,) = record_of(**others)["outputs"]
    found: dict[str, Any] = output
    return found


def test_item_is_an_answer_of_a_provider() -> None:
    """The test is the id, its variables the metadata, the provider the model."""
    found = record_of(testCase={"assert": []})

    assert (found["id"], found["prompt"], found["metadata"]) == (3, "2+2?", {"x": 2})
    assert found["extra"] == {"promptfoo": {"testCase": {"assert": []}}}
    assert (output_of()["model"], output_of()["text"]) == ("acme:finch", "4")


def test_score_of_a_test_says_whether_it_passed() -> None:
    """The score and those with a name are scores; only the first has a verdict."""
    output = output_of(namedScores={"tone": 1, "pace": None}, success=False)

    assert output["scores"] == [
        {
            "metric": "score",
            "value": 0.5,
            "is_correct": False,
            "signature": "score|impl:promptfoo",
        },
        {"metric": "tone", "value": 1, "signature": "tone|impl:promptfoo"},
    ]
    assert output["extra"]["promptfoo"]["namedScores"] == {"pace": None}


def test_error_is_no_answer_and_has_no_score() -> None:
    """A test that broke off has an error; the 0 next to it is no score."""
    output = output_of(**FAILED)

    assert output["error"] == "time-out"
    assert "text" not in output
    assert "scores" not in output
    assert output["extra"]["promptfoo"]["score"] == 0


def test_reason_of_a_failed_assertion_is_no_error() -> None:
    """What an assertion says of a wrong answer stands in `error`, and is kept."""
    output = output_of(failureReason=1, success=False, error="not 5")

    assert "error" not in output
    assert output["text"] == "4"
    assert output["extra"]["promptfoo"]["error"] == "not 5"


@pytest.mark.parametrize(
    ("value", "text"), [({"a": [1.50]}, '{"a":[1.5]}'), (4, "4"), (True, "true")]
)
def test_output_that_is_no_text_is_json(value: Any, text: str) -> None:
    """An object, a number or a truth value is read as its JSON text."""
    assert output_of(response={"output": value})["text"] == text


def test_tokens_and_time_are_those_of_the_call() -> None:
    """Counts of the call have the names of records; what judges took is kept."""
    usage = {"prompt": 20, "completion": 10, "total": 30, "cached": 5}
    judges = {"assertions": {"total": 99}}
    output = output_of(
        response={"output": "4", "tokenUsage": usage}, tokenUsage=judges, latencyMs=41.5
    )

    assert output["token_usage"] == {
        "input_tokens": 20,
        "output_tokens": 10,
        "total_tokens": 30,
    }
    assert output["performance"] == {"latency_ms": 41.5}
    assert output["extra"]["promptfoo"]["response"] == {"tokenUsage": {"cached": 5}}
    assert output["extra"]["promptfoo"]["tokenUsage"] == judges


def test_item_itself_is_not_changed() -> None:
    """Reading leaves the row as it is, which is needed if it is read again."""
    usage = {"prompt": 1, "completion": 1, "total": 2}
    row = ITEM | {"response": {"output": "4", "tokenUsage": usage}}
    text = json.dumps(row)
    PROMPTFOO.read(row)

    assert json.dumps(row) == text


def test_document_gives_its_run_to_each_score() -> None:
    """Scores of a document name the evaluation; those of lines do not know it."""
    (record,) = read(document(ITEM))
    (line,) = read(json.dumps(ITEM).encode())

    assert as_dict(record)["outputs"][0]["scores"][0]["evaluation_id"] == "e-1"
    assert "evaluation_id" not in as_dict(line)["outputs"][0]["scores"][0]


def test_document_is_cut_into_its_items_only() -> None:
    """The items are at `results.results`, and no other list of that name is."""
    data = document(*[ITEM] * 40)
    report = validate(data)

    assert report.ok, report.problems
    assert report.files[0].records == 40


def test_workers_read_a_document_as_one_process_does(tmp_path: Path) -> None:
    """The records of a large document are the same for any number of processes."""
    path, outputs = tmp_path / "results.json", []
    items = [ITEM | {"testIdx": number, "pad": "x" * 500} for number in range(4_000)]
    path.write_bytes(document(*items))
    for jobs in (1, 2):
        output = BytesIO()
        convert(path, to="record", output=output, jobs=jobs)
        outputs.append(output.getvalue())

    assert outputs[0] == outputs[1]
    assert outputs[0].count(b'"evaluation_id":"e-1"') == 4_000


@for_each_case(
    "row, found",
    [
        (json.loads(document()), ("promptfoo", "")),
        (ITEM, ("promptfoo", "items")),
        ({"evalId": "e", "results": []}, (None, "")),
        ({"evalId": "e", "results": {"results": {}, "version": 3}}, (None, "")),
        ({"testIdx": 1, "promptIdx": 2}, (None, "")),
    ],
)
def test_results_are_detected_by_their_keys(row: Any, found: tuple[str, str]) -> None:
    """A document is known by its run and its version, an item by its two numbers."""
    (claim,) = detect(json.dumps(row).encode())

    assert (claim.format, claim.dialect) == found


def test_results_with_a_table_are_refused_with_a_reason() -> None:
    """Version 2 has the answers in a table, which is not read, and says so."""
    (problem,) = validate(document(ITEM, version=2, table={"body": []})).problems

    assert problem.code == "S301"
    assert "results of promptfoo in version 2, as a table" in problem.message


def test_newer_version_is_refused() -> None:
    """A version that is not known is an error at its place."""
    (problem,) = validate(document(ITEM, version=4)).problems

    assert (problem.code, problem.place.pointer) == ("V101", "/results/version")


def test_answers_of_two_providers_are_one_record(tmp_path: Path) -> None:
    """With --group id the answers of all providers to one test are one record."""
    other = ITEM | {"promptIdx": 1, "provider": {"id": "acme:heron"}}
    output = tmp_path / "out.jsonl"
    convert(document(ITEM, other), to="record", output=output, group="id")
    (line,) = output.read_bytes().splitlines()

    assert [each["model"] for each in json.loads(line)["outputs"]] == [
        "acme:finch",
        "acme:heron",
    ]


@pytest.mark.parametrize(
    ("others", "codes"),
    [
        ({}, []),
        ({"response": {}}, ["D301"]),
        (FAILED, []),
        (FAILED | {"success": True}, ["D302"]),
    ],
)
def test_doubtful_items_are_reported(others: Any, codes: list[str]) -> None:
    """An item without output and error is found, and an error that passed."""
    report = validate(document(ITEM | others))

    assert [each.code for each in report.problems] == codes
