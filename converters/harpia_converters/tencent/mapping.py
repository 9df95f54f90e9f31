"""The adapters of Tencent's formats: rows of messages, turns and tables to records."""

from dataclasses import replace

from msgspec import UNSET

from harpia_converters.tencent.answers import read_answers, write_answers
from harpia_converters.tencent.chats import read_chat, write_chat
from harpia_converters.tencent.extra_fields import KEY, kept_of, put_back
from harpia_converters.tencent.manual_mapping import (
    read_turns,
    turn_keys_of,
    write_turns,
)
from harpia_converters.tencent.table_mapping import (
    COLUMNS,
    read_cells,
    with_response,
    write_all_cells,
    write_cells,
)
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import SYSTEM_MESSAGE, Record, fits

#: Generation settings at the root of a row, as in Tencent's examples.
_settings = ("max_tokens", "temperature", "top_p", "top_k")
#: Documented keys of a row; all others are the user's own.
_own = frozenset({"messages", "ref_answer", "model_outputs"})

_question_fields = (
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


def _read(row: Row) -> Record:
    """Return the record of a row with messages."""
    fields, beside_answer = read_chat(row["messages"])
    settings: Row = {}
    rest: Row = {"messages": beside_answer} if beside_answer else {}
    for key, value in row.items():
        if key in _own:
            continue
        if key in _settings:
            settings[key] = value
        elif key == "id" and fits("id", value):
            fields["id"] = value
        else:
            rest[key] = value
    if "ref_answer" in row:
        fields["references"] = [row["ref_answer"]]
    if settings:
        fields["params"] = settings
    if "model_outputs" in row:
        fields["outputs"] = read_answers(row["model_outputs"])
    if rest:
        fields["extra"] = {KEY: rest}
    return Record(**fields)


def _write(record: Record, fates: FieldFates) -> Row:
    """Return the row for `record`, without outputs of models."""
    return _with_rest({}, record, fates)


def _write_with_answers(record: Record, fates: FieldFates) -> Row:
    """Return the row for `record`, with all outputs of models."""
    answers = write_answers(record.outputs, fates)
    return _with_rest({"model_outputs": answers}, record, fates)


def _with_rest(answers: Row, record: Record, fates: FieldFates) -> Row:
    rest = kept_of(record)
    row: Row = {"messages": write_chat(record, rest, fates)}
    if record.references:
        row["ref_answer"] = record.references[0]
    elif record.references is not UNSET:
        fates.dropped("references", "there are none")
    if record.id is not UNSET:
        row["id"] = record.id
    if record.params:
        # In the order of the record.
        row |= {key: each for key, each in record.params.items() if key in _settings}
    row |= answers
    if not rest:
        return row
    if not answers and isinstance(rest.get("outputs"), list):
        fates.dropped(
            f"extra.{KEY}.outputs", "beside messages they are of another tool"
        )
        del rest["outputs"]
    if record.references and record.gt is UNSET:
        _drop_of_turns(row["messages"], rest, fates)
    _record_merged(row, rest, fates)
    return put_back(row, rest, _own | row.keys(), "extra", fates)


def _drop_of_turns(messages: list[Row], rest: Row, fates: FieldFates) -> None:
    """Remove the keys of turns, which have an answer each, from `rest`."""
    if "conversation" in rest:
        asked = [message for message in messages if message.get("role") == "user"]
        if turn_keys_of(rest, len(asked)) is not None:
            del rest["conversation"]
            fates.dropped(f"extra.{KEY}.conversation", "a message is no turn")


def _record_merged(row: Row, rest: Row, fates: FieldFates) -> None:
    """Record in `fates` each kept key that is read as a field in the written row."""
    for key, value in rest.items():
        record_path = f"params.{key}" if key in _settings else key
        if key not in row and (key in _settings or (key == "id" and fits("id", value))):
            fates.merged(f"extra.{KEY}.{key}", f"the field {record_path}")
            fates.defaulted(record_path, f"of extra.{KEY}")


#: The role of a message decides which field it is.
_roles = frozenset({("messages", "*", "role")})
_names_of_messages = {SYSTEM_MESSAGE: "messages (system)"}

MESSAGES = FormatAdapter(
    vendor=KEY,
    fields=_question_fields,
    read=_read,
    write=_write,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    extras_path=(),
    discriminators=_roles,
    other_names=_names_of_messages,
)

OUTPUTS = FormatAdapter(
    vendor=KEY,
    fields=(*_question_fields, *_output_fields),
    read=_read,
    write=_write_with_answers,
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

MANUAL = FormatAdapter(
    vendor=KEY,
    fields=_turn_fields,
    read=read_turns,
    write=write_turns,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    extras_path=(),
    other_names={SYSTEM_MESSAGE: "system"},
    extra_examples={"conversation": [{"*": "value"}]},
)

_whole_table = FormatAdapter(
    vendor=KEY,
    fields=_table_fields,
    read=read_cells,
    write=write_all_cells,
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
