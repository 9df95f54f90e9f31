"""Row 40: loops of links, FIFOs, devices and sockets where a file is expected."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from command_runs import COMMAND, environment_with, error_lines, run
from faults import Injections

pytestmark = pytest.mark.skipif(
    not hasattr(os, "mkfifo"), reason="the system has no named pipes"
)

ROW = b'{"id":"1","prompt":"q","references":["no"],"outputs":[{"text":"no"}]}\n'
#: Every command that reads data, with INPUT for the file.
READERS = (
    "validate INPUT",
    "validate --fix INPUT",
    "detect INPUT",
    "stats INPUT",
    "score -m em INPUT",
    "score compare a.jsonl INPUT -m em",
    "convert INPUT --to nemo -o out.jsonl",
    "roundtrip INPUT --via nemo",
    "diff a.jsonl INPUT",
    "head INPUT",
    "sample INPUT -n 1",
    "split INPUT --ratio a=0.5,b=0.5 -o out-{value}.jsonl",
    "merge INPUT -o out.jsonl",
    "schema infer INPUT",
    "schema check INPUT",
    "preflight INPUT",
    "view INPUT",
    "judge INPUT -d INPUT --dry-run",
)
#: Other files than those of data, that options name.
OPTIONS = (
    "validate a.jsonl --schema INPUT",
    "validate a.jsonl --config INPUT",
    "validate a.jsonl --baseline INPUT",
    "score --plan INPUT",
    "convert a.jsonl --to csv --map INPUT",
)
#: Names in the folder, or devices, and what each one is called.
DEVICES = {
    "/dev/zero": "a device without end",
    "/dev/tty": "the terminal",
}
FILES = {
    "socket.jsonl": "a socket",
    "self.jsonl": "a link to itself",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a data file and with everything that is none."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(ROW)
    os.mkfifo("fifo.jsonl")
    for link, target in (
        ("zero.jsonl", "/dev/zero"),
        ("self.jsonl", "self.jsonl"),
        ("one.jsonl", "two.jsonl"),
        ("two.jsonl", "one.jsonl"),
        ("again.jsonl", "a.jsonl"),
    ):
        Path(link).symlink_to(target)
    Path("loop").symlink_to(".")
    Path("deep").mkdir()
    Path("deep", "up").symlink_to("..")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.jsonl")
        yield tmp_path


def _words(command: str, place: str) -> list[str]:
    return command.replace("INPUT", place).split()


@pytest.mark.parametrize("command", READERS + OPTIONS)
def test_40_what_is_no_file_is_refused(
    command: str, folder: Path, fault: Injections
) -> None:
    """Devices, sockets and loops of links are refused, with exit code 2 and a reason.

    Where an option names one, too; the run ends, and nothing is written.
    """
    before = sorted(folder.rglob("*"))
    for place, name in (DEVICES | FILES).items():
        if place.startswith("/dev/") and not os.access(place, os.F_OK):
            continue
        found = run(*_words(command, place), cwd=folder, timeout=20)

        assert found.returncode == 2, (place, found.stderr)
        assert Path(place).name in error_lines(found)[0], found.stderr
        assert sorted(folder.rglob("*")) == before
        fault.add(f"{name} as input", "exit code 2 with the reason")


@pytest.mark.parametrize("command", ["validate", "detect", "stats", "score -m em"])
def test_40_a_folder_with_all_of_them_is_read_once(
    command: str, folder: Path, fault: Injections
) -> None:
    """In a folder the only file is read once, and what is none is passed over."""
    found = run(*command.split(), ".", cwd=folder, timeout=20)
    alone = run(*command.split(), "a.jsonl", cwd=folder, timeout=20)

    assert (found.returncode, found.stdout) == (alone.returncode, alone.stdout)
    assert found.returncode == 0, found.stderr
    fault.add(
        "a folder with loops of links, a FIFO, a socket and a device",
        "its only file is read, once",
    )


@pytest.mark.parametrize("command", READERS[:13])
def test_40_a_fifo_that_is_named_is_read_as_a_pipe(
    command: str, folder: Path, fault: Injections
) -> None:
    """A FIFO gives what its writer writes, once; the run ends."""
    writer = subprocess.Popen(  # noqa: S603 - a line of ours
        [sys.executable, "-c", f"open('fifo.jsonl', 'wb').write({ROW!r})"], cwd=folder
    )
    try:
        found = run(*_words(command, "fifo.jsonl"), cwd=folder, timeout=20)
    finally:
        writer.kill()
        writer.wait()
    alone = run(*_words(command, "a.jsonl"), "--overwrite", cwd=folder, timeout=20)

    errors = error_lines(found)
    if found.returncode == 2:
        assert errors
        fault.add("a FIFO, by its name", "exit code 2 with the reason")
    else:
        assert not errors
        assert alone.returncode in {found.returncode, 2}
        fault.add("a FIFO, by its name", "read as a pipe")


def test_40_a_fifo_without_a_writer_can_be_left(
    folder: Path, fault: Injections
) -> None:
    """A run that waits for the writer of a FIFO ends with the code of its signal."""
    codes = {signal.SIGINT: 130, signal.SIGTERM: 143}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        del codes[signal.SIGINT]  # in the background, commands are not interrupted
    for number, code in codes.items():
        with subprocess.Popen(  # noqa: S603 - the command is ours
            [*COMMAND, "validate", "fifo.jsonl"],
            cwd=folder,
            env=environment_with({}),
            stderr=subprocess.PIPE,
        ) as process:
            try:
                _wait_until_it_opens(process.pid)
                process.send_signal(number)
                _, errors = process.communicate(timeout=20)
            finally:
                process.kill()

        assert cast("int", process.returncode) in {code, -number}
        assert b"Traceback" not in errors
        fault.add(f"{number.name} while a FIFO has no writer", f"exit code {code}")


def _wait_until_it_opens(pid: int) -> None:
    """Wait until a process sleeps where a FIFO is opened."""
    place = Path(f"/proc/{pid}/wchan")
    for _ in range(200):
        try:
            if "fifo" in place.read_text() or "wait_for_partner" in place.read_text():
                return
        except OSError:
            break
        time.sleep(0.05)
