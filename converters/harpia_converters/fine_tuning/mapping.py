"""The adapters of alpaca and sharegpt: instructions and conversations to records."""

from harpia_converters.fine_tuning.turn_checks import (
    ANSWERING,
    CALL,
    NO_JSON,
    ROLES,
    calls_in,
    parsed,
)
from harpia_formats.conversion.mapping.chat_messages import read_chat
from harpia_formats.conversion.mapping.fields import FieldTable, put_in_front, without
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import SYSTEM_MESSAGE

_alpaca = "alpaca"


def _instruction(row: Row, kept: Row) -> Row:  # noqa: ARG001 - the signature of `read_own`
    """Return an instruction, which is a chat if it has a history, and its answer."""
    prompt = row["instruction"]
    if row.get("input"):
        prompt = f"{prompt}\n\n{row['input']}"
    fields: Row = {"references": [row["output"]]}
    if row.get("history"):
        fields["messages"] = _chat(row["history"], prompt)
    else:
        fields["prompt"] = prompt
    if "system" in row:
        fields["system"] = row["system"]
    return fields


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
    own_keys=("instruction", "input", "history", "system", "output"),
    read_own=_instruction,
    in_order=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(outputs=Cardinality.NONE, messages=True),
)


_sharegpt = "sharegpt"
_turns = ("conversations",)
_turn_keys = frozenset({"from", "value"})
#: Those that the text of an expected call tells.
_of_calls = frozenset({"value"})
#: Keys that a message has by what its turn says.
_message_keys = frozenset({"role", "content", "tool_calls"})
_usual_keys = len(_turn_keys)

_sharegpt_fields = (
    FieldMapping(_turns, "messages", note="without the model's last one"),
    FieldMapping(
        _turns, "prompt", note="the turn of the person, where it is the only one"
    ),
    FieldMapping(_turns, "gt", note="the last turn, if it is the model's"),
    FieldMapping(("system",), "system", note="or the turn in front of a single prompt"),
    FieldMapping(("chosen", "value"), "references", LIST_OF_ONE),
    FieldMapping(("tools",), "params.tools", note="the value of the JSON text"),
    FieldMapping(("id",), "id"),
)


def _conversation(row: Row, kept: Row) -> Row:
    """Remove and return the chat, its last answer, the system prompt and the tools.

    Sets that were written by tables have null for an absent key; it is kept.
    """
    turns = kept.pop("conversations")
    fields: Row = {}
    if turns[-1]["from"] in ANSWERING:
        *turns, answer = turns
        fields["gt"] = answer["value"]
        # The text alone does not show that it is a call.
        known = _of_calls if answer["from"] == CALL else _turn_keys
        if len(answer) > len(known):
            put_in_front(kept, "conversations", without(answer, known))
    fields |= read_chat([_message(turn) for turn in turns])
    if "system" not in fields and row.get("system") is not None:
        fields["system"] = kept.pop("system")
    tools = NO_JSON if row.get("tools") is None else parsed(row["tools"])
    if tools is not NO_JSON:
        fields["params"] = {"tools": tools}
        del kept["tools"]
    if kept.get("chosen") == {"from": "gpt"}:
        del kept["chosen"]
    return fields


def _message(turn: Row) -> Row:
    """Return the message that a turn is; a call that cannot be read stays a text."""
    speaker, value = turn["from"], turn["value"]
    calls = calls_in(value) if speaker == CALL else None
    message: Row = {"role": ROLES.get(speaker, speaker)}
    # A message that only calls tools has no content.
    message |= (
        {"content": value} if calls is None else {"content": None, "tool_calls": calls}
    )
    if len(turn) == _usual_keys:
        return message
    others = without(turn, _turn_keys)
    taken = {key: others.pop(key) for key in turn if key in _message_keys}
    return {**message, **others, **({_sharegpt: taken} if taken else {})}


SHAREGPT = FieldTable(
    _sharegpt,
    _sharegpt_fields,
    own_keys=("conversations", "system", "tools"),
    read_own=_conversation,
    in_order=True,
    removes_own=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(outputs=Cardinality.NONE, messages=True),
    #: Who speaks decides which field a turn is.
    discriminators=frozenset({("conversations", "*", "from")}),
    other_names={SYSTEM_MESSAGE: "conversations (system)"},
    extra_examples={
        "conversations": {"from": CALL},
        "rejected": "value",
        "tools": "value",
    },
    setting_examples={"tools": [{"name": "tool", "parameters": {}}]},
)
