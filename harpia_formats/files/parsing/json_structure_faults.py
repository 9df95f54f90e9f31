"""Faults of the structure of JSON text: values, names, colons, commas, brackets."""

import re
from dataclasses import replace

from harpia_formats.files.parsing.json_fault import (
    Fault,
    FaultKind,
    end_of_character,
    truncated,
)
from harpia_formats.files.parsing.json_mistakes import (
    AFTER_VALUE,
    BEFORE_COLON,
    BEFORE_COMMA,
    BEFORE_NAME,
    BEFORE_VALUE,
    explain,
)

_word = re.compile(rb"[-+.\w]+")
_cut_word = re.compile(rb"t|tr|tru|f|fa|fal|fals|n|nu|nul")


def value_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why no value begins at `at` in the container opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]},":
        return _missing_value(text, at, opened)
    word = _word.match(text, at)
    if word and word.end() == len(text) and _cut_word.fullmatch(word[0]):
        return truncated(text, "a word", at)
    return explain(text, at, BEFORE_VALUE, "a value")


def name_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why no member name begins at `at` in the object opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]}":
        return _missing_value(text, at, opened)
    return explain(text, at, BEFORE_NAME, "a member name")


def colon_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why no colon stands at `at` in the object opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b",]}":
        message = "the member has a name but no value"
        help_ = "write a colon and a value"
        return Fault(FaultKind.SYNTAX, at, at + 1, message, help_)
    found = explain(text, at, BEFORE_COLON, "a colon")
    return replace(found, end=max(found.end, end_of_character(text, at)))


def comma_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why the container opened at `opened` does not go on at `at`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]}":
        return _wrong_bracket(text, at, opened)
    bracket = "}" if _is_object(text, opened) else "]"
    return explain(text, at, BEFORE_COMMA, f"a comma or {bracket}")


def rest_fault(text: bytes, at: int) -> Fault:
    """Return why no text may follow the outermost value, found at `at`."""
    return explain(text, at, AFTER_VALUE, "the end")


def nesting_fault(at: int, limit: int) -> Fault:
    """Return the fault that the bracket at `at` opens more than `limit` levels."""
    message = f"arrays and objects are nested more than {limit} levels deep"
    return Fault(FaultKind.NESTING, at, at + 1, message, "nest the data less deeply")


def _truncated_container(text: bytes, opened: int | None) -> Fault:
    """Return the fault that the text ends inside a container, or is blank."""
    if opened is None:
        message = "the text has white space only" if text else "the text is empty"
        help_ = "write a value, or remove the text"
        return Fault(FaultKind.SYNTAX, 0, len(text), message, help_)
    if _is_object(text, opened):
        return truncated(text, "an object", opened, "}")
    return truncated(text, "an array", opened, "]")


def _missing_value(text: bytes, at: int, opened: int | None) -> Fault:
    """Return the fault that a value is missing before the comma or bracket at `at`."""
    before = len(text[:at].rstrip(b" \t\n\r"))
    previous = text[max(before - 1, 0) : before]
    if previous == b":":
        message, help_ = "the member has a name but no value", "write the value"
    elif text[at] == ord(","):
        message, help_ = "a value is missing before this comma", "remove the comma"
    elif opened is None:
        message, help_ = "this bracket closes nothing", "remove it"
    elif previous == b",":
        message, help_ = "a comma follows the last entry", "remove the comma"
        return Fault(FaultKind.SYNTAX, before - 1, before, message, help_)
    else:
        return _wrong_bracket(text, at, opened)
    return Fault(FaultKind.SYNTAX, at, at + 1, message, help_)


def _wrong_bracket(text: bytes, at: int, opened: int) -> Fault:
    """Return the fault that the bracket at `at` does not close the one at `opened`."""
    what, right = ("object", "}") if _is_object(text, opened) else ("array", "]")
    message = f"{chr(text[at])} closes the {what} that starts at byte {opened}"
    help_ = f"write {right}, or remove the bracket"
    return Fault(FaultKind.SYNTAX, at, at + 1, message, help_, opened)


def _is_object(text: bytes, opened: int) -> bool:
    """Tell whether the bracket at `opened` opens an object."""
    return text[opened] == ord("{")
