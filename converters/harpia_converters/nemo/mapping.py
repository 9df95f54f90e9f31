"""The adapters of nemo-input and nemo-output: questions and answers to records."""

from harpia_formats.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)

_vendor = "nemo"


def _question(*owner: str) -> tuple[FieldMapping, ...]:
    """Return the fields of a question at the path `owner` of a row."""
    return (
        FieldMapping((*owner, "prompt"), "prompt", required=True),
        FieldMapping(
            (*owner, "ideal_response"), "references", LIST_OF_ONE, required=True
        ),
        FieldMapping((*owner, "category"), "category", default=""),
        FieldMapping((*owner, "source"), "source", default=""),
    )


_input = FieldTable(_vendor, _question())
INPUT = FormatAdapter(
    vendor=_vendor,
    fields=_input.fields,
    read=_input.read,
    write=_input.write,
    capacity=RowCapacity(references=Cardinality.ONE, outputs=Cardinality.NONE),
    written_as_array=True,
    reads_by_fields=True,
)

_output = FieldTable(
    _vendor,
    (
        *_question("input"),
        FieldMapping(("response",), "outputs.text", EMPTY_FOR_NULL, required=True),
        FieldMapping(("llm_name",), "outputs.model", default="offline"),
    ),
)


def _nested(row: Row) -> Row:
    """Return a row of the dialect flat as a documented one, its question in `input`."""
    question = {name: row[name] for name in _question_keys if name in row}
    rest = {key: value for key, value in row.items() if key not in question}
    if "actual_response" in rest:
        rest["response"] = rest.pop("actual_response")
    return {"input": question, **rest}


_question_keys = ("prompt", "ideal_response", "category", "source")


def _renamed(row: Row) -> Row:
    """Return a row of the dialect reference as a documented one."""
    names = {"input": "prompt", "reference": "ideal_response"}
    question = {names[each]: row[each] for each in names if each in row}
    rest = {key: value for key, value in row.items() if key not in names}
    if "output" in rest:
        rest["response"] = rest.pop("output")
    return {"input": question, **rest}


OUTPUT = FormatAdapter(
    vendor=_vendor,
    fields=_output.fields,
    read=_output.read,
    write=_output.write,
    capacity=RowCapacity(references=Cardinality.ONE, outputs=Cardinality.ONE),
    written_as_array=True,
    reads_by_fields=True,
    dialect_normalizers={"flat": _nested, "reference": _renamed},
)
