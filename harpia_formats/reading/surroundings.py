"""What stands around the rows of a document, as their reader needs it."""

from typing import Any

from harpia_formats.framing.columns import RowArray
from harpia_formats.framing.constants import with_nulls
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.parsing.truncated_json import parse_truncated


def members_before(column: RowArray) -> dict[str, Any]:
    """Return the members of a document that stand before an array of its rows.

    What is broken there is left out: the document is reported as such at its end.
    """
    before = with_nulls(column.before)
    try:
        found = decode(before + b"0}")
    except NOT_JSON:
        found = parse_truncated(before)
    if not isinstance(found, dict):
        return {}
    found.pop(column.path[-1], None)
    return found
