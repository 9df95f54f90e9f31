"""Segments of a text that are more than memory should hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.io import unpacked_text
from harpia_formats.files.io.unpacked_text import Segment, TextSegments


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40), st.integers(1, 9))
def test_segments_come_back_from_a_file(numbers: list[int], held: int) -> None:
    """However many are held in memory, each is what was added, with its last end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpacked_text, "SEGMENTS_HELD", held)
        segments = TextSegments()
        for at, number in enumerate(numbers):
            segments.begin(Segment(number, 0, at, 0, 0, number, number, 0, 0))
            segments.end = at + 7

    assert len(segments) == len(numbers)
    assert [segments[at] for at in range(len(numbers))] == [
        Segment(number, at + 7, at, 0, 0, number, number, 0, 0)
        for at, number in enumerate(numbers)
    ]
    with pytest.raises(IndexError):
        segments[len(numbers)]


def test_no_segments_are_none() -> None:
    """A text without places has no segments."""
    assert not TextSegments()
