"""The answers in the body of a response, as outputs of a record."""

from typing import Any

from msgspec import UNSET

from harpia_converters.openai.content import text_of
from harpia_converters.openai.extra_fields import BATCHES, without
from harpia_converters.openai.tool_calls import (
    CALLS,
    as_turn_call,
    read_arguments,
    read_message,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Output

_reasoning_key = "reasoning_content"
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
    rest = without(choice, {"index", "message", "text"})
    number = choice.get("index", UNSET)
    index = number if type(number) is int and place is not UNSET else place
    if number is not UNSET and number not in (index, 0):
        rest["index"] = number
    message = choice.get("message")
    if type(message) is not dict:
        text = choice.get("text")
        return Output(model=model, index=index, text=text, extra=_extra(rest))
    text = text_of(message.get("content"))
    left = without(message, {"role", _reasoning_key, CALLS})
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
    rest = without(item, {key, "type", "role"})
    others = []
    for part in item[key]:
        text = part.get("text") if type(part) is dict else None
        if type(text) is not str:
            others.append(part)
            continue
        found.append(text)
        beside = {k: v for k, v in part.items() if k not in {"type", "text"} and v}
        if beside:
            others.append(beside)
    if others:
        rest[key] = others
    return {"type": kind, **rest} if rest else {}


def _extra(rest: Row) -> Any:
    """Return the field `extra` of an output, `UNSET` if nothing is kept."""
    return {BATCHES: rest} if rest else UNSET
