import json
import os
import pty
from functools import partial
from pathlib import Path

import pytest

import command_runs
from command_runs import TIMEOUT, Result, begun
from harpia_formats import detect

FIXTURES = Path(__file__).parents[3] / "fixtures"
QUESTION = b'{"messages":[{"role":"user","content":"Oi"}],"ref_answer":"Hi"}\n'
ANSWERED = b'{"messages":[],"model_outputs":[]}\n'
#: Runs `harpia-formats detect` with arguments.
run = partial(command_runs.run, "detect")


def printed_lines(result: Result) -> list[str]:
    """Return the lines of the table, each without its trailing newline."""
    return result.stdout.decode().splitlines()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with a question, a mixed file, and one of no known format."""
    (tmp_path / "ask.jsonl").write_bytes(QUESTION * 2)
    mixed = QUESTION * 87 + ANSWERED * 12 + b'{"zz":1}\n'
    (tmp_path / "mixed.jsonl").write_bytes(mixed)
    (tmp_path / "odd.json").write_bytes(b'{"prompts":"Oi","category":"a"}')
    return tmp_path


def test_each_file_has_an_aligned_line(data: Path) -> None:
    """In a pipe a file is a line: path, format, confidence, why, container."""
    (data / "日本.csv").write_text("system,prompt,answer\n,Oi,Olá\n", "utf-8")
    result = run("ask.jsonl", "日本.csv", cwd=data)

    assert (result.returncode, result.stderr) == (0, b"")
    first, second = printed_lines(result)
    why = "`messages` in 2 of 2 records"
    where = "`system`, `prompt` and `answer` in the header"
    assert (
        first
        == f"ask.jsonl  {'tencent-messages':20}  100 %  {why:{len(where)}}  JSON Lines"
    )
    assert second == f"日本.csv   tencent-csv (answer)  100 %  {where}  a table"


def test_mixed_file_is_flagged(data: Path) -> None:
    """Below a mixed file the formats of the other records are listed."""
    first, *notes = printed_lines(run("mixed.jsonl", cwd=data))

    assert "  87 %  `messages` in 87 of 100 records  " in first
    assert notes == [
        "  also 12 records are tencent-outputs",
        "  also 1 record is in no known format",
    ]


@pytest.mark.parametrize(
    ("alike", "others", "share"), [(999, 1, 99), (57, 43, 57), (2, 1, 66)]
)
def test_share_is_rounded_down(data: Path, alike: int, others: int, share: int) -> None:
    """Only all records make 100 %; a share is rounded down."""
    rows = QUESTION * alike + ANSWERED * others
    (data / "shares.jsonl").write_bytes(rows)

    assert f"  {share} %  " in printed_lines(run("shares.jsonl", cwd=data))[0]


def test_ambiguous_file_is_flagged() -> None:
    """If a file may be in another format, too, it is named below the file."""
    rows = (FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl").read_bytes()
    scores = b'{"groups":{"g":{"metrics":{"f1":{"scores":{}}}}},'
    result = run("-", stdin=scores + rows.splitlines()[0].removeprefix(b"{"))

    assert result.returncode == 0
    assert printed_lines(result)[0].startswith("<stdin>  eee@0.2.0  60 %  ")
    assert printed_lines(result)[1:] == ["  may be nemo-results too"]


def test_unknown_file_ends_with_1(data: Path) -> None:
    """A file in no known format has what it lacks in its line; the exit code is 1."""
    result = run("odd.json", "ask.jsonl", cwd=data)
    first, second, known = printed_lines(result)

    assert (result.returncode, result.stderr) == (1, b"")
    assert first.split()[:3] == ["odd.json", "unknown", "-"]
    assert "nemo-input lacks prompt" in second
    # It says which commands have the option: `detect` has not.
    assert "to convert or score it, say which key holds what, with `--map " in second
    assert known.startswith("ask.jsonl  tencent-messages")


def test_unreadable_file_ends_with_2(data: Path) -> None:
    """A file that cannot be read is one line on standard error, and the code is 2."""
    result = run("ask.jsonl", "odd.json", "aks.jsonl", cwd=data)

    assert result.returncode == 2
    assert len(printed_lines(result)) == 3
    reason = "error: aks.jsonl: does not exist; did you mean ask.jsonl?\n"
    assert result.stderr.decode() == reason


def test_nothing_but_an_unreadable_file(data: Path) -> None:
    """If nothing could be read, standard output is empty."""
    result = run("nope*.json", cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.count(b"\n") == 1


def test_json_is_that_of_the_api(data: Path) -> None:
    """The JSON form is what the API says, under the name of its contract.

    Where its advice names options, that of the API names the arguments.
    """
    names = ["mixed.jsonl", "odd.json", "nope.json"]
    result = run(*(data / each for each in names), "--output-format", "json")
    found = json.loads(result.stdout)
    files = [each.to_dict() for each in detect(*(data / name for name in names))]

    assert result.returncode == 2
    _, advice, _ = (each.pop("nearest") for each in found["files"])
    assert "which key holds what, with `--map prompt=KEY`, where " in advice
    _, in_python, _ = (each.pop("nearest") for each in files)
    assert in_python == advice.replace("`--map prompt=KEY`", 'columns={"prompt": KEY}')
    assert found == {"schema": "harpia-formats/detection/1", "files": files}
    assert [each["confidence"] for each in files] == [0.87, 0, 0]


def test_names_cannot_command_the_terminal(data: Path) -> None:
    """Control characters of a name are shown as escapes in both forms."""
    name = "\x1b]0;owned\x07\n[bold]x.jsonl"
    (data / name).write_bytes(QUESTION)
    for form in ("text", "json"):
        printed = run(name, "--output-format", form, cwd=data).stdout
        assert b"\x1b" not in printed
        assert b"\x07" not in printed
        assert b"[bold]x.jsonl" in printed
    assert len(printed_lines(run(name, cwd=data))) == 1


@pytest.mark.parametrize("arguments", [[], ["x.json", "--output-format", "xml"]])
def test_usage_error_is_explained(arguments: list[str]) -> None:
    """A command line that makes no sense ends with 2 and no traceback."""
    result = run(*arguments)

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"Traceback" not in result.stderr


def on_terminal(*arguments: object, cwd: Path, **variables: str) -> str:
    """Return what the command writes to a terminal of 100 columns."""
    terminal, end = pty.openpty()
    own = {key: each for key, each in os.environ.items() if key != "NO_COLOR"}
    sizes = {"COLUMNS": "100", "LINES": "24", "TERM": "xterm-256color"}
    variables = own | sizes | variables
    begun(["detect", *arguments], cwd, variables, [None, end, None]).wait(TIMEOUT)
    os.close(end)
    shown = os.read(terminal, 65_536).decode()
    os.close(terminal)
    return shown


def test_terminal_gets_a_table_with_a_header(data: Path) -> None:
    """On a terminal the columns have names, in bold, and no line is too long."""
    (data / "[red]ask.jsonl").write_bytes(QUESTION)
    shown = on_terminal("mixed.jsonl", "[red]ask.jsonl", cwd=data)
    plain = on_terminal("mixed.jsonl", "[red]ask.jsonl", cwd=data, NO_COLOR="1")

    assert "\x1b[1m" in shown
    assert "\x1b[31m" not in shown
    assert plain.split()[:5] == ["Path", "Format", "Sure", "Why", "Container"]
    assert "[red]ask.jsonl" in plain
    assert "also 12 records are tencent-outputs" in " ".join(plain.split())
    assert all(len(each) <= 100 for each in plain.splitlines())
