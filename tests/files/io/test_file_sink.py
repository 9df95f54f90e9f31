"""Output files, which are complete or absent."""

import bz2
import contextlib
import errno
import gzip
import io
import json
import lzma
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cases import for_each_case
from harpia_formats import Record, SinkError, write
from in_process import InProcess
from written_outputs import MANY, bytes_of_output, write_output

ONE = bytes_of_output()


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in their order."""
    return sorted(path.name for path in folder.iterdir())


class StoppedError(Exception):
    """What ends a run before its output is complete."""


def stop() -> None:
    """Fail."""
    raise StoppedError


@for_each_case(
    "name, unpack",
    [
        ("out.jsonl", bytes),
        ("out.jsonl.gz", gzip.decompress),
        ("out.jsonl.bz2", bz2.decompress),
        ("out.JSONL.XZ", lzma.decompress),
    ],
)
def test_a_file_is_there_once_it_is_whole(
    tmp_path: Path, name: str, unpack: Callable[[bytes], bytes]
) -> None:
    """The final name appears at the end, and only its owner may read it before.

    Its temporary name is next to it, and gone then.
    """
    before: list[tuple[str, int]] = []

    def look() -> None:
        before.extend(
            (each.name, each.stat().st_mode & 0o777) for each in tmp_path.iterdir()
        )

    write_output(tmp_path / name, look)
    ((part, mode),) = before

    assert part.startswith(f".{name}.harpia-")
    assert (part.endswith(".part"), mode) == (True, 0o600)
    assert names_in(tmp_path) == [name]
    assert unpack((tmp_path / name).read_bytes()) == bytes_of_output(MANY)


@for_each_case("name", ["o.jsonl", "o.jsonl.gz", "o.jsonl.xz", "o.jsonl.bz2"])
def test_a_run_that_fails_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    """A run that fails leaves the file that was there before, and no other."""
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(StoppedError):
        write_output(tmp_path / name, stop)

    assert names_in(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.fixture(name="given")
def given_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the ranges of files of which the disk is informed from now on."""
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(
        os,
        "posix_fadvise",
        lambda _number, begin, size, _advice: found.append((begin, size)),
        raising=False,
    )
    return found


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_large_file_is_given_to_the_disk_while_it_is_written(
    tmp_path: Path, name: str, given: list[tuple[int, int]]
) -> None:
    """Each byte is given to the disk once before the end, 8 MiB of data at a time."""
    prompts = [os.urandom(500_000).hex() for _ in range(20)]
    records = (Record(id=1, prompt=prompt) for prompt in prompts)
    write(records, to="record", output=tmp_path / name)
    written = (tmp_path / name).read_bytes()
    whole = gzip.decompress(written) if name.endswith(".gz") else written

    assert [json.loads(row)["prompt"] for row in whole.splitlines()] == prompts
    ends = [0, *(begin + size for begin, size in given)]
    assert [begin for begin, _ in given] == ends[:-1]
    assert sys.platform != "linux" or len(given) == 2
    assert ends[-1] <= len(written)
    if name == "out.jsonl" and given:
        assert min(size for _, size in given) >= 8 * 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise is Linux only")
def test_a_disk_that_takes_nothing_early_gets_it_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that refuses to write early loses nothing."""
    asked: list[object] = []

    def refused(*given: object) -> None:
        asked.append(given)
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "posix_fadvise", refused)
    write_output(tmp_path / "out.jsonl", prompt="q" * 9_000_000)

    assert len(asked) == 1
    assert len((tmp_path / "out.jsonl").read_bytes()) > 9_000_000


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """A new file is as readable as any other new one, not as a temporary one.

    The mask that says so is as before.
    """
    before = os.umask(0o027)
    try:
        write_output(tmp_path / "x")
        after = os.umask(0o027)
    finally:
        os.umask(before)

    assert after == 0o027
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_compressed_bytes_have_no_time_and_no_name(tmp_path: Path) -> None:
    """A compressed file depends on nothing but what was written."""
    for name in ("a.jsonl.gz", "b.JSONL.GZ"):
        write_output(tmp_path / name)
    first = (tmp_path / "a.jsonl.gz").read_bytes()

    assert gzip.decompress(first) == ONE
    assert first[4:8] == bytes(4)
    assert (tmp_path / "b.JSONL.GZ").read_bytes() == first


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX only")
def test_what_is_no_file_is_written_and_not_replaced(
    tmp_path: Path, given: list[tuple[int, int]]
) -> None:
    """What is no file gets the bytes and stays what it is, and no disk is informed."""
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_output(path, prompt="q" * 9_000_000)
    reader.join()
    reader = threading.Thread(target=path.read_bytes)
    reader.start()
    with pytest.raises(StoppedError):
        write_output(path, stop)
    reader.join()

    assert path.is_fifo()
    assert len(read[0]) > 9_000_000
    assert given == []


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_pipe_without_a_name_is_written() -> None:
    """What a shell gives for `>(command)`, and `/dev/stdout` before a pipe, work."""
    given, end = os.pipe()
    write_output(f"/dev/fd/{end}", overwrite=False)
    os.close(end)

    with open(given, "rb") as pipe:  # noqa: PTH123 - a descriptor
        assert pipe.read() == ONE


def test_a_disk_that_is_full_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while the file is finished is reported, and nothing is left."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SinkError, match="no space left on device"):
        write_output(tmp_path / "out.json")

    assert names_in(tmp_path) == []


def test_what_cannot_be_closed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that fails leaves nothing on a disk on which its file cannot be closed."""

    class Full(io.FileIO):
        def close(self) -> None:
            if not self.closed:
                super().close()
                raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdopen", Full)
    with pytest.raises(StoppedError):
        write_output(tmp_path / "x", stop)

    assert names_in(tmp_path) == []


@for_each_case(
    "name, is_array",
    [("a.json", True), ("a.JSON.gz", True), ("a.jsonl.gz", False), ("a.xz", False)],
)
def test_the_suffix_is_that_below_compression(
    tmp_path: Path, name: str, is_array: bool
) -> None:
    """The form of an output is that of its name without the compression."""
    write_output(tmp_path / name)
    unpack = lzma.decompress if name.endswith("xz") else gzip.decompress
    data = (tmp_path / name).read_bytes()

    assert (unpack(data) if name != "a.json" else data).startswith(b"[") == is_array


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_came_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    """Without `overwrite`, the last step replaces no file, and leaves no other.

    That is so where a file cannot have two names, too.
    """

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", refused)
    write_output(tmp_path / "new", overwrite=False)
    old = tmp_path / "old"
    with pytest.raises(SinkError, match="has appeared meanwhile"):
        write_output(old, lambda: old.write_bytes(b"theirs"), overwrite=False)

    assert names_in(tmp_path) == ["new", "old"]
    assert old.read_bytes() == b"theirs"
    assert (tmp_path / "new").read_bytes() == ONE


def test_a_link_that_leads_to_itself_is_not_replaced(tmp_path: Path) -> None:
    """An output that is a loop of links is refused, and the links are kept."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(SinkError, match="symbolic links"):
        write_output(tmp_path / "a")

    assert (tmp_path / "a").readlink() == Path("b")
    assert names_in(tmp_path) == ["a", "b"]


def parts_of(place: Path) -> list[str]:
    """Write an output, and return the names in its folder before it is complete."""
    found: list[str] = []
    write_output(place, lambda: found.extend(names_in(place.parent)))
    return found


@for_each_case("size", [200, 225, 226, 240, 255])
def test_a_name_of_any_length_that_the_system_allows(tmp_path: Path, size: int) -> None:
    """The temporary name of a file is never longer than names may be.

    The name is in it as long as that of the complete file has at most 255 bytes.
    """
    for name in ("x" * size, "\u00e9" * (size // 2)):
        parts = parts_of(tmp_path / name)
        kept = size if size <= 225 else 225 - len("-0123456789abcdef")

        assert names_in(tmp_path) == [name]
        assert parts[0].encode().startswith(f".{name}".encode()[: kept // 2 * 2])
        assert name[0] != "x" or parts[0][kept + 1] == "-."[size <= 225]
        assert len(parts[0].encode()) <= 255 - len(".complete") + len(".part")
        (tmp_path / name).unlink()


def test_a_name_that_is_too_long_is_an_error(tmp_path: Path, run: InProcess) -> None:
    """A name that the system refuses is an error of the output."""
    (tmp_path / "in.jsonl").write_bytes(ONE)
    place = tmp_path / ("x" * 256)
    found = run("convert", tmp_path / "in.jsonl", "--to", "record", "-o", place)

    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: cannot write ")
    assert "file name too long" in found.err


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
@pytest.mark.parametrize("number", [0, errno.EIO, errno.EINVAL])
def test_the_name_is_written_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The folder is synced after the file has its final name.

    That this fails is an error, and the file is in place then; a system that cannot
    sync folders is no error.
    """
    synced: list[bool] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        if Path(f"/dev/fd/{descriptor}").resolve() == tmp_path.resolve():
            synced.append((tmp_path / "out").exists())
            if number:
                raise OSError(number, "failed")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    failing = pytest.raises(SinkError, match=r"out: written, but .*: failed")
    with failing if number == errno.EIO else contextlib.nullcontext():
        write_output(tmp_path / "out")

    assert synced == [True]
    assert names_in(tmp_path) == ["out"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may do this"
)
@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_file_that_is_replaced_keeps_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_allowed: bool
) -> None:
    """It keeps its mode always, its owner and group if the process may set them."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.chown(path, 65534, 65533)
    usual, asked = os.chown, []

    def noted(part: Path, user: int, group: int) -> None:
        asked.append((user, group))
        if not is_allowed:
            raise PermissionError
        usual(part, user, group)

    monkeypatch.setattr(os, "chown", noted)
    write_output(path)

    assert asked == [(-1, 65533), (65534, -1)]

    state = path.stat()
    expected = (65534, 65533) if is_allowed else (os.geteuid(), os.getegid())
    assert (path.read_bytes(), state.st_mode & 0o777) == (ONE, 0o640)
    assert (state.st_uid, state.st_gid) == expected


def test_a_file_on_a_system_without_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an open file cannot be renamed, it is closed first, and has no owner."""
    asked: list[object] = []
    sync, rename = os.fsync, Path.rename

    def as_elsewhere(descriptor: int) -> None:
        sync(descriptor)
        for name in ("dup", "chown"):
            monkeypatch.setattr(os, name, lambda *given: asked.append(given))
        monkeypatch.setattr(os, "name", "nt")

    def as_here(part: Path, target: Path) -> Path:
        monkeypatch.undo()
        return rename(part, target)

    monkeypatch.setattr(os, "fsync", as_elsewhere)
    monkeypatch.setattr(Path, "rename", as_here)
    write_output(tmp_path / "x")

    assert asked == []
    assert (tmp_path / "x").read_bytes() == ONE


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists open files")
def test_no_file_stays_open(tmp_path: Path) -> None:
    """Whatever becomes of an output, its files are closed."""

    def is_open(number: Path) -> bool:
        try:
            return os.readlink(number).startswith(str(tmp_path))  # noqa: PTH115 - of a file that is deleted, too
        except FileNotFoundError:  # the folder of the numbers itself
            return False

    for name in ("x", "y", "z.gz"):
        write_output(tmp_path / name)
        with pytest.raises(StoppedError):
            write_output(tmp_path / name, stop)
    with (tmp_path / "x").open():
        assert sum(map(is_open, Path("/proc/self/fd").iterdir())) == 1

    assert not any(map(is_open, Path("/proc/self/fd").iterdir()))


@pytest.fixture(name="locks")
def calls_of_locks(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[list[Callable[[], None]]]:
    """Return what is called, one after the other, before a file is locked."""
    fcntl = pytest.importorskip("fcntl", reason="other systems have no flock")
    acts: list[Callable[[], None]] = []
    usual = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        if acts:
            acts.pop(0)()
        usual(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    yield acts
    assert acts == []


def interrupt() -> None:
    """Act as Ctrl+C."""
    raise KeyboardInterrupt


def test_a_temporary_file_that_another_one_removed(
    tmp_path: Path, locks: list[Callable[[], None]]
) -> None:
    """It is made again."""
    locks.append(lambda: next(tmp_path.iterdir()).unlink())
    write_output(tmp_path / "x")

    assert (tmp_path / "x").read_bytes() == ONE
    assert names_in(tmp_path) == ["x"]


def test_an_interrupt_while_a_temporary_file_is_locked(
    tmp_path: Path, locks: list[Callable[[], None]]
) -> None:
    """A file that was made is removed if an interrupt comes before it is used."""
    for _ in range(2):
        locks.append(interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_output(tmp_path / "x")
        assert names_in(tmp_path) == []


def test_an_interrupt_between_a_new_name_and_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complete file is removed even if the run does not know yet that it is."""
    usual = Path.rename

    def interrupted(part: Path, target: Path) -> Path:
        usual(part, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_output(tmp_path / "x")

    assert names_in(tmp_path) == []


def test_a_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no file can be locked, files are written, and those of others stay."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    (tmp_path / ".x.harpia-0123456789ab.complete").write_bytes(b"1")
    write_output(tmp_path / "x")

    assert names_in(tmp_path) == [".x.harpia-0123456789ab.complete", "x"]
