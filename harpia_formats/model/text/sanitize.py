"""Make text from data harmless for terminals and logs."""

import re

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
