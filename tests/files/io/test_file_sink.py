"""Output files, which are complete or absent."""

import contextlib
import errno
import gzip
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harpia_formats.files.io import file_sink
from harpia_formats.files.io.file_sink import (
    PREFIX,
    FileSink,
    acquire_lock,
    create_part_file,
    mark_complete,
    remove_abandoned,
    temporary_folder,
    write_file,
)
from harpia_formats.files.io.sink import (
    DurabilityError,
    SinkError,
    StreamSink,
    suffix_of,
)


def test_a_file_is_there_once_it_is_whole(tmp_path: Path) -> None:
    """The final name appears with `commit`, and no other file is left then."""
    sink = FileSink(tmp_path / "out.json", overwrite=True)
    sink.write(b"a")
    before = [each.name for each in tmp_path.iterdir()]
    sink.write(b"b")
    sink.commit()

    assert "out.json" not in before
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]
    assert (tmp_path / "out.json").read_bytes() == b"ab"


@pytest.mark.parametrize("name", ["out.bin", "out.bin.gz"])
def test_a_large_file_is_given_to_the_disk_while_it_is_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte is given to the disk once before the end, and the file is complete."""
    monkeypatch.setattr(file_sink, "TOGETHER", 1000)
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(
        os,
        "posix_fadvise",
        lambda _number, begin, size, _advice: given.append((begin, size)),
        raising=False,
    )
    parts = [os.urandom(400) for _ in range(100)]
    sink = FileSink(tmp_path / name, overwrite=True)
    for each in parts:
        sink.write(each)
    sink.commit()

    written = (tmp_path / name).read_bytes()
    whole = gzip.decompress(written) if name.endswith(".gz") else written
    assert whole == b"".join(parts)
    ends = [0, *(begin + size for begin, size in given)]
    assert [begin for begin, _ in given] == ends[:-1]
    assert sys.platform != "linux" or 0 < len(given) <= 100 * 400 // 1000
    assert ends[-1] <= len(written)


@pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise is Linux only")
def test_a_disk_that_takes_nothing_early_gets_it_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that refuses to write early loses nothing."""

    def refused(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(file_sink, "TOGETHER", 10)
    monkeypatch.setattr(os, "posix_fadvise", refused)
    sink = FileSink(tmp_path / "out", overwrite=True)
    for _ in range(10):
        sink.write(b"0123456789")
    sink.commit()

    assert (tmp_path / "out").read_bytes() == b"0123456789" * 10


def test_a_finished_file_is_not_there_yet(tmp_path: Path) -> None:
    """A file that is finished can still be discarded, or else put into its place."""
    first, second = (
        FileSink(tmp_path / each, overwrite=True) for each in ("a", "b.gz")
    )
    for each in (first, second):
        each.write(b"x")
        each.finish()
        each.finish()
    before = any((tmp_path / each).exists() for each in ("a", "b.gz"))
    first.discard()
    second.commit()

    assert not before
    assert [each.name for each in tmp_path.iterdir()] == ["b.gz"]


@pytest.mark.parametrize("name", ["out.json", "out.json.gz", "out.xz", "out.bz2"])
def test_discarded_file_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    """Discarding a file leaves the file that was there before."""
    (tmp_path / name).write_bytes(b"old")
    sink = FileSink(tmp_path / name, overwrite=True)
    sink.write(b"new")
    sink.discard()
    sink.discard()

    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"old"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """A new file is as readable as any other new one, not as a temporary one."""
    (tmp_path / "other").write_bytes(b"")
    sink = FileSink(tmp_path / "out.json", overwrite=True)
    sink.commit()
    modes = [(tmp_path / each).stat().st_mode for each in ("other", "out.json")]

    assert modes[0] == modes[1]


def test_compressed_bytes_have_no_time_and_no_name(tmp_path: Path) -> None:
    """A compressed file depends on nothing but what was written."""
    for name in ("a.gz", "b.GZ"):
        sink = FileSink(tmp_path / name, overwrite=True)
        sink.write(b"text")
        sink.commit()
    first = (tmp_path / "a.gz").read_bytes()

    assert gzip.decompress(first) == b"text"
    assert first[4:8] == bytes(4)
    assert (tmp_path / "b.GZ").read_bytes() == first


@pytest.fixture(name="pipe")
def named_pipe(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a named pipe and what reads it; a sink at fault would replace a device."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, reader
    os.close(reader)


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX only")
def test_what_is_no_file_is_written_and_not_replaced(pipe: tuple[Path, int]) -> None:
    """What is no file gets the bytes, and stays what it is."""
    path, reader = pipe
    sink = FileSink(path, overwrite=True)
    sink.write(b"text")
    sink.commit()
    other = FileSink(path, overwrite=True)
    other.discard()

    assert path.is_fifo()
    assert os.read(reader, 9) == b"text"


def test_a_place_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    """A folder that is missing is named."""
    with pytest.raises(SinkError, match=r"cannot write .*none/out\.json: "):
        FileSink(tmp_path / "none" / "out.json", overwrite=True)


def test_a_disk_that_is_full_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while the file is finished is reported, and nothing is left."""
    sink = FileSink(tmp_path / "out.json", overwrite=True)
    sink.write(b"text")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SinkError, match="no space left on device"):
        sink.commit()

    assert list(tmp_path.iterdir()) == []


def test_stream_is_written_immediately() -> None:
    """Bytes for an open stream are written to it immediately."""
    stream = io.BytesIO()
    sink = StreamSink(stream)
    sink.write(b"a")
    sink.discard()
    sink.commit()

    assert stream.getvalue() == b"a"


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.json", ".json"), ("a.JSONL.gz", ".jsonl"), ("a.xz", ""), ("a.b/c", "")],
)
def test_the_suffix_is_that_below_compression(name: str, suffix: str) -> None:
    """The form of an output is reported by its name without the compression."""
    assert suffix_of(name) == suffix


def test_a_file_that_came_meanwhile_is_kept(tmp_path: Path) -> None:
    """Without `overwrite`, the last step replaces no file, and leaves no other."""
    sink = FileSink(tmp_path / "out.json", overwrite=False)
    sink.write(b"ours")
    (tmp_path / "out.json").write_bytes(b"theirs")
    with pytest.raises(SinkError, match="has appeared meanwhile"):
        sink.commit()

    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert (tmp_path / "out.json").read_bytes() == b"theirs"


def test_file_systems_without_second_names_replace_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file cannot have two names, a new file appears and an old one is kept."""

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    new, old = (FileSink(tmp_path / name, overwrite=False) for name in ("new", "old"))
    (tmp_path / "old").write_bytes(b"theirs")
    new.commit()
    with pytest.raises(SinkError, match="has appeared meanwhile"):
        old.commit()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]
    assert (tmp_path / "old").read_bytes() == b"theirs"


def test_a_link_that_leads_to_itself_is_not_replaced(tmp_path: Path) -> None:
    """An output that is a loop of links is refused, and the links are kept."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(SinkError, match="symbolic links"):
        FileSink(tmp_path / "a", overwrite=True)

    assert (tmp_path / "a").readlink() == Path("b")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["x" * 255, "x" * 240, "\u00e9" * 127, "y" * 200])
def test_a_name_of_any_length_that_the_system_allows(tmp_path: Path, name: str) -> None:
    """The temporary name of a file is never longer than names may be."""
    sink = FileSink(tmp_path / name, overwrite=True)
    sink.write(b"x")
    sink.commit()

    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_name_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    """A name that the system refuses is reported when the file is opened."""
    with pytest.raises(SinkError, match="too long"):
        FileSink(tmp_path / ("x" * 256), overwrite=True)


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
def test_the_name_is_written_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is synced after the file has its final name."""
    synced: list[bool] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        if Path(f"/dev/fd/{descriptor}").resolve() == tmp_path.resolve():
            synced.append((tmp_path / "out").exists())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    FileSink(tmp_path / "out", overwrite=True).commit()

    assert synced == [True]


@pytest.mark.parametrize(
    ("number", "is_told"), [(errno.EIO, True), (errno.EINVAL, False)]
)
@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
def test_a_name_that_the_disk_may_not_have_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, is_told: bool
) -> None:
    """The file is in place then; a system that cannot sync folders is no error."""
    sink = FileSink(tmp_path / "out", overwrite=True)
    sink.write(b"text")
    sink.finish()

    def failing(_: int) -> None:
        raise OSError(number, "failed")

    monkeypatch.setattr(os, "fsync", failing)
    told = pytest.raises(DurabilityError, match=r"out: written, but .*: failed")
    with told if is_told else contextlib.nullcontext():
        sink.commit()
    sink.discard()

    assert [each.name for each in tmp_path.iterdir()] == ["out"]


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
    sink = FileSink(path, overwrite=True)
    sink.write(b"new")
    sink.commit()

    assert asked == [(-1, 65533), (65534, -1)]

    state = path.stat()
    expected = (65534, 65533) if is_allowed else (os.geteuid(), os.getegid())
    assert (path.read_bytes(), state.st_mode & 0o777) == (b"new", 0o640)
    assert (state.st_uid, state.st_gid) == expected


def test_an_open_file_is_locked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is held is refused, and so are all on a system without locks."""
    path = tmp_path / "x"
    with path.open("wb") as first, path.open("wb") as second:
        assert acquire_lock(first.fileno()) is True
        assert acquire_lock(second.fileno()) is False
        monkeypatch.setitem(sys.modules, "fcntl", None)
        assert acquire_lock(first.fileno()) is False


def test_a_file_that_is_written_is_private(tmp_path: Path) -> None:
    """Only its owner may read a file that is not yet in place, and it is not empty."""
    part, descriptor = create_part_file(tmp_path / "x")
    os.close(descriptor)
    with temporary_folder(str(tmp_path)) as folder:
        mode = (Path(folder) / "lock").stat().st_mode

    assert (part.stat().st_mode & 0o777, mode & 0o777) == (0o600, 0o600)


def test_a_link_with_a_temporary_name_is_left(tmp_path: Path) -> None:
    """What another one has put there as a link is neither followed nor removed."""
    (tmp_path / "target").write_bytes(b"1")
    link = tmp_path / ".x.harpia-0123456789ab.complete"
    link.symlink_to("target")

    assert remove_abandoned(tmp_path / "x") == []
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"1"


def test_a_second_name_of_a_temporary_file_is_kept(tmp_path: Path) -> None:
    """A complete file that has its name as well needs no word, another one does."""
    for name in ("x", "y"):
        part = tmp_path / f".{name}.harpia-0123456789ab.complete"
        part.write_bytes(b"1")
    os.link(tmp_path / ".x.harpia-0123456789ab.complete", tmp_path / "x")

    assert remove_abandoned(tmp_path / "x") == []
    (note,) = remove_abandoned(tmp_path / "y")
    assert note.startswith(f"{tmp_path / 'y'}: an earlier run was killed after")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_nothing_is_abandoned_where_no_folder_is(tmp_path: Path) -> None:
    """A folder that cannot be listed has nothing that could be removed."""
    assert remove_abandoned(tmp_path / "none" / "x") == []


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists open files")
def test_no_file_stays_open(tmp_path: Path) -> None:
    """Whatever becomes of an output or a folder, its files are closed."""

    def count() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the number only

    before = count()
    for name in ("x", "y", "z.gz"):
        sink = FileSink(tmp_path / name, overwrite=True)
        sink.write(b"1")
        sink.commit()
    discarded = FileSink(tmp_path / "x", overwrite=True)
    discarded.discard()
    finished = FileSink(tmp_path / "x", overwrite=True)
    finished.finish()
    finished.discard()
    with temporary_folder(str(tmp_path)), temporary_folder(str(tmp_path)):
        pass

    assert count() == before


def test_a_folder_in_the_default_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a place a temporary folder is where the system has such folders."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_folder(None) as folder:
        assert Path(folder).parent == tmp_path


@pytest.mark.parametrize("size", [225, 226, 255])
def test_temporary_names_of_long_names(tmp_path: Path, size: int) -> None:
    """A name is kept as long as that of the complete file has at most 255 bytes."""
    part, descriptor = create_part_file(tmp_path / ("x" * size))
    os.close(descriptor)
    kept = 225 if size == 225 else 225 - len("-0123456789abcdef")

    assert part.name.startswith(f".{'x' * kept}{'-.'[size == 225]}")
    assert len(part.with_suffix(".complete").name) == 255


def test_a_compression_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is not installed is named, and no file is left."""

    def missing(*_: object) -> None:
        raise ImportError("needs one more package")

    monkeypatch.setattr(file_sink, "compressing_stream", missing)
    with pytest.raises(SinkError) as failed:
        FileSink(tmp_path / "x.zst", overwrite=True)

    path = tmp_path / "x.zst"
    assert str(failed.value) == f"cannot write {path}: needs one more package"
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_closed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, on which a file cannot be closed, leaves no file either."""

    class Full(io.BytesIO):
        def close(self) -> None:
            super().close()
            raise OSError("no space left")

    sink = FileSink(tmp_path / "x", overwrite=True)
    with sink._raw:  # noqa: SLF001 - a disk cannot be filled here
        monkeypatch.setattr(sink, "_stream", Full())
        sink.discard()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_pipe_without_a_name_is_written() -> None:
    """What a shell gives for `>(command)`, and `/dev/stdout` before a pipe, work."""
    given, end = os.pipe()
    sink = FileSink(Path(f"/dev/fd/{end}"), overwrite=False)
    sink.write(b"a")
    sink.commit()
    os.close(end)

    with open(given, "rb") as pipe:  # noqa: PTH123 - a descriptor
        assert pipe.read() == b"a"


@pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise is Linux only")
def test_the_disk_is_given_eight_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk gets bytes when there are 8 MiB of them, no sooner and no later."""
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "posix_fadvise", lambda *all_: given.append(all_[1:3]))
    sink = FileSink(tmp_path / "out", overwrite=True)
    for size in (8 * 2**20 - 1, 1, 8 * 2**20 - 1, 1):
        sink.write(bytes(size))
    sink.discard()

    assert given == [(0, 8 * 2**20), (8 * 2**20, 8 * 2**20)]


@pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise is Linux only")
def test_a_pipe_is_given_nothing_early(
    pipe: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only of a file that this process makes is the disk informed."""
    monkeypatch.setattr(file_sink, "TOGETHER", 1)
    sink = FileSink(pipe[0], overwrite=True)
    asked: list[str] = []

    class Noted:
        def tell(self) -> int:
            asked.append("tell")
            return 0

    with monkeypatch.context() as patch:
        patch.setattr(sink, "_raw", Noted())
        sink.write(b"text")
    sink.commit()

    assert asked == []


def test_a_temporary_name_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that has the random name already is left, and another name is taken."""
    random = iter([b"111111", b"111111", b"222222"])
    monkeypatch.setattr(os, "urandom", lambda _: next(random))
    parts = [create_part_file(tmp_path / "x") for _ in range(2)]
    for _, descriptor in parts:
        os.close(descriptor)

    assert [part.name for part, _ in parts] == [
        ".x.harpia-313131313131.part",
        ".x.harpia-323232323232.part",
    ]


def test_an_interrupt_between_a_new_name_and_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complete file is removed even if the sink does not know yet that it is."""

    def interrupted(part: Path) -> Path:
        mark_complete(part)
        raise KeyboardInterrupt

    monkeypatch.setattr(file_sink, "mark_complete", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(str(tmp_path / "x"), [b"1"], overwrite=True)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, None])
def test_a_temporary_file_that_another_one_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException] | None
) -> None:
    """It is made again, unless an interrupt comes, which leaves no file."""
    usual, locked = acquire_lock, []

    def late(descriptor: int) -> bool:
        locked.append(descriptor)
        if len(locked) == 1:
            next(tmp_path.iterdir()).unlink()
            if end is not None:
                raise end
        return usual(descriptor)

    monkeypatch.setattr(file_sink, "acquire_lock", late)
    if end is not None:
        with pytest.raises(end):
            create_part_file(tmp_path / "x")
        os.close(locked[0])
        assert list(tmp_path.iterdir()) == []
        return
    part, descriptor = create_part_file(tmp_path / "x")
    os.close(descriptor)

    assert list(tmp_path.iterdir()) == [part]
    # The first one was closed, so its number was free for the second one.
    assert locked == [descriptor, descriptor]


def test_an_interrupt_while_a_temporary_file_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was made is removed if an interrupt comes before it is used."""

    def interrupted(descriptor: int) -> bool:
        os.close(descriptor)
        raise KeyboardInterrupt

    monkeypatch.setattr(file_sink, "acquire_lock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        create_part_file(tmp_path / "x")

    assert list(tmp_path.iterdir()) == []


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


def test_the_mask_of_new_files_is_as_before(tmp_path: Path) -> None:
    """To read the mask that new files get leaves it as it is."""
    before = os.umask(0o027)
    try:
        write_file(str(tmp_path / "x"), [], overwrite=True)
        after = os.umask(0o027)
    finally:
        os.umask(before)

    assert after == 0o027
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_a_folder_on_a_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other process can tell that the folder is used, so none is informed of it."""
    monkeypatch.setattr(file_sink, "acquire_lock", lambda _: False)
    with temporary_folder(str(tmp_path)) as folder:
        names = [path.name for path in Path(folder).iterdir()]

    assert names == ["lock.new"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_on_a_system_without_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an open file cannot be renamed, it is closed first, and has no owner."""
    sink = FileSink(tmp_path / "x", overwrite=True)
    sink.write(b"1")
    asked: list[object] = []
    with monkeypatch.context() as patch:
        for name in ("dup", "chown"):
            patch.setattr(os, name, lambda *given: asked.append(given))
        patch.setattr(os, "name", "nt")
        sink.finish()
    sink.commit()

    assert asked == []
    assert (tmp_path / "x").read_bytes() == b"1"
