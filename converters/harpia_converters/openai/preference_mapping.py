"""The adapter of openai-preference: the better answer is the reference."""

from typing import Any

from harpia_converters.openai.chat_mapping import SETTING_EXAMPLES, SETTINGS
from harpia_converters.openai.chats import read_question
from harpia_converters.openai.content import text_of
from harpia_converters.openai.extra_fields import EXAMPLES, as_extra
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import SYSTEM_MESSAGE, Record

_chat = ("input", "messages")
_preferred = "preferred_output"

_fields = (
    FieldMapping(_chat, "messages"),
    FieldMapping(_chat, "prompt", note="the user's message, where it is the only one"),
    FieldMapping(_chat, "system", note="the message in front of a single prompt"),
    FieldMapping((_preferred,), "references", note="its text"),
    *(FieldMapping(("input", name), f"params.{name}") for name in SETTINGS),
)


def _read(row: Row) -> Record:
    asked = row["input"]
    fields = read_question(asked["messages"])
    settings = {key: asked[key] for key in asked if key in SETTINGS}
    if settings:
        fields["params"] = settings
    rest: Row = {key: row[key] for key in row if key not in {"input", _preferred}}
    beside = {key: asked[key] for key in asked if key not in {*SETTINGS, "messages"}}
    if beside:
        rest["input"] = beside
    text = _only_text(row[_preferred])
    if text is None:
        rest[_preferred] = row[_preferred]
    else:
        fields["references"] = [text]
    return Record(**fields, **as_extra(rest, EXAMPLES))


def _only_text(messages: list[Any]) -> str | None:
    """Return the text of an answer of one message that says nothing else."""
    (first, *others) = messages
    if others or first.keys() > {"role", "content"}:
        return None
    return text_of(first.get("content"))


PREFERENCE = FormatAdapter(
    vendor=EXAMPLES,
    fields=_fields,
    read=_read,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    discriminators=frozenset({(*_chat, "*", "role")}),
    other_names={SYSTEM_MESSAGE: "input.messages (system)"},
    setting_examples=SETTING_EXAMPLES,
    extra_examples={
        _preferred: [{"role": "assistant", "content": None}],
        "non_preferred_output": [{"role": "assistant", "content": "worse"}],
    },
)
