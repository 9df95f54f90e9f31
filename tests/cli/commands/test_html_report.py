"""`--report FILE.html` of each command: one page that needs nothing else."""

import json
import sys
from pathlib import Path

import pytest

from in_process import InProcess
from strict_page import StrictPage

COMMANDS = {
    "validate": ("validate", "a.jsonl"),
    "convert": ("convert", "a.jsonl", "--to", "nemo-output", "-o", "o.jsonl"),
    "score": ("score", "a.jsonl", "--metrics", "em", "--by", "category"),
    "score compare": ("score", "compare", "a.jsonl", "b.jsonl", "--metrics", "em"),
    "diff": ("diff", "a.jsonl", "b.jsonl"),
    "roundtrip": ("roundtrip", "a.jsonl", "--via", "nemo-output"),
}
#: What the page of a command shows in addition to its counts.
SHOWN = {
    "validate": ["40 records, all valid", "None.", "Lengths of rows", "40 rows of"],
    "convert": ["with losses", "source", "defaulted 40", "Files written"],
    "score": ["0.7500", "law", "Signature: em|", "Intervals of em"],
    "score compare": [
        *("b.jsonl", "+0.2500", "p (Holm)", "Tests of em"),
        *("detected", "0.2146", "Detected: the smallest difference"),
        "An interval is not that of the test: they may disagree about 0.",
    ],
    "diff": ["outputs.text", '"yes"', '"no <way>"', "10"],
    "roundtrip": ["id", "nothing", "a.jsonl:1:1"],
}


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> InProcess:
    """Return what runs the command line in a folder with two data sets."""
    monkeypatch.chdir(tmp_path)
    for name, right in (("a.jsonl", 30), ("b.jsonl", 20)):
        Path(name).write_text("".join(map(_row, range(40), [right] * 40)))
    return InProcess(monkeypatch, capfdbinary)


def _row(number: int, right: int) -> str:
    text = "yes" if number < right else "no <way>"
    record = {
        "id": number,
        "prompt": f"Question {number}",
        "references": ["yes"],
        "category": ("law", "code")[number % 2],
        "outputs": [{"text": text}],
    }
    return json.dumps(record) + "\n"


def _append(text: str) -> None:
    path = Path("a.jsonl")
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_writes_a_page_of_its_result(name: str, run: InProcess) -> None:
    """The page is well-formed and has what the command prints; nothing else changes."""
    plain = run(*COMMANDS[name])
    Path("o.jsonl").unlink(missing_ok=True)
    found = run(*COMMANDS[name], "--report", "r.html")
    page = StrictPage(Path("r.html").read_text("utf-8"))

    assert (found.code, found.out, found.err) == (plain.code, plain.out, plain.err)
    assert not page.faults
    assert f"harpia-formats {' '.join(COMMANDS[name])}\n" in page.text
    for part in SHOWN[name]:
        assert part in page.text


def test_the_number_of_workers_is_not_on_the_page(run: InProcess) -> None:
    """Equal input gives equal bytes, however it was run and wherever they go."""
    _append('{"id": "a"}\n' * 50)
    run("validate", "a.jsonl", "-q", "--jobs=1", "--report", "one.html")
    options = ("--jobs", "2", "--progress", "never", "--report", "two.html")
    run("validate", "a.jsonl", *options)
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_invalid_input_of_a_conversion_is_on_its_page(run: InProcess) -> None:
    """The findings that end the run are shown with their lines."""
    _append('{"id": "a"}\n')
    found = run(*COMMANDS["convert"], "--report", "r.html")
    page = StrictPage(Path("r.html").read_text("utf-8"))

    assert found.code == 1
    assert not page.faults
    assert "a.jsonl:41:1" in page.text
    assert "1 error" in found.err or "S101" in page.text


def test_without_jinja2_a_run_does_not_begin(
    run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the command that installs it, and the exit code is 2."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in [one for one in sys.modules if ".reporters.html." in one]:
        monkeypatch.delitem(sys.modules, name)
    for options in (["--report", "r.html"], ["--output-format", "html"]):
        found = run("validate", "a.jsonl", *options)
        assert (found.code, found.out) == (2, "")
        assert "pip install 'harpia-formats[report]'" in found.err


def test_the_command_line_hides_passwords(run: InProcess) -> None:
    """What a report shows of the command has no secret of a URL."""
    run("validate", "a.jsonl", "--exclude", "https://me:secret@host/x", "--report=r.md")
    run("validate", "a.jsonl", "--exclude", "https://me:secret@h/x", "--report=r.html")
    written = Path("r.html").read_text("utf-8")
    assert "***@h/x" in written
    assert "secret" not in written


def test_the_command_line_hides_secrets_behind_names(run: InProcess) -> None:
    """An address that an option or a name is set to is shown without its query."""
    url = "http://me:s3cret@127.0.0.1:1/b.jsonl?X-Amz-Signature=s3cret"
    more = [f"--exclude={url}", f"--exclude=x={url}"]
    run("score", f"new={url}", "a.jsonl", *more, "--report=r.html")
    written = Path("r.html").read_text("utf-8")
    shown = "http://***@127.0.0.1:1/b.jsonl"
    assert (
        f"score new={shown} a.jsonl --exclude={shown} --exclude=x={shown}"
        in written.replace("&#39;", "")
    )
    assert "s3cret" not in written
