"""How commands end: signals, closed streams, exceptions."""

import errno
import io
import itertools
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from command_runs import (
    COMMAND,
    TIMEOUT,
    Result,
    codes,
    environment_with,
    error_lines,
    joined,
    run,
)
from effort import pairs
from in_process import exit_code


def started(script: str, *arguments: object, **pipes: Any) -> subprocess.Popen[bytes]:
    """Start the command line in a Python process after `script`."""
    call = "from harpia_formats.cli import main; main()"
    return subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", f"{script}\n{call}", *map(str, arguments)],
        env=environment_with({}),
        **pipes,
    )


#: Background jobs of a shell ignore the signal, and so do their children.
HEED_INTERRUPTS = "import signal; signal.signal(2, signal.default_int_handler)"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long),
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
    ],
)
def test_signal_ends_the_run_quietly(
    data: Path, number: signal.Signals, code: int
) -> None:
    """A run that is interrupted or terminated ends with the code of the signal."""
    caps = ("--examples", "0", "--max-problems", "300")
    arguments = ("validate", "-", "--schema", data / "schema.json", *caps)
    pipe = subprocess.PIPE
    process = started(HEED_INTERRUPTS, *arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"a":"x"}\n' * 20_000)
        process.stdin.flush()
        assert select.select([process.stdout], [], [], TIMEOUT)[0]
        assert process.stdout.readline().startswith(b"<stdin>:1:6: S102")
        process.send_signal(number)
        _, message = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, message) == (code, b"")


@pytest.mark.parametrize(
    ("number", "jobs"), pairs([signal.SIGHUP, signal.SIGTERM], [1, 2])
)
def test_signal_that_was_ignored_at_the_start_stays_ignored(
    tmp_path: Path, number: signal.Signals, jobs: int
) -> None:
    """Under `nohup` a run goes on, with all of its processes, when it is hung up."""
    rows = b'{"prompt": "%b", "outputs": []}\n' % (b"p" * 1_000)
    (tmp_path / "in.jsonl").write_bytes(rows * 12_000)
    ignore = (
        f"import os, signal; os.setpgrp(); signal.signal({int(number)}, signal.SIG_IGN)"
    )
    words = ("convert", "in.jsonl", "--to", "record", "-o", "out.jsonl")
    process = started(
        ignore, *words, "--jobs", jobs, cwd=tmp_path, stderr=subprocess.PIPE
    )
    with process:
        end = time.monotonic() + TIMEOUT
        while len([*tmp_path.iterdir()]) == 1 and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, number)
        _, message = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, b"12,000 rows" in message) == (0, True)
    assert (tmp_path / "out.jsonl").stat().st_size > 12_000_000


def test_reader_that_leaves_ends_the_run_quietly(data: Path) -> None:
    """If the reader closes the pipe, the run ends with 141 and no message."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 5_000)
    caps = ("--examples", "0", "--max-problems", "0")
    process = started(
        "",
        *("validate", data / "many.jsonl", "--schema", data / "schema.json", *caps),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        message = process.stderr.read()

    assert (process.returncode, message) == (141, b"")


def test_reports_are_written_if_the_reader_leaves(data: Path) -> None:
    """With `--report` and a closed pipe the run goes on, and ends with its own code."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 5_000)
    caps = ("--examples", "0", "--max-problems", "0", "--report", "report.json")
    process = started(
        "",
        *("validate", data / "many.jsonl", "--schema", data / "schema.json", *caps),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=data,
    )
    with process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        message = process.stderr.read().decode()

    assert (process.returncode, message.count("\n")) == (1, 1)
    assert json.loads((data / "report.json").read_bytes())["summary"]["errors"] == 5_000


def test_rows_for_nobody_end_the_run(data: Path) -> None:
    """A conversion whose rows nobody reads ends with 141, and writes no report."""
    row = b'{"prompt":"%s","outputs":[]}\n' % (b"p" * 100)
    # A pipe holds only a part of them.
    (data / "many.jsonl").write_bytes(row * 30_000)
    process = started(
        "",
        *("convert", "many.jsonl", "--from", "record", "--to", "csv"),
        *("--report", "report.json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=data,
    )
    with process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.close()

    assert process.returncode == 141
    assert not (data / "report.json").exists()


def test_unbuffered_output_is_not_cut_off(data: Path) -> None:
    """The rest of a report is written if a write accepts only a part of it."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 2_000)
    command = f"ulimit -f 100; exec {shlex.join(COMMAND)} validate many.jsonl"
    options = "--schema schema.json --examples 0 --max-problems 0"
    result = subprocess.run(  # noqa: S603 - the command is ours
        ["/bin/sh", "-c", f"{command} {options} --output-format json > report.json"],
        capture_output=True,
        cwd=data,
        env=environment_with({"PYTHONUNBUFFERED": "1"}),
        timeout=TIMEOUT,
        check=False,
    )

    assert result.returncode == 2
    assert error_lines(result) == ["error: cannot write the output: file too large"]


COMMANDS = [
    ["--version"],
    ["--help"],
    ["validate", "--help"],
    ["rule", "C201"],
    ["validate", "rows.jsonl", "--schema", "schema.json"],
    ["validate", "rows.jsonl", "--output-format", "json"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=joined)
def test_closed_pipe_ends_every_command_quietly(
    data: Path, arguments: list[str]
) -> None:
    """Each command ends with 141 and no message if its output is a closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=data,
        env=environment_with({}),
        timeout=TIMEOUT,
        check=False,
    )
    os.close(writing)

    assert (process.returncode, error_lines(process)) == (141, [])


def run_redirected(redirection: str, *arguments: str, cwd: Path) -> Result:
    """Run the command line in a shell that redirects its streams."""
    return subprocess.run(  # noqa: S603 - the command is ours
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *arguments],
        capture_output=True,
        cwd=cwd,
        env=environment_with({}),
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize(
    ("number", "redirection"),
    pairs(range(len(COMMANDS)), ["> /dev/full", ">&-"]),
)
def test_output_that_cannot_be_written_is_one_line(
    data: Path, redirection: str, number: int
) -> None:
    """A full disk or a closed output ends with 2 and one line that says so."""
    result = run_redirected(redirection, *COMMANDS[number], cwd=data)

    assert result.returncode == 2
    (line,) = error_lines(result)
    assert line.startswith("error: cannot write the output: ")


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-"])
def test_lost_messages_do_not_change_the_outcome(data: Path, redirection: str) -> None:
    """If standard error cannot be written, findings and exit codes stay the same."""
    arguments = ("validate", "--schema", "schema.json", "rows.jsonl")
    found = run_redirected(redirection, *arguments, cwd=data)
    unable = run_redirected(redirection, *arguments, "nope.jsonl", cwd=data)

    assert (found.returncode, unable.returncode) == (1, 2)
    assert codes(found) == codes(unable) == ["S102", "S102", "J106"]


def test_closed_output_is_no_error_if_nothing_goes_there(data: Path) -> None:
    """With standard output closed, an output file is written as usual."""
    (data / "in.jsonl").write_bytes(b'{"prompt":"p","outputs":[]}\n')
    words = ("convert", "in.jsonl", "--from", "record", "--to", "csv", "-o", "out.csv")
    result = run_redirected(">&-", *words, cwd=data)

    assert result.returncode == 0
    assert (data / "out.csv").read_bytes() == b"prompt\np\n"


#: Commands with an output, those first that the default run has.
WRITING = [
    "convert IN --to record --jobs 2 -o OUT",
    "score IN -m em --to nemo-results -o OUT --report json=report.json",
    "split IN --valid OUT --invalid other.jsonl",
    "diff IN IN --report json=OUT",
    "convert IN --to nemo-output -o OUT --report json=report.json",
    "head IN -o OUT",
    "sample IN 1 -o OUT",
    "merge IN -o OUT",
    "schema infer IN -o OUT",
    "preflight --init IN -o OUT",
]
CLOSED = [">&-", ">&- <&-", ">&- <&- 2>&-"]


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        *pairs(WRITING[:4], CLOSED),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in itertools.product(WRITING[4:], CLOSED)
        ),
    ],
)
def test_commands_that_write_files_need_no_standard_output(
    data: Path, words: str, closed: str
) -> None:
    """Each command with an output file ends as it does with standard output open."""
    row = {"input": {"prompt": "p", "ideal_response": "a"}, "response": "a"}
    (data / "in.jsonl").write_text(json.dumps({**row, "llm_name": "m"}) + "\n")
    places = {"IN": "in.jsonl", "OUT": "out.jsonl"}
    given = [
        places.get(word, word.replace("OUT", "out.jsonl")) for word in words.split()
    ]
    result = run_redirected(closed, *given, cwd=data)

    assert (result.returncode, (data / "out.jsonl").stat().st_size > 0) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        "convert IN --to record -o LOOP",
        "convert IN --to record -o LOOP/x.jsonl",
        "convert IN --to record -o LOOP --overwrite",
        "convert IN --to record -o out.jsonl --report json=LOOP",
        "validate IN --report json=LOOP",
        "validate IN --fix -o LOOP",
        "validate IN --write-baseline LOOP",
        "score IN -m em --to nemo-results -o LOOP",
        "head IN -o LOOP",
        "merge IN -o LOOP",
        "schema infer IN -o LOOP",
        "preflight --init IN -o LOOP",
    ],
)
def test_output_that_is_a_link_to_itself(data: Path, words: str) -> None:
    """A link that leads to itself is no place to write to: one line says so."""
    row = {"input": {"prompt": "p", "ideal_response": "a"}, "response": "a"}
    (data / "in.jsonl").write_text(json.dumps({**row, "llm_name": "m"}) + "\n")
    (data / "loop").symlink_to("loop")
    given = words.replace("IN", "in.jsonl").replace("LOOP", "loop").split()
    result = run(*given, cwd=data)

    assert result.returncode == 2
    (line,) = error_lines(result)
    assert line.endswith("too many levels of symbolic links")
    assert (data / "loop").is_symlink()


def test_closed_standard_input_is_one_line(data: Path) -> None:
    """Closed standard input ends with 2 and one line."""
    result = run_redirected("<&-", "validate", "-", cwd=data)

    assert result.returncode == 2
    assert error_lines(result) == ["error: <stdin>: is closed"]


def test_engines_that_differ_are_a_bug(data: Path) -> None:
    """If the engines disagree, the run ends with 3 and names the place."""
    process = started(
        "from harpia_formats.validation.unit import cross_check as reference\n"
        "reference.second_opinion_of = lambda *_, **__: lambda *_: False",
        *("validate", data / "good.jsonl", "--schema", data / "schema.json"),
        "--cross-check",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        written, _ = process.communicate(timeout=TIMEOUT)

    assert process.returncode == 3
    line = written.decode().splitlines()[0]
    assert "good.jsonl:1:1: V902 internal-error harpia-formats failed" in line


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("there"), 3, "RuntimeError: there"),
        (OSError(errno.ENOSPC, "no space"), 2, "cannot write the output: no space"),
        (ModuleNotFoundError("No module named 'x'"), 2, "package is missing"),
    ],
)
def test_each_exception_has_an_exit_code(  # noqa: PLR0913, PLR0917 - three of the table, and where it runs
    error: Exception,
    code: int,
    words: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each exception becomes an exit code and a message on standard error."""

    class Failing(io.TextIOWrapper):
        def write(self, _: str) -> int:
            raise error

    handler = signal.getsignal(signal.SIGTERM)
    with (tmp_path / "out").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", Failing(file))
        assert exit_code("--version") == code

    assert words in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is handler


#: Sends this process an interrupt before the Nth module is imported.
INTERRUPTED_IMPORT = """
import os, signal, sys
signal.signal(2, signal.default_int_handler)

class Interrupting:
    count = 0

    def find_spec(self, name, path=None, target=None):
        Interrupting.count += 1
        if Interrupting.count == {number}:
            os.kill(os.getpid(), signal.SIGINT)

import harpia_formats.cli
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(each, marks=[] if each in {1, 20, 150} else pytest.mark.long)
        for each in (1, 2, 3, 5, 8, 20, 50, 100, 150)
    ],
)
def test_interrupt_at_start_up_is_quiet(data: Path, number: int) -> None:
    """An interrupt while any module is imported ends the run with 130, without a word.

    `number` counts the modules behind the first one of the command line.
    """
    script = INTERRUPTED_IMPORT.format(number=number)
    arguments = ("validate", data / "many.jsonl")
    process = started(
        script, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        output, message = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, output, message) == (130, b"", b"")


def test_the_first_import_is_small() -> None:
    """Before interrupts are handled, no module outside of the package is imported."""
    script = (
        "import sys; before = set(sys.modules); import harpia_formats.cli; "
        "print(*sorted(sys.modules.keys() - before))"
    )
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", script], capture_output=True, check=True
    )

    assert done.stdout.decode().split() == [
        "harpia_formats",
        "harpia_formats._version",
        "harpia_formats.cli",
    ]
