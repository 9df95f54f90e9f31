"""Tables of fields, compiled, read and write what they do step by step."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.api.testing.strategies import EXTRA, TEXTS, VALUES, records, some
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    FieldMapping,
    Left,
    Parts,
    Row,
    Together,
)
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import Record, as_dict

TABLE = FieldTable(
    "own",
    (
        FieldMapping(("id",), "id", required=True),
        FieldMapping(("question", "prompt"), "prompt", default=""),
        FieldMapping(("question", "reference"), "references", LIST_OF_ONE),
        FieldMapping(("question", "inner", "choices"), "choices"),
        FieldMapping(("chat",), "messages"),
        FieldMapping(("model",), "outputs.model"),
        FieldMapping(("answer", "text"), "outputs.text", EMPTY_FOR_NULL),
        FieldMapping(("answer", "reasoning"), "outputs.reasoning", NOTHING_FOR_NULL),
        FieldMapping(("score",), "outputs.scores.value"),
        FieldMapping(("name",), "outputs.scores.metric", default="em"),
    ),
)


def read_asked(asked: Any, given: Any) -> Parts:
    """Return the prompt and the answer that two keys are, and what else is there."""
    left = {} if given is UNSET or type(given) is str else {"given": given, "more": 1}
    output = {"text": given} if type(given) is str else {}
    if type(asked) is str:
        return Parts({"prompt": asked}, output, left)
    return Parts({}, output, left if asked is UNSET else {**left, "asked": asked})


def write_asked(record: Record, kept: Row, fates: FieldFates) -> Row:
    """Return the keys of a question, the first of which may be kept."""
    if record.prompt is UNSET:
        fates.dropped("prompt", "there is none")
        return {"asked": kept.pop("asked", None)}
    return {"asked": record.prompt}


def joined_table(left: Left, *, in_order: bool, owned: frozenset[str] | None) -> Any:
    """Return a table with keys that are read together, members and a choice."""
    return FieldTable(
        "own",
        (
            FieldMapping(("id",), "id", required=True),
            FieldMapping(("top",), "params.top_p"),
            FieldMapping(("asked",), "prompt"),
            FieldMapping(("given",), "outputs.text"),
            FieldMapping(("name",), "category"),
            FieldMapping(("answer", "text"), "source"),
            FieldMapping(("answer", "more"), "category"),
            FieldMapping(("zulu",), "params.zulu"),
            FieldMapping(("model",), "outputs.model"),
        ),
        together=(Together(("asked", "given"), read_asked, write_asked, left=left),),
        in_order=in_order,
        owned=owned,
    )


JOINED = [
    joined_table(Left.BEHIND, in_order=False, owned=None),
    joined_table(Left.IN_PLACE, in_order=True, owned=None),
    joined_table(Left.IN_FRONT, in_order=True, owned=frozenset({"alpha"})),
]
LISTED = FieldTable(
    "own",
    (
        FieldMapping(("id",), "id"),
        FieldMapping(("model",), "outputs.model"),
        FieldMapping(("answers", "text"), "outputs.text"),
        FieldMapping(("answers", "asked"), "outputs.reasoning"),
        FieldMapping(("answers", "score"), "outputs.scores.value"),
    ),
    together=(
        Together(
            ("asked",),
            lambda asked: Parts(output={} if asked is UNSET else {"reasoning": "r"}),
            at=("answers",),
        ),
    ),
    list_of=("answers",),
)
ANY = VALUES | TEXTS
ROWS = some(
    id=ANY,
    chat=ANY | st.lists(st.dictionaries(TEXTS, VALUES, max_size=1), max_size=2),
    model=ANY,
    score=ANY,
    name=ANY,
    zulu=ANY,
    alpha=ANY,
    answer=ANY | some(text=ANY, reasoning=ANY, more=ANY),
    question=ANY
    | some(
        prompt=ANY,
        reference=ANY,
        zulu=ANY,
        alpha=ANY,
        inner=ANY | some(choices=ANY | st.lists(TEXTS, max_size=2), more=ANY),
    ),
)


def written(write: Any, record: Record) -> tuple[Any, Any]:
    """Return the row of a record, or why there is none, and the fates of its fields."""
    fates = FieldFates()
    try:
        row = encode(write(record, fates))
    except Unconvertible as error:
        return str(error), fates.entries
    return row, fates.entries


@settings(max_examples=300)
@given(ROWS)
def test_rows_are_read_alike(row: Row) -> None:
    """Compiled, a table reads any values, and orders the keys it does not know."""
    text = encode(row)

    assert encode(as_dict(TABLE.read(row))) == encode(
        as_dict(TABLE.interpreted_read(row))
    )
    assert encode(row) == text


@settings(max_examples=300)
@given(
    st.sampled_from(JOINED),
    some(
        id=ANY,
        top=ANY,
        asked=ANY,
        given=ANY,
        name=ANY,
        answer=ANY | some(text=ANY, more=ANY, alpha=ANY),
        zulu=ANY,
        alpha=ANY,
        model=ANY,
    ),
    st.randoms(),
)
def test_keys_are_read_together_alike(table: FieldTable, row: Row, chance: Any) -> None:
    """Compiled, keys that are read together, members and choices are read the same."""
    keys = [*row]
    chance.shuffle(keys)
    shuffled = {key: row[key] for key in keys}

    assert encode(as_dict(table.read(shuffled))) == encode(
        as_dict(table.interpreted_read(shuffled))
    )


@settings(max_examples=300)
@given(
    some(
        id=ANY,
        model=ANY,
        alpha=ANY,
        answers=ANY
        | st.lists(
            ANY | some(text=ANY, asked=ANY, score=ANY, alpha=ANY, more=ANY), max_size=3
        ),
    )
)
def test_lists_of_outputs_are_read_alike(row: Row) -> None:
    """Compiled, each item of a list is the same output as step by step."""
    assert encode(as_dict(LISTED.read(row))) == encode(
        as_dict(LISTED.interpreted_read(row))
    )


@settings(max_examples=300)
@given(st.sampled_from(JOINED), records(), EXTRA.map(lambda kept: {"own": kept}))
def test_keys_are_written_together_alike(
    table: FieldTable, record: Record, extra: dict[str, Any]
) -> None:
    """Compiled, functions write the same members, and note the same fates in order."""
    given = replace(record, extra=extra)

    assert written(table.write, given) == written(table.interpreted_write, given)
    assert given.extra == extra


def test_a_list_of_outputs_comes_back() -> None:
    """Each item is an output with its own score and keys, and is written again."""
    row = {
        "id": "1",
        "model": "m",
        "answers": [{"text": "a", "score": 1, "note": "n"}, {"text": "b"}],
    }
    record, fates = LISTED.read(row), FieldFates()

    assert [(each.model, each.text) for each in record.outputs] == [
        ("m", "a"),
        ("m", "b"),
    ]
    assert record.outputs[0].extra == {"own": {"note": "n"}}
    assert LISTED.write(record, fates) == row
    assert fates.entries == []


@settings(max_examples=300)
@given(ROWS, st.sets(st.sampled_from(["id", "question", "answer", "score", "zulu"])))
def test_rows_with_some_keys_are_read_alike(row: Row, more: set[str]) -> None:
    """What reads the rows with some keys reads them as it reads any row."""
    read = TABLE.read_of(row.keys() | more)

    assert encode(as_dict(read(row))) == encode(as_dict(TABLE.interpreted_read(row)))


@settings(max_examples=300)
@given(records(), EXTRA.map(lambda kept: {"own": kept}), st.booleans())
def test_records_are_written_alike(
    record: Record, extra: dict[str, Any], is_kept: bool
) -> None:
    """Compiled, a table writes the same rows, and notes the same fates in order."""
    given = replace(record, extra=extra) if is_kept else record

    assert written(TABLE.write, given) == written(TABLE.interpreted_write, given)


@pytest.mark.parametrize(
    "fields",
    [
        [FieldMapping(("a",), "prompt"), FieldMapping(("a",), "system")],
        [FieldMapping(("a",), "prompt"), FieldMapping(("a", "b"), "system")],
        [FieldMapping(("a",), "promt")],
        [FieldMapping(("a",), "params"), FieldMapping(("b",), "params.b")],
        [FieldMapping(("a",), "params.a", LIST_OF_ONE)],
        [FieldMapping(("answers", "text"), "prompt")],
        [FieldMapping(("error",), "outputs.error")],
    ],
)
def test_fields_that_contradict_each_other_are_refused(
    fields: list[FieldMapping],
) -> None:
    """A field without a place of its own, in rows or in records, is a wrong table."""
    with pytest.raises(ValueError, match=r"key|field|member|item"):
        FieldTable(
            "own",
            (FieldMapping(("answers", "m"), "outputs.model"), *fields),
            list_of=("answers",),
        )


@pytest.mark.parametrize("name", ["read", "interpreted_read"])
def test_a_list_for_an_object_is_refused(name: str) -> None:
    """Answers that stand in a list are not lost without a word."""
    table = FieldTable("own", (FieldMapping(("answers", "text"), "outputs.text"),))

    with pytest.raises(ConversionError, match=r"`answers` is a list.*`list_of`"):
        getattr(table, name)({"answers": [{"text": "a"}]})
    assert getattr(table, name)({"answers": []}).extra == {"own": {"answers": []}}


def test_the_first_key_of_a_choice_is_read_and_written() -> None:
    """Of two keys of one field the first with a value counts; the other is kept."""
    table = FieldTable(
        "own", (FieldMapping(("a",), "prompt"), FieldMapping(("b",), "prompt"))
    )

    assert table.read({"b": "2", "a": None}) == Record(
        prompt="2", extra={"own": {"a": None}}
    )
    both = table.read({"b": "2", "a": "1"})
    assert both == Record(prompt="1", extra={"own": {"b": "2"}})
    assert table.write(both, FieldFates()) == {"a": "1", "b": "2"}
