"""Check that expressions are compiled when they are needed, and then as usual."""

import re

import pytest

from harpia_formats.formats.rules.lazy_pattern import lazy_pattern


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    """A wrong expression is an error of its first use, not of its module."""
    wrong = lazy_pattern("(")

    with pytest.raises(re.error):
        wrong.search("a")


def test_a_pattern_finds_what_a_compiled_one_does() -> None:
    """Methods and attributes are those of the compiled expression, each time."""
    lazy = lazy_pattern("[a-c]+", re.IGNORECASE)
    compiled = re.compile("[a-c]+", re.IGNORECASE)

    for _ in range(2):
        assert lazy.findall("ABd cab") == compiled.findall("ABd cab")
        assert lazy.sub("-", "ABd cab") == compiled.sub("-", "ABd cab")
    assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)
