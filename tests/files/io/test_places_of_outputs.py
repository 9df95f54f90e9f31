"""Which places an output may have, and the message on one that it may not."""

import contextlib
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harpia_formats import SinkError, convert
from in_process import InProcess
from json_lines import jsonl


def row_of(number: int) -> bytes:
    """Return a record."""
    return jsonl({"id": number, "prompt": "q", "outputs": []})


def refusal(*inputs: Any, **outputs: Any) -> str | None:
    """Return why the last output of a conversion is refused, None if it is not."""
    try:
        convert(*inputs, to="record", overwrite=True, **outputs)
    except SinkError as error:
        assert error.path.casefold() == str([*outputs.values()][-1]).casefold()  # noqa: PT017 - there may be none
        return error.reason
    return None


@pytest.fixture(name="folder")
def folder_with_files(tmp_path: Path) -> Path:
    """Return a folder with two files and a link to one of them."""
    for number, name in enumerate(("a.jsonl", "b.jsonl")):
        (tmp_path / name).write_bytes(row_of(number))
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    return tmp_path


@pytest.fixture(name="store")
def store_in_memory() -> Iterator[Any]:
    """Return an empty store in memory."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()


def test_an_input_is_no_output(folder: Path) -> None:
    """A file that is read is no output under any of its names, others are."""
    one, other = folder / "a.jsonl", folder / "b.jsonl"
    os.link(one, folder / "hard.jsonl")

    for name in ("link.jsonl", "hard.jsonl"):
        reason = refusal(one, other, output=folder / name)
        assert reason == f"is an input, too ({one})"
    assert refusal(one, other, output=one) == "is an input, too"
    assert refusal(one, other, output=folder / "new.jsonl") is None
    assert one.read_bytes() == row_of(0)


def test_a_file_of_a_folder_is_no_output(folder: Path) -> None:
    """Files that a folder or a pattern finds are inputs, but for those left out."""
    one, left = folder / "a.jsonl", ("a.jsonl", "link.jsonl")
    (folder / "link.jsonl").unlink()
    for given in (folder, folder / "*.jsonl"):
        one.write_bytes(row_of(0))
        assert refusal(given, output=one) == "is an input, too"
        assert refusal(given, output=folder / "new.jsonl") is None
        (folder / "new.jsonl").unlink()
        assert refusal(given, exclude=left, output=one) is None
    # What cannot be read is reported when it is read.
    assert refusal(folder / "none", folder, output=one) == "is an input, too"


def test_a_file_may_replace_itself_if_it_is_the_only_one(folder: Path) -> None:
    """The only input may be rewritten, but no other file."""
    one, other = folder / "a.jsonl", folder / "b.jsonl"
    one.write_bytes(row_of(0).replace(b":", b" : "))

    assert refusal(one, other, output=one) == "is an input, too"
    assert refusal(one, output=one) is None
    assert json.loads(one.read_bytes()) == json.loads(row_of(0))
    assert b" : " not in one.read_bytes()


@pytest.mark.parametrize("other", ["out.json", "./out.json", "OUT.json", "link.json"])
def test_two_outputs_never_share_a_place(tmp_path: Path, other: str) -> None:
    """A place is refused for a second output, under any of its names."""
    (tmp_path / "link.json").symlink_to("out.json")
    place = f"{tmp_path}/{other}"
    reason = refusal(row_of(0), output=tmp_path / "out.json", loss_report=place)

    if other == "OUT.json":
        assert reason == "is named for two outputs of one run"
    else:
        assert reason == "is an input or the output of the conversion"
    assert not (tmp_path / "out.json").exists()


def test_a_url_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Any
) -> None:
    """A folder with the name of a scheme does not make a URL a local file.

    The names of two URLs are one only if they are equal.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory:").mkdir()
    place, url, other = "memory:/x", "memory://x", "memory://X"
    for number, name in enumerate((place, "y")):
        (tmp_path / name).write_bytes(row_of(number))

    reason = refusal(f"./{place}", "y", output=place)
    assert reason == f"is an input, too (./{place})"
    for first in (place, other):
        assert refusal(row_of(0), output=first, loss_report=url) is None
    assert store.find("/") == ["/X", "/x"]
    assert refusal(row_of(0), output=url, loss_report=url) is not None


@pytest.mark.parametrize("scheme", ["file", "FILE", "local"])
@pytest.mark.usefixtures("store")
def test_a_url_of_this_machine_is_the_path_in_it(folder: Path, scheme: str) -> None:
    """It is no output of a run that reads the path, or writes another output there."""
    one, other = folder / "a.jsonl", folder / "b.jsonl"
    url = f"{scheme}://{one}"

    assert refusal(one, other, output=url) == f"is an input, too ({one})"
    assert refusal(folder, output=url) == f"is an input, too ({one})"
    assert refusal(url, other, output=one) == f"is an input, too ({url})"
    assert refusal(f"{scheme}://{folder}", output=one) == "is an input, too"
    assert one.read_bytes() == row_of(0)
    out, upper = folder / "out.json", f"{scheme}://{folder}/OUT.json"
    reason = refusal(row_of(0), output=out, loss_report=f"{scheme}://{out}")
    assert reason == "is an input or the output of the conversion"
    reason = refusal(row_of(0), loss_report=out, output=upper)
    assert reason == "is named for two outputs of one run"
    assert refusal(one, other, output=f"{scheme}://{folder}/new.jsonl") is None
    assert (folder / "new.jsonl").is_file()


@pytest.mark.parametrize(
    ("given", "url", "found"),
    [
        ("memory://b/dir", "memory://b/dir/x.jsonl", True),
        ("memory://b/dir/", "memory://b/dir/x.jsonl", True),
        ("memory://b/dir", "memory://b/directory.jsonl", False),
        ("memory://b/*.jsonl", "memory://b/directory.jsonl", True),
        ("memory://b/di?ec*.jsonl", "memory://b/directory.jsonl", True),
        ("memory://b/[a-f]irec*.jsonl", "memory://b/directory.jsonl", True),
        ("memory://b/dir*.jsonl", "memory://b/dir/x.jsonl", False),
        ("memory://b/dir", "memory://b/dir/new.jsonl", False),
    ],
)
def test_a_remote_file_of_a_folder_is_no_output(
    store: Any, given: str, url: str, *, found: bool
) -> None:
    """A remote file that a folder or a pattern has is an input, named as found."""
    for place in ("dir/x.jsonl", "directory.jsonl"):
        store.pipe(f"/b/{place}", row_of(len(place)))
    reason = refusal(given, row_of(0), output=url)

    assert (reason or "").startswith("is an input, too") == found


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("", "is a folder"),
        ("none/x.json", "its folder does not exist"),
        ("a.jsonl/x.json", "its folder does not exist"),
        ("b.jsonl", "is an input or an output of this run"),
        ("link.jsonl", "is an input or an output of this run ({folder}/a.jsonl)"),
        ("new.json", ""),
    ],
)
def test_a_further_output_that_cannot_be_written(
    folder: Path, run: InProcess, place: str, reason: str
) -> None:
    """A report or a picture is refused before the run that would write it."""
    inputs = [folder / "a.jsonl", folder / "b.jsonl"]
    found = run("validate", *inputs, "--report", f"json={folder / place}")

    if reason:
        given = str(folder / place)
        line = f"error: cannot write {given}: {reason.format(folder=folder)}\n"
        assert (found.code, found.out, found.err) == (2, "", line)
    else:
        assert found.code == 0
        assert json.loads((folder / place).read_bytes())["files"]


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="POSIX only")
@pytest.mark.parametrize(
    ("flags", "reason"), [(1, "read-only file system"), (2, "permission denied")]
)
def test_a_folder_that_is_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, flags: int, reason: str
) -> None:
    """A file needs a folder that may be written to, also one that replaces another.

    A file system that is mounted read-only is not taken for a missing permission.
    """
    asked: list[tuple[object, int]] = []
    usual = os.access

    def refused(path: Any, how: int, **more: Any) -> bool:
        if how != os.W_OK:
            return usual(path, how, **more)
        asked.append((path, how))
        return False

    monkeypatch.setattr(os, "access", refused)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flags))
    for name in ("a.jsonl", "new.jsonl"):
        with pytest.raises(SinkError) as failed:
            convert("no such file", to="record", output=folder / name, overwrite=True)
        assert (failed.value.path, failed.value.reason) == (str(folder / name), reason)

    assert asked == [(folder, os.W_OK)] * 2


def test_errors_of_outputs_are_sent_from_workers() -> None:
    """A copy of an error, as a process sends it, says the same."""
    given = SinkError(path="x", reason="permission denied")
    error = pickle.loads(pickle.dumps(given))  # noqa: S301 - made on the line before

    assert error.args == (error.path, error.reason) == ("x", "permission denied")
    assert given.args == error.args
    assert error.outcome == "nothing was written: permission denied"
    assert error.without_values() is error


@pytest.mark.parametrize(
    "command",
    [
        "schema infer a.jsonl -o",
        "preflight --init a.jsonl -o",
        "view a.jsonl --query text=q -o",
        "head a.jsonl -o",
        "split a.jsonl --by id -o {value}",
        "convert a.jsonl --to record -o",
    ],
)
def test_messages_on_an_output_hide_its_password(
    command: str, folder: Path, store: Any, run: InProcess
) -> None:
    """What a command prints of an address has no secret, and the file is there."""
    if command.startswith("view"):
        pytest.importorskip("starlette", reason='needs the extra "view"')
    *words, name = [*command.split(), "memory://me:s3cret@host/x"]
    if "{value}" in words:
        name += words.pop()
    with contextlib.chdir(folder):
        found = run(*words, name)

    assert found.code == 0
    assert "memory://***@host/x" in found.err
    assert "s3cret" not in found.err + found.out
    assert len(store.find("")) == 1
