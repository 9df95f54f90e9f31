"""Runs without shared memory or a temporary folder, and with clocks that go back."""

import errno
import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import command_server
from command_runs import TIMEOUT, Result, environment_with, error_lines, run
from command_server import BEFORE
from failing_calls import AtCall, Call, needs_filter, run_deciding
from faults import Injections
from writing_commands import COMMANDS, Place, WritingCommand, answers, some

_FAST = [each for each in COMMANDS if not each.asks]
#: Lets small inputs be worth two worker processes, which share files in memory.
WORKERS = """
from harpia_formats.validation import run
from harpia_formats.validation.parallel import ranges, small_files
ranges.WORTH_SECONDS = small_files.WORTH = small_files.SMALL = run.LITTLE = 0
ranges.BUNDLE, ranges.MIN_RANGE = 1, 20_000
"""
#: Calls that make files and folders.
MAKES = ("openat", "mkdir", "mkdirat")
#: Calls that need room for what they write.
_FILLS = ("write", "writev", "pwrite64", "ftruncate", "fallocate")
_SHARED = "/dev/shm"  # noqa: S108 - it is watched, not written
#: Commands over an array and over lines, with two workers.
_IN_PARALLEL = [
    "validate rows.json --jobs 2",
    "validate rows.jsonl.gz --jobs 2",
    "convert rows.jsonl --to tencent-csv --jobs 2",
    "score rows.jsonl -m em --replicates 10 --jobs 2",
]


def with_rows(folder: Path, count: int = 1_500) -> None:
    """Write rows as lines, compressed lines and an array."""
    lines = answers(count)
    (folder / "rows.jsonl").write_bytes(lines)
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress(lines))
    array = b"[" + lines.strip().replace(b"\n", b",\n") + b"]"
    (folder / "rows.json").write_bytes(array)


def script(folder: Path, text: str) -> dict[str, str]:
    """Return the environment of a command before which a script runs."""
    path = folder.with_name(f"{folder.name}.py")
    path.write_text(text)
    return {BEFORE: str(path)}


def is_below(call: Call, *folders: Path | str) -> bool:
    """Tell whether a call acts on a folder, or on what is in it."""
    return any(f"{call.path}/".startswith(f"{each}/") for each in folders)


def shown(result: Result) -> tuple[int, bytes, bytes]:
    """Return all that a run gave."""
    return result.returncode, result.stdout, result.stderr


@needs_filter
@pytest.mark.skipif(not Path(_SHARED).is_dir(), reason=f"needs {_SHARED} to refuse it")
@pytest.mark.parametrize("words", some(_IN_PARALLEL, 2))
@pytest.mark.parametrize("error", some(["ENOENT", "EACCES", "ENOSPC"], 2))
def test_46_no_shared_memory(
    tmp_path: Path, words: str, error: str, fault: Injections
) -> None:
    """Where /dev/shm cannot be used, the result is the same, or there is a reason."""
    with_rows(tmp_path)
    workers = script(tmp_path, WORKERS)
    usual = run(*words.split(), cwd=tmp_path, environment=workers)
    refused: list[Call] = []

    def decide(call: Call) -> int:
        names = _FILLS if error == "ENOSPC" else MAKES
        if not is_below(call, _SHARED) or call.name not in names:
            return 0
        refused.append(call)
        return int(getattr(errno, error))

    result = run_deciding(decide, *words.split(), cwd=tmp_path, environment=workers)

    assert usual.returncode == 0, usual
    if "score" not in words:  # whose workers need no files
        assert refused, "there were no workers"
    if result.returncode == 2:
        assert "worker processes: cannot be started here" in error_lines(result)[0]
        fault.add(f"{error} in {_SHARED}", "exit code 2, and the advice `--jobs 1`")
    else:
        assert shown(result) == shown(usual)
        fault.add(f"{error} in {_SHARED}", "the same result")


@needs_filter
@pytest.mark.parametrize("command", some(_FAST, 3))
def test_46_no_temporary_folder(
    tmp_path: Path, command: WritingCommand, fault: Injections
) -> None:
    """Where only the working folder can be written, the result is the same."""
    place = Place(tmp_path, command)
    place.learn()
    place.prepare(is_new=True)

    def decide(call: Call) -> int:
        is_new = call.name in MAKES and not is_below(call, place.data, "/dev")
        return errno.EROFS if is_new else 0

    result = place.run(lambda *words, **more: run_deciding(decide, *words, **more))
    assert result.returncode == command.code, result
    assert place.is_complete()
    assert place.left() == []
    fault.add("no temporary folder", "the same result")


@needs_filter
def test_46_no_temporary_folder_for_what_is_piped_in(
    tmp_path: Path, fault: Injections
) -> None:
    """A large input that must be kept ends the run with 2 if there is no place."""
    rows = answers(100_000)

    def decide(call: Call) -> int:
        is_new = call.name in MAKES and not is_below(call, "/dev")
        return errno.EROFS if is_new else 0

    words = ("merge", "-", "-o", "-", "--quiet")
    result = run_deciding(decide, *words, cwd=tmp_path, stdin=rows, timeout=60)
    assert (result.returncode, len(error_lines(result))) == (2, 1), result.stderr
    assert list(tmp_path.iterdir()) == []
    fault.add("no temporary folder, and much to keep", "exit code 2 with the reason")


#: Every look at the clock is an hour before the last one.
_BACK = """
import datetime, itertools, time
steps, real = itertools.count(), time.time
time.time = lambda: real() - 3600 * next(steps)
time.time_ns = lambda: int(time.time() * 1e9)
class Back(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
    @classmethod
    def utcnow(cls):
        return cls.utcfromtimestamp(time.time())
datetime.datetime = Back
"""


@pytest.mark.skipif(not command_server.can_prepare(), reason="needs a forked command")
@pytest.mark.parametrize("command", some(_FAST, 3))
def test_47_clock_that_goes_back(
    tmp_path: Path, command: WritingCommand, fault: Injections
) -> None:
    """With a clock that goes back at each look, the outputs are the same."""
    place = Place(tmp_path, command, ("--progress", "always"))
    place.learn()
    place.prepare(is_new=False)
    result = place.run(environment=script(tmp_path, _BACK))
    assert result.returncode == command.code, result
    assert place.is_complete()
    assert b" -" not in result.stderr.replace(b" --", b""), "a negative duration"
    fault.add("a clock that goes back", "the same result")


#: Commands that read `rows.jsonl`, of some blocks.
_READING = [
    "convert rows.jsonl --to tencent-csv -o out.csv",
    "convert rows.jsonl --to parquet -o out.parquet",
    "merge rows.jsonl -o out.jsonl",
    "validate rows.jsonl --report json=out.json",
    "validate rows.jsonl --fix -o out.jsonl",
    "score rows.jsonl -m em --replicates 10 --to nemo-results -o out.json",
    "split rows.jsonl --ratio a=0.5,b=0.5 -o {value}.jsonl",
    "stats rows.jsonl --report json=out.json",
    "head rows.jsonl -n 30000 -o out.jsonl",
]


def at_read(
    folder: Path,
    number: int,
    act: Callable[[Call], int],
    words: str,
    *,
    goes_on: bool = False,
) -> tuple[AtCall, Result]:
    """Run a command that meets something at the n-th call on its input."""
    at = AtCall(number, [folder / "rows.jsonl"], act, goes_on)
    names = {"read", "pread64", "readv"}
    return at, run_deciding(at, *words.split(), names=names, cwd=folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def reads_fail(
    folder: Path, words: str, fault: Injections, *, is_every: bool = False
) -> None:
    """Let calls on the input fail, from a later one on in each run."""
    (folder / "rows.jsonl").write_bytes(answers(20_000))
    at, result = at_read(folder, 0, lambda _: 0, words)
    assert result.returncode == 0, result
    usual, count = contents(folder), len(at.seen)
    for number in [*range(1, count + 1)] if is_every else [1, count // 2, count]:
        for name in usual.keys() - {"rows.jsonl"}:
            (folder / name).unlink(missing_ok=True)
        at, result = at_read(folder, number, lambda _: errno.EIO, words, goes_on=True)
        if not at.is_reached:  # workers do not read alike in all runs
            continue
        left = contents(folder)
        if result.returncode == 0:
            assert left == usual
            fault.add("EIO at the end of the input", "the same result")
            continue
        assert result.returncode == 2, (number, at.seen, result)
        assert b"nput/output error" in result.stderr
        assert left.keys() - {"out.json"} == {"rows.jsonl"}
        fault.add("EIO at the reads of the input, from one on", NO_OUTPUT)


@needs_filter
@pytest.mark.parametrize("words", _READING[::4])
def test_51_input_fails(tmp_path: Path, words: str, fault: Injections) -> None:
    """An error of the disk while the input is read ends the run without an output."""
    reads_fail(tmp_path, words, fault)


@needs_filter
@pytest.mark.long
@pytest.mark.parametrize("words", _READING)
def test_51_every_read_of_the_input_fails(
    tmp_path: Path, words: str, fault: Injections
) -> None:
    """Whichever read fails, the run ends without an output."""
    reads_fail(tmp_path, words, fault, is_every=True)


NO_OUTPUT = "exit code 2, no output; reports tell of it"
_CHANGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: os.truncate(path, 100_000),
    "written again": lambda path: path.write_bytes(answers(20_000, ["other"])),
    "longer": lambda path: path.write_bytes(path.read_bytes() * 2),
}


@needs_filter
@pytest.mark.parametrize(
    ("words", "change"), [*zip(_READING[::3], _CHANGES, strict=True)]
)
def test_51_input_changes(
    tmp_path: Path, words: str, change: str, fault: Injections
) -> None:
    """If the input changes while it is read, the run ends without an output."""
    input_changes(tmp_path, words, change, fault)


@needs_filter
@pytest.mark.long
@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("words", _READING)
def test_51_input_of_any_command_changes(
    tmp_path: Path, words: str, change: str, fault: Injections
) -> None:
    """However the input changes, no command writes rows of two versions."""
    input_changes(tmp_path, words, change, fault)


def input_changes(tmp_path: Path, words: str, change: str, fault: Injections) -> None:
    """Change the input while a command reads it, and check what came out."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(answers(20_000))

    def act(_: Call) -> int:
        _CHANGES[change](path)
        return 0

    at, result = at_read(tmp_path, 3, act, words)
    assert at.is_reached
    assert result.returncode == 2, result
    assert b"changed while it was read" in result.stderr
    left = [each.name for each in tmp_path.iterdir() if each.name != "out.json"]
    assert left == ["rows.jsonl"]
    fault.add(f"the input is {change} while it is read", NO_OUTPUT)


#: Commands that write more to standard output than a pipe holds.
_PRINTING = [
    "convert rows.jsonl --to record",
    "convert rows.jsonl --to nemo",
    "merge rows.jsonl",
    "head rows.jsonl -n 3000",
    "sample rows.jsonl -n 3000",
    "validate wrong.jsonl --schema schema.json --examples 0 --max-problems 0",
]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a forked command")
@pytest.mark.parametrize("words", _PRINTING)
def test_10_reader_ends_early(tmp_path: Path, words: str, fault: Injections) -> None:
    """If nobody reads on, the run ends with 141 and says nothing of it."""
    (tmp_path / "rows.jsonl").write_bytes(answers(3_000))
    (tmp_path / "wrong.jsonl").write_bytes(b'{"a": 7}\n' * 5_000)
    (tmp_path / "schema.json").write_text('{"properties": {"a": {"type": "string"}}}')
    before = {*tmp_path.iterdir()}
    program = tmp_path.with_name(f"{tmp_path.name}-program")
    command_server.write_program(program)
    with subprocess.Popen(  # noqa: S603 - the command is ours
        [program, *words.split(), "--quiet"],
        cwd=tmp_path,
        env=environment_with({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(1)
        process.stdout.close()
        message = process.stderr.read()
        code = process.wait(TIMEOUT)

    assert (code, message) == (141, b"")
    assert {*tmp_path.iterdir()} == before
    fault.add("the reader ends after the first byte", "exit code 141, no message")
