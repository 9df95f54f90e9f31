"""Engines: the same results, and errors before work that cannot be done."""

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from harpia_formats import EngineError
from in_process import InProcess
from small_ranges import cut_into

ROOT = Path(__file__).parents[3]
RUNS = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
ROWS = RUNS.read_bytes()


def rows(times: int) -> bytes:
    """Return the rows of the fixture so many times, each with an id of its own."""
    key = b'"sample_id": "'
    return b"".join(ROWS.replace(key, b"%s%d-" % (key, each)) for each in range(times))


class KilledWorker(Exception):  # noqa: N818 - as Dask calls it
    """What Dask says of work that killed several workers."""


class Here(Executor):
    """Does work at once, and notes how much it was given."""

    def __init__(self) -> None:
        self.begun = 0

    def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Do some work, given by position only."""
        act, *arguments = given
        future: Future[Any] = Future()
        self.begun += 1
        future.set_result(act(*arguments))
        return future


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ranges of a few rows each."""
    cut_into(monkeypatch, 20_000, probe=100)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *[
            (name, "known: dask://HOST:PORT")
            for name in ("spark://h:1", "dask", "x", "dask:/h")
        ],
        *[
            (f"dask://{place}", "is not the address of a scheduler")
            for place in ("", "host", "host:99999", "host:abc")
        ],
    ],
)
def test_an_engine_that_is_not_known_is_refused(name: str, reason: str) -> None:
    """What is no address of an engine is refused with those that are, before all."""
    with pytest.raises(EngineError, match=reason):
        harpia_formats.validate("no such file", engine=name)


@pytest.mark.parametrize(
    "command",
    [
        ["validate", "x.jsonl"],
        ["convert", "x.jsonl", "--to", "nemo"],
        ["score", "x.jsonl"],
        ["score", "compare", "x.jsonl", "y.jsonl"],
    ],
    ids=" ".join,
)
def test_commands_refuse_an_unknown_engine(command: list[str], run: InProcess) -> None:
    """An unknown engine is one line with exit code 2, without the password."""
    done = run(*command, "--engine", "spark://u:secret@h:1")

    assert done.code == 2
    assert done.err.splitlines() == [
        "error: spark://***@h:1: is not a known engine (known: dask://HOST:PORT)"
    ]


def test_there_is_one_engine() -> None:
    """An executor and an address exclude each other."""
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="exclude"):
        harpia_formats.validate(b"{}", engine="dask://h:1", executor=pool)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("target", ["nemo", "haystack"])
def test_threads_write_the_same_bytes(tmp_path: Path, target: str) -> None:
    """With an executor of threads the output is the same, byte for byte."""
    source = tmp_path / "runs.jsonl"
    source.write_bytes(rows(40))
    one, two = tmp_path / "one", tmp_path / "two"
    first = harpia_formats.convert(source, to=target, output=one)
    with ThreadPoolExecutor(4) as pool:
        second = harpia_formats.convert(source, to=target, output=two, executor=pool)

    assert first.ok
    assert second.rows == first.rows
    assert two.read_bytes() == one.read_bytes()
    assert [each.losses.carried for each in second.losses] == [
        each.losses.carried for each in first.losses
    ]


@pytest.mark.usefixtures("small")
def test_workers_put_the_name_of_their_file_before_ids(tmp_path: Path) -> None:
    """Of two files of one name the second has a number, in each worker as in one."""
    row = b'{"id": "%d", "prompt": "' + b"q" * 300 + b'", "outputs": []}\n'
    sources = [tmp_path / folder / "a.jsonl" for folder in ("run1", "run2")]
    for source in sources:
        source.parent.mkdir()
        source.write_bytes(b"".join(row % each for each in range(1_000)))
    given: dict[str, Any] = {"to": "record", "from_": "record", "prefix_ids": True}
    one, two = tmp_path / "one", tmp_path / "two"
    harpia_formats.convert(*sources, output=one, **given)
    with ThreadPoolExecutor(4) as pool:
        harpia_formats.convert(*sources, output=two, executor=pool, **given)

    assert one.read_bytes().count(b'"a-2/') == 1_000
    assert two.read_bytes() == one.read_bytes()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("work", ["validate", "convert"])
def test_workers_without_the_file_are_an_error_before_work(
    tmp_path: Path, work: str
) -> None:
    """A local file that workers cannot see is an error before any work."""
    source, output = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_bytes(rows(1) + b"nope\n" + rows(40))

    class WithoutFile(Here):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            source.rename(tmp_path / "away")
            try:
                return super().submit(*given)
            finally:
                (tmp_path / "away").rename(source)

    pool = WithoutFile()
    problems: list[Any] = []
    with pytest.raises(EngineError, match=r"does not see .*no such file"):  # noqa: PT012 - as far as it comes
        if work == "convert":
            harpia_formats.convert(source, to="nemo", output=output, executor=pool)
        problems.extend(harpia_formats.iter_problems(source, executor=pool))

    assert pool.begun == 1
    assert problems == []
    assert not output.exists()


@given(
    data=st.lists(st.binary(max_size=12), max_size=20).map(b"\n".join),
    size=st.integers(1, 40),
    probe=st.integers(1, 9),
)
def test_remote_ranges_are_whole_lines_and_leave_nothing_out(
    data: bytes, size: int, probe: int
) -> None:
    """Whatever ranges a remote file is cut into, its lines are those of the file."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    data = b'{"a": 1}\n' * 9 + data.replace(b"\0", b"0")
    url = f"memory://{uuid4().hex}.jsonl"
    fsspec.filesystem("memory").pipe(url, data)
    options: Any = {"schema": {}, "max_row_bytes": 1_000, "examples": 0}
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        cut_into(patch, size, probe=probe)
        there = harpia_formats.validate(url, executor=pool, **options)
    here = harpia_formats.validate(data, **options)

    found = [
        (
            [(each.records, each.invalid, each.reason) for each in report.files],
            [(each.code, each.place.byte_offset) for each in report.problems],
        )
        for report in (there, here)
    ]
    assert found[0] == found[1]


@pytest.mark.usefixtures("small")
def test_remote_ranges_are_read_where_they_are_worked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each range of a remote file is one request, and the results are the same."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    data = rows(30) + b"nope\n" + rows(3)
    source = tmp_path / "runs.jsonl"
    source.write_bytes(data)
    url = f"memory://{uuid4().hex}/runs.jsonl"
    fsspec.filesystem("memory").pipe(url, data)
    requests = []
    store = type(fsspec.filesystem("memory"))
    read, here = store.cat_file, threading.get_ident()

    def noted(self: Any, path: str, start: int, end: int) -> Any:
        # What is read from its beginning is only to know the file.
        if threading.get_ident() != here and start and end - start > 100:
            requests.append((start, end))
        return read(self, path, start=start, end=end)

    monkeypatch.setattr(store, "cat_file", noted)
    with ThreadPoolExecutor(2) as pool:
        found = harpia_formats.validate(url, executor=pool)
        once = len(set(requests)), len(requests)
        harpia_formats.convert(
            url, to="nemo", output=tmp_path / "a", on_invalid="skip", executor=pool
        )
    harpia_formats.convert(source, to="nemo", output=tmp_path / "b", on_invalid="skip")
    whole = harpia_formats.validate(source)

    assert [each.message for each in found.problems] == [
        each.message for each in whole.problems
    ]
    assert [each.place.line for each in found.problems] == [
        each.place.line for each in whole.problems
    ]
    assert once[0] == once[1] > 10
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_log_of_a_cluster_has_no_secret(tmp_path: Path) -> None:
    """A failed task is logged with its arguments, which show no password."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    url = f"memory://u:secret@{uuid4().hex}/runs.jsonl?sig=secret"
    fsspec.filesystem("memory").pipe(url, rows(40))
    logged: list[str] = []

    class Logging(Here):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            logged.append(repr(given))
            return super().submit(*given)

    with pytest.MonkeyPatch.context() as patch:
        cut_into(patch, 20_000)
        harpia_formats.validate(url, executor=Logging())
        options: Any = {"to": "nemo", "executor": Logging()}
        harpia_formats.convert(url, output=tmp_path / "out", **options)

    assert len(logged) > 10
    assert "runs.jsonl" in "".join(logged)
    assert "secret" not in "".join(logged)


@pytest.mark.usefixtures("small")
def test_scores_do_not_depend_on_the_executor() -> None:
    """Scores are the same if an executor measures batches, even if some are lost."""
    data = rows(60)

    class Losing(Here):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            future = super().submit(*given)
            if self.begun != 2:
                return future
            lost: Future[Any] = Future()
            lost.set_exception(KilledWorker())
            return lost

    here = harpia_formats.score(data, metrics=("em", "f1"))
    pools = [Here(), Losing()]
    there = [
        harpia_formats.score(data, metrics=("em", "f1"), executor=each)
        for each in pools
    ]

    assert [each.total for each in there] == [here.total] * 2
    assert pools[1].begun == 2


@pytest.mark.usefixtures("small")
def test_errors_of_an_executor_hide_secrets() -> None:
    """Errors of an executor are shown without the secrets in addresses."""

    class Telling(Executor):
        def submit(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("there is no s3://key:secret@host/bucket")

    with pytest.raises(EngineError, match="there is no s3://") as caught:
        harpia_formats.validate(RUNS, executor=Telling())
    assert "secret" not in str(caught.value)
