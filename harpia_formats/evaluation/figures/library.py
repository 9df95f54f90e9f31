"""Load matplotlib where a picture is wanted, with settings that no file changes."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from harpia_formats.evaluation.figures.look import GRID, INK, MUTED, SURFACE
from harpia_formats.model.errors import HarpiaFormatsError

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
            "--metrics f1-macro"
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
