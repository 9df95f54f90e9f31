"""Describe a finding on a row without showing a value of the row."""

from dataclasses import replace
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.describe import (
    LISTED,
    HiddenValue,
    hidden_value,
    path_text,
    short_json,
)
from harpia_formats.model.problem import Because, Problem, pointer_of
from harpia_formats.validation.diagnosis.engine_errors import (
    CHOICES,
    EngineError,
    value_at,
)
from harpia_formats.validation.diagnosis.messages import (
    ProblemText,
    joined_texts,
    problem_of,
    text_of_error,
)
from harpia_formats.validation.diagnosis.root_causes import Cause, Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.redaction.shown_words import SchemaWords

_KEY_NAME = HiddenValue("one of its keys")


def hidden_problem_of(
    finding: Finding, rule: Rule, row: RowContext, schema: Any, words: SchemaWords
) -> Problem:
    """Return the problem for a finding without values, and keys that are no `words`.

    A schema error is described from the schema and from what stands for the values;
    anything else by what its rule always says.
    """
    found = problem_of(finding, rule, row, schema)
    about = finding.about
    text = ProblemText(rule.summary)
    because: tuple[Because, ...] = ()
    if isinstance(about, Cause):
        text = _text_of(about, finding.value, words)
        values = (hidden_value(value_at(row.value, path)) for path in about.because)
        because = tuple(
            replace(
                reason, pointer=pointer_of(words.path(path)), value=short_json(value)
            )
            for reason, path, value in zip(
                found.because, about.because, values, strict=True
            )
        )
    path = words.path((*row.prefix, *finding.path))
    return replace(
        found,
        place=replace(found.place, record_id=None, pointer=pointer_of(path)),
        message=text.message,
        because=because,
        help=text.help,
        fix=None,
        excerpt=None,
        key=words.masked(found.key),
        cause="",
        hides_values=True,
    )


def _text_of(cause: Cause, record: Any, words: SchemaWords) -> ProblemText:
    """Return the text of the root cause of schema errors, as `text_of_cause` does."""
    path = words.path(cause.path)
    if cause.code == "S103":
        missing, name = path_text((*path[:-1], cause.intended)), cause.intended
        return ProblemText(
            f"{missing} is missing, and another key looks like a misspelling of it",
            f"rename that key to {short_json(name)}",
        )
    if cause.code == "S104":
        of = f" of {path_text(path[:-1])}" if path[:-1] else ""
        return ProblemText(
            f"a key{of} is not a known key",
            "remove it, or move it to where it belongs",
        )
    errors = [_masked(error, words) for error in cause.errors]
    values = [
        hidden_value(value_at(record, error.path)) for error in cause.errors[:LISTED]
    ]
    return ProblemText(*joined_texts(errors, [*map(text_of_error, errors, values)]))


def _masked(error: EngineError, words: SchemaWords) -> EngineError:
    """Return an error with the path masked; its detail is of the schema, but for keys.

    The alternatives of `anyOf` and `oneOf` are masked, too.
    """
    detail = error.detail
    if error.keyword in CHOICES:
        detail = [
            [_masked(inner, words) for inner in alternative] for alternative in detail
        ]
    elif error.keyword == "additionalProperties":
        detail = [_KEY_NAME]
    elif error.keyword == "propertyNames":
        detail = _KEY_NAME
    elif error.keyword == "required":
        detail = words.masked(str(detail))
    return replace(error, path=words.path(error.path), detail=detail)
