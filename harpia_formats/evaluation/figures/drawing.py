"""A picture that is drawn and not written yet, and the texts in it."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.figures.library import FONT, SIZE
from harpia_formats.evaluation.figures.look import MUTED
from harpia_formats.model.text.columns import columns
from harpia_formats.model.text.sanitize import safe

#: Code points of a label: longer ones are cut in their middle.
_LABEL = 40
#: Code points of a text that no one has to see at a glance.
_SHOWN = 500
#: Inches of a terminal column of text, for letters that the font lacks.
_COLUMN = 0.066
#: Inches of a line of small text, and its points.
LINE, SMALL = 0.16, 7.5
#: Names in a note.
_LISTED = 5
#: Characters of a description.
_DESCRIPTION = 4000


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of matplotlib with its title and description for those who hear it."""

    figure: Any
    title: str
    description: str
    #: What is not drawn, in sentences.
    notes: tuple[str, ...] = ()


def described(sentences: Iterable[str]) -> str:
    """Return sentences as a description of bounded length."""
    found, size = [], 0
    sentences = list(sentences)
    for number, sentence in enumerate(sentences):
        size += len(sentence)
        if size > _DESCRIPTION:
            found.append(f"And {len(sentences) - number:,} more.")
            break
        found.append(sentence)
    return " ".join(found)


def first_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    rest = len(names) - _LISTED
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"{', '.join(names[:_LISTED])}{more}"


def label(text: str) -> str:
    """Return a text from data as a label: in one line, and cut in its middle."""
    if len(text) > _LABEL:
        half = _LABEL // 2
        text = f"{text[: half - 1]}…{text[-half:]}"
    return shown(text)


def shown(text: str) -> str:
    """Return a text in one line without characters that no XML or terminal may have."""
    return safe(text, _SHOWN).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how many inches a text is wide in points of `size`, or fewer."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - optional
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 - optional

    font = FontProperties(family=FONT, size=size)
    size_of = text_to_path.get_text_width_height_descent
    points, _, _ = size_of(text, font, ismath=False)
    return max(float(points) / 72, columns(text) * _COLUMN * size / SIZE)


def caption_lines(sentences: Iterable[str], width: float) -> list[str]:
    """Return sentences as lines of small text that fit into `width` inches."""
    room = max(20, int(width / (_COLUMN * SMALL / SIZE) / 1.12))
    return [line for text in sentences for line in textwrap.wrap(text, room)]


def add_caption(figure: Any, lines: Sequence[str], left: float) -> None:
    """Write lines at the bottom of a figure, `left` inches from its border."""
    width, height = figure.get_size_inches()
    for number, text in enumerate(reversed(lines)):
        figure.text(
            left / width,
            (0.1 + number * LINE) / height,
            text,
            size=SMALL,
            color=MUTED,
            va="baseline",
        )
