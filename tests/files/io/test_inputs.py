"""Which files arguments name: paths, folders, patterns, bytes and streams."""

import gzip
import io
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import detect, validate


def names(*arguments: Any) -> list[str]:
    """Return the names of what is found."""
    return [each.path for each in detect(*arguments)]


def refusal(argument: Any) -> str:
    """Return why what an argument names is not read."""
    (found,) = detect(argument)
    return found.reason or ""


def fill(folder: Path, *paths: str) -> None:
    """Make files that hold one row."""
    for each in paths:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_bytes(b"{}\n")


def test_every_kind_of_input_has_a_name(tmp_path: Path) -> None:
    """Paths, bytes and open files are inputs, in the order given."""
    fill(tmp_path, "a.jsonl")
    path = tmp_path / "a.jsonl"

    expected = [str(path), "<data>", "<stream>"]
    assert names(path, b"{}", io.BytesIO(b"{}")) == expected


def test_input_named_twice_is_read_once(tmp_path: Path) -> None:
    """A path or stream named twice is one source; equal bytes are two."""
    fill(tmp_path, "a.jsonl")
    path, stream = tmp_path / "a.jsonl", io.BytesIO(b"{}")

    assert names(path, tmp_path, str(path)) == [str(path)]
    assert names(stream, stream) == ["<stream>"]


def test_equal_names_are_numbered() -> None:
    """Each source has a name of its own."""
    assert names(b"1", b"1", b"2") == ["<data>", "<data> (2)", "<data> (3)"]


def test_input_that_names_nothing_does_not_stop_the_others(tmp_path: Path) -> None:
    """For a path that does not exist, the error comes in its place."""
    missing = str(tmp_path / "nope.jsonl")
    found = detect(missing, b"{}")

    assert [(each.path, each.reason) for each in found] == [
        (missing, "does not exist"),
        ("<data>", None),
    ]


@pytest.mark.parametrize("given", [1, None, io.StringIO("{}")])
def test_wrong_input_types_are_refused(given: Any) -> None:
    """A number, nothing or a text stream is a `TypeError`."""
    with pytest.raises(TypeError, match=f"not {type(given).__name__}"):
        detect(given)


def test_no_input_is_refused() -> None:
    """No input at all is a `ValueError`."""
    with pytest.raises(ValueError, match="nothing to read"):
        detect()


def test_named_files_need_no_suffix(tmp_path: Path) -> None:
    """A file is read once, under the name given."""
    fill(tmp_path, "b", "a.jsonl")
    link = tmp_path / "link"
    link.symlink_to("b")
    wanted = [str(tmp_path / each) for each in ("b", "a.jsonl", "link")]

    assert wanted == names(*wanted, tmp_path / "b", tmp_path)


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input, at most once, also compressed."""
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(b"{}\n" * 3)))
    monkeypatch.setattr(sys, "stdin", stream)
    (found,) = validate("-", "-", format="record").files

    assert (found.path, found.records, found.complete) == ("<stdin>", 3, True)


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without standard input says so."""
    monkeypatch.setattr(sys, "stdin", None)

    assert refusal("-") == "is closed"


def test_folder_gives_its_data_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data files of any depth, sorted; nothing hidden, linked or special."""
    data = ["a.jsonl", "b/c.NDJSON.gz", "b/d/e.json", "f.jsonl.bz2", "g.json.xz"]
    data += ["h.jsonl.ZST", "i.csv", "j.CSV.gz", "k.tsv"]
    fill(tmp_path, *data, "read.me", ".i.jsonl", ".git/j.jsonl", "k.txt", "jsonl")
    (tmp_path / "l.jsonl").symlink_to("a.jsonl")
    (tmp_path / "m").symlink_to("b")
    (tmp_path / "b" / "loop").symlink_to("..")
    os.mkfifo(tmp_path / "n.jsonl")
    monkeypatch.chdir(tmp_path)

    assert data == names(".")


def test_folder_without_data(tmp_path: Path) -> None:
    """A folder without data files is an error that lists the accepted suffixes."""
    fill(tmp_path, "read.me")

    assert "no data files in this folder" in refusal(tmp_path)
    assert "*.jsonl" in refusal(tmp_path)
    assert "*.csv" in refusal(tmp_path)


def test_pattern_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns find sorted files, hidden ones only where the pattern says so."""
    fill(tmp_path, "b.txt", "a.txt", ".c.txt", "d/e.txt", "d/f/g.txt", ".h/i.txt")
    fill(tmp_path, "d/j.jsonl")
    (tmp_path / "d" / "loop").symlink_to("..")
    (tmp_path / "gone.txt").symlink_to("nothing")
    monkeypatch.chdir(tmp_path)

    assert names("*.txt") == ["a.txt", "b.txt"]
    assert names(".*.txt") == [".c.txt"]
    assert names("**/*.txt") == ["a.txt", "b.txt", "d/e.txt", "d/f/g.txt"]
    assert names("d/**/[a-g].txt") == ["d/e.txt", "d/f/g.txt"]
    assert names("?/f/g.t*") == ["d/f/g.txt"]
    assert names("[d]") == ["d/j.jsonl"]
    assert [str(tmp_path / "a.txt")] == names(f"{tmp_path}/**/a.*")
    assert names("d/f/**") == ["d/f/g.txt"]


def test_file_with_the_name_of_a_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that exists is that file or folder, even if it looks like a pattern."""
    fill(tmp_path, "[a].txt", "a.txt", "x[1]/b.txt", "x1/c.txt")
    monkeypatch.chdir(tmp_path)

    assert names("[a].txt") == ["[a].txt"]
    assert names("x[1]/*.txt") == ["x[1]/b.txt"]


def test_a_folder_that_disappears_is_a_source_that_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files next to it are read, and reading it says that it is gone."""
    fill(tmp_path, "a.jsonl", "gone/b.jsonl", "z/c.jsonl")
    real = os.scandir

    def removed_first(folder: Path) -> object:
        if folder.name == "gone":
            (folder / "b.jsonl").unlink()
            folder.rmdir()
        return real(folder)

    monkeypatch.setattr(os, "scandir", removed_first)
    found = detect(tmp_path)

    places = [Path(each.path).relative_to(tmp_path) for each in found]
    assert list(map(str, places)) == ["a.jsonl", "gone", "z/c.jsonl"]
    assert "no such file or directory" in str(found[1].reason)


def test_pattern_without_a_match(tmp_path: Path) -> None:
    """A pattern that finds nothing is an error."""
    for each in ("*.jsonl", "no/*.jsonl", "*/a.jsonl"):
        assert refusal(tmp_path / each) == "no file matches this pattern"


def test_missing_file_suggests_near_names(tmp_path: Path) -> None:
    """The error for a misspelt name suggests similar names."""
    fill(tmp_path, "train.jsonl", "unlike")

    assert (
        refusal(tmp_path / "trian.jsonl") == "does not exist; did you mean train.jsonl?"
    )
    assert refusal(tmp_path / "zzz") == "does not exist"
    assert "there is no folder" in refusal(tmp_path / "no" / "train.jsonl")
    assert "there is no folder" in refusal(tmp_path / "unlike" / "train.jsonl")


def test_empty_name_is_not_the_folder_here() -> None:
    """An empty name, as of an unset shell variable, is an error."""
    assert refusal("") == "does not exist"


def test_odd_links_and_names(tmp_path: Path) -> None:
    """A dangling link, a link to itself and a name with NUL say what they are."""
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "self").symlink_to("self")

    assert (
        refusal(tmp_path / "dangling")
        == "is a symbolic link to something that does not exist"
    )
    assert refusal(tmp_path / "self") == "too many levels of symbolic links"
    assert "null" in refusal("a\0b")


def test_devices_and_sockets_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sockets and devices are not read."""
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert refusal("socket") == "is a socket"
    assert refusal("/dev/zero") == "is a character device"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    """A file without read permission is refused before any work."""
    fill(tmp_path, "d/a.jsonl", "b.jsonl")
    for each in ("d", "b.jsonl"):
        (tmp_path / each).chmod(0)
    try:
        for each in ("d", "b.jsonl", "d/a.jsonl", "*/a.jsonl", "**/a.jsonl", "d/*", ""):
            assert refusal(tmp_path / each) == "permission denied"
        (tmp_path / "d").chmod(0o100)
        assert refusal(tmp_path / "d" / "b.jsonl") == "does not exist"
    finally:
        (tmp_path / "d").chmod(0o700)
