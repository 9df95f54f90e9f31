"""Requests and results of batches as records, and records as requests."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.openai.request_mapping import REQUESTS
from harpia_converters.openai.result_mapping import RESULTS
from harpia_formats import ConversionError, convert, read, validate
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Outcome, Unconvertible
from harpia_formats.model.record import Record
from sample_rows import assistant_message

EXAMPLES = CORPORA / "neighbours" / "openai"
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
USER = {"role": "user", "content": "q"}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"x":1}'},
}


def request(url: str = CHAT, **body: Any) -> dict[str, Any]:
    """Return a request with a model and other members of its body."""
    body = {"model": "m", **body}
    return {"custom_id": "1", "method": "POST", "url": url, "body": body}


def result(body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
    """Return a result with a body."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": "1", "response": response, "error": error}


def without_response(error: Any) -> dict[str, Any]:
    """Return a result that has an error, or nothing at all."""
    return {"id": "b", "custom_id": "1", "response": None, "error": error}


def answers(*messages: dict[str, Any], **body: Any) -> dict[str, Any]:
    """Return a result with a choice for each message."""
    choices = [
        {"index": place, "message": message, "finish_reason": "stop"}
        for place, message in enumerate(messages)
    ]
    return result({"model": "m-1", "choices": choices, **body})


def written(record: Record) -> tuple[dict[str, Any], dict[str, Outcome]]:
    """Return the row of a record, and the outcome of each path."""
    made = RecordMapper(REQUESTS, Choices()).map(record)
    (row,) = made.rows
    return row, {outcome.path: outcome.outcome for outcome in made.outcomes}


def neighbour(name: str) -> Path:
    """Return a file of the corpus."""
    return EXAMPLES / name


@for_each_case(
    "row",
    [
        request(messages=[USER], temperature=0.0, max_tokens=3),
        request(messages=[{"role": "system", "content": "s"}, USER]),
        request(messages=[USER, assistant_message(None, tool_calls=[CALL])], tools=[]),
        request(RESPONSES, input="q", instructions="s"),
        request(RESPONSES, input=[USER, {"role": "user", "content": "r"}]),
        request(RESPONSES, input=[{"type": "item_reference", "id": "1"}]),
        request("/v1/completions", prompt="q"),
        request("/v1/completions", prompt=["q", "r"]),
        request("/v1/embeddings", input=["q", "r"]),
        request("/v4/chat/completions", messages=[USER]),
        {**request(messages=[USER]), "own": 1},
    ],
)
def test_requests_come_back(row: dict[str, Any]) -> None:
    """A request that is read and written is the same, at any endpoint."""
    assert written(REQUESTS.read(row)) == (row, {})


def test_body_is_the_question_and_the_settings() -> None:
    """The messages are the question, and all other members of the body settings."""
    record = REQUESTS.read(request(messages=[USER], temperature=0, n=2))

    assert (record.id, record.prompt) == ("1", "q")
    assert record.params == {"model": "m", "temperature": 0, "n": 2}
    assert record.extra is UNSET


def test_calls_of_a_response_are_messages() -> None:
    """Calls and their results in `input` are a chat as that of other endpoints."""
    function = {"call_id": "c1", "name": "f", "arguments": '{"x":1}'}
    items = [
        USER,
        {"type": "function_call", **function},
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
    ]
    row = request(RESPONSES, input=items)
    record = REQUESTS.read(row)
    call = {"id": "c1", "name": "f", "arguments": {"x": 1}}

    assert record.messages == [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    assert written(record) == (row, {})


def test_record_is_a_request_for_a_chat() -> None:
    """A record of any format is a request with its settings, and an id as text."""
    params = {"model": "m", "temperature": 0.5, "top_k": 3}
    row, outcomes = written(Record(id=7, prompt="q", references=["r"], params=params))

    body = {"model": "m", "messages": [USER], "temperature": 0.5, "top_k": 3}
    assert row == {**request(), "custom_id": "7", "body": body}
    assert outcomes == {"id": Outcome.CHANGED, "references": Outcome.DROPPED}


def test_settings_do_not_replace_the_question() -> None:
    """A setting under the key of the question is dropped, and that is reported."""
    params = {"model": "m", "messages": [], "input": "x"}
    row, outcomes = written(Record(id="1", prompt="q", params=params))

    assert row["body"]["messages"] == [USER]
    assert outcomes == {"params.messages": Outcome.DROPPED}


@pytest.mark.parametrize("params", [{}, {"model": 3}, {"model": None}])
def test_request_needs_a_model(params: dict[str, Any]) -> None:
    """Without the name of a model nothing is written; the help says how to give it."""
    with pytest.raises(Unconvertible, match=r"--set body\.model=") as caught:
        written(Record(id="1", prompt="q", params=params))

    assert caught.value.path == "params.model"


def test_model_can_be_given() -> None:
    """`--set body.model` gives the model, and `--set body.n` any other setting."""
    data = encode({"prompt": "q", "ideal_response": "r", "category": "", "source": ""})
    output = BytesIO()
    with pytest.raises(
        ConversionError, match=r"needs body\.model, .* give .*body\.model"
    ):
        convert(data, to="openai-batch-input", output=output)
    given = {"body.model": "m", "body.n": 2}
    report = convert(data, to="openai-batch-input", output=output, constants=given)

    assert report.written
    (row,) = read(output.getvalue())
    assert row.params == {"model": "m", "n": 2}
    assert row.id == "1"
    assert validate(output.getvalue(), lint=True).problems == ()


def test_each_choice_is_an_answer() -> None:
    """Choices are outputs with their index, and usage is not that of one of several."""
    usage = {"prompt_tokens": 14, "completion_tokens": 9, "total_tokens": 23}
    row = answers(
        assistant_message("a"), assistant_message(None, tool_calls=[CALL]), usage=usage
    )
    record = RESULTS.read(row)
    one, two = record.outputs

    assert [(each.text, each.index) for each in (one, two)] == [("a", 0), (None, 1)]
    call = {"id": "c1", "name": "f", "arguments": {"x": 1}}
    assert two.turns == [assistant_message(None, tool_calls=[call])]
    assert (one.token_usage, two.token_usage) == (UNSET, UNSET)
    assert record.extra
    assert record.extra["openai-batch"]["response"]["body"] == {"usage": usage}


def test_usage_of_one_choice_is_its_own() -> None:
    """The counts have the names of token usage; others are kept."""
    usage = {
        "prompt_tokens": 14,
        "completion_tokens": 9,
        "total_tokens": 23,
        "completion_tokens_details": {"reasoning_tokens": 5, "audio_tokens": 0},
    }
    record = RESULTS.read(
        answers(assistant_message("a", reasoning_content="r"), usage=usage)
    )
    (output,) = record.outputs

    assert (output.text, output.reasoning, output.index) == ("a", "r", UNSET)
    assert output.token_usage == {
        "input_tokens": 14,
        "output_tokens": 9,
        "total_tokens": 23,
        "reasoning_tokens": 5,
    }
    assert record.extra
    left = {"completion_tokens_details": {"audio_tokens": 0}}
    assert record.extra["openai-batch"]["response"]["body"] == {"usage": left}


@for_each_case(
    "row, error",
    [
        (without_response({"code": "c", "message": "m"}), "m"),
        (without_response({"code": "c"}), "c"),
        (without_response(None), UNSET),
        (result({"error": {"message": "m", "code": "c"}}, 400), "m"),
        (result({"error": {"code": None}}, 429), "status 429"),
        (result({"error": {"message": "m"}}, 200), "m"),
        (result("Bad gateway", 502), "Bad gateway"),
        (result(None, 500), "status 500"),
        (result({}, 404), "status 404"),
    ],
)
def test_error_is_an_answer_without_text(row: dict[str, Any], error: Any) -> None:
    """What failed has one output without a text, with the reason if there is one."""
    (output,) = RESULTS.read(row).outputs

    assert (output.text, output.error) == (None, error)
    assert (output.turns, output.token_usage) == (UNSET, UNSET)


def test_error_beside_an_answer_is_told_with_it() -> None:
    """An error next to a response does not hide the answer."""
    row = {**answers(assistant_message("a")), "error": {"code": "c", "message": "late"}}
    (output,) = RESULTS.read(row).outputs

    assert (output.text, output.error) == ("a", "late")


def test_items_of_a_response_are_one_answer() -> None:
    """Texts, reasoning and calls in the output of a response are one output."""
    function = {"call_id": "c1", "name": "f", "arguments": '{"x":1}'}
    items = [
        {"type": "reasoning", "id": "r1", "summary": [{"type": "text", "text": "t"}]},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "a", "annotations": []},
            {"type": "output_text", "text": "b"}]},
        {"type": "function_call", "id": "f1", **function},
        {"type": "web_search_call", "id": "w1"},
    ]  # fmt: skip
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    (output,) = RESULTS.read(
        result({"model": "m-1", "output": items, "usage": usage})
    ).outputs
    call = {"id": "c1", "name": "f", "arguments": {"x": 1}}

    assert (output.model, output.text, output.reasoning) == ("m-1", "ab", "t")
    assert output.turns == [assistant_message("ab", tool_calls=[call])]
    assert output.token_usage == usage
    assert output.extra == {
        "openai-batch": {
            "output": [
                {"type": "reasoning", "id": "r1"},
                {"id": "f1"},
                {"type": "web_search_call", "id": "w1"},
            ]
        }
    }


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
    row = encode(result({"model": "m", **body})) + b"\n"
    made = BytesIO()
    convert(row, to="record", output=made)
    (record,) = read(made.getvalue(), format="record")
    (output,) = record.outputs
    turns: Any = output.turns

    call = {"id": "c1", "name": "f", "arguments": None}
    assert turns == [{"role": "assistant", "content": None, "tool_calls": [call]}]
    assert BROKEN["arguments"] in str(output.extra)


def test_item_of_no_known_type_is_kept() -> None:
    """An item whose type is no text is kept as it is, and is no answer."""
    item = {"type": ["message"], "content": [{"type": "output_text", "text": "4"}]}

    (output,) = RESULTS.read(result({"model": "m", "output": [item]})).outputs

    assert output.text is None
    assert output.extra == {"openai-batch": {"output": [item]}}


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
    data = encode(record)
    report = convert(data, to="openai-batch-input", output=output)
    body = decode(output.getvalue())["body"]
    assert body.keys() == {"model", "messages", "temperature"}
    lost = {outcome.path for outcome in report.losses[0].losses.counts}
    assert lost >= {"params.until", "params.do_sample"}
