"""The adapters of openai-chat and openai-preference: chats to records, and back."""

from typing import Any

from msgspec import UNSET

from harpia_converters.openai.messages import (
    EXAMPLES,
    is_member,
    question_messages,
    read_question,
    text_of,
)
from harpia_converters.openai.tool_calls import CALLS
from harpia_formats.conversion.mapping.chat_messages import (
    chat_fields,
    no_question,
    record_question_outcomes,
)
from harpia_formats.conversion.mapping.fields import FieldTable, put_in_front, without
from harpia_formats.model.adapter import Cardinality, FieldMapping, Row, RowCapacity
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import SYSTEM_MESSAGE, Record

_messages = "messages"
#: The key of an example of preference that one for fine-tuning has not.
_worse = "non_preferred_output"
_lists = ("tools", "functions")
SETTINGS = (*_lists, "parallel_tool_calls")
#: Values of the settings.
SETTING_EXAMPLES: Row = {
    **{key: [{"type": "function"}] for key in _lists},
    "parallel_tool_calls": True,
}
_of_answer = f"extra.{EXAMPLES}.{_messages}"


def _read_example(row: Row, kept: Row) -> Row:
    """Return the question of a chat: its last answer is what is expected."""
    fields, other_keys = read_chat(row[_messages])
    if len(row) > 1:
        settings = {key: row[key] for key in row if key in SETTINGS}
        if settings:
            fields["params"] = settings
    if other_keys:
        put_in_front(kept, _messages, other_keys)
    return fields


def read_chat(messages: list[Row]) -> tuple[Row, Row]:
    """Return the record's fields for a chat, and other keys of its last answer."""
    last = messages[-1]
    answer = without(last, ("role",)) if last["role"] == "assistant" else {}
    asked = read_question(messages[:-1] if answer else messages)
    text = text_of(answer.get("content"))
    if text is not None:
        asked["gt"] = text
        if text is answer["content"]:
            del answer["content"]
    return asked, answer


def _write_example(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the chat for a record, with the answer that it expects, and its settings.

    Raises `Unconvertible` if the record has neither a prompt nor messages.
    """
    given = kept.get(_messages)
    own: Row = kept.pop(_messages) if isinstance(given, dict) and given else {}
    chat = _chat_of(record, own, outcomes)
    if kept.pop(_worse, UNSET) is not UNSET:
        outcomes.dropped(f"extra.{EXAMPLES}.{_worse}", "an example has one answer")
    row: Row = {_messages: chat}
    for key, value in (record.params or {}).items():
        if key not in SETTINGS:
            continue
        if _is_setting(key, value):
            row[key] = _as_tools(value, outcomes) if key == "tools" else value
        else:
            outcomes.dropped(f"params.{key}", "not in OpenAI's form")
    return row


def _chat_of(record: Record, kept: Row, outcomes: FieldOutcomes) -> list[Row]:
    """Return the chat for `record`, with the `kept` keys of its answer."""
    answer = {key: kept[key] for key in kept if is_member(key, kept[key])}
    answer.pop("role", None)
    chat, done = question_messages(record, outcomes)
    expected = _expected(record, outcomes)
    if expected is not UNSET:
        if text_of(answer.get("content")) != expected:
            answer = {"content": expected, **without(answer, ("content",))}
        chat.append({"role": "assistant", **answer})
    elif answer:
        chat.append({"role": "assistant", **answer})
    if not chat:
        raise no_question()
    if record.messages is UNSET and not kept:
        # A prompt is read as it was, so that nothing has to be noted.
        return chat
    back, other_keys = read_chat(chat)
    if "gt" in back and expected is UNSET:
        done.append("the last message is gt")
        outcomes.defaulted("gt", "the last message, of the assistant")
    _record_kept(kept, other_keys, outcomes)
    record_question_outcomes(record, back, done, outcomes)
    return chat


def _expected(record: Record, outcomes: FieldOutcomes) -> Any:
    """Return the answer that a record expects, `UNSET` if it has none."""
    if record.gt is not UNSET:
        if record.references is not UNSET:
            outcomes.dropped("references", "gt is used instead")
        return record.gt
    if not record.references:
        if record.references is not UNSET:
            outcomes.dropped("references", "there are none")
        return UNSET
    outcomes.merged("references", "the last message")
    outcomes.defaulted("gt", "the reference")
    return record.references[0]


def _record_kept(kept: Row, back: Row, outcomes: FieldOutcomes) -> None:
    """Record in `outcomes` which kept keys are not read back, and which others are."""
    for key, value in kept.items():
        if key not in back or encode(back[key]) != encode(value):
            is_other = is_member(key, value)
            why = "the messages are other ones" if is_other else "not in OpenAI's form"
            outcomes.dropped(f"{_of_answer}.{key}", why)
    for key in back:
        if key not in kept:
            outcomes.defaulted(f"{_of_answer}.{key}", "of the last message")


def _as_tools(tools: list[Row], outcomes: FieldOutcomes) -> list[Row]:
    """Return `tools` with each bare function in the object that OpenAI asks for."""
    written = [
        {"type": "function", "function": tool}
        if type(tool.get("name")) is str and not {"type", "function"} & tool.keys()
        else tool
        for tool in tools
    ]
    if written == tools:
        return tools
    outcomes.changed("params.tools", "each in an object of the type function")
    return written


def _is_setting(key: str, value: Any) -> bool:
    """Tell whether a value is one that OpenAI allows for a setting of a chat."""
    if key not in _lists:
        return type(value) is bool
    return type(value) is list and all(type(item) is dict for item in value)


CHAT = FieldTable(
    EXAMPLES,
    (
        *chat_fields((_messages,), messages="without an assistant's last one"),
        FieldMapping(
            (_messages,), "gt", note="the last message, if it is the assistant's"
        ),
        *(FieldMapping((name,), f"params.{name}") for name in SETTINGS),
    ),
    own_keys=(_messages, *SETTINGS),
    read_own=_read_example,
    write_own=_write_example,
    in_order=True,
).adapter(
    capacity=RowCapacity(outputs=Cardinality.NONE, messages=True),
    extras_path=(),
    #: The role of a message decides which field it is.
    discriminators=frozenset({(_messages, "*", "role")}),
    other_names={
        SYSTEM_MESSAGE: "messages (system)",
        **{
            f"{_of_answer}.{key}": f"messages.{key} (of the last one)"
            for key in ("content", CALLS)
        },
    },
    setting_examples=SETTING_EXAMPLES,
    extra_examples={
        _messages: {"content": [{"type": "text", "text": "reference"}], CALLS: []}
    },
)


_preference_chat = ("input", "messages")
_preferred = "preferred_output"


def _preference(row: Row, kept: Row) -> Row:
    """Return the question with its settings, and the text of the better answer."""
    asked = row["input"]
    fields = read_question(asked["messages"])
    settings = {key: asked[key] for key in asked if key in SETTINGS}
    if settings:
        fields["params"] = settings
    rest = without(asked, {*SETTINGS, "messages"})
    if rest:
        kept["input"] = rest
    answer = row[_preferred]
    text = _only_text(answer)
    if text is not None:
        fields["references"] = [text]
    if text is None or answer != [{"role": "assistant", "content": text}]:
        kept[_preferred] = answer
    return fields


def _only_text(messages: list[Any]) -> str | None:
    """Return the text of an answer of one message without further keys."""
    (first, *others) = messages
    if others or first.keys() > {"role", "content"}:
        return None
    return text_of(first.get("content"))


PREFERENCE = FieldTable(
    EXAMPLES,
    (
        *chat_fields(_preference_chat),
        FieldMapping((_preferred,), "references", note="its text"),
        *(FieldMapping(("input", name), f"params.{name}") for name in SETTINGS),
    ),
    own_keys=("input", _preferred),
    read_own=_preference,
    in_order=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(outputs=Cardinality.NONE, messages=True),
    discriminators=frozenset({(*_preference_chat, "*", "role")}),
    other_names={SYSTEM_MESSAGE: "input.messages (system)"},
    setting_examples=SETTING_EXAMPLES,
    extra_examples={
        _preferred: [{"role": "assistant", "content": None}],
        "non_preferred_output": [{"role": "assistant", "content": "worse"}],
    },
)
