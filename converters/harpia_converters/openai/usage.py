"""The usage in the body of a response, as token usage of an output."""

from typing import Any

from harpia_formats.model.adapter import Row

#: The names of counts in chats and in responses, with those in a record.
_counts = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
_details = {
    "completion_tokens_details": ("reasoning_tokens", "reasoning_tokens"),
    "output_tokens_details": ("reasoning_tokens", "reasoning_tokens"),
    "prompt_tokens_details": ("cached_tokens", "input_tokens_cache_read"),
    "input_tokens_details": ("cached_tokens", "input_tokens_cache_read"),
}


def read_usage(usage: Any) -> tuple[Row, Row]:
    """Return the token usage of an output, and the members that have no place in it."""
    counts: Row = {}
    rest: Row = {}
    for key, value in usage.items() if type(usage) is dict else ():
        if key in _counts and type(value) is int:
            counts[_counts[key]] = value
            continue
        inner, name = _details.get(key, ("", ""))
        found = value.get(inner) if inner and type(value) is dict else None
        if type(found) is int:
            counts[name] = found
            left = {each: value[each] for each in value if each != inner}
            if left:
                rest[key] = left
        else:
            rest[key] = value
    return counts, rest
