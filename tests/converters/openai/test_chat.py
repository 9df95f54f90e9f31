"""Examples for fine-tuning as records, and records as examples."""

from io import BytesIO
from pathlib import Path

import pytest

from corpora import CORPORA
from harpia_formats import Record, convert, detect, read, validate, write
from json_lines import jsonl, jsonl_rows

ROOT = Path(__file__).parents[3]
EXAMPLES = CORPORA / "neighbours" / "openai"


def neighbour(name: str) -> list[Record]:
    """Return the records of a file of the corpus."""
    path = EXAMPLES / name
    (found,) = detect(path)
    named = None if found.confidence == 1.0 else "openai-chat"
    return list(read(path, format=named))


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
    assert jsonl_rows(back) == jsonl_rows(given)


@pytest.mark.corpora
def test_chats_of_the_cookbook() -> None:
    """OpenAI's own examples have 3, 9, 2 and 2 messages, the last one no user's."""
    output = BytesIO()
    write(
        neighbour("toy_chat_fine_tuning.first4.jsonl"), to="openai-chat", output=output
    )
    chats = [row["messages"] for row in jsonl_rows(output.getvalue())]
    counts, last = [len(each) for each in chats], chats[3]

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


def test_keys_of_the_last_message_are_reported_in_their_order() -> None:
    """The table of losses is the same in each process: it names them as they stand."""
    keys = ["name", "alpha", "beta", "gamma", "delta", "refusal"]
    answer = {"role": "assistant", "content": "a", **dict.fromkeys(keys, "x")}
    row = {"messages": [{"role": "user", "content": "q"}, answer], "outputs": []}

    report = convert(jsonl(row), from_="record", to="openai-chat", output=BytesIO())

    start = "extra.openai.messages."
    fields = [str(one["field"]) for one in report.table()]
    assert [name.removeprefix(start) for name in fields if start in name] == keys
