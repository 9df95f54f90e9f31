"""Pages and lists of rules fit into a terminal, and are the same in any pipe."""

from itertools import dropwhile
from pathlib import Path

import pytest
from rich.cells import cell_len

from command_runs import on_terminal, run
from known_formats import RULES


def pages_of(text: str) -> list[str]:
    """Return the head of the page of each rule."""
    starts = [f"{rule.code} {rule.name} (" for rule in RULES.values()]
    parts = text.replace("\r\n", "\n").split("\n\n")
    return [part for part in parts if part.lstrip().startswith(tuple(starts))]


def too_long(text: str, width: int) -> list[str]:
    """Return the lines that are wider than `width` although they could be broken."""
    return [
        line
        for line in text.splitlines()
        if cell_len(line) > width and " " in line.strip().split('"')[0].strip()
    ]


@pytest.mark.parametrize("width", [60, 80])
def test_pages_fit_the_terminal(width: int, tmp_path: Path) -> None:
    """No line of a page is too long, and its words are those in a pipe."""
    shown = {"COLUMNS": str(width), "NO_COLOR": "1"}
    words = ("rule", *RULES)
    _, text, _ = on_terminal("", *words, cwd=tmp_path, output=None, **shown)
    heads = pages_of(text)
    whole = pages_of(run(*words).stdout.decode())

    assert len(heads) == len(RULES)
    for head, line in zip(heads, whole, strict=True):
        assert too_long(head, width) == []
        # Only a long title is indented: the summary is a paragraph.
        below = [*dropwhile(lambda each: each[0] == " ", head.splitlines()[1:])]
        assert below
        assert not [each for each in below if each[0] == " "]
        # In a pipe words are broken at hyphens, too.
        assert "".join(head.split()) == "".join(line.split())


def test_lists_fit_the_terminal(tmp_path: Path) -> None:
    """A rule of the list is one line in a pipe, and as many as needed on a terminal."""
    shown = {"COLUMNS": "80", "NO_COLOR": "1"}
    _, text, _ = on_terminal("", "rule", "--all", cwd=tmp_path, output=None, **shown)
    listed = run("rule", "--all").stdout.decode()

    assert max(map(cell_len, text.splitlines())) <= 80
    assert len(listed.splitlines()) == len(RULES)
    assert listed.split() == text.split()
