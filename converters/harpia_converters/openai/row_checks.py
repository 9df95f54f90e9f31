"""Check rows that their schemas allow: messages, tool calls, requests, results."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

ARGUMENTS, UNCALLED, UNANSWERED, WEIGHT = "O101", "O102", "O103", "O104"
NO_QUESTION = "O201"
NO_RESULT, BOTH_RESULTS, STATUS, NO_REQUEST = "O301", "O302", "O303", "O304"
#: The least status code of a response that is an error.
ERROR_STATUS = 400


def chat_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages of an example for fine-tuning."""
    messages = _messages_of(row, "messages")
    yield from _call_remarks(messages, ("messages",))
    for number, message in enumerate(messages):
        weight = message.get("weight")
        if "weight" in message and (weight not in (0, 1) or type(weight) is bool):
            yield Remark(
                WEIGHT,
                ("messages", number, "weight"),
                "the weight of a message is neither 0 nor 1",
                "give 0 to leave the message out of the training, else 1",
            )
    if messages and messages[-1].get("role") != "assistant":
        yield Remark(
            UNANSWERED,
            ("messages", len(messages) - 1),
            "the last message is not from the assistant, so nothing is learnt from it",
            "end the chat with the answer that is expected",
        )


def request_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the body of a request."""
    body = row.get("body") if isinstance(row, Mapping) else None
    if not isinstance(body, Mapping):
        return
    yield from _call_remarks(_messages_of(body, "messages"), ("body", "messages"))
    if not any(body.get(key) for key in ("messages", "input", "prompt")):
        yield Remark(
            NO_QUESTION,
            ("body",),
            "the body asks nothing: it has no messages, input or prompt",
            "give what the model is asked, as the endpoint needs it",
        )


def result_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the response and the error of a result."""
    if not isinstance(row, Mapping):
        return
    response, error = row.get("response"), row.get("error")
    if response is None and error is None:
        yield Remark(
            NO_RESULT,
            (),
            "the request has neither a response nor an error",
            "send the request again: nothing is known of it",
        )
    if not isinstance(response, Mapping):
        return
    status = response.get("status_code")
    if type(status) is not int:
        return
    if error is not None and status < ERROR_STATUS:
        yield Remark(
            BOTH_RESULTS,
            ("error",),
            f"the request has an error beside a response with the status {status}",
            "the error is read, and the response as well",
        )
    body = response.get("body")
    if not isinstance(body, Mapping):
        return
    has_error = body.get("error") is not None
    if has_error != (status >= ERROR_STATUS):
        at_error: Path = ("response", "body", "error")
        yield Remark(
            STATUS,
            at_error if has_error else ("response", "status_code"),
            f"the body has an error beside the status {status}"
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


def no_expectation(document: Mapping[str, Any]) -> None:
    """Return nothing: an input file says nothing of results but its ids."""
    del document


def no_remarks(expected: Any, found: Any) -> Iterator[Remark]:
    """Yield nothing, as of results only the ids are compared."""
    del expected, found
    yield from ()


def _messages_of(owner: Any, key: str) -> list[Mapping[str, Any]]:
    """Return the messages at `key`, none if not all of them are objects."""
    found = owner.get(key) if isinstance(owner, Mapping) else None
    if not isinstance(found, list):
        return []
    return found if all(isinstance(message, Mapping) for message in found) else []


def _call_remarks(messages: list[Mapping[str, Any]], path: Path) -> Iterator[Remark]:
    """Yield remarks on calls whose arguments are no object, and on answers to none."""
    asked: set[str] = set()
    for number, message in enumerate(messages):
        for place, call in _calls_of(message):
            if isinstance(call.get("id"), str):
                asked.add(call["id"])
            function = call.get("function") if place[0] == "tool_calls" else call
            yield from _argument_remarks(function, (*path, number, *place))
        answered = message.get("tool_call_id")
        if message.get("role") == "tool" and not (
            isinstance(answered, str) and answered in asked
        ):
            yield Remark(
                UNCALLED,
                (*path, number),
                "a tool answers, and no earlier message calls it with this id",
                "give tool_call_id the id of a call in a message of the assistant",
            )


def _calls_of(message: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path of each call in a message, and the call."""
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, Mapping):
            yield ("tool_calls", place), call
    old = message.get("function_call")
    if isinstance(old, Mapping):
        yield ("function_call",), old


def _argument_remarks(function: Any, path: Path) -> Iterator[Remark]:
    text = function.get("arguments") if isinstance(function, Mapping) else None
    if not isinstance(text, str) or _is_object(text):
        return
    inner: Path = () if path[-1] == "function_call" else ("function",)
    yield Remark(
        ARGUMENTS,
        (*path, *inner, "arguments"),
        "the arguments of a call are not the JSON text of an object",
        "write them as JSON; here they are kept as text",
    )


def _is_object(text: str) -> bool:
    from harpia_converters.openai.tool_calls import read_arguments  # noqa: PLC0415 - a decoder is needed only for calls

    return not isinstance(read_arguments(text), str)
