"""Rows are written only if their own format accepts them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ConversionError, ValidationFailed, convert, validate
from unchecked import converted

SCORED: dict[str, Any] = {
    "evaluation_id": "e",
    "evaluation_name": "n",
    "model_id": "m",
    "evaluation.score": "1",
    "evaluation.is_correct": "true",
}
ANSWER = b'{"id":"1","prompt":"q","references":["r"],"outputs":[{"text":"a"}]}'
METRIC_WITHOUT_ID = {
    "metrics": [{"name": "bleu"}],
    "instances": [{"id": "1", "input": "q", "actual-output": "a"}],
}


@for_each_case(
    "name, value",
    [
        ("evaluation.score", "1e999"),
        ("evaluation.score", math.inf),
        ("evaluation.score", math.nan),
        ("metadata.x", "-1e400"),
        ("metadata.x", [math.nan]),
        ("prompt", "\udcff"),
    ],
)
def test_constant_that_json_lacks_is_refused(name: str, value: Any) -> None:
    """A constant that no JSON text can hold ends the conversion before it begins."""
    with pytest.raises(ConversionError, match=name):
        converted(ANSWER, to="eee@0.2.0", constants={**SCORED, name: value})


def test_constant_that_the_target_refuses_is_a_problem() -> None:
    """A constant of the right type that the schema refuses makes no output."""
    data, report = converted(ANSWER, to="record", constants={"outputs.index": -5})

    assert (data, report.ok) == (b"", False)
    (problem,) = report.report.problems
    assert problem.code == "L201"
    assert "outputs[0].index must be at least 0" in problem.message


def test_number_of_a_cell_is_written_only_if_json_has_it() -> None:
    """A cell with a number that is too large for JSON stays a text, and no score."""
    table = b"id,prompt,references,response,score\n1,q,r,a,1e400\n"
    record, _ = converted(table, to="record")
    constants = {key: SCORED[key] for key in SCORED if key != "evaluation.score"}
    data, report = converted(table, to="eee@0.2.0", constants=constants)

    assert json.loads(record)["extra"] == {"csv": {"score": "1e400"}}
    (problem,) = report.report.problems
    assert (data, problem.code) == (b"", "L201")


@pytest.mark.parametrize("option", ["skip", "quarantine"])
def test_invalid_header_is_left_out(option: Any, tmp_path: Path) -> None:
    """A metric without an id is dropped with a reason; the error of the file stays."""
    source, output = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps(METRIC_WITHOUT_ID))
    with pytest.raises(ValidationFailed, match="S101") as raised:
        convert(source, to="harpia", output=output, from_="harpia", on_invalid=option)
    report = raised.value.result
    outcomes = {outcome.path: outcome.how for outcome in report.losses[0].losses.counts}

    assert (report.written, report.ok) == (True, False)
    assert outcomes == {
        "header.extra.harpia.metrics": "not valid: metrics[0].id is missing"
    }
    assert validate(output, format="harpia").ok


@pytest.mark.parametrize("target", ["record", "nemo-input"])
def test_rows_of_a_repeated_column_are_left_out(target: str) -> None:
    """Of a table with two columns of one name no row is converted."""
    table = b"id,prompt,prompt,response\n1,q,q2,a\n"
    given: dict[str, Any] = {"from_": "csv", "constants": {"references": ["r"]}}
    for option in ("fail", "skip"):
        data, report = converted(table, to=target, on_invalid=option, **given)

        assert (data, report.ok) == (b"", False)


def test_file_without_a_usable_row_writes_nothing() -> None:
    """If a header refuses all rows, skipping them does not write an empty output."""
    table, given = b"question,answer\nq,a\n", {"on_invalid": "skip"}
    data, report = converted(table, to="nemo-input", from_="tencent-csv", **given)

    assert (data, report.ok) == (b"", False)


@pytest.mark.parametrize("id_", ["3.0", "1e2", "123456789012345678901234567890"])
def test_number_as_an_id_can_be_grouped(id_: str) -> None:
    """A whole number in any spelling is an id that records can be grouped by."""
    row = f'{{"id":{id_},"prompt":"q","outputs":[{{"text":"a"}}]}}\n'.encode()
    data, report = converted(row * 2, to="record", group="id")

    assert report.ok
    assert data.startswith(f'{{"id":{id_},'.encode())
    assert len(json.loads(data)["outputs"]) == 2


@pytest.mark.parametrize("group", [None, "id"])
def test_number_as_an_id_is_kept(group: str | None) -> None:
    """A whole number in any spelling stays the id of a row in its own format."""
    row = b'{"id":3.0,"input":"q","expected-output":["r"],"actual-output":"a"}'
    document = b'{"instances":[' + row + b'],"metrics":[]}'
    data, report = converted(document, to="harpia", from_="harpia", group=group)

    assert report.lossless
    assert row in data
