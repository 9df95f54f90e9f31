"""Word the message and help for a schema error, by its keyword."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Because, Fix, pointer_of
from harpia_formats.text.describe import (
    LISTED,
    describe_types,
    describe_value,
    path_text,
    short_json,
    short_literal,
)
from harpia_formats.text.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import EngineError

_number = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ProblemText:
    """The message of a problem, and how to correct it."""

    message: str
    help: str = ""
    fix: Fix | None = None
    #: Values that the problem depends on, with their places.
    because: tuple[Because, ...] = ()


def text_of_error(error: EngineError, value: Any) -> ProblemText:
    """Return the text of a schema error; `value` is what the schema refuses."""
    return _texts.get(error.keyword, _refused)(error, value)


def _required(error: EngineError, _: Any) -> ProblemText:
    key = str(error.detail)
    return ProblemText(
        f"{path_text((*error.path, key))} is missing", f"add {short_json(key)}"
    )


def _type(error: EngineError, value: Any) -> ProblemText:
    name, wanted = path_text(error.path), describe_types(error.detail)
    help_ = ""
    if (
        isinstance(value, str)
        and _is_number(value)
        and {"number", "integer"} & set(error.detail)
    ):
        help_ = "write the number without quotes"
    return ProblemText(f"{name} must be {wanted}, found {describe_value(value)}", help_)


def _is_number(text: str) -> bool:
    return _number.fullmatch(text) is not None


def _listed(error: EngineError, value: Any) -> ProblemText:
    detail = error.detail
    options = detail if error.keyword == "enum" else [detail]
    words = [short_literal(option) for option in options[:LISTED]]
    if len(options) > LISTED:
        words.append(f"… ({len(options) - LISTED:,} more)")
    wanted = words[0] if len(words) == 1 else f"one of {', '.join(words)}"
    texts = [option for option in options if isinstance(option, str)]
    near = nearest(value, texts) if isinstance(value, str) else ""
    fix = Fix("replace", pointer_of(error.path), near) if near else None
    help_ = f"did you mean {short_json(near)}?" if near else ""
    if not options:
        wanted = "one of no values at all"
    message = f"{path_text(error.path)} must be {wanted}, found {short_literal(value)}"
    return ProblemText(message, help_, fix)


def _of_kind(words: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword with a name, `{}` in `words`."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        kind = words.format(error.detail)
        return ProblemText(
            f"{path_text(error.path)} must {kind}, found {describe_value(value)}"
        )

    return make_text


def _bound(words: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword with a bound, `{}` in `words`."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        bound = words.format(short_json(error.detail))
        return ProblemText(
            f"{path_text(error.path)} must {bound}, found {describe_value(value)}"
        )

    return make_text


def _counted(words: str, unit: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword that limits a number of units."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        plural = "" if error.detail == 1 else "s"
        bound = f"{words} {error.detail} {unit}{plural}"
        return ProblemText(
            f"{path_text(error.path)} must have {bound}, found {len(value)}"
        )

    return make_text


def _alternatives(error: EngineError, value: Any) -> ProblemText:
    firsts = [alternative[0] for alternative in error.detail or () if alternative]
    options = [
        text_of_error(first, value).message
        for first in firsts
        if first.path == error.path
    ]
    name = path_text(error.path)
    listed = list(dict.fromkeys(options))[:LISTED]
    help_ = f"one of these must hold: {'; '.join(listed)}" if listed else ""
    return ProblemText(
        f"{name} is none of the alternatives, found {describe_value(value)}", help_
    )


def _several(error: EngineError, _: Any) -> ProblemText:
    name = path_text(error.path)
    return ProblemText(
        f"{name} must be exactly one of the alternatives, but is several"
    )


def _refused(error: EngineError, value: Any) -> ProblemText:
    name = path_text(error.path)
    if error.keyword != "falseSchema":
        return ProblemText(f"{name} must not be {_described(error.detail, value)}")
    if not error.path:
        such = "such " if error.condition else ""
        return ProblemText(f"the schema allows no {such}record")
    return ProblemText(f"{name} must not be there", f"remove {name}")


def _described(refused: Any, value: Any) -> str:
    """Return a description of `value`: the keys that the schema `refused` names."""
    keys = refused.get("required") if isinstance(refused, dict) else None
    if isinstance(value, dict) and isinstance(keys, list) and keys:
        words = [short_json(key) for key in keys[:LISTED]]
        return f"an object that has {' and '.join(words)}"
    return describe_value(value)


def _undetermined(error: EngineError, _: Any) -> ProblemText:
    return ProblemText(
        f"no verdict on {path_text(error.path)}: its pattern takes too long here",
        "write the pattern of the schema in a simpler way",
    )


def _plain(words: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes a text of the value's name and `words`."""

    def make_text(error: EngineError, _: Any) -> ProblemText:
        return ProblemText(f"{path_text(error.path)} {words}")

    return make_text


def _key_name(error: EngineError, _: Any) -> ProblemText:
    name = path_text(error.path)
    return ProblemText(f"{short_json(error.detail)} is not a key that {name} may have")


_texts: dict[str, Callable[[EngineError, Any], ProblemText]] = {
    "required": _required,
    "type": _type,
    "enum": _listed,
    "const": _listed,
    "minimum": _bound("be at least {}"),
    "maximum": _bound("be at most {}"),
    "exclusiveMinimum": _bound("be more than {}"),
    "exclusiveMaximum": _bound("be less than {}"),
    "multipleOf": _bound("be a multiple of {}"),
    "pattern": _bound("match the pattern {}"),
    "format": _of_kind("be a valid {}"),
    "contentEncoding": _of_kind("be encoded as {}"),
    "contentMediaType": _of_kind("hold {}"),
    "minLength": _counted("at least", "character"),
    "maxLength": _counted("at most", "character"),
    "minItems": _counted("at least", "item"),
    "maxItems": _counted("at most", "item"),
    "minProperties": _counted("at least", "key"),
    "maxProperties": _counted("at most", "key"),
    "additionalItems": _counted("at most", "item"),
    "uniqueItems": _plain("must not hold the same item twice"),
    "contains": _plain("holds no item of the kind that it must contain"),
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "severalOf": _several,
    "propertyNames": _key_name,
    "undetermined": _undetermined,
}
