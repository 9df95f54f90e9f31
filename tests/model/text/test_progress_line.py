"""How far a run has come, in words and as a bar."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.text_columns import columns, progress_bar, progress_text


@for_each_case(
    "done, total, rate, unit, text",
    [
        (0, 900, 0, "bytes", "0 %, 0 of 900 bytes"),
        (450, 900, 90, "bytes", "50 %, 450 of 900 bytes, 90 bytes/s, 5 s left"),
        (1.2e9, 2.7e9, 3.1e8, "bytes", "44 %, 1.2 of 2.7 GB, 310.0 MB/s, 5 s left"),
        (1e6, 1e9, 1e6, "bytes", "0 %, 0.0 of 1.0 GB, 1.0 MB/s, 16 min 39 s left"),
        (1e9, 1e14, 1e9, "bytes", "0 %, 0.0 of 100.0 TB, 1.0 GB/s, 27 h 46 min left"),
        (5_000, None, 500, "bytes", "5.0 KB, 500 bytes/s"),
        (12, 48, 3, "rows", "25 %, 12 of 48 rows, 3 rows/s, 12 s left"),
        (12, None, 3, "files", "12 files, 3 files/s"),
        (120, 100, 10, "bytes", "100 %, 120 of 100 bytes, 10 bytes/s, 0 s left"),
    ],
)
def test_text(
    done: float, total: float | None, rate: float, unit: str, text: str
) -> None:
    """The share, the amounts in one unit, the rate, and the time that is left."""
    assert progress_text(done, total, rate, unit) == text


@given(st.text(st.characters(exclude_categories=["C"])), st.floats(0, 1))
def test_bar_fits_its_line(name: str, share: float) -> None:
    """A line with a bar is never wider than its columns."""
    for width in range(1, 120, 7):
        line = progress_bar(name, share, "45 %, 1.2 of 2.7 GB, 5 s left", width)

        assert columns(line) <= width


@for_each_case(
    "width, share, line",
    [
        (46, 0.5, "a/b/c.jsonl  ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌  50 %, 5 MB"),
        (36, 0.5, "a/b/c.jsonl  ━━━━━━╌╌╌╌╌  50 %, 5 MB"),
        (32, 0.5, "…b/c.jsonl  ━━━━╌╌╌╌  50 %, 5 MB"),
        (40, None, "a/b/c.jsonl  50 %, 5 MB"),
        (24, 0.5, "a/b/c.jsonl  50 %, 5 MB"),
        (20, 0.5, "…c.jsonl  50 %, 5 MB"),
        (12, 0.5, "50 %, 5 MB"),
        (6, 0.5, "50 %"),
    ],
)
def test_parts_give_way(width: int, share: float | None, line: str) -> None:
    """First the bar is left out, then the start of the name, then the name."""
    assert progress_bar("a/b/c.jsonl", share, "50 %, 5 MB", width) == line
