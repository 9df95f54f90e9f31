"""Text from data, escaped for the Markdown of GitHub and GitLab."""

import re
from collections.abc import Iterable, Sequence

from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import markdown_head

#: What is written as it is. Every other ASCII character could begin or end something:
#: markup, HTML, a cell, a mention, a reference to an issue, a link.
_special = re.compile(r"[^\w /,;=.\-]|_|(?<=[wW])\.", re.ASCII)
_backticks = re.compile("`+")


def plain(text: str, limit: int = 200) -> str:
    """Return text that is shown as it is, also inside HTML elements.

    A mention (`@name`) or an address in it is not shown as it is where Markdown is
    rendered first and such texts are looked for then: `code` is for data.
    """
    return _special.sub(_reference, safe(text, limit))


def code(text: str, limit: int = 200) -> str:
    """Return text from data as code, in which no consumer interprets anything."""
    return f"<code>{plain(text, limit)}</code>" if text else ""


def _reference(found: re.Match[str]) -> str:
    """Return a non-ASCII character as it is, another one by its number."""
    character = found[0]
    return character if ord(character) > 0x7F else f"&#{ord(character)};"  # noqa: PLR2004 - the last of ASCII


def fenced(lines: Sequence[str]) -> list[str]:
    """Return lines as a block of code that no backticks in them can end."""
    runs = (len(run) for line in lines for run in _backticks.findall(line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    return [f"{fence}text", *lines, fence]


def head(names: Sequence[str], right: Iterable[str] = ()) -> list[str]:
    """Return the first lines of a table, whose columns `right` are right-aligned."""
    numbers = set(right)
    return markdown_head(names, [name in numbers for name in names])


def size(lines: Iterable[str]) -> int:
    """Return the number of bytes of lines with their line ends."""
    return sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)
