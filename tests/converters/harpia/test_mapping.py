"""HarpIA's instances as records, and records as instances."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.harpia.mapping import LAB_INPUT, write_any
from harpia_formats import Record
from harpia_formats.api.testing import records
from harpia_formats.api.testing.strategies import TEXTS, VALUES
from harpia_formats.conversion.comparison.differences import same
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    schema_validator_of,
)
from harpia_formats.plugins import FieldOutcomes, Unconvertible
from json_lines import jsonl_rows
from known_formats import FORMATS
from written_rows import row_and_losses

ROOT = Path(__file__).parents[3]
FIXTURES = sorted((ROOT / "fixtures" / "harpia" / "valid").iterdir())
REAL = CORPORA / "harpia" / "lab_input_canonical.json"
KEYS = st.sampled_from(
    "id input expected-output expected_output expectedOutput actual-output "
    "actual_output actualOutput level".split()
)
#: Extra fields that a row may have had, and some that no row ever had.
KEPT = st.dictionaries(
    KEYS, VALUES | TEXTS | st.lists(TEXTS, max_size=2), min_size=1, max_size=3
)
NAMED = st.dictionaries(
    st.sampled_from(["in_a_list", "a"]), st.just(True) | VALUES, min_size=1
)


def documents_in(path: Path) -> list[dict[str, Any]]:
    """Return the inputs in a file; instances alone are one of nothing else."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [{"instances": jsonl_rows(text)}]
    value = json.loads(text)
    if isinstance(value, list) or "input" in value:
        return [{"instances": value if isinstance(value, list) else [value]}]
    return [value]


def instances_in(path: Path) -> list[dict[str, Any]]:
    """Return all instances of a file."""
    rows: list[dict[str, Any]] = []
    for document in documents_in(path):
        rows += document.get("instances") or document["instancias"]
    return rows


def documented(row: dict[str, Any]) -> dict[str, Any]:
    """Return an instance with the documented keys in their order, and a list."""
    for what in ("expected", "actual"):
        name = f"{what}-output"
        spellings = (name, f"{what}_output", f"{what}Output")
        spelt = next((each for each in spellings if each in row), name)
        row = {name if key == spelt else key: value for key, value in row.items()}
    if isinstance(row.get("expected-output"), str):
        row["expected-output"] = [row["expected-output"]]
    order = ("id", "input", "expected-output", "actual-output")
    known = {key: row[key] for key in order if key in row}
    return known | dict(sorted((key, row[key]) for key in row.keys() - known.keys()))


#: Returns the instance that a record becomes, and the losses of each path.
written = partial(row_and_losses, LAB_INPUT)


def comes_back(row: dict[str, Any]) -> bool:
    """Tell whether an instance comes back the same, without any loss."""
    again, noted = written(LAB_INPUT.read(row))
    return same(again, documented(row)) and noted == {}


@for_each_case("path", FIXTURES, ids=lambda path: path.stem)
def test_instances_come_back(path: Path) -> None:
    """Every valid instance is the same again, in the documented spelling."""
    rows = instances_in(path)

    assert [each for each in rows if not comes_back(each)] == []


@pytest.mark.corpora
def test_real_instances_come_back() -> None:
    """The instances of the published example are the same again."""
    rows = instances_in(REAL)

    assert rows != []
    assert [each for each in rows if not comes_back(each)] == []


def header_written(header: Any) -> tuple[dict[str, Any], list[str]]:
    """Return what is written of a header, and the paths of recorded losses."""
    outcomes = FieldOutcomes()
    assert LAB_INPUT.write_header is not None
    row = LAB_INPUT.write_header(header, outcomes)
    return row, [each.path for each in outcomes.entries]


@for_each_case("path", FIXTURES, ids=lambda path: path.stem)
def test_headers_are_written_back(path: Path) -> None:
    """A header is read and written unchanged, and stays valid with other instances."""
    schema = schema_validator_of(document_schema(FORMATS["harpia"].dialects[0]))
    for document in documents_in(path):
        around = {key: document[key] for key in document if key[:2] != "in"}
        assert LAB_INPUT.read_header is not None
        row, noted = header_written(LAB_INPUT.read_header(around))

        assert list(row.values()) == list(around.values())
        assert noted == []
        assert schema.is_valid({"instances": []} | row)


@given(
    records(), st.just(UNSET) | KEPT, st.just(UNSET) | NAMED, st.sampled_from([0, 1, 2])
)
def test_records_with_one_answer_are_written_as_any_record(
    record: Record, kept: Any, named: Any, answers: int
) -> None:
    """A record that is written straight becomes what any record does."""

    def result_or_error(write: Any) -> Any:
        outcomes = FieldOutcomes()
        try:
            return write(given_, outcomes), outcomes.entries
        except Unconvertible as error:
            return str(error), outcomes.entries

    outputs = record.outputs[:answers]
    if named is not UNSET:
        outputs = [replace(each, extra={"harpia": named}) for each in outputs]
    extra = UNSET if kept is UNSET else {"harpia": kept}
    given_ = replace(record, outputs=outputs, extra=extra)

    assert result_or_error(LAB_INPUT.write) == result_or_error(write_any)
