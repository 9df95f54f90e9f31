"""Conversations in ShareGPT's form: detected, checked and read."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from cases import for_each_case
from corpora import CORPORA
from harpia_formats import Record, convert, detect, read, validate

CHATS = CORPORA / "neighbours" / "chat"
ASKED = {"from": "human", "value": "2+2?"}
ANSWERED = {"from": "gpt", "value": "4"}


def called(value: Any) -> dict[str, Any]:
    """Return a turn in which the model calls a tool."""
    return {"from": "function_call", "value": json.dumps(value)}


def codes_of(*turns: dict[str, Any], lint: bool = False, **others: Any) -> list[str]:
    """Return the codes of what is found in a row with these turns and keys."""
    data = json.dumps({"conversations": [*turns], **others}).encode()
    return [each.code for each in validate(data, lint=lint, select=["G"]).problems]


def records_in(name: str) -> list[Record]:
    """Return the records of a file of the corpus, which must be detected."""
    (found,) = detect(CHATS / name)
    assert (found.format, found.confidence) == ("sharegpt", 1.0)
    return list(read(CHATS / name))


def turns_of(record: Record) -> int:
    """Return how many turns a record has, its expected answer included."""
    messages = len(record.messages or ()) or (
        isinstance(record.prompt, str) + isinstance(record.system, str)
    )
    return messages + isinstance(record.gt, str)


def test_keys_that_messages_have_stay_in_their_order() -> None:
    """What a turn has under the keys of a message is kept in its order, in each run."""
    for keys in permutations(["role", "content", "tool_calls"]):
        turns = [{**ASKED, **dict.fromkeys(keys, "x")}, ASKED]
        (record,) = read(json.dumps({"conversations": turns}).encode())
        assert list((record.messages or [])[0]["sharegpt"]) == [*keys]


@pytest.mark.corpora
def test_set_with_tools_has_the_turns_of_its_source() -> None:
    """The records of a real set have 8, 10 and 8 turns; the first one calls a tool."""
    records = records_in("glaive_toolcall_en_demo.first3.json")
    first = records[0].messages or []
    call, result = first[3:5]

    assert [turns_of(each) for each in records] == [8, 10, 8]
    assert call["tool_calls"][0]["name"] == "search_recipes"
    assert call["tool_calls"][0]["arguments"]["ingredients"][0] == "chicken"
    assert (call["content"], result["role"]) == (None, "tool")
    assert to_builtins(records[0])["params"]["tools"][0]["name"] == "search_recipes"
    assert not validate(CHATS / "glaive_toolcall_en_demo.first3.json").problems


@pytest.mark.corpora
def test_preference_set_has_the_better_answer_as_reference() -> None:
    """Of two answers the preferred one is the reference, the other one is kept."""
    records = records_in("dpo_en_demo.first3.json")
    rows = json.loads((CHATS / "dpo_en_demo.first3.json").read_bytes())

    assert [each.references for each in records] == [
        [row["chosen"]["value"]] for row in rows
    ]
    assert [to_builtins(each)["extra"]["sharegpt"]["rejected"] for each in records] == [
        row["rejected"] for row in rows
    ]


@pytest.mark.corpora
def test_set_of_plain_talk_has_ids_and_answers() -> None:
    """The last answer of each conversation is the expected one, and ids are kept."""
    records = records_in("sharegpt_dummy_conversation.first4.json")

    assert [turns_of(each) for each in records] == [4, 2, 6, 4]
    assert [each.id for each in records] == [f"identity_{n}" for n in range(4)]
    assert records[0].gt == "You too!"
    assert records[1].prompt == "Who are you?"


@for_each_case(
    "speakers, codes",
    [
        ("system human gpt human function_call observation gpt", []),
        ("human observation gpt", ["G111", "G112"]),
        ("gpt human", ["G111"]),
        ("system gpt human", ["G111"]),
        ("human gpt function_call observation gpt", ["G111"]),
        ("human gpt system human", ["G111"]),
        ("human gpt observation gpt", ["G112"]),
        ("human bot observation gpt", ["G101"]),
    ],
)
def test_order_of_turns_is_linted(speakers: str, codes: list[str]) -> None:
    """The person and the model take turns, and a result follows its call."""
    call = json.dumps({"name": "add", "arguments": {}})
    turns = [{"from": each, "value": call} for each in speakers.split()]

    assert sorted(codes_of(*turns, lint=True)) == codes


@pytest.mark.parametrize("key", ["label", "kto_tag"])
def test_verdicts_for_kto_are_not_read(key: str) -> None:
    """A conversation with a verdict is no set of good answers: nothing claims it."""
    row = {"conversations": [ASKED, ANSWERED], key: False}
    (problem,) = validate(json.dumps(row).encode()).problems

    assert problem.code == "S301"
    assert f"conversations with verdicts for KTO, by `{key}`" in problem.message


def test_texts_with_a_key_twice_are_kept() -> None:
    """Of a call, or of tools, as a value one of two members would be lost."""
    call = '{"name": "f", "arguments": {"x": 1, "x": 2}}'
    tools = '[{"name": "f", "name": "g"}]'
    seen = {"from": "observation", "value": "4"}
    turns = [ASKED, {"from": "function_call", "value": call}, seen, ANSWERED]
    row = {"conversations": turns, "tools": tools}
    (record,) = read(json.dumps(row).encode())

    assert record.messages
    assert record.messages[1] == {"role": "assistant", "content": call}
    assert record.extra == {"sharegpt": {"tools": tools}}
    assert codes_of(*turns, tools=tools) == ["G103", "G102"]


def test_conversation_with_tools_becomes_a_chat_of_texts(tmp_path: Path) -> None:
    """Where tools have no place, their calls and results are left out and counted."""
    call = called({"name": "add", "arguments": {"x": 2}})
    seen = {"from": "observation", "value": "4"}
    row = {"conversations": [ASKED, call, seen, ANSWERED], "tools": "[]"}
    output = tmp_path / "out.jsonl"
    done = convert(json.dumps(row).encode(), to="tencent-messages", output=output)

    assert [
        each["content"] for each in json.loads(output.read_bytes())["messages"]
    ] == [
        "2+2?",
        "4",
    ]
    assert {each.path for each in done.losses[0].losses.counts} >= {
        "messages",
        "params.tools",
    }
