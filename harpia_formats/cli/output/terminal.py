"""What the terminal can show: its width, its colours, and tables made for it."""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is slow to import, and pipes need none of it
    from rich.table import Table

#: Columns of a terminal that does not report how many it has.
USUAL_WIDTH = 80


def wants_color() -> bool:
    """Return whether the terminal may get colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def stderr_width() -> int | None:
    """Return the columns of standard error, None if it is not a terminal."""
    if not sys.stderr.isatty():
        return None
    configured = os.environ.get("COLUMNS", "")
    if configured.isdecimal() and int(configured):
        return int(configured)
    # Standard output may be a file; a terminal of unknown width reports 0.
    return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH


def rendered(table: "Table", width: int, *, color: bool) -> list[str]:
    """Return the lines of a rich table that is at most `width` columns wide.

    Without `color` there are no bold letters either, as a dumb terminal needs it.
    """
    from rich.console import Console  # noqa: PLC0415 - slow, and only for tables

    console = Console(
        file=io.StringIO(),
        width=width,
        height=100,  # without a height, rich takes 80 for the width of a dumb terminal
        force_terminal=True,
        color_system="standard" if color else None,
    )
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
