"""Requests and results of batches as records, and records as requests."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from corpora import CORPORA
from harpia_formats import ConversionError, convert, read, validate
from json_lines import jsonl
from sample_rows import assistant_message

EXAMPLES = CORPORA / "neighbours" / "openai"
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"x":1}'},
}


def result(body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
    """Return a result with a body."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": "1", "response": response, "error": error}


def neighbour(name: str) -> Path:
    """Return a file of the corpus."""
    return EXAMPLES / name


def test_model_can_be_given() -> None:
    """`--set body.model` gives the model, and `--set body.n` any other setting."""
    row = {"prompt": "q", "ideal_response": "r", "category": "", "source": ""}
    data = jsonl(row)
    output = BytesIO()
    with pytest.raises(
        ConversionError, match=r"needs body\.model, .* give .*body\.model"
    ):
        convert(data, to="openai-batch-input", output=output)
    given = {"body.model": "m", "body.n": 2}
    report = convert(data, to="openai-batch-input", output=output, constants=given)

    assert report.written
    (record,) = read(output.getvalue())
    assert record.params == {"model": "m", "n": 2}
    assert record.id == "1"
    assert validate(output.getvalue(), lint=True).problems == ()


def test_an_error_without_a_reason_says_so() -> None:
    """A request without a response has no status that could be the reason."""
    error = {"code": None, "message": None}
    row = {"id": "b", "custom_id": "1", "response": None, "error": error}
    (record,) = read(jsonl(row))

    assert record.outputs[0].error == "no reason is given"


BROKEN = {"name": "f", "arguments": '{"x": '}


@pytest.mark.parametrize(
    "body",
    [
        {
            "choices": [
                {
                    "message": assistant_message(
                        None, tool_calls=[{**CALL, "function": BROKEN}]
                    )
                }
            ]
        },
        {"output": [{"type": "function_call", "call_id": "c1", **BROKEN}]},
    ],
)
def test_broken_arguments_are_kept_beside_a_record_that_is_valid(body: Any) -> None:
    """Arguments that are no object are null in the turn, and kept as they are."""
    row = jsonl(result({"model": "m", **body}))
    made = BytesIO()
    convert(row, to="record", output=made)
    (record,) = read(made.getvalue(), format="record")
    (output,) = record.outputs
    turns: Any = output.turns

    call = {"id": "c1", "name": "f", "arguments": None}
    assert turns == [{"role": "assistant", "content": None, "tool_calls": [call]}]
    assert BROKEN["arguments"] in str(output.extra)


@pytest.mark.corpora
def test_results_of_the_documented_shape() -> None:
    """The results have Lima and a call for geo-2, Maputo for geo-1, in that order."""
    records = list(read(neighbour("batch_output.jsonl")))
    found = {each.id: [output.text for output in each.outputs] for each in records}
    ((call,),) = [
        turn["tool_calls"]
        for each in records[0].outputs
        for turn in each.turns or ()
    ]  # fmt: skip

    assert found == {"geo-2": ["Lima", None], "geo-1": ["Maputo"]}
    assert call["arguments"] == {"country": "Peru"}
    assert records[1].outputs[0].token_usage == {
        "input_tokens": 22,
        "output_tokens": 2,
        "total_tokens": 24,
    }


@pytest.mark.corpora
def test_error_file_of_the_documented_shape() -> None:
    """The error file says that geo-3 was not run in time."""
    (record,) = read(neighbour("batch_error.jsonl"))
    (output,) = record.outputs
    assert record.extra

    assert record.id == "geo-3"
    assert (output.text, "completion window" in (output.error or "")) == (None, True)
    assert record.extra["openai-batch"]["error"] == {"code": "batch_expired"}


@pytest.mark.corpora
def test_requests_of_the_documented_shape() -> None:
    """The requests are two chats and a response, of one model and two endpoints."""
    path = neighbour("batch_input.jsonl")
    one, two, three = read(path)
    codes = {problem.code for problem in validate(path, lint=True).problems}

    assert (one.id, one.system) == ("geo-1", "Answer with one word.")
    settings = {"max_tokens": 20, "temperature": 0}
    assert one.params == {"model": "example-model-1", **settings}
    assert (two.params or {})["n"] == 2
    assert three.prompt == "What is the capital of Kenya?"
    assert codes == {"O202"}


def test_settings_of_other_tools_are_not_sent() -> None:
    """A request for a chat has no settings that only other tools know."""
    params = {"model": "m", "temperature": 0, "until": ["."], "do_sample": False}
    record = {"id": "1", "prompt": "2 + 3?", "params": params, "outputs": []}
    output = BytesIO()
    data = jsonl(record)
    report = convert(data, to="openai-batch-input", output=output)
    body = json.loads(output.getvalue())["body"]
    assert body.keys() == {"model", "messages", "temperature"}
    lost = {outcome.path for outcome in report.losses[0].losses.counts}
    assert lost >= {"params.until", "params.do_sample"}
