"""What a terminal can show is detected from its variables."""

import io
import os
import pty
from collections.abc import Iterator
from typing import TextIO

import pytest

from harpia_formats.cli.streams_and_exit_codes import (
    fitted,
    wants_color,
    wants_links,
    width_of,
)

VARIABLES = (
    "NO_COLOR FORCE_COLOR FORCE_HYPERLINK TERM TERM_PROGRAM VTE_VERSION COLUMNS "
    "KONSOLE_VERSION WT_SESSION KITTY_WINDOW_ID WEZTERM_PANE DOMTERM"
).split()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIO]:
    """Return a terminal, without any variable that describes it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    main, end = pty.openpty()
    with open(end, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        yield stream
    os.close(main)


def given(variables: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set variables that are written as `NAME=value NAME=value`."""
    for each in variables.split():
        name, _, value = each.partition("=")
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("variables", "on_terminal", "in_pipe"),
    [
        ("", True, False),
        ("TERM=dumb", False, False),
        ("NO_COLOR=1", False, False),
        ("NO_COLOR=", True, False),
        ("FORCE_COLOR=1", True, True),
        ("FORCE_COLOR=3 TERM=dumb", True, True),
        ("FORCE_COLOR=0", True, False),
        ("FORCE_COLOR=", True, False),
        ("FORCE_COLOR=1 NO_COLOR=1", False, False),
    ],
)
def test_colours(
    terminal: TextIO,
    monkeypatch: pytest.MonkeyPatch,
    variables: str,
    on_terminal: bool,
    in_pipe: bool,
) -> None:
    """NO_COLOR wins, FORCE_COLOR colours pipes, and else terminals have colours."""
    given(variables, monkeypatch)

    assert (wants_color(terminal), wants_color(io.StringIO())) == (on_terminal, in_pipe)


@pytest.mark.parametrize(
    ("variables", "has_links"),
    [
        ("", False),
        ("TERM=xterm-256color", False),
        ("TERM=xterm-kitty", True),
        ("TERM_PROGRAM=vscode", True),
        ("TERM_PROGRAM=Apple_Terminal", False),
        ("VTE_VERSION=7600", True),
        ("VTE_VERSION=5000", False),
        ("VTE_VERSION=new", False),
        ("WT_SESSION=a", True),
        ("WT_SESSION=a TERM=dumb", False),
        ("WT_SESSION=a FORCE_HYPERLINK=0", False),
        ("FORCE_HYPERLINK=1", True),
    ],
)
def test_links(
    terminal: TextIO,
    monkeypatch: pytest.MonkeyPatch,
    variables: str,
    has_links: bool,
) -> None:
    """Terminals that are known to show links have them, pipes never."""
    given(variables, monkeypatch)

    assert (wants_links(terminal), wants_links(io.StringIO())) == (has_links, False)


def test_lines_are_fitted_to_a_terminal_only(
    terminal: TextIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long lines are broken at the width of a terminal, and never in a pipe."""
    lines = ["error: one two three", "  a b c d e f g h"]
    monkeypatch.setenv("COLUMNS", "14")

    assert width_of(terminal) == 14
    assert fitted(lines, io.StringIO()) == lines
    assert fitted(lines, terminal) == [
        "error: one two",
        "  three",
        "  a b c d e f",
        "    g h",
    ]


def test_width_of_an_unknown_terminal(terminal: TextIO) -> None:
    """A terminal that does not report its columns has 80."""
    assert (width_of(terminal), width_of(io.StringIO())) == (80, None)
