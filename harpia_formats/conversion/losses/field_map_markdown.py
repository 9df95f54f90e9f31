"""Which key of each record format is which field of a record, in Markdown."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from harpia_formats.mapping.extras import EXTRAS_KEY
from harpia_formats.mapping.fields import describe_default
from harpia_formats.model.adapter import Cardinality, FieldMapping, FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.registry import adapter_of, readable_formats

_head = """\
# Which key is which field

Written by `harpia-formats formats --mapping`. Each table tells for one format which key
of its rows is which field of a [record](record.md), what a row has where a record has
nothing for it, and how one value becomes the other. `required` is what has to be given
with `--set`, or with `--score`, where a record lacks it.
"""
_columns = ("key", "field", "must it be there", "how")
_references = {
    Cardinality.NONE: "no reference",
    Cardinality.ONE: "one reference",
    Cardinality.MANY_OF_ONE_MODEL: "several references",
    Cardinality.MANY: "several references",
}
_outputs = {
    Cardinality.NONE: "no answer",
    Cardinality.ONE: "one answer",
    Cardinality.MANY_OF_ONE_MODEL: "several answers of one model",
    Cardinality.MANY: "several answers of several models",
}
_scores = {
    Cardinality.NONE: "no score",
    Cardinality.ONE: "one score",
    Cardinality.MANY_OF_ONE_MODEL: "several scores",
    Cardinality.MANY: "several scores",
}


def mapping_page() -> str:
    """Return the tables of all record formats, in the order of their list."""
    tables = (mapping_table(each) for each in readable_formats().values())
    return "\n".join([_head, *tables])


def mapping_table(format_: Format) -> str:
    """Return the table of one format under its heading."""
    adapter = adapter_of(format_)
    rows = [_row(_columns), _row("---" for _ in _columns)]
    rows += [_row(_cells(each)) for each in adapter.fields]
    about = [f"- {each}" for each in _about(adapter)]
    head = f"## `{format_.id}`: {format_.title}"
    return "\n".join([head, "", *rows, "", *about, ""])


def _row(cells: Iterable[str]) -> str:
    escaped = (each.replace("|", r"\|") for each in cells)
    return f"| {' | '.join(escaped)} |"


def _cells(field: FieldMapping) -> tuple[str, ...]:
    key = f"`{field.name}`"
    return key, f"`{field.record_path}`", _demand(field), "; ".join(_words(field))


def _demand(field: FieldMapping) -> str:
    """Return what a row has where a record has nothing for it."""
    if field.default is not UNSET:
        return f"`{describe_default(field.default).removeprefix('is ')}` if unknown"
    if field.required and field.record_path == "id":
        return "the number of the record if unknown"
    return "required" if field.required else ""


def _words(field: FieldMapping) -> Iterator[str]:
    if field.codec is not None:
        yield field.codec.description
    if field.key_record_path:
        yield f"each key is `{field.key_record_path}`"
    if field.note:
        yield field.note


def _about(adapter: FormatAdapter) -> Iterator[str]:
    """Yield what else is to be known of rows of a format."""
    capacity = adapter.capacity
    parts = [_references[capacity.references], _outputs[capacity.outputs]]
    if capacity.outputs is not Cardinality.NONE:
        parts.append(f"{_scores[capacity.scores]} of an answer")
    yield f"A row holds {_listed(parts)}."
    if capacity.messages or capacity.turns:
        asked = "may be a chat" if capacity.messages else "is one text"
        came = "may be a conversation" if capacity.turns else "is one text"
        if capacity.outputs is Cardinality.NONE:
            yield f"What is asked {asked}."
        else:
            yield f"What is asked {asked}; what is answered {came}."
    if adapter.vendor != "record":
        yield f"Other keys are in `extra.{adapter.vendor}` of the record."
    if adapter.header_fields:
        fields = _listed([f"`header.{each}`" for each in adapter.header_fields])
        yield f"What stands around the rows is {fields}."
    if adapter.extras_path is not None:
        where = ".".join((*adapter.extras_path, EXTRAS_KEY))
        text = ", as JSON text" if adapter.extras_as_text else ""
        yield f"`--keep-extra` puts what has no place into `{where}`{text}."
    if adapter.write is None:
        yield "Rows are read, and not written."
    if adapter.dialect_normalizers:
        names = _listed([f"`{each}`" for each in adapter.dialect_normalizers])
        yield f"Rows of the dialects {names} are read, and not written."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def mapping_as_dict(format_: Format) -> dict[str, Any]:
    """Return the table of one format as programs get it."""
    return {
        "id": format_.id,
        "fields": [
            {
                "key": each.name,
                "field": each.record_path,
                "required": each.required,
                "default": None if each.default is UNSET else each.default,
                "has_default": each.default is not UNSET,
                "how": list(_words(each)),
            }
            for each in adapter_of(format_).fields
        ],
    }
