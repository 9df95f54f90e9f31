"""What a conversion to any format keeps of any record, and what it says of the rest."""

import io
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from effort import examples
from field_paths import unrelated
from harpia_formats import convert, read
from harpia_formats.api.testing import filled, records
from harpia_formats.api.testing.strategies import TEXTS, VALUES
from harpia_formats.plugins import Container, Outcome, Record, Row, Unconvertible
from json_lines import jsonl, jsonl_rows
from known_formats import WRITABLE, adapter_named, row_schema, row_validator
from mapped_records import differing_paths, mapper_to, plain, record_in

WITH_EXTRAS = [name for name in WRITABLE if adapter_named(name).extras_path is not None]
#: The key of rows under which --keep-extra stores fields.
EXTRAS_KEY = "harpia-formats"
ANY = st.booleans()
#: What is said of empty text that every row has.
BLANK = 'is "", which is read as none'


def is_without_value(error: Unconvertible) -> bool:
    """Tell whether a score is null, which few formats can say."""
    return error.path == "outputs.scores.value"


def mapped(record: Record, target: str, **options: Any) -> Any:
    """Return the rows of a record and what is said of them, if it can be written."""
    assume(record.outputs != [])
    try:
        return mapper_to(target, **options).map(filled(record))
    except Unconvertible as error:
        assume(not is_without_value(error))
        raise


def only_row_of(written: Any, record: Record) -> Row:
    """Return the row of a record; each of several scores of an answer has its own."""
    assume(not any(len(output.scores or []) > 1 for output in record.outputs[:1]))
    row: Row
    (row,) = written.rows
    return row


@pytest.mark.parametrize("target", WRITABLE)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records(), is_completed=st.booleans())
def test_differences_are_the_declared_losses(
    target: str, record: Record, is_completed: bool
) -> None:
    """A record differs after a round trip exactly in its recorded losses."""
    if is_completed:
        written = mapped(record, target)
    else:
        try:
            written = mapper_to(target, constants={}).map(filled(record))
        except Unconvertible:
            assume(condition=False)
    back = adapter_named(target).read(only_row_of(written, record))
    found = differing_paths(filled(record), back)
    noted = {each.path for each in written.outcomes}
    # Empty text that every row has may be read as an absent value.
    blank = {each.path for each in written.outcomes if each.how == BLANK}

    assert unrelated(found, noted) == set()
    assert unrelated(noted - blank, found) == set()


@cache
def keys_of_rows(target: str) -> list[str]:
    """Return the keys of the rows of a format, and those that mark answers in them."""
    schemas = [row_schema(each) for each in WRITABLE[target].dialects]
    marks = {"a", "column", "in_a_list"}
    return sorted(marks.union(*(keys_in(each) for each in schemas)))


def keys_in(schema: Any) -> set[str]:
    """Return the keys that a schema names, at any depth."""
    inner = schema.values() if isinstance(schema, dict) else schema
    if not isinstance(schema, dict | list):
        return set()
    named = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return set(named).union(*map(keys_in, inner))


@pytest.mark.parametrize("target", WRITABLE)
@examples(8, suppress_health_check=list(HealthCheck))
@given(record=records(), data=st.data())
def test_extra_fields_are_taken_for_no_others(
    target: str, record: Record, data: st.DataObject
) -> None:
    """Extra fields under the keys of rows come back as such, or are declared losses."""
    keys, vendor = st.sampled_from(keys_of_rows(target)), adapter_named(target).vendor
    values = VALUES | TEXTS | st.just(True) | st.lists(TEXTS, max_size=2)
    # An object without members says nothing.
    values = values.filter(lambda value: value != {})
    members = st.dictionaries(keys, values, min_size=1, max_size=3)
    inner = members | st.lists(members, min_size=1, max_size=2)
    kept = members | st.dictionaries(keys, inner, min_size=1, max_size=2)
    outputs = [
        replace(each, extra={vendor: data.draw(kept)} if data.draw(ANY) else each.extra)
        for each in record.outputs
    ]
    record = replace(record, outputs=outputs, extra={vendor: data.draw(kept)})
    written = mapped(record, target)
    row = only_row_of(written, record)
    back = adapter_named(target).read(row)
    found = differing_paths(filled(record), back)
    noted = {each.path for each in written.outcomes}
    blank = {each.path for each in written.outcomes if each.how == BLANK}

    assert unrelated(found, noted) == set()
    assert unrelated(noted - blank, found) == set()
    assert_valid(row, target)


@pytest.mark.parametrize("target", WRITABLE)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_written_rows_are_valid(target: str, record: Record) -> None:
    """Every written row is valid in its format, and strictly valid if possible."""
    for row in mapped(record, target, responses="expand").rows:
        assert_valid(row, target)


def assert_valid(row: Row, target: str) -> None:
    """Assert that a row is valid in the documented dialect of its format."""
    dialect = WRITABLE[target].dialects[0]
    is_column = dialect.container is Container.COLUMNS
    value = {key: [item] for key, item in row.items()} if is_column else row
    errors = row_validator(dialect).iter_errors(value)

    assert [str(each) for each in errors] == []


@pytest.mark.parametrize("target", WITH_EXTRAS)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_kept_extra_fields_are_restored(target: str, record: Record) -> None:
    """With --keep-extra nothing is lost if a format can hold more fields."""
    written = mapped(record, target, keep_extra=True)
    back = record_in(only_row_of(written, record), target)
    defaulted = {
        each.path for each in written.outcomes if each.outcome is Outcome.DEFAULTED
    }
    found = differing_paths(filled(record), back, given=True)

    assert unrelated(found, defaulted) == set()


@pytest.mark.parametrize("target", WRITABLE)
@examples(5, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_a_row_is_the_same_in_its_own_format(target: str, record: Record) -> None:
    """A written row that is read and written again is the same record, without a loss.

    Keys may have another order, and a chat of one message the form of a prompt.
    """
    assume(record.outputs != [])
    again = mapper_to(target, target, constants={}, responses="expand", keep_extra=True)
    read = adapter_named(target).read
    try:
        rows = mapper_to(target).map(filled(record), 1).rows
    except Unconvertible:
        assume(condition=False)
    for row in rows:
        found = again.map(record_in(row, target), 1)

        (back,) = found.rows
        assert read(plain(back)) == read(plain(row))
        assert {outcome.outcome for outcome in found.outcomes} <= {Outcome.NULL}


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("eee@0.3.0", {}),
        ("eee@0.3.0", {"filter": "flex"}),
        ("eee@0.3.0", {"metric": "f1"}),
        ("eee@0.3.0", {"prompt": "formatted"}),
        ("haystack", {"prompt": "formatted"}),
        ("tencent-outputs", {"metric": "f1"}),
    ],
)
def test_what_was_not_chosen_is_kept(target: str, options: dict[str, Any]) -> None:
    """With --keep-extra a record comes back whole, whatever was chosen of it."""
    scores = [
        {"metric": "em", "value": 1, "signature": "em|filter:strict"},
        {"metric": "em", "value": 0, "signature": "em|filter:flex"},
        {"metric": "f1", "value": 0.5},
    ]
    step = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": "a",
        "is_terminal": True,
    }
    output = {
        "model": "org/m",
        "formatted_prompt": "Q: P",
        "text": "a",
        "interaction_type": "single_turn",
        "attribution": [
            {**step, "extraction_method": method} for method in ("strict", "flex")
        ],
        "scores": [
            {"evaluation_id": "e", "evaluation_name": "n", "is_correct": False, **one}
            for one in scores
        ],
    }
    row = {"id": "1", "prompt": "P", "references": ["r"], "outputs": [output]}
    there = io.BytesIO()
    convert(jsonl(row), to=target, keep_extra=True, output=there, **options)
    back = next(iter(read(io.BytesIO(there.getvalue()), format=target)))

    assert differing_paths(record_in(row, "record"), back) == set()


@pytest.mark.parametrize("target", WITH_EXTRAS)
def test_data_under_the_key_of_extra_fields_are_kept(target: str) -> None:
    """With --keep-extra no key of the data makes way for what is stored there."""
    vendor = adapter_named(target).vendor
    row = {
        "id": "1",
        "prompt": "P",
        "references": ["r"],
        "category": "c",
        "source": "s",
        "params": {"model": "m", EXTRAS_KEY: "mine"},
        "metadata": {EXTRAS_KEY: "mine"},
        "extra": {vendor: {EXTRAS_KEY: "mine"}},
        "outputs": [
            {
                "model": "org/m",
                "text": "a",
                "error": "e",
                "scores": [
                    {
                        "value": 1,
                        "is_correct": True,
                        "evaluation_id": "e",
                        "evaluation_name": "n",
                    }
                ],
                "extra": {vendor: {EXTRAS_KEY: "mine"}},
            }
        ],
    }
    there, back = io.BytesIO(), io.BytesIO()
    convert(jsonl(row), to=target, keep_extra=True, on_loss="fail", output=there)
    convert(there.getvalue(), from_=target, to="record", output=back)

    (found,) = jsonl_rows(back.getvalue())
    assert found | row == found  # some formats hold the reference as gt, too


@pytest.mark.parametrize("target", ["tencent-messages", "tencent-outputs"])
@pytest.mark.parametrize("value", [{"id": "2"}, {"outputs": []}, {"category": "c"}])
def test_data_are_not_taken_for_what_keep_extra_stores(
    target: str, value: dict[str, Any]
) -> None:
    """With --keep-extra data under its key come back, though nothing else is stored."""
    extra = {"tencent": {EXTRAS_KEY: value}}
    row = {"id": "1", "prompt": "P", "references": ["r"], "extra": extra, "outputs": []}
    there, back = io.BytesIO(), io.BytesIO()
    convert(jsonl(row), to=target, keep_extra=True, on_loss="fail", output=there)
    convert(there.getvalue(), from_=target, to="record", output=back)

    assert jsonl_rows(back.getvalue()) == [row]
