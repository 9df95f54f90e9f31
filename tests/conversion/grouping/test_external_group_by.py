"""Merge records that have the same prompt or id."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from harpia_formats.conversion import record_groups as external_group_by
from harpia_formats.conversion.mapping.questions import QUESTION_FIELDS
from harpia_formats.conversion.record_groups import (
    ExternalGroupBy,
    MergedRecord,
)
from harpia_formats.model.field_outcomes import Outcome
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS, Output, Record
from harpia_formats.validation.dedup import item_partitions


def grouped(key: str, records: list[Record]) -> list[MergedRecord]:
    """Return the merged records of each group; a place is the number of a record."""
    groups = ExternalGroupBy(key)
    for number, record in enumerate(records):
        groups.add(record, str(number).encode())
    assert list(groups.conflicts()) == []
    found = list(groups.groups())
    groups.close()
    return found


def conflicting(key: str, records: list[Record]) -> list[tuple[bytes, bytes]]:
    """Return the places of the records that cannot be grouped, with the earlier one."""
    groups = ExternalGroupBy(key)
    for number, record in enumerate(records):
        groups.add(record, str(number).encode())
    found = [(each.first_place, each.second_place) for each in groups.conflicts()]
    groups.close()
    return found


def answered(prompt: str, text: str, **more: object) -> Record:
    """Return a record with one answer."""
    return Record(prompt=prompt, outputs=[Output(text=text)], **more)  # type: ignore[arg-type]  # as given


def test_answers_to_one_prompt_are_merged() -> None:
    """Records with the same prompt become one record with all answers in order."""
    records = [answered("b", "1"), answered("a", "2"), answered("b", "3")]
    first, second = grouped("prompt", records)

    assert [each.text for each in first.record.outputs] == ["1", "3"]
    assert second.record == records[1]
    assert (first.place, second.place) == (b"0", b"1")
    assert [each.outcome for each in first.outcomes.entries] == [Outcome.MERGED]
    assert second.outcomes.entries == []


def test_another_system_message_is_another_prompt() -> None:
    """Records are merged only if the system message and the chat are the same, too."""
    chat = [{"role": "user", "content": "a"}]
    records = [
        answered("a", "1"),
        answered("a", "2", system="s"),
        answered("a", "3", messages=chat),
        answered("a", "4", system="s"),
    ]

    assert [len(each.record.outputs) for each in grouped("prompt", records)] == [
        1,
        2,
        1,
    ]


def test_expanded_ids_are_one_id() -> None:
    """Rows with numbered ids of one record are merged and get the id without number."""
    records = [answered("a", "1", id=each) for each in ("x#1", "x#2", "y", "x#1#2")]
    found = grouped("id", records)

    assert [each.record.id for each in found] == ["x", "y", "x#1#2"]
    assert [len(each.record.outputs) for each in found] == [2, 1, 1]


def test_records_that_lack_the_field_stay_alone() -> None:
    """Records without the field are not merged with each other."""
    records = [Record(outputs=[Output(text=each)]) for each in "ab"]

    for key in ("id", "prompt", "category"):
        assert [each.record for each in grouped(key, records)] == records


def test_fields_that_differ_within_a_group_are_dropped() -> None:
    """A field that differs among merged rows keeps the first value; a loss is noted."""
    records = [answered("a", "1", category="x"), answered("a", "2", category="y")]
    (found,) = grouped("prompt", records)
    outcomes = {(each.outcome, each.path) for each in found.outcomes.entries}

    assert found.record.category == "x"
    assert (Outcome.DROPPED, "category") in outcomes


@for_each_case("name", QUESTION_FIELDS)
def test_each_field_of_the_input_is_compared(name: str) -> None:
    """Records with one id and different input are no group, whichever field differs."""
    one: Any
    other: Any
    one, other = ("x", "y") if str in FIELD_TYPES[name] else ([], [])
    if name in TEXT_LISTS:
        one, other = ["x"], ["x", "y"]
    elif name == "messages":
        one, other = [{"role": "user", "content": "x"}], [{"role": "user"}]
    absent = Record(id=1)
    same = [replace(absent, **{name: one})] * 2
    another = replace(absent, **{name: other})

    assert conflicting("id", [*same, another]) == [(b"0", b"2")]
    assert conflicting("id", [*same, absent]) == [(b"0", b"2")]
    assert len(grouped("id", same)) == 1


@for_each_case(
    "ids, found",
    [
        # Two records of one id became two rows each.
        (["7#1", "7#2", "7#1", "7#2"], [(b"0", b"2")]),
        (["7", "7", "7#1", "7#2"], [(b"0", b"2")]),
        ([7, 7, "7", "7"], [(b"0", b"2")]),
        # Ids that end so by chance.
        (["7#1", "7#1", "7#2", "7#3"], [(b"0", b"2")]),
        (["7#1", "8#1", "7#2", "9#1"], []),
    ],
)
def test_merged_records_with_one_id_are_a_conflict(
    ids: list[str | int], found: list[tuple[bytes, bytes]]
) -> None:
    """Rows that ask different things never get one id, however their ids end."""
    prompts = "aabb"
    records = [
        answered(prompt, "x", id=id_) for prompt, id_ in zip(prompts, ids, strict=True)
    ]

    assert conflicting("id", records) == found


def test_conflicts_are_found_in_any_number_of_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every conflict is found, even if only some values are kept to be compared."""
    monkeypatch.setattr(external_group_by, "NAMED", 3)
    records = [answered(f"{at}", "x", id=f"{at % 10}") for at in range(30)]
    found = conflicting("id", records)

    assert [second for _, second in found] == [b"%d" % at for at in range(10, 30)]
    assert sum(first != b"" for first, _ in found) == 6


@pytest.mark.parametrize("key", ["id", "prompt", "category"])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["7", "7#1", "7#2", "8", 7]),
            st.sampled_from("ab"),
            st.sampled_from(["x", "y"]),
            st.sampled_from("cd"),
        ),
        max_size=12,
    )
)
def test_an_answer_stays_next_to_its_question(key: str, rows: list[Any]) -> None:
    """Either rows are a conflict, or each answer is in a record that asks the same."""
    records = [
        answered(prompt, f"{prompt}{reference}", id=id_, references=[reference])
        if category == "c"
        else answered(
            prompt,
            f"{prompt}{reference}",
            id=id_,
            references=[reference],
            category=category,
        )
        for id_, prompt, reference, category in rows
    ]
    groups = ExternalGroupBy(key)
    for record in records:
        groups.add(record, b"")
    conflicts = list(groups.conflicts())
    merged = [each.record for each in groups.groups()]
    groups.close()
    for record in merged:
        assert record.references is not UNSET
        question = f"{record.prompt}{record.references[0]}"
        assert {each.text for each in record.outputs} == {question}
    assert sum(len(each.outputs) for each in merged) == len(rows)
    if key == "id":
        ids = [str(each.id) for each in merged]
        assert (len(set(ids)) < len(ids)) == bool(conflicts)


@pytest.mark.parametrize("key", ["id", "prompt"])
@given(keys=st.lists(st.integers(0, 5), max_size=30))
def test_every_answer_is_in_its_group(key: str, keys: list[int]) -> None:
    """No answer is lost, and groups are in the order of their first records."""
    records = [
        Record(id=f"i{each}", prompt=f"p{each}", outputs=[Output(index=at)])
        for at, each in enumerate(keys)
    ]
    found = grouped(key, records)

    assert [each.record.id for each in found] == [
        f"i{each}" for each in dict.fromkeys(keys)
    ]
    assert [[one.index for one in each.record.outputs] for each in found] == [
        [at for at, other in enumerate(keys) if other == wanted]
        for wanted in dict.fromkeys(keys)
    ]


def test_groups_go_through_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that do not fit into memory have the same order."""
    monkeypatch.setattr(item_partitions, "SPOOL_BYTES", 100)
    keys = [number * 7 % 500 for number in range(2_000)]
    found = grouped("prompt", [answered(f"{each}", "é" * 20) for each in keys])

    assert [each.record.prompt for each in found] == [
        f"{each}" for each in dict.fromkeys(keys)
    ]
    assert {len(each.record.outputs) for each in found} == {4}


def test_numbers_keep_their_spelling_in_a_group() -> None:
    """Numbers of merged records keep every digit."""
    from harpia_formats.model.exact_json import decode, encode  # noqa: PLC0415 - only this test needs it

    value = decode(b'{"x":1e2,"y":123456789012345678901,"z":-0.0,"w":1.0}')
    (found,) = grouped("prompt", [Record(prompt="p", metadata=value)])

    assert found.record.metadata is not UNSET
    assert encode(found.record.metadata) == encode(value)
