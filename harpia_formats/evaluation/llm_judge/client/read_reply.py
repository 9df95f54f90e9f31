"""Reading a reply: from its text to the values of the output fields."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from harpia_formats.evaluation.llm_judge.definition.output_fields import OutputField

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
