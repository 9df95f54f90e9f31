"""The adapter of openai-evals: samples to records and back."""

from typing import Any

from msgspec import UNSET

from harpia_converters.openai_evals.detection import KEY
from harpia_formats.conversion.mapping.asked_chat import read_chat, write_chat
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    ValueCodec,
)
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import SYSTEM_MESSAGE, Record

_input, _ideal = "input", "ideal"
_own = (_input, _ideal)
#: The value of `input` in the extra of a record whose input was a text and not a chat.
_text = "text"


def _text_or_list(texts: list[str]) -> Any:
    return texts[0] if len(texts) == 1 else texts


_references = ValueCodec(LIST_OF_ONE.read, _text_or_list, "one text is a list of one")


def _read(row: Row) -> Record:
    """Return the record of a sample."""
    asked, ideal = row[_input], row[_ideal]
    rest = {key: value for key, value in row.items() if key not in _own}
    if type(asked) is str:
        fields: Row = {"prompt": asked}
        rest[_input] = _text
    else:
        fields = read_chat(asked)
    fields["references"] = [ideal] if type(ideal) is str else ideal
    if rest:
        fields["extra"] = {KEY: rest}
    return Record(**fields)


def _write(record: Record, fates: FieldFates) -> Row:
    """Return the sample for `record`.

    A prompt is written as a chat, which OpenAI's guide asks for, unless it was a text.
    Raises `Unconvertible` for a record without a question or without references.
    """
    kept = {} if record.extra is UNSET else record.extra.get(KEY, {})
    is_text = kept.get(_input) == _text and not record.messages
    is_text = is_text and record.system is UNSET and record.prompt is not UNSET
    asked: Any = record.prompt if is_text else write_chat(record, fates)
    if is_text and record.messages is not UNSET:
        fates.dropped("messages", "there are none")
    if record.references is UNSET:
        reason = f"the record has nothing for `{_ideal}`"
        help_ = f"give it with --set {_ideal}=VALUE"
        raise Unconvertible("references", reason, help_)
    row = {_input: asked, _ideal: _text_or_list(record.references)}
    for key, value in kept.items():
        if key not in _own:
            row[key] = value
        elif key == _ideal or not is_text:
            fates.dropped(f"extra.{KEY}.{key}", "the key belongs to another field")
    return row


SAMPLES = FormatAdapter(
    vendor=KEY,
    fields=(
        FieldMapping((_input,), "messages", note="of more than a prompt"),
        FieldMapping(
            (_input,), "prompt", note="a text, or the only message of the user"
        ),
        FieldMapping(
            (_input,), "system", note="the message in front of a single prompt"
        ),
        FieldMapping((_ideal,), "references", _references, required=True),
    ),
    read=_read,
    write=_write,
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.NONE,
        messages=True,
        asks_only=True,
    ),
    extras_path=(),
    discriminators=frozenset({(_input, "*", "role")}),
    extra_examples={_input: _text},
    other_names={
        SYSTEM_MESSAGE: f"{_input} (system)",
        f"extra.{KEY}.{_input}": f"{_input} (a text)",
    },
)
