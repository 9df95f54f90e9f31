"""An S3 store on this machine: read by ranges, and written whole or not at all."""

import gzip
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import SinkError
from harpia_formats.files.io.remote_sink import RemoteSink
from small_ranges import cut_into

s3fs = pytest.importorskip("s3fs", reason='needs the extra "test-remote"')
moto = pytest.importorskip("moto.server", reason='needs the extra "test-remote"')
# Of the libraries, not of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

ROOT = Path(__file__).parents[4]
RUNS = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
ROWS = RUNS.read_bytes()
SECRET = "wJalrCANARY"  # noqa: S105 - searched for in messages


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Return the URL of a store server."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    found = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    found.start()
    host, port = found.get_host_and_port()
    yield f"http://{host}:{port}"
    found.stop()


@pytest.fixture
def store(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a file system with an empty bucket, `data`, found by the environment."""
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "AKIACANARY",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    found = s3fs.S3FileSystem(use_listings_cache=False)
    found.mkdir("data")
    yield found
    found.rm("data", recursive=True)
    s3fs.S3FileSystem.clear_instance_cache()


def uploads_of(store: Any) -> list[Any]:
    """Return the uploads that were begun and neither finished nor given up."""
    answer = store.call_s3("list_multipart_uploads", Bucket="data")
    return list(answer.get("Uploads", []))


def test_a_bucket_is_read_as_a_folder_is(store: Any) -> None:
    """A key, a prefix and a pattern name the same data as they do on a disk."""
    store.pipe("data/a/runs.jsonl", ROWS)
    store.pipe("data/a/more.jsonl.gz", gzip.compress(ROWS))
    for given, count in (
        ("s3://data/a/runs.jsonl", 1),
        ("s3://data/a/", 2),
        ("s3://data/*/*.gz", 1),
    ):
        report = harpia_formats.validate(given)

        assert report.ok
        assert [each.records for each in report.files] == [12] * count


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("s3://data/none.jsonl", "does not exist"),
        ("s3://none/x.jsonl", "does not exist"),
        ("s3://data/none/*.jsonl", "no file matches this pattern"),
    ],
)
@pytest.mark.usefixtures("store")
def test_missing_key_is_a_failure_with_a_reason(url: str, reason: str) -> None:
    """A missing key or bucket is reported as a failed input with its reason."""
    (count,) = harpia_formats.validate(url).files

    assert (count.path, count.reason) == (url, reason)


@pytest.mark.usefixtures("store")
def test_missing_credentials_are_an_error_with_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Missing credentials are an error with advice, and no key is shown."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    s3fs.S3FileSystem.clear_instance_cache()
    (count,) = harpia_formats.validate("s3://data/x.jsonl").files

    assert "no credentials were found" in str(count.reason)
    assert "CANARY" not in repr(count)


@pytest.mark.parametrize("jobs", [1, 2])
def test_conversion_in_a_store_equals_that_on_a_disk(
    store: Any, tmp_path: Path, jobs: int
) -> None:
    """Bytes and losses of a conversion do not depend on where the data are."""
    source, output = tmp_path / "runs.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(ROWS * 40)
    store.put(str(source), "data/runs.jsonl")
    first = harpia_formats.convert(source, to="nemo", output=output)
    second = harpia_formats.convert(
        "s3://data/runs.jsonl", to="nemo", output="s3://data/out.jsonl", jobs=jobs
    )

    assert second.ok
    assert store.cat("data/out.jsonl") == output.read_bytes()
    assert [each.losses.carried for each in second.losses] == [
        each.losses.carried for each in first.losses
    ]
    assert uploads_of(store) == []


def test_failed_conversion_leaves_nothing(store: Any) -> None:
    """A failed conversion leaves neither a key nor an unfinished upload."""
    with pytest.raises(harpia_formats.ValidationFailed):
        harpia_formats.convert(ROWS + b"{}\n", to="nemo", output="s3://data/out.jsonl")

    assert store.ls("data") == []
    assert uploads_of(store) == []


@pytest.mark.parametrize("commits", [True, False])
def test_a_large_upload_is_seen_when_it_is_finished(store: Any, commits: bool) -> None:
    """Parts are sent from the first 50 MB on, and the key appears at the end."""
    block = bytes(1024 * 1024)
    sink = RemoteSink("s3://data/large.bin", overwrite=True)
    for _ in range(60):
        sink.write(block)
    before = store.ls("data"), len(uploads_of(store))
    (sink.commit if commits else sink.discard)()
    del sink

    assert before == ([], 1)
    assert uploads_of(store) == []
    assert [each.rpartition("/")[2] for each in store.ls("data")] == (
        ["large.bin"] if commits else []
    )


def test_a_key_that_is_there_is_kept(store: Any) -> None:
    """A key is replaced only with `--overwrite`."""
    store.pipe("data/out.jsonl", b"old")
    with pytest.raises(SinkError, match="already exists"):
        harpia_formats.convert(ROWS, to="nemo", output="s3://data/out.jsonl")

    assert store.cat("data/out.jsonl") == b"old"


@pytest.mark.usefixtures("store")
def test_missing_bucket_is_an_error() -> None:
    """An output that cannot be written is an error without secrets."""
    with pytest.raises(SinkError) as failed:
        harpia_formats.convert(ROWS, to="nemo", output="s3://none/out.jsonl")

    assert str(failed.value) == "cannot write s3://none/out.jsonl: does not exist"


@pytest.mark.long
def test_a_cluster_reads_and_writes_a_store(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers read ranges of a key themselves, with the same result."""
    distributed = pytest.importorskip(
        "distributed", reason='needs the extra "test-remote"'
    )
    cut_into(monkeypatch, 100_000)
    source, output = tmp_path / "runs.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(ROWS * 40)
    store.put(str(source), "data/runs.jsonl")
    harpia_formats.convert(source, to="nemo", output=output)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        engine = cluster.scheduler_address.replace("tcp", "dask")
        report = harpia_formats.convert(
            "s3://data/runs.jsonl",
            to="nemo",
            output="s3://data/out.jsonl",
            engine=engine,
        )
        there = harpia_formats.validate("s3://data/runs.jsonl", engine=engine)
        logs = str(cluster.get_logs())
    here = harpia_formats.validate("s3://data/runs.jsonl")

    assert report.ok
    assert store.cat("data/out.jsonl") == output.read_bytes()
    assert there == here
    assert here.groups
    assert "CANARY" not in logs
