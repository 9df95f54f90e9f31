"""Temporary files of processes that were killed are removed, and no others."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harpia_formats.files.io.file_sink import (
    COMPLETE,
    PARTIAL,
    FileSink,
    remove_abandoned,
)

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="other systems have no flock"
)

#: Writes to a file, does `STEP`, and waits to be killed.
PROGRAM = """
import sys, time
from pathlib import Path
from harpia_formats.files.io.file_sink import FileSink
sink = FileSink(Path(sys.argv[1]), overwrite=True)
sink.write(b"theirs")
if sys.argv[2] == "finish":
    sink.finish()
print("ready", flush=True)
time.sleep(100)
"""


def started(place: Path, step: str) -> "subprocess.Popen[bytes]":
    """Return a process that has written to `place`, finished or not."""
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", PROGRAM, str(place), step], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def killed(place: Path, step: str) -> None:
    """Have a process write to `place`, and kill it."""
    with started(place, step) as process:
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("name", ["out.json", "z" * 250])
@pytest.mark.parametrize(("step", "notes"), [("write", 0), ("finish", 1)])
def test_the_next_run_removes_what_a_killed_one_left(
    tmp_path: Path, name: str, step: str, notes: int
) -> None:
    """A killed process leaves one file, which the next sink of the place removes.

    If the file was complete, a note says so: other outputs may be in place.
    """
    killed(tmp_path / name, step)
    left = [path.suffix for path in tmp_path.iterdir()]
    sink = FileSink(tmp_path / name, overwrite=False)
    sink.commit()

    assert left == [COMPLETE if step == "finish" else PARTIAL]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len(sink.notes) == notes
    assert all("was killed" in note for note in sink.notes)


@pytest.mark.parametrize("step", ["write", "finish"])
def test_the_file_of_a_process_that_lives_is_kept(tmp_path: Path, step: str) -> None:
    """A temporary file is not removed while its process lives, finished or not."""
    with started(tmp_path / "out.json", step) as process:
        before = sorted(tmp_path.iterdir())
        notes = remove_abandoned(tmp_path / "out.json")
        after = sorted(tmp_path.iterdir())
        process.kill()

    assert (notes, after) == ([], before)
    assert len(before) == 1


def test_files_of_others_are_kept(tmp_path: Path) -> None:
    """Only temporary files of the same place are removed."""
    killed(tmp_path / "other.json", "write")
    names = [".out.json.part", "out.json.part", ".out.json.harpia-", ".out.json.tmp"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    before = sorted(tmp_path.iterdir())
    FileSink(tmp_path / "out.json", overwrite=True).discard()

    assert sorted(tmp_path.iterdir()) == before
    assert len(before) == len(names) + 1


def test_a_file_that_is_in_place_is_no_news(tmp_path: Path) -> None:
    """A process killed after its file got the final name gives no note."""
    killed(tmp_path / "out.json", "finish")
    part = next(tmp_path.iterdir())
    (tmp_path / "out.json").hardlink_to(part)
    notes = remove_abandoned(tmp_path / "out.json")

    assert notes == []
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
