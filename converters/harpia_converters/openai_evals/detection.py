"""Detect samples of OpenAI's evals and logs of its runs."""

from collections.abc import Mapping
from typing import Any

VENDOR = "OpenAI evals"
#: The key of its own data in a record's `extra`.
KEY = "openai-evals"
#: The same of logs, which is the id of their format, too.
LOG_KEY = "openai-evals-log"


def sample_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample, or "" if it is none."""
    if "input" not in row or not isinstance(row.get("ideal"), (str, list)):
        return ""
    asked = row["input"]
    is_chat = isinstance(asked, list) and all(
        isinstance(message, Mapping) and "role" in message for message in asked
    )
    return "`input` and `ideal`" if is_chat or isinstance(asked, str) else ""


def log_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is a log of a run, or "" if it is none."""
    spec = document.get("spec")
    is_log = isinstance(spec, Mapping) and "eval_name" in spec
    return "`spec` and `eval_name`" if is_log else ""
