"""What stands around the rows of a document, as their reader needs it."""

from typing import Any

from harpia_formats.files.framing.columns import RowArray
from harpia_formats.files.framing.constants import with_nulls
from harpia_formats.files.parsing.truncated_json import parse_truncated
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.problem import Path


def members_before(column: RowArray) -> dict[str, Any]:
    """Return the members of a document that stand before an array of its rows.

    What is broken there is left out: the document is reported as such at its end.
    """
    before = with_nulls(column.before)
    try:
        found = decode(before + b"0" + b"}" * len(column.path))
    except NOT_JSON:
        found = parse_truncated(before)
    if not isinstance(found, dict):
        return {}
    pop_at(found, column.path)
    return found


def pop_at(document: Any, path: Path) -> None:
    """Remove the member at `path` of a document, if it has one."""
    *owners, key = path
    for owner in owners:
        document = document.get(owner) if isinstance(document, dict) else None
    if isinstance(document, dict):
        document.pop(key, None)
