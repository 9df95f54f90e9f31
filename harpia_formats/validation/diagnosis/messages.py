"""Word the message, help and fix for a finding, and turn it into a placed problem."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.files.parsing.json_fault import Fault
from harpia_formats.files.parsing.locate import Duplicate, member_value
from harpia_formats.formats.rules import Rule
from harpia_formats.model.describe import (
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
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Because, Fix, Path, Problem, pointer_of
from harpia_formats.model.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import (
    EngineError,
    last_keyword,
    required_keys,
    schema_at,
    schema_object_at,
    tested_paths,
    value_at,
)
from harpia_formats.validation.diagnosis.root_causes import Cause, Finding, RepeatedKey
from harpia_formats.validation.diagnosis.row_context import RowContext

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
        for alternative in error.detail
    ]
    listed = [*dict.fromkeys(requirements)]
    help_ = f"one of these must hold: {'; or '.join(some_of(listed))}"
    name = path_text(error.path)
    return ProblemText(
        f"{name} is none of the alternatives, found {describe_value(value)}",
        help_,
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


def some_of(words: list[str], count: int = 0) -> list[str]:
    """Return as many words as are listed, and how many more there are of `count`."""
    more = max(len(words), count) - LISTED
    return [*words[:LISTED], f"{more:,} more"] if more > 0 else words


def joined_texts(
    errors: Sequence[EngineError], texts: Sequence[ProblemText]
) -> tuple[str, str]:
    """Return what is wrong and how to correct it, by the errors of a cause.

    `texts` are those of the errors that are listed.
    """
    missing = [short_json(str(e.detail)) for e in errors if e.keyword == "required"]
    helps = [f"add {joined(some_of(missing))}"] if missing else []
    helps += [
        text.help
        for error, text in zip(errors, texts, strict=False)
        if text.help and error.keyword != "required"
    ]
    message = "; and ".join(some_of([text.message for text in texts], len(errors)))
    return message, "; ".join(dict.fromkeys(helps))


def key_name_advice(error: EngineError, schema: Any) -> str:
    """Return what the names of keys must be, by an error of `propertyNames`."""
    steps = error.schema_path
    # Behind a reference the keyword is no step: its schema is what refuses the key. A
    # schema `false` has no keyword of its own.
    end = len(steps) - (last_keyword(steps) != "")
    if error.keyword in steps:
        end = len(steps) - steps[::-1].index(error.keyword)
    names = schema_at(schema, steps[:end])
    if names is False:
        return "no key is allowed there"
    return f"names of keys must be {_excerpt(names)}"


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
        what = f"an object that has {joined(some_of([*map(short_json, keys)]))}"
    elif "const" in refused:
        what = describe_value(refused["const"])
    elif "enum" in refused:
        what = alternatives(some_of([*map(short_literal, refused["enum"])]))
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
    name, key = path_text(error.path), short_json(error.detail)
    return ProblemText(
        f"{key} is not a key that {name} may have",
        requirement=f"{name} must not have {key}",
    )


def _unknown_keys(error: EngineError, _: Any) -> ProblemText:
    """Return the text of keys that an alternative does not know."""
    keys = alternatives(some_of([*map(short_json, error.detail)]))
    return ProblemText(f"{path_text(error.path)} must not have {keys}")


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
    "additionalProperties": _unknown_keys,
    "undetermined": _undetermined,
}


def text_of_cause(cause: Cause, record: Any, schema: Any) -> ProblemText:
    """Return the text of a root cause in `record`, which `schema` refuses."""
    first = cause.errors[0]
    if cause.code == "S103":
        return _misspelt(cause)
    if cause.code == "S104":
        return _unknown_key(cause, record, schema)
    texts = [
        text_of_error(error, value_at(record, error.path))
        for error in cause.errors[:LISTED]
    ]
    message, advice = joined_texts(cause.errors, texts)
    if cause.advice:
        advice = cause.advice.help
    if cause.code == "C101" and not (cause.because or cause.advice):
        advice = ": ".join(filter(None, [advice, _absent_reason(first, schema)]))
    if cause.code == "V114":
        advice = key_name_advice(first, schema)
    fix = None if cause.errors[1:] else texts[0].fix
    if first.keyword == "type":
        fix, advice = _null_removed(cause, schema, record, advice)
    return ProblemText(message, advice, fix)


def _absent_reason(error: EngineError, schema: Any) -> str:
    """Return the help for a condition that holds because keys are missing."""
    condition: Any = error.condition  # there is one, since the rule is on conditions
    base = error.path[: condition.depth]
    tested = [path_text((*base, *path)) for path in tested_paths(condition, schema)]
    if not tested:
        return ""
    them = "it is" if len(tested) == 1 else "they are"
    return f"the schema asks so by {alternatives(tested)}, and {them} not there"


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
    # Keys that only another schema of the object names would be refused here, too.
    known = schema_object_at(schema, cause.errors[0].schema_path[:-1])
    named = known.get("properties", {})
    allowed = {each for each, part in named.items() if part is not False}
    near = nearest(key, sorted(allowed - there.keys()))
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
    cause: Cause, schema: Any, record: Any, advice: str
) -> tuple[Fix | None, str]:
    """Return the fix and help for a null in the place of an optional value.

    For any other value they are None and `advice`.
    """
    first = cause.errors[0]
    key = first.path[-1] if first.path else None
    is_null = isinstance(key, str) and value_at(record, first.path) is None
    if cause.advice or not is_null or key in required_keys(schema, first):
        return None, advice
    help_ = f"leave {short_json(key)} out: it is optional, but null is not allowed"
    return Fix("remove", pointer_of(first.path)), help_


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
    return fault.message_with(row.cursor(fault.opened).offset)


def _values_because(cause: Cause, row: RowContext) -> tuple[Because, ...]:
    """Return the values that made a condition apply, with their places."""
    found = []
    for path in cause.because:
        start, _ = row.bytes_of(path)
        here = row.cursor(start)
        value = short_json(value_at(row.value, path))
        found.append(Because(pointer_of(path), value, here.line, here.column + 1))
    return tuple(found)


def _repeated_key(about: Duplicate, row: RowContext) -> ProblemText:
    """Return the text of a key that an object has twice."""
    key = about.path[-1]
    first = row.cursor(about.first)
    value = short_json(json.loads(member_value(row.text, about.first)))
    reason = Because(pointer_of(about.path), value, first.line, first.column + 1)
    return ProblemText(
        f"the key {short_json(key)} is repeated in {path_text(about.path[:-1])}",
        "keep one of them: a parser keeps one and drops the other without a word",
        because=(reason,),
    )


def _schema_pointer(about: Fault | RepeatedKey | Cause | Remark) -> str:
    """Return where in the schema the failed keyword is, "" without one."""
    return pointer_of(about.errors[0].schema_path) if isinstance(about, Cause) else ""
