"""The fields of rows of any columns: a column named like a field is that field."""

from typing import Any

from harpia_formats.model.adapter import DECLINED, FieldMapping, ValueCodec, as_is
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS

#: The column of a field whose column does not have its name.
_columns = {"outputs.text": "response", "outputs.scores.value": "score"}
#: A column cannot hold the extra of two vendors under one name.
_no_columns = frozenset({"extra", "outputs.extra"})


def _texts(value: Any) -> Any:
    """Return a list of texts; one text is a list of one."""
    if type(value) is str:
        return [value]
    is_texts = type(value) is list and all(type(item) is str for item in value)
    return value if is_texts else DECLINED


_TEXTS = ValueCodec(_texts, as_is, "text is a list of one")

#: The fields that a row of any columns can hold.
COLUMN_FIELDS = tuple(
    FieldMapping(
        (_columns.get(path, path.rpartition(".")[2]),),
        path,
        *((_TEXTS,) if path in TEXT_LISTS else ()),
    )
    for path in FIELD_TYPES
    if path not in _no_columns
)
