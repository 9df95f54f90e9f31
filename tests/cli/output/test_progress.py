"""Output on a terminal: colours and the progress bar."""

import subprocess
from pathlib import Path

import pytest

import command_server
from command_runs import TIMEOUT, on_terminal, run

#: Scripts that show the bar from the start, and only after longer than any test takes.
AT_ONCE, LATE = (
    "from harpia_formats.cli import progress_and_problems as progress; "
    f"progress.DELAY = {seconds}"
    for seconds in (0, 2 * TIMEOUT)
)
FAULTY = ("validate", "rows.jsonl", "--schema", "schema.json")
BAR, ERASE_LINE = "━", "\x1b[2K"


def test_terminal_gets_the_full_form_in_colour(data: Path) -> None:
    """On a terminal the full report is the default, with the place in bold."""
    code, shown, _ = on_terminal("", *FAULTY, cwd=data, output=None)

    assert code == 1
    assert "\x1b[1mrows.jsonl:2:6\x1b[0m  \x1b[31mS102\x1b[0m wrong-type" in shown
    assert "5 records: 2 valid, 3 invalid" in shown


def test_progress_is_shown_and_gone_at_the_end(data: Path) -> None:
    """The bar is on standard error only, and the summary replaces it at the end."""
    code, shown, output = on_terminal(
        AT_ONCE, *FAULTY, cwd=data, output=subprocess.PIPE
    )
    before, _, last = shown.rpartition(ERASE_LINE)

    assert code == 1
    assert "rows.jsonl" in before
    assert "bytes" in before
    assert BAR in before
    assert last.strip().startswith("rows.jsonl: 5 records")
    assert output == run(*FAULTY, cwd=data).stdout


def test_findings_are_not_mixed_with_progress(data: Path) -> None:
    """On one terminal the bar is removed before a finding is written."""
    (data / "many.jsonl").write_bytes(
        b'{"a":1}\n' * 5_000 + (data / "rows.jsonl").read_bytes()
    )
    arguments = ("validate", "many.jsonl", *FAULTY[2:])
    code, shown, _ = on_terminal(AT_ONCE, *arguments, cwd=data, output=None)
    plain = on_terminal(LATE, *arguments, cwd=data, output=None)[1]

    assert code == 1
    assert BAR in shown
    assert BAR not in plain
    for each in plain.split("\r\n\r\n"):
        assert each in shown


def test_bar_is_hidden_until_more_is_read(data: Path) -> None:
    """The bar is drawn again when more is read, and not for every finding."""
    (data / "many.jsonl").write_bytes(b'{"a":1}\n' * 5_000 + b'{"a":"x"}\n' * 900)
    arguments = ("validate", "many.jsonl", *FAULTY[2:], "--examples", "0")
    _, shown, _ = on_terminal(AT_ONCE, *arguments, cwd=data, output=None)

    assert shown.count("S102\x1b") == 900
    assert 1 <= shown.count("many.jsonl  ") <= 100


@pytest.mark.parametrize(
    ("script", "options"), [(AT_ONCE, ["-q"]), (LATE, [])], ids=["quiet", "short"]
)
def test_no_progress_for_quiet_and_short_runs(
    data: Path, script: str, options: list[str]
) -> None:
    """No bar is drawn with --quiet, nor for a run that is shorter than the delay."""
    arguments = (*FAULTY, *options)
    _, shown, _ = on_terminal(script, *arguments, cwd=data, output=subprocess.PIPE)

    assert "\x1b" not in shown
    assert bool(shown) is not bool(options)


def test_several_files_have_one_total(data: Path) -> None:
    """Of several files the bar shows how many there are, and their bytes together."""
    rows = b'{"a":1}\n' * 10_000
    for name in ("one", "two", "three"):
        (data / "many" / f"{name}.jsonl").parent.mkdir(exist_ok=True)
        (data / "many" / f"{name}.jsonl").write_bytes(rows)
    arguments = ("validate", "many", "--jobs", "1", *FAULTY[2:])
    script = f"{AT_ONCE}; progress._PICTURES = 0"
    _, shown, _ = on_terminal(script, *arguments, cwd=data, output=subprocess.PIPE)

    assert "(1 of 3)  " in shown
    assert "(3 of 3)  " in shown
    assert " %, 240.0 of 240.0 KB" in shown


def test_pipe_gets_lines_if_asked_for(data: Path) -> None:
    """With --progress always a pipe gets a line now and then, also with --quiet."""
    (data / "many.jsonl").write_bytes(b'{"a":1}\n' * 20_000)
    script = f"{AT_ONCE}; progress.LINES = 0"
    arguments = ["validate", "many.jsonl", *FAULTY[2:], "-q", "--progress"]
    lines = {}
    before = data / "before.py"
    before.write_text(script)
    variables = {command_server.BEFORE: str(before)}
    for when in ("always", "auto", "never"):
        done = run(*arguments, when, cwd=data, environment=variables)
        lines[when] = done.stderr.decode().splitlines()
        assert (done.returncode, done.stdout) == (0, b"")

    assert lines["always"][-1].startswith("progress: many.jsonl: 100 %, 160.0 of 160.0")
    assert lines["auto"] == lines["never"] == []


def test_terminal_gets_no_bar_with_never(data: Path) -> None:
    """With --progress never a terminal gets none."""
    arguments = (*FAULTY, "--progress", "never")
    _, shown, _ = on_terminal(AT_ONCE, *arguments, cwd=data, output=subprocess.PIPE)

    assert shown.startswith("rows.jsonl: 5 records")


def test_detect_counts_files(data: Path) -> None:
    """`detect` shows how many of the files of the inputs were done."""
    script = f"{AT_ONCE}; progress._PICTURES = 0"
    arguments = ("detect", "rows.jsonl", "schema.json")
    _, shown, _ = on_terminal(script, *arguments, cwd=data, output=subprocess.PIPE)

    assert "detected  " in shown
    assert "50 %, 1 of 2 files" in shown
