"""Remote outputs, which are complete or absent."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats.evaluation.scoring.results.result_files import ResultFiles
from harpia_formats.files.io import remote_sink
from harpia_formats.files.io.remote_sink import RemoteSink, check_remote_output
from harpia_formats.files.io.sink import SinkError

fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')

ROOT = Path(__file__).parents[4]
RUNS = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"


@pytest.fixture(params=["moved", "whole"])
def memory(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return an empty store in memory, for each of two ways of uploading."""
    if request.param == "whole":
        monkeypatch.setattr(remote_sink, "_committing", {"memory"})
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


def files_of(store: Any) -> dict[str, bytes]:
    """Return the files in a store."""
    return {each: store.cat(each) for each in store.find("/")}


def test_a_file_is_there_once_it_is_whole(memory: Any) -> None:
    """The final name appears with `commit`, and no other file is left then."""
    sink = RemoteSink("memory://a/out.json", overwrite=True)
    sink.write(b"a")
    before = files_of(memory)
    sink.write(b"b")
    sink.commit()

    assert "/a/out.json" not in before
    assert files_of(memory) == {"/a/out.json": b"ab"}


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_discarded_file_leaves_the_old_file(memory: Any, name: str) -> None:
    """A discarded file leaves the old file, and no other."""
    memory.pipe(f"/a/{name}", b"old")
    sink = RemoteSink(f"memory://a/{name}", overwrite=True)
    sink.write(b"new")
    sink.discard()
    sink.discard()

    assert files_of(memory) == {f"/a/{name}": b"old"}


def test_a_name_tells_the_compression(memory: Any) -> None:
    """A file named .gz is compressed, without time and name in it."""
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        sink = RemoteSink(f"memory://a/{name}", overwrite=True)
        sink.write(b"text")
        sink.commit()
    first, second = files_of(memory).values()

    assert gzip.decompress(first) == b"text"
    assert first == second


def test_a_conversion_writes_the_same_bytes(memory: Any, tmp_path: Path) -> None:
    """Output, losses and quarantined rows are those of a local folder."""
    rows = RUNS.read_bytes() + b"{}\n"
    for place in (f"{tmp_path}/out.jsonl", "memory://a/out.jsonl"):
        report = harpia_formats.convert(
            rows, to="nemo", output=place, on_invalid="quarantine"
        )
        assert report.ok
        assert report.outputs == (place,)
    local = {f"/a/{each.name}": each.read_bytes() for each in tmp_path.iterdir()}

    assert files_of(memory) == local
    assert len(local) == 3


def test_a_conversion_that_fails_writes_nothing(memory: Any) -> None:
    """A row that is not valid leaves no file, nor a part of one."""
    data = RUNS.read_bytes() + b"{}\n"

    with pytest.raises(harpia_formats.ValidationFailed):
        harpia_formats.convert(data, to="nemo", output="memory://a/out.jsonl")
    assert files_of(memory) == {}


def test_each_model_gets_its_file(memory: Any) -> None:
    """A name with a place for the model works in a store, too."""
    report = harpia_formats.convert(
        RUNS, to="nemo", output="memory://a/{model}.jsonl", overwrite=True
    )

    assert report.ok
    assert len(files_of(memory)) == len(report.outputs) > 0


def test_results_are_written_next_to_each_other(memory: Any) -> None:
    """Several files of results are there together, in the folder of the first."""
    files = ResultFiles("memory://a/r.json", overwrite=False)
    files.check()
    files.write(b"one")
    files.sibling("s.jsonl")(b"two")

    assert not {"/a/r.json", "/a/s.jsonl"} & set(files_of(memory))
    assert files.commit() == ("memory://a/r.json", "memory://a/s.jsonl")
    assert files_of(memory) == {"/a/r.json": b"one", "/a/s.jsonl": b"two"}


def test_existing_file_is_kept(memory: Any) -> None:
    """An existing file is replaced only with `--overwrite`."""
    memory.pipe("/a/out.jsonl", b"old")
    url = "memory://a/out.jsonl"
    with pytest.raises(SinkError, match="already exists"):
        harpia_formats.convert(RUNS, to="nemo", output=url)

    assert files_of(memory) == {"/a/out.jsonl": b"old"}
    assert harpia_formats.convert(RUNS, to="nemo", output=url, overwrite=True).ok
    assert files_of(memory)["/a/out.jsonl"] != b"old"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://u:p@host/x.json", "http and https can only be read"),
        ("memory://a/", "is a folder"),
        ("nosuch://a/x", "protocol not known: nosuch"),
    ],
)
def test_unwritable_output_is_refused(url: str, reason: str) -> None:
    """An output that cannot be written is reported before any input is read."""
    with pytest.raises(SinkError) as refused:
        check_remote_output(url, overwrite=True)

    assert refused.value.reason == reason
    assert "u:p" not in str(refused.value)


def test_failing_store_is_an_error(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If writing fails, nothing is left, and the reason is reported."""

    def fail(*_: Any, **__: Any) -> None:
        raise PermissionError("no")

    sink = RemoteSink("memory://a/out.json", overwrite=True)
    sink.write(b"a")
    monkeypatch.setattr(type(memory), "mv", fail)
    monkeypatch.setattr(type(memory), "open", fail)
    with pytest.raises(SinkError, match="permission denied by the server"):
        sink.commit()
    monkeypatch.undo()

    assert files_of(memory) == {}
