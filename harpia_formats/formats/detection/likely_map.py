"""Propose a map for rows of keys that no format knows."""

import re
from collections.abc import Mapping
from shlex import quote
from typing import Any

from msgspec import UNSET

from harpia_formats.model.record import Record

#: Keys that often hold a field, the likeliest first, by the field.
_likely = {
    "prompt": "prompt question instruction query problem input task text",
    "references": (
        "reference references gold golden target expected expected_output ideal "
        "ground_truth label solution answer answers"
    ),
    "response": (
        "response model_answer model_response model_output prediction predicted "
        "generated generation completion output answer"
    ),
    "category": "category topic subject domain",
    "model": "model model_name llm engine",
    "id": "id qid uid uuid question_id sample_id example_id index",
}
#: The fields of which one is proposed at least, or nothing is.
_needed = "prompt"
_separator = re.compile(r"[ -]")
_texts = (str, int, float)


def likely_map(row: Mapping[str, Any]) -> str:
    """Return a value of --map for a row by the names of its keys, "" if none is known.

    It is quoted for a shell if need be.
    It is a proposal: a key may mean something else. Only keys with a text, a number or
    a list of these are proposed, each for one field.
    """
    left = {
        _separator.sub("_", key.casefold()): key
        for key, value in row.items()
        if _is_plain(value) and "," not in key
    }
    found = {}
    for field, names in _likely.items():
        name = next((name for name in names.split() if name in left), None)
        if name is not None:
            found[field] = left.pop(name)
    if _needed not in found:
        return ""
    return quote(",".join(f"{field}={key}" for field, key in found.items()))


def likely_map_of(record: Record) -> str:
    """Return a value of --map for a record of which no column is a field, "" for none.

    Its columns are in its `extra`.
    """
    if record.extra is UNSET or record.prompt is not UNSET or record.outputs:
        return ""
    return next(filter(None, map(likely_map, record.extra.values())), "")


def _is_plain(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return all(item is None or isinstance(item, _texts) for item in items)
