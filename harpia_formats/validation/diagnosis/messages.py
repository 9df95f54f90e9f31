"""Word the message, help and fix for a root cause."""

from typing import Any

from harpia_formats.model.problem import Fix, pointer_of
from harpia_formats.model.text.describe import (
    LISTED,
    alternatives,
    path_text,
    short_json,
)
from harpia_formats.model.text.spelling import nearest
from harpia_formats.validation.diagnosis.conditions import tested_paths
from harpia_formats.validation.diagnosis.engine_errors import EngineError, known_keys
from harpia_formats.validation.diagnosis.exact_paths import schema_object_at, value_at
from harpia_formats.validation.diagnosis.keyword_messages import (
    ProblemText,
    advice_on,
    key_name_advice,
    text_of_error,
)
from harpia_formats.validation.diagnosis.root_causes import Cause


def text_of_cause(cause: Cause, record: Any, schema: Any) -> ProblemText:
    """Return the text of a root cause in `record`, which `schema` refuses."""
    first = cause.errors[0]
    if cause.code == "S103":
        return _misspelt(cause)
    if cause.code == "S104" and cause.at_key:
        return _unknown_key(cause, record, schema)
    value = None if first.keyword == "required" else value_at(record, first.path)
    text = text_of_error(first, value)
    texts = [text, *(_text_of(error, record) for error in cause.errors[1:LISTED])]
    more = len(cause.errors) - LISTED
    also = [f"{more:,} more"] if more > 0 else []
    message = "; and ".join([*(text.message for text in texts), *also])
    advice = cause.advice.help if cause.advice else advice_on(cause.errors, texts)
    if cause.code == "C101" and not (cause.because or cause.advice):
        advice = ": ".join(filter(None, [advice, _absent_reason(first, schema)]))
    if cause.code == "V114":
        advice = key_name_advice(first, schema)
    fix = None if cause.errors[1:] else text.fix
    if first.keyword == "type":
        fix, advice = _null_removed(cause, schema, value, advice)
    return ProblemText(message, advice, fix)


def _absent_reason(error: EngineError, schema: Any) -> str:
    """Return the help for a condition that holds because keys are missing."""
    if error.condition is None:
        return ""
    base = error.path[: error.condition.depth]
    tested = [
        path_text((*base, *path)) for path in tested_paths(error.condition, schema)
    ]
    if not tested:
        return ""
    them = "it is" if len(tested) == 1 else "they are"
    return f"the schema asks so by {alternatives(tested)}, and {them} not there"


def _text_of(error: EngineError, record: Any) -> ProblemText:
    """Return the text of an error in `record`."""
    missing = error.keyword == "required"
    value = None if missing else value_at(record, error.path)
    return text_of_error(error, value)


def _misspelt(cause: Cause) -> ProblemText:
    key = str(cause.path[-1])
    missing = path_text((*cause.path[:-1], cause.intended))
    return ProblemText(
        f"{missing} is missing, and {short_json(key)} looks like a misspelling of it",
        f"rename {short_json(key)} to {short_json(cause.intended)}",
        Fix("rename-key", pointer_of(cause.path), cause.intended),
    )


def _unknown_key(cause: Cause, record: Any, schema: Any) -> ProblemText:
    key = str(cause.path[-1])
    owner = cause.path[:-1]
    there = value_at(record, owner)
    known = known_keys(schema, cause.errors[0])
    near = nearest(
        key, sorted(known_key for known_key in known if known_key not in there)
    )
    of = f" in {path_text(owner)}" if owner else ""
    if near:
        fix = Fix("rename-key", pointer_of(cause.path), near)
        return ProblemText(
            f"{short_json(key)} is not a known key{of}",
            f"did you mean {short_json(near)}?",
            fix,
        )
    fix = Fix("remove", pointer_of(cause.path))
    return ProblemText(
        f"{short_json(key)} is not a known key{of}",
        "remove it, or move it to where it belongs",
        fix,
    )


def _null_removed(
    cause: Cause, schema: Any, value: Any, advice: str
) -> tuple[Fix | None, str]:
    """Return the fix and help for a null in the place of an optional value.

    For any other value they are None and `advice`.
    """
    first = cause.errors[0]
    key = first.path[-1] if first.path else None
    if value is not None or cause.advice or not isinstance(key, str):
        return None, advice
    if key in _required_beside(schema, first):
        return None, advice
    help_ = f"leave {short_json(key)} out: it is optional, but null is not allowed"
    return Fix("remove", pointer_of(first.path)), help_


def _required_beside(schema: Any, error: EngineError) -> set[str]:
    """Return the keys required of the object that holds an error's value."""
    path = error.schema_path
    for index in range(len(path) - 1, -1, -1):
        if path[index] == "properties":
            return set(schema_object_at(schema, path[:index]).get("required", ()))
    return set()
