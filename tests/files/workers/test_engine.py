"""Engines: ordered results, limited concurrency, and lost workers."""

import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from harpia_formats.conversion.containers.row_writer import encode_rows
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.range_converter import ConversionJob
from harpia_formats.evaluation.scoring.measures import outcomes
from harpia_formats.files.framing import byte_ranges
from harpia_formats.files.framing.byte_ranges import line_ranges
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.workers.engine import Engine, check_engine
from harpia_formats.files.workers.worker_checks import (
    FileFingerprint,
)
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.model.problem import EngineError
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import FilePlan, run_plan_of

ROOT = Path(__file__).parents[3]
ROWS = (ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl").read_bytes()


def rows(times: int) -> bytes:
    """Return the rows of the fixture so many times, each with an id of its own."""
    key = b'"sample_id": "'
    return b"".join(ROWS.replace(key, b"%s%d-" % (key, each)) for each in range(times))


class KilledWorker(Exception):  # noqa: N818 - as Dask calls it
    """What Dask says of work that killed several workers."""


class CommClosedError(OSError):
    """What Dask says where the connection broke off."""


class Bad(Executor):
    """Does work at once, but fails at some of it."""

    def __init__(self, failures: dict[int, BaseException]) -> None:
        self.failures = failures
        self.begun = 0
        self.taken: list[Future[Any]] = []

    def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Do some work, given by position only."""
        act, *arguments = given
        future: Future[Any] = Future()
        self.taken.append(future)
        self.begun += 1
        number = arguments[1] if len(arguments) > 1 else None
        failure = self.failures.get(number) if isinstance(number, int) else None
        if failure is None:
            future.set_result(act(*arguments))
        else:
            future.set_exception(failure)
        return future


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ranges of a few rows each."""
    cut_into(monkeypatch, 20_000, probe=100)


@pytest.mark.parametrize("name", ["spark://h:1", "dask", "x", "dask:/h"])
def test_an_engine_that_is_not_known_is_refused(name: str) -> None:
    """What is no address of an engine is refused with those that are."""
    with pytest.raises(EngineError, match="known: dask://HOST:PORT"):
        check_engine(name, None)


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
def test_commands_refuse_an_unknown_engine(command: list[str]) -> None:
    """An unknown engine is one line with exit code 2, without the password."""
    given = [*command, "--engine", "spark://u:secret@h:1"]
    code = (
        f"import sys; sys.argv = ['harpia-formats', *{given}]\n"
        "from harpia_formats.cli import main; main()"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
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
@pytest.mark.parametrize("work", ["validate", "convert"])
def test_workers_without_the_file_are_an_error_before_work(
    tmp_path: Path, work: str
) -> None:
    """A local file that workers cannot see is an error before any work."""
    source, output = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_bytes(rows(1) + b"nope\n" + rows(40))

    class WithoutFile(Bad):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            source.rename(tmp_path / "away")
            try:
                return super().submit(*given)
            finally:
                (tmp_path / "away").rename(source)

    pool = WithoutFile({})
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
    """Ranges of a remote file follow each other, and each ends at the end of a line."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    key = f"/{uuid4().hex}"
    fsspec.filesystem("memory").pipe(key, data)
    remote = RemoteFile(f"memory:/{key}", key, len(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_ranges, "PROBE", probe)
        found = list(line_ranges(remote, 0, size))
    parts = [data[begin:end] for begin, end in found]

    assert b"".join(parts) == data
    assert [begin for begin, _ in found] == [0, *(end for _, end in found)][:-1]
    assert all(each.endswith(b"\n") for each in parts[:-1])
    assert all(b"\n" not in each[size:-1] for each in parts if len(each) > size)


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
    read, here = RemoteFile.read, threading.get_ident()

    def noted(remote: RemoteFile, begin: int, end: int) -> bytes:
        # What is read from its beginning is only to know the file.
        if threading.get_ident() != here and begin and end - begin > 100:
            requests.append((begin, end))
        return read(remote, begin, end)

    monkeypatch.setattr(RemoteFile, "read", noted)
    monkeypatch.setattr(byte_ranges, "PROBE", 100)
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


def test_log_of_a_cluster_has_no_secret() -> None:
    """A failed task is logged with its arguments, which show no password."""
    remote = RemoteFile("https://u:secret@h/x?sig=secret", "https://u:secret@h/x", 1)
    seen = FileFingerprint(remote, 1, b"")
    run = run_plan_of(Options(), {}, None, ())
    plan = FilePlan(run, "h/x", Framing.VALUES, fingerprint=seen)
    job = ConversionJob(
        plan,
        ConvertOptions(),
        "b",
        encode_rows,
        is_split=False,
        prefix="",
        fields={},
        surroundings={},
        columns=(),
        is_only=True,
        folder="",
    )

    assert "secret" not in repr(job)
    assert "h/x" in repr(job)


def test_scores_do_not_depend_on_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are the same if an executor measures batches, even if some are lost."""
    monkeypatch.setattr(outcomes, "BATCHES_HERE", 1)
    data = rows(60)

    class Losing(Bad):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
            future = super().submit(*given)
            if self.begun != 2:
                return future
            lost: Future[Any] = Future()
            lost.set_exception(KilledWorker())
            return lost

    here = harpia_formats.score(data, metrics=("em", "f1"))
    pools = [Bad({}), Losing({})]
    there = [
        harpia_formats.score(data, metrics=("em", "f1"), executor=each)
        for each in pools
    ]

    assert [each.total for each in there] == [here.total] * 2
    assert pools[1].begun == 2


@pytest.mark.parametrize(
    "name", ["dask://", "dask://host", "dask://host:99999", "dask://host:abc"]
)
def test_an_address_without_a_port_is_refused_at_once(name: str) -> None:
    """An engine that cannot be connected to is an error before anything is read."""
    with pytest.raises(EngineError, match="is not the address of a scheduler"):
        check_engine(name, None)


def test_errors_of_an_executor_hide_secrets() -> None:
    """Errors of an executor are shown without the secrets in addresses."""

    class Telling(Executor):
        def submit(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("there is no s3://key:secret@host/bucket")

    engine = Engine(Telling(), lambda: 1, is_local=False)

    with pytest.raises(EngineError) as caught:
        engine.asked(len, "")
    assert "secret" not in str(caught.value)
