"""Results of promptfoo: detected, checked and read, as a document and as lines."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from cases import for_each_case
from harpia_formats import convert, detect, read, validate
from known_formats import adapter_named

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


def document(*items: Any, **others: Any) -> bytes:
    """Return the results of an evaluation with these items."""
    results = {"version": 3, "timestamp": "t", "prompts": [], "results": [*items]}
    return json.dumps(
        {"evalId": "e-1", "results": results | others, "config": {"a": {"results": []}}}
    ).encode()


def test_item_itself_is_not_changed() -> None:
    """Reading leaves the row as it is, which is needed if it is read again."""
    usage = {"prompt": 1, "completion": 1, "total": 2}
    row = ITEM | {"response": {"output": "4", "tokenUsage": usage}}
    text = json.dumps(row)
    adapter_named("promptfoo").read(row)

    assert json.dumps(row) == text


def test_numbers_in_answers_keep_their_text_in_many_rows() -> None:
    """An answer that is no text is its JSON with the numbers as they are spelt."""
    row = json.dumps(ITEM | {"response": {"output": {"price": 7}}})
    output = BytesIO()
    data = "\n".join([row.replace('"price": 7', '"price": 10.50')] * 100).encode()
    constants = {"references": ["r"]}
    convert(data, to="tencent-outputs", output=output, constants=constants)

    assert output.getvalue().count(rb'"content":"{\"price\":10.50}"') == 100


def test_document_gives_its_run_to_each_score() -> None:
    """Scores of a document name the evaluation; those of lines do not know it."""
    (record,) = read(document(ITEM))
    (line,) = read(json.dumps(ITEM).encode())

    assert to_builtins(record)["outputs"][0]["scores"][0]["evaluation_id"] == "e-1"
    assert "evaluation_id" not in to_builtins(line)["outputs"][0]["scores"][0]


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


def test_large_document_with_its_version_behind_the_items_is_detected() -> None:
    """A tool that sorts keys puts the version there, behind what detection reads."""
    items = [ITEM | {"pad": "x" * 1000}] * 9_000
    results = {"prompts": [], "results": items, "version": 3}
    (claim,) = detect(json.dumps({"evalId": "e", "results": results}).encode())

    assert claim.format == "promptfoo"


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
