"""Which kind of row a row of an evaluation set is; no two kinds have one row."""

from collections.abc import Mapping
from typing import Any

VENDOR = "Tencent TI"
#: What the two kinds of automated evaluation are called together.
FAMILY = "tencent"
MESSAGES, OUTPUTS, MANUAL = "tencent-messages", "tencent-outputs", "tencent-manual"

#: Keys of others' records that have `messages` too; one of them is enough, so that a
#: record of theirs that lacks the other is still left to them.
_of_others = frozenset({"interaction_type", "answer_attribution"})
#: What tells each kind, the surest first.
_signs = (
    ("model_outputs", OUTPUTS),
    ("messages", MESSAGES),
    ("conversation", MANUAL),
    ("ref_answer", MESSAGES),
)


def kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of `row` and the sign it is told by, both "" if it has none."""
    if not _is_of_others(row):
        for key, kind in _signs:
            if key in row and (key != "messages" or isinstance(row[key], list)):
                return kind, f"`{key}`"
    return "", ""


def _is_of_others(row: Mapping[str, Any]) -> bool:
    if _of_others & row.keys():
        return True
    return "outputs" in row and "model_outputs" not in row


def sign_of(row: Mapping[str, Any], kind: str) -> str:
    """Return the sign that `row` is of `kind`, or "" if it is not."""
    found, sign = kind_of(row)
    return sign if found == kind else ""
