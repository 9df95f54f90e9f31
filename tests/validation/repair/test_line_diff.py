"""Unified diffs of edits: what `patch` makes of them, and where they end."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats.validation.repair import text_edits as line_diff
from harpia_formats.validation.repair.text_edits import (
    Edit,
    LineTooLong,
    spliced,
    unified_diff,
)

PATCH = shutil.which("patch")

lines = st.lists(
    st.sampled_from([b"", b"a", b"bc", b"def", b"\r", b"\\ No newline"]), max_size=60
)
positions = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 6), st.sampled_from([b"", b"X", b"Y\nZ"])
    ),
    max_size=6,
)


def edits_from(drawn: list[tuple[int, int, bytes]], size: int) -> list[Edit]:
    """Return edits in order that do not overlap, of a text of so many bytes."""
    edits: list[Edit] = []
    at = 0
    for gap, length, data in drawn:
        start = at + gap + 1
        if start >= size:
            break
        at = min(start + length, size)
        edits.append(Edit(start, at, data))
    return edits


@pytest.mark.skipif(PATCH is None, reason="there is no patch")
@given(lines, st.booleans(), positions, st.integers(1, 50), st.sampled_from([3, 1000]))
@examples(20)
def test_patch_makes_the_edited_file_of_a_diff(
    texts: list[bytes],
    ends: bool,
    drawn: list[tuple[int, int, bytes]],
    size: int,
    most: int,
) -> None:
    """The diff is of the whole file, in blocks of any size, cut into parts or not."""
    text = b"\n".join(texts) + (b"\n" if ends else b"")
    edits = edits_from(drawn, len(text))
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    expected = b"".join(spliced([text], edits))
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as name:
        patched.setattr(line_diff, "PART_LINES", most)
        diff = b"".join(unified_diff("file", blocks, edits))
        path = Path(name, "file")
        path.write_bytes(text)
        if diff:
            assert PATCH is not None
            subprocess.run(  # noqa: S603 - patch itself
                [PATCH, "-s", "--binary", path], input=diff, check=True
            )
        assert (path.read_bytes() if path.exists() else b"") == expected


def test_only_lines_near_a_change_are_shown() -> None:
    """Three unchanged lines are around each change, and far ones are in two parts."""
    text = b"".join(b"%d\n" % number for number in range(100))
    at = [text.index(b"\n10\n") + 1, text.index(b"\n50\n") + 1]
    diff = b"".join(unified_diff("f", [text], [Edit(one, one, b"x") for one in at]))

    assert re.findall(rb"@@.*@@", diff) == [b"@@ -8,7 +8,7 @@", b"@@ -48,7 +48,7 @@"]


def test_a_line_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have to be held in memory."""
    monkeypatch.setattr(line_diff, "LONGEST_LINE", 10)

    with pytest.raises(LineTooLong, match="f: a line of more than 10 bytes"):
        list(unified_diff("f", [b"x" * 8, b"x" * 8], [Edit(0, 1, b"")]))
