"""The output fields of a judge: their values, how replies are read, scores of rows."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from harpia_formats.evaluation.llm_judge.judge_errors import DefinitionError
from harpia_formats.model.spelling import hint_on

#: The Python types of a value, by the name of its JSON type in a definition.
KINDS: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_articles = {"integer": "an", "array": "an", "object": "an"}
_field_keys = ("name", "type", "minimum", "maximum", "choices")


@dataclass(frozen=True, slots=True)
class OutputField:
    """One output field: its name, and the values that it may have."""

    name: str
    #: A key of `KINDS`, or empty for any value.
    kind: str = ""
    minimum: float | None = None
    maximum: float | None = None
    #: The allowed values; empty if they are not listed.
    choices: tuple[Any, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether any value is allowed."""
        return self == OutputField(self.name)

    @property
    def scale_label(self) -> str:
        """The scale for the signature of verdicts, "" unless it is from 0 to 1."""
        ends = self.choices or (self.minimum, self.maximum)
        is_share = all(isinstance(end, int | float) and 0 <= end <= 1 for end in ends)
        return f"|scale:{self.name}=0-1" if is_share else ""

    @property
    def value_description(self) -> str:
        """The allowed values in words, for the prompt and for messages."""
        if self.choices:
            texts = (json.dumps(choice, ensure_ascii=False) for choice in self.choices)
            return f"one of {', '.join(texts)}"
        kind = self.kind or "number"
        noun = f"{_articles.get(kind, 'a')} {kind}"
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"{noun}, at least {self.minimum}"
        return noun if self.maximum is None else f"{noun}, at most {self.maximum}"

    def error_in(self, value: Any) -> str:
        """Return why a value is not allowed, "" if it is allowed."""
        if self.is_plain:
            return ""
        if self.choices:
            is_one = any(_same(value, choice) for choice in self.choices)
            return "" if is_one else f"{self.name} is not {self.value_description}"
        return (
            ""
            if self._is_in_range(value)
            else f"{self.name} is not {self.value_description}"
        )

    def plain_value(self, value: Any) -> Any:
        """Return an allowed value as the definition spells it: 4 for 4.0."""
        if self.choices:
            return next(choice for choice in self.choices if _same(value, choice))
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if self.kind == "integer" and is_whole else value

    def _is_in_range(self, value: Any) -> bool:
        kind = self.kind or "number"
        if isinstance(value, bool):
            return kind == "boolean"
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            kind = "number"
        if not isinstance(value, KINDS[kind]):
            return False
        if not isinstance(value, int | float):
            return True
        above = self.minimum is None or value >= self.minimum
        below = self.maximum is None or value <= self.maximum
        is_real = isinstance(value, int) or math.isfinite(value)
        return is_real and above and below


def output_field(given: Any) -> OutputField:
    """Return the output field of a name, or of an object with a name.

    Raises `DefinitionError` for anything else.
    """
    if isinstance(given, str):
        return OutputField(given)
    if not isinstance(given, Mapping):
        raise DefinitionError(
            f"outputs must be a list of names, or of objects with a name; {given!r} "
            "is neither"
        )
    for key in given:
        if key not in _field_keys:
            raise DefinitionError(
                f"an output has no {key!r}{hint_on(str(key), _field_keys)}"
            )
    if not isinstance(given.get("name"), str):
        raise DefinitionError(f"the output {dict(given)!r} needs a name, which is text")
    return _checked(given)


def _checked(given: Mapping[str, Any]) -> OutputField:
    name, kind = given["name"], given.get("type", "")
    if kind != "" and kind not in KINDS:
        raise DefinitionError(
            f"the output {name} has the type {kind!r}; it must be one of "
            f"{', '.join(KINDS)}"
        )
    bounds = [given.get(key) for key in ("minimum", "maximum")]
    if any(bound is not None for bound in bounds) and kind not in {
        "",
        "number",
        "integer",
    }:
        raise DefinitionError(f"the output {name} is no number, so it has no range")
    if any(bound is not None and not _is_number(bound) for bound in bounds):
        raise DefinitionError(f"the range of the output {name} must be numbers")
    low, high = bounds
    if low is not None and high is not None and low > high:
        raise DefinitionError(f"the output {name} has a minimum above its maximum")
    return OutputField(name, kind, low, high, _choices(given, name))


def _choices(given: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    choices = given.get("choices", ())
    if "choices" in given:
        if not isinstance(choices, list) or not choices:
            raise DefinitionError(f"the choices of the output {name} must be a list")
        if given.keys() & {"type", "minimum", "maximum"}:
            raise DefinitionError(
                f"the output {name} has choices, so neither a type nor a range: "
                "leave those out"
            )
        if not all(isinstance(choice, str | int | float | None) for choice in choices):
            raise DefinitionError(
                f"each choice of the output {name} must be text, a number, true, "
                "false or null"
            )
    return tuple(choices)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal in JSON, in which true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


#: The most keys, and characters of a key, in a message.
_max_shown = 20
#: The deepest nesting of a reply.
_max_depth = 100
#: A reply that is one block of Markdown.
_fenced = re.compile(r"\s*```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
_surrogate = re.compile("[\ud800-\udfff]")


class ReplyError(ValueError):
    """A reply without a valid verdict; the text is the reason."""


def values_in(
    text: str | None, outputs: Sequence[OutputField], *, strict: bool
) -> dict[str, Any]:
    """Return the JSON object of a reply.

    It must have the declared keys, each with an allowed value; white space around it is
    ignored, and so is the fence if the reply is one block of Markdown. 4.0 is an
    integer, as in JSON Schema, and becomes 4. Otherwise Haystack 3.4 requires no more:
    it takes the last of repeated keys, and keeps other keys, NaN and null. With
    `strict` these are refused.

    Raises `ReplyError`.
    """
    if text is None:
        raise ReplyError("the reply has no text")
    block = _fenced.fullmatch(text)
    value = _decoded(text if block is None else block[1], strict=strict)
    if not isinstance(value, dict):
        raise ReplyError(
            f"Expected a JSON object but got {type(value).__name__} in the reply"
        )
    if _is_deeper(value, _max_depth):
        raise ReplyError(f"the reply is nested deeper than {_max_depth} levels")
    missing = [output.name for output in outputs if output.name not in value]
    if missing:
        raise ReplyError(
            f"Missing expected keys in the reply: {missing}. Got keys: {_keys(value)}"
        )
    if strict:
        _check_no_more(value, outputs)
    for output in outputs:
        reason = output.error_in(value[output.name])
        if reason:
            raise ReplyError(reason)
        value[output.name] = output.plain_value(value[output.name])
    return value


def _decoded(text: str, *, strict: bool) -> Any:
    try:
        if not strict:
            return json.loads(text.strip())
        value = json.loads(
            text.strip(" \t\r\n"),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        _check_characters(value)
    except ReplyError:
        raise
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the reply is not JSON: {error}") from None
    else:
        return value


def _check_no_more(value: dict[str, Any], outputs: Sequence[OutputField]) -> None:
    """Refuse keys that are not declared, and null unless it is a declared choice."""
    names = [output.name for output in outputs]
    more = [key for key in value if key not in names]
    if names and more:
        raise ReplyError(f"the reply has keys that are not declared: {_keys(more)}")
    for output in outputs:
        if value[output.name] is None and None not in output.choices:
            raise ReplyError(f"{output.name} is null")


def _check_characters(value: Any) -> None:
    if _surrogate.search(json.dumps(value, ensure_ascii=False)):
        raise ReplyError("the reply has half of a surrogate pair")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ReplyError("the reply has a key twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ReplyError(f"{text} in the reply is no number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ReplyError("a number in the reply is too large")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [member for owner in level for member in _members(owner)]
    return bool(level)


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _keys(names: Any) -> list[str]:
    return [str(name)[:_max_shown] for name in names][:_max_shown]


#: The key of the score among the values of a row.
SCORE = "score"
#: The rules: the mean of the numbers of a list, and whether a list has any member.
MEAN, ANY = "mean_of", "any_of"
#: The list of which each member has a number in the list of `MEAN`.
_EACH = "each_of"


@dataclass(frozen=True, slots=True)
class RowScore:
    """How the score of a row follows from its values."""

    #: `MEAN` or `ANY`.
    rule: str
    #: The output field that is the list.
    output: str
    #: The output field with a member for each number of the list, "" for none.
    each_of: str = ""

    @property
    def scale_label(self) -> str:
        """The scale for the signature of verdicts."""
        return f"|scale:{SCORE}=0-1"

    @property
    def parts(self) -> tuple[str, ...]:
        """The rule and its fields, for the digest of a definition."""
        return self.rule, self.output, self.each_of

    def error_in(self, values: Mapping[str, Any], *, strict: bool) -> str:
        """Return why a row with these values has no score, "" if it has one.

        Only with `strict` must the list have as many numbers as the other has members.
        """
        found = values[self.output]
        if not isinstance(found, list):
            return f"{self.output} is not an array"
        if self.rule == ANY:
            return ""
        if not all(map(_is_share, found)):
            return f"{self.output} has a value that is not a number from 0 to 1"
        others = values[self.each_of] if self.each_of else found
        if strict and (not isinstance(others, list) or len(others) != len(found)):
            return f"{self.output} has not one number for each member of {self.each_of}"
        return ""

    def value(self, values: Mapping[str, Any]) -> float:
        """Return the score of a row without an error; an empty list scores 0."""
        found = values[self.output]
        if self.rule == ANY:
            return int(bool(found))
        return sum(found) / len(found) if found else 0


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def row_score(given: Any, outputs: Sequence[OutputField]) -> RowScore | None:
    """Return the score that a definition describes, None if it has none.

    Raises `DefinitionError`.
    """
    if given is None:
        return None
    rules = given.keys() & {MEAN, ANY} if isinstance(given, Mapping) else ()
    if len(rules) != 1:
        raise DefinitionError(
            f"the score must be an object with {MEAN} or {ANY}, the name of an output"
        )
    (rule,) = rules
    known = (rule, _EACH) if rule == MEAN else (rule,)
    names = [output.name for output in outputs]
    for key, name in given.items():
        if key not in known:
            raise DefinitionError(
                f"the score has no {key!r} (known: {', '.join(known)})"
            )
        if name not in names:
            raise DefinitionError(
                f"the {key} of the score must be one of the outputs, {', '.join(names)}"
            )
    if SCORE in names:
        raise DefinitionError(
            f"there is an output called {SCORE} beside the rule for it: leave one out"
        )
    return RowScore(rule, given[rule], given.get(_EACH, ""))
