"""Detect Inspect's logs and data sets by their keys, apart from other tools' files."""

from collections.abc import Mapping
from typing import Any

VENDOR = "Inspect AI"
#: The key of its own data in a record's `extra`.
KEY = "inspect"

#: Members of a log beside `eval`; one that was cut short or crashed may lack some.
_beside = ("plan", "version", "status")
#: Keys of answers and scores, and of questions of other tools; a row with any of them
#: is no sample of a data set.
_foreign_keys = frozenset(
    "actual-output actual_output answer conversation epoch expected-output "
    "expected_output ideal messages model_outputs output outputs prompt question "
    "reference references response score scores".split()
)


def log_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is a log, or "" if it is none."""
    run = document.get("eval")
    if not isinstance(run, Mapping):
        return ""
    known = [key for key in _beside if key in document]
    if not known or not isinstance(run.get("task"), str) or "model" not in run:
        return ""
    return f"`{known[0]}`, and `task` and `model` in `eval`"


def sample_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample of a data set, or "" if it is none."""
    if not {"input", "target"} <= row.keys() or _foreign_keys & row.keys():
        return ""
    asked = row["input"]
    is_chat = isinstance(asked, list) and all(
        isinstance(message, Mapping) and "role" in message for message in asked
    )
    is_asked = is_chat or isinstance(asked, str)
    is_sample = is_asked and isinstance(row["target"], (str, list))
    return "`input` and `target`" if is_sample else ""
