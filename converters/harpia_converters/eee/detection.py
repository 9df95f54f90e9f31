"""Which of the three shapes a record has; its version string is not relied on."""

from collections.abc import Mapping
from typing import Any

VENDOR = "EvalEval"
SEED, TAG, CURRENT = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"

#: What tells records of one sample apart.
APART = (
    ("evaluation_id",),
    ("evaluation_name",),
    ("evaluation_result_id",),
    ("metadata", "epoch"),
)
#: Keys that every shape requires.
_required = frozenset(
    "schema_version evaluation_id model_id evaluation_name sample_id "
    "interaction_type input answer_attribution evaluation".split()
)
#: How many of them tell an EvalEval record from others.
_enough = 5


def is_record(row: Mapping[str, Any]) -> bool:
    """Tell whether `row` looks like an instance-level record at all."""
    return len(_required & row.keys()) >= _enough


def shape_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the shape of a record and the sign it is told by."""
    if "messages" in row:
        return CURRENT, "`messages`"
    lists = list_field(row)
    if not lists:
        return SEED, "references and outputs that are text"
    if row.get("evaluation_result_id") is not None:
        return CURRENT, f"`evaluation_result_id` and lists in `{lists}`"
    if "interactions" in row:
        return TAG, f"`interactions` and lists in `{lists}`"
    if str(row.get("schema_version", "")).endswith("0.2.0"):
        return TAG, f"lists in `{lists}` under the label 0.2.0"
    return CURRENT, f"lists in `{lists}`"


def list_field(row: Mapping[str, Any]) -> str:
    """Return the first field that holds a list where the seed shape has text."""
    for part, key in (
        ("input", "reference"),
        ("output", "raw"),
        ("output", "reasoning_trace"),
    ):
        owner = row.get(part)
        # Asking what null is takes longer than all else here.
        if owner and isinstance(owner, Mapping) and isinstance(owner.get(key), list):
            return f"{part}.{key}"
    return ""


def sign_of(row: Mapping[str, Any], shape: str) -> str:
    """Return the sign that `row` has `shape`, or "" if it has not."""
    if not is_record(row):
        return ""
    found, sign = shape_of(row)
    return sign if found == shape else ""
