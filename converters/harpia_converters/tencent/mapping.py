"""The adapters of Tencent's formats: rows of messages, turns and tables to records."""

from dataclasses import replace
from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.tencent.conversations import (
    EMPTIED,
    KEY,
    MESSAGE_KEYS,
    are_message_extras,
    expected_answer,
    read_answers,
    read_chat,
    write_answers,
    write_chat,
)
from harpia_converters.tencent.formats import ANSWER_COLUMNS
from harpia_formats.conversion.mapping.chat_messages import (
    CUT,
    no_question,
    record_question_outcomes,
    with_text,
)
from harpia_formats.conversion.mapping.fields import FieldTable, put_in_front, without
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_outcomes import BLANK, FieldOutcomes
from harpia_formats.model.record import SYSTEM_MESSAGE, Record, fits

_turn_keys = frozenset({"prompt", "response"})


def _read_turns(row: Row, kept: Row) -> Row:
    """Return the prompt and the reference of the last turn, and other keys of turns."""
    turns = row["conversation"]
    others = [without(turn, _turn_keys) for turn in turns]
    if any(others):
        kept["conversation"] = others
    fields = _question_fields(row.get("system", UNSET), turns)
    fields["references"] = [turns[-1]["response"]]
    return fields


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


def _write_turns(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return system input and turns; a chat that does not alternate is cut to a prompt.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    if record.messages is UNSET and record.prompt is not UNSET:
        # The question is read as it was, so that nothing has to be noted.
        answer = expected_answer(record, "response", outcomes)
        system, turns = record.system, [{"prompt": record.prompt, "response": answer}]
    else:
        system, turns = any_turns(record, outcomes)
    if kept:
        _drop_of_message(kept, outcomes)
        turns = _with_others(turns, kept)
    row: Row = {} if system is UNSET else {"system": system}
    return {**row, "conversation": turns}


def any_turns(
    record: Record, outcomes: FieldOutcomes
) -> tuple[str | UnsetType, list[Row]]:
    """Return the system input and the turns for any record.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    system, chat, done = _split(record)
    texts: list[str] = [message["content"] for message in chat]
    texts.append(expected_answer(record, "response", outcomes))
    turns: list[Row] = [
        {"prompt": prompt, "response": response}
        for prompt, response in zip(texts[::2], texts[1::2], strict=True)
    ]
    record_question_outcomes(record, _question_fields(system, turns), done, outcomes)
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


def _drop_of_message(rest: Row, outcomes: FieldOutcomes) -> None:
    """Remove the keys of an answer's message from `rest`: a row of turns has none."""
    if are_message_extras(rest.get("messages")):
        del rest["messages"]
        outcomes.dropped(f"extra.{KEY}.messages", "a turn is no message")


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


#: The columns of a table, in the order of Tencent's page.
COLUMNS = ("system", "prompt", "response")


def _read_cells(row: Row, kept: Row) -> Row:
    """Return the fields of a table's row; a blank system input is none.

    So is a blank cell of a column that is not Tencent's: other rows may have the key.
    """
    for key in [key for key, text in kept.items() if not text]:
        del kept[key]
    system, references = row.get("system") or UNSET, [row["response"]]
    return {"prompt": row["prompt"], "system": system, "references": references}


def write_cells(record: Record, outcomes: FieldOutcomes) -> Row:
    """Return the row for `record` with Tencent's columns, and with text in every cell.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    if record.prompt is UNSET:
        raise no_question()
    if record.system is UNSET:
        outcomes.defaulted("system", BLANK)
    elif record.system == "":
        outcomes.changed("system", "a blank cell is read as none")
    return {
        "system": record.system or "",
        "prompt": record.prompt,
        "response": expected_answer(record, "response", outcomes),
    }


def _write_all_cells(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return Tencent's columns, and keep those that the own row had."""
    row = write_cells(record, outcomes)
    _keep_texts(kept, outcomes)
    return row


def _keep_texts(rest: Row, outcomes: FieldOutcomes) -> None:
    """Remove kept members that are no text, which are lost.

    So are columns by which a table holds answers of models instead of references.
    """
    for key in ANSWER_COLUMNS & rest.keys():
        outcomes.dropped(f"extra.{KEY}.{key}", "by the column a response is a model's")
        del rest[key]
    for key in [key for key, value in rest.items() if not isinstance(value, str)]:
        outcomes.dropped(f"extra.{KEY}.{key}", "a cell holds text only")
        del rest[key]
    for key in [key for key, value in rest.items() if not value]:
        outcomes.dropped(f"extra.{KEY}.{key}", "a blank cell is read as none")
        del rest[key]


def with_response(row: Row) -> Row:
    """Return a row of the dialect answer with its column named `response`."""
    return {"response" if key == "answer" else key: value for key, value in row.items()}


#: Generation settings at the root of a row, as in Tencent's examples.
_settings = ("max_tokens", "temperature", "top_p", "top_k")
_setting_keys = frozenset(_settings)
#: Documented keys of a row; all others are the user's own.
_own_keys = ("messages", "ref_answer", "model_outputs")

_question_mappings = (
    FieldMapping(("messages",), "messages", note="without an assistant's last one"),
    FieldMapping(
        ("messages",), "prompt", note="the user's message, where it is the only one"
    ),
    FieldMapping(
        ("messages",), "system", note="the message in front of a single prompt"
    ),
    FieldMapping(
        ("messages",), "gt", note="the last message, if it is the assistant's"
    ),
    FieldMapping(("ref_answer",), "references", LIST_OF_ONE),
    FieldMapping(("id",), "id"),
    *(FieldMapping((name,), f"params.{name}") for name in _settings),
)
_entry = ("model_outputs",)
_response = ("model_outputs", "responses")
_output_fields = (
    FieldMapping((*_entry, "model_name"), "outputs.model", required=True),
    FieldMapping(
        _response, "outputs.index", note="the place, where a model has several"
    ),
    FieldMapping(
        (*_response, "content"), "outputs.text", EMPTY_FOR_NULL, required=True
    ),
    FieldMapping(
        (*_response, "reasoning_content"), "outputs.reasoning", NOTHING_FOR_NULL
    ),
)
_turn = ("conversation",)
_turn_fields = (
    FieldMapping(("system",), "system", note="or the first of the messages"),
    FieldMapping(
        (*_turn, "prompt"), "prompt", required=True, note="where there is one turn"
    ),
    FieldMapping(
        (*_turn, "response"),
        "references",
        LIST_OF_ONE,
        required=True,
        note="of the last turn",
    ),
    FieldMapping((*_turn, "response"), "gt", note="where there are no references"),
    FieldMapping(_turn, "messages", note="several turns, up to the last prompt"),
)
_table_fields = (
    FieldMapping(("system",), "system", note="a blank cell is none"),
    FieldMapping(("prompt",), "prompt", required=True),
    FieldMapping(("response",), "references", LIST_OF_ONE, required=True),
    FieldMapping(("response",), "gt", note="where there are no references"),
)


def _read_messages(row: Row, kept: Row) -> Row:
    """Return a chat's question, its last answer as what is expected, and outputs."""
    fields, message_extras = read_chat(row["messages"])
    if "ref_answer" in row:
        fields["references"] = [row["ref_answer"]]
    if "model_outputs" in row:
        fields["outputs"] = read_answers(row["model_outputs"])
    if kept and not _setting_keys.isdisjoint(kept):
        settings = {key: kept[key] for key in kept if key in _setting_keys}
        for key in settings:
            del kept[key]
        fields["params"] = settings
    if message_extras:
        put_in_front(kept, "messages", message_extras)
    return fields


def _write_messages(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return a row without outputs of models."""
    row = _asking_row(record, kept, outcomes)
    if not kept:
        return row
    if isinstance(kept.get("outputs"), list):
        outcomes.dropped(
            f"extra.{KEY}.outputs", "with messages they are of another tool"
        )
        del kept["outputs"]
    _note_kept(row, record, kept, outcomes)
    return row


def _write_with_answers(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return a row with all outputs of models."""
    answers = write_answers(record.outputs, outcomes)
    row = _asking_row(record, kept, outcomes)
    row["model_outputs"] = answers
    if kept:
        _note_kept(row, record, kept, outcomes)
    return row


def _asking_row(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the chat of a record with its reference, its id and its settings."""
    row: Row = {"messages": write_chat(record, kept, outcomes)}
    if record.references:
        row["ref_answer"] = record.references[0]
    elif record.references is not UNSET:
        outcomes.dropped("references", "there are none")
    if record.id is not UNSET:
        row["id"] = record.id
    if record.params:
        # In the order of the record.
        row |= {key: each for key, each in record.params.items() if key in _settings}
    return row


def _note_kept(row: Row, record: Record, kept: Row, outcomes: FieldOutcomes) -> None:
    """Drop kept keys of turns, and note each key that is read as a field of `row`."""
    if record.references and record.gt is UNSET:
        _drop_of_turns(row["messages"], kept, outcomes)
    for key, value in kept.items():
        record_path = f"params.{key}" if key in _settings else key
        if key not in row and (key in _settings or (key == "id" and fits("id", value))):
            outcomes.merged(f"extra.{KEY}.{key}", f"the field {record_path}")
            outcomes.defaulted(record_path, f"of extra.{KEY}")


def _drop_of_turns(messages: list[Row], rest: Row, outcomes: FieldOutcomes) -> None:
    """Remove the keys of turns, which have an answer each, from `rest`."""
    if "conversation" in rest:
        asked = [message for message in messages if message.get("role") == "user"]
        if turn_keys_of(rest, len(asked)) is not None:
            del rest["conversation"]
            outcomes.dropped(f"extra.{KEY}.conversation", "a message is no turn")


#: The role of a message decides which field it is.
_roles = frozenset({("messages", "*", "role")})
_names_of_messages = {SYSTEM_MESSAGE: "messages (system)"}

MESSAGES = FieldTable(
    KEY,
    _question_mappings,
    own_keys=_own_keys,
    read_own=_read_messages,
    write_own=_write_messages,
    in_order=True,
).adapter(
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    extras_path=(),
    discriminators=_roles,
    other_names=_names_of_messages,
)

OUTPUTS = FieldTable(
    KEY,
    (*_question_mappings, *_output_fields),
    own_keys=_own_keys,
    read_own=_read_messages,
    write_own=_write_with_answers,
    in_order=True,
).adapter(
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.MANY, messages=True
    ),
    extras_path=(),
    other_paths=frozenset({f"outputs.extra.{KEY}"}),
    answer_path=_entry,
    other_names={
        **_names_of_messages,
        "outputs.index": "model_outputs.responses (the place in the list)",
    },
    nested_lists=frozenset({"responses"}),
    discriminators=_roles,
)

MANUAL = FieldTable(
    KEY,
    _turn_fields,
    own_keys=("system", "conversation"),
    read_own=_read_turns,
    write_own=_write_turns,
    in_order=True,
).adapter(
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    extras_path=(),
    other_names={SYSTEM_MESSAGE: "system"},
    extra_examples={"conversation": [{"*": "value"}]},
)


_whole_table = FieldTable(
    KEY,
    _table_fields,
    own_keys=COLUMNS,
    read_own=_read_cells,
    write_own=_write_all_cells,
    in_order=True,
).adapter(
    capacity=RowCapacity(references=Cardinality.ONE, outputs=Cardinality.NONE),
    dialect_normalizers={"answer": with_response},
    columns=COLUMNS,
    required_columns=COLUMNS,
)
_answer_fields = tuple(
    replace(field, path=("answer",)) if field.path == ("response",) else field
    for field in _table_fields
)
TABLE = replace(
    _whole_table,
    write=write_cells,
    with_own_extra=_whole_table,
    named_by_dialect={"answer": replace(_whole_table, fields=_answer_fields)},
)
