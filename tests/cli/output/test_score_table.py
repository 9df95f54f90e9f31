"""The table of scores fits a terminal, a line for each score."""

import io

import pytest

import harpia_formats
from harpia_formats.cli.score_table import score_lines


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [62, 80])
def test_a_row_has_one_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why a score has no interval is written below the table if a row has no room."""
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [
        {
            "prompt": f"q{category}",
            "category": category,
            "references": ["yes"],
            "outputs": [{"text": "yes"}],
        }
        for category in ("", "law of the land")
    ]
    scores = harpia_formats.score(rows, metrics=("em",), by=("category",))

    lines = list(score_lines(scores, _Terminal()))

    head, rule, *table = lines[: lines.index("")]
    assert len(rule) <= width
    assert len(table) == 3
    reason = "one question has no interval"
    # The empty text has a name.
    first = ["(empty)", "em", "1.0000"]
    if width == 80:
        assert table[0].split() == [*first, *reason.split(), "1"]
        assert all(reason not in line for line in lines[lines.index("") :])
    else:
        assert table[0].split() == [*first, "none", "†", "1"]
        assert f"† {reason}" in lines
    assert head.split()[0] == "category"
