"""A file that is converted to its own format keeps its content, and loses nothing."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given

import harpia_formats
from cases import for_each_case
from effort import examples
from harpia_formats.api.testing import filled
from harpia_formats.api.testing.strategies import records
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.extra_fields import row_reader
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Outcome, Unconvertible
from harpia_formats.model.record import Record

FORMATS = writable_formats()
FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = [
    (name, path)
    for name in FORMATS
    for path in sorted((FIXTURES / name / "valid").glob("*"))
    if path.is_file()
]
NEMO = ("nemo-input", "nemo-output")
#: Values for what a format needs and some records lack.
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


@for_each_case("name, path", FILES)
def test_a_fixture_is_the_same_in_its_own_format(
    name: str, path: Path, tmp_path: Path
) -> None:
    """Every valid file has the same records again, with lists and further keys."""
    output = tmp_path / f"x{path.suffix}"
    report = harpia_formats.convert(
        path, from_=name, to=name, output=output, keep_extra=True
    )
    lost = [
        outcome
        for file in report.losses
        for outcome in file.losses.counts
        if outcome.outcome is not Outcome.NULL
    ]
    before, after = (
        list(harpia_formats.read(each, format=name)) for each in (path, output)
    )

    # Rows of NeMo that lack a required key are tolerated, and get it.
    assert {outcome.outcome for outcome in lost} <= {Outcome.DEFAULTED}
    assert after == before or (lost and name in NEMO)
    assert not lost or name in NEMO


@pytest.mark.parametrize("name", FORMATS)
@examples(5, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_a_row_of_any_record_is_the_same_in_its_own_format(
    name: str, record: Record
) -> None:
    """A written row that is read and written again is the same record, without a loss.

    Keys may have another order, and a chat of one message the form of a prompt.
    """
    adapter = adapter_of(FORMATS[name])
    assume(record.outputs != [])
    first = Choices(References.FIRST, Responses.FIRST, constants=CONSTANTS)
    again = RecordMapper(adapter, Choices(keep_extra=True, keeps_own_lists=True))
    again.take_rows_of(adapter)
    try:
        rows = RecordMapper(adapter, first).map(filled(record), 1).rows
    except Unconvertible:
        assume(False)
    for row in rows:
        read = row_reader(adapter)(decode(encode(row)))
        mapped = again.map(read, 1)

        (back,) = mapped.rows
        assert adapter.read(decode(encode(back))) == adapter.read(decode(encode(row)))
        assert {outcome.outcome for outcome in mapped.outcomes} <= {Outcome.NULL}


def test_a_list_of_answers_is_expanded_on_request(tmp_path: Path) -> None:
    """HarpIA to HarpIA keeps a list of answers unless an instance each is asked for."""
    path = FIXTURES / "harpia" / "valid" / "H102-several-answers.json"
    output = tmp_path / "x.json"
    kept = harpia_formats.convert(path, to="harpia", output=output)
    split = harpia_formats.convert(
        path, to="harpia", output=output, responses="expand", overwrite=True
    )

    assert (kept.rows, split.rows) == (3, 4)
    assert kept.lossless
    assert not split.lossless
