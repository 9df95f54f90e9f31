"""Signals to commands, and worker processes that are killed or fail."""

import os
import signal
import sys
from pathlib import Path
from random import Random

import pytest

from command_runs import Result, run
from command_server import BEFORE
from failing_calls import (
    READS,
    AtCall,
    Call,
    needs_filter,
    process_of,
    run_deciding,
)
from faults import Injections
from writing_commands import COMMANDS, Place, WritingCommand, answers, some

_FAST = [each for each in COMMANDS if not each.asks]
_NAMES = [each.name for each in _FAST]
_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
#: Lets small inputs be worth two worker processes, and interrupts be heeded.
_WORKERS = """
import signal
from harpia_formats.validation import run
from harpia_formats.validation.parallel import ranges, small_files
ranges.WORTH_SECONDS = small_files.WORTH = small_files.SMALL = run.LITTLE = 0
ranges.BUNDLE, ranges.MIN_RANGE = 1, 20_000
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
_PARALLEL = [
    "validate rows.jsonl --jobs 2",
    "convert rows.jsonl --to tencent-csv -o out.csv --jobs 2",
    "score rows.jsonl -m em --replicates 10 --to nemo-results -o out.json --jobs 2",
]


def script(folder: Path, *more: str) -> dict[str, str]:
    """Return the environment of a command with workers, before which scripts run."""
    path = folder.with_name(f"{folder.name}.py")
    path.write_text("\n".join([_WORKERS, *more]))
    return {BEFORE: str(path)}


def signalled(place: Place, at: int, number: signal.Signals, fault: Injections) -> bool:
    """Signal a command at its n-th call that writes; return whether there was one."""
    place.prepare(is_new=at % 2 == 0)

    def send(call: Call) -> int:
        os.kill(process_of(call.thread), number)
        return 0

    seen = AtCall(at, [place.data, place.temporary], send)
    environment = script(place.folder)
    result = place.run(
        lambda *words, **more: run_deciding(seen, *words, **more),
        environment=environment,
    )
    if not seen.is_reached:
        return False
    assert b"Traceback" not in result.stderr
    assert place.torn() == []
    assert place.parts() == [], (seen.seen, result)
    if result.returncode == place.command.code:
        assert place.is_complete()
        fault.add(number.name, "too late: the run had ended its work")
    else:
        assert result.returncode == _CODES[number], result
        what = f"exit code {_CODES[number]}, no part file, no process left"
        fault.add(number.name, what)
    return True


@needs_filter
@pytest.mark.parametrize("command", some(_FAST, 3))
def test_09_signals_while_files_are_written(
    tmp_path: Path, command: WritingCommand, fault: Injections
) -> None:
    """A command that is signalled while it writes ends with the code of the signal."""
    place = Place(tmp_path, command)
    place.learn()
    random = Random(command.name)  # noqa: S311 - a seed, not secrecy
    number = random.choice([*_CODES])
    assert signalled(place, random.randint(1, 6), number, fault)


@needs_filter
@pytest.mark.long
@pytest.mark.parametrize("number", _CODES)
@pytest.mark.parametrize("command", _FAST, ids=_NAMES)
def test_09_each_signal_at_every_call_that_writes(
    tmp_path: Path, command: WritingCommand, number: signal.Signals, fault: Injections
) -> None:
    """At whichever call it comes, a signal leaves no part file and no process."""
    place = Place(tmp_path, command)
    place.learn()
    at = 1
    while signalled(place, at, number, fault):
        at += 1
    assert at > len(place.complete)


class AtWorker:
    """Does something to the worker that makes the n-th read of the input."""

    def __init__(
        self, path: Path, at: int, number: signal.Signals, *, to_main: bool
    ) -> None:
        self._path, self._at, self._number = str(path), at, number
        self._to_main = to_main
        self._main = 0
        self.count = 0
        #: Processes that read the input, apart from the main one.
        self.workers: set[int] = set()

    def __call__(self, call: Call) -> int:
        """Count the reads of workers, and send the signal at one of them."""
        if call.path != self._path:
            return 0
        process = process_of(call.thread)
        self._main = self._main or process
        if process != self._main:
            self.workers.add(process)
            self.count += 1
            if self.count == self._at:
                os.kill(self._main if self._to_main else process, self._number)
        return 0


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a folder with rows that are worth workers."""
    (tmp_path / "rows.jsonl").write_bytes(answers(4_000))
    return tmp_path


def in_parallel(rows: Path, words: str, decide: AtWorker) -> Result:
    """Run a command with workers, whose reads of the input are seen."""
    names = READS - {"openat to read"}
    return run_deciding(
        decide, *words.split(), names=names, cwd=rows, environment=script(rows)
    )


@needs_filter
@pytest.mark.parametrize("number", some(_CODES, 2))
@pytest.mark.parametrize("words", _PARALLEL[:2])
def test_09_signals_while_workers_are_at_work(
    rows: Path, words: str, number: signal.Signals, fault: Injections
) -> None:
    """With workers, a signal ends the run with its code, and no process is left."""
    decide = AtWorker(rows / "rows.jsonl", 2, number, to_main=True)
    result = in_parallel(rows, words, decide)

    assert decide.count >= 2, "there were no workers"
    assert result.returncode == _CODES[number], result
    assert [each.name for each in rows.iterdir()] == ["rows.jsonl"]
    what = f"exit code {_CODES[number]}, no part file, no process left"
    fault.add(f"{number.name} with workers", what)


@needs_filter
@pytest.mark.parametrize("at", [1, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", _PARALLEL[:2])
def test_11_worker_is_killed(
    rows: Path, words: str, at: int, fault: Injections
) -> None:
    """If a worker is killed, its rows are done again, and the result is the same."""
    usual = run(*words.split(), cwd=rows, environment=script(rows))
    wanted = {each.name: each.read_bytes() for each in rows.iterdir()}
    for name in wanted.keys() - {"rows.jsonl"}:
        (rows / name).unlink()
    decide = AtWorker(rows / "rows.jsonl", at, signal.SIGKILL, to_main=False)
    result = in_parallel(rows, words, decide)

    assert decide.count >= at, "there were no workers"
    assert (result.returncode, result.stdout) == (usual.returncode, usual.stdout)
    assert {each.name: each.read_bytes() for each in rows.iterdir()} == wanted
    fault.add("SIGKILL to a worker", "the same result")


#: Kills the first worker when it begins.
_FIRST_KILLED = """
import os, signal
def kill():
    try:
        os.mkdir(MARK)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
os.register_at_fork(after_in_child=kill)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs workers that are forks")
@pytest.mark.parametrize("words", some(_PARALLEL, 3, 2))
def test_11_first_worker_is_killed(rows: Path, words: str, fault: Injections) -> None:
    """If the first worker is killed as it begins, the result is the same."""
    usual = run(*words.split(), cwd=rows, environment=script(rows))
    wanted = {each.name: each.read_bytes() for each in rows.iterdir()}
    for name in wanted.keys() - {"rows.jsonl"}:
        (rows / name).unlink()
    mark = rows.with_name(f"{rows.name}-mark")
    kill = _FIRST_KILLED.replace("MARK", repr(str(mark)))
    result = run(*words.split(), cwd=rows, environment=script(rows, kill))

    assert mark.exists(), "there were no workers"
    assert (result.returncode, result.stdout) == (usual.returncode, usual.stdout)
    assert {each.name: each.read_bytes() for each in rows.iterdir()} == wanted
    fault.add("SIGKILL to a worker that begins", "the same result")


#: What happens to each worker once it has been forked.
_NO_MEMORY = """
import os, resource
def limit():
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA, used + EXTRA))
os.register_at_fork(after_in_child=limit)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs workers that are forks")
@pytest.mark.parametrize("extra", some([1_000_000, 20_000_000], 2))
@pytest.mark.parametrize("words", some(_PARALLEL, 3))
def test_11_workers_out_of_memory(
    rows: Path, words: str, extra: int, fault: Injections
) -> None:
    """Workers without memory end neither the run nor their rows without a word."""
    usual = run(*words.split(), cwd=rows, environment=script(rows))
    for name in ("out.csv", "out.json"):
        (rows / name).unlink(missing_ok=True)
    limit = _NO_MEMORY.replace("EXTRA", str(extra))
    result = run(*words.split(), cwd=rows, environment=script(rows, limit))
    output = result.stdout + result.stderr

    assert b"Traceback" not in output, output.decode()
    if result.returncode == usual.returncode:
        assert result.stdout == usual.stdout
        fault.add("no memory for workers", "the same result")
    else:
        assert result.returncode in {1, 2, 3}, result
        assert b"memory" in output or b"rows.jsonl" in output, output
        assert [each.name for each in rows.iterdir()] == ["rows.jsonl"]
        fault.add("no memory for workers", "reported with the rows; no output")


#: An error that neither pickle nor its reader can make again.
_ERROR = """
import threading
from harpia_formats.validation.parallel import range_worker
class Unpicklable(Exception):
    def __init__(self, text, lock):
        super().__init__(text)
        self.lock = lock
def fail(*_):
    raise Unpicklable("the words of the error", threading.Lock())
range_worker._run = fail
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs workers that are forks")
def test_12_error_that_cannot_be_pickled(rows: Path, fault: Injections) -> None:
    """The words of such an error arrive with the rows, and the run ends with 3."""
    words = "validate rows.jsonl --jobs 2"
    result = run(*words.split(), cwd=rows, environment=script(rows, _ERROR))

    assert result.returncode == 3, result
    assert b"the words of the error" in result.stdout
    fault.add("an error with a lock in it", "exit code 3, its message with the rows")
