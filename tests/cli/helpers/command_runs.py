"""Run `harpia-formats` in a process of its own, and read what it wrote."""

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import command_server

COMMAND = [sys.executable, "-m", "harpia_formats"]
#: Seconds after which a run counts as hanging: no test here takes nearly as long.
TIMEOUT = 30
#: Variables of the environment that change the form of the output.
OUTPUT_VARIABLES = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}

#: A process that has ended: its exit code, standard output and standard error.
Result = subprocess.CompletedProcess[bytes]


def run(
    *arguments: object,
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
) -> Result:
    """Return the result of `harpia-formats` with these arguments.

    `environment` is added to that of `environment_with`. Raises
    subprocess.TimeoutExpired if the process takes longer than `timeout` seconds.
    """
    words, variables = [*map(str, arguments)], environment_with(environment or {})
    if command_server.can_start(variables):
        folder = Path.cwd() if cwd is None else cwd
        return command_server.completed(words, folder, variables, stdin, timeout)
    return subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *words],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=variables,
        timeout=timeout,
        check=False,
    )


def run_in_shell(line: str, cwd: Path) -> Result:
    """Return the result of a line of a shell that calls `harpia-formats`."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "harpia-formats")
        if command_server.can_prepare():
            command_server.write_program(program)
        else:
            program.symlink_to(Path(sys.executable).with_name("harpia-formats"))
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(  # noqa: S602 - the commands are ours
            line,
            shell=True,
            cwd=cwd,
            env=environment_with({"PATH": path}),
            capture_output=True,
            check=False,
        )


def environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """Return these variables and those of this process except OUTPUT_VARIABLES."""
    own = {
        name: value
        for name, value in os.environ.items()
        if name not in OUTPUT_VARIABLES
    }
    return own | {"TERM": "xterm-256color", **variables}


def report_of(*arguments: object, **options: Any) -> dict[str, Any]:
    """Return the JSON report of `validate`; the options are those of `run`."""
    result = run("validate", *arguments, "--output-format", "json", **options)
    return dict(json.loads(result.stdout))


def codes(result: Result) -> list[str]:
    """Return the codes of the problems in a concise report, in its order."""
    lines = result.stdout.decode().splitlines()
    texts = [line.split(": ", 1)[1].split() for line in lines]
    return [words[words[0] in {"warning", "note"}] for words in texts]


def error_lines(result: Result) -> list[str]:
    """Return the lines of standard error that begin with `error: `.

    Raises AssertionError if standard error has a traceback.
    """
    lines = result.stderr.decode().splitlines()
    assert not any("Traceback" in line for line in lines), lines
    return [line for line in lines if line.startswith("error: ")]


def joined(value: object) -> str | None:
    """Return the id of a test case that is a list of words: the words as one text."""
    return " ".join(value) if isinstance(value, list) else None


def on_terminal(
    script: str, *arguments: object, cwd: Path, output: int | None, **more: str
) -> tuple[int, str, bytes]:
    """Run with standard error, and output unless given, on a pseudo-terminal.

    Return the exit code, the text on the terminal, and the bytes on standard output.
    """
    terminal, end = pty.openpty()
    reading, writing = (None, end) if output is None else os.pipe()
    variables = environment_with({"COLUMNS": "80", "LINES": "24"} | more)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as before:
        before.write(script)
        before.flush()
        variables[command_server.BEFORE] = before.name
        process = begun(arguments, cwd, variables, [None, writing, end])
        for each in {writing, end}:
            os.close(each)
        shown = read_all(terminal)
        os.close(terminal)
        other_output = b""
        if reading is not None:
            with os.fdopen(reading, "rb") as stream:
                other_output = stream.read()
        return process.wait(TIMEOUT), shown.decode(), other_output


def begun(
    arguments: Iterable[object],
    cwd: Path,
    variables: Mapping[str, str],
    streams: list[int | None],
) -> command_server.Started | subprocess.Popen[bytes]:
    """Start `harpia-formats` with these three files, None for /dev/null, as streams."""
    words = [*map(str, arguments)]
    with Path(os.devnull).open("r+b") as nothing:
        files = [nothing.fileno() if each is None else each for each in streams]
        if command_server.can_start(variables):
            return command_server.start(words, str(cwd), variables, files)
        return subprocess.Popen(  # noqa: S603 - the command is ours
            [sys.executable, "-c", command_server.ALONE, *words],
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            cwd=cwd,
            env=variables,
        )


def read_all(terminal: int) -> bytes:
    """Return what is written to a terminal until every writer has closed it."""
    pieces, end = [], time.monotonic() + TIMEOUT
    with contextlib.suppress(OSError):  # Linux says so where others say the end
        while select.select([terminal], [], [], end - time.monotonic())[0]:
            pieces.append(os.read(terminal, 65_536))
            if not pieces[-1]:
                break
    return b"".join(pieces)
