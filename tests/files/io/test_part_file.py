"""Temporary files of processes that were killed are removed, and no others."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from written_outputs import bytes_of_output, write_output

fcntl = pytest.importorskip("fcntl", reason="other systems have no flock")
#: Writes to a file, and waits to be killed before it is complete, or in place.
PROGRAM = """
import sys, time
from pathlib import Path
from written_outputs import write_output

def wait(*_):
    print("ready", flush=True)
    time.sleep(100)

if sys.argv[2] == "finish":
    Path.replace = wait
write_output(sys.argv[1], wait if sys.argv[2] == "write" else None)
"""
HELPERS = Path(__file__).parents[2] / "helpers"
COMPLETE = ".harpia-0123456789ab.complete"


def started(place: Path, step: str) -> "subprocess.Popen[bytes]":
    """Return a process that has written to `place`, finished or not."""
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", PROGRAM, str(place), step],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(HELPERS)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def killed(place: Path, step: str) -> None:
    """Have a process write to `place`, and kill it."""
    with started(place, step) as process:
        process.send_signal(signal.SIGKILL)


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in their order."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["out.json", "z" * 250])
@pytest.mark.parametrize(("step", "notes"), [("write", 0), ("finish", 1)])
def test_the_next_run_removes_what_a_killed_one_left(
    tmp_path: Path, name: str, step: str, notes: int
) -> None:
    """A killed process leaves one file, which the next run with the place removes.

    If the file was complete, a note says so: other outputs may be in place.
    """
    killed(tmp_path / name, step)
    left = [path.suffix for path in tmp_path.iterdir()]
    report = write_output(tmp_path / name, overwrite=False)

    assert left == [".complete" if step == "finish" else ".part"]
    assert names_in(tmp_path) == [name]
    assert len(report.notes) == notes
    assert all("was killed" in note for note in report.notes)


@pytest.mark.parametrize("step", ["write", "finish"])
def test_the_file_of_a_process_that_lives_is_kept(tmp_path: Path, step: str) -> None:
    """A temporary file is not removed while its process lives, finished or not."""
    with started(tmp_path / "out.json", step) as process:
        before = names_in(tmp_path)
        notes = write_output(tmp_path / "out.json").notes
        after = names_in(tmp_path)
        process.kill()

    assert len(before) == 1
    assert (notes, after) == ((), [*before, "out.json"])


def test_files_of_others_are_kept(tmp_path: Path) -> None:
    """Only temporary files of the same place are removed."""
    killed(tmp_path / "other.json", "write")
    names = [".out.json.part", "out.json.part", ".out.json.harpia-", ".out.json.tmp"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    before = names_in(tmp_path)
    write_output(tmp_path / "out.json")

    assert names_in(tmp_path) == sorted([*before, "out.json"])
    assert len(before) == len(names) + 1


def test_a_second_name_of_a_temporary_file_is_no_news(tmp_path: Path) -> None:
    """A process killed after its file got the final name gives no note, others do."""
    for name in ("x", "y"):
        (tmp_path / f".{name}{COMPLETE}").write_bytes(b"1")
    (tmp_path / "x").hardlink_to(tmp_path / f".x{COMPLETE}")

    assert write_output(tmp_path / "x").notes == ()
    (note,) = write_output(tmp_path / "y").notes
    assert note.startswith(f"{tmp_path / 'y'}: an earlier run was killed after")
    assert names_in(tmp_path) == ["x", "y"]


def test_a_link_with_a_temporary_name_is_left(tmp_path: Path) -> None:
    """What another one has put there as a link is neither followed nor removed."""
    (tmp_path / "target").write_bytes(b"1")
    link = tmp_path / f".x{COMPLETE}"
    link.symlink_to("target")

    assert write_output(tmp_path / "x").notes == ()
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"1"


def test_nothing_is_abandoned_in_a_folder_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be listed has nothing that could be removed."""

    def refused(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "scandir", refused)

    assert write_output(tmp_path / "x").notes == ()


def test_a_temporary_name_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that has the random name already is left, and another name is taken."""
    taken = tmp_path / ".x.harpia-313131313131.part"
    random, usual = [b"111111", b"222222"], os.urandom
    monkeypatch.setattr(
        os, "urandom", lambda size: random.pop(0) if size == 6 else usual(size)
    )
    names: list[str] = []
    with taken.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_output(tmp_path / "x", lambda: names.extend(names_in(tmp_path)))

    assert names == [taken.name, ".x.harpia-323232323232.part"]
    assert names_in(tmp_path) == [taken.name, "x"]
    assert (tmp_path / "x").read_bytes().startswith(bytes_of_output())
