"""Tables fit into a terminal, and nothing in them is cut."""

import os
import pty
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.cli.streams_and_exit_codes import write_table
from harpia_formats.model.text_columns import columns
from harpia_formats.reporters.tables.table import table_of
from harpia_formats.reporters.tables.terminal import fits, table_lines

NAMES = ("field", "lost or changed", "share")
ROWS = [
    ("input.category", "dropped 5, defaulted 12", "1.25"),
    ("词语", "is the number of the record", "12.5"),
]
words = st.text(st.sampled_from("ab漢1."), min_size=1, max_size=9)
cells = st.lists(words, max_size=4).map(" ".join)
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=4)


@given(tables, st.integers(9, 90))
def test_every_word_is_whole_and_there(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    """At any width no line is too long but for one word, and no word is lost."""
    right = [False, False, True]
    lines = list(table_lines(NAMES, rows, width, gap=3, is_right=right))
    shown = sorted(word.rstrip(":") for line in lines for word in line.split())

    # A table has the names of its columns in its head, blocks have them in each row.
    if fits(NAMES, rows, width):
        wanted = chain(NAMES, *rows)
        assert shown == sorted(word for cell in wanted for word in cell.split())
        assert max(map(columns, lines)) <= width
    else:
        found = set(shown)
        assert all(
            word in found for row in rows for cell in row for word in cell.split()
        )


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            None,
            [
                "field           lost or changed              share",
                "input.category  dropped 5, defaulted 12       1.25",
                "词语            is the number of the record   12.5",
            ],
        ),
        (
            36,
            [
                "                lost or",
                "field           changed        share",
                "input.category  dropped 5,      1.25",
                "                defaulted 12",
                "词语            is the number   12.5",
                "                of the record",
            ],
        ),
        (
            24,
            [
                "input.category",
                "  lost or changed:",
                "    dropped 5, defaulted",
                "    12",
                "  share: 1.25",
                "词语",
                "  lost or changed: is",
                "    the number of the",
                "    record",
                "  share: 12.5",
            ],
        ),
    ],
)
def test_columns_give_way(width: int | None, lines: list[str]) -> None:
    """First cells are broken between words, then each row becomes a block."""
    assert list(table_lines(NAMES, ROWS, width, is_right=[False, False, True])) == lines


def test_texts_below_rows_and_a_line_below_the_names() -> None:
    """A row may have a text below it, and the names a line."""
    lines = table_lines(("a", "b"), [("1", "2")], 20, is_ruled=True, below=["  x: y"])

    assert list(lines) == ["a  b", "────", "1  2", "  x: y"]


def _on_terminal(
    rows: Sequence[tuple[str, ...]],
    below: Sequence[tuple[str, ...]],
    width: int,
    monkeypatch: Any,
) -> list[str]:
    """Return the lines of a table on a terminal of some columns."""
    main, end = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with open(end, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr("sys.stdout", stream)
        write_table(table_of("Files", ("Path", "Why"), rows), below, notes_in=1)
        stream.flush()
        shown = os.read(main, 4096).decode()
    os.close(main)
    return shown.splitlines()


def test_table_on_a_terminal_has_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and headings are bold and notes dim, line by line."""
    rows = [("two words",), ("a/path", "b")]
    below = [(), ("a note of words",)]

    assert _on_terminal(rows, below, 20, monkeypatch) == [
        "\x1b[1mPath\x1b[0m       \x1b[1mWhy\x1b[0m",
        "\x1b[1mtwo words\x1b[0m",
        "a/path     b",
        "           \x1b[2ma note of\x1b[0m",
        "           \x1b[2mwords\x1b[0m",
    ]


def test_notes_are_below_rows_that_are_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note is no row of its own where the columns have no room."""
    rows = [("a-long/path", "because")]
    below = [("a note of words", "one")]

    assert _on_terminal(rows, below, 16, monkeypatch) == [
        "a-long/path",
        "  \x1b[1mWhy\x1b[0m: because",
        "  \x1b[2ma note of\x1b[0m",
        "    \x1b[2mwords\x1b[0m",
        "  \x1b[2mone\x1b[0m",
    ]
