"""Files that say how to work are read whole, and are never devices."""

import os
import threading
from pathlib import Path

import pytest

import command_runs
from harpia_formats.files.io.reader import read_side_input

DEVICE = Path("/dev/zero")
needs_device = pytest.mark.skipif(not DEVICE.exists(), reason="needs /dev/zero")


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    """The bytes of a file of the largest size are returned."""
    (tmp_path / "x").write_bytes(b"12345")

    assert read_side_input(tmp_path / "x", 5) == b"12345"


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    """A file with one byte more than allowed is not read further."""
    (tmp_path / "x").write_bytes(b"123456")
    with pytest.raises(OSError, match="more than 5 bytes"):
        read_side_input(tmp_path / "x", 5)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read(tmp_path: Path) -> None:
    """A named pipe, as a shell makes for `<(...)`, is read to its end."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"{}"))
    writer.start()
    data = read_side_input(tmp_path / "pipe")
    writer.join()

    assert data == b"{}"


@needs_device
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "--schema"],
        ["validate", "--with"],
        ["score", "--profile", "nemo", "--config"],
        ["judge", "--definition"],
    ],
    ids=" ".join,
)
def test_no_option_reads_a_device(tmp_path: Path, arguments: list[str]) -> None:
    """An option that names a device ends the run with 2 and the reason."""
    (tmp_path / "in.jsonl").write_bytes(b"{}\n")
    done = command_runs.run(*arguments, DEVICE, "in.jsonl", cwd=tmp_path, timeout=60)

    assert done.returncode == 2
    assert b"is a character device" in done.stderr
