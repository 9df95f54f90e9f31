"""Conversations with tools, written as Tencent's rows."""

import itertools
import json
from io import BytesIO
from typing import Any

from cases import for_each_case
from harpia_formats import convert, validate
from harpia_formats.plugins import FieldOutcome

CALL: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "name": "f", "arguments": {"x": "1"}}],
}
RESULT: dict[str, Any] = {"role": "tool", "content": "7", "tool_call_id": ["c"]}
SPOKEN = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "a", "reasoning": "thought"},
    {"role": "user", "content": "r"},
]
CHATS = {
    "call before the answer": [SPOKEN[0], CALL, RESULT],
    "call in the middle": [SPOKEN[0], CALL, RESULT, *SPOKEN[1:]],
    "call with a text": [SPOKEN[0], {**CALL, "content": "a"}, RESULT, SPOKEN[2]],
    "function of an older API": [
        SPOKEN[0],
        {"role": "assistant", "content": None, "function_call": {"name": "f"}},
        {"role": "function", "name": "f", "content": "7"},
        *SPOKEN[1:],
    ],
}


def converted(record: dict[str, Any], target: str) -> tuple[Any, set[FieldOutcome]]:
    """Return the row of a record, and the outcomes of its fields; it must be valid."""
    output = BytesIO()
    report = convert(
        json.dumps(record).encode() + b"\n",
        to=target,
        from_="record",
        output=output,
        constants={"outputs.model": "m"},
    )
    assert report.written, report.report.problems
    strict = validate(output.getvalue(), format=target, strict=True)
    assert strict.ok, strict.problems
    return json.loads(output.getvalue()), set(report.losses[0].losses.counts)


@for_each_case(
    "chat, target, from_turns",
    itertools.product(
        CHATS.values(), ["tencent-messages", "tencent-outputs"], [False, True]
    ),
)
def test_conversation_with_tools_is_strictly_valid(
    target: str, chat: list[dict[str, Any]], from_turns: bool
) -> None:
    """What tools say is left out and reported; the row is what Tencent describes."""
    answer = {"role": "assistant", "content": "done"}
    output = {"turns": [*chat, answer]} if from_turns else {"text": "done"}
    record = {"outputs": [output]} if from_turns else {"messages": chat, "outputs": []}
    if not from_turns and target == "tencent-outputs":
        record["outputs"] = [output]
    row, outcomes = converted({"prompt": "r", **record}, target)

    assert row["messages"][0] == SPOKEN[0]
    assert all(set(message) == {"role", "content"} for message in row["messages"])
    assert any("without tool calls" in outcome.how for outcome in outcomes)
    if target == "tencent-outputs":
        assert row["model_outputs"][0]["responses"][0]["content"] == "done"


def test_roles_of_tencents_own_chats_stay() -> None:
    """A chat that has another role, and no call, is written as it is."""
    messages = [{"role": "user", "content": "q"}, {"role": "tool", "content": "x"}]
    output = BytesIO()
    data = json.dumps({"messages": messages}).encode() + b"\n"
    convert(data, to="tencent-messages", output=output, from_="tencent-messages")

    assert json.loads(output.getvalue())["messages"] == messages
