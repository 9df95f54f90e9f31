"""The adapter of openai-batch-output: the results of a batch as records.

Answers in the body of a response are outputs, and its usage is that of an output.
"""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.openai.formats import ERROR_STATUS
from harpia_converters.openai.messages import BATCHES, text_of
from harpia_converters.openai.tool_calls import (
    CALLS,
    as_turn,
    as_turn_call,
    read_arguments,
    read_message,
)
from harpia_formats.conversion.mapping.chat_messages import system_message
from harpia_formats.conversion.mapping.fields import (
    FieldTable,
    members_of_both,
    without,
)
from harpia_formats.model.adapter import Cardinality, FieldMapping, Row, RowCapacity
from harpia_formats.model.record import Output, Record, kept_of

_reasoning_key = "reasoning_content"
#: The status of a response, the role of an answer, and the types of its parts: any
#: other one is kept.
_usual_status = 200
_usual_roles = ("assistant", None)
_usual_types = ("output_text", "summary_text", "text", None)
#: Values of members of a part that say nothing.
_nothing: tuple[Any, ...] = (None, [], {})
#: Keys of a call of a function in a response.
_call_keys = ("call_id", "name", "arguments")


def chat_answers(choices: list[Row], model: Any) -> list[Output]:
    """Return the output of each choice of a chat or a completion."""
    is_one = len(choices) == 1
    return [
        _chat_answer(choice, model, UNSET if is_one else place)
        for place, choice in enumerate(choices)
    ]


def _chat_answer(choice: Row, model: Any, place: Any) -> Output:
    rest = without(choice, {"index", "message"})
    number = choice.get("index", UNSET)
    index = number if type(number) is int and place is not UNSET else place
    if number is not UNSET and number not in (index, 0):
        rest["index"] = number
    message = choice.get("message")
    if type(message) is not dict:
        text = rest.pop("text", None)
        return Output(model=model, index=index, text=text, extra=_extra(rest))
    text = text_of(message.get("content"))
    left = without(message, {_reasoning_key, CALLS})
    if message.get("role") in _usual_roles:
        left.pop("role", None)
    if text is not None or left.get("content") is None:
        left.pop("content", None)
    reasoning = message.get(_reasoning_key, UNSET)
    if type(reasoning) is not str:
        if reasoning is not UNSET:
            left[_reasoning_key] = reasoning
        reasoning = UNSET
    turns: Any = UNSET
    if message.get(CALLS):
        calls = read_message(message)[CALLS]
        turn_calls = [as_turn_call(call) for call in calls]
        turns = [{"role": "assistant", "content": text, CALLS: turn_calls}]
        if turn_calls != calls:  # arguments that are no object
            left[CALLS] = message[CALLS]
    if left:
        rest["message"] = left
    return Output(
        model=model,
        index=index,
        text=text,
        reasoning=reasoning,
        turns=turns,
        extra=_extra(rest),
    )


def response_answer(items: list[Row], model: Any) -> Output:
    """Return the output of a response: its messages, reasoning and calls."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Row] = []
    left: list[Row] = []
    for item in items:
        rest = _read_item(item, texts, thoughts, calls)
        if rest:
            left.append(rest)
    text = "".join(texts) if texts else None
    turns: Any = UNSET
    if calls:
        turns = [{"role": "assistant", "content": text, CALLS: calls}]
    return Output(
        model=model,
        text=text,
        reasoning="\n\n".join(thoughts) if thoughts else UNSET,
        turns=turns,
        extra=_extra({"output": left} if left else {}),
    )


def _read_item(
    item: Row, texts: list[str], thoughts: list[str], calls: list[Row]
) -> Row:
    """Add what an item says to one of the lists; return what else it has."""
    kind = item.get("type")
    if kind == "function_call" and all(type(item.get(k)) is str for k in _call_keys):
        call_id, name, arguments = (item[key] for key in _call_keys)
        call = {"id": call_id, "name": name, "arguments": read_arguments(arguments)}
        calls.append(as_turn_call(call))
        if calls[-1] != call:  # arguments that are no object
            return item
        return without(item, {"type", *_call_keys})
    key, found = ("summary", thoughts) if kind == "reasoning" else ("content", texts)
    if kind not in ("reasoning", "message") or type(item.get(key)) is not list:
        return item
    rest = without(item, {key, "type"})
    if item.get("role") in _usual_roles:
        rest.pop("role", None)
    others = []
    for part in item[key]:
        text = part.get("text") if type(part) is dict else None
        if type(text) is not str:
            others.append(part)
            continue
        found.append(text)
        other = {k: v for k, v in part.items() if k != "text" and v not in _nothing}
        if other.get("type") in _usual_types:
            other.pop("type", None)
        if other:
            others.append(other)
    if others:
        rest[key] = others
    return {"type": kind, **rest} if rest else {}


def _extra(rest: Row) -> Any:
    """Return the field `extra` of an output, `UNSET` if nothing is kept."""
    return {BATCHES: rest} if rest else UNSET


#: The names of counts in chats and in responses, with those in a record.
_counts = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
_details = {
    "completion_tokens_details": ("reasoning_tokens", "reasoning_tokens"),
    "output_tokens_details": ("reasoning_tokens", "reasoning_tokens"),
    "prompt_tokens_details": ("cached_tokens", "input_tokens_cache_read"),
    "input_tokens_details": ("cached_tokens", "input_tokens_cache_read"),
}


def read_usage(usage: Any) -> tuple[Row, Row]:
    """Return the token usage of an output, and the members that have no place in it.

    Of two counts by one name, only the first has a place.
    """
    counts: Row = {}
    rest: Row = {}
    for key, value in usage.items() if type(usage) is dict else ():
        if (
            key in _counts
            and type(value) is int
            and counts.setdefault(_counts[key], value) == value
        ):
            continue
        inner, name = _details.get(key, ("", ""))
        found = value.get(inner) if inner and type(value) is dict else None
        if type(found) is int and counts.setdefault(name, found) == found:
            if left := without(value, (inner,)):
                rest[key] = left
        else:
            rest[key] = value
    return counts, rest


_body = ("response", "body")
_choices = (*_body, "choices")


def _read_result(row: Row, kept: Row) -> Row:
    """Return the answers of a result, or the error in their place."""
    response, error = row["response"], row.get("error")
    outputs: list[Output] = []
    if response is not None:
        left, outputs = _read_response(response, is_failed=error is not None)
        if left:
            kept["response"] = left
    if error is not None:
        others = without(error, {"message"})
        if others:
            kept["error"] = others
        message = _error_text(error, "no reason is given")
        outputs = outputs or [Output(text=None)]
        outputs = [replace(each, error=message) for each in outputs]
    return {"id": row["custom_id"], "outputs": outputs or [Output(text=None)]}


def _read_response(response: Row, *, is_failed: bool) -> tuple[Row, list[Output]]:
    """Return what is kept of a response, and the answers that it has.

    The text of an error is kept if the request itself `is_failed`, whose error is read.
    """
    rest, body = without(response, {"body"}), response["body"]
    status = response["status_code"]
    if status == _usual_status:
        del rest["status_code"]
    if type(body) is not dict:
        failed = status >= ERROR_STATUS
        if body and (is_failed or not failed):
            rest["body"] = {"text": body}
        return rest, [
            Output(text=None, error=_error_text(body, f"status {status}"))
        ] if failed else []
    left = dict(body)
    model = left.pop("model", UNSET)
    choices, items = left.pop("choices", None), left.pop("output", None)
    outputs = chat_answers(choices or [], model)
    if items:
        outputs.append(response_answer(items, model))
    failed = status >= ERROR_STATUS or left.get("error") is not None
    if not outputs and (failed or model is not UNSET):
        outputs = [Output(model=model, text=None)]
    counts, others = read_usage(left.get("usage"))
    if len(outputs) == 1 and counts:
        left.pop("usage")
        if others:
            left["usage"] = others
        outputs = [replace(outputs[0], token_usage=counts)]
    if failed:
        message = _error_text(left.get("error"), f"status {status}")
        outputs = [replace(each, error=message) for each in outputs]
    if left:
        rest["body"] = left
    return rest, outputs


def _error_text(error: Any, otherwise: str) -> str:
    """Return the message of an error, or else its code, or else another text."""
    if type(error) is str and error:
        return error
    for key in ("message", "code"):
        found = error.get(key) if type(error) is dict else None
        if type(found) is str and found:
            return found
    return otherwise


def join_request(result: Record, request: Record) -> Record:
    """Return the record of a result with the question and the settings of its request.

    Answers and errors are of the model that was asked; another name in the response is
    kept, and so are members that both have with different values. Calls of tools follow
    the question.
    """
    model = (request.params or {}).get("model", UNSET)
    chat = [as_turn(message) for message in _chat_of(request)]
    outputs = []
    for output in result.outputs:
        turns = [*chat, *output.turns] if output.turns else output.turns
        own_extra = output.extra
        if output.model not in (UNSET, model) and model is not UNSET:
            own = kept_of(output, BATCHES)
            kept = members_of_both({"model": output.model}, own, "choice")
            own_extra = {**(output.extra or {}), BATCHES: kept}
        given = output.model if model is UNSET else model
        outputs.append(replace(output, model=given, turns=turns, extra=own_extra))
    extra = {**(request.extra or {})}
    for owner, members in (result.extra or {}).items():
        extra[owner] = members_of_both(members, extra.get(owner, {}), "request")
    return replace(request, outputs=outputs, extra=extra or UNSET)


def _chat_of(record: Record) -> list[Row]:
    """Return the question of a record as messages."""
    chat = record.messages or []
    if not chat and record.prompt is not UNSET:
        chat = [{"role": "user", "content": record.prompt}]
    return [*system_message(record), *chat]


#: What a record has of the request with which it is read.
_of_request = frozenset(Record.__struct_fields__) - {"id", "extra", "outputs"}

RESULTS = FieldTable(
    BATCHES,
    (
        FieldMapping(("custom_id",), "id"),
        FieldMapping((*_body, "model"), "outputs.model"),
        FieldMapping(
            (*_choices, "index"),
            "outputs.index",
            note="where there are several choices",
        ),
        FieldMapping(
            (*_choices, "message", "content"),
            "outputs.text",
            note="or text of a completion, or the texts in body.output",
        ),
        FieldMapping(
            (*_choices, "message", "reasoning_content"),
            "outputs.reasoning",
            note="or the summary in body.output",
        ),
        FieldMapping(
            (*_choices, "message", "tool_calls"),
            "outputs.turns",
            note="a turn of the assistant, or the calls in body.output",
        ),
        FieldMapping(
            (*_body, "usage"), "outputs.token_usage", note="if there is one answer"
        ),
        FieldMapping(
            ("error", "message"), "outputs.error", note="or that in response.body.error"
        ),
    ),
    own_keys=("custom_id", "response", "error"),
    read_own=_read_result,
    in_order=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.MANY, turns=True
    ),
    answer_path=_choices,
    join=join_request,
    other_paths=_of_request,
    extra_examples={"response": {"body": {"usage": {"total_tokens": 1}}}},
)
