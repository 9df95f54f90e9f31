"""Turn a finding on a row into a problem with a place, a message and a fix."""

import json
from typing import Any

from harpia_formats.files.parsing.json_fault import Fault
from harpia_formats.files.parsing.locate import Duplicate, member_value
from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Because, Path, Problem, pointer_of
from harpia_formats.model.text.describe import path_text, short_json
from harpia_formats.validation.diagnosis.exact_paths import value_at
from harpia_formats.validation.diagnosis.finding import Finding, RepeatedKey
from harpia_formats.validation.diagnosis.keyword_messages import ProblemText
from harpia_formats.validation.diagnosis.messages import text_of_cause
from harpia_formats.validation.diagnosis.root_causes import Cause
from harpia_formats.validation.diagnosis.row_context import RowContext


def problem_of(finding: Finding, rule: Rule, row: RowContext, schema: Any) -> Problem:
    """Return the problem for a finding on `row`, placed in the bytes of the file."""
    about = finding.about
    path: Path = ()
    if isinstance(about, Fault):
        start, end = about.start, about.end
        text = ProblemText(_fault_message(about, row), about.help)
    elif isinstance(about, RepeatedKey):
        duplicate = row.repeated_key(about.before)
        start, end, path = duplicate.start, duplicate.end, about.path
        text = _repeated_key(duplicate, row)
    else:
        start, end = row.bytes_of(about.path, at_key=about.at_key)
        path = about.path
        text = (
            ProblemText(about.message, about.help)
            if isinstance(about, Remark)
            else text_of_cause(about, finding.value, schema)
        )
    return Problem(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        place=row.place(start, end, path),
        message=text.message,
        because=_values_because(about, row)
        if isinstance(about, Cause)
        else text.because,
        help=text.help,
        schema_pointer=_schema_pointer(about),
        fix=text.fix,
        excerpt=row.excerpt(start, end),
        key=finding.missing_key,
        cause=finding.cause,
    )


def _fault_message(fault: Fault, row: RowContext) -> str:
    """Return the message of a fault with bytes from the start of the file."""
    if fault.opened is None:
        return fault.message
    opened = row.place(fault.opened, fault.opened + 1, ())
    return fault.message_with(opened.byte_offset)


def _values_because(cause: Cause, row: RowContext) -> tuple[Because, ...]:
    """Return the values that made a condition apply, with their places."""
    found = []
    for path in cause.because:
        start, end = row.bytes_of(path)
        place = row.place(start, end, ())
        value = short_json(value_at(row.value, path))
        found.append(Because(pointer_of(path), value, place.line, place.column))
    return tuple(found)


def _repeated_key(about: Duplicate, row: RowContext) -> ProblemText:
    """Return the text of a key that an object has twice."""
    key = about.path[-1]
    first = row.place(about.first, about.first + 1, ())
    value = short_json(json.loads(member_value(row.text, about.first)))
    reason = Because(pointer_of(about.path), value, first.line, first.column)
    return ProblemText(
        f"the key {short_json(key)} is there twice in {path_text(about.path[:-1])}",
        "keep one of them: a parser keeps one and drops the other without a word",
        because=(reason,),
    )


def _schema_pointer(about: Fault | RepeatedKey | Cause | Remark) -> str:
    """Return where in the schema the failed keyword is, "" without one."""
    return pointer_of(about.errors[0].schema_path) if isinstance(about, Cause) else ""
