"""Convert rows of the table of manual evaluation to records and back."""

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import (
    KEY,
    as_extra,
    kept_of,
    put_back,
    without,
)
from harpia_converters.tencent.questions import expected_answer
from harpia_converters.tencent.table import ANSWER_COLUMNS
from harpia_formats.conversion.mapping.question_fates import no_question
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import BLANK, FieldFates
from harpia_formats.model.record import Record

#: The columns of a table, in the order of Tencent's page.
COLUMNS = ("system", "prompt", "response")


def read_cells(row: Row) -> Record:
    """Return the record of a row; a blank system input is none.

    So is a blank cell of a column that is not Tencent's: other rows may have the key.
    """
    others = without(row, COLUMNS)
    return Record(
        prompt=row["prompt"],
        system=row.get("system") or UNSET,
        references=[row["response"]],
        **as_extra({key: text for key, text in others.items() if text}),
    )


def write_cells(record: Record, fates: FieldFates) -> Row:
    """Return the row for `record` with Tencent's columns, and with text in every cell.

    Raises `Unconvertible` for a record without a prompt, or without a reference.
    """
    if record.prompt is UNSET:
        raise no_question()
    if record.system is UNSET:
        fates.defaulted("system", BLANK)
    elif record.system == "":
        fates.changed("system", "a blank cell is read as none")
    return {
        "system": record.system or "",
        "prompt": record.prompt,
        "response": expected_answer(record, "response", fates),
    }


def write_all_cells(record: Record, fates: FieldFates) -> Row:
    """Return the row for `record` with the columns that its own row had, too."""
    row = write_cells(record, fates)
    return put_back(row, _texts_of(record, fates), COLUMNS, "extra", fates)


def _texts_of(record: Record, fates: FieldFates) -> Row:
    """Return the kept members of a record that are text; the others are lost.

    So are columns by which a table holds answers of models instead of references.
    """
    rest = kept_of(record)
    for key in ANSWER_COLUMNS & rest.keys():
        fates.dropped(f"extra.{KEY}.{key}", "by the column a response is a model's")
        del rest[key]
    for key in [key for key, value in rest.items() if not isinstance(value, str)]:
        fates.dropped(f"extra.{KEY}.{key}", "a cell holds text only")
        del rest[key]
    for key in [key for key, value in rest.items() if not value]:
        fates.dropped(f"extra.{KEY}.{key}", "a blank cell is read as none")
        del rest[key]
    return rest


def with_response(row: Row) -> Row:
    """Return a row of the dialect answer with its column named `response`."""
    return {"response" if key == "answer" else key: value for key, value in row.items()}
