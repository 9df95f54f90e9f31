"""Remote outputs, which are complete or absent."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import SinkError
from written_outputs import MANY, write_output

fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
implementations = pytest.importorskip("fsspec.implementations.memory")

ROOT = Path(__file__).parents[4]
RUNS = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"


MemoryFileSystem: Any = implementations.MemoryFileSystem
BufferedFile: Any = fsspec.spec.AbstractBufferedFile


class Commit(BufferedFile):  # type: ignore[misc]  # of no known type
    """A new file of the hub, which closing commits with all that was written."""

    def _upload_chunk(self, final: bool = False) -> bool:
        if final:
            put(self.path, self.buffer.getvalue())
        return final


class Hub(MemoryFileSystem):  # type: ignore[misc]  # of no known type
    """The store in memory as a hub of data sets, in which each write is a commit."""

    protocol = "hf"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        found: str = super()._strip_protocol(path.replace("hf://", "memory://"))
        return found

    def _open(self, path: str, mode: str = "rb", **given: Any) -> Any:
        if mode == "wb":
            return Commit(self, path, mode)
        return super()._open(path, mode, **given)


@pytest.fixture(params=["memory", "hf"])
def scheme(request: Any) -> Iterator[str]:
    """Return the scheme of an empty store, for each of two ways of uploading."""
    fsspec.register_implementation("hf", Hub, clobber=True)
    empty_store()
    yield request.param
    empty_store()


def empty_store() -> None:
    """Remove all files from the store."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]


def put(path: str, data: bytes) -> None:
    """Put a file into the store."""
    fsspec.filesystem("memory").pipe(path, data)


def files() -> dict[str, bytes]:
    """Return the files in the store."""
    store = fsspec.filesystem("memory")
    return {each: store.cat(each) for each in store.find("/")}


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_file_is_there_once_it_is_whole(scheme: str, name: str) -> None:
    """The final name appears at the end, and no other file is left then."""
    before: list[dict[str, bytes]] = []
    write_output(f"{scheme}://a/{name}", lambda: before.append(files()))

    assert f"/a/{name}" not in before[0]
    # A commit of a part would be seen by all.
    assert len(before[0]) == (scheme == "memory")
    (data,) = files().values()
    assert files() == {f"/a/{name}": data}
    rows = gzip.decompress(data) if name.endswith(".gz") else data
    assert rows.count(b"\n") == MANY


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_discarded_file_leaves_the_old_file(scheme: str, name: str) -> None:
    """A run that fails leaves the old file, and no other."""
    put(f"/a/{name}", b"old")

    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        write_output(f"{scheme}://a/{name}", fail)

    assert files() == {f"/a/{name}": b"old"}


def test_a_compressed_file_has_no_time_and_no_name(scheme: str) -> None:
    """A compressed file depends on nothing but what was written."""
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_output(f"{scheme}://a/{name}")
    first, second = files().values()

    assert first == second


def test_a_conversion_writes_the_same_bytes(scheme: str, tmp_path: Path) -> None:
    """Output, losses and quarantined rows are those of a local folder."""
    rows = RUNS.read_bytes() + b"{}\n"
    for place in (f"{tmp_path}/out.jsonl", f"{scheme}://a/out.jsonl"):
        report = harpia_formats.convert(
            rows, to="nemo", output=place, on_invalid="quarantine"
        )
        assert report.ok
        assert report.outputs == (place,)
    local = {f"/a/{each.name}": each.read_bytes() for each in tmp_path.iterdir()}

    assert files() == local
    assert len(local) == 3


def test_a_conversion_that_fails_writes_nothing(scheme: str) -> None:
    """A row that is not valid leaves no file, nor a part of one."""
    data = RUNS.read_bytes() + b"{}\n"

    with pytest.raises(harpia_formats.ValidationFailed):
        harpia_formats.convert(data, to="nemo", output=f"{scheme}://a/out.jsonl")
    assert files() == {}


def test_each_model_gets_its_file(scheme: str) -> None:
    """A name with a place for the model works in a store, too."""
    report = harpia_formats.convert(
        RUNS, to="nemo", output=f"{scheme}://a/{{model}}.jsonl", overwrite=True
    )

    assert report.ok
    assert len(files()) == len(report.outputs) > 0


def test_results_are_written_next_to_each_other(scheme: str, tmp_path: Path) -> None:
    """Several files of results are in the folder of the first, as on a disk."""
    for folder in (f"{tmp_path}/", f"{scheme}://a/"):
        harpia_formats.score(
            RUNS,
            metrics=("em",),
            to="eee",
            output=f"{folder}r_samples.jsonl",
            constants={"evaluation_name": "e"},
        )
    samples = (tmp_path / "r_samples.jsonl").read_bytes()

    assert sorted(files()) == ["/a/r.json", "/a/r_samples.jsonl"]
    assert files()["/a/r_samples.jsonl"] == samples


def test_existing_file_is_kept(scheme: str) -> None:
    """An existing file is replaced only with `overwrite`."""
    put("/a/out.jsonl", b"old")
    url = f"{scheme}://a/out.jsonl"
    with pytest.raises(SinkError, match="already exists"):
        harpia_formats.convert(RUNS, to="nemo", output=url)

    assert files() == {"/a/out.jsonl": b"old"}
    assert harpia_formats.convert(RUNS, to="nemo", output=url, overwrite=True).ok
    assert files()["/a/out.jsonl"] != b"old"


def test_a_file_that_came_meanwhile_is_kept(scheme: str) -> None:
    """Without `overwrite`, the last step replaces no file, and leaves no other."""
    with pytest.raises(SinkError, match="already exists"):
        write_output(
            f"{scheme}://a/x.jsonl", lambda: put("/a/x.jsonl", b"1"), overwrite=False
        )

    assert files() == {"/a/x.jsonl": b"1"}


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
        harpia_formats.convert("no such file", to="nemo", output=url)

    assert refused.value.reason == reason
    assert "u:p" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["hf"], indirect=True)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_upload_that_ends_early_commits_nothing(
    scheme: str, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """If sending a file fails or is interrupted, no part of it is committed."""
    usual = Commit.write

    def half(file: Any, data: bytes) -> None:
        usual(file, data[: len(data) // 2])
        raise error

    monkeypatch.setattr(Commit, "write", half)
    with pytest.raises((KeyboardInterrupt, SinkError)):
        write_output(f"{scheme}://a/out.jsonl")

    assert files() == {}


def test_failing_store_is_an_error(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If writing fails, nothing is left, and the reason is reported."""

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("no")

    def fail() -> None:
        for name in ("mv", "open"):
            monkeypatch.setattr(MemoryFileSystem, name, refused)

    with pytest.raises(SinkError, match="permission denied by the server"):
        write_output(f"{scheme}://a/out.jsonl", fail)
    monkeypatch.undo()

    assert files() == {}
