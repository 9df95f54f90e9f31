"""Conversations in ShareGPT's form: detected, checked and read."""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.fine_tuning.mapping import SHAREGPT
from harpia_formats import convert, detect, read, validate
from harpia_formats.model.record import Record, as_dict

ROOT = Path(__file__).parents[3]
CHATS = CORPORA / "neighbours" / "chat"
ASKED = {"from": "human", "value": "2+2?"}
ANSWERED = {"from": "gpt", "value": "4"}


def called(value: Any) -> dict[str, Any]:
    """Return a turn in which the model calls a tool."""
    return {"from": "function_call", "value": json.dumps(value)}


def record_of(*turns: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return the record of a row with these turns and keys."""
    found = as_dict(SHAREGPT.read({"conversations": [*turns], **others}))
    assert found.pop("outputs") == []
    return found


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
    assert as_dict(records[0])["params"]["tools"][0]["name"] == "search_recipes"
    assert not validate(CHATS / "glaive_toolcall_en_demo.first3.json").problems


@pytest.mark.corpora
def test_preference_set_has_the_better_answer_as_reference() -> None:
    """Of two answers the preferred one is the reference, the other one is kept."""
    records = records_in("dpo_en_demo.first3.json")
    rows = json.loads((CHATS / "dpo_en_demo.first3.json").read_bytes())

    assert [each.references for each in records] == [
        [row["chosen"]["value"]] for row in rows
    ]
    assert [as_dict(each)["extra"]["sharegpt"]["rejected"] for each in records] == [
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


def test_last_turn_of_the_model_is_the_expected_answer() -> None:
    """What the model says last is `gt`; a single question in front is the prompt."""
    assert record_of(ASKED, ANSWERED) == {"prompt": "2+2?", "gt": "4"}
    assert record_of(ASKED) == {"prompt": "2+2?"}
    assert record_of(ANSWERED) == {"messages": [], "gt": "4"}


def test_system_turn_goes_before_the_key() -> None:
    """The system prompt is that of the turns; the key stays in the extra fields."""
    system = {"from": "system", "value": "Add."}
    found = record_of(system, ASKED, ANSWERED, system="Subtract.")

    assert found["system"] == "Add."
    assert found["extra"] == {"sharegpt": {"system": "Subtract."}}
    assert record_of(ASKED, system="Add.")["system"] == "Add."


def test_call_and_result_are_messages_of_assistant_and_tool() -> None:
    """The arguments of a call are an object; its result is a message of the tool."""
    call = {"name": "add", "arguments": {"x": 2, "y": 2.50}}
    seen = {"from": "observation", "value": "4"}
    messages = record_of(ASKED, called(call), seen, ANSWERED)["messages"]

    assert messages[1:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "4"},
    ]


@for_each_case(
    "value", ["add(2, 2)", "[]", '{"name": "add"}', '{"name": 1, "arguments": {}}', "3"]
)
def test_call_that_cannot_be_read_stays_a_text(value: str) -> None:
    """A call that is no JSON object with a name and arguments is kept and reported."""
    call = {"from": "function_call", "value": value}
    messages = record_of(ASKED, call, ASKED)["messages"]

    assert messages[1] == {"role": "assistant", "content": value}
    assert codes_of(ASKED, call, ASKED) == ["G103"]


def test_tools_are_read_from_their_text() -> None:
    """JSON in `tools` is read; other text is kept where it was, and reported."""
    tools = [{"name": "add"}]
    good = record_of(ASKED, tools=json.dumps(tools))
    bad = record_of(ASKED, tools="add(x, y)")

    assert good["params"] == {"tools": tools}
    assert "params" not in bad
    assert bad["extra"] == {"sharegpt": {"tools": "add(x, y)"}}
    assert codes_of(ASKED, tools="add(x, y)") == ["G102"]
    assert codes_of(ASKED, tools="") == []


def test_null_is_an_absent_key() -> None:
    """Null, which tables write for an absent key, is no id, system prompt or tools."""
    nulls = dict.fromkeys(("id", "system", "tools"))
    data = json.dumps({"conversations": [ASKED, ANSWERED], **nulls}).encode()

    assert validate(data).ok
    assert record_of(ASKED, ANSWERED, **nulls) == {
        **record_of(ASKED, ANSWERED),
        "extra": {"sharegpt": nulls},
    }


def test_unknown_speaker_is_kept_as_a_role_and_reported() -> None:
    """A speaker that no tool knows stays a role; three other spellings are known."""
    bot = {"from": "bot", "value": "4"}
    messages = record_of(ASKED, bot)["messages"]

    assert messages[1]["role"] == "bot"
    assert codes_of(ASKED, bot) == ["G101"]
    assert codes_of(*({**ASKED, "from": each} for each in ("user", "assistant"))) == []


def test_other_keys_of_turns_are_kept() -> None:
    """Keys apart from the two of a turn stay in its message, or next to the answer."""
    turn = {**ASKED, "weight": 0, "role": "x"}
    found = record_of(turn, {**ANSWERED, "weight": 1})

    assert found["messages"] == [
        {"role": "user", "content": "2+2?", "weight": 0, "sharegpt": {"role": "x"}}
    ]
    assert found["extra"] == {"sharegpt": {"conversations": {"weight": 1}}}


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


@pytest.mark.parametrize(
    "row",
    [
        {"conversation": [{"prompt": "2+2?", "response": "4"}]},
        {"conversations": [{"role": "user", "content": "2+2?"}]},
        {"conversations": "c-1"},
        {"conversations": [{"from": "Ana", "text": "olá"}]},
    ],
)
def test_other_conversations_are_not_claimed(row: dict[str, Any]) -> None:
    """Only turns with `from` and `value` in `conversations` are a sign."""
    (found,) = detect(json.dumps(row).encode())

    assert found.format != "sharegpt"


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
