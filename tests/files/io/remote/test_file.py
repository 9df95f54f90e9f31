"""Remote files are read as local ones, by few requests, with a reason on failure."""

import gzip
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats.plugins import FileCount


def loaded(name: str) -> Any:
    """Return the module of that name next to this one, which nothing else imports."""
    spec = importlib.util.spec_from_file_location(
        name, Path(__file__).parents[3] / f"{name}.py"
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_server = loaded("web_server")
Web, serving = _server.Web, _server.serving
fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
aiohttp = pytest.importorskip("aiohttp", reason='needs the extra "remote"')

ROOT = Path(__file__).parents[4]
ROWS = (ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl").read_bytes()
MANY = ROWS * 90
#: Bytes of the first request for the data of a file.
FIRST = 262_144
NEEDS_EXTRA = 'needs the extra "remote": pip install "harpia-formats[remote]"'
SECRET = "hunter2"  # noqa: S105 - searched for in messages


@pytest.fixture
def memory() -> Iterator[Any]:
    """Return an empty store in memory."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a server, without pauses between attempts."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    fsspec.filesystem("http").clear_instance_cache()
    with serving(Web({"/runs.jsonl": MANY})) as found:
        yield found


def only_file(*inputs: Any, **options: Any) -> FileCount:
    """Return the counts of the only file."""
    (count,) = harpia_formats.validate(*inputs, **options).files
    return count


def reason_for(url: str) -> str | None:
    """Return why a file of which no record was read was not read."""
    count = only_file(url)
    assert count.records == 0
    return count.reason


def test_a_store_is_read_as_a_folder_is(memory: Any) -> None:
    """A file, a folder and a pattern name the same data as they do on a disk."""
    memory.pipe("/a/runs.jsonl", ROWS)
    memory.pipe("/a/b/more.jsonl.gz", gzip.compress(ROWS))
    memory.pipe("/a/b/notes.txt", b"no data")
    memory.pipe("/a/.hidden/x.jsonl", ROWS)

    for given, names in (
        ("memory://a/runs.jsonl", ["runs.jsonl"]),
        ("memory://a/", ["more.jsonl.gz", "runs.jsonl"]),
        ("memory://a/*/*.gz", ["more.jsonl.gz"]),
    ):
        report = harpia_formats.validate(given)
        assert report.ok
        assert [each.path.rpartition("/")[2] for each in report.files] == names
        assert {each.records for each in report.files} == {12}


def test_file_named_twice_is_read_once(memory: Any) -> None:
    """A file named by a URL and by a pattern is one file."""
    memory.pipe("/a/runs.jsonl", ROWS)

    assert only_file("memory://a/runs.jsonl", "memory://a/*").records == 12


@pytest.mark.parametrize("scheme", ["file", "FILE", "local"])
def test_file_named_by_path_and_by_url_is_read_once(
    tmp_path: Path, scheme: str
) -> None:
    """It is one file, by whatever name its folder or itself is named again."""
    path = tmp_path / "runs.jsonl"
    path.write_bytes(ROWS)
    urls = [f"{scheme}://{path}", f"{scheme}://{tmp_path}"]

    assert only_file(path, *urls).records == 12
    assert only_file(*urls, path).records == 12


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("memory://a/none.jsonl", "does not exist"),
        ("memory://a/*.jsonl", "no file matches this pattern"),
        ("nosuch://a/x", "protocol not known: nosuch"),
    ],
)
@pytest.mark.usefixtures("memory")
def test_missing_url_is_a_failure_with_a_reason(url: str, reason: str) -> None:
    """A URL without a file is reported as a failed input with its reason."""
    report = harpia_formats.validate(url)

    assert [(each.path, each.reason) for each in report.failures] == [(url, reason)]


def test_every_command_reads_addresses(memory: Any) -> None:
    """Remote files are detected, converted, compared and scored like local ones."""
    memory.pipe("/a/runs.jsonl", ROWS)
    url, local = "memory://a/runs.jsonl", ROOT / "fixtures/eee@0.2.0/valid/runs.jsonl"

    (found,) = harpia_formats.detect(url)
    assert found.format == "eee@0.2.0"
    assert harpia_formats.roundtrip(url, via="record").ok
    assert harpia_formats.diff(url, local).ok
    scored = [harpia_formats.score(each, metrics=("em",)) for each in (url, local)]
    assert scored[0].total == scored[1].total


# -- requests ------------------------------------------------------------------------


def test_a_file_is_read_by_few_large_requests(web: Any) -> None:
    """Each request is one range, four times as long as the one before."""
    count = only_file(
        f"{web.url}/runs.jsonl", format="eee@0.2.0", ignore=("X101",), jobs=1
    )
    ranges = [each for method, each in web.asked if method == "GET" and each]
    sizes = [
        int(end) - int(begin) + 1
        for begin, end in (each.removeprefix("bytes=").split("-") for each in ranges)
    ]

    assert (count.records, count.bytes, count.reason) == (12 * 90, len(MANY), None)
    assert sizes[:2] == [1, FIRST]
    assert sum(sizes[1:]) == len(MANY)
    assert len(sizes) <= 4


def test_a_server_without_ranges_is_read_as_a_stream(web: Any) -> None:
    """A server without ranges sends the file once."""
    web.ranges = False
    count = only_file(f"{web.url}/runs.jsonl")

    assert (count.records, count.bytes, count.reason) == (12 * 90, len(MANY), None)


def test_a_compressed_file_comes_as_it_lies(web: Any) -> None:
    """Compressed data is requested as it is and decompressed here."""
    web.files["/x.jsonl.gz"] = gzip.compress(ROWS)

    assert only_file(f"{web.url}/x.jsonl.gz").records == 12


# -- what goes wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, "does not exist"),
        (403, "permission denied by the server (403)"),
        (401, "permission denied by the server (401): it requires credentials"),
        (503, "the server answered 503 Service Unavailable"),
    ],
)
def test_error_status_has_a_plain_reason(web: Any, status: int, reason: str) -> None:
    """The reason names the HTTP status, also if the library reports "not found"."""
    web.status = status
    url = f"{web.url}/runs.jsonl"

    assert reason_for(url) == reason


def test_unreachable_server_has_a_plain_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port and an unknown host are reported as such."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused = reason_for(f"http://127.0.0.1:{port}/x.jsonl")
    unknown = reason_for("http://no-such-host.invalid/x.jsonl")

    assert refused == "the server cannot be reached: it refuses connections"
    assert unknown == "the server cannot be reached: its name is unknown"


def test_a_server_that_says_nothing_is_given_up(
    web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does not answer is given up after the time limit."""
    usual, asked = aiohttp.ClientTimeout, []

    def short(total: None, **limits: float) -> Any:
        asked.append(limits)
        return usual(total, **dict.fromkeys(limits, 0.2))

    monkeypatch.setattr(aiohttp, "ClientTimeout", short)
    web.go.clear()

    reason = reason_for(f"{web.url}/runs.jsonl?slow")
    assert reason == "the server did not answer in time"
    assert asked[0] == {"sock_connect": 30, "sock_read": 30}


def test_rows_before_a_failure_are_validated(web: Any) -> None:
    """If the middle of a file cannot be read, the rows before it are validated.

    It is asked for again before it is given up.
    """
    web.broken_from = 2 * FIRST
    count = only_file(f"{web.url}/runs.jsonl", ignore=("X101",))

    assert 0 < count.records < 12 * 90
    assert count.invalid == 0
    assert not count.complete
    assert str(count.reason).startswith("the server answered 500")
    assert len([each for each in web.asked if each[1].startswith("bytes=262144-")]) == 3


def test_another_file_with_the_same_name_is_seen(web: Any) -> None:
    """A file that is replaced while it is read is reported as incomplete."""

    def replaced(_: object) -> None:
        web.etag = '"two"'

    count = only_file(f"{web.url}/runs.jsonl", progress=replaced)

    assert not count.complete
    assert str(count.reason).startswith("was replaced by another file while it was")


class Changing(dict[str, bytes]):
    """Files that are changed once a server has sent their size and its ranges."""

    def __init__(self, web: Any, change: Callable[[bytes], bytes]) -> None:
        super().__init__(web.files)
        self.web, self.change = web, change

    def get(self, name: str, _: Any = None) -> bytes:
        """Return a file, changed from the third request on."""
        return self[name] if len(self.web.asked) < 3 else self.change(self[name])


def test_a_file_that_was_replaced_before_its_first_byte(web: Any) -> None:
    """Data with the tag of another file are none of the file that was found."""

    def replaced(data: bytes) -> bytes:
        web.etag = '"two"'
        return data

    web.files = Changing(web, replaced)
    web.files["/runs.jsonl"] = ROWS

    assert reason_for(f"{web.url}/runs.jsonl") == (
        "was replaced by another file while it was read"
    )


def test_a_short_answer_is_no_data(web: Any) -> None:
    """A range with fewer bytes than requested is an error."""
    web.files = Changing(web, lambda data: data[: FIRST // 2])
    reason = reason_for(f"{web.url}/runs.jsonl")

    assert reason == f"gave 131,072 of {FIRST:,} bytes at 0"


@pytest.mark.parametrize("status", [0, 404, 403, 500])
def test_secrets_are_not_shown(web: Any, status: int) -> None:
    """No name, reason or report contains a password or a signature."""
    web.status = status
    host = web.url.removeprefix("http://")
    url = f"http://me:{SECRET}@{host}/runs.jsonl?X-Amz-Signature={SECRET}"
    report = harpia_formats.validate(url)

    assert SECRET not in repr(report)
    assert report.files[0].path == f"http://***@{host}/runs.jsonl"


@pytest.mark.parametrize(
    ("url", "missing", "reason"),
    [
        ("s3://b/x", "s3fs", "s3:// needs one more package: pip install s3fs"),
        ("https://h/x", "aiohttp", NEEDS_EXTRA),
        ("memory://x", "fsspec", NEEDS_EXTRA),
    ],
)
def test_a_missing_package_is_named(url: str, missing: str, reason: str) -> None:
    """A missing package is reported with the command that installs it, and exit 2."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"sys.argv = ['harpia-formats', 'validate', {url!r}]\n"
        "from harpia_formats.cli import main; main()"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=False
    )

    assert done.stderr.decode().splitlines() == [f"error: {url}: {reason}"]
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("s3://user:hunter2@127.0.0.1:1/b/x", "a bucket has no user or password"),
        ("https://127.0.0.1:99999/x", "its host or port is not valid"),
        ("https://user:hunter2@h:x/y", "its host or port is not valid"),
        ("dask://h:1", "is a cluster and no file; engine names it"),
    ],
)
def test_an_address_that_names_no_file_has_a_reason(url: str, reason: str) -> None:
    """What is wrong with an address is reported, and no secret of it."""
    error = str(reason_for(url))

    assert reason in error
    assert SECRET not in error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Parameter validation failed:\nInvalid name of a bucket",
            "parameter validation failed: Invalid name of a bucket",
        ),
        ("It failed:", "it failed"),
    ],
)
def test_the_reason_on_the_second_line_is_reported(
    memory: Any, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    """A message that announces its reason is shown with it, and without a colon."""

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError(text)

    monkeypatch.setattr(type(memory), "info", fail)

    assert reason_for("memory://a/runs.jsonl") == reason


def test_schemes_have_letters_of_any_case(web: Any) -> None:
    """`HTTP://` is the same as `http://`."""
    assert only_file(f"HTTP{web.url[4:]}/runs.jsonl").bytes == len(MANY)
