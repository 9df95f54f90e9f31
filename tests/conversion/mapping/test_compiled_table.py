"""Tables of fields, compiled, read and write what they do step by step."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from effort import examples
from harpia_formats import ConversionError, Record
from harpia_formats.plugins import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    FieldMapping,
    FieldOutcomes,
    FieldTable,
    Row,
    Unconvertible,
    records,
)
from table_steps import read_steps, without_nulls, write_steps

TEXTS = st.text(max_size=6) | st.sampled_from(["", "a", "1", "null", 'a "b"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=5,
)
#: What a row has kept, by names that sort in another order than they stand in.
KEPT = st.dictionaries(st.sampled_from(["zulu", "alpha", "text"]) | TEXTS, VALUES)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects that have any of the optional `fields`."""
    return st.fixed_dictionaries({}, optional=fields)


TABLE = FieldTable(
    "own",
    (
        FieldMapping(("id",), "id", required=True),
        FieldMapping(("question", "prompt"), "prompt", default=""),
        FieldMapping(("question", "reference"), "references", LIST_OF_ONE),
        FieldMapping(("question", "inner", "choices"), "choices"),
        FieldMapping(("chat",), "messages"),
        FieldMapping(("alpha",), "prompt"),
        FieldMapping(("question", "zulu"), "references"),
        FieldMapping(("model",), "outputs.model"),
        FieldMapping(("answer", "text"), "outputs.text", EMPTY_FOR_NULL),
        FieldMapping(("answer", "reasoning"), "outputs.reasoning", NOTHING_FOR_NULL),
        FieldMapping(("score",), "outputs.scores.value"),
        FieldMapping(("name",), "outputs.scores.metric", default="em"),
    ),
)


def read_asked(row: Row, kept: Row) -> Row:
    """Return the prompt and the source that two keys are; others are kept."""
    fields = {}
    for key, name in (("asked", "prompt"), ("given", "source")):
        if type(row.get(key)) is str:
            fields[name] = row[key]
        elif key in row:
            kept[key] = row[key]
    return fields


def take_asked(row: Row, kept: Row) -> Row:
    """Return the prompt and the source that two keys are, and remove these."""
    names = {"asked": "prompt", "given": "source"}
    found = [key for key in names if type(row.get(key)) is str]
    return {names[key]: kept.pop(key) for key in found}


def write_asked(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the keys of a question, the first of which may be kept."""
    if record.prompt is UNSET:
        outcomes.dropped("prompt", "there is none")
        return {"asked": kept.pop("asked", None)}
    return {"asked": record.prompt}


def own_table(read_own: Any = read_asked, **more: Any) -> FieldTable:
    """Return a table with keys of functions, and keys that are data."""
    return FieldTable(
        "own",
        (
            FieldMapping(("asked",), "prompt"),
            FieldMapping(("given",), "source"),
            FieldMapping(("id",), "id", required=True),
            FieldMapping(("name",), "category"),
            FieldMapping(("answer", "text"), "outputs.text"),
            FieldMapping(("model",), "outputs.model"),
            FieldMapping(
                ("more", "zulu", "*"),
                "outputs.scores.value",
                key_record_path="outputs.scores.metric",
            ),
            FieldMapping(("more", "text"), "gt"),
        ),
        constants={"kind": "own"},
        own_keys=("asked", "given"),
        read_own=read_own,
        write_own=write_asked,
        **more,
    )


OWN = [
    own_table(),
    own_table(in_order=True),
    own_table(take_asked, in_order=True, removes_own=True, normalize=without_nulls),
]
ANY = VALUES | TEXTS
ROWS = some(
    **dict.fromkeys(("id", "model", "score", "name", "zulu", "alpha"), ANY),
    chat=ANY | st.lists(st.dictionaries(TEXTS, VALUES, max_size=1), max_size=2),
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


def row_or_error(write: Any, record: Record) -> tuple[Any, Any]:
    """Return the row of a record, or why there is none, and the outcomes of fields."""
    outcomes = FieldOutcomes()
    try:
        row = repr(write(record, outcomes))
    except Unconvertible as error:
        return str(error), outcomes.entries
    return row, outcomes.entries


@examples(40)
@given(ROWS)
def test_rows_are_read_alike(row: Row) -> None:
    """Compiled, a table reads any values, and orders the keys it does not know."""
    text = repr(row)

    assert repr(TABLE.read(row)) == repr(read_steps(TABLE, row))
    assert repr(row) == text


@pytest.mark.parametrize("table", OWN, ids=["sorted", "in order", "removed"])
def test_values_that_are_no_scores_keep_their_order(table: FieldTable) -> None:
    """Members with keys of data that are no scores stand as others of the row do."""
    row = {"id": "1", "more": {"zulu": {"f1": "", "em": ""}}}
    record = table.read(row)
    assert record.extra is not UNSET
    kept = record.extra["own"]["more"]["zulu"]

    assert [*kept] == (["f1", "em"] if table.in_order else ["em", "f1"])


@examples(40)
@given(
    st.sampled_from(OWN),
    some(
        **dict.fromkeys(
            ("id", "asked", "given", "name", "zulu", "alpha", "model"), ANY
        ),
        answer=ANY | some(text=ANY, more=ANY, alpha=ANY),
        more=ANY | some(zulu=ANY | some(em=ANY, f1=ANY), text=ANY),
    ),
    st.randoms(),
)
def test_own_keys_are_read_alike(table: FieldTable, row: Row, chance: Any) -> None:
    """Compiled, keys with a function, and keys that are data, are read the same."""
    keys = [*row]
    chance.shuffle(keys)
    shuffled = {key: row[key] for key in keys}

    assert repr(table.read(shuffled)) == repr(read_steps(table, shuffled))


@examples(40)
@given(st.sampled_from(OWN), records(), KEPT.map(lambda kept: {"own": kept}))
def test_own_keys_are_written_alike(
    table: FieldTable, record: Record, extra: dict[str, Any]
) -> None:
    """Compiled, functions write the same members, and note the same outcomes."""
    given = replace(record, extra=extra)
    steps = partial(write_steps, table)

    assert row_or_error(table.write, given) == row_or_error(steps, given)
    assert given.extra == extra


@examples(40)
@given(ROWS, st.sets(st.sampled_from(["id", "question", "answer", "score", "zulu"])))
def test_rows_with_some_keys_are_read_alike(row: Row, more: set[str]) -> None:
    """What reads the rows with some keys reads them as it reads any row."""
    read = TABLE.read_of(row.keys() | more)

    assert repr(read(row)) == repr(read_steps(TABLE, row))


@examples(40)
@given(records(), KEPT.map(lambda kept: {"own": kept}), st.booleans())
def test_records_are_written_alike(
    record: Record, extra: dict[str, Any], is_kept: bool
) -> None:
    """Compiled, a table writes the same rows, and notes the same outcomes in order."""
    given = replace(record, extra=extra) if is_kept else record
    steps = partial(write_steps, TABLE)

    assert row_or_error(TABLE.write, given) == row_or_error(steps, given)


@pytest.mark.parametrize(
    "read", [lambda table: table.read, lambda table: partial(read_steps, table)]
)
def test_a_list_for_an_object_is_refused(read: Any) -> None:
    """Answers that stand in a list are not lost without a word."""
    table = FieldTable("own", (FieldMapping(("answers", "text"), "outputs.text"),))

    with pytest.raises(ConversionError, match=r"`answers` is a list.*`read_own`"):
        read(table)({"answers": [{"text": "a"}]})
    assert read(table)({"answers": []}).extra == {"own": {"answers": []}}
