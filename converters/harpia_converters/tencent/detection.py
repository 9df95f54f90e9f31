"""Detect the kind of a row of an evaluation set by its keys; each row has one kind."""

from collections.abc import Mapping
from typing import Any

VENDOR = "Tencent TI"
#: The name of the family of tencent-messages and tencent-outputs.
FAMILY = "tencent"
MESSAGES, OUTPUTS, MANUAL = "tencent-messages", "tencent-outputs", "tencent-manual"

#: Keys of other vendors' records with `messages`; a row with any is not Tencent's.
_foreign_keys = frozenset({"interaction_type", "answer_attribution"})
#: The key by which each kind is detected, the most specific first.
_signs = (
    ("model_outputs", OUTPUTS),
    ("messages", MESSAGES),
    ("conversation", MANUAL),
    ("ref_answer", MESSAGES),
)


def kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of `row` and what it is detected by, both "" if it has none."""
    if not _is_foreign(row):
        for key, kind in _signs:
            if key in row and (key != "messages" or isinstance(row[key], list)):
                return kind, f"`{key}`"
    return "", ""


def _is_foreign(row: Mapping[str, Any]) -> bool:
    if _foreign_keys & row.keys():
        return True
    return "outputs" in row and "model_outputs" not in row


def sign_of(row: Mapping[str, Any], kind: str) -> str:
    """Return by which key `row` is of `kind`, or "" if it is not."""
    found, sign = kind_of(row)
    return sign if found == kind else ""
