"""Verdicts on rows: the fields that they have, how replies are read, and majorities.

Also the errors of the judge, whose texts tell users what to fix.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, NoReturn

from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.spelling import hint_on

#: What makes a run fail again at a row: the row, the reply in the cache, or nothing.
RepeatedBy = Literal["", "row", "reply"]


class JudgeError(HarpiaFormatsError):
    """A condition under which the judge cannot run."""


class DefinitionError(JudgeError, ValueError):
    """A definition from which no judge can be built."""


class InputError(JudgeError, ValueError):
    """Inputs that do not match those that the definition declares."""


class RowError(JudgeError, ValueError):
    """A row without a verdict, in a run that stops at such rows.

    `repeats` is what makes the same run fail again at this row: the `row` itself, or
    the `reply` that the cache keeps. It is "" if the row is asked for again.
    """

    def __init__(self, message: str, repeats: RepeatedBy = "") -> None:
        super().__init__(message)
        self.repeats = repeats


class CacheError(JudgeError):
    """A cache file that cannot be used."""


def require(holds: object, message: str) -> None:
    """Raise `DefinitionError` with a message unless something holds."""
    if not holds:
        raise DefinitionError(message)


def check_keys(given: Iterable[Any], known: Collection[str], what: str) -> None:
    """Raise `DefinitionError` if an object, which `what` names, has an unknown key."""
    for key in given:
        if key not in known:
            raise DefinitionError(f"{what} has no {key!r}{hint_on(str(key), known)}")


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


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One row to judge: its values by the names of the inputs, or why it has none."""

    values: Mapping[str, Any]
    #: Why the row cannot be judged, "" if it can.
    problem: str = ""
    #: What identifies the row: `row` (from 1), `record`, `record_id`, `model`, `index`,
    #: `vote` (from 1); of a pair `order` (1 or 2) and `models` (in that order).
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: Which of several votes on the row this is, from 0.
    vote: int = 0

    @property
    def place(self) -> str:
        """The identity of the row as text, for messages."""
        parts = (
            f"{key.replace('_', ' ')} "
            f"{' and '.join(value) if isinstance(value, list) else value}"
            for key, value in self.identity.items()
        )
        return ", ".join(parts) or "a row"


def rows_with_votes(rows: Iterable[JudgeRow], votes: int) -> Iterator[JudgeRow]:
    """Yield each row once for each vote on it; with one vote the row as it is."""
    for row in rows:
        for vote in range(votes):
            identity = {**row.identity, "vote": vote + 1}
            yield row if votes == 1 else replace(row, vote=vote, identity=identity)


OK, FAILED, UNASKED = "ok", "failed", "unasked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one row, or why there is none."""

    row: JudgeRow
    result: dict[str, Any] | None
    #: `OK`, `FAILED`, or `UNASKED` if the budget was spent before.
    status: str = OK
    error: str | None = None
    attempts: int = 0
    #: Whether the reply is from the cache, or from an equal prompt of this run.
    cached: bool = False
    #: The metadata of the reply.
    reply_meta: Mapping[str, Any] = field(default_factory=dict)
    #: With the last of several votes the majority of each output field of the row.
    majority: Mapping[str, Any] | None = None
    #: Whether there is a reply, though it may have no verdict.
    has_reply: bool = True

    @property
    def meta(self) -> dict[str, Any]:
        """The entry of `meta` that is written with the result."""
        return {
            **self.row.identity,
            "status": self.status,
            "attempts": self.attempts,
            "cached": self.cached,
            **self.reply_meta,
            "error": self.error,
            **({} if self.majority is None else {"majority": self.majority}),
        }


#: The fewest votes that can have a majority.
LEAST = 2


@dataclass(slots=True)
class Majorities:
    """Adds the majority of each row to the verdict of its last vote, and counts them.

    Numbers, true and false, and texts of declared choices have a majority.
    """

    outputs: tuple[OutputField, ...] = ()
    votes: int = 1
    #: By the name of the field: the `rows` with enough votes, the `ties` among them,
    #: their `votes`, and those that are `agreeing` with the majority of their row.
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    _row: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> Verdict:
        """Return a verdict, with the majorities of its row if it is the last vote."""
        if self.votes == 1:
            return verdict
        self._row.append(verdict)
        if len(self._row) < self.votes:
            return verdict
        found = {
            name: majority_of(values)
            for name, values in self._labels().items()
            if len(values) >= LEAST
        }
        self._row.clear()
        for name, majority in found.items():
            is_tie = majority["value"] is None
            agreeing = 0 if is_tie else majority["votes"]
            counts = self.counts.setdefault(name, Counter())
            counts.update(rows=1, ties=is_tie, votes=majority["of"], agreeing=agreeing)
        return replace(verdict, majority=found)

    def _labels(self) -> dict[str, list[Any]]:
        """Return the values of the votes on a row by the names of their fields."""
        with_choices = {output.name for output in self.outputs if output.choices}
        found: dict[str, list[Any]] = {}
        for verdict in self._row:
            for name, value in (verdict.result or {}).items():
                is_choice = isinstance(value, str) and name in with_choices
                if is_choice or isinstance(value, bool) or _is_number(value):
                    found.setdefault(name, []).append(value)
        return found


def majority_of(values: Iterable[Any]) -> dict[str, Any]:
    """Return the `value` that most of some values have, its `votes`, and `of` how many.

    There must be a value. If two have the most votes, it is a tie, and `value` is None.
    """
    counts = Counter(values)
    (first, most), *others = counts.most_common(2)
    is_tie = any(count == most for _, count in others)
    return {"value": None if is_tie else first, "votes": most, "of": counts.total()}
