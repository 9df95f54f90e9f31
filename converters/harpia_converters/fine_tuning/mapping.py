"""The adapters of alpaca and sharegpt: instructions and conversations to records."""

from typing import Any

from msgspec import UNSET

from harpia_converters.fine_tuning.turn_checks import (
    ANSWERING,
    CALL,
    NO_JSON,
    ROLES,
    calls_in,
    parsed,
)
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    NO_PARTS,
    Cardinality,
    FieldMapping,
    Left,
    Parts,
    Row,
    RowCapacity,
    Together,
)
from harpia_formats.model.record import SYSTEM_MESSAGE

_alpaca = "alpaca"


def _instruction(instruction: str, given: Any, history: Any) -> Parts:
    """Return the prompt of an instruction, a chat if it has a history."""
    prompt = f"{instruction}\n\n{given}" if given else instruction
    if history:
        return Parts({"messages": _chat(history, prompt)})
    return Parts({"prompt": prompt})


def _chat(history: list[list[str]], prompt: str) -> list[Row]:
    """Return the messages of earlier questions and answers, and of the prompt."""
    roles = ("user", "assistant")
    return [
        {"role": role, "content": text}
        for pair in (*history, [prompt])
        for role, text in zip(roles, pair, strict=False)
    ]


ALPACA = FieldTable(
    _alpaca,
    (
        FieldMapping(("instruction",), "prompt", note="and `input` below a blank line"),
        FieldMapping(("input",), "prompt", note="below `instruction` and a blank line"),
        FieldMapping(
            ("history",), "messages", note="with the prompt, if it is not empty"
        ),
        FieldMapping(("system",), "system"),
        FieldMapping(("output",), "references", LIST_OF_ONE),
    ),
    together=(Together(("instruction", "input", "history"), _instruction),),
    in_order=True,
    trusts_schema=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
)


_sharegpt = "sharegpt"
_turns = ("conversations",)
_turn_keys = frozenset({"from", "value"})
#: Keys that a message has by what its turn says.
_message_keys = frozenset({"role", "content", "tool_calls"})
#: The roles of a chat that is not kept as messages, with the fields that they are, by
#: the number of messages; these have no further keys.
_plain = {
    1: (("user", "prompt"),),
    2: (("system", "system"), ("user", "prompt")),
}
_usual_keys = len(_turn_keys)


def _conversation(turns: list[Row]) -> Parts:
    """Return the question of a conversation, and the answer that it ends with."""
    fields: Row = {}
    rest: Row = {}
    if turns[-1]["from"] in ANSWERING:
        *turns, answer = turns
        fields["gt"] = answer["value"]
        if len(answer) > _usual_keys:
            rest["conversations"] = _without(answer, _turn_keys)
    return Parts({**fields, **_question([_message(turn) for turn in turns])}, left=rest)


def _system(turns: list[Row], system: Any) -> Parts:
    """Return the system prompt, unless the conversation has it.

    Sets that were written by tables have null for an absent key; it is kept.
    """
    if system is UNSET:
        return NO_PARTS
    if system is None or _begins_with_system(turns):
        return Parts(left={"system": system})
    return Parts({"system": system})


def _begins_with_system(turns: list[Row]) -> bool:
    """Tell whether the conversation asks by a system prompt and a single prompt."""
    asked = turns[:-1] if turns[-1]["from"] in ANSWERING else turns
    if len(asked) != len(_plain[2]):
        return False
    return "system" in _question([_message(turn) for turn in asked])


def _chosen(chosen: Any) -> Parts:
    """Return the text of the better answer as the reference."""
    if chosen is None:
        return Parts(left={"chosen": None})
    beside = _without(chosen, frozenset({"value"}))
    is_usual = beside == {"from": "gpt"}
    return Parts(
        {"references": [chosen["value"]]}, left={} if is_usual else {"chosen": beside}
    )


def _tools(text: Any) -> Parts:
    """Return the tools that a text of JSON describes, as a setting."""
    tools = NO_JSON if text is None else parsed(text)
    if tools is NO_JSON:
        return Parts(left={"tools": text})
    return Parts({"params": {"tools": tools}})


def _message(turn: Row) -> Row:
    """Return the message that a turn is; a call that cannot be read stays a text."""
    speaker, value = turn["from"], turn["value"]
    calls = calls_in(value) if speaker == CALL else None
    message: Row = {"role": ROLES.get(speaker, speaker)}
    message |= {"content": value} if calls is None else _calling(calls)
    if len(turn) == _usual_keys:
        return message
    beside = _without(turn, _turn_keys)
    taken = {key: beside.pop(key) for key in _message_keys & beside.keys()}
    return {**message, **beside, **({_sharegpt: taken} if taken else {})}


def _calling(calls: list[Row]) -> Row:
    """Return the content and the calls of a message that only calls tools."""
    return {"content": None, "tool_calls": calls}


def _question(messages: list[Row]) -> Row:
    """Return the prompt, and the system prompt, or messages that are more than that."""
    plain = _plain.get(len(messages), ())
    fields = {}
    for message, (role, name) in zip(messages, plain, strict=False):
        if message["role"] != role or len(message) > _usual_keys:
            return {"messages": messages}
        fields[name] = message["content"]
    return fields or {"messages": messages}


def _without(row: Row, known: frozenset[str]) -> Row:
    return {key: value for key, value in row.items() if key not in known}


SHAREGPT = FieldTable(
    _sharegpt,
    (
        FieldMapping(_turns, "messages", note="without the model's last one"),
        FieldMapping(
            _turns, "prompt", note="the turn of the person, where it is the only one"
        ),
        FieldMapping(_turns, "gt", note="the last turn, if it is the model's"),
        FieldMapping(
            ("system",), "system", note="or the turn in front of a single prompt"
        ),
        FieldMapping(("chosen", "value"), "references", LIST_OF_ONE),
        FieldMapping(("tools",), "params.tools", note="the value of the JSON text"),
        FieldMapping(("id",), "id"),
    ),
    together=(
        Together(_turns, _conversation, left=Left.IN_FRONT),
        Together((*_turns, "system"), _system, left=Left.IN_PLACE),
        Together(("chosen",), _chosen, left=Left.IN_PLACE),
        Together(("tools",), _tools, left=Left.IN_PLACE),
    ),
    in_order=True,
    trusts_schema=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    #: Who speaks decides which field a turn is.
    discriminators=frozenset({("conversations", "*", "from")}),
    other_names={SYSTEM_MESSAGE: "conversations (system)"},
    extra_examples={"rejected": "value", "tools": "value"},
    setting_examples={"tools": [{"name": "tool", "parameters": {}}]},
)
