"""Data that is written to a terminal: nothing in it moves the cursor or hides text."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_runs import on_terminal, run
from harpia_formats.files.io.sink import TerminalStream

#: Controls of both ranges, and a mark that turns text around.
HOSTILE = "\x1b[2Jq\x9b31m\u202etxt\x07 \x7f"
ROW = {
    "id": "1",
    "prompt": HOSTILE,
    "category": HOSTILE,
    "references": ["q"],
    "outputs": [{"text": "q"}],
}
#: What a terminal must not get of data: it gets line ends, tabs and other text.
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
COMMANDS = (
    ("head", "rows.jsonl"),
    ("sample", "rows.jsonl", 1),
    ("convert", "rows.jsonl", "--to", "csv"),
    ("score", "rows.jsonl", "-m", "em", "--by", "category", "--output-format", "csv"),
    ("stats", "rows.jsonl", "--output-format", "json"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_controls_in_data_are_escaped_on_a_terminal(
    command: tuple[object, ...], tmp_path: Path
) -> None:
    """A terminal gets the controls of data as escapes, and a pipe gets its bytes."""
    text = json.dumps(ROW, ensure_ascii=False)
    (tmp_path / "rows.jsonl").write_text(text + "\n", encoding="utf-8")
    quiet = (*command, *(["--quiet"] if command[0] != "score" else []))

    _, shown, _ = on_terminal("", *quiet, cwd=tmp_path, output=None)

    data = shown.replace("\r\n", "\n")
    assert "txt" in data
    assert OBEYED.findall(data) == []
    if command[0] in {"head", "sample"}:
        assert run(*quiet, cwd=tmp_path).stdout == text.encode() + b"\n"


@pytest.mark.parametrize(
    "command",
    [
        ("schema", "infer", "rows.jsonl"),
        ("preflight", "--init", "rows.jsonl"),
        ("score", "rows.jsonl", "-m", "em", "--to", "nemo-results"),
        ("convert", "rows.jsonl", "--to", "csv"),
        ("sample", "rows.jsonl", 1),
    ],
    ids=lambda command: command[0],
)
def test_names_of_outputs_are_escaped(
    command: tuple[object, ...], tmp_path: Path
) -> None:
    """What says where the output is shows controls in its name as escapes."""
    text = json.dumps({**ROW, "category": "c"}, ensure_ascii=False)
    (tmp_path / "rows.jsonl").write_text(text + "\n", encoding="utf-8")

    done = run(*command, "-o", "a\x1b[2J\u202e.json", cwd=tmp_path)

    assert done.returncode == 0
    shown = done.stderr.decode()
    assert "a\\x1b[2J\\u202e.json" in shown
    assert OBEYED.findall(shown) == []


@given(st.lists(st.binary(max_size=8)))
def test_terminal_gets_text_however_it_is_cut(parts: list[bytes]) -> None:
    """Any bytes become the same harmless text, wherever the writes are cut."""
    whole, cut = io.BytesIO(), io.BytesIO()
    for stream, pieces in ((whole, [b"".join(parts)]), (cut, parts)):
        terminal = TerminalStream(stream)
        for piece in pieces:
            terminal.write(piece)
        terminal.flush()

    assert cut.getvalue() == whole.getvalue()
    assert not OBEYED.search(whole.getvalue().decode().replace("\r\n", "\n"))
