"""The formats of chats, preferences and batches of OpenAI, and their rules (O)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Companion, Dialect, Format, Remark
from harpia_formats.model.problem import Path, Severity

VENDOR = "OpenAI"
#: The endpoint to which requests are written.
CHAT_URL = "/v1/chat/completions"

#: Keys of a row and of a message that no other tool writes next to `messages`.
_own_keys = ("tools", "functions", "parallel_tool_calls")
_own_message_keys = ("weight", "tool_calls", "function_call", "tool_call_id")
#: Keys of other vendors' records with `messages`; a row with any is not OpenAI's.
_foreign_keys = frozenset(
    "model_outputs ref_answer interaction_type answer_attribution outputs".split()
)
_batch_places = ("method", "url")


def chat_sign(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a chat, which may be another tool's too, or ""."""
    chat = _chat_of(row)
    is_chat = any("role" in message for message in chat)
    return next(_own_signs(row, chat), "`messages`") if is_chat else ""


def own_chat_sign(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a chat of OpenAI and of no other tool, or ""."""
    chat = _chat_of(row)
    return next(_own_signs(row, chat), "") if chat else ""


def _chat_of(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a row that are objects, none of another tool's row."""
    messages = row.get("messages")
    if not isinstance(messages, list) or _foreign_keys & row.keys():
        return []
    return [message for message in messages if isinstance(message, Mapping)]


def _own_signs(row: Mapping[str, Any], chat: list[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"`{key}`" for key in _own_keys if key in row)
    for message in chat:
        found = (key for key in _own_message_keys if key in message)
        yield from (f"`{key}` in a message" for key in found)
        content = message.get("content", "") if "role" in message else ""
        if content is None:
            yield "a message whose content is null"
        elif isinstance(content, list) and not _has_value(content):
            yield "a message whose content is a list"


def _has_value(content: list[Any]) -> bool:
    """Tell whether a part of `content` has a key that OpenAI's parts do not have."""
    return any(isinstance(part, Mapping) and "value" in part for part in content)


def preference_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an example with two answers, or ""."""
    if "preferred_output" in row and ("input" in row or "non_preferred_output" in row):
        return "`preferred_output`"
    return ""


def request_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a request of a batch, or ""."""
    if "custom_id" not in row or "response" in row:
        return ""
    place = next((key for key in ("body", *_batch_places) if key in row), "")
    return f"`custom_id` and `{place}`" if place else ""


def result_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is the result of a request of a batch, or ""."""
    found = "custom_id" in row and "response" in row
    return "`custom_id` and `response`" if found else ""


ARGUMENTS, UNCALLED, UNANSWERED, WEIGHT = "O101", "O102", "O103", "O104"
NO_QUESTION = "O201"
NO_RESULT, BOTH_RESULTS, STATUS, NO_REQUEST = "O301", "O302", "O303", "O304"
#: The least status code of a response that is an error.
ERROR_STATUS = 400


def chat_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages of an example for fine-tuning."""
    messages = row["messages"]
    yield from _call_remarks(messages, ("messages",))
    for number, message in enumerate(messages):
        if message.get("weight", 1) not in (0, 1):
            yield Remark(
                WEIGHT,
                ("messages", number, "weight"),
                "the weight of a message is neither 0 nor 1",
                "give 0 to leave the message out of the training, else 1",
            )
    if messages[-1]["role"] != "assistant":
        yield Remark(
            UNANSWERED,
            ("messages", len(messages) - 1),
            "the last message is not from the assistant, so nothing is learnt from it",
            "end the chat with the answer that is expected",
        )


def request_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the body of a request."""
    body = row["body"]
    yield from _call_remarks(body.get("messages", ()), ("body", "messages"))
    if not any(body.get(key) for key in ("messages", "input", "prompt")):
        yield Remark(
            NO_QUESTION,
            ("body",),
            "the body asks nothing: it has no messages, input or prompt",
            "give what the model is asked, as the endpoint needs it",
        )


def result_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the response and the error of a result."""
    response, error = row["response"], row.get("error")
    if response is None and error is None:
        yield Remark(
            NO_RESULT,
            (),
            "the request has neither a response nor an error",
            "send the request again: nothing is known of it",
        )
    status = response and response["status_code"]
    if type(status) is not int:
        return
    if error is not None and status < ERROR_STATUS:
        yield Remark(
            BOTH_RESULTS,
            ("error",),
            f"the request has an error next to a response with the status {status}",
            "the error is read, and the response as well",
        )
    body = response["body"]
    if not isinstance(body, Mapping):
        return
    has_error = body.get("error") is not None
    if has_error != (status >= ERROR_STATUS):
        at_error: Path = ("response", "body", "error")
        yield Remark(
            STATUS,
            at_error if has_error else ("response", "status_code"),
            f"the body has an error, but the status is {status}"
            if has_error
            else f"the status is {status}, and the body has no error",
            f"a status from {ERROR_STATUS} is an error, which the body explains",
        )


def unknown_request_remark() -> Remark:
    """Return the remark on a result whose request is not in the input file (O304)."""
    return Remark(
        NO_REQUEST,
        ("custom_id",),
        "the input file has no request with this custom_id",
        "give the input file of the batch that the result is of",
    )


def _call_remarks(
    messages: Iterable[Mapping[str, Any]], path: Path
) -> Iterator[Remark]:
    """Yield remarks on calls whose arguments are no object, and on answers to none."""
    asked: set[str] = set()
    for number, message in enumerate(messages):
        for place, call in _calls_of(message):
            if isinstance(call.get("id"), str):
                asked.add(call["id"])
            inner = ("function",) if place[0] == "tool_calls" else ()
            function = call.get("function") if inner else call
            if function and not _is_object(function["arguments"]):
                yield Remark(
                    ARGUMENTS,
                    (*path, number, *place, *inner, "arguments"),
                    "the arguments of a call are not the JSON text of an object with "
                    "each key once",
                    "write them as JSON; here they are kept as text",
                )
        if message["role"] == "tool" and message.get("tool_call_id") not in asked:
            yield Remark(
                UNCALLED,
                (*path, number),
                "a tool answers, and no earlier message calls it with this id",
                "give tool_call_id the id of a call in a message of the assistant",
            )


def _calls_of(message: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path of each call in a message, and the call."""
    for place, call in enumerate(message.get("tool_calls", ())):
        yield ("tool_calls", place), call
    if "function_call" in message:
        yield ("function_call",), message["function_call"]


def _is_object(text: str) -> bool:
    from harpia_converters.openai.tool_calls import read_arguments  # noqa: PLC0415 - a decoder is needed only for calls

    return not isinstance(read_arguments(text), str)


CHAT_FORMAT = Format(
    id="openai-chat",
    title="Examples for fine-tuning: chats, with tools and weights",
    vendor=VENDOR,
    adapter="harpia_converters.openai.chat_mapping:CHAT",
    dialects=(
        Dialect(
            "openai-chat",
            chat_sign,
            remarks=chat_remarks,
            own_sign=own_chat_sign,
            one_of=frozenset({"messages"}),
        ),
    ),
)


PREFERENCE_FORMAT = Format(
    id="openai-preference",
    title="Examples for fine-tuning by preference: a chat with two answers",
    vendor=VENDOR,
    adapter="harpia_converters.openai.chat_mapping:PREFERENCE",
    read_only=True,
    dialects=(
        Dialect(
            "openai-preference",
            preference_sign,
            one_of=frozenset({"preferred_output"}),
        ),
    ),
)


BATCH_INPUT_FORMAT = Format(
    id="openai-batch-input",
    title="The requests of a batch, each with its custom_id",
    vendor=VENDOR,
    adapter="harpia_converters.openai.request_mapping:REQUESTS",
    id_key="custom_id",
    dialects=(
        Dialect(
            "openai-batch-input",
            request_sign,
            remarks=request_remarks,
            lints="harpia_converters.openai.lints:REQUESTS",
            one_of=frozenset({"custom_id"}),
        ),
    ),
)


BATCH_OUTPUT_FORMAT = Format(
    id="openai-batch-output",
    title="The results of a batch, in any order, and its errors",
    vendor=VENDOR,
    adapter="harpia_converters.openai.result_mapping:RESULTS",
    read_only=True,
    id_key="custom_id",
    companion=Companion(
        format="openai-batch-input",
        refers_by="custom_id",
        no_such_record=unknown_request_remark,
        by_id=True,
        without="what was asked is not known",
    ),
    dialects=(
        Dialect(
            "openai-batch-output",
            result_sign,
            remarks=result_remarks,
            one_of=frozenset({"custom_id"}),
        ),
    ),
)


_asked = b'{"role": "user", "content": "Is it warm in Lima?"}'
_answer = b'{"role": "assistant", "content": "Yes."}'
_result = b'{"role": "tool", "tool_call_id": "c1", "content": "24"}'


def _chat(*messages: bytes) -> bytes:
    """Return an example for fine-tuning with these messages."""
    return b'{"messages": [' + b", ".join(messages) + b"]}\n"


def _call(arguments: bytes) -> bytes:
    """Return a message that calls a function with `arguments`, a JSON string."""
    function = b'{"name": "degrees", "arguments": ' + arguments + b"}"
    call = b'{"id": "c1", "type": "function", "function": ' + function + b"}"
    return b'{"role": "assistant", "tool_calls": [' + call + b"]}"


def _request(number: int, *, url: str = "/v1/responses", model: str = "m-1") -> bytes:
    """Return a request of a batch."""
    body = f'{{"model": "{model}", "input": "1 + {number}?"}}'
    row = f'{{"custom_id": "q{number}", "method": "POST", "url": "{url}", "body": '
    return f"{row}{body}}}\n".encode()


def _result_row(response: str, error: str = "null") -> bytes:
    """Return the result of a request."""
    row = '{"id": "b1", "custom_id": "q1", "response": '
    return f'{row}{response}, "error": {error}}}\n'.encode()


def _response(status: int, body: str) -> str:
    """Return a response in a result."""
    start = f'{{"status_code": {status}, "request_id": "r1", "body": '
    return f"{start}{body}}}"


_good_call = _call(rb'"{\"city\": \"Lima\"}"')
_error = '{"code": "batch_expired", "message": "Too late."}'
_choices = (
    '{"model": "m-1", "choices": [{"index": 0, "message": '
    '{"role": "assistant", "content": "2"}}]}'
)
_refused = '{"error": {"message": "The model is not known."}}'
_chat_rule = partial(
    Rule,
    good=_chat(_asked, _good_call, _result, _answer),
    validated_as="openai-chat",
)
_input_rule = partial(
    Rule, good=_request(1) + _request(2), validated_as="openai-batch-input"
)
_output_rule = partial(Rule, validated_as="openai-batch-output")

RULES = (
    _chat_rule(
        "O101",
        "tool-arguments",
        Severity.WARNING,
        "The arguments of a tool call must be the JSON text of an object.",
        "The API gives them as text, and what calls the tool has to parse it: of a key "
        "that is there twice, one value is lost. Here such arguments are kept as text.",
        _chat(_asked, _call(b'"Lima"'), _result, _answer),
    ),
    _chat_rule(
        "O102",
        "uncalled-tool",
        Severity.WARNING,
        "A tool must answer a call of an earlier message.",
        "The API refuses a message with the role tool whose tool_call_id is not that "
        "of a call before it.",
        _chat(_asked, _good_call, _result.replace(b"c1", b"c2"), _answer),
    ),
    _chat_rule(
        "O103",
        "no-last-answer",
        Severity.WARNING,
        "An example for fine-tuning must end with a message of the assistant.",
        "The last message is what the model learns to answer. The API refuses a file "
        "whose examples end otherwise.",
        _chat(_asked, _good_call, _result),
    ),
    _chat_rule(
        "O104",
        "message-weight",
        Severity.WARNING,
        "The weight of a message must be 0 or 1.",
        "A message with the weight 0 is not learnt. Other weights are not allowed.",
        _chat(_asked, _answer.replace(b"}", b', "weight": 0.5}')),
        good=_chat(_asked, _answer.replace(b"}", b', "weight": 1}')),
    ),
    _input_rule(
        "O201",
        "empty-request",
        Severity.WARNING,
        "A request must ask something.",
        "Chats have messages, responses and embeddings have input, and completions "
        "have a prompt.",
        b'{"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", '
        b'"body": {"model": "m-1"}}\n',
        good=b'{"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", '
        b'"body": {"model": "m-1", "messages": [{"role": "user", "content": "2?"}]}}\n',
    ),
    _input_rule(
        "O202",
        "other-endpoint",
        Severity.WARNING,
        "All requests of a file should be for one endpoint.",
        "A batch is created for one endpoint, which all of its requests must name.",
        _request(1) + _request(2, url="/v1/embeddings"),
        lint=True,
    ),
    _input_rule(
        "O203",
        "other-batch-model",
        Severity.WARNING,
        "All requests of a file should be for one model.",
        "A batch is refused if its requests name several models.",
        _request(1) + _request(2, model="m-2"),
        lint=True,
    ),
    _output_rule(
        "O301",
        "no-result",
        Severity.WARNING,
        "A result must have a response or an error.",
        "Of a request without both nothing is known. It is read as an answer without a "
        "text.",
        _result_row("null"),
        _result_row("null", _error),
    ),
    _output_rule(
        "O302",
        "result-with-error",
        Severity.WARNING,
        "A result must not have an error next to a response that is none.",
        "Either the request failed, or the model answered. The answer is read with the "
        "error.",
        _result_row(_response(200, _choices), _error),
        _result_row(_response(200, _choices)),
    ),
    _output_rule(
        "O303",
        "status-and-body",
        Severity.WARNING,
        "The status and the body of a response must agree on whether it is an error.",
        "A status from 400 is an error, and the body then says which. What has such a "
        "status or such a body is read as an error.",
        _result_row(_response(200, _refused)),
        _result_row(_response(404, _refused)),
    ),
    _output_rule(
        "O304",
        "result-of-no-request",
        Severity.WARNING,
        "A result must have the custom_id of a request in the input file.",
        "Such a result is of another batch, or the input file was changed. It is "
        "checked where the input file is given with --with.",
        _result_row(_response(200, _choices)).replace(b"q1", b"q9"),
        _result_row(_response(200, _choices)),
        companion=_request(1) + _request(2),
    ),
)
