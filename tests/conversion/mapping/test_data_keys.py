"""An adapter of rows whose keys are data: the names of metrics."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cases import for_each_case
from field_paths import unrelated
from harpia_formats import Output, Record, Score
from harpia_formats.api.testing.strategies import records
from harpia_formats.conversion.comparison.differences import differences
from harpia_formats.conversion.losses import field_map_markdown
from harpia_formats.conversion.losses import format_pair_losses as by_format_pair
from harpia_formats.conversion.losses.field_map_markdown import mapping_table
from harpia_formats.conversion.losses.format_pair_losses import losses_of_pair
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.plugins import (
    Cardinality,
    ChangedValue,
    Dialect,
    FieldMapping,
    FieldOutcomes,
    FieldTable,
    Format,
    FormatAdapter,
    RowCapacity,
    Unconvertible,
    ValueCodec,
    filled,
)

SCORES = FieldMapping(
    ("scores", "*"), "outputs.scores.value", key_record_path="outputs.scores.metric"
)
TABLE = FieldTable(
    "other",
    (
        FieldMapping(("question",), "prompt"),
        FieldMapping(("answer",), "outputs.text"),
        SCORES,
    ),
)
ADAPTER = FormatAdapter(
    vendor="other",
    fields=TABLE.fields,
    read=TABLE.read,
    write=TABLE.write,
    capacity=RowCapacity(scores=Cardinality.MANY),
)
FORMAT = Format(
    id="leaderboard",
    title="Answers with their scores",
    vendor="other",
    dialects=(
        Dialect("leaderboard", lambda row: "`scores`" if "scores" in row else ""),
    ),
    adapter="somewhere:ADAPTER",
)
ROW: dict[str, Any] = {"question": "q", "answer": "a", "scores": {"em": 1, "f1": 0.5}}
RECORD = Record(
    prompt="q",
    outputs=[
        Output(
            text="a",
            scores=[Score(metric="em", value=1), Score(metric="f1", value=0.5)],
        )
    ],
)


def test_each_key_is_the_metric_of_a_score() -> None:
    """A row has a score for each key, and gets a key for each score, in order."""
    outcomes = FieldOutcomes()

    assert ADAPTER.read(ROW) == RECORD
    assert ADAPTER.writer(RECORD, outcomes) == ROW
    assert outcomes.entries == []


@settings(suppress_health_check=list(HealthCheck))
@given(record=records(), metric=st.sampled_from([None, "m"]))
def test_differences_are_the_declared_losses(
    record: Record, metric: str | None
) -> None:
    """A record differs after a round trip exactly in its recorded losses."""
    constants: dict[str, Any] = {"outputs.text": "a"}
    if metric is not None:
        constants |= {"outputs.scores.metric": metric, "outputs.scores.value": 1}
    choices = Choices(
        references=References.FIRST, responses=Responses.FIRST, constants=constants
    )
    try:
        written = RecordMapper(ADAPTER, choices).map(filled(record))
    except Unconvertible:
        assume(record.outputs != [])
        raise
    (row,) = written.rows
    back = ADAPTER.read(row)
    found = {each.path for each in differences(filled(record), back)}
    noted = {each.path for each in written.outcomes}

    assert unrelated(found, noted) == set()
    assert unrelated(noted, found) == set()


@pytest.mark.parametrize(
    "scores",
    [
        [Score(metric="em", value=1), Score(metric="em", value=0)],
        [Score(metric="em", value=1), Score(value=0)],
        [Score(metric="em", value=1), Score(metric="f1")],
    ],
)
def test_a_score_without_a_key_of_its_own_is_dropped(scores: list[Score]) -> None:
    """A second score of a metric, or one without metric or value, is a loss."""
    outcomes = FieldOutcomes()
    record = Record(prompt="q", outputs=[Output(text="a", scores=scores)])

    assert ADAPTER.writer(record, outcomes)["scores"] == {"em": 1}
    assert [(each.path, each.how) for each in outcomes.entries] == [
        ("outputs.scores", "those without a key of their own")
    ]


def test_a_value_that_is_no_score_is_kept_next_to_them() -> None:
    """A key whose value no score can have stays in `extra`, and comes back."""
    row = {**ROW, "scores": {"em": 1, "judge": {"verdict": "good"}}}
    record = ADAPTER.read(row)

    assert record.extra == {"other": {"scores": {"judge": {"verdict": "good"}}}}
    assert ADAPTER.writer(record, FieldOutcomes()) == row


def test_values_by_key_have_a_codec() -> None:
    """What a codec changes in a value is noted, as for any other field."""
    percent = ValueCodec(
        lambda value: value / 100,
        lambda value: ChangedValue(round(value * 100), "a whole percentage"),
        "as a percentage",
    )
    field = FieldMapping(
        SCORES.path,
        SCORES.record_path,
        percent,
        key_record_path=SCORES.key_record_path,
    )
    table, outcomes = FieldTable("other", (field,)), FieldOutcomes()

    assert table.write(RECORD, outcomes) == {"scores": {"em": 100, "f1": 50}}
    assert {each.how for each in outcomes.entries} == {"a whole percentage"}
    (output,) = table.read({"scores": {"f1": 50}}).outputs
    assert output.scores == [Score(metric="f1", value=0.5)]


def test_a_row_that_must_have_a_score_is_refused_without() -> None:
    """Where scores are required, a record without one is not written."""
    field = FieldMapping(
        SCORES.path,
        SCORES.record_path,
        required=True,
        key_record_path=SCORES.key_record_path,
    )
    with pytest.raises(Unconvertible, match=r"scores\.\*"):
        FieldTable("other", (field,)).write(Record(prompt="q"), FieldOutcomes())


@for_each_case(
    "fields",
    [
        [SCORES, FieldMapping(("scores", "name"), "outputs.model")],
        [SCORES, FieldMapping(("right",), "outputs.scores.is_correct")],
        [FieldMapping(("scores", "*"), "outputs.scores.value")],
        [FieldMapping(("s", "*"), "prompt", key_record_path="outputs.scores.metric")],
        [
            FieldMapping(
                ("*",), SCORES.record_path, key_record_path="outputs.scores.metric"
            )
        ],
        [FieldMapping(("score",), SCORES.record_path, key_record_path="id")],
    ],
)
def test_ambiguous_data_keys_are_refused(
    fields: list[FieldMapping],
) -> None:
    """Keys that are data need an object of their own and must be fields of scores."""
    with pytest.raises(ValueError, match=r"keys|key_record_path|score"):
        FieldTable("other", tuple(fields))


def test_the_tables_of_losses_name_value_and_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Value and key are two fields that a format without scores drops."""
    formats = writable_formats()
    for module in (by_format_pair, field_map_markdown):
        monkeypatch.setattr(
            module,
            "adapter_of",
            lambda each: ADAPTER if each is FORMAT else adapter_of(each),
        )
    lost = losses_of_pair(FORMAT, formats["nemo-output"])

    assert {"outputs.scores.value", "outputs.scores.metric"} <= {*lost.paths}
    assert (
        "outputs.scores.metric" not in losses_of_pair(FORMAT, formats["record"]).paths
    )
    assert "each key is `outputs.scores.metric`" in mapping_table(FORMAT)
