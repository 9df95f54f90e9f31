"""A local Dask cluster gives the same results, even if workers die."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import EngineError
from harpia_formats.conversion.containers.row_writer import EncodedRows
from harpia_formats.conversion.parallel.convert_ranges import RangeConversion
from harpia_formats.files.workers import dask as module
from harpia_formats.files.workers import pool as worker_pool
from harpia_formats.files.workers import worker_checks as fingerprint
from harpia_formats.files.workers.dask import dask_engine
from harpia_formats.files.workers.pool import WorkerPool, answers_in_order
from harpia_formats.validation.parallel import ranges
from harpia_formats.validation.parallel import small_files as batches
from harpia_formats.validation.parallel.range_worker import RangeFrames
from json_lines import jsonl, jsonl_rows
from small_ranges import cut_into

distributed = pytest.importorskip("distributed", reason='needs the extra "test-remote"')
dask = pytest.importorskip("dask", reason='needs the extra "test-remote"')
# Of the libraries, not of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

ROOT = Path(__file__).parents[3]
ROWS = (ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl").read_bytes()
#: Has workers die of rows that hold a word, when they come to them.
DEADLY = """
import os
from harpia_formats.validation.parallel import range_worker

def deadly(run):
    def validate(job, unit, given):
        data = b"".join(range_worker.RangeFrames(job.plan, unit).reader)
        if b"deadly" in data:
            os._exit(1)
        return run(job, unit, given)
    return validate

range_worker._run = deadly(range_worker._run)
"""


@contextmanager
def local_cluster(**given: Any) -> Iterator[Any]:
    """Return a cluster of two processes, with two threads in each."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            host="127.0.0.1",
            dashboard_address=":0",
            **given,
        ) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Return the address of a cluster whose workers live as long as it does."""
    with local_cluster() as found:
        yield address_of(found)


@pytest.fixture
def mortal() -> Iterator[Any]:
    """Return a cluster for one test, which may kill its workers."""
    with local_cluster() as found:
        yield found


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ranges of a few rows each, and time-outs short."""
    cut_into(monkeypatch, 20_000, far=60_000)


def address_of(cluster: Any) -> str:
    """Return how a cluster is named."""
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


def rows(times: int, **changed: Any) -> bytes:
    """Return the rows of the fixture so many times, each with an id of its own."""
    found = jsonl_rows(ROWS)
    return jsonl(
        *(
            {**row, "sample_id": f"{number} {at}", **changed}
            for number in range(times)
            for at, row in enumerate(found)
        )
    )


def with_deadly(data: bytes, number: int) -> bytes:
    """Return rows of which one holds the word that is deadly."""
    lines = data.splitlines(keepends=True)
    lines[number] = lines[number].replace(b'"sample_id": "', b'"sample_id": "deadly ')
    return b"".join(lines)


#: Rows that are wrong in several ways, and ids that were there long before.
FAULTY = rows(40) + b"nope\n\n" + rows(1) + rows(20, model_id=1) + rows(60)


def report_and_counts(*inputs: Any, **options: Any) -> Any:
    """Return the report of a validation with all counts, and each part of it."""
    report = harpia_formats.validate(*inputs, **options)
    return report.to_dict(), report.files, report.groups


def written(source: Any, output: Path, **options: Any) -> tuple[bytes, Any]:
    """Return what a conversion writes, and what it says was lost."""
    report = harpia_formats.convert(source, to="nemo", output=output, **options)
    assert report.ok
    losses = [
        (
            each.losses.carried,
            {
                note: (found.count, found.place)
                for note, found in each.losses.counts.items()
            },
        )
        for each in report.losses
    ]
    return output.read_bytes(), losses


def pids_of(cluster: Any) -> list[int]:
    """Return the processes of the workers that there are now."""
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def killing(pids: list[int]) -> Callable[[Any], None]:
    """Return what kills one of some processes whenever a few ranges are done."""
    calls = []

    def progress(part: Any) -> None:
        calls.append(part)
        if len(calls) in {3, 9} and pids:
            os.kill(pids.pop(), signal.SIGKILL)

    return progress


class Mortal(Executor):
    """An executor whose task fails like a dead process if its rows hold `deadly`."""

    def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]  # by position only
        """Do some work, or die of it."""
        run, job, unit, *_ = given
        future: Future[Any] = Future()
        data = b"".join(RangeFrames(job.plan, unit).reader)
        if b"deadly" in data:
            future.set_exception(BrokenProcessPool("it died"))
        else:
            future.set_result(run(*given[1:]))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: it has died already."""


def test_results_are_in_order_and_none_is_taken_for_another(cluster: str) -> None:
    """Equal calls are done each, in order, and on several processes."""

    def who(_: Any, work: int) -> tuple[int, int]:
        time.sleep(0.02)
        return work, os.getpid()

    with WorkerPool(0, name=cluster) as found:
        assert found.engine.width() == 4
        tasks = ((each, (who, (None, each))) for each in [7, 7, 7, 7, *range(20)])
        results = list(answers_in_order(found, tasks))

    assert [result[0] for _, result in results] == [7, 7, 7, 7, *range(20)]
    assert len({result[1] for _, result in results}) == 2


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz"])
def test_cluster_reports_the_same(cluster: str, tmp_path: Path, name: str) -> None:
    """Problems, counts and their order are those of one process, also repeated ids."""
    source = tmp_path / name
    data = FAULTY
    if name.endswith(".json"):
        data = b"[%s]" % b",".join(FAULTY.replace(b"nope\n\n", b"").splitlines())
    source.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    here = report_and_counts(source, jobs=1)

    assert report_and_counts(source, engine=cluster) == here
    assert report_and_counts(source, engine=cluster, examples=0) == report_and_counts(
        source, jobs=1, examples=0
    )
    assert {"X101", "S102"} <= {each.code for each in here[2]}


def test_a_cluster_validates_many_small_files(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files are validated by workers in batches, with the same results."""
    monkeypatch.setattr(batches, "SMALL_FAR", 1_000_000)
    monkeypatch.setattr(batches, "BATCH", 300_000)
    monkeypatch.setattr(batches, "WORTH", 0)
    names = [tmp_path / f"{each}.jsonl" for each in range(20)]
    for number, each in enumerate(names):
        each.write_bytes(rows(number % 3) + b"nope\n" * (number % 2))
    inputs = [*names, tmp_path / "none.jsonl"]

    assert report_and_counts(*inputs, engine=cluster) == report_and_counts(
        *inputs, jobs=1
    )


@pytest.mark.parametrize("shared", [True, False])
def test_a_cluster_writes_the_same_bytes(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, shared: bool
) -> None:
    """Rows, losses and their first places are those of one process.

    That is so whether rows come back in a folder that all see, or as bytes.
    """
    source = tmp_path / "runs.jsonl"
    source.write_bytes(rows(60))
    expected = written(source, tmp_path / "one")
    came: list[str] = []
    usual = RangeConversion._blocks  # noqa: SLF001 - how rows come back shows nowhere else

    def noted(self: Any, rows: Any, slot: int) -> Iterator[tuple[str, EncodedRows]]:
        came.append("file" if rows.file else "bytes")
        return usual(self, rows, slot)

    monkeypatch.setattr(RangeConversion, "_blocks", noted)
    if not shared:
        monkeypatch.setattr(fingerprint, "write_marker", lambda _: b"of another folder")
    found = written(source, tmp_path / "two", engine=cluster)

    assert found == expected
    assert set(came) == {"file" if shared else "bytes"}
    assert len(came) > 3


def test_numbers_of_records_are_those_of_one_process(
    cluster: str, tmp_path: Path
) -> None:
    """Ids that are made of the number of a record are those of one process."""
    source = tmp_path / "rows.jsonl"
    row = {
        "messages": [{"role": "user", "content": "q"}],
        "ref_answer": "r",
        "model_outputs": [{"model_name": "m", "responses": [{"content": "a"}]}],
    }
    source.write_bytes(json.dumps(row).encode().join([b"", b"\n"]) * 4000)
    found = []
    both: tuple[dict[str, Any], ...] = ({}, {"engine": cluster})
    for number, options in enumerate(both):
        output = tmp_path / f"{number}"
        report = harpia_formats.convert(source, to="harpia", output=output, **options)
        found.append((report.ok, output.read_bytes()))

    assert found[0][0]
    assert found[0] == found[1]


def test_an_executor_of_dask_may_be_given(cluster: str, tmp_path: Path) -> None:
    """The executor of a client does the same work, at its own width."""
    source = tmp_path / "runs.jsonl"
    source.write_bytes(rows(60))
    address = cluster.replace("dask://", "tcp://")
    with distributed.Client(address, set_as_default=False) as client:
        given = {"executor": client.get_executor(pure=False)}

        assert report_and_counts(source, **given) == report_and_counts(source, jobs=1)
        assert written(source, tmp_path / "two", **given) == written(
            source, tmp_path / "one"
        )


def test_scores_are_the_same(cluster: str) -> None:
    """Batches that a cluster measures come to the same scores, and comparisons."""
    data, metrics = rows(60), ("em", "f1")
    here = harpia_formats.score(data, metrics=metrics)
    compared = harpia_formats.compare_scores(data, data, metrics=metrics)

    assert harpia_formats.score(data, metrics=metrics, engine=cluster).total == (
        here.total
    )
    assert compared.compared == (
        harpia_formats.compare_scores(
            data, data, metrics=metrics, engine=cluster
        ).compared
    )


@pytest.mark.parametrize("command", [["validate"], ["convert", "--to", "nemo"]])
def test_file_that_workers_do_not_see_ends_the_run(
    cluster: str, tmp_path: Path, command: list[str]
) -> None:
    """A file that differs on the workers is an error before any work, with code 2."""
    source, output = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_bytes(FAULTY)
    # A worker's folder is not ours, and what it sees there is another file.
    code = (
        "from harpia_formats.validation.parallel import ranges\n"
        "from harpia_formats.files.workers import worker_checks as fingerprint\n"
        "ranges.WORTH_SECONDS, ranges.MIN_FAR = 0, 1\n"
        "found = fingerprint.fingerprint_of\n"
        "fingerprint.fingerprint_of = lambda o: "
        "fingerprint.FileFingerprint(o, found(o).size + 1, b'')\n"
        "import sys; sys.argv = ['harpia-formats', *sys.argv[1:]]\n"
        "from harpia_formats.cli import main; main()"
    )
    arguments = [*command, str(source), "--engine", cluster]
    arguments += ["-o", str(output)] if "convert" in command else []
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code, *arguments], capture_output=True, check=False
    )

    assert done.returncode == 2, done.stderr
    assert done.stdout == b""
    assert b"does not see the input file: " in done.stderr
    assert not output.exists()


def test_workers_with_another_version_are_an_error(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error for workers with another version names that version."""
    monkeypatch.setattr(module, "version", lambda _: "99.0")
    with (
        pytest.raises(EngineError, match=r"has harpia-formats .*, not 99\.0"),
        dask_engine(cluster),
    ):
        pass


def test_workers_with_other_code_are_an_error(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of the same version with other files are refused before any work."""
    monkeypatch.setattr(module, "code_digest", lambda: "0" * 32)
    with (
        pytest.raises(EngineError, match=r"the worker tcp://.* has other files of"),
        dask_engine(cluster),
    ):
        pass


def test_missing_scheduler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that does not answer is an error after a short time."""
    monkeypatch.setattr(module, "CONNECTING", 0.5)
    with (
        pytest.raises(EngineError, match="no scheduler answered"),
        dask_engine("dask://127.0.0.1:9"),
    ):
        pass


@pytest.mark.long
@pytest.mark.parametrize("work", ["validate", "convert"])
def test_killed_workers_do_not_change_the_result(
    mortal: Any, tmp_path: Path, work: str
) -> None:
    """Killing two workers during the run does not change its result."""
    source, pids = tmp_path / "runs.jsonl", pids_of(mortal)
    given = {"engine": address_of(mortal), "progress": killing(pids)}
    if work == "validate":
        source.write_bytes(FAULTY * 2)
        found, expected = (
            report_and_counts(source, **given),
            report_and_counts(source, jobs=1),
        )
    else:
        source.write_bytes(rows(150))
        expected = written(source, tmp_path / "one")
        found = written(source, tmp_path / "two", **given)

    assert pids == []
    assert found == expected


@pytest.mark.long
def test_rows_that_kill_workers_are_validated_alone(tmp_path: Path) -> None:
    """A range that kills every worker is validated by a process of this machine."""
    source, script = tmp_path / "runs.jsonl", tmp_path / "deadly.py"
    script.write_text(DEADLY, encoding="utf-8")
    source.write_bytes(with_deadly(rows(60), 400))
    with local_cluster(preload=str(script)) as found:
        there = report_and_counts(source, engine=address_of(found))

    assert there == report_and_counts(source, jobs=1)


@pytest.mark.long
def test_rows_that_always_kill_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A range that kills workers and processes is named and counted as undetermined.

    The other ranges in progress are validated.
    """
    monkeypatch.setattr(worker_pool, "process_pool", lambda _: Mortal())
    monkeypatch.setattr(ranges, "FAR_RANGE", 20_000)
    source, script = tmp_path / "runs.jsonl", tmp_path / "deadly.py"
    script.write_text(DEADLY, encoding="utf-8")
    source.write_bytes(with_deadly(rows(120), 700))
    with local_cluster(preload=str(script)) as found:
        report = harpia_formats.validate(source, engine=address_of(found))
    (count,) = report.files
    missed = [each for each in report.problems if each.code == "V901"]

    assert count.records == 120 * 12
    assert count.valid + count.invalid == count.records - count.undetermined
    assert 0 < count.undetermined < 40
    assert ["died twice" in each.message for each in missed] == [True]


@pytest.mark.long
@pytest.mark.parametrize("work", ["validate", "convert"])
def test_dead_scheduler_ends_the_run(tmp_path: Path, work: str) -> None:
    """If the whole cluster is lost, the run ends with an error and without output."""
    source, output = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_bytes(rows(150))
    with scheduled(tmp_path) as (address, scheduler, _):
        given = {"engine": address, "progress": killing([scheduler.pid])}
        works: dict[str, Callable[[], Any]] = {
            "convert": lambda: written(source, output, **given),
            "validate": lambda: report_and_counts(source, **given),
        }
        with pytest.raises(EngineError, match="the cluster is gone"):
            works[work]()

        assert not output.exists()


@contextmanager
def scheduled(
    folder: Path, workers: int = 1
) -> Iterator[tuple[str, "subprocess.Popen[bytes]", "list[subprocess.Popen[bytes]]"]]:
    """Return the address of a scheduler, and its process and those of its workers."""
    file = folder / "scheduler.json"
    scheduler = begun("scheduler", file, "--host", "127.0.0.1", "--port", "0")
    found = [begun_worker(folder) for _ in range(workers)]
    try:
        while not (file.exists() and file.read_bytes()):
            time.sleep(0.1)
        address = str(json.loads(file.read_bytes())["address"]).replace("tcp", "dask")
        yield address, scheduler, found
    finally:
        for each in (scheduler, *found):
            each.kill()
            each.wait()


def begun_worker(folder: Path) -> "subprocess.Popen[bytes]":
    """Return a worker in one process, which nobody starts again."""
    file = folder / "scheduler.json"
    return begun("worker", file, "--nworkers", "1", "--nthreads", "1", "--no-nanny")


#: The command line, with ranges of a few rows, and rows that take long. A line follows
#: each range that is done.
COMMAND = """
import sys
from harpia_formats.files.framing import byte_ranges
from harpia_formats.validation.parallel import ranges
ranges.WORTH_SECONDS, ranges.MIN_FAR, ranges.FAR_RANGE = 0, 1, 30_000
byte_ranges.RANGE = 10_000
from harpia_formats.files.workers.pool import WorkerPool
result = WorkerPool.result

def noted(self, pending):
    found = result(self, pending)
    print("a range is done", file=sys.stderr, flush=True)
    return found

WorkerPool.result = noted
sys.argv = ["harpia-formats", *sys.argv[1:]]
from harpia_formats.cli import main; main()
"""


def converting(
    folder: Path, address: str, timeout: float, *more: str
) -> "subprocess.Popen[bytes]":
    """Return a conversion on a cluster, of a file to one that exists."""
    source, output = folder / "runs.jsonl", folder / "out"
    source.write_bytes(rows(400))
    output.write_bytes(b"as it was")
    arguments = ["convert", str(source), "--to", "nemo", "-o", str(output)]
    arguments += ["--overwrite", "--engine", address, *more]
    return subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", COMMAND, *arguments, "--cluster-timeout", str(timeout)],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def left_in(folder: Path) -> list[str]:
    """Return the names of all files of a run."""
    names = (each.name for each in folder.iterdir())
    return sorted(each for each in names if each != "scheduler.json")


def in_session_of(pid: int) -> list[str]:
    """Return the processes on Linux whose session a process began, if any are left."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            session = each.read_bytes().rpartition(b")")[2].split()[3]
            found += [each.parent.name] if int(session) == pid else []
    return found


def read_until(run: "subprocess.Popen[bytes]", words: bytes) -> bytes:
    """Return what a process writes to standard error, to the line with some words."""
    assert run.stderr
    lines = b""
    while words not in lines:
        line = run.stderr.readline()
        assert line, lines
        lines += line
    return lines


@pytest.mark.long
@pytest.mark.parametrize("had", [0, 1])
def test_cluster_without_workers_ends_the_run(tmp_path: Path, had: int) -> None:
    """If no worker comes, or the last one dies, the run ends; the output stays."""
    with scheduled(tmp_path, had) as (address, _, workers):
        run = converting(tmp_path, address, 3, "--quiet")
        if had:
            read_until(run, b"a range is done")
            workers[0].kill()
        killed = time.monotonic()
        shown = read_until(run, b"waiting for 1 worker at least")
        after = time.monotonic() - killed
        _, rest = run.communicate(timeout=30)
        took = time.monotonic() - killed

    assert run.returncode == 2, rest
    assert (b"the last of 1 is gone" if had else b"it has none yet") in shown
    assert b"(3 s, `--cluster-timeout`)" in shown
    assert b"none came within 3 s" in rest
    assert b"Traceback" not in rest
    # What is shown comes at once, without a worker after the start of Python.
    assert after < (2 if had else 20)
    assert 3 < took < after + 3 + 5
    assert (tmp_path / "out").read_bytes() == b"as it was"
    assert left_in(tmp_path) == ["out", "runs.jsonl"]


@pytest.mark.long
def test_worker_that_comes_in_time_goes_on(tmp_path: Path) -> None:
    """If another worker comes while a run waits, the run ends as if none had died."""
    with scheduled(tmp_path) as (address, _, workers):
        run = converting(tmp_path, address, 60)
        read_until(run, b"a range is done")
        workers[0].kill()
        read_until(run, b"waiting for 1 worker at least")
        workers.append(begun_worker(tmp_path))
        _, rest = run.communicate(timeout=60)

    assert run.returncode == 0, rest
    expected, _ = written(tmp_path / "runs.jsonl", tmp_path / "here")
    assert (tmp_path / "out").read_bytes() == expected


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
@pytest.mark.parametrize("had", [0, 1])
def test_run_that_waits_for_workers_can_be_stopped(
    tmp_path: Path, had: int, number: signal.Signals, code: int
) -> None:
    """A signal ends a run that waits for workers within seconds, and leaves nothing."""
    with scheduled(tmp_path, had) as (address, _, workers):
        run = converting(tmp_path, address, 600)
        if had:
            read_until(run, b"a range is done")
            workers[0].kill()
        read_until(run, b"waiting for 1 worker at least")
        time.sleep(0.5)
        run.send_signal(number)
        begin = time.monotonic()
        _, rest = run.communicate(timeout=30)
        took = time.monotonic() - begin
        left = in_session_of(run.pid)

    assert run.returncode == code, rest
    assert took < 5
    assert b"Traceback" not in rest
    assert left == []
    assert (tmp_path / "out").read_bytes() == b"as it was"
    assert left_in(tmp_path) == ["out", "runs.jsonl"]


def begun(role: str, file: Path, *given: str) -> "subprocess.Popen[bytes]":
    """Return a process of a cluster, which meets the others by a file."""
    command = [sys.executable, "-m", "dask", role, "--scheduler-file", str(file)]
    return subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--no-dashboard", *given], stderr=subprocess.DEVNULL
    )
