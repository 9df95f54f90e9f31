"""Which field of a record each key of Tencent's rows is."""

from typing import Any

from msgspec import UNSET

from harpia_converters.tencent.answers import read_answers, write_answers
from harpia_converters.tencent.cells import (
    COLUMNS,
    read_cells,
    with_response,
    write_cells,
)
from harpia_converters.tencent.chats import read_chat, write_chat
from harpia_converters.tencent.leftovers import KEY, as_extra, kept_of, put_back
from harpia_converters.tencent.turns import read_turns, write_turns
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    NOTHING_FOR_NULL,
    ONE,
    Field,
    FormatAdapter,
    Holds,
    Many,
    Row,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record, fits

#: Settings of the generation that Tencent's examples have, at the root of a row.
_settings = ("max_tokens", "temperature", "top_p", "top_k")
#: What a row has beside the fields of the user's own.
_own = frozenset({"messages", "ref_answer", "model_outputs"})

_of_asked = (
    Field(("messages",), "messages", note="without an assistant's last one"),
    Field(("messages",), "prompt", note="the user's message, where it is the only one"),
    Field(("messages",), "system", note="the message in front of a single prompt"),
    Field(("messages",), "gt", note="the last message, if it is the assistant's"),
    Field(("ref_answer",), "references", ONE),
    Field(("id",), "id"),
    *(Field((each,), f"params.{each}") for each in _settings),
)
_entry = ("model_outputs",)
_response = ("model_outputs", "responses")
_of_answers = (
    Field((*_entry, "model_name"), "outputs.model", required=True),
    Field(_response, "outputs.index", note="the place, where a model has several"),
    Field((*_response, "content"), "outputs.text", EMPTY_FOR_NULL, required=True),
    Field((*_response, "reasoning_content"), "outputs.reasoning", NOTHING_FOR_NULL),
)
_turn = ("conversation",)
_of_turns = (
    Field(("system",), "system", note="or the first of the messages"),
    Field((*_turn, "prompt"), "prompt", required=True, note="where there is one turn"),
    Field(
        (*_turn, "response"), "references", ONE, required=True, note="of the last turn"
    ),
    Field((*_turn, "response"), "gt", note="where there are no references"),
    Field(_turn, "messages", note="several turns, up to the last prompt"),
)
_of_cells = (
    Field(("system",), "system", note="a blank cell is none"),
    Field(("prompt",), "prompt", required=True),
    Field(("response",), "references", ONE, required=True),
    Field(("response",), "gt", note="where there are no references"),
)


def _read(row: Row) -> Record:
    """Return the record that a row with messages is."""
    fields, beside_answer = read_chat(row["messages"])
    settings: Row = {}
    rest: Row = {"messages": beside_answer} if beside_answer else {}
    for key, value in row.items():
        if key in _settings:
            settings[key] = value
        elif key == "id" and fits("id", value):
            fields["id"] = value
        elif key not in _own:
            rest[key] = value
    if "ref_answer" in row:
        fields["references"] = [row["ref_answer"]]
    if settings:
        fields["params"] = settings
    if "model_outputs" in row:
        fields["outputs"] = read_answers(row["model_outputs"])
    return Record(**fields, **as_extra(rest))


def _write(record: Record, notes: FieldFates) -> Row:
    """Return the row for `record`, without answers of models."""
    return _with_rest({}, record, notes)


def _write_with_answers(record: Record, notes: FieldFates) -> Row:
    """Return the row for `record`, with all answers of models."""
    answers = write_answers(record.outputs, notes)
    return _with_rest({"model_outputs": answers}, record, notes)


def _with_rest(answers: Row, record: Record, notes: FieldFates) -> Row:
    rest = kept_of(record)
    row: Row = {"messages": write_chat(record, rest, notes)}
    row |= _reference(record, notes) | _settled(record) | answers
    _note_taken(row, rest, notes)
    return put_back(row, rest, _own | row.keys(), "extra", notes)


def _reference(record: Record, notes: FieldFates) -> Row:
    if record.references == []:
        notes.dropped("references", "there are none")
    return {"ref_answer": record.references[0]} if record.references else {}


def _settled(record: Record) -> Row:
    """Return the id and the settings, in the order that they have in the record."""
    fields: Row = {} if record.id is UNSET else {"id": record.id}
    settings: Any = record.params or {}
    return fields | {key: each for key, each in settings.items() if key in _settings}


def _note_taken(row: Row, rest: Row, notes: FieldFates) -> None:
    """Note what was kept of a row in which it was no field, and is one in this row."""
    for key, value in rest.items():
        hub = f"params.{key}" if key in _settings else key
        if key not in row and (key in _settings or (key == "id" and fits("id", value))):
            notes.merged(f"extra.{KEY}.{key}", f"the field {hub}")
            notes.defaulted(hub, f"of extra.{KEY}")


#: Who says something decides on what field it is.
_speakers = frozenset({("messages", "*", "role")})

MESSAGES = FormatAdapter(
    vendor=KEY,
    fields=_of_asked,
    read=_read,
    write=_write,
    holds=Holds(references=Many.ONE, outputs=Many.NONE, messages=True),
    room=(),
    sensitive=_speakers,
)

OUTPUTS = FormatAdapter(
    vendor=KEY,
    fields=(*_of_asked, *_of_answers),
    read=_read,
    write=_write_with_answers,
    holds=Holds(references=Many.ONE, outputs=Many.ALL, messages=True),
    room=(),
    carries=frozenset({f"outputs.extra.{KEY}"}),
    opened=frozenset({"responses"}),
    sensitive=_speakers,
)

MANUAL = FormatAdapter(
    vendor=KEY,
    fields=_of_turns,
    read=read_turns,
    write=write_turns,
    holds=Holds(references=Many.ONE, outputs=Many.NONE, messages=True),
    room=(),
)

TABLE = FormatAdapter(
    vendor=KEY,
    fields=_of_cells,
    read=read_cells,
    write=write_cells,
    holds=Holds(references=Many.ONE, outputs=Many.NONE),
    straight={"answer": with_response},
    columns=COLUMNS,
    all_columns=COLUMNS,
)
