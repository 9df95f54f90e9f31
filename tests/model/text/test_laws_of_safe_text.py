"""Texts that neither a terminal, a build server nor a spreadsheet obeys."""

import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.safe_text import (
    any_would_run,
    escaped,
    marked,
    unmarked,
    would_run,
)
from harpia_formats.plugins import safe
from json_lines import jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\U000e0041"
CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
UNSAFE_TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
        st.sampled_from("#:[ \x1b"),
    ),
    max_size=60,
)


@for_each_case(
    "text, shown",
    jsonl_rows(CASES / "unsafe.jsonl"),
)
def test_shows_unsafe_characters_as_escapes(text: str, shown: str) -> None:
    """Characters that a terminal obeys or hides become escapes, all others stay."""
    assert safe(text) == shown


@for_each_case("character", BIDI + HIDDEN + CONTROLS + "\u2028\u2029\ud800")
def test_knows_every_unsafe_character(character: str) -> None:
    """No control, bidi, zero-width or surrogate character comes through."""
    shown = safe(f"a{character}b")

    assert shown.isascii()
    assert shown.isprintable()


@for_each_case(
    "text, shown",
    [
        ("::error::x", r"\x3a:error::x"),
        (" \u3000::error::x", " \u3000\\x3a:error::x"),
        ("a::b", "a::b"),
        ("##[add-mask]x", r"\x23#[add-mask]x"),
        ("a ##vso[task.x]", r"a \x23#vso[task.x]"),
        ("## title [link]", "## title [link]"),
    ],
)
def test_disarms_commands_to_a_build_server(text: str, shown: str) -> None:
    """A log line that a build server would obey is broken by an escape."""
    assert safe(text) == shown


def test_cuts_by_code_points() -> None:
    """A long text is cut at the limit, and three dots say so."""
    assert safe("é" * 300) == "é" * 200 + "…"
    assert safe("abc", limit=3) == "abc"
    assert safe("abcd", limit=3) == "abc…"


def test_counts_escapes_against_the_limit() -> None:
    """Escapes count as they are shown."""
    assert safe("\x1b" * 3, limit=5) == r"\x1b\…"


def test_looks_at_no_more_than_the_limit() -> None:
    """Text behind the limit costs no time, even ten megabytes."""
    assert safe("\x1b" * 10_000_000, limit=4) == r"\x1b…"


def test_escapes_all_of_a_text_without_a_limit() -> None:
    """In the middle of a line `::` is no command and nothing is cut."""
    assert escaped("::\x1b" * 100) == r"::\x1b" * 100


@given(UNSAFE_TEXTS, st.integers(0, 40))
def test_leaves_nothing_unsafe(text: str, limit: int) -> None:
    """The result for any text is short and has no unsafe characters."""
    shown = safe(text, limit)

    assert len(shown) <= limit + 1
    assert not shown.lstrip().startswith("::")
    assert not any(unicodedata.category(each) in {"Cc", "Cs"} for each in shown)
    assert not set(shown) & set(BIDI + HIDDEN)


@given(UNSAFE_TEXTS, st.integers(0, 40))
def test_is_idempotent(text: str, limit: int) -> None:
    """Safe text is unchanged."""
    once = safe(text, limit)

    assert safe(once, limit) == once


@given(UNSAFE_TEXTS)
def test_can_be_written_as_utf_8(text: str) -> None:
    """The result can always be encoded."""
    assert safe(text, 1000).encode().decode() == safe(text, 1000)


CELL = "'=+-@ \t\r\n;\"a1.,e\uff1d\u00a0\u3000\u2212"
TEXTS = st.text(CELL, max_size=9) | st.text()


@given(st.lists(TEXTS, max_size=4))
def test_formulas_are_found_among_many_cells(texts: list[str]) -> None:
    """A column has a cell that a spreadsheet would run if one of its cells is such."""
    assert any_would_run(texts) == any(map(would_run, texts))


@given(TEXTS)
def test_marks_are_taken_back(text: str) -> None:
    """Any text comes back from its marked form, which no spreadsheet runs."""
    assert unmarked(marked(text)) == text
    assert not would_run(marked(text))
    assert (
        (marked(text) == text)
        or would_run(text)
        or "'" in text
        or ";" in text
        or (set(text) & set("\t\r\n"))
    )


@for_each_case(
    "text, safe",
    jsonl_rows(CASES / "cells.jsonl"),
)
def test_beginnings_of_cells_are_marked(text: str, safe: str) -> None:
    """Each beginning of a cell that a spreadsheet may see has one mark more."""
    assert marked(text) == safe
    assert unmarked(safe) == text
