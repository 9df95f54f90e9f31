from collections.abc import Iterator, Mapping
from typing import Any

from cases import for_each_case
from harpia_formats.model.format import Dialect, Remark
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.document import header_findings
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator

SCHEMA = {"required": ["rows"], "properties": {"name": {"type": "string"}}}


def no_sign(_: Any) -> str:
    """Return no sign."""
    return ""


def equal(lengths: Mapping[Path, int]) -> Iterator[Remark]:
    """Say which columns are not as long as the first."""
    wanted = next(iter(lengths.values()))
    for path, length in lengths.items():
        if length != wanted:
            yield Remark("K101", path, f"{length} items, not {wanted}")


def found(text: bytes, **options: Any) -> list[tuple[str, Path]]:
    """Return the codes and the paths of what is wrong with a header."""
    dialect = Dialect("none", no_sign, **options)
    lengths: dict[Path, int] = {("rows",): 2, ("more",): 3}
    findings = header_findings(
        text, RowValidator(SCHEMA, RowChecks()), dialect, lengths, 4
    )
    return [(each.code, each.path) for each in findings]


@for_each_case(
    "text, expected",
    [
        (b'{"rows": [], "name": "a"}', []),
        (b'{"rows": [], "name": 1}', [("S102", ("name",))]),
        (b'{"name": "a"}', [("S101", ())]),
        (b'{"rows": [], "rows": []}', [("J105", ("rows",))]),
        (b'{"rows": [], }', [("J101", ())]),
        (b'{"rows": [', [("J102", ())]),
    ],
)
def test_header_is_validated_as_a_record(
    text: bytes, expected: list[tuple[str, Path]]
) -> None:
    """Text, JSON and schema of a document without its records are validated."""
    assert found(text) == expected


def test_lengths_of_columns_are_remarked_on() -> None:
    """A dialect that knows how long its columns are says so, behind all else."""
    expected = [("S102", ("name",)), ("K101", ("more",))]

    assert found(b'{"rows": [], "name": 1}', lengths=equal) == expected


def test_lengths_are_not_checked_with_a_broken_header() -> None:
    """With a header that is no valid JSON, only its syntax error is reported."""
    assert found(b'{"rows": [', lengths=equal) == [("J102", ())]


def test_number_of_records_is_remarked_on() -> None:
    """A dialect that knows how many records there are receives their number."""

    def counted(document: Any, records: int) -> Iterator[Remark]:
        if records != len(document["name"]):
            yield Remark("K101", ("name",), f"{records} records")

    text = b'{"rows": [], "name": "abc"}'

    assert found(text, count_remarks=counted) == [("K101", ("name",))]
    assert found(b'{"rows": [], "name": "abcd"}', count_remarks=counted) == []
    assert found(b'{"rows": [}', count_remarks=counted) == [("J101", ())]
