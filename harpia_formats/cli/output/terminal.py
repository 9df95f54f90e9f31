"""What a terminal can show: its width, its colours and its links."""

import os
from collections.abc import Iterable
from typing import TextIO

#: Columns of a terminal that does not report how many it has.
USUAL_WIDTH = 80
#: Values of `FORCE_COLOR` and `FORCE_HYPERLINK` that do not force.
_OFF = frozenset({"", "0", "false"})
#: Values of `TERM_PROGRAM`, and beginnings of `TERM`, of terminals with links.
_LINK_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "rio", "zed"})
_LINK_TERMINALS = ("alacritty", "foot", "wezterm", "xterm-ghostty", "xterm-kitty")
#: Variables that only terminals with links set.
_LINK_VARIABLES = ("DOMTERM", "KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION")
#: The least values of variables that older releases without links set, too.
_LINK_VERSIONS = {"VTE_VERSION": 5001, "KONSOLE_VERSION": 201200}


def wants_color(stream: TextIO) -> bool:
    """Return whether `stream` gets colours.

    It does if it is a terminal that is not dumb. `NO_COLOR` (https://no-color.org)
    takes them away, and `FORCE_COLOR` (https://force-color.org) gives them to pipes.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "").lower() not in _OFF:
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_links(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that is known to show links (OSC 8).

    `FORCE_HYPERLINK` decides it for any terminal. A pipe never gets links.
    """
    environment = os.environ
    if not stream.isatty() or environment.get("TERM") == "dumb":
        return False
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced.lower() not in _OFF
    return (
        environment.get("TERM_PROGRAM") in _LINK_PROGRAMS
        or environment.get("TERM", "").startswith(_LINK_TERMINALS)
        or any(environment.get(name) for name in _LINK_VARIABLES)
        or any(
            environment.get(name, "").isdecimal() and int(environment[name]) >= least
            for name, least in _LINK_VERSIONS.items()
        )
    )


def width_of(stream: TextIO) -> int | None:
    """Return the columns of `stream`, None if it is not a terminal."""
    if not stream.isatty():
        return None
    configured = os.environ.get("COLUMNS", "")
    if configured.isdecimal() and int(configured):
        return int(configured)
    # Another stream may be a file; a terminal of unknown width reports 0.
    return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH


def fitted(lines: Iterable[str], stream: TextIO) -> list[str]:
    """Return lines that are broken between words if `stream` is a narrow terminal.

    The lines that a line is broken into begin with its indentation and two spaces.
    """
    width = width_of(stream)
    if width is None:
        return list(lines)
    from harpia_formats.model.text.columns import wrapped  # noqa: PLC0415 - for terminals only

    found: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip(" "))] + "  "
        found += wrapped(line, width, indent)
    return found
