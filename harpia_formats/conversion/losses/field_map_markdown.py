"""Write the field map of each record format in Markdown: its keys, and their fields."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.extra_fields import EXTRAS_KEY
from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.adapter import Cardinality, FieldMapping, FormatAdapter
from harpia_formats.model.format import Format

_head = """\
# Which key is which field

Written by `harpia-formats formats --mapping`. Each table lists the keys of the rows of
one format, the field of a [record](record.md) that each key holds, what a row has if a
record lacks the field, and how the value is converted. A `required` field must be given
with `--set`, or with `--score`, if a record lacks it.
"""
_columns = ("key", "field", "required?", "how")
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
    """Return the page with the field maps of all record formats."""
    tables = (mapping_table(format_) for format_ in readable_formats().values())
    return "\n".join([_head, *tables])


def mapping_table(format_: Format) -> str:
    """Return the field map of one format as a table, with a heading and remarks."""
    adapter = adapter_of(format_)
    rows = [_row(_columns), _row("---" for _ in _columns)]
    rows += [_row(_cells(field)) for field in adapter.fields]
    about = [f"- {sentence}" for sentence in _sentences(adapter)]
    head = f"## `{format_.id}`: {format_.title}"
    return "\n".join([head, "", *rows, "", *about, ""])


def _row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _cells(field: FieldMapping) -> tuple[str, ...]:
    key = f"`{field.name}`"
    return (
        key,
        f"`{field.record_path}`",
        _requirement(field),
        "; ".join(_remarks(field)),
    )


def _requirement(field: FieldMapping) -> str:
    """Return what a row has if a record lacks the field."""
    if field.default is not UNSET:
        return f"`{field.default_text.removeprefix('is ')}` if unknown"
    if field.required and field.record_path == "id":
        return "the number of the record if unknown"
    return "required" if field.required else ""


def _remarks(field: FieldMapping) -> Iterator[str]:
    if field.codec is not None:
        yield field.codec.description
    if field.key_record_path:
        yield f"each key is `{field.key_record_path}`"
    if field.note:
        yield field.note


def _sentences(adapter: FormatAdapter) -> Iterator[str]:
    """Yield further sentences about rows of a format."""
    capacity = adapter.capacity
    parts = [_references[capacity.references], _outputs[capacity.outputs]]
    if capacity.outputs is not Cardinality.NONE:
        parts.append(f"{_scores[capacity.scores]} of an answer")
    yield f"A row holds {_listed(parts)}."
    if capacity.messages or capacity.turns:
        prompt = "may be a chat" if capacity.messages else "is one text"
        answer = "may be a conversation" if capacity.turns else "is one text"
        if capacity.outputs is Cardinality.NONE:
            yield f"The prompt {prompt}."
        else:
            yield f"The prompt {prompt}; an answer {answer}."
    if adapter.vendor != "record":
        yield f"Other keys are in `extra.{adapter.vendor}` of the record."
    if adapter.header_fields:
        fields = _listed([f"`header.{path}`" for path in adapter.header_fields])
        yield f"The document around the rows holds {fields}."
    if adapter.extras_path is not None:
        where = ".".join((*adapter.extras_path, EXTRAS_KEY))
        text = ", as JSON text" if adapter.extras_as_text else ""
        yield f"`--keep-extra` stores fields without a place in `{where}`{text}."
    if adapter.write is None:
        yield "Rows can be read, but not written."
    if adapter.dialect_normalizers:
        names = _listed([f"`{name}`" for name in adapter.dialect_normalizers])
        yield f"Rows of the dialects {names} can be read, but are not written."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def mapping_as_dict(format_: Format) -> dict[str, Any]:
    """Return the field map of one format as a JSON object."""
    return {
        "id": format_.id,
        "fields": [
            {
                "key": field.name,
                "field": field.record_path,
                "required": field.required,
                "default": None if field.default is UNSET else field.default,
                "has_default": field.default is not UNSET,
                "how": list(_remarks(field)),
            }
            for field in adapter_of(format_).fields
        ],
    }
