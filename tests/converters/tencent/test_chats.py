"""The short ways of common chats and answers give what the long ones do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.tencent.conversations import (
    read_answers,
    read_any_answers,
    write_answers,
    write_any_chat,
    write_chat,
)
from harpia_converters.tencent.mapping import MANUAL, MESSAGES, any_turns
from harpia_formats import Output, Record
from harpia_formats.api.testing import records
from harpia_formats.api.testing.strategies import EXTRA, OUTPUTS, TEXTS, VALUES, some
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import FieldOutcomes, Unconvertible

#: Extra keys of a row that a record keeps, those of its last answer among them.
KEPT = some(
    messages=VALUES | st.dictionaries(TEXTS, VALUES, max_size=2), other=VALUES
) | st.just({"messages": {"role": "x"}})
ANSWERS = st.builds(
    lambda output, extra: replace(output, extra=extra),
    OUTPUTS,
    st.just(UNSET)
    | EXTRA
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


@given(records(), KEPT)
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


@given(ANSWERS)
def test_only_answers_are_written_alike(output: Output) -> None:
    """The entry of an answer is the same next to one of another model, and alone."""
    alone, outcomes = result_or_error(write_answers, [output])
    beside, others = result_or_error(
        lambda *given: write_answers(*given)[:1], [output, NEXT]
    )

    assert (alone, outcomes) == (beside, others)


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
