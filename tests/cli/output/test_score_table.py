"""The table of scores fits a terminal, a line for each score."""

from pathlib import Path

import pytest

from command_runs import on_terminal
from json_lines import jsonl


@pytest.mark.parametrize("width", [62, 80])
def test_a_row_has_one_line(width: int, tmp_path: Path) -> None:
    """Why a score has no interval is written below the table if a row has no room."""
    rows = [
        {
            "prompt": f"q{category}",
            "category": category,
            "references": ["yes"],
            "outputs": [{"text": "yes"}],
        }
        for category in ("", "law of the land")
    ]
    (tmp_path / "a.jsonl").write_bytes(jsonl(*rows))
    words = ("score", "a.jsonl", "-m", "em", "--by", "category")
    shown = {"COLUMNS": str(width), "NO_COLOR": "1"}
    code, text, _ = on_terminal("", *words, cwd=tmp_path, output=None, **shown)
    lines = text.splitlines()

    start = next(at for at, line in enumerate(lines) if line.startswith("category"))
    end = lines.index("", start)
    head, rule, *table = lines[start:end]
    assert (code, len(table)) == (0, 3)
    assert len(rule) <= width
    reason = "one question has no interval"
    # The empty text has a name.
    first = ["(empty)", "em", "1.0000"]
    if width == 80:
        assert table[0].split() == [*first, *reason.split(), "1"]
        assert all(reason not in line for line in lines[end:])
    else:
        assert table[0].split() == [*first, "none", "†", "1"]
        assert f"† {reason}" in lines
    assert head.split()[0] == "category"
