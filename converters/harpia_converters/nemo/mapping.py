"""The adapters of nemo-input and nemo-output: questions and answers to records."""

from collections.abc import Collection

from harpia_converters.nemo.formats import ANSWER_KEYS, FOREIGN_KEYS
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Record

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


_question_keys = ("prompt", "ideal_response", "category", "source")
#: Keys by which a row is no question: they are of an answer, or another tool's.
_not_of_questions = ANSWER_KEYS | FOREIGN_KEYS


def _keep_question(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:  # noqa: ARG001 - the signature of `write_own`
    """Keep the members by which a row is a question, those in `input` of an answer too.

    Others are dropped.
    """
    rest: Row = {}
    for key, value in kept.items():
        if key == "input" and isinstance(value, dict):
            rest |= _of_input(value, kept, outcomes)
        elif key in ANSWER_KEYS:
            outcomes.dropped(f"extra.{_vendor}.{key}", "a question has no answer")
        else:
            rest[key] = value
    kept.clear()
    kept.update(rest)
    return {}


def _of_input(members: Row, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the members of `input` that go to the row itself, which has `kept`."""
    moved: Row = {}
    path = f"extra.{_vendor}.input"
    for key, value in members.items():
        if key in _not_of_questions:
            outcomes.dropped(f"{path}.{key}", "by the key a row is no question")
        elif key in kept or key in _question_keys:
            outcomes.dropped(f"{path}.{key}", "its place is taken")
        else:
            moved[key] = value
            outcomes.merged(f"{path}.{key}", "a key of the question")
            outcomes.defaulted(f"extra.{_vendor}.{key}", f"of {path}")
    return moved


INPUT = FieldTable(_vendor, _question(), write_own=_keep_question).adapter(
    capacity=RowCapacity(references=Cardinality.ONE, outputs=Cardinality.NONE),
    written_as_array=True,
    reads_by_fields=True,
)


def _nested(row: Row) -> Row:
    """Return a row of the dialect flat as a documented one, its question in `input`."""
    return _documented(row, {key: key for key in _question_keys}, "actual_response")


def _renamed(row: Row) -> Row:
    """Return a row of the dialect reference as a documented one."""
    names = {"input": "prompt", "reference": "ideal_response"}
    return _documented(row, names, "output")


def _documented(row: Row, names: dict[str, str], answer: str) -> Row:
    """Return `row` with its question in `input`, and its answer in `response`.

    `names` are those of the question's keys there. Other keys stay where they are, but
    those whose place is the question's or the answer's go into the question.
    """
    taken: Collection[str] = {"input", "response"} if answer in row else {"input"}
    question = {names[key]: row[key] for key in names if key in row}
    rest: Row = {}
    for key, value in row.items():
        if key == answer:
            rest["response"] = value
        elif key not in names:
            (question if key in taken else rest)[key] = value
    return {"input": question, **rest}


OUTPUT = FieldTable(
    _vendor,
    (
        *_question("input"),
        FieldMapping(("response",), "outputs.text", EMPTY_FOR_NULL, required=True),
        FieldMapping(("llm_name",), "outputs.model", default="offline"),
    ),
).adapter(
    capacity=RowCapacity(references=Cardinality.ONE, outputs=Cardinality.ONE),
    written_as_array=True,
    reads_by_fields=True,
    dialect_normalizers={"flat": _nested, "reference": _renamed},
)
