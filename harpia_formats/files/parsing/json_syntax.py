"""Find the first fault of a JSON text, with its place.

The parser decides fast and reports no places; what it refuses is read again here. Runs
of bytes are left to regular expressions, and nesting to a list, so that the work grows
with the number of tokens and the stack does not grow.
"""

import math
import re
import sys
from functools import cache

from harpia_formats.files.io.reader import DEPTH_LIMIT
from harpia_formats.files.parsing.json_fault import (
    Fault,
    FaultKind,
    end_of_character,
    ends_in_character,
    first_fault,
    printable_character,
    truncated,
)
from harpia_formats.files.parsing.json_mistakes import (
    AFTER_VALUE,
    BEFORE_COLON,
    BEFORE_COMMA,
    BEFORE_NAME,
    BEFORE_VALUE,
    CONSTANT,
    explain,
    mistake,
)
from harpia_formats.files.parsing.locate import SPACE_PATTERN, end_of, skip_space

#: Mistakes in numbers; the last one matches anything.
_NUMBERS = (
    CONSTANT,
    mistake(
        rb"-?\.",
        "a number needs a digit before its decimal point",
        "write 0 before the point",
    ),
    mistake(
        rb"-?0[xXoObB][0-9A-Fa-f]",
        "JSON has decimal numbers only",
        "write the number in decimal digits",
    ),
    mistake(
        rb"[0-9]{4}-[0-9]",
        "a date is not a number",
        "put text in double quotes",
    ),
    mistake(
        rb"-?0[0-9]",
        "a number does not begin with a needless zero",
        "remove the leading zeros, or put the digits in double quotes",
    ),
    mistake(
        rb"-?[0-9]+\.(?![0-9])",
        "a number needs a digit after its decimal point",
        "write 0 after the point, or remove the point",
    ),
    mistake(
        rb"-?[0-9]+(?:\.[0-9]+)?[eE][-+]?(?![0-9])",
        "a number needs a digit in its exponent",
        "write the exponent, or remove the e",
    ),
    mistake(
        rb"-?[0-9.]+_[0-9]",
        "a number has no underscores",
        "remove the underscores",
    ),
    mistake(rb"-(?![0-9])", "a minus sign has no number", "write the number"),
    mistake(rb"", "this is not a number", "put text in double quotes"),
)

_word = re.compile(rb"[-+.\w]+")
#: The beginning of a number that more digits could follow.
_cut_number = re.compile(rb"-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][-+]?)")


def number_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why the word at `at`, which begins like a number, is none.

    `opened` is where the container begins that it is in, None if it is in none.
    """
    # A number by itself has no open bracket that shows that its end is lost.
    if opened is not None and _cut_number.fullmatch(text, at):
        return truncated(text, "a number", at)
    found = next(known for known in _NUMBERS if known.pattern.match(text, at))
    return Fault(found.kind, at, end_of(_word, text, at), found.message, found.help)


def range_fault(start: int, end: int, *, is_integer: bool) -> Fault:
    """Return the fault that the number from `start` to `end` is too large."""
    message = "the number is too large for a 64-bit float"
    if is_integer:
        message = f"an integer of {end - start} characters is too long to be kept"
    help_ = "write a smaller number, or a string"
    return Fault(FaultKind.NUMBER, start, end, message, help_)


#: The beginning of an escape, or of two that make one character.
_cut_escape = re.compile(
    rb"(?:\\(?:u(?:[0-9A-Fa-f]{0,3}|[dD][89abAB][0-9A-Fa-f]{2}"
    rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?)?)?)?"
)
_surrogate = re.compile(rb"\\u[dD](?:([89abAB])|[c-fC-F])[0-9A-Fa-f]{2}")
#: The short escapes of control characters.
_short_escapes = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


def string_fault(text: bytes, start: int, at: int) -> Fault:
    """Return why the string that begins at `start` cannot go on at `at`."""
    if _cut_escape.fullmatch(text, at):
        # A quote would not close an escape or a character that is cut itself.
        is_whole = at == len(text) and not ends_in_character(text[start:])
        return truncated(text, "a string", start, '"' if is_whole else "")
    if not text.startswith(b"\\", at):
        return _control_character(text[at], at)
    if surrogate := _surrogate.match(text, at):
        return _lone_surrogate(at, is_first_half=surrogate[1] is not None)
    if text.startswith(b"\\u", at):
        message, help_ = "\\u needs four hexadecimal digits", "write all four digits"
        return Fault(FaultKind.SYNTAX, at, at + 2, message, help_)
    character = printable_character(text, at + 1)
    message = f"a backslash before {character} is not an escape in JSON"
    help_ = "write ' alone" if character == "'" else "write \\\\ for a backslash"
    return Fault(FaultKind.SYNTAX, at, end_of_character(text, at + 1), message, help_)


def _control_character(code: int, at: int) -> Fault:
    """Return the fault that the control character `code` stands in a string."""
    message = f"the control character U+{code:04X} stands unescaped in a string"
    help_ = "write " + _short_escapes.get(code, f"\\u{code:04x}")
    if code in b"\r\n":
        help_ += ", or close the string before the line ends"
    return Fault(FaultKind.CONTROL, at, at + 1, message, help_)


def _lone_surrogate(at: int, *, is_first_half: bool) -> Fault:
    """Return the fault that the escape at `at` is half of a surrogate pair."""
    if is_first_half:
        message = "the first half of a surrogate pair has no second half"
    else:
        message = "the second half of a surrogate pair has no first half"
    help_ = "write both halves, or the character itself"
    return Fault(FaultKind.SURROGATE, at, at + 6, message, help_)


_cut_word = re.compile(rb"t|tr|tru|f|fa|fal|fals|n|nu|nul")


def value_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why no value begins at `at` in the container opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]},":
        return _missing_value(text, at, opened)
    if _cut_word.fullmatch(text, at):
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
        return truncated(text, "an object", opened)
    if text[at] in b",]}":
        message = "the member has a name but no value"
        help_ = "write a colon and a value"
        return Fault(FaultKind.SYNTAX, at, at + 1, message, help_)
    return explain(text, at, BEFORE_COLON, "a colon")


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
    # A bracket would not close a container behind a comma or a colon.
    is_open = text.rstrip(b" \t\n\r").endswith((b",", b":"))
    if _is_object(text, opened):
        return truncated(text, "an object", opened, "" if is_open else "}")
    return truncated(text, "an array", opened, "" if is_open else "]")


def _missing_value(text: bytes, at: int, opened: int | None) -> Fault:
    """Return the fault that a value is missing before the comma or bracket at `at`."""
    before = text[:at].rstrip(b" \t\n\r")
    if before.endswith(b":"):
        message, help_ = "the member has a name but no value", "write the value"
    elif text[at] == ord(","):
        message, help_ = "a value is missing before this comma", "remove the comma"
    elif opened is None:
        message, help_ = "this bracket closes nothing", "remove it"
    elif before.endswith(b","):
        message, help_ = "a comma follows the last entry", "remove the comma"
        at = len(before) - 1
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


#: Bytes of the longest integer that the parser keeps.
INTEGER_LIMIT = 4300

_BRACE = ord("{")
_WS = SPACE_PATTERN

# The parser allows DEL and \u0000, and half a surrogate pair only next to the other.
_ESCAPE = (
    rb'\\(?:["\\/bfnrt]|u(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD](?:[0-7][0-9a-fA-F]{2}'
    rb"|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))"
)
# The engine keeps every round of a group in memory, so one match has few rounds, and
# a long string is matched in several steps.
_CHARACTERS = rb'[^"\\\x00-\x1f]*+(?:' + _ESCAPE + rb'[^"\\\x00-\x1f]*+){0,200}'
_STRING = rb'"' + _CHARACTERS + rb'"'
_NAME = _STRING + _WS + rb":" + _WS
# Values that are accepted at once. Numbers that surely fit have at most 200 digits
# before the point and two in the exponent.
_PLAIN = (
    rb"(" + _STRING + rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}]))?"
)
# One step inside a container, from behind its opening bracket or an entry: behind
# its closing bracket (group 1), behind a plain value (group 2), or up to a value that
# is not plain.
_NEXT = _WS + rb"," + _WS
_IN_ARRAY = re.compile(
    _WS + rb"(\])|(?:(?<=\[)" + _WS + rb"|(?<!\[)" + _NEXT + rb")" + _PLAIN
)
_IN_OBJECT = re.compile(
    _WS + rb"(\})|(?:(?<=\{)" + _WS + rb"|(?<!\{)" + _NEXT + rb")" + _NAME + _PLAIN
)
# Behind an entry: further entries, of which each is plain, or an array or object of at
# most two levels that has only plain values in it. They are passed over at once.
_PassedOver = tuple[re.Pattern[bytes], re.Pattern[bytes]]
#: Bytes of a text that is long enough for it.
_LONG = 1000
_SURE = _STRING + (
    rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}])"
)


def _container_of(values: bytes) -> bytes:
    """Return the expression for a value, an array or an object of `values`."""
    members = rb"(?:%b%b(?:,%b(?=\")|(?=\})))" % (_NAME + values, _WS, _WS)
    items = rb"(?:%b%b(?:,%b(?!\])|(?=\])))" % (values, _WS, _WS)
    # Before Python 3.11.5, a possessive repeat of a group may end inside a round that
    # fails (gh-106052); a greedy one in an atomic group does not.
    object_ = rb"\{%b(?>%b{0,50})\}" % (_WS, members)
    array = rb"\[%b(?>%b{0,50})\]" % (_WS, items)
    return rb"(?>%b|%b|%b)" % (_SURE, object_, array)


_LEVELS = 2


@cache
def _passed_over() -> _PassedOver:
    """Return the expressions for further members of an object, and items of an array.

    They are compiled late: it takes some milliseconds.
    """
    shallow = _container_of(_container_of(rb"(?>" + _SURE + rb")"))
    members = re.compile(rb"(?>(?:" + _NEXT + _NAME + shallow + rb"){1,50})")
    return members, re.compile(rb"(?>(?:" + _NEXT + shallow + rb"){1,50})")


_CHARACTERS_OF_STRING = re.compile(_CHARACTERS)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_MORE_NUMBER = re.compile(rb"[-+.\w]")
_WORD = re.compile(rb"(?:true|false|null)(?!\w)")


def find_fault(text: bytes, *, depth_limit: int = DEPTH_LIMIT) -> Fault | None:
    """Return the first fault of `text`, None if it is one JSON value.

    A text has no fault if and only if `msgspec.json.decode` accepts it and it has at
    most `depth_limit` levels of arrays and objects.
    """
    return first_fault(text, _grammar_fault(text, depth_limit))


def _grammar_fault(text: bytes, depth_limit: int) -> Fault | None:
    """Return the first fault of `text` that is not one of its encoding."""
    opened: list[int] = []
    runs = _passed_over() if len(text) >= _LONG else None
    most = depth_limit - _LEVELS
    at: int | Fault = skip_space(text, 0)
    while not isinstance(at, Fault):
        if text[at : at + 1] in (b"{", b"["):
            if len(opened) == depth_limit:
                return nesting_fault(at, depth_limit)
            opened.append(at)
            at += 1
        else:
            at = _end_of_scalar(text, at, opened[-1] if opened else None)
        if not isinstance(at, Fault):
            at = _next_value(text, at, opened, runs if len(opened) <= most else None)
        if not opened and not isinstance(at, Fault):
            return rest_fault(text, at) if at < len(text) else None
    return at


def _next_value(
    text: bytes, at: int, opened: list[int], runs: _PassedOver | None
) -> int | Fault:
    """Return where the next value begins that is not plain, and close containers.

    Behind the outermost value `opened` is empty, and the offset of the rest of the
    text is returned. `runs` pass over several entries at once, if that is allowed.
    """
    while opened:
        in_object = text[opened[-1]] == _BRACE
        if runs is not None and at != opened[-1] + 1:
            more = runs[0 if in_object else 1].match(text, at)
            at = more.end() if more else at
        step = (_IN_OBJECT if in_object else _IN_ARRAY).match(text, at)
        if step is None:
            return _next_entry(text, at, opened[-1])
        at = step.end()
        if step.lastindex is None:
            return at
        if step.lastindex == 1:
            opened.pop()
    return skip_space(text, at)


def _next_entry(text: bytes, at: int, opened: int) -> int | Fault:
    """Return where the value of the next entry begins, or its fault."""
    start = skip_space(text, at)
    if at != opened + 1:
        if text[start : start + 1] != b",":
            return comma_fault(text, start, opened)
        start = skip_space(text, start + 1)
    if text[start : start + 1] != b'"':
        return name_fault(text, start, opened)
    end = _end_of_string(text, start)
    if isinstance(end, Fault):
        return end
    colon = skip_space(text, end)
    if text[colon : colon + 1] != b":":
        return colon_fault(text, colon, opened)
    return skip_space(text, colon + 1)


def _end_of_scalar(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the string, number or word at `at`, or its fault."""
    first = text[at : at + 1]
    if first == b'"':
        return _end_of_string(text, at)
    if first and first in b"-0123456789":
        return _end_of_number(text, at, opened)
    word = _WORD.match(text, at)
    return word.end() if word else value_fault(text, at, opened)


def _end_of_string(text: bytes, start: int) -> int | Fault:
    """Return the end of the string at `start`, or its fault."""
    at, end = start, start + 1
    while at < end:
        at, end = end, end_of(_CHARACTERS_OF_STRING, text, end)
    if text[at : at + 1] == b'"':
        return at + 1
    return string_fault(text, start, at)


def _end_of_number(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the number at `at`, or its fault."""
    number = _NUMBER.match(text, at)
    if number is None or _MORE_NUMBER.match(text, number.end()):
        return number_fault(text, at, opened)
    end = number.end()
    if number.lastindex is None:
        if _is_too_long(number[0]):
            return range_fault(at, end, is_integer=True)
    # The parser rounds as float does: 1e-400 is 0.0, and 0e999 does not overflow.
    elif math.isinf(float(number[0])):
        return range_fault(at, end, is_integer=False)
    return end


def _is_too_long(integer: bytes) -> bool:
    """Tell whether the parser refuses `integer` because of its length.

    Its own limit counts the minus sign; that of the interpreter, which can be set
    lower, counts digits.
    """
    digit_limit = sys.get_int_max_str_digits()
    digits = len(integer.lstrip(b"-"))
    return len(integer) > INTEGER_LIMIT or 0 < digit_limit < digits
