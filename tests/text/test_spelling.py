from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.text.spelling import edits_between, is_near, nearest

WORDS = st.text("abc_", max_size=7)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("sample_id", "sampel_id"),  # neighbours swapped
        ("sample_id", "sample_ids"),  # a letter more
        ("sample_id", "sample_i"),  # a letter less
        ("sample_id", "sumple_id"),  # another letter
        ("sample_id", "sample_idx"),
        ("sample_id", "SampleID"),
        ("sample_id", "sample-id"),
        ("sample_id", "sampleid"),
        ("interaction_type", "interactoin_tpye"),
        ("raw", "rwa"),
        ("id", "ID"),
    ],
)
def test_near_words(wanted: str, found: str) -> None:
    """A word with one edit, or two if it is long, is near, and so is another case."""
    assert is_near(wanted, found)
    assert is_near(found, wanted)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("sample_id", "sample_id"),  # the very word
        ("sample_id", "sample_hash"),
        ("raw", "war"),  # two edits in a short word
        ("id", "ix"),  # short words are near everything
        ("input", "output"),
        ("", "a"),
        ("a" * 101, "a" * 100 + "b"),
        ("a" * 5, "a" * 1_000_000),
    ],
)
def test_words_that_are_not_near(wanted: str, found: str) -> None:
    """Other words are not near, nor is the word itself, nor is a very long one."""
    assert not is_near(wanted, found)


@pytest.mark.parametrize(
    ("wanted", "candidates", "found"),
    [
        ("sample_id", ["metadata", "sampel_id"], "sampel_id"),
        ("sample_id", ["sampel_id", "sampl_id"], ""),  # never guess between two
        ("sample_id", ["sampel_id", "sampleId"], "sampleId"),
        ("sample_id", ["SAMPLE_ID", "sampleId"], ""),
        ("sample_id", ["sample_id"], ""),
        ("sample_id", [], ""),
    ],
)
def test_nearest(wanted: str, candidates: list[str], found: str) -> None:
    """The only near candidate is returned; of several, the only one in another case."""
    assert nearest(wanted, candidates) == found


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("ab", "ba", 1),
        ("abc", "ca", 3),  # no edit inside a swapped pair
        ("kitten", "sitting", 3),
    ],
)
def test_edits(one: str, other: str, edits: int) -> None:
    """Adding, dropping or changing a letter is one edit, and so is a swap."""
    assert edits_between(one, other) == edits


@given(WORDS, WORDS)
def test_distance_is_symmetric(one: str, other: str) -> None:
    """The distance is symmetric, and 0 only for equal words."""
    edits = edits_between(one, other)

    assert edits == edits_between(other, one)
    assert (edits == 0) == (one == other)
    assert abs(len(one) - len(other)) <= edits <= max(len(one), len(other))


@given(WORDS, st.integers(0, 6))
def test_one_swap_is_one_edit(word: str, at: int) -> None:
    """Swapping two neighbours that differ is one edit."""
    pairs = list(pairwise(word))
    if at < len(pairs) and pairs[at][0] != pairs[at][1]:
        first, second = pairs[at]
        swapped = word[:at] + second + first + word[at + 2 :]

        assert edits_between(word, swapped) == 1
