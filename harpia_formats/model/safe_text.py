"""Make text from data harmless for terminals, logs, JSON and spreadsheets."""

import math
import re
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

#: Characters that a terminal obeys or hides, and what makes a log line a command:
#: controls, soft hyphen, bidi marks, zero-width and tag characters, lone surrogates,
#: and the first `#` of `##[`, which the runners of GitHub and Azure obey anywhere.
UNSAFE = re.compile(
    "["
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    "]"
    r"|#(?=#\w*\[)"
)
#: GitHub's runner obeys `::` at the start of a line, behind any white space.
_COMMAND = re.compile(r"\A(\s*):(?=:)")
#: Bits of the largest integer that is written in decimals.
_BITS = 2048
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def safe(text: str, limit: int = 200) -> str:
    r"""Return `text` in one line, with unsafe characters as `\x1b` or `\u202e`.

    It has at most `limit` characters, and "…" behind them if there were more.
    """
    shown = _COMMAND.sub(r"\1\\x3a", escaped(text[:limit]))
    if len(shown) <= limit and len(text) <= limit:
        return shown
    return shown[:limit] + "…"


def is_utf_8(text: str) -> bool:
    """Return whether a text can be written in UTF-8: not with a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(text: str) -> str:
    """Return all of `text` with unsafe characters as escapes.

    It is for the middle of a line: `::` at the start is not escaped.
    """
    return UNSAFE.sub(_escape, text)


def escaped_lines(text: str) -> str:
    """Return `text`, which may have several lines, as a terminal may get it.

    Line ends and tabs stay, also a carriage return before a line feed; all other unsafe
    characters are escapes.
    """
    return UNSAFE.sub(_escape_in_line, text)


def _escape_in_line(found: re.Match[str]) -> str:
    """Return the escape for the character found, but for line ends and tabs."""
    character = found[0]
    is_end = character == "\r" and found.string[found.end() : found.end() + 1] == "\n"
    return character if is_end or character in "\n\t#" else _escape(found)


def _escape(found: re.Match[str]) -> str:
    """Return the escape for the character found."""
    character = found[0]
    number = ord(character)
    if number <= 0xFF:  # noqa: PLR2004 - the last code point of \x
        return _SHORT.get(character, f"\\x{number:02x}")
    if number <= 0xFFFF:  # noqa: PLR2004 - the last code point of \u
        return f"\\u{number:04x}"
    return f"\\U{number:08x}"


def digits(number: int) -> str:
    """Return `number` in decimals, or in hexadecimals above 2,048 bits."""
    # Python converts at least 640 decimals, however its limit is set.
    return str(number) if number.bit_length() <= _BITS else hex(number)


_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


def json_text(value: dict[str, Any], *, indent: bool = False) -> str:
    """Return `value` as JSON, with what JSON or a terminal cannot carry as text."""
    import orjson  # noqa: PLC0415 - only reports in JSON need it

    option = orjson.OPT_INDENT_2 if indent else 0
    text = orjson.dumps(_plain(value), option=option).decode()
    return UNSAFE.sub(_escaped, text)


def _plain(value: Any) -> Any:
    """Return `value` with large integers, nan, inf and lone surrogates as text."""
    if isinstance(value, dict):
        return {_plain_text(str(key)): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if _LOWEST <= value <= _HIGHEST else digits(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _plain_text(str(value))


def _plain_text(text: str) -> str:
    """Return `text` with each lone surrogate as its escape."""
    return text.encode(errors="backslashreplace").decode()


def _escaped(found: re.Match[str]) -> str:
    r"""Return the character found as JSON writes it, in units of `\u`."""
    # Inside strings orjson escapes line feeds itself: this one is indentation.
    if found[0] == "\n":
        return "\n"
    return re.sub("(....)", r"\\u\1", found[0].encode("utf-16-be").hex())


MARK = "'"
#: What makes a formula at the beginning of a cell, behind spaces and quotes.
_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_begin = r"(?:\A|(?<=[;\t\r\n]))"
_spaces = ' "\u00a0\u3000'
_formula = rf"(?='*[{_spaces}]*[{re.escape(_STARTS)}])"
_unmarked = re.compile(f"{_begin}{_formula}")
_marked = re.compile(f"{_begin}{MARK}{_formula}")
_number = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
#: The first character of a cell, and those with which a formula begins.
_first_of, _firsts = itemgetter(slice(1)), frozenset(_spaces + _STARTS)


def marked(text: str) -> str:
    """Return the text of a cell with a mark where a spreadsheet would run it."""
    if _number.fullmatch(text):
        return text
    return _unmarked.sub(MARK, text)


def unmarked(text: str) -> str:
    """Return the text whose `marked` form is `text`."""
    return _marked.sub("", text)


def would_run(text: str) -> bool:
    """Return whether a spreadsheet would run the text of a cell."""
    is_formula = _unmarked.match(text) is not None and not text.startswith(MARK)
    return is_formula and not _number.fullmatch(text)


def any_would_run(texts: Sequence[str]) -> bool:
    """Return whether a spreadsheet would run the text of one of some cells."""
    if _firsts.isdisjoint(map(_first_of, texts)):
        return False
    return any(map(would_run, texts))
