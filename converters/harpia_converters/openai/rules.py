"""The rules O of OpenAI, for rows that their schemas allow."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

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

RULES = (
    Rule(
        "O101",
        "tool-arguments",
        Severity.WARNING,
        "The arguments of a tool call must be the JSON text of an object.",
        "The API gives them as text, and what calls the tool has to parse it. Here "
        "such arguments are kept as text.",
        _chat(_asked, _call(b'"Lima"'), _result, _answer),
        _chat(_asked, _good_call, _result, _answer),
        "openai-chat",
    ),
    Rule(
        "O102",
        "uncalled-tool",
        Severity.WARNING,
        "A tool must answer a call of an earlier message.",
        "The API refuses a message with the role tool whose tool_call_id is not that "
        "of a call before it.",
        _chat(_asked, _good_call, _result.replace(b"c1", b"c2"), _answer),
        _chat(_asked, _good_call, _result, _answer),
        "openai-chat",
    ),
    Rule(
        "O103",
        "no-last-answer",
        Severity.WARNING,
        "An example for fine-tuning must end with a message of the assistant.",
        "The last message is what the model learns to answer. The API refuses a file "
        "whose examples end otherwise.",
        _chat(_asked, _good_call, _result),
        _chat(_asked, _good_call, _result, _answer),
        "openai-chat",
    ),
    Rule(
        "O104",
        "message-weight",
        Severity.WARNING,
        "The weight of a message must be 0 or 1.",
        "A message with the weight 0 is not learnt. Other weights are not allowed.",
        _chat(_asked, _answer.replace(b"}", b', "weight": 0.5}')),
        _chat(_asked, _answer.replace(b"}", b', "weight": 1}')),
        "openai-chat",
    ),
    Rule(
        "O201",
        "empty-request",
        Severity.WARNING,
        "A request must ask something.",
        "Chats have messages, responses and embeddings have input, and completions "
        "have a prompt.",
        b'{"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", '
        b'"body": {"model": "m-1"}}\n',
        b'{"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", '
        b'"body": {"model": "m-1", "messages": [{"role": "user", "content": "2?"}]}}\n',
        "openai-batch-input",
    ),
    Rule(
        "O202",
        "other-endpoint",
        Severity.WARNING,
        "All requests of a file should be for one endpoint.",
        "A batch is created for one endpoint, which all of its requests must name.",
        _request(1) + _request(2, url="/v1/embeddings"),
        _request(1) + _request(2),
        "openai-batch-input",
        lint=True,
    ),
    Rule(
        "O203",
        "other-batch-model",
        Severity.WARNING,
        "All requests of a file should be for one model.",
        "A batch is refused if its requests name several models.",
        _request(1) + _request(2, model="m-2"),
        _request(1) + _request(2),
        "openai-batch-input",
        lint=True,
    ),
    Rule(
        "O301",
        "no-result",
        Severity.WARNING,
        "A result must have a response or an error.",
        "Of a request without both nothing is known. It is read as an answer without a "
        "text.",
        _result_row("null"),
        _result_row("null", _error),
        "openai-batch-output",
    ),
    Rule(
        "O302",
        "result-with-error",
        Severity.WARNING,
        "A result must not have an error beside a response that is none.",
        "Either the request failed, or the model answered. The answer is read with the "
        "error.",
        _result_row(_response(200, _choices), _error),
        _result_row(_response(200, _choices)),
        "openai-batch-output",
    ),
    Rule(
        "O303",
        "status-and-body",
        Severity.WARNING,
        "The status and the body of a response must agree on whether it is an error.",
        "A status from 400 is an error, and the body then says which. What has such a "
        "status or such a body is read as an error.",
        _result_row(_response(200, _refused)),
        _result_row(_response(404, _refused)),
        "openai-batch-output",
    ),
    Rule(
        "O304",
        "result-of-no-request",
        Severity.WARNING,
        "A result must have the custom_id of a request in the input file.",
        "Such a result is of another batch, or the input file was changed. It is "
        "checked where the input file is given with --with.",
        _result_row(_response(200, _choices)).replace(b"q1", b"q9"),
        _result_row(_response(200, _choices)),
        "openai-batch-output",
        companion=_request(1) + _request(2),
    ),
)
