"""The key to an endpoint, which no text that leaves us ever holds."""

import os
from collections.abc import Sequence

from harpia_formats.llm_judge.errors import JudgeError
from harpia_formats.text.sanitize import safe

#: Code points of a message from elsewhere that are shown.
MESSAGE = 300
#: Characters of the shortest key that is hidden in messages, and in replies. Servers
#: without keys are given words such as "none", which a reply may well hold.
_in_messages, _in_replies = 4, 12


class ApiKey:
    """A key that shows itself to nobody but who asks for `text`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "Key(***)"

    def hidden_in(self, text: str, shortest: int = _in_replies) -> str:
        """Return `text` without the key, unless that is a short word."""
        if len(self.text) < shortest:
            return text
        return text.replace(self.text, "***")

    def said(self, text: str) -> str:
        """Return a message as one line without the key, cut where it is long."""
        return safe(self.hidden_in(text, _in_messages), MESSAGE)


def api_key_from(names: Sequence[str]) -> ApiKey:
    """Return the key in the first variable of these names that is set.

    Raises `JudgeError` where none is.
    """
    for each in names:
        text = os.environ.get(each, "").strip()
        if text:
            return ApiKey(text)
    raise JudgeError(
        f"there is no key: set {' or '.join(names)}, or name the variable that has it "
        "with --api-key-env (api_key_env in Python); a server that asks for none takes "
        "any text"
    )
