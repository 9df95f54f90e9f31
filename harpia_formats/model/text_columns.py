"""Text in columns of a terminal, and tables of aligned columns."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

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


def shortened(text: str, room: int) -> str:
    """Return a text in at most so many columns, cut in its middle if it is longer.

    A letter is kept with its combining marks, or left out with them.
    """
    if columns(text) <= room:
        return text
    letters: list[str] = []
    for character in text:
        if letters and not columns_of(character):
            letters[-1] += character
        else:
            letters.append(character)
    start, end, left = 0, len(letters), room - 1
    while True:
        is_start = start <= len(letters) - end
        left -= columns(letters[start if is_start else end - 1])
        if left < 0:
            break
        start, end = start + is_start, end - (not is_start)
    return f"{''.join(letters[:start])}…{''.join(letters[end:])}"


#: What stands between the parts of a path, before the suffix of a file, and between
#: words.
_PARTS = re.compile(r"[/\\]+|\.(?=[A-Za-z]+$)")
_WORDS = re.compile(r"[\s_:|,@=-]+")
#: Columns of a name from which on it is long.
_LONG = 24


def short_names(names: Sequence[str]) -> list[str]:
    """Return names without the parts of paths that all of them begin or end with.

    If one is still long, they are also without their common first and last words. What
    is left is not empty, and names that differ still do.
    """
    found = _without_common(names, _PARTS)
    if max(map(columns, found), default=0) > _LONG:
        found = _without_common(found, _WORDS)
    return found


def _without_common(names: Sequence[str], between: re.Pattern[str]) -> list[str]:
    """Return names without their common beginning and end, cut at what is `between`."""
    if len(set(names)) < 2:  # noqa: PLR2004 - nothing to tell apart
        return list(names)
    first, shortest = names[0], min(map(len, names))
    start, end = _common(names), _common([name[::-1] for name in names])
    places = [found.span() for found in between.finditer(first)]
    most = min(start, shortest - 1)
    cut = max((stop for _, stop in places if stop <= most), default=0)
    most = min(end, shortest - cut - 1)
    tail = max(
        (len(first) - at for at, _ in places if len(first) - at <= most), default=0
    )
    return [name[cut : len(name) - tail] for name in names]


def _common(texts: Sequence[str]) -> int:
    """Return with how many equal characters texts begin."""
    equal = (len(set(found)) == 1 for found in zip(*texts, strict=False))
    return sum(1 for _ in takewhile(bool, equal))


#: The least columns of a bar, and the most.
_LEAST, _MOST = 8, 40
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_MINUTE, _HOUR = 60, 3600


def progress_text(done: float, total: float | None, rate: float, unit: str) -> str:
    """Return how much is done, at which rate, and how long the rest takes.

    `rate` is what is done in a second. Bytes are shown in larger units, other units as
    they are.
    """
    amount, speed = _amount(done, unit), f"{_amount(rate, unit)}/s"
    if not total:
        return f"{amount}, {speed}"
    share = min(100 * done / total, 100)
    amount = f"{share:.0f} %, {_amount(done, unit, total)}"
    left = max(total - done, 0)
    if not rate:
        return amount
    return f"{amount}, {speed}, {_time(left / rate)} left"


def progress_bar(name: str, share: float | None, text: str, width: int) -> str:
    """Return a line of at most `width` columns: a name, a bar and a text.

    `share` is what is done, from 0 to 1; without it there is no bar. Where there is no
    room, the bar is left out, and then the name.
    """
    room = width - columns(text) - 2
    shown = _end_of(name, max(room - _LEAST - 2, _LEAST))
    length = min(room - columns(shown) - 2, _MOST)
    if share is not None and length >= _LEAST:
        full = round(length * min(max(share, 0), 1))
        return f"{shown}  {'━' * full}{'╌' * (length - full)}  {text}"
    if room >= _LEAST:
        return f"{_end_of(name, room)}  {text}"
    return text if columns(text) <= width else text.partition(",")[0][:width]


def _amount(number: float, unit: str, total: float = 0) -> str:
    """Return a number with its unit; with a total, both in the unit of the total."""
    if unit != "bytes":
        return (
            f"{number:,.0f} of {total:,.0f} {unit}"
            if total
            else f"{number:,.0f} {unit}"
        )
    size, index = max(total, number), 0
    while size >= 1000 and index < len(_UNITS) - 1:  # noqa: PLR2004 - of KB, MB and so on
        size, index = size / 1000, index + 1
    digits, factor = (1 if index else 0), 1000**index
    whole = f"{number / factor:,.{digits}f}"
    if total:
        whole += f" of {total / factor:,.{digits}f}"
    return f"{whole} {_UNITS[index]}"


def _time(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:02.0f} s"
    return f"{seconds // _HOUR:,.0f} h {seconds % _HOUR // _MINUTE:02.0f} min"


def _end_of(text: str, room: int) -> str:
    """Return the end of a text that fits into `room` columns."""
    if columns(text) <= room:
        return text
    used, start = 1, len(text)
    while start and used + columns_of(text[start - 1]) <= room:
        start -= 1
        used += columns_of(text[start])
    return f"…{text[start:]}"


@dataclass(frozen=True, slots=True)
class RowStyle:
    """What stands before, between and behind the cells of a row."""

    begin: str
    between: str
    end: str

    def line(self, cells: Iterable[str]) -> str:
        """Return cells as a line."""
        return f"{self.begin}{self.between.join(cells)}{self.end}"


#: A row of Markdown as GitHub and GitLab have it, and one of LaTeX's tabular.
MARKDOWN = RowStyle("| ", " | ", " |")
LATEX = RowStyle("", " & ", r" \\")


def markdown_head(names: Sequence[str], is_right: Sequence[bool]) -> list[str]:
    """Return the first two lines of a table in Markdown, the second for alignment."""
    rules = ["---:" if right else "---" for right in is_right]
    return [MARKDOWN.line(names), MARKDOWN.line(rules)]


def latex_columns(is_right: Sequence[bool]) -> str:
    """Return the alignment of columns as LaTeX's tabular has it."""
    return "".join("r" if right else "l" for right in is_right)


def natural_widths(rows: Iterable[Sequence[str]]) -> list[int]:
    """Return the width of the widest cell of each column."""
    return [max(map(shown_columns, column)) for column in zip(*rows, strict=True)]


def aligned_rows(
    rows: Iterable[Sequence[str]],
    widths: Sequence[int],
    is_right: Sequence[bool],
    gap: int = 2,
) -> Iterator[str]:
    """Yield a line for each row, with its cells in columns of these widths.

    `gap` spaces are between two columns, and none are at the end of a line. A cell that
    is wider than its column moves those behind it.
    """
    style = RowStyle("", " " * gap, "")
    for row in rows:
        padded = []
        for cell, width, right in zip(row, widths, is_right, strict=True):
            space = " " * (width - shown_columns(cell))
            padded.append(space + cell if right else cell + space)
        yield style.line(padded).rstrip()
