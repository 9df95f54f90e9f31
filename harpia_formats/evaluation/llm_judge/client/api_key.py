"""The API key of an endpoint, and its removal from all texts that are written."""

import os
from collections.abc import Sequence

from harpia_formats.evaluation.llm_judge.errors import JudgeError
from harpia_formats.model.text.sanitize import safe

#: The most code points of a message of an endpoint.
MESSAGE = 300
#: The length of the shortest key that is removed from messages, and from replies.
#: Users of servers without keys set words such as "none", which replies may contain.
_in_messages, _in_replies = 4, 12


class ApiKey:
    """An API key whose text is not part of its representation."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "Key(***)"

    def redacted(self, text: str, shortest: int = _in_replies) -> str:
        """Return `text` with the key as ***, unless it is shorter than `shortest`."""
        if len(self.text) < shortest:
            return text
        return text.replace(self.text, "***")

    def redacted_message(self, text: str) -> str:
        """Return a message as one line without the key, cut to `MESSAGE`."""
        return safe(self.redacted(text, _in_messages), MESSAGE)


def api_key_from(names: Sequence[str]) -> ApiKey:
    """Return the key from the first of these environment variables that is set.

    Raises `JudgeError` if none is set.
    """
    for name in names:
        text = os.environ.get(name, "").strip()
        if text:
            return ApiKey(text)
    raise JudgeError(
        f"there is no key: set {' or '.join(names)}, or name the variable that has it "
        "with --api-key-env (api_key_env in Python); a server that asks for none takes "
        "any text"
    )
