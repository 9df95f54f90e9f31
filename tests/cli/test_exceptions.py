"""How commands end: signals, closed streams, exceptions."""

import errno
import json
import os
import select
import shlex
import signal
import subprocess
import sys
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
)
from harpia_formats.cli.exceptions import exceptions_to_exit_codes


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
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
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
        process.stdin.write(b'{"a":"x"}\n' * 60_000)
        process.stdin.flush()
        assert select.select([process.stdout], [], [], TIMEOUT)[0]
        assert process.stdout.readline().startswith(b"<stdin>:1:6: S102")
        process.send_signal(number)
        _, message = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, message) == (code, b"")


def test_reader_that_leaves_ends_the_run_quietly(data: Path) -> None:
    """If the reader closes the pipe, the run ends with 141 and no message."""
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 20_000)
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
    (data / "many.jsonl").write_bytes(b'{"a":"x"}\n' * 20_000)
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
    assert (
        json.loads((data / "report.json").read_bytes())["summary"]["errors"] == 20_000
    )


def test_rows_for_nobody_end_the_run(data: Path) -> None:
    """A conversion whose rows nobody reads ends with 141, and writes no report."""
    (data / "many.jsonl").write_bytes(b'{"prompt":"p","outputs":[]}\n' * 100_000)
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
    assert error_lines(result) == ["error: cannot write the output: File too large"]


COMMANDS = pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["validate", "--help"],
        ["rule", "C201"],
        ["validate", "rows.jsonl", "--schema", "schema.json"],
        ["validate", "rows.jsonl", "--output-format", "json"],
    ],
    ids=joined,
)


@COMMANDS
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


@COMMANDS
@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-"])
def test_output_that_cannot_be_written_is_one_line(
    data: Path, redirection: str, arguments: list[str]
) -> None:
    """A full disk or a closed output ends with 2 and one line that says so."""
    result = run_redirected(redirection, *arguments, cwd=data)

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
def test_each_exception_has_an_exit_code(
    error: Exception, code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each exception becomes an exit code and a message on standard error."""
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, exceptions_to_exit_codes():
        raise error

    assert ended.value.code == code
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


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 20, 50, 100, 150])
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
        "__future__",
        "harpia_formats",
        "harpia_formats._version",
        "harpia_formats.cli",
    ]
