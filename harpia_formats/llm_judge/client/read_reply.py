"""From the text of a reply to the values that it gives, or why it gives none."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from harpia_formats.llm_judge.definition.output_fields import OutputField

#: Keys that a sentence shows.
_shown = 20
#: Levels of nesting that no verdict needs.
_deepest = 100
_surrogate = re.compile("[\ud800-\udfff]")


class ReplyError(ValueError):
    """A reply that gives no verdict, and why."""


def values_in(
    text: str | None, outputs: Sequence[OutputField], *, strict: bool
) -> dict[str, Any]:
    """Return the object that a reply is.

    A reply is one JSON object with the declared keys, each with a value that it may
    have; white space around it does not matter. That is all that Haystack 3.4 asks: of
    a repeated key it takes the last, and other keys, NaN and null are kept. With
    `strict` those are refused. Raises `ReplyError`.
    """
    if text is None:
        raise ReplyError("the reply has no text")
    value = _decoded(text, strict=strict)
    if not isinstance(value, dict):
        raise ReplyError(
            f"Expected a JSON object but got {type(value).__name__} in the reply"
        )
    if _is_deeper(value, _deepest):
        raise ReplyError(f"the reply is nested deeper than {_deepest} levels")
    missing = [each.name for each in outputs if each.name not in value]
    if missing:
        raise ReplyError(
            f"Missing expected keys in the reply: {missing}. Got keys: {_keys(value)}"
        )
    if strict:
        _check_no_more(value, outputs)
    for each in outputs:
        wrong = each.wrong(value[each.name])
        if wrong:
            raise ReplyError(wrong)
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
    """Refuse keys that nobody asked for, and null in the place of a value."""
    names = [each.name for each in outputs]
    more = [each for each in value if each not in names]
    if names and more:
        raise ReplyError(f"the reply has keys that are not declared: {_keys(more)}")
    for each in outputs:
        if value[each.name] is None and None not in each.choices:
            raise ReplyError(f"{each.name} is null")


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
        level = [each for owner in level for each in _members(owner)]
    return bool(level)


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _keys(names: Any) -> list[str]:
    return [str(each)[:_shown] for each in names][:_shown]
