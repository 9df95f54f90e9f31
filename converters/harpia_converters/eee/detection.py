"""Detect the version of an EvalEval row by its keys, not by `schema_version`."""

from collections.abc import Mapping
from typing import Any

VENDOR = "EvalEval"
V0_2_0, V0_2_0_TAG, V0_3_0 = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"

#: The key with the version of a row.
LABEL_KEY = "schema_version"
#: Paths that tell rows of one sample apart.
IDENTITY_PATHS = (
    ("evaluation_id",),
    ("evaluation_name",),
    ("evaluation_result_id",),
    ("metadata", "epoch"),
)
#: Keys that every version requires.
_required = frozenset(
    "schema_version evaluation_id model_id evaluation_name sample_id "
    "interaction_type input answer_attribution evaluation".split()
)
#: How many of them an EvalEval row must have to be detected.
_minimum = 5
#: All required keys but four, so that five of them are not without one of these.
ROW_KEYS = frozenset(
    "sample_id interaction_type input answer_attribution evaluation".split()
)


def is_record(row: Mapping[str, Any]) -> bool:
    """Tell whether `row` looks like an instance-level record of any version."""
    return len(_required & row.keys()) >= _minimum


def version_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the format id of a row's version, and what it is detected by."""
    if "messages" in row:
        return V0_3_0, "`messages`"
    lists = list_field(row)
    if not lists:
        return V0_2_0, "references and outputs that are text"
    if "interactions" in row:
        return V0_2_0_TAG, f"`interactions` and lists in `{lists}`"
    if str(row.get("schema_version", "")).endswith("0.2.0"):
        return V0_2_0_TAG, f"lists in `{lists}` under the label 0.2.0"
    if row.get("evaluation_result_id") is not None:
        return V0_3_0, f"`evaluation_result_id` and lists in `{lists}`"
    return V0_3_0, f"lists in `{lists}`"


def list_field(row: Mapping[str, Any]) -> str:
    """Return the first field that holds a list where 0.2.0 has text, or ""."""
    for part, key in (
        ("input", "reference"),
        ("output", "raw"),
        ("output", "reasoning_trace"),
    ):
        owner = row.get(part)
        # Most owners are null, and `isinstance` costs more than all else here.
        if owner and isinstance(owner, Mapping) and isinstance(owner.get(key), list):
            return f"{part}.{key}"
    return ""


def sign_of(row: Mapping[str, Any], version: str) -> str:
    """Return by which keys `row` is of `version`, or "" if it is not."""
    if not is_record(row):
        return ""
    found, sign = version_of(row)
    return sign if found == version else ""
