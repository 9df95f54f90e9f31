"""Tables of fields, compiled, read and write what they do step by step."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harpia_formats.api.testing.strategies import EXTRA, TEXTS, VALUES, records, some
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    FieldMapping,
    Row,
)
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
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
