from enum import StrEnum

import pytest

from harpia_formats import MapError
from harpia_formats.api.options import PAIRS, Option, listed
from harpia_formats.cli.command_options import (
    WordError,
    column_map,
    comma_separated,
    constants_by_field,
    one_of,
    pairs_of,
    worker_count,
)
from harpia_formats.cli.streams_and_exit_codes import UsageError


class Size(StrEnum):
    """Choices of a test."""

    SMALL = "small"
    LARGE = "large"


def test_choice_is_the_member_with_its_text() -> None:
    """Text of a choice gives the choice, and so does the choice itself."""
    assert one_of(Size)("large") is Size.LARGE
    assert one_of(Size)(Size.SMALL) is Size.SMALL


def test_choices_can_be_some_of_a_table() -> None:
    """Only the given choices are accepted."""
    assert one_of([Size.SMALL])("small") is Size.SMALL
    with pytest.raises(WordError, match=r"'large' is not one of small$"):
        one_of([Size.SMALL])("large")


def test_wrong_choice_names_the_most_similar_one() -> None:
    """The error suggests the choice that was probably meant, and lists no others."""
    with pytest.raises(WordError, match=r"is not one of these; did you mean large\?"):
        one_of(Size)("lrage")


@pytest.mark.parametrize(
    ("choices", "text"),
    [(["a"], "a"), (["a", "b"], "a or b"), (Size, "small or large")],
)
def test_choices_are_listed_in_words(choices: list[str], text: str) -> None:
    """Choices become a part of a sentence."""
    assert listed(choices) == text
    assert listed(["x", *choices]).startswith("x")


@pytest.mark.parametrize(("text", "count"), [("auto", 0), ("0", 0), ("3", 3), (0, 0)])
def test_worker_count_is_a_number_or_auto(text: str | int, count: int) -> None:
    """The number of processes is 0 for `auto`, which is also the default."""
    assert worker_count(text) == count


@pytest.mark.parametrize("text", ["-1", "1.5", "many", ""])
def test_other_worker_count_is_refused(text: str) -> None:
    """Text that is neither a number nor `auto` is a mistake."""
    with pytest.raises(WordError, match="neither a number nor auto"):
        worker_count(text)


def test_values_are_split_at_commas() -> None:
    """Values may be repeated, joined by commas, or both; empty ones are dropped."""
    assert comma_separated(["a,b", "c", ",d,"]) == ("a", "b", "c", "d")
    assert comma_separated(None) == ()


def test_columns_are_read_from_all_values() -> None:
    """The column of each field is read, and without values there is no map."""
    assert column_map(["prompt=q,gt=a"]) == column_map(["prompt=q", "gt=a"])
    assert column_map([]) is column_map(None) is None
    with pytest.raises(MapError):
        column_map(["prompt"])


def test_constants_are_read_from_all_values() -> None:
    """A value may hold an equals sign, and no field is set twice."""
    assert constants_by_field(["score=1", "model=a=b"]) == {
        "score": "1",
        "model": "a=b",
    }
    assert constants_by_field([]) == {}
    with pytest.raises(UsageError, match="score is set already"):
        constants_by_field(["score=1", "score=2"])


@pytest.mark.parametrize("text", ["score", "=1", ""])
def test_pair_without_a_part_is_refused(text: str) -> None:
    """The error names the option and the right form."""
    with pytest.raises(UsageError, match=r"`--set` .*write it as FIELD=VALUE"):
        pairs_of([text], Option("x", "--set FIELD=VALUE", PAIRS, "", ""))
