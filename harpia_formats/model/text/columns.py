"""Terminal columns of text, and lines that are broken between words only."""

import re
import unicodedata
from collections.abc import Iterable

#: Words, with the whole of a quoted value in each.
_WORD = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*"|")+')
#: What a terminal obeys and does not show: colours, and the two ends of a link.
_HIDDEN = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")


def columns(text: str) -> int:
    """Return the number of terminal columns of a text."""
    return len(text) if text.isascii() else sum(map(columns_of, text))


def columns_of(character: str) -> int:
    """Return 2 for a wide character, 0 for a combining one, else 1."""
    if character.isascii():
        return 1
    # Korean vowels and finals are letters, but join the syllable before them.
    if "\u1160" <= character <= "\u11ff":
        return 0
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def wrapped(text: str, width: int, indent: str = "", start: str = "") -> list[str]:
    """Return `text` as lines of at most `width` columns, all but the first indented.

    Lines are broken between words, and not in a quoted value that fits on a line. A
    word that is longer than a line is kept whole, and so is `start`, with which `text`
    may begin. White space that is not at the end of a line stays.
    """
    if shown_columns(text) <= width:
        return [text]
    first = [("", start)] if start else []
    rest = _pieces(text[len(start) :], width - columns(indent))
    return joined([*first, *rest], width, indent)


def joined(
    pieces: Iterable[tuple[str, str]], width: int, indent: str = ""
) -> list[str]:
    """Return pieces as lines of at most `width` columns, all but the first indented.

    Each piece has the white space before it, which is left out at the start of a line.
    """
    lines: list[str] = []
    line, used = "", 0
    for space, piece in pieces:
        size = shown_columns(piece)
        if line.strip() and used + len(space) + size > width:
            lines.append(line)
            line, used = indent, len(indent)
        else:
            line += space
            used += len(space)
        line += piece
        used += size
    return [*lines, line]


def _pieces(text: str, room: int) -> Iterable[tuple[str, str]]:
    """Yield the words of a text, each with the white space before it."""
    end = 0
    for found in _WORD.finditer(text):
        space, word = text[end : found.start()], found[0]
        end = found.end()
        if shown_columns(word) > room and " " in word:
            first, *others = word.split(" ")
            yield space, first
            yield from ((" ", other) for other in others)
        else:
            yield space, word


def shown_columns(text: str) -> int:
    """Return the columns of a text that may have colours and links."""
    return columns(_HIDDEN.sub("", text) if "\x1b" in text else text)
