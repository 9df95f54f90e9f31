"""Records as rows of any format, mapped as a conversion maps them.

Laws on what a conversion keeps, for every format and any record, find rows here.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.conversion.comparison.differences import differences
from harpia_formats.conversion.mapping.choices import Choices, References, Responses
from harpia_formats.conversion.mapping.extra_fields import row_reader
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.plugins import UNSET, Record, Row
from known_formats import adapter_named

#: Values for what a format needs and a record may lack, by the path of the field.
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


def mapper_to(
    target: str,
    source: str | None = None,
    *,
    constants: Mapping[str, Any] = CONSTANTS,
    responses: str = "first",
    keep_extra: bool = False,
) -> RecordMapper:
    """Return what maps records to rows of a format: one row of each, if not asked else.

    With a `source` the records are rows of that format.
    """
    choices = Choices(
        references=References.FIRST,
        responses=Responses(responses),
        constants=constants,
        keep_extra=keep_extra,
        keeps_own_lists=source == target,
    )
    adapter = adapter_named(target)
    if source is None:
        return RecordMapper(adapter, choices)
    reader = adapter_named(source)
    mapper = RecordMapper(adapter, choices, owners=reader.extra_owners)
    mapper.take_rows_of(reader)
    return mapper


def plain(value: Any) -> Any:
    """Return a row or rows as they are after they are written as JSON and read."""
    return decode(encode(value))


def record_in(row: Row, format_id: str) -> Record:
    """Return the record that a conversion reads from a row of a format."""
    return row_reader(adapter_named(format_id))(plain(row))


def differing_paths(left: Record, right: Record, *, given: bool = False) -> set[str]:
    """Return the paths at which two records differ; or just those that `left` has."""
    return {
        each.path
        for each in differences(left, right)
        if not given or each.left is not UNSET
    }
