"""The output fields of a judge: their values, how replies are read, scores of rows."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NoReturn

from harpia_formats.evaluation.llm_judge.judge_errors import check_keys, require

#: The Python types of a value, by the name of its JSON type in a definition.
KINDS: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_field_keys = ("name", "type", "minimum", "maximum", "choices")


class ReplyError(ValueError):
    """A reply without a valid verdict; the text is the reason."""


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
        noun = f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"{noun}, at least {self.minimum}"
        return noun if self.maximum is None else f"{noun}, at most {self.maximum}"

    def checked(self, value: Any) -> Any:
        """Return an allowed value as the definition spells it: 4 for 4.0.

        Raises `ReplyError` for any other value.
        """
        for choice in self.choices:
            # In JSON true is not 1.
            are_both = isinstance(value, bool) == isinstance(choice, bool)
            if are_both and value == choice:
                return choice
        is_whole = isinstance(value, float) and value.is_integer()
        if self.kind == "integer" and is_whole:
            value = int(value)
        if self.is_plain or (not self.choices and self._is_in_range(value)):
            return value
        raise ReplyError(f"{self.name} is not {self.value_description}")

    def _is_in_range(self, value: Any) -> bool:
        """Tell whether a value is of the kind, and a number in its range."""
        kind = self.kind or "number"
        if isinstance(value, bool):
            return kind == "boolean"
        if not isinstance(value, int | float):
            return isinstance(value, KINDS[kind])
        above = self.minimum is None or value >= self.minimum
        below = self.maximum is None or value <= self.maximum
        return isinstance(value, KINDS[kind]) and _is_number(value) and above and below


def output_field(given: Any) -> OutputField:
    """Return the output field of a name, or of an object with a name.

    Raises `DefinitionError` for anything else.
    """
    if isinstance(given, str):
        return OutputField(given)
    require(
        isinstance(given, Mapping),
        f"outputs must be a list of names, or of objects with a name; {given!r} is "
        "neither",
    )
    check_keys(given, _field_keys, "an output")
    name, kind, low, high, choices = map(given.get, _field_keys)
    message = f"the output {dict(given)!r} needs a name, which is text"
    require(isinstance(name, str), message)
    kind, what = given.get("type", ""), f"the output {name}"
    message = f"{what} has the type {kind!r}; it must be one of {', '.join(KINDS)}"
    require(kind in ("", *KINDS), message)  # a list cannot be looked up
    bounds = [bound for bound in (low, high) if bound is not None]
    has_order = kind in {"", "number", "integer"}
    require(has_order or not bounds, f"{what} is no number, so it has no range")
    require(all(map(_is_number, bounds)), f"the range of {what} must be numbers")
    require(bounds == sorted(bounds), f"{what} has a minimum above its maximum")
    if "choices" not in given:
        return OutputField(name, kind, low, high)
    is_list = isinstance(choices, list) and choices
    require(is_list, f"the choices of {what} must be a list")
    require(
        not given.keys() & {"type", "minimum", "maximum"},
        f"{what} has choices, so neither a type nor a range: leave those out",
    )
    require(
        all(isinstance(choice, str | int | float | None) for choice in choices),
        f"each choice of {what} must be text, a number, true, false or null",
    )
    return OutputField(name, choices=tuple(choices))


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number in JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


#: The most keys, and characters of a key, in a message.
_max_shown = 20
#: The deepest nesting of a reply.
_max_depth = 100
#: A reply that is one block of Markdown.
_fenced = re.compile(r"\s*```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
_surrogate = re.compile("[\ud800-\udfff]")


def values_in(
    text: str | None,
    outputs: Sequence[OutputField],
    score: "RowScore | None" = None,
    *,
    strict: bool,
) -> dict[str, Any]:
    """Return the JSON object of a reply, with the score of the row if it has a rule.

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
        kind = type(value).__name__
        raise ReplyError(f"Expected a JSON object but got {kind} in the reply")
    if _is_deeper(value, _max_depth):
        raise ReplyError(f"the reply is nested deeper than {_max_depth} levels")
    names = [output.name for output in outputs]
    if missing := [name for name in names if name not in value]:
        keys = _shortened(value)
        raise ReplyError(
            f"Missing expected keys in the reply: {missing}. Got keys: {keys}"
        )
    more = [key for key in value if key not in names]
    if strict and names and more:
        keys = _shortened(more)
        raise ReplyError(f"the reply has keys that are not declared: {keys}")
    for output in outputs:
        if strict and value[output.name] is None and None not in output.choices:
            raise ReplyError(f"{output.name} is null")
        value[output.name] = output.checked(value[output.name])
    if score is not None:
        value[SCORE] = score.value(value, strict=strict)
    return value


def _decoded(text: str, *, strict: bool) -> Any:
    """Return the JSON of a reply; raises `ReplyError`."""
    try:
        if not strict:
            return json.loads(text.strip())
        value = json.loads(
            text.strip(" \t\r\n"),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        has_halves = _surrogate.search(json.dumps(value, ensure_ascii=False))
    except ReplyError:
        raise
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the reply is not JSON: {error}") from None
    if has_halves:
        raise ReplyError("the reply has half of a surrogate pair")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some pairs, none of which may have the key of another."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ReplyError("the reply has a key twice")
    return found


def _no_number(text: str) -> NoReturn:
    """Refuse NaN and infinities."""
    raise ReplyError(f"{text} in the reply is no number in JSON")


def _finite(text: str) -> float:
    """Return a number, which must not be too large."""
    value = float(text)
    if not math.isfinite(value):
        raise ReplyError("a number in the reply is too large")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    """Tell whether lists and objects are in each other more than so many times."""
    level = [value]
    for _ in range(levels):
        objects = (each.values() for each in level if isinstance(each, dict))
        lists = (each for each in level if isinstance(each, list))
        level = [*chain.from_iterable((*objects, *lists))]
    return bool(level)


def _shortened(names: Iterable[Any]) -> list[str]:
    """Return the first keys for a message."""
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
    #: The scale for the signature of verdicts.
    scale_label = f"|scale:{SCORE}=0-1"

    def value(self, values: Mapping[str, Any], *, strict: bool) -> float:
        """Return the score of a row with these values; an empty list scores 0.

        Only with `strict` must the list have as many numbers as the other has members.
        Raises `ReplyError`.
        """
        found = values[self.output]
        if not isinstance(found, list):
            raise ReplyError(f"{self.output} is not an array")
        if self.rule == ANY:
            return int(bool(found))
        if not all(isinstance(each, int | float) and 0 <= each <= 1 for each in found):
            raise ReplyError(
                f"{self.output} has a value that is not a number from 0 to 1"
            )
        others = values[self.each_of] if self.each_of else found
        if strict and (not isinstance(others, list) or len(others) != len(found)):
            raise ReplyError(
                f"{self.output} has not one number for each member of {self.each_of}"
            )
        return sum(found) / len(found) if found else 0


def row_score(given: Any, outputs: Sequence[OutputField]) -> RowScore | None:
    """Return the score that a definition describes, None if it has none.

    Raises `DefinitionError`.
    """
    if given is None:
        return None
    rules = given.keys() & {MEAN, ANY} if isinstance(given, Mapping) else ()
    require(
        len(rules) == 1,
        f"the score must be an object with {MEAN} or {ANY}, the name of an output",
    )
    (rule,) = set(rules)
    known = (rule, _EACH) if rule == MEAN else (rule,)
    names = [output.name for output in outputs]
    one_of = ", ".join(names)
    for key, name in given.items():
        require(key in known, f"the score has no {key!r} (known: {', '.join(known)})")
        message = f"the {key} of the score must be one of the outputs, {one_of}"
        require(name in names, message)
    require(
        SCORE not in names,
        f"there is an output called {SCORE} and a rule for it: leave one out",
    )
    return RowScore(rule, given[rule], given.get(_EACH, ""))
