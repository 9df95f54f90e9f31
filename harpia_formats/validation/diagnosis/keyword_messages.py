"""Word the message and help for a schema error, by its keyword."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.model.problem import Because, Fix, pointer_of
from harpia_formats.model.text.describe import (
    LISTED,
    HiddenValue,
    alternatives,
    describe_types,
    describe_value,
    joined,
    path_text,
    short_json,
    short_literal,
)
from harpia_formats.model.text.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import EngineError
from harpia_formats.validation.diagnosis.exact_paths import schema_at

#: Characters of a pattern or a bound that a message shows, and of a schema.
_LONGEST_PATTERN, _LONGEST_SCHEMA = 600, 100
_number = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ProblemText:
    """The message of a problem, and how to correct it."""

    message: str
    help: str = ""
    fix: Fix | None = None
    #: Values that the problem depends on, with their places.
    because: tuple[Because, ...] = ()
    #: What must hold, where the message says something else or more.
    requirement: str = ""


def _unmet(
    requirement: str, found: str, help_: str = "", fix: Fix | None = None
) -> ProblemText:
    """Return the text of a requirement that something found does not meet."""
    message = f"{requirement}, found {found}"
    return ProblemText(message, help_, fix, requirement=requirement)


def text_of_error(error: EngineError, value: Any) -> ProblemText:
    """Return the text of a schema error; `value` is what the schema refuses."""
    return _texts.get(error.keyword, _refused)(error, value)


def _required(error: EngineError, _: Any) -> ProblemText:
    key = str(error.detail)
    return ProblemText(
        f"{path_text((*error.path, key))} is missing",
        f"add {short_json(key)}",
        requirement=f"{path_text(error.path)} must have {short_json(key)}",
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
    return _unmet(f"{name} must be {wanted}", describe_value(value), help_)


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
    requirement = f"{path_text(error.path)} must be {wanted}"
    return _unmet(requirement, short_literal(value), help_, fix)


def _of_kind(words: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword with a name, `{}` in `words`."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        kind = words.format(error.detail)
        return _unmet(f"{path_text(error.path)} must {kind}", describe_value(value))

    return make_text


def _bound(words: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword with a bound, `{}` in `words`."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        bound = words.format(_excerpt(error.detail, _LONGEST_PATTERN))
        return _unmet(f"{path_text(error.path)} must {bound}", describe_value(value))

    return make_text


def _counted(words: str, unit: str) -> Callable[[EngineError, Any], ProblemText]:
    """Return what makes the text for a keyword that limits a number of units."""

    def make_text(error: EngineError, value: Any) -> ProblemText:
        plural = "" if error.detail == 1 else "s"
        bound = f"{words} {error.detail} {unit}{plural}"
        return _unmet(f"{path_text(error.path)} must have {bound}", f"{len(value)}")

    return make_text


def _alternatives(error: EngineError, value: Any) -> ProblemText:
    requirements = [
        " and ".join(dict.fromkeys(map(_requirement, alternative[:LISTED])))
        for alternative in error.detail or ()
    ]
    listed = [*dict.fromkeys(filter(None, requirements))]
    more = f"; or {len(listed) - LISTED:,} more" if len(listed) > LISTED else ""
    help_ = f"one of these must hold: {'; or '.join(listed[:LISTED])}{more}"
    name = path_text(error.path)
    return ProblemText(
        f"{name} is none of the alternatives, found {describe_value(value)}",
        help_ if listed else "",
        requirement=f"{name} must be one of the alternatives",
    )


def _requirement(error: EngineError) -> str:
    """Return what must hold for a schema error to be gone."""
    text = text_of_error(error, HiddenValue("a value"))
    return text.requirement or text.message


def _several(error: EngineError, _: Any) -> ProblemText:
    name = path_text(error.path)
    numbers = [f"{number + 1}" for number, _ in error.detail]
    listed = "; ".join(
        f"number {number + 1} is {_excerpt(schema)}"
        for number, schema in error.detail[:LISTED]
    )
    return ProblemText(
        f"{name} must be exactly one of the alternatives, but is those with the "
        f"numbers {joined(numbers)}",
        f"change {name} so that it is one of them only: {listed}",
        requirement=f"{name} must be exactly one of the alternatives",
    )


def _lacks_item(error: EngineError, value: Any) -> ProblemText:
    items = len(value)
    kind = f"must contain an item that matches {_excerpt(error.detail)}"
    requirement = f"{path_text(error.path)} {kind}"
    found = (
        f"none of its {items:,} items does" if items > 1 else "its one item does not"
    )
    message = f"{requirement}, and {found if items else 'it is empty'}"
    return ProblemText(message, requirement=requirement)


def _excerpt(value: Any, longest: int = _LONGEST_SCHEMA) -> str:
    """Return a value of the schema as JSON text, cut after `longest` characters."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= longest else f"{text[:longest]}…"


def advice_on(errors: Sequence[EngineError], texts: Sequence[ProblemText]) -> str:
    """Return how to correct all errors of one cause, which have these `texts`."""
    missing = [short_json(str(e.detail)) for e in errors if e.keyword == "required"]
    more = len(missing) - LISTED
    missing = [*missing[:LISTED], *([f"{more:,} more"] if more > 0 else [])]
    helps = [f"add {joined(missing)}"] if missing else []
    helps += [
        text.help
        for error, text in zip(errors, texts, strict=False)
        if text.help and error.keyword != "required"
    ]
    return "; ".join(dict.fromkeys(helps))


def key_name_advice(error: EngineError, schema: Any) -> str:
    """Return what the names of keys must be, by an error of `propertyNames`."""
    steps = error.schema_path
    end = len(steps) - steps[::-1].index(error.keyword) if error.keyword in steps else 0
    return f"names of keys must be {_excerpt(schema_at(schema, steps[:end]))}"


def _refused(error: EngineError, value: Any) -> ProblemText:
    name = path_text(error.path)
    if error.keyword != "falseSchema":
        return _not_refused(name, error.detail, value)
    if not error.path:
        such = "such " if error.condition else ""
        return ProblemText(f"the schema allows no {such}record")
    return ProblemText(f"{name} must not be there", f"remove {name}")


def _not_refused(name: str, refused: Any, value: Any) -> ProblemText:
    """Return the text of a value that is what the schema `refused` describes."""
    if not (isinstance(refused, dict) and refused):
        return ProblemText(f"{name} must not be {describe_value(value)}")
    keys, types = refused.get("required"), refused.get("type")
    what = ""
    if isinstance(keys, list) and keys:
        what = (
            f"an object that has {joined([short_json(key) for key in keys[:LISTED]])}"
        )
    elif "const" in refused:
        what = describe_value(refused["const"])
    elif "enum" in refused:
        what = alternatives([short_literal(each) for each in refused["enum"][:LISTED]])
    elif types is not None and len(refused) == 1:
        what = describe_types([types] if isinstance(types, str) else types)
    if what:
        return ProblemText(f"{name} must not be {what}")
    return _unmet(f"{name} must not match {_excerpt(refused)}", describe_value(value))


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
    "contains": _lacks_item,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "severalOf": _several,
    "propertyNames": _key_name,
    "undetermined": _undetermined,
}
