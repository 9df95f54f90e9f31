"""What Tencent's rows are as records, and what records are as Tencent's rows."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from cases import for_each_case
from corpora import CORPORA
from effort import examples
from harpia_converters.tencent.mapping import MANUAL, MESSAGES, OUTPUTS, TABLE
from harpia_formats.api.testing.strategies import TEXTS, VALUES, some
from harpia_formats.conversion.comparison.differences import differences
from harpia_formats.conversion.mapping.choices import Choices, References
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import (
    BLANK,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
from harpia_formats.model.record import Output, Record

ROOT = Path(__file__).parents[3]
WHOLE_TABLE = TABLE.with_own_extra or TABLE
ADAPTERS = {
    "tencent-messages": MESSAGES,
    "tencent-outputs": OUTPUTS,
    "tencent-manual": MANUAL,
    "tencent-csv": WHOLE_TABLE,
}
FIXTURES = sorted((ROOT / "fixtures").glob("tencent-*/valid/*"))
#: The order in which Tencent's pages have the keys of a row; settings stand before
#: `model_outputs`, in any order.
DOCUMENTED = {
    "tencent-messages": "messages ref_answer id",
    "tencent-outputs": "messages ref_answer id model_outputs",
    "tencent-manual": "system conversation",
    "tencent-csv": "system prompt response",
}
SETTINGS = ("max_tokens", "temperature", "top_p", "top_k")
USER = {"role": "user", "content": "Quanto é 7 + 5?"}
SYSTEM = {"role": "system", "content": "请简短回答。"}
ANSWER = {"role": "assistant", "content": "12"}
NAMED = {**USER, "name": "Inês"}
ASKED: dict[str, Any] = {"prompt": "q"}


def rows_in(path: Path) -> list[Row]:
    """Return the rows of a file, in the dialect that it is in."""
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        return [dict(each) for each in csv.DictReader(io.StringIO(text, newline=""))]
    if path.suffix == ".jsonl":
        return [decode(each) for each in text.splitlines()]
    value = decode(text)
    return value if isinstance(value, list) else [value]


def written(
    record: Record, adapter: FormatAdapter
) -> tuple[Row, list[tuple[str, str]]]:
    """Return the row for `record` and its recorded losses, as their outcomes and paths.

    A blank cell that every row has is left out: it is read as none.
    """
    outcomes = FieldOutcomes()
    row = adapter.writer(record, outcomes)
    entries = [each for each in outcomes.entries if each.how != BLANK]
    return row, [(each.outcome.name.lower(), each.path) for each in entries]


def as_plain_values(record: Record) -> Any:
    """Return the fields of a record as plain values."""
    return to_builtins(record)


def check_returns(name: str, row: Row) -> None:
    """Assert that `row` is the same again once it was a record, and in order."""
    adapter = ADAPTERS[name]
    back, outcomes = written(adapter.read(row), adapter)
    fixed = [key for key in DOCUMENTED[name].split() if key in row]

    assert outcomes == []
    assert texts_of(back) == texts_of(row)
    assert [key for key in back if key in fixed] == fixed
    assert not set(list(back)[: len(fixed)]) - {*fixed, *SETTINGS}


def texts_of(row: Row) -> dict[str, bytes]:
    """Return the JSON of each member of a row."""
    return {key: encode(each) for key, each in row.items()}


def cells(row: Row) -> Row:
    """Return a row of a table as it is documented: with a cell for the system."""
    return {
        "system": "",
        **(TABLE.dialect_normalizers["answer"](row) if is_alias(row) else row),
    }


def is_alias(row: Row) -> bool:
    """Tell whether a row of a table is in the dialect `answer`."""
    return "answer" in row and "response" not in row


def name_of(path: Path) -> str:
    """Return what a file is called in the output of the tests."""
    return f"{path.parent.parent.name}/{path.stem}"


@for_each_case("path", FIXTURES, ids=name_of)
def test_rows_come_back(path: Path) -> None:
    """A row is the same again once it was a record, but for what is tolerated."""
    name = path.parent.parent.name
    rows = rows_in(path)

    for each in rows:
        check_returns(name, cells(each) if name == "tencent-csv" else each)

    assert rows


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("tencent_eval_only.jsonl", "tencent-outputs"),
        ("tencent_infer_eval.jsonl", "tencent-messages"),
        ("tencent_legacy.jsonl", "tencent-manual"),
        ("tencent_legacy.csv", "tencent-csv"),
    ],
)
def test_rows_of_the_corpus_come_back(file: str, name: str) -> None:
    """The small examples of the corpus are the same again once they were records."""
    for each in rows_in(CORPORA / "harpia" / file):
        check_returns(name, each)


@for_each_case(
    "chat, expected",
    [
        ([USER], {"prompt": USER["content"]}),
        ([SYSTEM, USER], {"system": SYSTEM["content"], "prompt": USER["content"]}),
        ([USER, ANSWER], {"prompt": USER["content"], "gt": "12"}),
        ([NAMED], {"messages": [NAMED]}),
        ([SYSTEM], {"messages": [SYSTEM]}),
        ([ANSWER], {"messages": [], "gt": "12"}),
        ([USER, SYSTEM], {"messages": [USER, SYSTEM]}),
        ([USER, ANSWER, USER], {"messages": [USER, ANSWER, USER]}),
        ([SYSTEM, USER, USER, ANSWER], {"messages": [SYSTEM, USER, USER], "gt": "12"}),
        (
            [USER, {**ANSWER, "refusal": None}],
            {
                "prompt": USER["content"],
                "gt": "12",
                "extra": {"tencent": {"messages": {"refusal": None}}},
            },
        ),
    ],
    ids=lambda each: (
        "-".join(m["role"] for m in each) if isinstance(each, list) else ""
    ),
)
def test_chats_are_read(chat: list[Row], expected: Row) -> None:
    """A single question is a prompt, any other chat is messages, without the gt."""
    record = MESSAGES.read({"messages": chat})

    assert as_plain_values(record) == {**expected, "outputs": []}


def test_gt_and_reference_stay_apart() -> None:
    """The last message of the assistant is gt, and ref_answer is the reference."""
    record = MESSAGES.read({"messages": [USER, ANSWER], "ref_answer": "doze"})

    assert (record.gt, record.references) == ("12", ["doze"])


@for_each_case(
    "row, expected",
    [
        ({"id": "a"}, {"id": "a"}),
        ({"id": 10**30}, {"id": 10**30}),
        ({"id": None}, {"extra": {"tencent": {"id": None}}}),
        ({"id": 1.0}, {"extra": {"tencent": {"id": 1.0}}}),
        ({"id": True}, {"extra": {"tencent": {"id": True}}}),
        (
            {"top_k": 50, "max_tokens": 8},
            {"params": {"top_k": 50, "max_tokens": 8}},
        ),
        ({"temperature": None}, {"params": {"temperature": None}}),
        ({"seed": 7}, {"extra": {"tencent": {"seed": 7}}}),
    ],
)
def test_other_fields_are_read(row: Row, expected: Row) -> None:
    """An id and four settings are fields; what else a user gives is kept too."""
    record = MESSAGES.read({"messages": [USER], **row})

    assert as_plain_values(record) == {
        "prompt": USER["content"],
        **expected,
        "outputs": [],
    }


def test_answers_are_read() -> None:
    """Each response is an output, with its place where its model has several."""
    row = {
        "messages": [USER],
        "model_outputs": [
            {"model_name": "a", "responses": [{"content": "1"}, {"content": "2"}]},
            {
                "model_name": "b",
                "responses": [{"content": "3", "reasoning_content": "", "stop": 1}],
                "version": 2,
            },
        ],
    }
    outputs = OUTPUTS.read(row).outputs

    assert outputs == [
        Output(model="a", index=0, text="1"),
        Output(model="a", index=1, text="2"),
        Output(
            model="b",
            text="3",
            reasoning="",
            extra={"tencent": {"version": 2, "responses": {"stop": 1}}},
        ),
    ]


def test_turns_are_read() -> None:
    """The last response is the reference, and several prompts are a chat."""
    row = {
        "system": "s",
        "conversation": [
            {"prompt": "1", "response": "2"},
            {"prompt": "3", "response": "4", "weight": 0.5},
        ],
        "level": 1,
    }
    record = MANUAL.read(row)

    assert as_plain_values(record) == {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "1"},
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": "3"},
        ],
        "references": ["4"],
        "extra": {"tencent": {"level": 1, "conversation": [{}, {"weight": 0.5}]}},
        "outputs": [],
    }


def test_blank_system_is_none() -> None:
    """A blank cell is no system input, and the column `answer` is `response`."""
    record = TABLE.read(
        TABLE.dialect_normalizers["answer"]({"system": "", **ASKED, "answer": "r"})
    )

    assert record == Record(prompt="q", references=["r"])


@for_each_case(
    "record, chat, outcomes",
    [
        ({"prompt": "q"}, "user q", []),
        ({"prompt": "q", "system": ""}, "system |user q", []),
        ({"prompt": "q", "gt": "a"}, "user q|assistant a", []),
        ({"messages": "user q"}, "user q", ["merged messages", "defaulted prompt"]),
        (
            {"messages": "user q", "prompt": "q", "system": "s"},
            "system s|user q",
            ["merged messages"],
        ),
        (
            {"messages": "user q|user r", "prompt": "p", "system": "s"},
            "system s|user q|user r",
            ["dropped prompt", "merged system", "changed messages"],
        ),
        (
            {"messages": "system t|user q|user r", "prompt": "r", "system": "s"},
            "system t|user q|user r",
            ["merged prompt", "dropped system"],
        ),
        (
            {"messages": "system t|user q", "prompt": "p", "system": "s"},
            "system t|user q",
            ["changed prompt", "changed system", "merged messages"],
        ),
        (
            {"messages": "tool x|assistant a"},
            "tool x|assistant a",
            ["changed messages", "defaulted gt"],
        ),
        (
            {"messages": "tool x|assistant a", "gt": "b"},
            "tool x|assistant a|assistant b",
            [],
        ),
        ({"messages": [], "prompt": "q"}, "user q", ["dropped messages"]),
        ({"messages": [], "gt": "a"}, "assistant a", []),
        (
            {"messages": [{"role": "tool"}, {"role": "user", "content": None}]},
            "tool |user ",
            ["changed messages"],
        ),
    ],
)
def test_chats_are_written(record: Row, chat: str, outcomes: list[str]) -> None:
    """What is asked becomes a chat with the gt behind it, and a change is recorded."""
    if isinstance(record.get("messages"), str):
        record = {**record, "messages": chat_of(record["messages"])}
    row, recorded = written(Record(**record), MESSAGES)

    assert row == {"messages": chat_of(chat)}
    assert sorted(" ".join(each) for each in recorded) == sorted(outcomes)


def chat_of(text: str) -> list[Row]:
    """Return the messages of a text such as `user question|assistant answer`."""
    pairs = (each.split(" ", 1) for each in text.split("|"))
    return [{"role": role, "content": content} for role, content in pairs]


def test_key_of_another_field_is_noted() -> None:
    """What was kept under a key that is a field in the target goes there, or not."""
    kept = {"temperature": 1, "id": "x", "messages": 3, "model_outputs": []}
    row, recorded = written(Record(**ASKED, id=7, extra={"tencent": kept}), MESSAGES)

    assert row == {"messages": [{"role": "user", "content": "q"}], "id": 7} | {
        "temperature": 1
    }
    assert recorded == [
        ("merged", "extra.tencent.temperature"),
        ("defaulted", "params.temperature"),
        ("dropped", "extra.tencent.id"),
        ("dropped", "extra.tencent.messages"),
        ("dropped", "extra.tencent.model_outputs"),
    ]


def test_answers_of_a_model_go_into_one_entry() -> None:
    """Answers of a model in succession are one entry, and get their places."""
    outputs = [
        Output(model="a", text="1"),
        Output(model="a", text=None, reasoning=None, index=5),
        Output(model="b", text="3", index=0),
        Output(model="a", text="4"),
    ]
    row, recorded = written(Record(**ASKED, outputs=outputs), OUTPUTS)

    assert row["model_outputs"] == [
        {"model_name": "a", "responses": [{"content": "1"}, {"content": ""}]},
        {"model_name": "b", "responses": [{"content": "3"}]},
        {"model_name": "a", "responses": [{"content": "4"}]},
    ]
    assert recorded == [
        ("defaulted", "outputs.index"),
        ("changed", "outputs.index"),
        ("changed", "outputs.text"),
        ("null", "outputs.reasoning"),
        ("dropped", "outputs.index"),
    ]


def test_entries_with_different_extra_fields_stay_separate() -> None:
    """Answers of a model stay in separate entries if their extra fields differ."""
    entries = [
        {"model_name": "a", "responses": [{"content": "1"}], "version": version}
        for version in (1, 1.0, decode("1e0"))
    ]
    row = {"messages": [USER], "model_outputs": entries}
    back, recorded = written(OUTPUTS.read(row), OUTPUTS)

    assert encode(back) == encode(row)
    assert recorded == []


def test_two_entries_of_one_model_become_one() -> None:
    """Entries of a model in succession are read as one, and written as one."""
    entry = {"model_name": "a", "responses": [{"content": "1"}]}
    row = {"messages": [USER], "model_outputs": [entry, entry]}
    back, recorded = written(OUTPUTS.read(row), OUTPUTS)

    assert back["model_outputs"] == [{**entry, "responses": [{"content": "1"}] * 2}]
    assert recorded == []


def test_keys_of_answers_are_not_overwritten() -> None:
    """What was kept of an answer does not take the place of its fields."""
    kept = {"model_name": 1, "responses": {"content": 2, "stop": 3}}
    output = Output(model="a", text="t", extra={"tencent": kept})
    row, recorded = written(Record(**ASKED, outputs=[output]), OUTPUTS)

    assert row["model_outputs"] == [
        {"model_name": "a", "responses": [{"content": "t"}]}
    ]
    assert recorded == [
        ("dropped", "outputs.extra.tencent.model_name"),
        ("dropped", "outputs.extra.tencent.responses"),
    ]


def test_record_without_answers_has_none() -> None:
    """A record without outputs becomes a row with an empty list of them."""
    row, recorded = written(Record(**ASKED), OUTPUTS)

    assert row["model_outputs"] == []
    assert recorded == []


@for_each_case(
    "record, turns, outcomes",
    [
        ({"prompt": "q"}, ["q", "r"], []),
        ({"messages": "user 1|assistant 2|user 3"}, ["1", "2", "3", "r"], []),
        ({"messages": "user q"}, ["q", "r"], ["merged messages", "defaulted prompt"]),
        (
            {"messages": "user 1|user 2", "prompt": "p"},
            ["2", "r"],
            ["changed messages", "changed prompt"],
        ),
        (
            {"messages": "user 1|assistant 2"},
            ["1", "r"],
            ["changed messages", "defaulted prompt"],
        ),
        ({"messages": "tool x", "prompt": "p"}, ["p", "r"], ["changed messages"]),
        (
            {"messages": "tool x"},
            ["x", "r"],
            ["changed messages", "defaulted prompt"],
        ),
        (
            {"messages": [NAMED, ANSWER, USER]},
            [USER["content"], "12", USER["content"], "r"],
            ["changed messages"],
        ),
        (
            {"messages": [dict(reversed(USER.items())), ANSWER, USER]},
            [USER["content"], "12", USER["content"], "r"],
            ["changed messages"],
        ),
        (
            {"messages": [USER, {"role": "assistant", "content": None}, USER]},
            [USER["content"], "", USER["content"], "r"],
            ["changed messages"],
        ),
        ({"prompt": "q", "gt": "g"}, ["q", "r"], ["dropped gt"]),
        (
            {"prompt": "q", "gt": "g", "references": UNSET},
            ["q", "g"],
            ["merged gt", "defaulted references"],
        ),
        (
            {"prompt": "q", "gt": "g", "references": []},
            ["q", "g"],
            ["merged gt", "changed references"],
        ),
    ],
)
def test_turns_are_written(record: Row, turns: list[str], outcomes: list[str]) -> None:
    """A chat that takes turns is a conversation, and any other is cut to a prompt."""
    if isinstance(record.get("messages"), str):
        record = {**record, "messages": chat_of(record["messages"])}
    row, recorded = written(Record(**{"references": ["r"], **record}), MANUAL)

    assert row == {
        "conversation": [
            {"prompt": prompt, "response": response}
            for prompt, response in zip(turns[::2], turns[1::2], strict=True)
        ]
    }
    assert sorted(" ".join(each) for each in recorded) == sorted(outcomes)


@pytest.mark.parametrize(
    ("record", "system", "outcomes"),
    [
        ({"messages": "system s|user q"}, "s", ["merged messages", "defaulted system"]),
        ({"messages": "system s|user 1|assistant 2|user 3"}, "s", []),
        (
            {"messages": "user 1|assistant 2|user 3", "system": "s"},
            "s",
            ["changed messages", "merged system"],
        ),
        (
            {"messages": "system s|user 1|assistant 2|user 3", "system": "t"},
            "s",
            ["dropped system"],
        ),
    ],
)
def test_system_message_is_the_system_input(
    record: Row, system: str, outcomes: list[str]
) -> None:
    """A message of the system in front is the system input of a conversation."""
    record = {**record, "messages": chat_of(record["messages"])}
    row, recorded = written(Record(**record, references=["r"]), MANUAL)

    assert list(row) == ["system", "conversation"]
    assert row["system"] == system
    assert {" ".join(each) for each in recorded} - {"defaulted prompt"} == set(outcomes)


@for_each_case("others", [3, [], [{}], [{"a": 1}, {}], [{"prompt": 1}], [7]])
def test_extra_fields_of_unknown_turns_are_dropped(others: Any) -> None:
    """Extra fields of turns that the record does not have are dropped."""
    record = Record(
        **ASKED, references=["r"], extra={"tencent": {"conversation": others}}
    )
    row, recorded = written(record, MANUAL)

    assert row == {"conversation": [{"prompt": "q", "response": "r"}]}
    assert recorded == [("dropped", "extra.tencent.conversation")]


def test_cells_are_text() -> None:
    """A table gets what was kept as text only, and blank says that there is none."""
    kept = {"level": "1", "weight": 2, "prompt": "p"}
    record = Record(**ASKED, system="", references=["r"], extra={"tencent": kept})
    row, recorded = written(record, WHOLE_TABLE)

    assert row == {"system": "", "prompt": "q", "response": "r", "level": "1"}
    assert recorded == [
        ("changed", "system"),
        ("dropped", "extra.tencent.weight"),
        ("dropped", "extra.tencent.prompt"),
    ]


@for_each_case(
    "adapter, record, path, cure",
    [
        (MESSAGES, {}, "prompt", "`--set prompt=VALUE`"),
        (MESSAGES, {"gt": "a"}, "prompt", "`--set prompt=VALUE`"),
        (MESSAGES, {"messages": []}, "prompt", "`--set prompt=VALUE`"),
        (MESSAGES, {"messages": [{"role": "user", "content": []}]}, "messages", ""),
        (MESSAGES, {"messages": [{"content": "a"}]}, "messages", ""),
        (
            OUTPUTS,
            {**ASKED, "outputs": [Output(text="")]},
            "outputs.model",
            "`--set model_name=VALUE`",
        ),
        (
            OUTPUTS,
            {**ASKED, "outputs": [Output(model="")]},
            "outputs.text",
            "`--set content=VALUE`",
        ),
        (MANUAL, {}, "prompt", "`--set prompt=VALUE`"),
        (MANUAL, {"messages": []}, "prompt", "`--set prompt=VALUE`"),
        (MANUAL, ASKED, "references", "`--set response=VALUE`"),
        (MANUAL, {**ASKED, "references": []}, "references", "`--set response=VALUE`"),
        (TABLE, {}, "prompt", "`--set prompt=VALUE`"),
        (TABLE, ASKED, "references", "`--set response=VALUE`"),
    ],
)
def test_missing_field_is_an_error_with_help(
    adapter: FormatAdapter, record: Row, path: str, cure: str
) -> None:
    """A record without a field that a row requires is refused, with help."""
    with pytest.raises(Unconvertible) as raised:
        adapter.writer(Record(**record), FieldOutcomes())

    assert raised.value.path == path
    assert raised.value.help.endswith(cure)


@pytest.mark.parametrize("adapter", [MESSAGES, OUTPUTS])
def test_no_reference_is_noted(adapter: FormatAdapter) -> None:
    """An empty list of references is not written, and that is recorded as a loss."""
    row, recorded = written(Record(**ASKED, references=[]), adapter)

    assert "ref_answer" not in row
    assert recorded == [("dropped", "references")]


@pytest.mark.parametrize("adapter", [MESSAGES, OUTPUTS, MANUAL])
def test_turns_of_an_answer_are_taken_once(adapter: FormatAdapter) -> None:
    """Turns that are a single question are a prompt, in each row that comes of them."""
    output = Output(model="m", turns=[USER, ANSWER])
    record = Record(references=["r", "s"], outputs=[output])
    choices = Choices(references=References.EXPAND)
    result = RecordMapper(adapter, choices).map(record)

    assert [adapter.read(each).prompt for each in result.rows] == [USER["content"]] * 2
    assert {each.path for each in result.outcomes} & {"prompt", "messages"} == {
        "prompt"
    }


MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant"]), "content": TEXTS},
    optional={"name": VALUES},
)
#: Keys that are a field in some row, and one that is not.
OTHERS = some(
    **dict.fromkeys(
        "messages conversation system prompt response ref_answer model_outputs id "
        "responses content model_name temperature a".split(),
        VALUES,
    )
)
KEPT = st.builds(
    lambda own, inner: {**own, **inner},
    OTHERS,
    some(
        messages=OTHERS.filter(bool),
        responses=OTHERS.filter(bool),
        conversation=st.lists(OTHERS, max_size=2),
    ),
)
EXTRA = KEPT.filter(bool).map(lambda kept: {"tencent": kept})
ANSWER_FIELDS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"model": st.sampled_from(["a", "b"]), "text": TEXTS | st.none()},
    optional={
        "index": st.integers(0, 2),
        "reasoning": TEXTS | st.none(),
        "extra": EXTRA | st.just({"tencent": {"a": 1}}),
    },
)
ANSWERS = ANSWER_FIELDS.map(lambda given: Output(**given))
FIELDS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"references": st.lists(TEXTS, min_size=1, max_size=1)},
    optional={
        "id": TEXTS | st.integers(),
        "prompt": TEXTS,
        "system": TEXTS,
        "messages": st.lists(MESSAGE, max_size=4),
        "gt": TEXTS,
        "params": st.dictionaries(st.sampled_from(SETTINGS), VALUES, min_size=1),
        "extra": EXTRA,
        "outputs": st.lists(ANSWERS, max_size=4),
    },
)
RECORDS = FIELDS.map(lambda given: Record(**given))


def what_is_held(record: Record, adapter: FormatAdapter) -> Record:
    """Return `record` with what the rows of `adapter` have any place for."""
    if not record.messages and record.prompt is UNSET:
        record = replace(record, prompt="q")
    if adapter is WHOLE_TABLE:
        record = replace(record, messages=UNSET, prompt=record.prompt or "q")
    if adapter in (MANUAL, WHOLE_TABLE):
        record = replace(record, id=UNSET, params=UNSET)
    return record if adapter is OUTPUTS else replace(record, outputs=[])


@pytest.mark.parametrize("name", ADAPTERS)
@examples(10)
@given(record=RECORDS)
def test_every_difference_is_recorded_as_a_loss(name: str, record: Record) -> None:
    """A field of a record is changed if and only if its loss is recorded."""
    adapter = ADAPTERS[name]
    record = what_is_held(record, adapter)
    row, recorded = written(record, adapter)
    found = {each.path for each in differences(record, adapter.read(row))}

    assert {path for _, path in recorded} == found
    assert list(faults_in(row, name)) == []


def faults_in(row: Row, name: str) -> Iterator[str]:
    """Yield what is wrong with a row that is of the documented dialect."""
    schema = record_schema(all_formats()[name].dialects[0])
    plain = json.loads(encode(row))
    yield from (str(each) for each in schema_validator_of(schema).iter_errors(plain))


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_every_field_has_a_place(adapter: FormatAdapter) -> None:
    """Each field of a record that is read is one that the mapping names."""
    carried = {each.record_path for each in adapter.fields}

    assert all(adapter.carries(each) for each in carried)
    assert not adapter.carries("params.seed")
    assert not adapter.carries("metadata")


@pytest.mark.parametrize(
    ("source", "row", "target", "lost"),
    [
        (
            MESSAGES,
            {
                "messages": [
                    {"role": "user", "content": "q"},
                    {"role": "assistant", "content": "a", "weight": 1},
                ]
            },
            MANUAL,
            "messages",
        ),
        (
            MANUAL,
            {"conversation": [{"prompt": "q", "response": "a", "note": 1}]},
            MESSAGES,
            "conversation",
        ),
        (
            OUTPUTS,
            {
                "messages": [{"role": "user", "content": "q"}],
                "model_outputs": [{"model_name": "m", "responses": [{"content": "a"}]}],
                "outputs": [{"note": 1}],
            },
            MESSAGES,
            "outputs",
        ),
    ],
)
def test_kept_keys_without_their_place_are_lost(
    source: FormatAdapter, row: dict[str, Any], target: FormatAdapter, lost: str
) -> None:
    """Keys of a message or of a turn, or of an answer, are none of another row."""
    outcomes = FieldOutcomes()
    assert target.write is not None
    written = target.write(source.read(row), outcomes)

    assert "weight" not in str(written)
    assert "note" not in str(written)
    assert lost not in written
    assert (Outcome.DROPPED, f"extra.tencent.{lost}") in {
        (each.outcome, each.path) for each in outcomes.entries
    }
