"""What is wrong and how to mend it, a sentence for each keyword of a schema."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Because, Fix, pointer_of
from harpia_formats.text.describe import (
    LISTED,
    alternatives,
    describe_types,
    describe_value,
    path_text,
    short_json,
    short_literal,
)
from harpia_formats.text.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import (
    Violation,
    asked_paths,
    known_keys,
    node_at,
    value_at,
)
from harpia_formats.validation.diagnosis.root_causes import Cause

_number = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a problem says."""

    message: str
    help: str = ""
    fix: Fix | None = None
    because: tuple[Because, ...] = ()


def sentence_of(cause: Cause, record: Any, schema: Any) -> Sentence:
    """Return what is wrong, and how to mend it."""
    first = cause.violations[0]
    if cause.code == "S103":
        return _misspelt(cause)
    if cause.code == "S104" and cause.at_key:
        return _unknown_key(cause, record, schema)
    value = None if first.keyword == "required" else value_at(record, first.path)
    say = _sentences.get(first.keyword, _refused)
    sentence = say(first, value)
    also = [_also(each, record) for each in cause.violations[1:LISTED]]
    more = len(cause.violations) - LISTED
    also += [f"{more:,} more"] if more > 0 else []
    message = "; and ".join([sentence.message, *also])
    advice = cause.advice.help if cause.advice else sentence.help
    if cause.code == "C101" and not cause.because:
        advice = _absent_reason(first, schema) or advice
    fix = None if cause.violations[1:] else sentence.fix
    if first.keyword == "type":
        fix, advice = _null_removed(cause, schema, value, advice)
    return Sentence(message, advice, fix)


def _absent_reason(violation: Violation, schema: Any) -> str:
    """Return the help for a condition that holds because a key is not there."""
    if violation.branch is None:
        return ""
    base = violation.path[: violation.branch.depth]
    asked = [
        path_text((*base, *each)) for each in asked_paths(violation.branch, schema)
    ]
    if not asked:
        return ""
    them = "it is" if len(asked) == 1 else "they are"
    return f"the schema asks so by {alternatives(asked)}, and {them} not there"


def _also(violation: Violation, record: Any) -> str:
    missing = violation.keyword == "required"
    value = None if missing else value_at(record, violation.path)
    return _sentences.get(violation.keyword, _refused)(violation, value).message


def _misspelt(cause: Cause) -> Sentence:
    key = str(cause.path[-1])
    missing = path_text((*cause.path[:-1], cause.intended))
    return Sentence(
        f"{missing} is missing, and {short_json(key)} looks like a misspelling of it",
        f"rename {short_json(key)} to {short_json(cause.intended)}",
        Fix("rename-key", pointer_of(cause.path), cause.intended),
    )


def _unknown_key(cause: Cause, record: Any, schema: Any) -> Sentence:
    key = str(cause.path[-1])
    owner = cause.path[:-1]
    there = value_at(record, owner)
    known = known_keys(schema, cause.violations[0])
    near = nearest(key, sorted(each for each in known if each not in there))
    of = f" in {path_text(owner)}" if owner else ""
    if near:
        fix = Fix("rename-key", pointer_of(cause.path), near)
        return Sentence(
            f"{short_json(key)} is not a known key{of}",
            f"did you mean {short_json(near)}?",
            fix,
        )
    fix = Fix("remove", pointer_of(cause.path))
    return Sentence(
        f"{short_json(key)} is not a known key{of}",
        "remove it, or move it to where it belongs",
        fix,
    )


def _null_removed(
    cause: Cause, schema: Any, value: Any, advice: str
) -> tuple[Fix | None, str]:
    """Return how to mend a null in the place of an optional value."""
    first = cause.violations[0]
    key = first.path[-1] if first.path else None
    if value is not None or cause.advice or not isinstance(key, str):
        return None, advice
    if key in _required_beside(schema, first):
        return None, advice
    help_ = f"leave {short_json(key)} out: it is optional, but null is not allowed"
    return Fix("remove", pointer_of(first.path)), help_


def _required_beside(schema: Any, violation: Violation) -> set[str]:
    """Return the keys required of the object that holds a violation's value."""
    path = violation.schema_path
    for index in range(len(path) - 1, -1, -1):
        if path[index] == "properties":
            return set(node_at(schema, path[:index]).get("required", ()))
    return set()


def _required(violation: Violation, _: Any) -> Sentence:
    key = str(violation.detail)
    return Sentence(
        f"{path_text((*violation.path, key))} is missing", f"add {short_json(key)}"
    )


def _type(violation: Violation, value: Any) -> Sentence:
    name, wanted = path_text(violation.path), describe_types(violation.detail)
    help_ = ""
    if (
        isinstance(value, str)
        and _is_number(value)
        and {"number", "integer"} & set(violation.detail)
    ):
        help_ = "write the number without quotes"
    return Sentence(f"{name} must be {wanted}, found {describe_value(value)}", help_)


def _is_number(text: str) -> bool:
    return _number.fullmatch(text) is not None


def _listed(violation: Violation, value: Any) -> Sentence:
    detail = violation.detail
    options = detail if violation.keyword == "enum" else [detail]
    words = [short_literal(each) for each in options[:LISTED]]
    if len(options) > LISTED:
        words.append(f"… ({len(options) - LISTED:,} more)")
    wanted = words[0] if len(words) == 1 else f"one of {', '.join(words)}"
    texts = [each for each in options if isinstance(each, str)]
    near = nearest(value, texts) if isinstance(value, str) else ""
    fix = Fix("replace", pointer_of(violation.path), near) if near else None
    help_ = f"did you mean {short_json(near)}?" if near else ""
    if not options:
        wanted = "one of no values at all"
    message = (
        f"{path_text(violation.path)} must be {wanted}, found {short_literal(value)}"
    )
    return Sentence(message, help_, fix)


def _of_kind(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword with a name, `{}` in `words`."""

    def say(violation: Violation, value: Any) -> Sentence:
        kind = words.format(violation.detail)
        return Sentence(
            f"{path_text(violation.path)} must {kind}, found {describe_value(value)}"
        )

    return say


def _bound(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword with a bound, `{}` in `words`."""

    def say(violation: Violation, value: Any) -> Sentence:
        bound = words.format(short_json(violation.detail))
        return Sentence(
            f"{path_text(violation.path)} must {bound}, found {describe_value(value)}"
        )

    return say


def _counted(words: str, unit: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword that bounds how many there are."""

    def say(violation: Violation, value: Any) -> Sentence:
        plural = "" if violation.detail == 1 else "s"
        bound = f"{words} {violation.detail} {unit}{plural}"
        return Sentence(
            f"{path_text(violation.path)} must have {bound}, found {len(value)}"
        )

    return say


def _alternatives(violation: Violation, value: Any) -> Sentence:
    firsts = [option[0] for option in violation.detail or () if option]
    options = [
        _sentences.get(each.keyword, _refused)(each, value).message
        for each in firsts
        if each.path == violation.path
    ]
    name = path_text(violation.path)
    listed = list(dict.fromkeys(options))[:LISTED]
    help_ = f"one of these must hold: {'; '.join(listed)}" if listed else ""
    return Sentence(
        f"{name} is none of the alternatives, found {describe_value(value)}", help_
    )


def _several(violation: Violation, _: Any) -> Sentence:
    name = path_text(violation.path)
    return Sentence(f"{name} must be exactly one of the alternatives, but is several")


def _refused(violation: Violation, value: Any) -> Sentence:
    name = path_text(violation.path)
    if violation.keyword != "falseSchema":
        return Sentence(f"{name} must not be {_described(violation.detail, value)}")
    if not violation.path:
        such = "such " if violation.branch else ""
        return Sentence(f"the schema allows no {such}record")
    return Sentence(f"{name} must not be there", f"remove {name}")


def _described(refused: Any, value: Any) -> str:
    """Return what a value is, in the words of the schema that refuses it."""
    keys = refused.get("required") if isinstance(refused, dict) else None
    if isinstance(value, dict) and isinstance(keys, list) and keys:
        words = [short_json(each) for each in keys[:LISTED]]
        return f"an object that has {' and '.join(words)}"
    return describe_value(value)


def _undetermined(violation: Violation, _: Any) -> Sentence:
    return Sentence(
        f"no verdict on {path_text(violation.path)}: its pattern takes too long here",
        "write the pattern of the schema in a simpler way",
    )


def _plain(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker that says `words` of the value's name."""

    def say(violation: Violation, _: Any) -> Sentence:
        return Sentence(f"{path_text(violation.path)} {words}")

    return say


def _key_name(violation: Violation, _: Any) -> Sentence:
    name = path_text(violation.path)
    return Sentence(f"{short_json(violation.detail)} is not a key that {name} may have")


_sentences: dict[str, Callable[[Violation, Any], Sentence]] = {
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
