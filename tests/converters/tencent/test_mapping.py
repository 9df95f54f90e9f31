"""What Tencent's rows are as records, and what records are as Tencent's rows."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.tencent.conversations import (
    read_answers,
    read_any_answers,
    write_answers,
    write_any_chat,
    write_chat,
)
from harpia_converters.tencent.mapping import (
    MANUAL,
    MESSAGES,
    OUTPUTS,
    TABLE,
    any_turns,
)
from harpia_formats import Output, Record
from harpia_formats.api.testing import records
from harpia_formats.api.testing.strategies import (
    EXTRA as ANY_EXTRA,
)
from harpia_formats.api.testing.strategies import (
    OUTPUTS as ANY_OUTPUTS,
)
from harpia_formats.api.testing.strategies import (
    TEXTS,
    VALUES,
    some,
)
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import BLANK
from harpia_formats.plugins import FieldOutcomes, FormatAdapter, Row, Unconvertible

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


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_every_field_has_a_place(adapter: FormatAdapter) -> None:
    """Each field of a record that is read is one that the mapping names."""
    carried = {each.record_path for each in adapter.fields}

    assert all(adapter.carries(each) for each in carried)
    assert not adapter.carries("params.seed")
    assert not adapter.carries("metadata")


#: Extra keys of a row that a record keeps, those of its last answer among them.
KEPT_OF_CHAT = some(
    messages=VALUES | st.dictionaries(TEXTS, VALUES, max_size=2), other=VALUES
) | st.just({"messages": {"role": "x"}})
ODD_ANSWERS = st.builds(
    lambda output, extra: replace(output, extra=extra),
    ANY_OUTPUTS,
    st.just(UNSET)
    | ANY_EXTRA
    | some(
        model_name=VALUES, responses=VALUES | some(content=VALUES, x=VALUES), x=VALUES
    ).map(lambda kept: {"tencent": kept}),
)
NEXT = Output(model="another model", text="b")


def result_or_error(function: Any, *given: Any) -> tuple[Any, Any]:
    """Return what a function returns or raises for `given`, and its outcomes."""
    outcomes = FieldOutcomes()
    try:
        made = encode(function(*given, outcomes))
    except Unconvertible as error:
        made = str(error).encode()
    return made, outcomes.entries


@given(records(), KEPT_OF_CHAT)
def test_chats_are_written_alike(record: Record, kept: dict[str, Any]) -> None:
    """A prompt that is written straight is what any chat becomes, with its outcomes."""
    short, long = dict(kept), dict(kept)

    assert result_or_error(write_chat, record, short) == result_or_error(
        write_any_chat, record, long
    )
    assert encode(short) == encode(long)


@given(records())
def test_turns_are_written_alike(record: Record) -> None:
    """A prompt that is written straight is what any question becomes, with outcomes."""
    bare = replace(record, extra=UNSET)

    def row_of(record: Record, outcomes: FieldOutcomes) -> dict[str, Any]:
        system, turns = any_turns(record, outcomes)
        return {
            **({} if system is UNSET else {"system": system}),
            "conversation": turns,
        }

    assert result_or_error(MANUAL.writer, bare) == result_or_error(row_of, bare)


@given(ODD_ANSWERS)
def test_only_answers_are_written_alike(output: Output) -> None:
    """The entry of an answer is the same next to one of another model, and alone."""
    alone, outcomes = result_or_error(write_answers, [output])
    with_others, others = result_or_error(
        lambda *given: write_answers(*given)[:1], [output, NEXT]
    )

    assert (alone, outcomes) == (with_others, others)


@given(
    st.fixed_dictionaries({"model_name": TEXTS}, optional={"x": VALUES}),
    st.fixed_dictionaries(
        {"content": TEXTS}, optional={"reasoning_content": TEXTS, "x": VALUES}
    ),
)
def test_only_answers_are_read_alike(
    entry: dict[str, Any], response: dict[str, Any]
) -> None:
    """The answer of an entry is the same next to one of another model, and alone."""
    given_ = {**entry, "responses": [response]}
    other = {"model_name": f"{entry['model_name']}!", "responses": [{"content": "b"}]}

    assert read_answers([given_]) == read_answers([given_, other])[:1]


@pytest.mark.parametrize("role", [[], {}, None, 1])
def test_turns_without_a_role_are_refused(role: Any) -> None:
    """A turn whose role is no text cannot be a message."""
    record = Record(prompt="q", outputs=[Output(turns=[{"role": role}])])

    with pytest.raises(Unconvertible, match="a message has no role"):
        RecordMapper(MESSAGES, Choices()).map(record)


RESPONSES = st.builds(
    lambda text, more: {"content": text, **more},
    TEXTS,
    st.just({}) | st.just({"reasoning_content": "r"}) | some(x=VALUES, y=VALUES),
)
ENTRIES = st.builds(
    lambda model, responses, more: {
        "model_name": model,
        "responses": responses,
        **more,
    },
    st.sampled_from(["a", "b"]),
    st.lists(RESPONSES, max_size=3),
    st.just({}) | some(x=VALUES),
)


@given(st.lists(ENTRIES, max_size=4))
def test_entries_are_read_alike(entries: list[dict[str, Any]]) -> None:
    """Entries that are read one by one are what any entries are read as."""
    assert read_answers(entries) == read_any_answers(entries)
