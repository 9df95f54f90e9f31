"""What the reporters for people write on a terminal: broken lines, links."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harpia_formats import Because, Excerpt, Place, Problem, Report, Severity
from harpia_formats.reporters import REPORTERS, Options

EMPTY = Report(files=(), groups=(), problems=())
PLACE = Place(
    path="answers of model.jsonl",
    line=3,
    column=287,
    end_column=291,
    byte_offset=5120,
    record=3,
    record_id="gsm8k 0003",
    pointer="/interactions/a~1long~1pointer",
)
PROBLEM = Problem(
    code="C201",
    name="conditional-turns",
    severity=Severity.WARNING,
    place=PLACE,
    message='interactions must be an array, found "some text with spaces" of 漢字',
    because=(Because("/interaction_type", '"multi_turn"', 3, 139),),
    help='give the turns in interactions, or set interaction_type to "single_turn"',
    excerpt=Excerpt('"interactions": null', 16, 20),
)
WHOLE = (
    f"{PLACE.path}:3:287",
    "warning C201 conditional-turns",
    "/interactions/a~1long~1pointer",
    '(id "gsm8k 0003")',
    '"some text with spaces"',
    'interaction_type is "multi_turn"',
)
LINK = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\")


def reported(name: str, options: Options) -> str:
    """Return what a reporter writes for one problem."""
    pieces: list[str] = []
    REPORTERS[name].write([PROBLEM], lambda: EMPTY, pieces.append, options)
    return "".join(pieces)


@pytest.mark.parametrize("name", ["full", "concise"])
@given(st.integers(40, 120))
def test_lines_are_broken_between_words(name: str, width: int) -> None:
    """On a terminal no line is too long, and the text is what a pipe gets."""
    broken = reported(name, Options(quiet=True, wraps=True, width=width))
    whole = reported(name, Options(quiet=True, width=width))

    assert max(map(cell_len, broken.splitlines())) <= width
    assert " ".join(broken.split()) == " ".join(whole.split())


@pytest.mark.parametrize("width", [40, 60, 80])
def test_places_values_and_names_stay_whole(width: int) -> None:
    """A path, pointer, id, rule or quoted value is on one line."""
    lines = reported("full", Options(quiet=True, wraps=True, width=width)).splitlines()

    for part in WHOLE[:5]:
        assert any(part in line for line in lines), part


def test_further_lines_are_indented() -> None:
    """The lines that a line is broken into begin with spaces."""
    lines = reported("full", Options(quiet=True, wraps=True, width=44)).splitlines()

    assert lines == [
        "answers of model.jsonl:3:287",
        "    warning C201 conditional-turns",
        "    /interactions/a~1long~1pointer",
        '    (id "gsm8k 0003")',
        '  3 | "interactions": null',
        "    |                 ^^^^",
        "  interactions must be an array, found",
        '  "some text with spaces" of 漢字',
        '  because interaction_type is "multi_turn"',
        "    (answers of model.jsonl:3:139)",
        "  help: give the turns in interactions, or",
        '    set interaction_type to "single_turn"',
    ]


def test_concise_keeps_the_place_whole() -> None:
    """The place at the start of a line is not broken at the spaces of its path."""
    for color in (False, True):
        text = reported("concise", Options(wraps=True, width=24, color=color))
        plain = re.sub(r"\x1b\[\d+m", "", text)

        assert plain.splitlines()[0] == "answers of model.jsonl:3:287:"


@pytest.mark.parametrize("name", ["full", "concise"])
def test_pipe_keeps_lines_whole(name: str) -> None:
    """What is not for a terminal has its message on one line, however long."""
    text = reported(name, Options(quiet=True, width=30))

    assert PROBLEM.message in text
    assert len(text.splitlines()) == {"full": 6, "concise": 1}[name]


def test_code_is_a_link_to_its_rule() -> None:
    """With links the code leads to the documentation of the rule, and nothing else."""
    linked = reported("full", Options(quiet=True, links=True))

    start, end = LINK.findall(linked)
    assert start.startswith("https://harpia-formats.github.io/")
    assert (start.rpartition("/")[2], end) == ("C201.html", "")
    assert LINK.sub("", linked) == reported("full", Options(quiet=True))
