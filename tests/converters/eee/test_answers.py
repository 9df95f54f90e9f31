"""A single answer and its reasoning in the versions that have lists."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_converters.eee.fields import (
    read_reasoning,
    read_text,
    write_reasoning,
    write_text,
)
from harpia_formats.plugins import DECLINED


@for_each_case(
    "raw, text",
    [("a", "a"), (["a"], "a"), ([], None), (["a", "b"], DECLINED), (None, None)],
)
def test_one_text_is_read(raw: Any, text: Any) -> None:
    """A text is read alone and from a list of one, but several are no text."""
    assert read_text(raw) is text


@for_each_case(
    "trace, reasoning",
    [("a", "a"), (["a"], "a"), ([], DECLINED), (["a", "b"], DECLINED), (None, None)],
)
def test_one_trace_is_read(trace: Any, reasoning: Any) -> None:
    """A trace is read alone and from a list of one, and no other list."""
    assert read_reasoning(trace) is reasoning


@pytest.mark.parametrize("text", ["a", "", None])
def test_one_answer_comes_back(text: str | None) -> None:
    """A text, or null, and its reasoning are the same again from a list."""
    assert read_text(write_text(text)) == text
    assert read_reasoning(write_reasoning(text)) == text
