"""Row 48: a store that throttles, fails, sends too little, changes or freezes."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_runs import error_lines, run
from faults import Injections
from in_process import InProcess, Run
from object_store import Fault, Request, Store, serving

fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
pytest.importorskip("aiohttp", reason='needs the extra "remote"')
# Of the libraries, not of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def _rows(answer: str) -> bytes:
    """Return rows for which a file is read by three requests."""
    text = answer * 1_400
    row = (
        '{{"id":"{}","prompt":"q","references":["yes"],"outputs":[{{"text":"{}"}}]}}\n'
    )
    return "".join(row.format(at, text) for at in range(400)).encode()


ROWS = _rows("yes")
#: Another file with as many rows, of which each one begins where it did.
OTHER = _rows("not")
#: Where the time is set that an answer and a pause may take.
REMOTE = "harpia_formats.files.io.remote_file"
#: The seconds for an answer, and the pauses before it is asked for again.
TIMEOUT, PAUSES = 30, (0.5, 2.0)
FEW_TIMES = len(PAUSES)
#: What a fault is called in the report.
NAMES = {
    "throttle": "503 SlowDown",
    "fail": "500 InternalError",
    "cut": "a connection that ends in the middle of an answer",
    "few": "an answer with half of the bytes",
    "reset": "a connection that is closed without an answer",
    "freeze": "no answer",
    "stall": "an answer that stops in the middle",
}
BRIEF = ("throttle", "fail", "cut", "few", "reset")
#: A client of HTTP asks again by itself if a connection ends without an answer.
ASKED_AGAIN = 2


@pytest.fixture(params=["http", "s3"])
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Store, str]]:
    """Return a store and the address of its file, read by several requests."""
    scheme = request.param
    if scheme == "s3":
        pytest.importorskip("s3fs", reason='needs the extra "test-remote"')
    monkeypatch.setattr(f"{REMOTE}.PAUSES", (0.0,) * FEW_TIMES)
    with serving(Store({"/data/rows.jsonl": ROWS})) as found:
        for name, value in found.environment().items():
            monkeypatch.setenv(name, value)
        fsspec.get_filesystem_class(scheme).clear_instance_cache()
        root = "s3:/" if scheme == "s3" else found.url
        yield found, f"{root}/data/rows.jsonl"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the limit of time short."""
    monkeypatch.setattr(f"{REMOTE}.TIMEOUT", 0.3)


def convert(run: InProcess, url: str, output: object) -> Run:
    """Return a conversion of the file at an address."""
    return run("convert", url, "--from", "record", "--to", "record", "-o", output)


def shown_error(found: Run) -> str:
    """Return what a run that failed says."""
    assert found.code == 2, found.err
    assert "Traceback" not in found.err
    line = found.err.splitlines()[0]
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize("kind", BRIEF)
def test_48_a_store_that_fails_for_a_while(
    store: tuple[Store, str],
    kind: str,
    run: InProcess,
    tmp_path: Path,
    fault: Injections,
) -> None:
    """A request that fails twice is made a third time; the output is whole."""
    server, url = store
    server.fault = Fault(kind, times=FEW_TIMES)
    found = convert(run, url, tmp_path / "out.jsonl")

    assert found.code == 0, found.err
    assert server.faults == FEW_TIMES
    assert (tmp_path / "out.jsonl").read_bytes() == ROWS
    fault.add(f"{NAMES[kind]}, twice", "exit code 0, the output is whole")


@pytest.mark.parametrize("kind", ["throttle", "fail", "reset"])
def test_48_a_store_that_cannot_say_what_it_holds_for_a_while(
    store: tuple[Store, str], kind: str, run: InProcess, fault: Injections
) -> None:
    """A file is found although the store fails when it is asked for it first."""
    server, url = store
    server.fault = Fault(kind, lambda request: not request.reads, times=1)
    found = run("validate", url, "--from", "record")

    assert found.code == 0, found.err
    assert server.faults == 1
    fault.add(f"{NAMES[kind]}, once, while the file is looked for", "exit code 0")


@pytest.mark.parametrize("kind", BRIEF)
def test_48_a_store_that_fails_for_good(
    store: tuple[Store, str],
    kind: str,
    run: InProcess,
    tmp_path: Path,
    fault: Injections,
) -> None:
    """A request is made three times, then the run is given up, and writes nothing."""
    server, url = store
    server.fault = Fault(kind)
    found = convert(run, url, tmp_path / "out.jsonl")

    assert url in shown_error(found)
    assert 1 + FEW_TIMES <= server.faults <= (1 + FEW_TIMES) * ASKED_AGAIN
    assert list(tmp_path.iterdir()) == []
    fault.add(f"{NAMES[kind]}, always", "exit code 2, no output")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["freeze", "stall"])
def test_48_a_store_that_freezes(
    store: tuple[Store, str],
    kind: str,
    run: InProcess,
    tmp_path: Path,
    fault: Injections,
) -> None:
    """A store that says nothing any more is given up after the limit of time."""
    server, url = store
    server.fault = Fault(kind)
    found = convert(run, url, tmp_path / "out.jsonl")

    assert "did not answer in time" in shown_error(found)
    assert server.faults == 1 + FEW_TIMES
    assert list(tmp_path.iterdir()) == []
    fault.add(f"{NAMES[kind]}, always", "exit code 2 after the limit of time")


@pytest.mark.parametrize("other", [OTHER, ROWS + OTHER], ids=["as long", "longer"])
def test_48_a_file_that_changes_between_any_two_requests(
    store: tuple[Store, str],
    other: bytes,
    run: InProcess,
    tmp_path: Path,
    fault: Injections,
) -> None:
    """Rows of two files are never mixed, whenever the second takes the first's place.

    This holds for a file that is replaced before its first byte is read, too: it would
    be cut where the first one ended.
    """
    server, url = store
    total, output = _reads(server, run, url), tmp_path / "out.jsonl"
    assert total == 3
    for place in range(total):
        seen = len(server.asked)

        def replace(request: Request, seen: int = seen, place: int = place) -> None:
            before = [each for each in server.asked[seen:] if each.reads]
            if request.reads and len(before) == place:
                server.files["/data/rows.jsonl"] = other

        server.files["/data/rows.jsonl"], server.watch = ROWS, replace
        found = convert(run, url, output)

        assert "was replaced by another file" in shown_error(found)
        assert not output.exists()
        fault.add("another file between two requests", "exit code 2, no output")


def _reads(server: Store, run: InProcess, url: str) -> int:
    """Return how many requests for bytes a run makes."""
    assert run("validate", url, "--from", "record").code == 0
    return sum(request.reads for request in server.asked)


def _is_upload(request: Request) -> bool:
    return request.method in {"PUT", "POST"}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("store", ["s3"], indirect=True)
@pytest.mark.parametrize("kind", ["throttle", "fail", "freeze"])
@pytest.mark.parametrize("times", [1, None])
def test_48_a_store_that_does_not_take_the_output(
    store: tuple[Store, str],
    kind: str,
    times: int | None,
    run: InProcess,
    fault: Injections,
) -> None:
    """An output is sent again, or is absent and nothing is left of it."""
    server, url = store
    server.fault = Fault(kind, _is_upload, times)
    found = convert(run, url, "s3://data/out.jsonl")
    is_written = "/data/out.jsonl" in server.files

    assert server.uploads == {}
    if times is None:
        assert "s3://data/out.jsonl" in shown_error(found)
        assert not is_written
        fault.add(f"{NAMES[kind]} to an upload, always", "exit code 2, no output")
    else:
        assert found.code == 0, found.err
        assert server.files["/data/out.jsonl"] == ROWS
        fault.add(f"{NAMES[kind]} to an upload, once", "exit code 0, output is whole")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_48_a_frozen_store_is_given_up_within_the_stated_limit(
    scheme: str, tmp_path: Path, fault: Injections
) -> None:
    """A command waits three times for 30 seconds, with pauses, and no longer."""
    if scheme == "s3":
        pytest.importorskip("s3fs", reason='needs the extra "test-remote"')
    limit = 3 * TIMEOUT + sum(PAUSES)
    with serving(Store({"/data/rows.jsonl": ROWS}, Fault("freeze"))) as server:
        root = "s3:/" if scheme == "s3" else server.url
        began = time.monotonic()
        found = run(
            "validate",
            f"{root}/data/rows.jsonl",
            cwd=tmp_path,
            environment=server.environment(),
            timeout=2 * limit,
        )
        taken = time.monotonic() - began

    assert found.returncode == 2
    assert "did not answer in time" in error_lines(found)[0]
    assert taken < limit + 20
    fault.add("no answer, always, with real limits", "exit code 2 in 93 seconds")
