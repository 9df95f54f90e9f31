"""Detect the kind of a row of an evaluation set by its keys; each row has one kind."""

from collections.abc import Mapping
from typing import Any

VENDOR = "Tencent TI"
#: The name of the family of tencent-messages and tencent-outputs.
FAMILY = "tencent"
MESSAGES, OUTPUTS, MANUAL = "tencent-messages", "tencent-outputs", "tencent-manual"

#: Keys of Tencent's rows that no other tool writes.
_own_keys = ("model_outputs", "ref_answer")
#: Names under which other tools write an answer beside the messages.
_answer_keys = (
    "model_response model_answer model_output model_completion model_prediction "
    "response answer output completion prediction generated_text generation "
    "generated_answer candidate actual_output actual-output actual_response"
).split()
#: Keys of other vendors' records with `messages`; a row with any is not Tencent's.
_foreign_keys = frozenset({"interaction_type", "answer_attribution"})
#: Keys of a message, and of a turn of a conversation: each has one at least.
_message_keys = frozenset({"role", "content"})
_turn_keys = frozenset({"prompt", "response"})


def kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of `row` and what it is detected by, both "" if it has none."""
    if _is_foreign(row):
        return "", ""
    if "model_outputs" in row:
        is_known = isinstance(row["model_outputs"], list) or "messages" in row
        return (OUTPUTS, "`model_outputs`") if is_known else ("", "")
    if _has_objects_with(_message_keys, row.get("messages")):
        return MESSAGES, "`messages`"
    if _has_objects_with(_turn_keys, row.get("conversation")):
        return MANUAL, "`conversation`"
    return (MESSAGES, "`ref_answer`") if "ref_answer" in row else ("", "")


def own_sign(row: Mapping[str, Any]) -> str:
    """Return by which key `row` is Tencent's and no other tool's, or ""."""
    return next((f"`{key}`" for key in _own_keys if key in row), "")


def unread_answer(row: Mapping[str, Any]) -> str:
    """Return the key of an answer that stands beside a chat, or ""."""
    if "model_outputs" in row or not isinstance(row.get("messages"), list):
        return ""
    return next((key for key in _answer_keys if isinstance(row.get(key), str)), "")


def _has_objects_with(keys: frozenset[str], value: Any) -> bool:
    """Tell whether `value` is or holds an object with one of `keys`."""
    items = value if isinstance(value, list) else (value,)
    return any(isinstance(item, Mapping) and keys & item.keys() for item in items)


def _is_foreign(row: Mapping[str, Any]) -> bool:
    if _foreign_keys & row.keys():
        return True
    # The hub's records have both; a text called `outputs` can be any tool's.
    return isinstance(row.get("outputs"), list) and "model_outputs" not in row


def sign_of(row: Mapping[str, Any], kind: str) -> str:
    """Return by which key `row` is of `kind`, or "" if it is not."""
    found, sign = kind_of(row)
    return sign if found == kind else ""
