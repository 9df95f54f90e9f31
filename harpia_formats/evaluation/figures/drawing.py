"""Drawings by matplotlib: its settings, colours, grids of panels, and files' bytes.

matplotlib is loaded where a picture is drawn, with settings that no file changes.
Equal drawings give equal bytes.
"""

import logging
import math
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import columns

#: Colours of texts, of what is less important, of lines behind marks, and of the paper.
INK, MUTED, GRID, SURFACE = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"
#: Colours and shapes of series, those of Okabe and Ito without yellow, which cannot be
#: seen on white paper.
SERIES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    (INK, "X"),
)
#: The colours in the place of these where a page is dark.
ON_DARK = {
    INK: "#e6edf3",
    MUTED: "#9da7b3",
    GRID: "#3d444d",
    SURFACE: "#0f1419",
    "#0072b2": "#4aa8e0",
}


#: The font that matplotlib ships, by which texts are measured.
FONT = "DejaVu Sans"
#: Points of texts.
SIZE = 9
_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": SIZE,
    "figure.facecolor": SURFACE,
    "font.family": ["sans-serif"],
    # The others are for readers of SVG that lack the first one.
    "font.sans-serif": [FONT, "Verdana", "Arial"],
    "font.size": SIZE,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "savefig.facecolor": SURFACE,
    "svg.fonttype": "none",
    "svg.hashsalt": "harpia-formats",
    "text.color": INK,
    # A name with dollar signs is no formula.
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}


class FigureError(HarpiaFormatsError):
    """A picture that cannot be drawn or written."""


class NoLabelsError(FigureError):
    """A picture of labels without a metric that scores any."""

    def __init__(self) -> None:
        super().__init__(
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
def settings() -> Iterator[None]:
    """Draw with our settings inside, whatever those of the user are, and silently."""
    with _without_messages():
        import matplotlib as mpl  # noqa: PLC0415 - optional

        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS)
            yield


@contextmanager
def _without_messages() -> Iterator[None]:
    """Keep what matplotlib says of fonts and of its folders from standard error."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


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


#: Inches: of a panel that is alone in its row and of others, between panels, of a
#: border, and from the upper border to the panels.
_ALONE, _PANEL, _BETWEEN, _BORDER, _ABOVE = 4.2, 2.3, 0.58, 0.12, 0.35
#: Inches between the name of a row and its first panel.
_NAME = 0.6
#: What the highest number of an axis of shares may be, times a power of ten.
_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10)
#: Inches below the panels for the numbers and the name of their axis.
_BELOW = 0.45


@dataclass(frozen=True, slots=True)
class Grid:
    """The parts of a picture that are not drawn in its panels."""

    rows: Sequence[str]
    columns: Sequence[str]
    #: Inches of a panel.
    height: float
    #: What the axis below the panels shows.
    axis: str
    caption: Sequence[str]
    #: Inches between rows.
    gap: float = 0.12


def grid_of(grid: Grid) -> tuple[Any, list[list[Any]]]:
    """Return a figure with its axes, by row and column; call it within `settings`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    panel = _ALONE if len(grid.columns) == 1 else _PANEL
    label = max(map(width_of, grid.rows), default=0) + _BORDER + _NAME + 0.05
    width = label + len(grid.columns) * (panel + _BETWEEN) - _BETWEEN + 2 * _BORDER
    caption = caption_lines(grid.caption, width - 2 * _BORDER)
    rows = len(grid.rows) * (grid.height + grid.gap)
    height = _ABOVE + rows + _BELOW + len(caption) * LINE + 0.1
    figure = Figure(figsize=(width, height))
    every = []
    for row, name in enumerate(grid.rows):
        bottom = height - _ABOVE - row * (grid.height + grid.gap) - grid.height
        axes_of_row = []
        for column, title in enumerate(grid.columns):
            left = label + column * (panel + _BETWEEN)
            axes = figure.add_axes(
                (left / width, bottom / height, panel / width, grid.height / height)
            )
            axes.tick_params(labelbottom=row == len(grid.rows) - 1)
            if not row:
                axes.set_title(title, loc="left", pad=6)
            if row == len(grid.rows) - 1:
                axes.set_xlabel(grid.axis, color=MUTED)
            axes_of_row.append(axes)
        y = (bottom + grid.height / 2) / height
        figure.text((label - _NAME) / width, y, name, ha="right", va="center_baseline")
        every.append(axes_of_row)
    add_caption(figure, caption, _BORDER)
    return figure, every


def share_axis(column: Sequence[Any], share: float, top: float, name: str) -> float:
    """Give the panels of a column one axis of shares from 0 to `top` at least.

    `share` is the highest one that is drawn, 0 if nothing is. There are lines at 0 and
    at the next round share from it on, which is returned. The numbers and the `name` of
    what is counted are beside the last panel, as those of the other axis are below it.
    """
    for axes in column:
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
    if not share:
        return 0.0
    power = 10.0 ** math.floor(math.log10(share))
    tick = next(one for one in _ROUND if share / power < one + 1e-9) * power
    for axes in column:
        is_last = axes is column[-1]
        # Above the line, half of which would be cut off otherwise.
        axes.set_ylim(0, max(top, tick * 1.02))
        axes.set_yticks(
            [0, tick], ["0", f"{100 * tick:.4g} %"] if is_last else ["", ""]
        )
        axes.tick_params(axis="y", length=0, labelsize=SMALL, labelcolor=MUTED)
        axes.grid(visible=True, axis="y")
        if is_last:
            axes.set_ylabel(name, color=MUTED, size=SMALL, labelpad=2)
    return tick


def write_in(axes: Any, sentence: str) -> None:
    """Write in an empty panel why nothing is drawn in it."""
    axes.text(
        0.02,
        0.3,
        sentence,
        transform=axes.transAxes,
        size=SMALL,
        color=MUTED,
        style="italic",
    )


#: What says in a file that it is a picture of ours.
CREATOR = f"harpia-formats {__version__}"
#: Dots of a PNG in an inch, and in all: large pictures have fewer in an inch.
_DOTS, _ALL_DOTS = 200, 25_000_000
_START = re.compile(r"<!DOCTYPE.*?(<svg [^>]*)>", re.DOTALL)
_TITLE = re.compile(r"\s*<title>.*?</title>", re.DOTALL)


def svg_of(drawing: Drawing) -> bytes:
    """Return a drawing as SVG whose texts are text; call it within `settings`.

    It has colours for light and for dark pages, a title and a description.
    """
    found = BytesIO()
    metadata = {"Date": None, "Creator": CREATOR, "Title": drawing.title}
    drawing.figure.savefig(found, format="svg", metadata=metadata)
    text = _TITLE.sub("", found.getvalue().decode(), count=1)
    start = (
        f"<!-- {CREATOR} -->\n"
        r'\1 role="img" aria-labelledby="title description">'
    )
    head = (
        f'\n <title id="title">{escape(drawing.title)}</title>'
        f'\n <desc id="description">{escape(drawing.description)}</desc>'
        f"\n <style>{_dark_style()}</style>"
    )
    return _START.sub(lambda found: found.expand(start) + head, text, count=1).encode()


def _dark_style() -> str:
    """Return the style of dark pages: other colours where ours are used."""
    rules = "".join(
        f'[style*="{kind}: {light}"],[{kind}="{light}"]{{{kind}:{dark} !important}}'
        for light, dark in ON_DARK.items()
        for kind in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme: dark){{{rules}}}"


def png_of(drawing: Drawing) -> tuple[bytes, list[str]]:
    """Return a drawing as PNG, and which letters no font has.

    Call it within `settings`, which it changes where other fonts are needed.
    """
    fonts, missing = _fonts_for(_letters(drawing.figure))
    for text in _texts(drawing.figure):
        text.set_fontfamily(fonts)
    found = BytesIO()
    metadata = {
        "Software": CREATOR,
        "Title": drawing.title,
        "Description": drawing.description,
    }
    width, height = drawing.figure.get_size_inches()
    dots = min(_DOTS, math.floor((_ALL_DOTS / (width * height)) ** 0.5))
    drawing.figure.savefig(found, format="png", dpi=dots, metadata=metadata)
    notes = []
    if missing:
        letters = first_of([f"U+{ord(one):04X}" for one in missing])
        notes.append(
            f"no font on this computer has {letters}, which are boxes in PNG; "
            "SVG takes the fonts of its reader"
        )
    return found.getvalue(), notes


def _texts(figure: Any) -> list[Any]:
    from matplotlib.text import Text  # noqa: PLC0415 - optional

    return list(figure.findobj(Text))


def _letters(figure: Any) -> set[str]:
    """Return the characters of all texts of a figure."""
    return {one for text in _texts(figure) for one in text.get_text()} - {"\n"}


def _fonts_for(letters: set[str]) -> tuple[list[str], list[str]]:
    """Return the names of fonts that have some letters, and the letters that none has.

    The first font is that of matplotlib. Of the others those with the most of the
    missing letters are taken, and of equal ones the first by name.
    """
    from matplotlib.font_manager import (  # noqa: PLC0415 - optional
        FontProperties,
        findfont,
        fontManager,
    )

    fonts = [FONT]
    missing = _lacking(findfont(FontProperties(family=FONT)), letters)
    if not missing:
        return fonts, []
    files = sorted(
        {
            (one.name, one.fname)
            for one in fontManager.ttflist
            # It has a box for every letter.
            if not one.name.startswith("Last Resort")
        },
        reverse=True,
    )
    left = {name: _lacking(path, missing) for name, path in dict(files).items()}
    while missing:
        best = min(left, key=lambda name: (len(left[name] & missing), name))
        rest = left[best] & missing
        if len(rest) == len(missing):
            break
        fonts.append(best)
        missing = rest
    return fonts, sorted(missing)


def _lacking(path: str, letters: set[str]) -> set[str]:
    """Return the letters that the font in a file has not; all, if it cannot be read."""
    from matplotlib.font_manager import get_font  # noqa: PLC0415 - optional

    try:
        held = get_font(path).get_charmap()
    except (OSError, RuntimeError):
        return letters
    return {one for one in letters if ord(one) not in held}
