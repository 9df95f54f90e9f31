"""The contents of Inspect's messages: texts, reasoning, other parts, attachments."""

from typing import Any, NamedTuple

from harpia_formats.model.adapter import Row

#: How references to the attachments of a sample begin, now and in early logs.
_references = ("attachment://", "tc://")


class Attachments:
    """The values that a sample keeps once and refers to from other places in it."""

    def __init__(self, sample: Row) -> None:
        """Take the sample that they belong to."""
        self._values: Row = sample.get("attachments") or {}
        if not self._values:
            transcript = sample.get("transcript")
            if type(transcript) is dict:
                self._values = transcript.get("content") or {}
        #: The references to values that the sample does not have.
        self.unresolved: set[str] = set()

    def text(self, value: str) -> str:
        """Return the text that `value` refers to, itself if it is no reference."""
        if not value.startswith(_references):
            return value
        found = self._values.get(value.partition("://")[2])
        if type(found) is str:
            return found
        self.unresolved.add(value)
        return value

    def resolved(self, value: Any) -> Any:
        """Return JSON with the texts that it refers to, itself if there are none."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is dict:
            found = {key: self.resolved(member) for key, member in value.items()}
            return found if found != value else value
        if kind is list:
            return [self.resolved(item) for item in value]
        return value


class Content(NamedTuple):
    """What the content of a message says."""

    #: None if there is no text.
    text: str | None
    reasoning: str | None
    #: The parts that are neither text nor reasoning.
    others: list[Row]


def content_of(message: Row, attachments: Attachments) -> Content:
    """Return what a message says, with the values of its references."""
    content = message.get("content")
    reasoning = message.get("reasoning")
    thoughts: list[str] = []
    if reasoning and type(reasoning) is str:
        thoughts.append(attachments.text(reasoning))
    if type(content) is str:
        return Content(attachments.text(content), _joined(thoughts), [])
    texts: list[str] = []
    others: list[Row] = []
    for part in content or ():
        kind = part.get("type")
        if kind == "text" and type(part.get("text")) is str:
            texts.append(attachments.text(part["text"]))
        elif kind == "reasoning":
            # Of redacted reasoning only a summary can be read.
            is_hidden = part.get("redacted") or not part.get("reasoning")
            given = part.get("summary") if is_hidden else part["reasoning"]
            if given and type(given) is str:
                thoughts.append(attachments.text(given))
            elif given or part.get("reasoning"):
                others.append(part)
        else:
            others.append(attachments.resolved(part))
    return Content(_joined(texts), _joined(thoughts), others)


def _joined(texts: list[str]) -> str | None:
    return "\n".join(texts) if texts else None


def is_other_part(part: Any) -> bool:
    """Tell whether a part of a message is neither text nor reasoning."""
    return type(part) is dict and part.get("type") not in {"text", "reasoning"}
