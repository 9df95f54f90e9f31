"""A fault of a JSON text: kind, place and message; and bytes that are not UTF-8."""

import re
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """The kind of a fault; each has a rule of its own."""

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
    #: The offset behind the marked bytes; equal to `start` only at the end of the text.
    end: int
    message: str
    help: str = ""
    #: Where the value begins that is still open, for a fault about that.
    opened: int | None = None

    def message_with(self, byte: int) -> str:
        """Return the message if the value that is still open begins at `byte`."""
        return f"{self.message.removesuffix(f' {self.opened}')} {byte}"


def truncated(text: bytes, what: str, opened: int, closing: str = "") -> Fault:
    """Return the fault that `text` ends inside `what`, which begins at `opened`.

    `closing` is the character that would close it, if there is one.
    """
    size = len(text)
    message = f"the text ends inside {what} that starts at byte {opened}"
    help_ = "restore the missing end"
    if closing:
        help_ = f"close it with {closing}, or {help_}"
    return Fault(FaultKind.TRUNCATED, size, size, message, help_, opened)


def end_of_character(text: bytes, at: int) -> int:
    """Return the offset behind the character at `at`."""
    return at + len(_character_at(text, at).encode(errors="surrogateescape"))


def ends_in_character(text: bytes) -> bool:
    """Return whether a text ends before the last byte of a character of UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def printable_character(text: bytes, at: int) -> str:
    """Return the character at `at` so that it is safe to print, such as `U+00A0`."""
    character = _character_at(text, at)
    if " " < character <= "~":
        return character
    if "\udc80" <= character <= "\udcff":
        return f"the byte 0x{text[at]:02X}"
    return f"U+{ord(character):04X}"


def _character_at(text: bytes, at: int) -> str:
    """Return the character at `at`, half of a surrogate pair for a byte of none."""
    return text[at : at + 4].decode(errors="surrogateescape")[:1]


_surrogate_bytes = re.compile(rb"\xed[\xa0-\xbf]")


def first_fault(text: bytes, fault: Fault | None) -> Fault | None:
    """Return `fault` of `text`, or a fault of its UTF-8 if that comes before it."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        # Where the text ends inside a character of a string, all its bytes are right.
        is_cut = error.reason == "unexpected end of data"
        is_cut &= fault is not None and fault.kind is FaultKind.TRUNCATED
        if not is_cut and (fault is None or error.start <= fault.start):
            return _utf8_fault(text, error)
    return fault


def _utf8_fault(text: bytes, error: UnicodeDecodeError) -> Fault:
    """Return the fault that the decoder reports as `error`."""
    start = error.start
    message = f"the byte 0x{text[start]:02X} is not valid UTF-8 here"
    help_ = "save the data as UTF-8"
    if _surrogate_bytes.match(text, start):
        message = "these bytes encode half of a surrogate pair, which is not UTF-8"
        help_ = "encode the whole character as UTF-8"
    elif _may_be_windows(text, error):
        help_ += "; commands with `--encoding` read Windows-1252 by `--encoding cp1252`"
    return Fault(FaultKind.UTF8, start, error.end, message, help_)


def _may_be_windows(text: bytes, error: UnicodeDecodeError) -> bool:
    """Return whether a text may be in Windows-1252: no character of it is UTF-8."""
    if error.reason == "unexpected end of data" or b"\0" in text:
        return False
    characters = text.decode(errors="surrogateescape")
    if any(each > "\x7f" and not "\udc80" <= each <= "\udcff" for each in characters):
        return False
    try:
        text.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
