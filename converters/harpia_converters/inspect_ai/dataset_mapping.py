"""The adapter of inspect-dataset: samples to records and back."""

from string import ascii_uppercase
from typing import Any

from msgspec import UNSET

from harpia_converters.inspect_ai.formats import KEY
from harpia_converters.inspect_ai.messages import (
    Attachments,
    Content,
    content_of,
    is_other_part,
    rest_of_content,
)
from harpia_formats.conversion.mapping.chat_messages import read_chat, write_chat
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_outcomes import BLANK, FieldOutcomes
from harpia_formats.model.record import SYSTEM_MESSAGE, Record

#: The key of its own data in a record's `extra`. That of logs is another, since their
#: samples have other members by the same names.
_vendor = "inspect-dataset"
_input, _target = "input", "target"
#: The member of the extra that has the parts of messages that are no text.
_parts = "input_parts"
#: The one that has whole contents, where text and such parts are not all of them.
_contents = "input_contents"
_of_chat = (_parts, _contents)
#: The one that says that a target is letters of choices, which are the texts of other
#: ones.
_letters = "target_letters"
#: The keys of a message that its text and its reasoning are read from.
_content_keys = ("content", "reasoning")
#: The fields of a record that are what it asks.
_asked_keys = ("system", "prompt", "messages")
#: The keys of fields of a record, to which of kept members only nulls are written.
_of_fields = (_input, _target, "choices", "id", "metadata")
_files, _setup = "files", "setup"
#: Kept members that are written only if they are what they are read from.
_checked = {*_of_chat, _letters, *_of_fields, _files, _setup}
#: The keys of a call of a tool in a record, and in a sample.
_call, _own_call = ("id", "name", "arguments"), ("id", "function", "arguments")


def _read_sample(row: Row, kept: Row) -> Row:
    """Return the question and the references of a sample."""
    fields, of_chat = _question(row[_input])
    kept.update(of_chat)
    target = row[_target]
    if type(target) is list:
        fields["references"] = target
    elif target:
        fields["references"] = [target]
    references, choices = fields.get("references"), row.get("choices")
    if references and choices and _are_other_letters(references, choices):
        kept[_letters] = True
    return fields


def _question(asked: Any) -> tuple[Row, Row]:
    """Return the fields for what is asked, and what they lack, by its key in extra."""
    if type(asked) is str:
        return {"prompt": asked}, {}
    messages, parts, contents = [], [], []
    attachments = Attachments({})
    for number, message in enumerate(asked):
        content = content_of(message, attachments)
        if type(message["content"]) is list:
            if rest_of_content(message) or not _is_split(message, content):
                contents.append({"message": number, **_content_in(message)})
            else:
                parts += [{"message": number, **part} for part in content.others]
        messages.append(_with_text(_with_calls(message, _read_call), content))
    has_texts = all(type(message["content"]) is str for message in messages)
    fields = read_chat(messages) if has_texts else {"messages": messages}
    found = {_parts: parts, _contents: contents}
    return fields, {key: items for key, items in found.items() if items}


def _is_split(message: Row, content: Content) -> bool:
    """Tell whether a message is written again from its text and its other parts.

    That is so for one part of text with the others behind it, and for others alone, in
    front of which an empty text is written, and noted.
    """
    others = content.others
    if content.text is None:
        return others == message["content"] and all(map(_is_numbered, others))
    return others == message["content"][1:] and all(map(_is_numbered, others))


def _with_text(message: Row, content: Content) -> Row:
    """Return a message with the text and the reasoning of its parts in their place."""
    if type(message["content"]) is not list:
        return message
    own = {**message, "content": content.text}
    if content.reasoning is not None:
        own["reasoning"] = content.reasoning
    return own


def _content_in(message: Row) -> Row:
    """Return the members of a message that its text and its reasoning are read from."""
    return {key: message[key] for key in _content_keys if key in message}


def _with_calls(message: Row, change: Any) -> Row:
    """Return a message with `change` made to its calls of tools."""
    calls = message.get("tool_calls")
    if type(calls) is not list:
        return message
    return {**message, "tool_calls": [change(call) for call in calls]}


def _read_call(call: Any) -> Any:
    if type(call) is not dict or call.keys() != {*_own_call, "type"}:
        return call
    if call["type"] != "function":
        return call
    return {key: call[own] for key, own in zip(_call, _own_call, strict=True)}


def _written_call(call: Any) -> Any:
    if type(call) is not dict or call.keys() != set(_call):
        return call
    own = {own: call[key] for key, own in zip(_call, _own_call, strict=True)}
    return {**own, "type": "function"}


def _write_sample(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the question and the references of a record.

    A prompt without a system message is written as a text, all else as a chat. Raises
    `Unconvertible` for a record that asks nothing.
    """
    asked = _asked(record, kept, outcomes)
    row: Row = {_input: asked, _target: _targets(record, kept, outcomes)}
    _drop_others(record, kept, row, outcomes)
    return row


def _asked(record: Record, kept: Row, outcomes: FieldOutcomes) -> Any:
    """Return the input of a sample, with what is `kept` of its messages.

    Raises `Unconvertible` if the record asks nothing.
    """
    parts: Any = kept.get(_parts)
    contents: Any = kept.get(_contents)
    has_prompt = record.prompt is not UNSET and record.system is UNSET
    if has_prompt and not record.messages and not parts and not contents:
        if record.messages is not UNSET:
            outcomes.dropped("messages", "there are none")
        return record.prompt
    noted = [*outcomes.entries]
    chat = write_chat(record, outcomes)
    written = [_with_calls(message, _written_call) for message in chat]
    if [_with_calls(message, _read_call) for message in written] != chat:
        outcomes.changed("messages", "the calls of tools are spelt as in a record")
    if _are_of(contents, written) and all(map(_is_content, contents)):
        own = record.messages or []
        asked = [*chat[: len(chat) - len(own)], *own]
        written = _with_contents(written, contents, asked)
        back = _question(written)[0]
        if all(back.get(key, UNSET) == getattr(record, key) for key in _asked_keys):
            # A null that was written as an empty text is one again.
            outcomes.entries[:] = noted
    is_fit = _are_of(parts, written) and all(map(_is_part, parts))
    return _with_parts(written, parts) if is_fit else written


def _are_of(items: Any, chat: list[Row]) -> bool:
    """Tell whether `items` are objects, each of a message of the chat by its number."""
    return type(items) is list and all(
        type(item) is dict
        and type(item.get("message")) is int
        and 0 <= item["message"] < len(chat)
        for item in items
    )


def _is_numbered(part: Row) -> bool:
    """Tell whether a part can be kept with the number of its message."""
    return "message" not in part and _is_part(part)


def _is_part(item: Row) -> bool:
    return type(item.get("type")) is str and is_other_part(item)


def _is_content(item: Row) -> bool:
    """Tell whether an item is what `_question` keeps as a whole content."""
    parts = item.get("content")
    return type(parts) is list and all(
        type(part) is dict and type(part.get("type")) is str for part in parts
    )


def _with_contents(chat: list[Row], contents: list[Row], asked: list[Row]) -> list[Row]:
    """Return a chat with whole contents for the messages that are read from them.

    `asked` are these messages as the record has them.
    """
    written = list(chat)
    for item in contents:
        number = item["message"]
        content = _content_in(item)
        lost = {*_content_keys} - content.keys()
        own = {**without(chat[number], lost), **content}
        read = _with_text(own, content_of(own, Attachments({})))
        if all(read.get(key) == asked[number].get(key) for key in _content_keys):
            written[number] = own
    return written


def _with_parts(chat: list[Row], parts: list[Row]) -> list[Row]:
    """Return a chat with parts behind the texts of its messages."""
    by_message: dict[int, list[Row]] = {}
    for part in parts:
        own = without(part, {"message"})
        by_message.setdefault(part["message"], []).append(own)
    written = list(chat)
    for number, others in by_message.items():
        text = {"type": "text", "text": chat[number]["content"]}
        written[number] = {**chat[number], "content": [text, *others]}
    return written


def _targets(record: Record, kept: Row, outcomes: FieldOutcomes) -> Any:
    """Return the target of a sample: "" if the record has no references.

    References that are choices are written as their letters, by which Inspect scores:
    of equal choices as the first one's, since it requires all of several letters.
    """
    if record.references is UNSET:
        outcomes.defaulted("references", BLANK)
        return ""
    targets = record.references
    if record.choices and not _has_letters(record, kept):
        targets = _letters_of(targets, record.choices)
        if targets != record.references:
            is_first = any(record.choices.count(text) > 1 for text in record.references)
            which = "choices, the first of equal ones" if is_first else "choices"
            outcomes.changed("references", f"the letters of the {which}")
    return targets[0] if len(targets) == 1 and targets[0] else targets


def _has_letters(record: Record, kept: Row) -> bool:
    """Tell whether the references of a record with choices are letters of these.

    Those that Inspect wrote are, though they may be the texts of other choices.
    """
    extras = [record.extra, *(output.extra for output in record.outputs)]
    is_of_inspect = kept.get(_letters) is True or any(
        KEY in extra for extra in extras if extra
    )
    return is_of_inspect and _are_other_letters(record.references, record.choices)


def _are_other_letters(references: Any, choices: Any) -> bool:
    """Tell whether `references` are letters of choices, and the texts of other ones."""
    letters = [*ascii_uppercase[: len(choices)]]
    is_of_letters = all(text in letters for text in references)
    return is_of_letters and _letters_of(references, choices) != references


def _letters_of(references: list[str], choices: list[str]) -> list[str]:
    """Return the letters of the choices that `references` are, or the first, if equal.

    They are returned as they are if one is no choice.
    """
    letters = [*ascii_uppercase[: len(choices)]]
    if any(text not in choices for text in references):
        return references
    places = [choices.index(text) for text in references]
    if any(place >= len(letters) for place in places):
        return references
    return [letters[place] for place in places]


def _drop_others(record: Record, kept: Row, row: Row, outcomes: FieldOutcomes) -> None:
    """Remove kept members that are read from others of `row`, or as other fields."""
    if not kept.keys() & _checked:
        return
    written = _question(row[_input])[1]
    if record.references and record.choices and _has_letters(record, kept):
        written[_letters] = True
    for key in sorted(kept.keys() & _checked):
        path, value = f"extra.{_vendor}.{key}", kept[key]
        if key in {*_of_chat, _letters}:
            if written.get(key) != value:
                why = "it fits no target" if key == _letters else "they fit no message"
                outcomes.dropped(path, why)
        elif value is None or _is_setting(key, value):
            continue
        elif key in _of_fields:
            outcomes.dropped(path, "the key belongs to another field")
        else:
            outcomes.dropped(path, "not in Inspect's form")
        del kept[key]


def _is_setting(key: str, value: Any) -> bool:
    """Tell whether a value is one of files or of a script as Inspect reads them."""
    if key == _files:
        return type(value) is dict and all(type(each) is str for each in value.values())
    return key == _setup and type(value) is str


DATASET = FieldTable(
    _vendor,
    (
        FieldMapping((_input,), "prompt", note="a text, or the message of the user"),
        FieldMapping(
            (_input,), "system", note="the message in front of a single prompt"
        ),
        FieldMapping((_input,), "messages", note="of more than a prompt"),
        FieldMapping((_target,), "references", LIST_OF_ONE, note='"" if there is none'),
        FieldMapping(("choices",), "choices"),
        FieldMapping(("id",), "id"),
        FieldMapping(("metadata",), "metadata"),
    ),
    own_keys=(_input, _target),
    read_own=_read_sample,
    write_own=_write_sample,
).adapter(
    asks_with=(_files, _setup, "sandbox"),
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.NONE,
        messages=True,
        asks_only=True,
    ),
    extras_path=("metadata",),
    discriminators=frozenset({(_input, "*", "role")}),
    extra_examples={
        _parts: [{"message": 0, "type": "image", "image": "a.png"}],
        _contents: [{"message": 0, "content": [{"type": "text", "text": "q", "k": 1}]}],
    },
    other_names={
        SYSTEM_MESSAGE: f"{_input} (system)",
        f"extra.{_vendor}.{_parts}": f"{_input} (parts that are no text)",
        f"extra.{_vendor}.{_contents}": f"{_input} (contents in parts of text)",
        f"extra.{_vendor}.{_letters}": f"{_target} (that it is letters)",
    },
)
