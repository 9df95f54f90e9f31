"""Temporary folders, which are removed even if their process dies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harpia_formats.conversion.parallel.converted_rows import claim_file, release_file
from harpia_formats.files.io.file_sink import LOCK, PREFIX, temporary_folder

pytest.importorskip(
    "fcntl", reason="without file locks dead processes cannot be detected"
)
#: Makes a folder, says so, and waits to be killed.
HOLDER = """
import sys, time
from harpia_formats.files.io.file_sink import temporary_folder

with temporary_folder(sys.argv[1]) as folder:
    open(folder + "/rows", "w").write("x" * 1000)
    print(folder, flush=True)
    time.sleep(60)
"""


def holding(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Return a process that holds a folder, and the folder."""
    command = [sys.executable, "-c", HOLDER, str(parent)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - the command is ours
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_gone_at_the_end(tmp_path: Path) -> None:
    """A folder exists while it is used, and is then removed with its files."""
    with temporary_folder(str(tmp_path)) as folder:
        Path(folder, "rows").write_bytes(b"x")
        assert list(tmp_path.iterdir()) == [Path(folder)]
        # Only its owner may read what shows that it is used.
        assert Path(folder, LOCK).stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    """A folder left by a killed process is removed when another process begins."""
    process, left = holding(tmp_path)
    with process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (left / "rows").exists()

    with temporary_folder(str(tmp_path)) as folder:
        assert list(tmp_path.iterdir()) == [Path(folder)]


def test_the_folder_of_a_living_process_stays(tmp_path: Path) -> None:
    """A folder that another process uses is not removed."""
    process, used = holding(tmp_path)
    with process:
        with temporary_folder(str(tmp_path)):
            assert (used / "rows").exists()
        assert (used / "rows").exists()
        process.kill()


def test_unknown_folders_are_not_deleted(tmp_path: Path) -> None:
    """A folder without a lock, and a file with our prefix, are not deleted."""
    (tmp_path / f"{PREFIX}x").mkdir()
    (tmp_path / f"{PREFIX}x" / f"{LOCK}.new").write_bytes(b"")
    (tmp_path / f"{PREFIX}y").write_bytes(b"")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / LOCK).write_bytes(b"")
    with temporary_folder(str(tmp_path)):
        pass

    names = {each.name for each in tmp_path.iterdir()}
    assert names == {f"{PREFIX}x", f"{PREFIX}y", "other"}


def test_a_folder_in_the_default_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a place a temporary folder is where the system has such folders."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_folder(None) as folder:
        assert Path(folder).parent == tmp_path


def test_an_abandoned_folder_is_removed_as_far_as_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be removed keeps no other one."""
    left = tmp_path / f"{PREFIX}x"
    left.mkdir()
    for name in ("lock", "stuck", *map(str, range(20))):
        (left / name).write_bytes(b"")
    usual = os.unlink

    def unlink(path: str, **options: int) -> None:
        if path == "stuck":
            raise PermissionError
        usual(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        with temporary_folder(str(tmp_path)):
            pass

    assert [path.name for path in left.iterdir()] == ["stuck"]


def test_a_folder_on_a_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other process can tell that the folder is used, so none is informed of it."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with temporary_folder(str(tmp_path)) as folder:
        names = [path.name for path in Path(folder).iterdir()]

    assert names == ["lock.new"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists open files")
def test_no_lock_stays_open(tmp_path: Path) -> None:
    """The files of a folder are closed when it is gone."""

    def count() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the number only

    before = count()
    with temporary_folder(str(tmp_path)), temporary_folder(str(tmp_path)):
        pass

    assert count() == before


def test_a_file_for_rows_is_used_again_by_one_alone(tmp_path: Path) -> None:
    """A file that was given back is claimed by one process only."""
    first = claim_file(str(tmp_path))
    assert first is not None
    first.write_bytes(b"rows")
    release_file(first)
    second, third = claim_file(str(tmp_path)), claim_file(str(tmp_path))

    assert second is not None
    assert third is not None
    assert [each.exists() for each in (first, second, third)] == [False, True, False]
    assert second.read_bytes() == b"rows"
