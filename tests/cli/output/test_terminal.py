"""What a terminal can show is detected from its variables."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from command_runs import on_terminal, run

FAULTY = ("validate", "rows.jsonl", "--schema", "schema.json")
#: A run that ends with one long line.
LONG = ("validate", "rows.jsonl", "--schema", " ".join(["no", "such", "file"] * 9))
VARIABLES = (
    "FORCE_HYPERLINK TERM_PROGRAM VTE_VERSION KONSOLE_VERSION WT_SESSION "
    "KITTY_WINDOW_ID WEZTERM_PANE DOMTERM"
).split()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away each variable that describes the terminal of this process."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def outputs_with(variables: str, data: Path) -> Iterator[str]:
    """Yield what is shown on a terminal, and in a pipe, with `NAME=value` pairs."""
    given = dict(each.split("=") for each in variables.split())
    _, shown, _ = on_terminal("", *FAULTY, cwd=data, output=None, **given)
    yield shown
    yield run(*FAULTY, cwd=data, environment=given).stdout.decode()


@pytest.mark.parametrize(
    ("variables", "in_terminal", "in_pipe"),
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
def test_colours(data: Path, variables: str, in_terminal: bool, in_pipe: bool) -> None:
    """NO_COLOR wins, FORCE_COLOR colours pipes, and else terminals have colours."""
    found = [("\x1b[1m" in text) for text in outputs_with(variables, data)]

    assert found == [in_terminal, in_pipe]


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
        (f"VTE_VERSION={'9' * 5000}", False),
        ("WT_SESSION=a", True),
        ("WT_SESSION=a TERM=dumb", False),
        ("WT_SESSION=a FORCE_HYPERLINK=0", False),
        ("FORCE_HYPERLINK=1", True),
    ],
)
def test_links(data: Path, variables: str, has_links: bool) -> None:
    """Terminals that are known to show links have them, pipes never."""
    found = [("\x1b]8;;" in text) for text in outputs_with(variables, data)]

    assert found == [has_links, False]


@pytest.mark.parametrize(("columns", "width"), [("30", 30), ("", 80), ("9" * 5000, 80)])
def test_lines_are_fitted_to_a_terminal_only(
    data: Path, columns: str, width: int
) -> None:
    """Long lines are broken at its width, or at 80 columns, and never in a pipe."""
    (whole,) = run(*LONG, cwd=data).stderr.decode().splitlines()
    _, shown, _ = on_terminal("", *LONG, cwd=data, output=None, COLUMNS=columns)
    lines = shown.splitlines()

    assert " ".join(map(str.strip, lines)) == whole
    assert max(map(len, lines)) <= width < len(whole)
    assert all(line.startswith("  ") for line in lines[1:])
    for line, below in pairwise(lines):
        assert len(line) + len(f" {below.split()[0]}") > width
