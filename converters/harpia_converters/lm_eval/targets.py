"""The references of a sample: what its target says, by the type of the output."""

import ast
from typing import Any

#: Characters of a target that may be the text of a list.
_longest = 1 << 20
#: Digits of the longest index.
_digits = 9


def chosen(target: Any, choices: list[str]) -> list[str] | None:
    """Return the right ones of `choices`, None if the target does not tell.

    It is their index, as a number or a text, a list of such, or the choice itself. An
    index is never taken for the reference.
    """
    value = target
    if type(value) is str:
        text = value.strip()
        if text.isdecimal() and len(text) <= _digits:
            value = int(text)
        elif text.startswith("[") and (found := literal_list(text)) is not None:
            value = found
        else:
            return [value] if value in choices else None
    indices = value if type(value) is list else [value]
    if not indices or any(type(index) is not int for index in indices):
        return None
    if any(not 0 <= index < len(choices) for index in indices):
        return None
    return [choices[index] for index in indices]


def texts_of(target: Any) -> list[str] | None:
    """Return the references that a target is, None if it has none.

    A text that is Python's spelling of a list of texts is that list. The tool writes
    any target as a text; older files have it as it was.
    """
    if type(target) is str:
        found = literal_list(target) if is_list_text(target) else None
        if found and all(type(item) is str for item in found):
            return found
        return [target]
    if type(target) is list:
        is_texts = target and all(type(item) is str for item in target)
        return target if is_texts else None
    if target is None or type(target) is dict:
        return None
    return [str(target)]


def is_list_text(target: Any) -> bool:
    """Tell whether a target may be Python's spelling of a list of texts."""
    return type(target) is str and target[:2] in {"['", '["'} and target[-1] == "]"


def literal_list(text: str) -> list[Any] | None:
    """Return the list that a text of Python is, None if it is none."""
    if len(text) > _longest:
        return None
    try:
        value = ast.literal_eval(text)
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is list else None
