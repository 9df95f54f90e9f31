"""Names without their common parts, and texts cut in their middle."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.text_columns import columns, short_names, shortened

_names = st.lists(st.text("ab/-. \u4e2d\u0301", max_size=30), max_size=6, unique=True)


@for_each_case(
    "names, short",
    [
        (["runs/a/x.jsonl", "runs/b/x.jsonl"], ["a", "b"]),
        (["one.jsonl", "two.jsonl"], ["one", "two"]),
        (["gpt-4o-mini", "gpt-4o"], ["gpt-4o-mini", "gpt-4o"]),
        (
            ["Llama-3.1-8B-Instruct-2024-07", "Llama-3.1-70B-Instruct-2024-07"],
            ["8B", "70B"],
        ),
        (["runs/a", "runs/"], ["runs/a", "runs/"]),
        (["runs/a.jsonl"], ["runs/a.jsonl"]),
        (["x", "x"], ["x", "x"]),
        ([], []),
    ],
)
def test_common_parts_are_left_out(names: list[str], short: list[str]) -> None:
    """Parts of paths always are, and words if a name is long; one name stays."""
    assert short_names(names) == short


@given(_names)
def test_short_names_differ_and_are_parts_of_the_names(names: list[str]) -> None:
    """Names that differ still do, and nothing is added."""
    short = short_names(names)

    assert len(set(short)) == len(names)
    assert all(part in name for part, name in zip(short, names, strict=True))
    assert all(short) or "" in names


@for_each_case(
    "text, room, short",
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc…fg"),
        ("e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301…e\u0301"),
        ("\u4e2d\u4e2d\u4e2d\u4e2d", 6, "\u4e2d…\u4e2d"),
        ("abc", 1, "…"),
    ],
)
def test_a_long_text_is_cut_between_letters(text: str, room: int, short: str) -> None:
    """It fits into the columns, and a letter keeps its marks."""
    assert shortened(text, room) == short


@given(st.text("ab\u4e2d\u0301", max_size=20), st.integers(1, 20))
def test_any_text_fits(text: str, room: int) -> None:
    """It has at most so many columns, and is only shortened if it has more."""
    assert columns(shortened(text, room)) <= room or columns(text) <= room
