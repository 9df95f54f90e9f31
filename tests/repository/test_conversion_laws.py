import io
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from msgspec import UNSET

from effort import examples
from field_paths import unrelated
from harpia_formats import convert
from harpia_formats.api.testing import filled
from harpia_formats.api.testing.strategies import records
from harpia_formats.conversion.comparison.differences import differences
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.extra_fields import (
    EXTRAS_KEY,
    restore_extras,
    split_extras,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import BLANK, Outcome, Unconvertible
from harpia_formats.model.format import Container
from harpia_formats.model.record import Record, field_paths

TARGETS = list(writable_formats())
WITH_EXTRAS = [
    name
    for name in TARGETS
    if adapter_of(writable_formats()[name]).extras_path is not None
]
#: One row from each record, so that it can be compared with what comes back.
ONE_ROW = Choices(references=References.FIRST, responses=Responses.FIRST)
CONSTANTS: dict[str, Any] = {
    "id": "1",
    "references": ["r"],
    "outputs.model": "org/m",
    "outputs.text": "a",
    "outputs.scores.value": 1,
    "outputs.scores.is_correct": True,
    "outputs.scores.evaluation_id": "e",
    "outputs.scores.evaluation_name": "n",
    "params.model": "m",
}


def completed_for(record: Record, target: str) -> Choices:
    """Return choices with which every record can be written in `target`."""
    del record, target
    return Choices(
        references=References.FIRST, responses=Responses.FIRST, constants=CONSTANTS
    )


def is_without_value(error: Unconvertible) -> bool:
    """Tell whether a score is null, which few formats can say."""
    return error.path == "outputs.scores.value"


def has_several_scores(record: Record) -> bool:
    """Return whether the answer that is kept has several scores: each is a row."""
    return any(len(output.scores or []) > 1 for output in record.outputs[:1])


@pytest.mark.parametrize("target", TARGETS)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records(), is_completed=st.booleans())
def test_differences_are_the_declared_losses(
    target: str, record: Record, is_completed: bool
) -> None:
    """A record differs after a round trip exactly in its recorded losses."""
    adapter = adapter_of(writable_formats()[target])
    choices = completed_for(record, target) if is_completed else ONE_ROW
    try:
        written = RecordMapper(adapter, choices).map(filled(record))
    except Unconvertible as error:
        assume(is_completed)
        assume(record.outputs != [])
        assume(not is_without_value(error))
        raise
    assume(not has_several_scores(record))
    (row,) = written.rows
    back = adapter.read(row)
    found = {each.path for each in differences(filled(record), back)}
    noted = {each.path for each in written.outcomes}
    # Empty text that every row has may be read as an absent value.
    blank = {each.path for each in written.outcomes if each.how == BLANK}

    assert unrelated(found, noted) == set()
    seen = noted - blank
    assert unrelated(seen, found) == set()


@pytest.mark.parametrize("target", TARGETS)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_written_rows_are_valid(target: str, record: Record) -> None:
    """Every written row is valid in its format, and strictly valid if possible."""
    format_ = writable_formats()[target]
    adapter = adapter_of(format_)
    choices = Choices(constants=CONSTANTS)
    assume(record.outputs != [])
    try:
        rows = RecordMapper(adapter, choices).map(filled(record)).rows
    except Unconvertible as error:
        assume(not is_without_value(error))
        raise
    dialect = format_.dialects[0]
    if dialect.container is Container.COLUMNS:
        rows = [{key: [item] for key, item in row.items()} for row in rows]
    schema_validator = schema_validator_of(record_schema(dialect))

    for row in rows:
        errors = [str(each) for each in schema_validator.iter_errors(row)]
        assert errors == []


@pytest.mark.parametrize("target", WITH_EXTRAS)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_kept_extra_fields_are_restored(target: str, record: Record) -> None:
    """With --keep-extra nothing is lost if a format can hold more fields."""
    adapter = adapter_of(writable_formats()[target])
    assume(record.outputs != [])
    choices = Choices(
        references=References.FIRST,
        responses=Responses.FIRST,
        constants=CONSTANTS,
        keep_extra=True,
    )
    record = filled(record)
    try:
        written = RecordMapper(adapter, choices).map(record)
    except Unconvertible as error:
        assume(not is_without_value(error))
        raise
    assume(not has_several_scores(record))
    (row,) = written.rows
    bare, fragment = split_extras(row, adapter)
    back = restore_extras(adapter.read(bare), fragment)
    defaulted = {
        each.path for each in written.outcomes if each.outcome is Outcome.DEFAULTED
    }
    found = {each.path for each in differences(record, back) if each.left is not UNSET}

    assert unrelated(found, defaulted) == set()


@pytest.mark.parametrize("target", WITH_EXTRAS)
def test_data_under_the_key_of_extra_fields_are_kept(target: str) -> None:
    """With --keep-extra no key of the data makes way for what is stored there."""
    vendor = adapter_of(writable_formats()[target]).vendor
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
    convert(encode(row), to=target, keep_extra=True, on_loss="fail", output=there)
    convert(there.getvalue(), from_=target, to="record", output=back)

    found = decode(back.getvalue())
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
    convert(encode(row), to=target, keep_extra=True, on_loss="fail", output=there)
    convert(there.getvalue(), from_=target, to="record", output=back)

    assert decode(back.getvalue()) == row


@given(record=records())
def test_paths_are_those_of_fields(record: Record) -> None:
    """A record's paths name what it has, and an empty record has none."""
    assert set(field_paths(Record())) == set()
    assert all(isinstance(each, str) for each in field_paths(record))
