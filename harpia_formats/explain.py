"""From a verdict to a sentence with a place."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.causes import (
    Cause,
    Violation,
    asked_paths,
    known_keys,
    node_at,
    value_at,
)
from harpia_formats.fault import Fault
from harpia_formats.framing import Cursor, code_points
from harpia_formats.judge import Finding
from harpia_formats.near import nearest
from harpia_formats.problem import (
    Because,
    Excerpt,
    Fix,
    Path,
    Place,
    Problem,
    pointer_of,
)
from harpia_formats.rules import Rule
from harpia_formats.scan import Duplicate, locate

#: Characters of a value that a sentence shows.
SHOWN = 40
#: Code points of a name made of many keys.
NAME = 120
#: Alternatives, and demands of one condition, that a sentence lists.
LISTED = 8
#: Code points of a line that a code frame shows around a place.
FRAME = 100

_articles = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row with its bytes and where it is, for placing what is said of it."""

    path: str
    text: bytes
    start: Cursor
    number: int | None
    #: The decoded value, or None where it does not parse.
    value: Any = None
    id_key: str = ""

    def place(self, start: int, end: int, pointer: str) -> Place:
        """Return the place of the bytes from `start` to `end` of the row."""
        here = self.start.after(self.text[:start])
        marked = self.text[start:end].split(b"\n", 1)[0]
        width = max(1, code_points(marked))
        return Place(
            path=self.path,
            line=here.line,
            column=here.column + 1,
            end_column=here.column + 1 + width,
            byte_offset=here.offset,
            record=self.number,
            record_id=self.id,
            pointer=pointer,
            record_id_key=self.id_key,
        )

    @property
    def id(self) -> str | int | None:
        """What the record calls itself."""
        found = self.value.get(self.id_key) if isinstance(self.value, dict) else None
        is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
        return found if is_id else None

    def excerpt(self, start: int, end: int) -> Excerpt:
        """Return the line around the bytes from `start` to `end` of the row."""
        first = self.text.rfind(b"\n", 0, start) + 1
        last = self.text.find(b"\n", start)
        last = len(self.text) if last < 0 else last
        end = min(end, last)
        marked = self.text[start:end].decode("utf-8", "replace")
        room = max(FRAME - len(marked), FRAME // 2)
        lead = self.text[max(first, start - 4 * room) : start]
        lead_text = lead.decode("utf-8", "replace")
        cut_left = start - 4 * room > first or len(lead_text) > room // 2
        lead_text = lead_text[-(room // 2) :]
        tail = self.text[end : min(last, end + 4 * room)].decode("utf-8", "replace")
        tail_text = tail[: room - len(lead_text)]
        cut_right = end + 4 * room < last or len(tail) > len(tail_text)
        if len(marked) > FRAME:
            marked, tail_text, cut_right = marked[:FRAME], "", True
        text = ("…" if cut_left else "") + lead_text
        begin = len(text)
        text += marked + tail_text + ("…" if cut_right else "")
        return Excerpt(text.rstrip("\r"), begin, begin + max(1, len(marked)))


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a problem says."""

    message: str
    help: str = ""
    fix: Fix | None = None
    because: tuple[Because, ...] = ()


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
        start, end = _bytes_of(about, row.text)
        path = about.path
        sentence = sentence_of(about, finding.value, schema)
    return Problem(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        place=row.place(start, end, pointer_of(path)),
        message=sentence.message,
        because=_reasons(about, row) if isinstance(about, Cause) else sentence.because,
        help=sentence.help,
        schema_pointer=_schema_pointer(about),
        fix=sentence.fix,
        excerpt=row.excerpt(start, end),
    )


def _bytes_of(cause: Cause, text: bytes) -> tuple[int, int]:
    """Return the bytes to mark: the key, the value, or only its opening bracket."""
    span = locate(text, cause.path)
    if cause.at_key and span.key is not None and span.key_end is not None:
        return span.key, span.key_end
    if text[span.start] in b"{[":
        return span.start, span.start + 1
    return span.start, span.end


def _reasons(cause: Cause, row: Row) -> tuple[Because, ...]:
    """Return the values that made a condition apply, with their places."""
    reasons = []
    for path in cause.because:
        span = locate(row.text, path)
        place = row.place(span.start, span.end, "")
        value = shown(value_at(row.value, path))
        reasons.append(Because(pointer_of(path), value, place.line, place.column))
    return tuple(reasons)


def _repeated(about: Duplicate, row: Row) -> Sentence:
    key = about.path[-1]
    first = row.place(about.first, about.first + 1, "")
    value = shown(_member_at(row.text, about.first))
    reason = Because(pointer_of(about.path), value, first.line, first.column)
    return Sentence(
        f"the key {shown(key)} is there twice in {name_of(about.path[:-1])}",
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


def _schema_pointer(about: Fault | Duplicate | Cause) -> str:
    return (
        pointer_of(about.violations[0].schema_path) if isinstance(about, Cause) else ""
    )


def name_of(path: Path) -> str:
    """Return `path` as people write it: `input.choices[2]`."""
    name = ""
    for each in path:
        if isinstance(each, int):
            name += f"[{each}]"
        elif each.isidentifier() and len(each) <= SHOWN:
            name += f".{each}" if name else each
        else:
            name += f"[{shown(each)}]"
    if len(name) > NAME:
        name = "…" + name[-NAME:]
    return name or "the record"


def shown(value: Any) -> str:
    """Return `value` as short JSON text."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return literal(value)


def literal(value: Any) -> str:
    """Return `value` as JSON text, cut where it is long."""
    if isinstance(value, str):
        value = value if len(value) <= SHOWN else value[:SHOWN] + "…"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 2 * SHOWN else text[:SHOWN] + "…"


def found(value: Any) -> str:
    """Return what `value` is, for the end of a sentence."""
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {shown(value)}"
    return shown(value)


def types_in_words(types: list[str]) -> str:
    """Return the names of JSON types as alternatives."""
    order = [each for each in _articles if each in types and each != "null"]
    if "integer" in order and "number" in order:
        order.remove("integer")
    words = [_articles[each] for each in order]
    if "null" in types:
        words.append("null")
    return either(words)


def either(words: list[str]) -> str:
    """Join words as alternatives: `a, b or c`."""
    if len(words) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


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
    asked = [name_of((*base, *each)) for each in asked_paths(violation.branch, schema)]
    if not asked:
        return ""
    them = "it is" if len(asked) == 1 else "they are"
    return f"the schema asks so by {either(asked)}, and {them} not there"


def _also(violation: Violation, record: Any) -> str:
    missing = violation.keyword == "required"
    value = None if missing else value_at(record, violation.path)
    return _sentences.get(violation.keyword, _refused)(violation, value).message


def _misspelt(cause: Cause) -> Sentence:
    key = str(cause.path[-1])
    missing = name_of((*cause.path[:-1], cause.intended))
    return Sentence(
        f"{missing} is missing, and {shown(key)} looks like a misspelling of it",
        f"rename {shown(key)} to {shown(cause.intended)}",
        Fix("rename-key", pointer_of(cause.path), cause.intended),
    )


def _unknown_key(cause: Cause, record: Any, schema: Any) -> Sentence:
    key = str(cause.path[-1])
    owner = cause.path[:-1]
    free = known_keys(schema, cause.violations[0]) - set(value_at(record, owner))
    near = nearest(key, sorted(free))
    of = f" in {name_of(owner)}" if owner else ""
    if near:
        fix = Fix("rename-key", pointer_of(cause.path), near)
        return Sentence(
            f"{shown(key)} is not a known key{of}", f"did you mean {shown(near)}?", fix
        )
    fix = Fix("remove", pointer_of(cause.path))
    return Sentence(
        f"{shown(key)} is not a known key{of}",
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
    help_ = f"leave {shown(key)} out: it is optional, but null is not allowed"
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
        f"{name_of((*violation.path, key))} is missing", f"add {shown(key)}"
    )


def _type(violation: Violation, value: Any) -> Sentence:
    name, wanted = name_of(violation.path), types_in_words(violation.detail)
    help_ = ""
    if (
        isinstance(value, str)
        and _is_number(value)
        and {"number", "integer"} & set(violation.detail)
    ):
        help_ = "write the number without quotes"
    return Sentence(f"{name} must be {wanted}, found {found(value)}", help_)


def _is_number(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), (int, float))
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False


def _listed(violation: Violation, value: Any) -> Sentence:
    detail = violation.detail
    options = detail if violation.keyword == "enum" else [detail]
    words = [literal(each) for each in options[:LISTED]]
    if len(options) > LISTED:
        words.append(f"… ({len(options) - LISTED:,} more)")
    wanted = words[0] if len(words) == 1 else f"one of {', '.join(words)}"
    texts = [each for each in options if isinstance(each, str)]
    near = nearest(value, texts) if isinstance(value, str) else ""
    fix = Fix("replace", pointer_of(violation.path), near) if near else None
    help_ = f"did you mean {shown(near)}?" if near else ""
    if not options:
        wanted = "one of no values at all"
    message = f"{name_of(violation.path)} must be {wanted}, found {literal(value)}"
    return Sentence(message, help_, fix)


def _of_kind(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword with a name, `{}` in `words`."""

    def say(violation: Violation, value: Any) -> Sentence:
        kind = words.format(violation.detail)
        return Sentence(f"{name_of(violation.path)} must {kind}, found {found(value)}")

    return say


def _bound(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword with a bound, `{}` in `words`."""

    def say(violation: Violation, value: Any) -> Sentence:
        bound = words.format(shown(violation.detail))
        return Sentence(f"{name_of(violation.path)} must {bound}, found {found(value)}")

    return say


def _counted(words: str, unit: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker for a keyword that bounds how many there are."""

    def say(violation: Violation, value: Any) -> Sentence:
        plural = "" if violation.detail == 1 else "s"
        bound = f"{words} {violation.detail} {unit}{plural}"
        return Sentence(
            f"{name_of(violation.path)} must have {bound}, found {len(value)}"
        )

    return say


def _alternatives(violation: Violation, value: Any) -> Sentence:
    firsts = [option[0] for option in violation.detail or () if option]
    options = [
        _sentences.get(each.keyword, _refused)(each, value).message
        for each in firsts
        if each.path == violation.path
    ]
    name = name_of(violation.path)
    listed = list(dict.fromkeys(options))[:LISTED]
    help_ = f"one of these must hold: {'; '.join(listed)}" if listed else ""
    return Sentence(f"{name} is none of the alternatives, found {found(value)}", help_)


def _several(violation: Violation, _: Any) -> Sentence:
    name = name_of(violation.path)
    return Sentence(f"{name} must be exactly one of the alternatives, but is several")


def _refused(violation: Violation, value: Any) -> Sentence:
    name = name_of(violation.path)
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
        words = [shown(each) for each in keys[:LISTED]]
        return f"an object that has {' and '.join(words)}"
    return found(value)


def _undetermined(violation: Violation, _: Any) -> Sentence:
    return Sentence(
        f"no verdict on {name_of(violation.path)}: its pattern takes too long here",
        "write the pattern of the schema in a simpler way",
    )


def _plain(words: str) -> Callable[[Violation, Any], Sentence]:
    """Return a sentence maker that says `words` of the value's name."""

    def say(violation: Violation, _: Any) -> Sentence:
        return Sentence(f"{name_of(violation.path)} {words}")

    return say


def _key_name(violation: Violation, _: Any) -> Sentence:
    name = name_of(violation.path)
    return Sentence(f"{shown(violation.detail)} is not a key that {name} may have")


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
