"""Requests and results of batches as records, and records as requests."""

from io import BytesIO
from pathlib import Path

import pytest

from corpora import CORPORA
from harpia_formats import ConversionError, convert, read, validate
from json_lines import jsonl

EXAMPLES = CORPORA / "neighbours" / "openai"


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
