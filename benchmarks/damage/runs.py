"""Damage files, and run a command on each in a process of its own.

The process is a copy of one that has imported the program, so that a run takes some
milliseconds and a crash ends nothing but the copy.
"""

import gc
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from damage.kinds import Kind

#: Seconds of processor time after which a command hangs.
SECONDS = 20
#: Bytes of the messages that are kept of a command.
STDERR_BYTES = 1_000
#: The outcomes: what the exit code says, or how the process ended otherwise.
VALID, OTHER, FINDING, REFUSED, BUG, CRASH, HANGS, ENDED = (
    "unchanged",
    "other values",
    "finding",
    "refused",
    "exit 3",
    "crash",
    "hangs",
    "other exit",
)
OUTCOMES = VALID, OTHER, FINDING, REFUSED, BUG, CRASH, HANGS, ENDED
#: The outcomes that no damage may have.
FAILURES = frozenset({BUG, CRASH, HANGS, ENDED})
_codes = {0: VALID, 1: FINDING, 2: REFUSED, 3: BUG}
_of_time = frozenset({signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    outcome: str
    #: The most bytes of memory that its process had, with shared ones.
    peak: int
    seconds: float
    #: The end of what it wrote to its standard error.
    message: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A damaged file, and how a command ended with it."""

    kind: str
    damage: str
    #: The number by which the same file is made again.
    seed: int
    command: tuple[str, ...]
    ended: Ended


@dataclass(slots=True)
class Outcomes:
    """The outcomes of a kind with a damage."""

    counts: Counter[str] = field(default_factory=Counter)
    peak: int = 0


def damaged(kind: Kind, damage: str, seed: int) -> tuple[bytes, bytes]:
    """Return a file, and the same one damaged."""
    random = Random(f"{kind.name} {damage} {seed}")
    whole = kind.make(random)
    return whole, kind.damages[damage](random, whole)


def trials(kind: Kind, count: int, folder: Path, first: int = 0) -> Iterator[Trial]:
    """Yield what happens with so many damaged files of a kind, of each damage by turns.

    The seeds of the files begin with `first`.
    """
    warm_up(kind, folder)
    names = [*kind.damages]
    for seed in range(first, first + count):
        damage = names[seed % len(names)]
        whole, changed = damaged(kind, damage, seed)
        command = kind.commands[seed // len(names) % len(kind.commands)]
        path, output = folder / kind.file, folder / "out.jsonl"
        path.write_bytes(changed)
        ended = run(_filled(command, path, output))
        if ended.outcome == VALID and _differ(kind, whole, path, output):
            ended = replace(ended, outcome=OTHER)
        yield Trial(kind.name, damage, seed, command, ended)


def _differ(kind: Kind, whole: bytes, path: Path, output: Path) -> bool:
    """Tell whether the file at `path` is not converted into the rows of a whole one."""
    to_rows = next((one for one in kind.commands if "{output}" in one), None)
    if to_rows is None:
        return False
    texts = []
    for data in (path.read_bytes(), whole):
        path.write_bytes(data)
        output.unlink(missing_ok=True)
        run(_filled(to_rows, path, output))
        texts.append(output.read_bytes() if output.exists() else b"")
    return texts[0] != texts[1]


def _filled(command: Sequence[str], path: Path, output: Path) -> list[str]:
    output.unlink(missing_ok=True)
    return [part.format(path=path, output=output) for part in command]


def run(arguments: Sequence[str]) -> Ended:
    """Run the program with `arguments` in a copy of this process."""
    return in_copy(lambda: _command(arguments))


def in_copy(act: Callable[[], int]) -> Ended:
    """Call a function that returns an exit code in a copy of this process."""
    begin = time.monotonic()
    errors = os.memfd_create("errors")
    copy = os.fork()
    if not copy:
        _act(act, errors)
    _, status, usage = os.wait4(copy, 0)
    peak = usage.ru_maxrss * 1024
    seconds = time.monotonic() - begin
    if os.WIFSIGNALED(status):
        outcome = HANGS if os.WTERMSIG(status) in _of_time else CRASH
    else:
        outcome = _codes.get(os.WEXITSTATUS(status), ENDED)
    size = os.fstat(errors).st_size
    message = os.pread(errors, STDERR_BYTES, max(0, size - STDERR_BYTES))
    os.close(errors)
    return Ended(outcome, peak, seconds, message.decode("utf-8", "replace").strip())


def _act(act: Callable[[], int], errors: int) -> None:
    """Call the function in the copy, and end it; messages go to the file `errors`."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(6 * SECONDS)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (sys.stdin.fileno(), sys.stdout.fileno()):
            os.dup2(nothing, number)
        os.dup2(errors, sys.stderr.fileno())
        code = act()
    finally:
        os._exit(code)


def _command(arguments: Sequence[str]) -> int:
    """Run the command line, and return its exit code."""
    from harpia_formats.cli import main as run_command_line  # noqa: PLC0415 - only the copy needs it

    sys.argv = ["harpia-formats", *arguments]
    try:
        run_command_line()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    return 0


def warm_up(kind: Kind, folder: Path) -> None:
    """Run each command of a kind here, so that each copy has what it imports.

    A copy takes a tenth of the time then.
    """
    path, output = folder / kind.file, folder / "out.jsonl"
    path.write_bytes(kind.make(Random(kind.name)))
    with Path(os.devnull).open("w") as nothing:
        for command in kind.commands:
            with redirect_stdout(nothing), redirect_stderr(nothing):
                _command(_filled(command, path, output))
    gc.collect()
    gc.freeze()
