"""Drawings by matplotlib: settings, colours, texts that fit, and the bytes of files.

matplotlib is loaded where a picture is drawn, with settings that no file changes.
Equal drawings give equal bytes.
"""

import logging
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.model.describe import first_of
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import columns, short_names, shortened

#: Colours of texts, and of what is less important: on white paper.
INK, MUTED = "#1f2328", "#59636e"
#: The same on a dark page, for SVG, which knows the page that it is on.
ON_DARK = {INK: "#e6edf3", MUTED: "#9da7b3", "#0072b2": "#4aa8e0"}
#: The colour of all texts that can be read on white and on black, for PNG.
ON_BOTH = "#767676"
#: Of lines behind marks, half transparent.
GRID = "#80808059"
#: Colours and shapes of series, those of Okabe and Ito without yellow, which cannot be
#: seen on white paper, and with a grey that can be seen on any.
SERIES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    (ON_BOTH, "X"),
)
#: The suffixes of files.
SVG, PNG, PDF = ".svg", ".png", ".pdf"
#: The font that matplotlib ships, by which texts are measured.
FONT = "DejaVu Sans"
#: Points of texts, and of small ones; inches of a line of small text.
SIZE, SMALL, LINE = 9, 7.5, 0.16
_SETTINGS = {
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": SIZE,
    "figure.facecolor": "none",
    "font.family": ["sans-serif"],
    # The others are for readers of SVG that lack the first one.
    "font.sans-serif": [FONT, "Verdana", "Arial"],
    "font.size": SIZE,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "pdf.fonttype": 42,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "harpia-formats",
    # Texts are as wide as they were measured.
    "text.hinting": "none",
    # A name with dollar signs is no formula.
    "text.parse_math": False,
}
_INKS = ("axes.labelcolor", "axes.titlecolor", "text.color", "ytick.labelcolor")
_MUTED = ("axes.edgecolor", "xtick.color", "xtick.labelcolor", "ytick.color")


class FigureError(HarpiaFormatsError):
    """A picture that cannot be drawn or written."""


#: Why there is no picture of labels.
NO_LABELS = (
    "there is no confusion matrix to draw: score a metric of labels, such as "
    "`--metrics f1-macro`"
)


def check_matplotlib() -> None:
    """Raise `FigureError` unless matplotlib can be imported."""
    with _without_messages():
        try:
            import matplotlib as mpl  # noqa: F401, PLC0415 - optional
        except ImportError as error:
            reason = f" ({error})" if error.name != "matplotlib" else ""
            raise FigureError(
                "a picture needs matplotlib: pip install 'harpia-formats[report]'"
                f"{reason}"
            ) from error


@contextmanager
def settings(suffix: str = SVG) -> Iterator[None]:
    """Draw for a file with our settings, whatever those of the user are, silently."""
    ink, muted = (ON_BOTH, ON_BOTH) if suffix == PNG else (INK, MUTED)
    colours = dict.fromkeys(_INKS, ink) | dict.fromkeys(_MUTED, muted)
    with _without_messages():
        import matplotlib as mpl  # noqa: PLC0415 - optional

        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS | colours)
            yield


@contextmanager
def _without_messages() -> Iterator[None]:
    """Keep what matplotlib says of fonts and of its folders from standard error."""
    loggers = [logging.getLogger(name) for name in ("matplotlib", "fontTools")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def small_text() -> dict[str, Any]:
    """Return how a text looks that is less important; call it within `settings`."""
    import matplotlib as mpl  # noqa: PLC0415 - optional

    return {"size": SMALL, "color": mpl.rcParams["xtick.labelcolor"]}


#: Columns of a label: longer ones are cut in their middle.
_LABEL = 40
#: Code points of a text that no one has to see at a glance.
_SHOWN = 500
#: Inches of a terminal column of text, for letters that the font lacks.
_COLUMN = 0.066
#: Different remarks below a picture.
_REMARKS = 8
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
    return safe(" ".join(sentences), _DESCRIPTION)


def limit_note(drawn: int, every: int, what: str) -> list[str]:
    """Return that only some of all are drawn, nothing if all are."""
    return (
        [f"the first {drawn:,} of {every:,} {what} are drawn"] if every > drawn else []
    )


def notes_of(reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is not drawn, by the reasons."""
    return [f"not drawn ({why}): {first_of(names)}" for why, names in reasons.items()]


def caption_of(
    sentences: Iterable[str], remarks: Iterable[str], notes: Iterable[str]
) -> list[str]:
    """Return what is written below a picture: the first remarks, and all notes."""
    found = list(dict.fromkeys(remarks))
    rest = len(found) - _REMARKS
    more = [f"and {rest:,} more remarks"] if rest > 0 else []
    return [*sentences, *found[:_REMARKS], *more, *(f"\u2013 {note}" for note in notes)]


def short_labels(names: Iterable[str]) -> dict[str, str]:
    """Return the names of systems with their labels, without their common parts."""
    unique = list(dict.fromkeys(names))
    return dict(zip(unique, map(label, short_names(unique)), strict=True))


def short_for(labels: Mapping[str, str]) -> list[str]:
    """Return what the first name is short for, if it is."""
    changed = [one for one, short in labels.items() if shown(one) != short]
    return [f"{labels[one]} is short for {shown(one)}." for one in changed[:1]]


def label(text: str, room: int = _LABEL) -> str:
    """Return a text from data as a label: in one line, and cut in its middle."""
    return shortened(shown(text), room)


def shown(text: str) -> str:
    """Return a text in one line without characters that no XML or terminal may have."""
    return safe(text, _SHOWN).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how many inches a text is wide in points of `size`, or fewer."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - optional
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 - optional

    font = FontProperties(family=FONT, size=size)
    size_of = text_to_path.get_text_width_height_descent
    widths = [
        max(
            float(size_of(line, font, ismath=False)[0]) / 72,
            columns(line) * _COLUMN * size / SIZE * (not line.isascii()),
        )
        for line in text.split("\n")
    ]
    return max(widths)


def fitted(text: str, width: float, size: float = SIZE) -> str:
    """Return a text that is at most so many inches wide, cut in its middle."""
    room = columns(text)
    while room > 1 and width_of(shortened(text, room), size) > width:
        room -= 1
    return shortened(text, room)


def lines_in(sentences: Iterable[str], width: float, size: float = SMALL) -> list[str]:
    """Return sentences as lines that are at most so many inches wide."""
    lines: list[str] = []
    for sentence in sentences:
        line = ""
        for word in sentence.split(" "):
            longer = f"{line} {word}" if line else fitted(word, width, size)
            if line and width_of(longer, size) > width:
                lines.append(line)
                longer = fitted(word, width, size)
            line = longer
        lines.append(line)
    return lines


class Sheet:
    """A figure on which places are inches from its left and from its top."""

    def __init__(self, width: float, height: float, caption: Iterable[str]) -> None:
        """Make a figure of a size, and write sentences below: it is as much higher."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional

        lines = lines_in(caption, width - 2 * BORDER)
        self.width, self.height = width, height + LINE * len(lines) + BORDER
        self.figure = Figure(figsize=(self.width, self.height))
        for number, text in enumerate(lines):
            self.write(BORDER, height + LINE * (number + 0.8), text, **small_text())

    def axes(self, left: float, top: float, width: float, height: float) -> Any:
        """Return axes in a rectangle."""
        x, y = 1 / self.width, 1 / self.height
        bottom = self.height - top - height
        return self.figure.add_axes((left * x, bottom * y, width * x, height * y))

    def write(self, left: float, top: float, text: str, **look: Any) -> None:
        """Write a text on a line that is so far from the top."""
        x, y = left / self.width, 1 - top / self.height
        self.figure.text(x, y, text, **look)


#: Inches of a border.
BORDER = 0.12
#: What says in a file that it is a picture of ours.
CREATOR = f"harpia-formats {__version__}"
#: Dots of a PNG in an inch, and in all: large pictures have fewer in an inch.
_DOTS, _ALL_DOTS = 200, 25_000_000
_START = re.compile(r"<!DOCTYPE.*?(<svg [^>]*)>", re.DOTALL)
_TITLE = re.compile(r"\s*<title>.*?</title>", re.DOTALL)


def bytes_of(drawing: Drawing, suffix: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a drawing, and the notes on it.

    Call it within the `settings` for the suffix, which it changes where other fonts are
    needed.
    """
    title, figure, found = drawing.title, drawing.figure, BytesIO()
    if suffix == SVG:
        metadata = {"Date": None, "Creator": CREATOR, "Title": title}
        figure.savefig(found, format="svg", metadata=metadata)
        return _described_svg(drawing, found.getvalue().decode()), drawing.notes
    notes = [*drawing.notes, *_set_fonts(figure)]
    if suffix == PNG:
        width, height = figure.get_size_inches()
        dots = min(_DOTS, math.floor((_ALL_DOTS / (width * height)) ** 0.5))
        about = {"Software": CREATOR, "Description": drawing.description}
        figure.savefig(found, format="png", dpi=dots, metadata=about)
    else:
        about = {"Creator": CREATOR, "Subject": drawing.description}
        about |= {"Title": title}
        figure.savefig(found, format="pdf", metadata={**about, "CreationDate": None})
    return found.getvalue(), tuple(notes)


def _described_svg(drawing: Drawing, text: str) -> bytes:
    """Return an SVG with a title, a description, and colours for dark pages."""
    start = (
        f"<!-- {CREATOR} -->\n"
        r'\1 role="img" aria-labelledby="title description">'
    )
    rules = "".join(
        f'[style*="{kind}: {light}"],[{kind}="{light}"]{{{kind}:{dark} !important}}'
        for light, dark in ON_DARK.items()
        for kind in ("fill", "stroke")
    )
    head = (
        f'\n <title id="title">{escape(drawing.title)}</title>'
        f'\n <desc id="description">{escape(drawing.description)}</desc>'
        f"\n <style>@media screen and (prefers-color-scheme: dark){{{rules}}}</style>"
    )
    text = _TITLE.sub("", text, count=1)
    return _START.sub(lambda found: found.expand(start) + head, text, count=1).encode()


def _set_fonts(figure: Any) -> list[str]:
    """Give the texts of a figure fonts with their letters; say which none has.

    The first font is that of matplotlib. Of the others those with the most of the
    missing letters are taken, and of equal ones the first by name.
    """
    from matplotlib.font_manager import (  # noqa: PLC0415 - optional
        FontProperties,
        findfont,
        fontManager,
    )
    from matplotlib.text import Text  # noqa: PLC0415 - optional

    texts = figure.findobj(Text)
    letters = {one for text in texts for one in text.get_text()} - {"\n"}
    fonts = [FONT]
    missing = _lacking(findfont(FontProperties(family=FONT)), letters)
    # The last resort has a box for every letter.
    files = {(one.name, one.fname) for one in fontManager.ttflist if missing}
    left = {
        name: _lacking(path, missing)
        for name, path in dict(sorted(files, reverse=True)).items()
        if not name.startswith("Last Resort")
    }
    while left:
        best = min(left, key=lambda name: (len(left[name] & missing), name))
        if not missing - left[best]:
            break
        fonts.append(best)
        missing &= left[best]
    for text in texts:
        text.set_fontfamily(fonts)
    if not missing:
        return []
    codes = first_of([f"U+{ord(one):04X}" for one in sorted(missing)])
    note = f"no font on this computer has {codes}, which are boxes in PNG and PDF"
    return [f"{note}; SVG takes the fonts of its reader"]


def _lacking(path: str, letters: set[str]) -> set[str]:
    """Return the letters that the font in a file has not; all, if it cannot be read."""
    from matplotlib.font_manager import get_font  # noqa: PLC0415 - optional

    try:
        held = get_font(path).get_charmap()
    except (OSError, RuntimeError):
        return letters
    return {one for one in letters if ord(one) not in held}
