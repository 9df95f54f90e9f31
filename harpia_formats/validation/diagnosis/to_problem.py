"""From a verdict to a sentence with a place."""

import json
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Because, Path, Problem, pointer_of
from harpia_formats.parsing.json_fault import Fault
from harpia_formats.parsing.locate import Duplicate
from harpia_formats.rules import Rule
from harpia_formats.text.describe import path_text, short_json
from harpia_formats.validation.diagnosis.engine_errors import value_at
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.messages import Sentence, sentence_of
from harpia_formats.validation.diagnosis.root_causes import Cause
from harpia_formats.validation.diagnosis.row_context import Row


def problem_of(finding: Finding, rule: Rule, row: Row, schema: Any) -> Problem:
    """Put a finding into words, and place it in the original bytes."""
    about = finding.about
    path: Path = ()
    if isinstance(about, Fault):
        start, end = about.start, about.end
        sentence = Sentence(about.message, about.help)
    elif isinstance(about, Duplicate):
        start, end, path = about.start, about.end, about.path
        sentence = _repeated(about, row)
    else:
        start, end = row.bytes_of(about.path, at_key=about.at_key)
        path = about.path
        sentence = (
            Sentence(about.message, about.help)
            if isinstance(about, Remark)
            else sentence_of(about, finding.value, schema)
        )
    return Problem(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        place=row.place(start, end, path),
        message=sentence.message,
        because=_reasons(about, row) if isinstance(about, Cause) else sentence.because,
        help=sentence.help,
        schema_pointer=_schema_pointer(about),
        fix=sentence.fix,
        excerpt=row.excerpt(start, end),
        key=finding.missing_key,
    )


def _reasons(cause: Cause, row: Row) -> tuple[Because, ...]:
    """Return the values that made a condition apply, with their places."""
    reasons = []
    for path in cause.because:
        start, end = row.bytes_of(path)
        place = row.place(start, end, ())
        value = short_json(value_at(row.value, path))
        reasons.append(Because(pointer_of(path), value, place.line, place.column))
    return tuple(reasons)


def _repeated(about: Duplicate, row: Row) -> Sentence:
    key = about.path[-1]
    first = row.place(about.first, about.first + 1, ())
    value = short_json(_member_at(row.text, about.first))
    reason = Because(pointer_of(about.path), value, first.line, first.column)
    return Sentence(
        f"the key {short_json(key)} is there twice in {path_text(about.path[:-1])}",
        "keep one of them: a parser keeps one and drops the other without a word",
        because=(reason,),
    )


def _member_at(text: bytes, start: int) -> Any:
    """Return the value of the member whose name begins at `start`."""
    decoder = json.JSONDecoder()
    rest = text[start:].decode()
    _, end = decoder.raw_decode(rest)
    colon = rest.index(":", end)
    begin = colon + 1 + len(rest[colon + 1 :]) - len(rest[colon + 1 :].lstrip())
    return decoder.raw_decode(rest, begin)[0]


def _schema_pointer(about: Fault | Duplicate | Cause | Remark) -> str:
    return (
        pointer_of(about.violations[0].schema_path) if isinstance(about, Cause) else ""
    )
