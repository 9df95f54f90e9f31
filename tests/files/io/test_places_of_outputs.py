"""Which places an output may have, and the message on one that it may not."""

import io
import os
import pickle
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harpia_formats.files.io import outputs
from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.files.io.outputs import (
    FilesRead,
    OutputGroup,
    check_extra_output,
    is_same_file,
)
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.sink import (
    DurabilityError,
    Sink,
    SinkError,
    StreamSink,
    check_folder,
)
from harpia_formats.files.io.source import Source


def refusal(reads: FilesRead, place: Path | str) -> str | None:
    """Return why `place` is refused as an output of what is read, None if it is not."""
    try:
        reads.check(str(place))
    except SinkError as error:
        return str(error).removeprefix(f"cannot write {place}: ")
    return None


@pytest.fixture(name="folder")
def folder_with_files(tmp_path: Path) -> Path:
    """Return a folder with two files and a link to one of them."""
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b'{"a": 1}\n')
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    return tmp_path


def test_an_input_is_no_output(folder: Path) -> None:
    """A file that is read is no output under any of its names, others are."""
    one = folder / "a.jsonl"
    reads = FilesRead([one, "-", None, 3], [None])

    assert reads.named == (str(one),)
    assert refusal(reads, one) == "is an input, too"
    assert refusal(reads, folder / "link.jsonl") == f"is an input, too ({one})"
    assert refusal(reads, folder / "b.jsonl") is None
    assert refusal(reads, folder / "new.jsonl") is None
    assert refusal(FilesRead([], [one]), one) == "is an input, too"


def test_a_source_is_an_input(folder: Path) -> None:
    """An input may be given as a source."""
    place = folder / "a.jsonl"

    assert refusal(FilesRead([Source(str(place), place)]), place) == "is an input, too"


def test_a_file_of_a_folder_is_no_output(folder: Path) -> None:
    """Files that a folder or a pattern finds are inputs, but for those left out."""
    one = folder / "a.jsonl"
    for given in (folder, folder / "*.jsonl"):
        assert refusal(FilesRead([given]), folder / "new.jsonl") is None
        found = refusal(FilesRead([given]), one)
        assert found is not None
        assert found.startswith("is an input, too")
        assert (
            refusal(FilesRead([given], exclude=["a.jsonl", "link.jsonl"]), one) is None
        )
    # What cannot be read is reported when it is read.
    assert refusal(FilesRead([folder / "none", folder]), one) is not None


def test_a_file_may_replace_itself_if_it_is_the_only_one(folder: Path) -> None:
    """The only input may be rewritten, but no other file."""
    one, other = folder / "a.jsonl", folder / "b.jsonl"
    place = str(one)

    assert refusal(FilesRead([one], rewritten=place), one) is None
    assert refusal(FilesRead([one], [one], rewritten=place), one) is None
    assert refusal(FilesRead([other], [one], rewritten=place), one) is not None
    assert refusal(FilesRead([one], [other], rewritten=place), other) is not None
    assert refusal(FilesRead([one, other], rewritten=place), one) is not None
    assert refusal(FilesRead([folder], rewritten=place), one) is not None


def test_names_of_one_file(folder: Path) -> None:
    """Two paths are one file by a link, and if they name one place."""
    one = folder / "a.jsonl"
    os.link(one, folder / "hard.jsonl")

    assert is_same_file(one, folder / "link.jsonl")
    assert is_same_file(one, folder / "hard.jsonl")
    assert is_same_file(folder / "none", f"{folder}/./none")
    assert not is_same_file(one, folder / "b.jsonl")
    assert not is_same_file(one, folder / "none")
    assert is_same_file("s3://b/x", "s3://b/x")
    assert not is_same_file("s3://b/x", "s3://b/y")
    assert not is_same_file(one, "s3://b/x")
    assert not is_same_file("s3://b/x", one)


def test_what_was_found_is_at_no_place_that_was_claimed(folder: Path) -> None:
    """A file that a run finds by itself must not be one of its outputs."""
    group = OutputGroup(overwrite=True)
    group.claim(str(folder / "a.jsonl"))
    group.check_apart([str(folder / "b.jsonl")])
    found = str(folder / "link.jsonl")
    with pytest.raises(SinkError) as failed:
        group.check_apart([str(folder / "b.jsonl"), found])

    assert str(failed.value) == (
        f"cannot write {folder / 'a.jsonl'}: is an input, too: {found}, which the run "
        "found"
    )


def test_two_outputs_at_one_place(folder: Path) -> None:
    """The second output is named in the error, and keys of URLs are exact."""
    group = OutputGroup(overwrite=True)
    for place in ("s3://b/x", "s3://b/X", str(folder / "o")):
        group.claim(place)
    with pytest.raises(SinkError) as failed:
        group.claim(str(folder / "O"))

    assert str(failed.value) == (
        f"cannot write {folder / 'O'}: is named for two outputs of one run"
    )
    assert not group.is_free("s3://b/x")
    assert group.is_free("s3://b/Y")


class FailingSink:
    """A sink that does not finish or does not commit, and notes what it was asked."""

    notes = ("an earlier run was killed",)

    def __init__(self, *, at: str = "", kind: type[SinkError] = SinkError) -> None:
        self.at, self.kind = at, kind
        self.done: list[str] = []

    def write(self, data: bytes) -> None:
        """Take bytes."""

    def finish(self) -> None:
        """Finish, or fail."""
        self._act("finish")

    def commit(self) -> None:
        """Commit, or fail."""
        self._act("commit")

    def discard(self) -> None:
        """Note that the bytes are removed."""
        self.done.append("discard")

    def _act(self, step: str) -> None:
        self.done.append(step)
        if step == self.at:
            raise self.kind("third", "the disk is full")


def grouped(
    group: OutputGroup, sinks: Iterable[tuple[Path, Sink]], patch: pytest.MonkeyPatch
) -> None:
    """Open sinks of one's own at places of a group."""
    for place, sink in sinks:
        patch.setattr(
            "harpia_formats.files.io.outputs.open_sink", lambda *_, s=sink, **__: s
        )
        group.open(str(place))


def test_an_output_that_does_not_finish_ends_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is put into place if one output is not complete."""
    group = OutputGroup(overwrite=True)
    good, bad = FailingSink(), FailingSink(at="finish")
    grouped(group, [(folder / "x", good), (folder / "y", bad)], monkeypatch)
    with pytest.raises(SinkError, match="the disk is full"):
        group.commit()

    assert (good.done, bad.done) == (["finish", "discard"], ["finish", "discard"])
    assert group.notes == ["an earlier run was killed"] * 2


def test_files_that_were_replaced_before_an_error_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are named in order, without the stream, and new files are removed."""
    group = OutputGroup(overwrite=True)
    group.add_stream(StreamSink(io.BytesIO()))
    for name in ("a.jsonl", "b.jsonl", "new.jsonl"):
        group.claim(str(folder / name))
        group.open(str(folder / name)).write(b"x")
    bad, late = FailingSink(at="commit"), FailingSink()
    grouped(group, [(folder / "z", bad), (folder / "zz", late)], monkeypatch)
    with pytest.raises(SinkError) as failed:
        group.commit()

    replaced = ", ".join(str(folder / name) for name in ("a.jsonl", "b.jsonl"))
    assert str(failed.value) == (
        f"cannot write third: the disk is full; replaced before: {replaced}"
    )
    assert late.done == ["finish", "discard"]
    assert not (folder / "new.jsonl").exists()
    assert (folder / "a.jsonl").read_bytes() == b"x"


def test_an_output_that_was_removed_is_not_put_into_place(folder: Path) -> None:
    """What is removed leaves nothing, and what was never opened may be removed."""
    group = OutputGroup(overwrite=True)
    for name in ("x", "y"):
        group.claim(str(folder / name))
        group.open(str(folder / name)).write(b"1")
    group.remove(str(folder / "x"))
    group.remove(str(folder / "never"))
    group.commit()
    group.discard()

    names = sorted(path.name for path in folder.iterdir())
    assert names == ["a.jsonl", "b.jsonl", "link.jsonl", "y"]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("", "is a folder"),
        ("none/x", "its folder does not exist"),
        ("a.jsonl/x", "its folder does not exist"),
        ("b.jsonl", "is an input or an output of this run"),
        ("link.jsonl", "is an input or an output of this run ({folder}/a.jsonl)"),
    ],
)
def test_a_further_output_that_cannot_be_written(
    folder: Path, place: str, reason: str
) -> None:
    """A report or a picture is refused before the run that would write it."""
    others = [None, "-", folder / "a.jsonl", str(folder / "b.jsonl")]
    given = str(folder / place)
    with pytest.raises(SinkError) as failed:
        check_extra_output(given, others)

    assert failed.value.path == given
    assert failed.value.reason == reason.format(folder=folder)
    check_extra_output(str(folder / "new.jsonl"), others)
    check_extra_output(str(folder / "a.jsonl"), others[:2])


def test_a_further_output_in_a_folder_that_is_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file needs a folder that may be written to, also one that replaces another."""
    asked: list[tuple[object, int]] = []
    monkeypatch.setattr(os, "access", lambda *given: asked.append(given))
    for name in ("a.jsonl", "new.jsonl"):
        with pytest.raises(SinkError) as failed:
            check_extra_output(str(folder / name), [])
        assert failed.value.path == str(folder / name)
        assert failed.value.reason == "permission denied"

    assert asked == [(folder, os.W_OK)] * 2


def test_a_stream_is_an_output_of_the_group() -> None:
    """An open stream is completed with the other outputs."""
    group, sink = OutputGroup(overwrite=True), FailingSink()
    group.add_stream(sink)
    group.commit()

    assert sink.done == ["finish", "commit"]


def test_local_inputs_are_no_remote_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No store is asked whether a local folder has a remote file."""

    def asked(*_: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr("harpia_formats.files.io.outputs.find_sources", asked)

    FilesRead([folder, folder / "*.jsonl"]).check("s3://b/x")


def test_errors_of_outputs_are_sent_from_workers() -> None:
    """A copy of an error, as a process sends it, says the same."""
    given = SinkError(path="x", reason="permission denied")
    error = pickle.loads(pickle.dumps(given))  # noqa: S301 - made on the line before

    assert error.args == (error.path, error.reason) == ("x", "permission denied")
    assert given.args == error.args
    assert error.outcome == "nothing was written: permission denied"
    assert error.without_values() is error


def test_a_name_of_no_file_is_left_to_who_opens_it(folder: Path) -> None:
    """The folder of a path is not looked at if the path can be that of no file."""
    check_folder(folder / "a\0b")
    check_folder(folder / ("x" * 300))
    check_folder(Path(os.devnull))


def test_a_new_file_that_another_one_removed_is_no_further_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first error is reported, even if a file that was new is there no more."""
    group = OutputGroup(overwrite=True)
    gone, bad = FailingSink(), FailingSink(at="commit")
    grouped(group, [(folder / "gone", gone), (folder / "z", bad)], monkeypatch)
    with pytest.raises(SinkError) as failed:
        group.commit()

    assert str(failed.value) == "cannot write third: the disk is full"


@pytest.mark.parametrize("has_it", [True, False])
def test_a_remote_file_of_a_folder_is_no_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, has_it: bool
) -> None:
    """A remote file that a folder has is an input, named as it was found."""

    def find(urls: Iterable[str]) -> list[Source]:
        return [Source(url, RemoteFile(url, "b/dir/x", 1)) for url in urls]

    there = [
        Source("s3://b/dir/y", RemoteFile("s3://b/dir/y", "b/dir/y", 1)),
        Source("local", folder / "a.jsonl"),
        *[Source("found", RemoteFile("s3://b/dir", "b/dir/x", 1))] * has_it,
    ]
    monkeypatch.setattr(outputs, "find_sources", find)
    monkeypatch.setattr(outputs, "sources_of_inputs", lambda *_: ["unread", *there])
    refused = refusal(FilesRead(["s3://b/dir"]), "s3://b/dir/x")

    assert refused == ("is an input, too (found)" if has_it else None)


def test_names_that_the_disk_may_not_have_are_reported_at_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All outputs are put into place before the error of one that is there."""
    group = OutputGroup(overwrite=True)
    unsure, good = FailingSink(at="commit", kind=DurabilityError), FailingSink()
    grouped(group, [(folder / "x", unsure), (folder / "y", good)], monkeypatch)
    with pytest.raises(DurabilityError):
        group.commit()
    group.discard()

    assert unsure.done == good.done == ["finish", "commit"]


def test_what_an_input_unpacks_is_no_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file of a folder that is read as one input is refused, another one not."""
    (folder / "run").mkdir()
    (folder / "run" / "part").write_bytes(b"")
    whole = Source("the run", folder / "run", folder_unpacker=Unpacker("runs"))
    found = [Source("stream", io.BytesIO()), whole]
    monkeypatch.setattr(outputs, "sources_of_inputs", lambda *_: found)
    reads = FilesRead([folder / "*"])

    assert refusal(reads, folder / "run" / "part") == "is an input, too (the run)"
    assert refusal(reads, folder / "a.jsonl") is None


def test_a_url_is_no_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the name of a scheme does not make a URL a local file."""
    monkeypatch.chdir(folder)
    (folder / "s3:").mkdir()
    (folder / "s3:" / "x").write_bytes(b"")

    assert is_same_file("s3:/x", "./s3:/x")
    assert not is_same_file("s3://x", "s3:/x")
    assert not is_same_file("s3:/x", "s3://x")


def test_a_further_output_in_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is asked whether it may be written, not whether the file is there."""
    asked: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        "harpia_formats.files.io.remote_sink.check_remote_output",
        lambda url, *, overwrite: asked.append((url, overwrite)),
    )
    check_extra_output("s3://b/x", ["s3://b/y"])

    assert asked == [("s3://b/x", True)]


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="POSIX only")
@pytest.mark.parametrize(
    ("flags", "reason"), [(1, "read-only file system"), (2, "permission denied")]
)
def test_why_a_folder_is_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, flags: int, reason: str
) -> None:
    """A file system that is mounted read-only is not taken for a missing permission."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flags))
    with pytest.raises(SinkError) as failed:
        check_folder(folder / "new.jsonl")

    assert failed.value.reason == reason
