"""Examples for fine-tuning as records, and records as examples."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.openai.chat_mapping import CHAT, PREFERENCE
from harpia_formats import convert, detect, read, validate
from harpia_formats.conversion.mapping.choices import Choices, References
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Outcome, Unconvertible
from harpia_formats.model.record import Output, Record
from sample_rows import assistant_message

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
EXAMPLES = CORPORA / "neighbours" / "openai"
TOOLS = [{"type": "function", "function": {"name": "f"}}]
CALL = {"id": "c1", "name": "f", "arguments": {"x": 1}}
ROW_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"x":1}'},
}


def user(text: Any) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def written(
    record: Record, **choices: Any
) -> tuple[dict[str, Any], dict[str, Outcome]]:
    """Return the only row of a record, and the outcome of each path."""
    made = RecordMapper(CHAT, Choices(**choices)).map(record)
    (row,) = made.rows
    return row, {outcome.path: outcome.outcome for outcome in made.outcomes}


def neighbour(name: str) -> list[Record]:
    """Return the records of a file of the corpus."""
    path = EXAMPLES / name
    (found,) = detect(path)
    named = None if found.confidence == 1.0 else "openai-chat"
    return list(read(path, format=named))


def test_last_answer_is_the_expected_one() -> None:
    """The last message of the assistant is gt, and the rest is the question."""
    chat = [
        user("a"),
        assistant_message("b"),
        user("c"),
        assistant_message("d", weight=1),
    ]
    record = CHAT.read({"messages": chat})

    assert record.gt == "d"
    assert record.messages == chat[:-1]
    assert record.extra == {"openai": {"messages": {"weight": 1}}}


def test_single_question_is_a_prompt() -> None:
    """A message of the user, maybe behind one of the system, is the prompt."""
    short = CHAT.read({"messages": [user("q"), assistant_message("a")]})
    longer = CHAT.read({"messages": [{"role": "system", "content": "s"}, user("q")]})

    assert (short.prompt, short.gt) == ("q", "a")
    assert (longer.system, longer.prompt, longer.gt) == ("s", "q", UNSET)


def test_expected_call_is_no_part_of_the_question() -> None:
    """A last answer that only calls a tool stands next to the question, as it is."""
    row = {"messages": [user("q"), {"role": "assistant", "tool_calls": [ROW_CALL]}]}
    record = CHAT.read(row)

    assert (record.prompt, record.gt, record.messages) == ("q", UNSET, UNSET)
    assert record.extra == {"openai": {"messages": {"tool_calls": [ROW_CALL]}}}
    assert written(record) == (row, {})


def test_arguments_are_an_object_in_records() -> None:
    """The JSON text of a call becomes an object, and its numbers keep their text."""
    text = '{"x": 1e2, "y": [1, 18446744073709551616]}'
    call = {**ROW_CALL, "function": {"name": "f", "arguments": text}}
    calls = {"role": "assistant", "tool_calls": [call]}
    record = CHAT.read({"messages": [user("q"), calls, assistant_message("a")]})
    assert record.messages
    (read_call,) = record.messages[1]["tool_calls"]

    assert encode(read_call["arguments"]) == text.replace(" ", "").encode()
    assert {key: read_call[key] for key in ("id", "name")} == {"id": "c1", "name": "f"}


@for_each_case("text", ["Lima", "", "[1]", '{"x": 1', "null", "1e999"])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    """What is not the JSON text of an object is kept, and written back as it is."""
    call = {**ROW_CALL, "function": {"name": "f", "arguments": text}}
    calls = {"role": "assistant", "tool_calls": [call]}
    row = {"messages": [user("q"), calls, assistant_message("a")]}
    record = CHAT.read(row)
    assert record.messages

    assert record.messages[1]["tool_calls"][0]["arguments"] == text
    assert written(record) == (row, {})
    codes = {problem.code for problem in validate(encode(row)).problems}
    assert codes == {"O101"}


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "openai-chat" / "valid").iterdir()), ids=lambda p: p.name
)
def test_rows_come_back(path: Path) -> None:
    """A row that is read and written is the same, but for spaces in arguments."""
    text = path.read_text("utf-8")
    rows = json.loads(text) if path.suffix == ".json" else text.splitlines()
    for given in rows:
        row = decode(given) if isinstance(given, str) else given
        back, outcomes = written(CHAT.read(row))

        assert outcomes == {}
        assert plain(back) == plain(row)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose arguments are objects where they are JSON."""
    text = json.dumps(row)
    return dict(json.loads(text, object_hook=_parsed))


def _parsed(value: dict[str, Any]) -> dict[str, Any]:
    try:
        return {**value, "arguments": json.loads(value["arguments"])}
    except (KeyError, ValueError, TypeError):
        return value


def test_older_call_is_a_call_without_id() -> None:
    """`function_call` and a call without an id are one thing, in both directions."""
    old = {"role": "assistant", "function_call": ROW_CALL["function"]}
    chat = [user("q"), old, {"role": "function", "name": "f", "content": "1"}]
    record = CHAT.read({"messages": [*chat, assistant_message("a")]})
    assert record.messages

    assert record.messages[1]["tool_calls"] == [{"name": "f", "arguments": {"x": 1}}]
    assert written(record)[0]["messages"][:-1] == chat


def test_text_of_parts_is_the_expected_answer() -> None:
    """Text in parts is gt, and the parts come back while gt is the same."""
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    row = {"messages": [user("q"), assistant_message(parts)]}
    record = CHAT.read(row)
    other = Record(prompt="q", gt="other", extra=record.extra)

    assert record.gt == "ab"
    assert written(record) == (row, {})
    assert written(other)[0]["messages"][-1] == assistant_message("other")
    assert written(other)[1] == {"extra.openai.messages.content": Outcome.DROPPED}


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/tram.png"}}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([{"type": "text", "text": "What is "}, {"type": "text", "text": "2+2?"}], 1),
        ([{"type": "text", "text": "What is 2+2?"}, IMAGE], 1),
        ([IMAGE], 0),
        ([], 0),
    ],
)
def test_parts_of_a_message_are_beside_its_text(parts: Any, text: int) -> None:
    """The content of a message in a record is text; its parts come back."""
    row = {"messages": [user(parts), assistant_message("4")]}
    record = CHAT.read(row)
    content = "What is 2+2?" if text else None

    assert record.messages == [{**user(content), "content_parts": parts}]
    assert written(record) == (row, {})


def test_parts_of_another_text_are_not_written() -> None:
    """Parts that do not have the text of their message are left out, and reported."""
    message = {**user("other"), "content_parts": [IMAGE]}

    row, outcomes = written(Record(messages=[message], gt="a"))

    assert row == {"messages": [user("other"), assistant_message("a")]}
    assert outcomes == {"messages": Outcome.MERGED, "prompt": Outcome.DEFAULTED}


@pytest.mark.parametrize("format_id", ["openai-chat", "openai-batch-input"])
def test_rows_with_parts_become_records_and_come_back(
    format_id: str, tmp_path: Path
) -> None:
    """What is read of a row with parts is a valid record, of which the row is made."""
    names = {"openai-chat": "parts-and-roles", "openai-batch-input": "responses"}
    path = ROOT / "fixtures" / format_id / "valid" / f"{names[format_id]}.jsonl"
    there, back = tmp_path / "records.jsonl", tmp_path / "rows.jsonl"

    convert(path, to="record", output=there)
    convert(there, to=format_id, output=back)

    assert validate(there, format="record").ok
    # The arguments of calls are written without spaces.
    given = path.read_bytes().replace(b"{ }", b"{}")
    assert [decode(line) for line in back.read_bytes().splitlines()] == [
        decode(line) for line in given.splitlines()
    ]


def test_reference_is_what_is_learnt() -> None:
    """Without gt the first reference is the last message, and that is reported."""
    row, outcomes = written(
        Record(prompt="q", references=["a", "b"]), references=References.FIRST
    )

    assert row == {"messages": [user("q"), assistant_message("a")]}
    assert outcomes == {"references": Outcome.MERGED, "gt": Outcome.DEFAULTED}


def test_tools_are_settings_and_others_are_dropped() -> None:
    """Only OpenAI's settings are written, where they have OpenAI's form."""
    params = {"tools": TOOLS, "temperature": 0, "functions": "f"}
    row, outcomes = written(Record(prompt="q", gt="a", params=params))

    assert row == {"messages": [user("q"), assistant_message("a")], "tools": TOOLS}
    dropped = {"params.temperature", "params.functions"}
    assert outcomes == dict.fromkeys(dropped, Outcome.DROPPED)
    assert CHAT.read(row).params == {"tools": TOOLS}


def test_conversation_with_calls_is_a_chat() -> None:
    """The turns of an answer become messages with calls in OpenAI's form."""
    turns = [
        user("q"),
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning": "r"},
        {"role": "tool", "content": "2", "tool_call_id": ["c1"]},
        assistant_message("done"),
    ]
    row, outcomes = written(Record(outputs=[Output(turns=turns)]))

    assert row["messages"] == [
        user("q"),
        {"role": "assistant", "content": None, "tool_calls": [ROW_CALL]},
        {"role": "tool", "content": "2", "tool_call_id": "c1"},
    ]
    assert outcomes["outputs.turns"] is Outcome.CHANGED


@pytest.mark.parametrize("role", ["human", "", None, 1])
def test_other_roles_are_refused(role: Any) -> None:
    """A message whose role OpenAI does not have cannot be written."""
    record = Record(messages=[{"role": role, "content": "q"}])

    with pytest.raises(Unconvertible, match="OpenAI knows system, developer"):
        written(record)


def test_better_answer_is_the_reference() -> None:
    """A preference has the better answer as its reference, and keeps the other one."""
    other = [assistant_message("Cusco.")]
    row = {
        "input": {"messages": [user("q")], "tools": TOOLS},
        "preferred_output": [assistant_message("Lima.")],
        "non_preferred_output": other,
    }
    record = PREFERENCE.read(row)

    assert (record.prompt, record.references) == ("q", ["Lima."])
    assert record.params == {"tools": TOOLS}
    assert record.extra == {"openai": {"non_preferred_output": other}}


def test_better_call_is_no_reference() -> None:
    """A preferred answer that is no text alone is kept as it is."""
    calls = [{"role": "assistant", "tool_calls": [ROW_CALL]}]
    asked = {"messages": [user("q")]}
    row = {"input": asked, "preferred_output": calls, "non_preferred_output": calls}
    record = PREFERENCE.read(row)

    assert record.references is UNSET
    assert record.extra == {
        "openai": {"non_preferred_output": calls, "preferred_output": calls}
    }


@pytest.mark.corpora
def test_chats_of_the_cookbook() -> None:
    """OpenAI's own examples have 3, 9, 2 and 2 messages, the last one no user's."""
    records = neighbour("toy_chat_fine_tuning.first4.jsonl")
    counts = [len(written(record)[0]["messages"]) for record in records]
    last = written(records[3])[0]["messages"]

    assert counts == [3, 9, 2, 2]
    assert "user" not in [message["role"] for message in last]


@pytest.mark.corpora
def test_tools_of_the_documented_shape() -> None:
    """The example with a tool has 4 messages, and its call the city Lima."""
    (record,) = neighbour("fine_tuning_tools.jsonl")
    assert record.messages
    (call,) = record.messages[1]["tool_calls"]

    assert len(record.messages) + 1 == 4
    assert call["arguments"] == {"city": "Lima"}
    assert record.gt == "It is 18 degrees in Lima."


@pytest.mark.corpora
def test_preference_of_the_documented_shape() -> None:
    """The example prefers Lima to Cusco."""
    (record,) = neighbour("preference.jsonl")
    assert record.extra

    assert record.references == ["Lima."]
    (other,) = record.extra["openai"]["non_preferred_output"]
    assert "Cusco" in other["content"]


@pytest.mark.parametrize("to", ["nemo-input", "eee@0.3.0", "tencent-messages"])
def test_chats_become_the_formats_of_others(to: str) -> None:
    """Examples are written in other vendors' formats; what they lose is reported."""
    path = FIXTURES / "openai-chat" / "valid" / "tools-and-weights.jsonl"
    output = BytesIO()
    answer = {"outputs.model": "m", "outputs.text": "a", "references": ["r"]}
    score = {"evaluation_id": "e", "evaluation_name": "n", "score": 1}
    constants = {**answer, **score, "is_correct": True}
    report = convert(path, to=to, output=output, constants=constants)

    assert report.written
    assert not report.lossless
    assert validate(output.getvalue(), format=to).ok


def test_bare_functions_become_tools() -> None:
    """A tool without a type is written as OpenAI asks, and that is reported."""
    bare = {"name": "add", "parameters": {"type": "object"}}
    record = {"prompt": "2 + 3?", "references": ["5"], "params": {"tools": [bare]}}
    output = BytesIO()
    data = json.dumps({**record, "outputs": []}).encode()
    report = convert(data, to="openai-chat", output=output)
    row = json.loads(output.getvalue())
    assert row["tools"] == [{"type": "function", "function": bare}]
    assert "params.tools" in {
        outcome.path for outcome in report.losses[0].losses.counts
    }


def test_answers_not_preferred_are_no_part_of_an_example() -> None:
    """A chat has no key for an answer that is not preferred; its loss is reported."""
    (file,) = (FIXTURES / "openai-preference" / "valid").glob("*.jsonl")
    output = BytesIO()
    report = convert(file, to="openai-chat", output=output)
    assert b"non_preferred_output" not in output.getvalue()
    lost = {outcome.path for outcome in report.losses[0].losses.counts}
    assert "extra.openai.non_preferred_output" in lost
