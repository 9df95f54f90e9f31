"""Describe values, types, paths and counts in a few words, for messages."""

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from harpia_formats.model.exact_json import encode

#: Characters of a value that a message shows.
SHOWN = 40
#: Characters of a path that a message shows.
NAME = 120
#: Alternatives, or requirements of one condition, that a message lists.
LISTED = 8
#: Names that a message lists.
LISTED_NAMES = 5

#: What values with a size are called, and what their size counts.
_sized: dict[type, tuple[str, str]] = {
    str: ("text", "character"),
    list: ("an array", "item"),
    dict: ("an object", "key"),
}
_articles = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


class HiddenValue(Struct, frozen=True):
    """Stands for a value of which messages say only the type and size."""

    words: str
    size: int = 0

    def __len__(self) -> int:
        return self.size


def hidden_value(value: Any) -> HiddenValue:
    """Return what stands for `value`, such as "text of 12 characters"."""
    if value is None:
        return HiddenValue("null")
    if isinstance(value, bool):
        return HiddenValue("true or false")
    if isinstance(value, (int, float)):
        return HiddenValue("a number")
    kind, unit = _sized[type(value)]
    size = len(value)
    return HiddenValue(f"{kind} of {size:,} {unit}{'' if size == 1 else 's'}", size)


def path_text(path: tuple[str | int, ...]) -> str:
    """Return `path` as people write it, such as `input.choices[2]`.

    Of more than `NAME` characters only the end is returned.
    """
    name = ""
    for step in path:
        if isinstance(step, int):
            name += f"[{step}]"
        elif step.isidentifier() and len(step) <= SHOWN:
            name += f".{step}" if name else step
        else:
            name += f"[{short_json(step)}]"
    if len(name) > NAME:
        name = "…" + name[-NAME:]
    return name or "the record"


def short_json(value: Any) -> str:
    """Return `value` as short JSON text; arrays and objects only by their type."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return short_literal(value)


def short_literal(value: Any) -> str:
    """Return `value` as JSON text, shortened to about `SHOWN` characters."""
    if isinstance(value, HiddenValue):
        return value.words
    if isinstance(value, str):
        value = value if len(value) <= SHOWN else value[:SHOWN] + "…"
    text = encode(value).decode()
    return text if len(text) <= 2 * SHOWN else text[:SHOWN] + "…"


def describe_value(value: Any) -> str:
    """Return the type of `value` and its short JSON text, for the end of a sentence."""
    if isinstance(value, str):
        return f"the text {short_json(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {short_json(value)}"
    return short_json(value)


def describe_types(types: list[str]) -> str:
    """Return names of JSON Schema types as alternatives: `text, a number or null`."""
    order = [name for name in _articles if name in types and name != "null"]
    if "integer" in order and "number" in order:
        order.remove("integer")
    words = [_articles[name] for name in order]
    if "null" in types:
        words.append("null")
    return alternatives(words)


def joined(words: list[str]) -> str:
    """Return words as a list: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def alternatives(words: list[str]) -> str:
    """Return words as alternatives: `a, b or c`."""
    if len(words) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


#: A p-value below is not shown with its digits.
_LEAST_P = 1e-4


def first_of(names: Sequence[str], most: int = LISTED_NAMES) -> str:
    """Return the first names, and how many more there are."""
    rest = len(names) - most
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"{', '.join(names[:most])}{more}"


def with_noun(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def p_text(value: float, *, is_least: bool) -> str:
    """Return a p-value as text; one that draws cannot show to be smaller as `≤ 0.001`.

    The bound is rounded up to two digits.
    """
    if is_least and value < 1:
        digits = 1 - math.floor(math.log10(value))
        return f"≤ {math.ceil(value * 10**digits) / 10**digits:.{digits}f}".rstrip("0")
    return "< 0.0001" if value < _LEAST_P else f"{value:.4f}"
