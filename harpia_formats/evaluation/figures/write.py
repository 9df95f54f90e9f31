"""Drawings as the bytes of an SVG or PNG file, equal for equal drawings."""

import math
import re
from html import escape
from io import BytesIO
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.evaluation.figures.drawing import Drawing, first_of
from harpia_formats.evaluation.figures.library import FONT
from harpia_formats.evaluation.figures.look import ON_DARK

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
