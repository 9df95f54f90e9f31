"""Convert rows of manual evaluation, a system input and turns, to records and back."""

from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.tencent.extra_fields import (
    KEY,
    as_extra,
    is_beside_answer,
    kept_of,
    put_back,
    without,
)
from harpia_converters.tencent.questions import (
    EMPTIED,
    MESSAGE_KEYS,
    expected_answer,
)
from harpia_formats.conversion.mapping.asked_chat import with_text
from harpia_formats.conversion.mapping.question_fates import (
    CUT,
    no_question,
    record_question_fates,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

_row_keys = frozenset({"system", "conversation"})
_turn_keys = frozenset({"prompt", "response"})


def read_turns(row: Row) -> Record:
    """Return the record of a row: the prompt and the reference of its last turn."""
    turns = row["conversation"]
    rest = without(row, _row_keys)
    others = [without(turn, _turn_keys) for turn in turns]
    if any(others):
        rest["conversation"] = others
    return Record(
        **_question_fields(row.get("system", UNSET), turns),
        references=[turns[-1]["response"]],
        **as_extra(rest),
    )


def _question_fields(system: str | UnsetType, turns: list[Row]) -> Row:
    """Return the fields of the question: a prompt, or messages for several turns."""
    if len(turns) == 1:
        asked: Row = {"prompt": turns[0]["prompt"]}
        return asked if system is UNSET else {**asked, "system": system}
    messages = [] if system is UNSET else [{"role": "system", "content": system}]
    for turn in turns:
        messages.append({"role": "user", "content": turn["prompt"]})
        messages.append({"role": "assistant", "content": turn["response"]})
    return {"messages": messages[:-1]}


def write_turns(record: Record, fates: FieldFates) -> Row:
    """Return the row for `record`; a chat that does not alternate is cut to a prompt.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    if record.messages is UNSET and record.prompt is not UNSET:
        # The question is read as it was, so that nothing has to be noted.
        answer = expected_answer(record, "response", fates)
        system, turns = record.system, [{"prompt": record.prompt, "response": answer}]
    else:
        system, turns = any_turns(record, fates)
    rest = kept_of(record)
    if rest:
        _drop_of_message(rest, fates)
    row: Row = {} if system is UNSET else {"system": system}
    row["conversation"] = _with_others(turns, rest) if rest else turns
    return put_back(row, rest, _row_keys, "extra", fates) if rest else row


def any_turns(record: Record, fates: FieldFates) -> tuple[str | UnsetType, list[Row]]:
    """Return the system input and the turns for any record.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    system, chat, done = _split(record)
    texts: list[str] = [message["content"] for message in chat]
    texts.append(expected_answer(record, "response", fates))
    turns: list[Row] = [
        {"prompt": prompt, "response": response}
        for prompt, response in zip(texts[::2], texts[1::2], strict=True)
    ]
    record_question_fates(record, _question_fields(system, turns), done, fates)
    return system, turns


def _split(record: Record) -> tuple[str | UnsetType, list[Row], list[str]]:
    """Return the system input, the messages after it, and the changes made to them."""
    if not record.messages:
        if record.prompt is UNSET:
            raise no_question()
        return record.system, [_user_message(record.prompt)], []
    chat = [with_text(message) for message in record.messages]
    done = [EMPTIED] if chat != record.messages else []
    system = record.system
    if chat[0]["role"] == "system" and len(chat) > 1:
        system = chat.pop(0)["content"]
    elif system is not UNSET:
        done.append("with the system message in front")
    if not _alternates(chat):
        return system, [_last(chat, record)], [CUT]
    if any(tuple(message) != MESSAGE_KEYS for message in record.messages):
        done.append("with role and content only")
    return system, chat, done


def _user_message(text: str) -> Row:
    return {"role": "user", "content": text}


def _alternates(chat: list[Row]) -> bool:
    """Tell whether user and assistant alternate, from user to user."""
    roles = [message["role"] for message in chat]
    return len(roles) % 2 == 1 and all(
        role == ("user", "assistant")[place % 2] for place, role in enumerate(roles)
    )


def _last(chat: list[Row], record: Record) -> Row:
    """Return the last message of the user, else the prompt, else the last message."""
    for message in reversed(chat):
        if message["role"] == "user":
            return message
    return chat[-1] if record.prompt is UNSET else _user_message(record.prompt)


def _with_others(turns: list[Row], rest: Row) -> list[Row]:
    """Return `turns` with their extra keys, which are removed from `rest`."""
    others = turn_keys_of(rest, len(turns))
    if others is None:
        return turns
    del rest["conversation"]
    return [{**turn, **other} for turn, other in zip(turns, others, strict=True)]


def _drop_of_message(rest: Row, fates: FieldFates) -> None:
    """Remove the keys of an answer's message from `rest`: a row of turns has none."""
    if is_beside_answer(rest.get("messages")):
        del rest["messages"]
        fates.dropped(f"extra.{KEY}.messages", "a turn is no message")


def turn_keys_of(rest: Row, count: int) -> Any:
    """Return the keys of each of `count` turns that `rest` keeps, None if it has none.

    Rows of messages may have a list under the same name.
    """
    others = rest.get("conversation")
    return others if _suits(others, count) else None


def _suits(others: Any, count: int) -> bool:
    """Tell whether `others` has an object of extra keys for each of `count` turns."""
    if not isinstance(others, list) or len(others) != count or not any(others):
        return False
    return all(
        isinstance(other, dict) and not other.keys() & _turn_keys for other in others
    )
