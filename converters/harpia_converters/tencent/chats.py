"""Convert the list `messages` of a row to the prompt of a record, and back."""

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import KEY, is_beside_answer, without
from harpia_converters.tencent.questions import (
    EMPTIED,
    MESSAGE_KEYS,
)
from harpia_formats.conversion.mapping.asked_chat import with_text
from harpia_formats.conversion.mapping.question_fates import (
    is_from_turns,
    no_question,
    record_question_fates,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

#: Keys of messages that call tools or hold their results.
_tool_keys = frozenset({"tool_calls", "tool_call_id", "function_call"})
#: Keys of OpenAI's messages: those of tools, and the weight of an answer in training.
_foreign_keys = _tool_keys | {"weight"}
#: The roles of a chat that is not kept as messages, with the fields that they are, by
#: the number of messages; these have no further keys.
_plain = {
    1: (("user", "prompt"),),
    2: (("system", "system"), ("user", "prompt")),
}
_usual_keys = [*MESSAGE_KEYS]


def read_chat(messages: list[Row]) -> tuple[Row, Row]:
    """Return the record's fields for a chat, and extra keys of its last answer."""
    answer = messages[-1]
    if answer["role"] != "assistant":
        return _question(messages), {}
    fields = _question(messages[:-1])
    fields["gt"] = answer["content"]
    # Most messages have no more keys than they must have.
    is_usual = len(answer) == len(MESSAGE_KEYS)
    return fields, {} if is_usual else without(answer, MESSAGE_KEYS)


def _question(messages: list[Row]) -> Row:
    """Return the prompt, and the system prompt, or messages that are more than that."""
    count = len(messages)
    if count not in _plain:
        return {"messages": messages}
    fields = {}
    for message, (role, name) in zip(messages, _plain[count], strict=True):
        if message["role"] != role or len(message) > len(MESSAGE_KEYS):
            return {"messages": messages}
        fields[name] = message["content"]
    return fields


def write_chat(record: Record, rest: Row, fates: FieldFates) -> list[Row]:
    """Return the chat for `record`; extra keys of its answer are moved from `rest`.

    Raises `Unconvertible` if the record has neither a prompt nor messages.
    """
    if record.messages is UNSET and record.prompt is not UNSET:
        # It is read as it was, so that nothing has to be noted.
        return _with_answer(_prompt_chat(record), record, rest)
    return write_any_chat(record, rest, fates)


def write_any_chat(record: Record, rest: Row, fates: FieldFates) -> list[Row]:
    """Return what `write_chat` returns, for any record: the specification of that."""
    chat, done = _question_chat(record, fates)
    chat = _with_answer(chat, record, rest)
    if not chat:
        raise no_question()
    back, beside = read_chat(chat)
    if record.gt is UNSET and "gt" in back:
        done.append("the last message is gt")
        fates.defaulted("gt", "the last message, of the assistant")
        if beside:
            fates.defaulted(f"extra.{KEY}.messages", "of the last message")
    record_question_fates(record, back, done, fates)
    return chat


def _with_answer(chat: list[Row], record: Record, rest: Row) -> list[Row]:
    """Return `chat` with the answer that `record` expects, if it has one, behind it."""
    if record.gt is not UNSET:
        answer = {"role": "assistant", "content": record.gt, **_beside_answer(rest)}
        chat.append(answer)
    return chat


def _prompt_chat(record: Record) -> list[Row]:
    return [*_system_message(record), {"role": "user", "content": record.prompt}]


def _question_chat(record: Record, fates: FieldFates) -> tuple[list[Row], list[str]]:
    """Return the chat without its answer, and the changes made to the messages.

    Raises `Unconvertible` if there is none.
    """
    if not record.messages and record.prompt is not UNSET:
        return _prompt_chat(record), []
    start = _system_message(record)
    if record.messages is UNSET:
        raise no_question()
    from_turns = is_from_turns(fates)
    messages, done = _documented(record.messages, from_turns=from_turns)
    if from_turns and done:
        fates.changed("outputs.turns", "; ".join(done))
    chat = [with_text(message) for message in messages]
    if chat != messages:
        done.append(EMPTIED)
    if not start or any(message["role"] == "system" for message in chat):
        return chat, done
    return [*start, *chat], [*done, "with the system message"]


def _documented(
    messages: list[Row], *, from_turns: bool
) -> tuple[list[Row], list[str]]:
    """Return messages as Tencent documents them, and the changes made to them.

    A chat of Tencent's own may have other roles and keys, which stay. Tool calls,
    weights and the turns of an output are of other vendors: their messages get no
    other key, and no tool speaks.
    """
    if not from_turns and all(map(_foreign_keys.isdisjoint, messages)):
        return messages, []
    done = []
    # Where only tools speak, there is nothing else to ask.
    spoken = [message for message in messages if not _is_of_tool(message)] or messages
    if len(spoken) < len(messages):
        done.append("without tool calls and their results")
    plain = [_plain_message(message) for message in spoken]
    if plain != spoken:
        done.append("with role and content only")
    return plain, done


def _plain_message(message: Row) -> Row:
    """Return a message without other keys than role and content."""
    keys = [*message]
    if keys[: len(MESSAGE_KEYS)] == _usual_keys:
        return {"role": message["role"], "content": message["content"]}
    return {key: message[key] for key in keys if key in MESSAGE_KEYS}


def _is_of_tool(message: Row) -> bool:
    """Tell whether a message is the result of a tool, or only calls one."""
    # The role may be any value.
    if message.get("role") in ("tool", "function"):
        return True
    return not message.get("content") and not _tool_keys.isdisjoint(message)


def _system_message(record: Record) -> list[Row]:
    if record.system is UNSET:
        return []
    return [{"role": "system", "content": record.system}]


def _beside_answer(rest: Row) -> Row:
    """Remove the extra keys of the last answer from `rest`, and return them."""
    if not is_beside_answer(rest.get("messages")):
        return {}
    taken: Row = rest.pop("messages")
    return taken
