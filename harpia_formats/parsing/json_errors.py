"""What is wrong with a text that is not JSON, said to the person who mends it."""

import re
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What sort of fault it is; each is a rule of its own."""

    SYNTAX = "syntax"
    TRUNCATED = "truncated"
    UTF8 = "utf8"
    SURROGATE = "surrogate"
    CONSTANT = "constant"
    NUMBER = "number"
    NESTING = "nesting"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is not JSON, and where, in bytes from its start."""

    kind: FaultKind
    start: int
    #: Behind the marked bytes; equal to `start` only at the end of the text.
    end: int
    message: str
    help: str = ""
    #: Where the value began that is still open, for a fault that is about it.
    opened: int | None = None


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a common mistake looks like, and what to say about it."""

    pattern: re.Pattern[bytes]
    message: str
    help: str
    kind: FaultKind = FaultKind.SYNTAX


def _sign(
    pattern: bytes, message: str, mend: str, kind: FaultKind = FaultKind.SYNTAX
) -> _Sign:
    """Return the sign that begins with `pattern`."""
    return _Sign(re.compile(pattern, re.DOTALL), message, mend, kind)


_QUOTES = (
    _sign(
        rb"'",
        "single quotes do not quote in JSON",
        "use double quotes; Python data is written with json.dumps, not str",
    ),
    _sign(
        rb"\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]",
        "typographic quotation marks do not quote in JSON",
        'use "',
    ),
)
_ANYWHERE = (
    _sign(
        rb"\xef\xbb\xbf",
        "a byte order mark (U+FEFF) stands in the text",
        "remove it; only the very start of a file may have one",
    ),
    _sign(
        rb"\x00+",
        "a NUL byte stands in the text",
        "remove it, or save the file as UTF-8 if it is UTF-16 or UTF-32",
    ),
    _sign(
        rb"//[^\n]*|/\*.*?\*/|/\*|#[^\n]*",
        "JSON has no comments",
        "remove the comment",
    ),
    _sign(
        rb"[\x0b\x0c]|\xc2[\x85\xa0]|\xe2\x80[\x80-\x8b\xa8\xa9\xaf]|\xe3\x80\x80",
        "this character is not white space in JSON",
        "use a plain space",
    ),
    *_QUOTES,
)
_CONSTANT = _sign(
    rb"[-+]?(?i:nan|inf(?:inity)?)(?!\w)",
    "JSON has no NaN and no infinity",
    "write null, or leave the member out",
    FaultKind.CONSTANT,
)
_BEFORE_VALUE = (
    _CONSTANT,
    _sign(rb"(?i:true)(?!\w)", "JSON spells this word true", "write true"),
    _sign(rb"(?i:false)(?!\w)", "JSON spells this word false", "write false"),
    _sign(
        rb"(?i:null|none|nil|undefined)(?!\w)",
        "JSON spells an absent value null",
        "write null",
    ),
    _sign(
        rb"\+[0-9.][-+.\w]*",
        "a number does not begin with a plus sign",
        "remove the plus sign",
    ),
    _sign(
        rb"\.[0-9][-+.\w]*",
        "a number needs a digit before its decimal point",
        "write 0 before the point",
    ),
    _sign(
        rb"[A-Za-z_$][-.\w$]*",
        "a bare word is not a value",
        "put text in double quotes",
    ),
    *_ANYWHERE,
)
_BEFORE_NAME = (
    _sign(
        rb"[A-Za-z_$][-.\w$]*",
        "a member name stands without quotation marks",
        "put the name in double quotes",
    ),
    _sign(
        rb"[-+.]?[0-9][-+.\w]*",
        "a member name is a number",
        "put the name in double quotes",
    ),
    _sign(rb",", "a member is missing before this comma", "remove the comma"),
    _sign(rb":", "a member name is missing before this colon", "write the name"),
    _sign(
        rb"[\[{]",
        "a member name is an array or an object",
        "write a string and a colon before the value",
    ),
    *_ANYWHERE,
)
#: The letter that directly follows a string tells of a quotation mark inside it.
_INNER_QUOTE = _sign(
    rb'(?<=")[^\s,:"\[\]{}/#]',
    "text follows the closing quotation mark of a string",
    'write \\" for a quotation mark inside a string',
)
_BEFORE_COMMA = (
    *_ANYWHERE,
    _INNER_QUOTE,
    _sign(
        rb'["\[{]|[-\w]',
        "a comma is missing here",
        "write a comma",
    ),
)
_BEHIND_VALUE = (
    *_ANYWHERE,
    _INNER_QUOTE,
    _sign(rb"[\]}]", "this bracket closes nothing", "remove it"),
    _sign(
        rb'["\[{]|[-\w]',
        "more data after the value: a second value begins",
        "put each record on a line of its own, or a comma between them in an array",
    ),
    _sign(
        rb".",
        "more data after the value",
        "put each record on a line of its own, with nothing between them",
    ),
)
_NUMBERS = (
    _CONSTANT,
    _sign(
        rb"-?\.",
        "a number needs a digit before its decimal point",
        "write 0 before the point",
    ),
    _sign(
        rb"-?0[xXoObB][0-9A-Fa-f]",
        "JSON has decimal numbers only",
        "write the number in decimal digits",
    ),
    _sign(
        rb"[0-9]{4}-[0-9]",
        "a date is not a number",
        "put text in double quotes",
    ),
    _sign(
        rb"-?0[0-9]",
        "a number does not begin with a needless zero",
        "remove the leading zeros, or put the digits in double quotes",
    ),
    _sign(
        rb"-?[0-9]+\.(?![0-9])",
        "a number needs a digit after its decimal point",
        "write 0 after the point, or remove the point",
    ),
    _sign(
        rb"-?[0-9]+(?:\.[0-9]+)?[eE][-+]?(?![0-9])",
        "a number needs a digit in its exponent",
        "write the exponent, or remove the e",
    ),
    _sign(
        rb"-?[0-9.]+_[0-9]",
        "a number has no underscores",
        "remove the underscores",
    ),
    _sign(rb"-(?![0-9])", "a minus sign has no number", "write the number"),
    _sign(rb"", "this is not a number", "put text in double quotes"),
)

_WORD = re.compile(rb"[-+.\w]+")
_CUT_NUMBER = re.compile(
    rb"-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][-+]?)"  # more could follow
)
_CUT_WORD = re.compile(rb"t|tr|tru|f|fa|fal|fals|n|nu|nul")
_CUT_ESCAPE = re.compile(
    rb"(?:\\(?:u(?:[0-9A-Fa-f]{0,3}|[dD][89abAB][0-9A-Fa-f]{2}"
    rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?)?)?)?"
)
_SURROGATE = re.compile(rb"\\u[dD](?:([89abAB])|[c-fC-F])[0-9A-Fa-f]{2}")
_SURROGATE_BYTES = re.compile(rb"\xed[\xa0-\xbf]")
_SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


def value_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why no value begins at `at` in the container opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]},":
        return _missing_value(text, at, opened)
    word = _WORD.match(text, at)
    if word and word.end() == len(text) and _CUT_WORD.fullmatch(word[0]):
        return _truncated(text, "a word", at)
    return _explain(text, at, _BEFORE_VALUE, "a value")


def name_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why no member name begins at `at` in the object opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]}":
        return _missing_value(text, at, opened)
    return _explain(text, at, _BEFORE_NAME, "a member name")


def colon_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why no colon stands at `at` in the object opened at `opened`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b",]}":
        message = "the member has a name but no value"
        mend = "write a colon and a value"
    else:
        message, mend = "a colon is missing between name and value", "write a colon"
    return Fault(FaultKind.SYNTAX, at, _behind(text, at), message, mend)


def comma_fault(text: bytes, at: int, opened: int) -> Fault:
    """Return why the container opened at `opened` does not go on at `at`."""
    if at == len(text):
        return _truncated_container(text, opened)
    if text[at] in b"]}":
        return _wrong_bracket(text, at, opened)
    bracket = "}" if _is_object(text, opened) else "]"
    return _explain(text, at, _BEFORE_COMMA, f"a comma or {bracket}")


def rest_fault(text: bytes, at: int) -> Fault:
    """Return why the value may not be followed by what stands at `at`."""
    return _explain(text, at, _BEHIND_VALUE, "the end")


def string_fault(text: bytes, start: int, at: int) -> Fault:
    """Return why the string that begins at `start` cannot go on at `at`."""
    rest = text[at : at + 12]  # two \u escapes
    if at + len(rest) == len(text) and _CUT_ESCAPE.fullmatch(rest):
        return _truncated(text, "a string", start, '"')
    if not rest.startswith(b"\\"):
        return _control(text[at], at)
    if surrogate := _SURROGATE.match(rest):
        return _lone_surrogate(at, is_first_half=surrogate[1] is not None)
    if rest.startswith(b"\\u"):
        message, mend = "\\u needs four hexadecimal digits", "write all four digits"
        return Fault(FaultKind.SYNTAX, at, at + 2, message, mend)
    message = f"a backslash before {_named(text, at + 1)} is not an escape in JSON"
    mend = "write ' alone" if rest[1:2] == b"'" else "write \\\\ for a backslash"
    return Fault(FaultKind.SYNTAX, at, _behind(text, at + 1), message, mend)


def number_fault(text: bytes, at: int, opened: int | None) -> Fault:
    """Return why what begins like a number at `at` is none."""
    word = _WORD.match(text, at)
    end = word.end() if word else at + 1
    # A lone number has no bracket left open that would show that its end is lost.
    cut = end == len(text) and opened is not None
    if cut and _CUT_NUMBER.fullmatch(text, at):
        return _truncated(text, "a number", at)
    sign = next(each for each in _NUMBERS if each.pattern.match(text, at))
    return Fault(sign.kind, at, end, sign.message, sign.help)


def range_fault(start: int, end: int, *, is_integer: bool) -> Fault:
    """Return that the number from `start` to `end` cannot be kept."""
    message = "the number is too large for a 64-bit float"
    if is_integer:
        message = f"an integer of {end - start} characters is too long to be kept"
    mend = "write a smaller number, or a string"
    return Fault(FaultKind.NUMBER, start, end, message, mend)


def nesting_fault(at: int, limit: int) -> Fault:
    """Return that the bracket at `at` opens one level more than `limit`."""
    message = f"arrays and objects are nested more than {limit} levels deep"
    return Fault(FaultKind.NESTING, at, at + 1, message, "nest the data less deeply")


def first_fault(text: bytes, wrong: Fault | None) -> Fault | None:
    """Return the first of `wrong` and the faults in the UTF-8 of `text`."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        # Cut inside a character of a string: all bytes that are there are right.
        is_cut = error.reason == "unexpected end of data"
        is_cut &= wrong is not None and wrong.kind is FaultKind.TRUNCATED
        if not is_cut and (wrong is None or error.start <= wrong.start):
            return _encoding_fault(text, error)
    return wrong


def _encoding_fault(text: bytes, error: UnicodeDecodeError) -> Fault:
    """Return what `error` found in `text`."""
    start = error.start
    message = f"the byte 0x{text[start]:02X} is not valid UTF-8 here"
    mend = "save the data as UTF-8"
    if _SURROGATE_BYTES.match(text, start):
        message = "these bytes encode half of a surrogate pair, which is not UTF-8"
        mend = "encode the whole character as UTF-8"
    return Fault(FaultKind.UTF8, start, error.end, message, mend)


def _explain(text: bytes, at: int, signs: tuple[_Sign, ...], wanted: str) -> Fault:
    """Return the first of `signs` seen at `at`, or that `wanted` was expected."""
    for each in signs:
        if seen := each.pattern.match(text, at):
            return Fault(each.kind, at, seen.end(), each.message, each.help)
    message = f"found {_named(text, at)} instead of {wanted}"
    return Fault(FaultKind.SYNTAX, at, _behind(text, at), message)


def _truncated(text: bytes, what: str, opened: int, closing: str = "") -> Fault:
    """Return that the text ends inside `what`, which began at `opened`."""
    size = len(text)
    message = f"the text ends inside {what} that begins at its byte {opened}"
    mend = "restore the missing end"
    if closing:
        mend = f"close it with {closing}, or {mend}"
    return Fault(FaultKind.TRUNCATED, size, size, message, mend, opened)


def _truncated_container(text: bytes, opened: int | None) -> Fault:
    """Return that the text ends inside a container, or before it has begun."""
    if opened is None:
        message = "the text has white space only" if text else "the text is empty"
        mend = "write a value, or remove the text"
        return Fault(FaultKind.SYNTAX, 0, len(text), message, mend)
    if _is_object(text, opened):
        return _truncated(text, "an object", opened, "}")
    return _truncated(text, "an array", opened, "]")


def _missing_value(text: bytes, at: int, opened: int | None) -> Fault:
    """Return what is missing before the comma or closing bracket at `at`."""
    before = len(text[:at].rstrip(b" \t\n\r"))
    previous = text[max(before - 1, 0) : before]
    if previous == b":":
        message, mend = "the member has a name but no value", "write the value"
    elif text[at] == ord(","):
        message, mend = "a value is missing before this comma", "remove the comma"
    elif opened is None:
        message, mend = "this bracket closes nothing", "remove it"
    elif previous == b",":
        message, mend = "a comma follows the last entry", "remove the comma"
        return Fault(FaultKind.SYNTAX, before - 1, before, message, mend)
    else:
        return _wrong_bracket(text, at, opened)
    return Fault(FaultKind.SYNTAX, at, at + 1, message, mend)


def _wrong_bracket(text: bytes, at: int, opened: int) -> Fault:
    """Return that the bracket at `at` does not match the one at `opened`."""
    what, right = ("object", "}") if _is_object(text, opened) else ("array", "]")
    message = f"{chr(text[at])} closes the {what} that begins at byte {opened}"
    mend = f"write {right}, or remove the bracket"
    return Fault(FaultKind.SYNTAX, at, at + 1, message, mend, opened)


def _control(code: int, at: int) -> Fault:
    """Return that the control character `code` stands in a string."""
    message = f"the control character U+{code:04X} stands unescaped in a string"
    mend = "write " + _SHORT_ESCAPES.get(code, f"\\u{code:04x}")
    if code in b"\r\n":
        mend += ", or close the string before the line ends"
    return Fault(FaultKind.CONTROL, at, at + 1, message, mend)


def _lone_surrogate(at: int, *, is_first_half: bool) -> Fault:
    """Return that the escape at `at` is half of a surrogate pair."""
    if is_first_half:
        message = "the first half of a surrogate pair has no second half"
    else:
        message = "the second half of a surrogate pair has no first half"
    mend = "write both halves, or the character itself"
    return Fault(FaultKind.SURROGATE, at, at + 6, message, mend)


def _is_object(text: bytes, opened: int) -> bool:
    """Return whether the bracket at `opened` opens an object."""
    return text[opened] == ord("{")


def _character(text: bytes, at: int) -> str:
    """Return the character at `at`, of which at least one byte is there."""
    return text[at : at + 4].decode(errors="replace")[:1]


def _behind(text: bytes, at: int) -> int:
    """Return the offset behind the character at `at`."""
    character = _character(text, at)
    return at + (1 if character == "\ufffd" else len(character.encode()))


def _named(text: bytes, at: int) -> str:
    """Return the character at `at` so that it is safe to print."""
    character = _character(text, at)
    if " " < character <= "~":
        return character
    return f"U+{ord(character):04X}"
