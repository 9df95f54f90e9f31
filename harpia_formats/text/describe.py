"""Values, types and paths in a few words."""

from typing import Any

import msgspec

from harpia_formats.model.problem import Path

#: Characters of a value that a sentence shows.
SHOWN = 40


#: Code points of a name made of many keys.
NAME = 120


#: Alternatives, and demands of one condition, that a sentence lists.
LISTED = 8


_articles = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


def path_text(path: Path) -> str:
    """Return `path` as people write it: `input.choices[2]`."""
    name = ""
    for each in path:
        if isinstance(each, int):
            name += f"[{each}]"
        elif each.isidentifier() and len(each) <= SHOWN:
            name += f".{each}" if name else each
        else:
            name += f"[{short_json(each)}]"
    if len(name) > NAME:
        name = "…" + name[-NAME:]
    return name or "the record"


def short_json(value: Any) -> str:
    """Return `value` as short JSON text."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return short_literal(value)


def short_literal(value: Any) -> str:
    """Return `value` as JSON text, cut where it is long."""
    if isinstance(value, str):
        value = value if len(value) <= SHOWN else value[:SHOWN] + "…"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 2 * SHOWN else text[:SHOWN] + "…"


def describe_value(value: Any) -> str:
    """Return what `value` is, for the end of a sentence."""
    if isinstance(value, str):
        return f"the text {short_json(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {short_json(value)}"
    return short_json(value)


def describe_types(types: list[str]) -> str:
    """Return the names of JSON types as alternatives."""
    order = [each for each in _articles if each in types and each != "null"]
    if "integer" in order and "number" in order:
        order.remove("integer")
    words = [_articles[each] for each in order]
    if "null" in types:
        words.append("null")
    return alternatives(words)


def alternatives(words: list[str]) -> str:
    """Join words as alternatives: `a, b or c`."""
    if len(words) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
