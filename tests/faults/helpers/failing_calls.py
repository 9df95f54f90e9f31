"""Run a command and decide what comes out of each system call that it makes.

The command runs as it does for a user; `call_filter.py` hands its calls over. A call
may be let through, fail with an error, or be the moment at which something happens,
such as the end of the process.
"""

import fcntl
import os
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

import call_filter
from command_runs import TIMEOUT, Result, run
from command_server import BEFORE

#: The calls that change a file or a folder.
WRITES = frozenset(call_filter.CALLS) - {
    "read",
    "pread64",
    "readv",
    "close",
    "openat to read",
}
READS = frozenset({"read", "pread64", "readv", "openat to read"})
needs_filter = pytest.mark.skipif(
    sys.platform != "linux" or not call_filter.can_filter(),
    reason="needs Linux on x86-64, whose kernel hands system calls over",
)
_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_GO_ON = 1
#: The id of a question, the process, and the call with its six arguments.
_QUESTION, _REPLY = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_HERE = -100
_LONGEST_PATH = 4096
_BY_NUMBER = {number: name for name, (number, *_) in call_filter.CALLS.items()} | {
    257: "openat"
}


@dataclass(frozen=True)
class Call:
    """A system call that waits for what comes out of it."""

    #: The thread that made it.
    thread: int
    name: str
    #: The file or folder that it acts on; of a rename, the new name.
    path: str


#: Returns the number of the error with which a call fails, 0 if it goes on.
Decide = Callable[[Call], int]


class Calls:
    """Answers for the calls of a command until it and all that it began have ended."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self.place = f"harpia-calls-{secrets.token_hex(8)}"
        #: What `decide` raised.
        self.error: BaseException | None = None
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(f"\0{self.place}")
        self._socket.listen(1)
        self._socket.settimeout(TIMEOUT)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until no process is left whose calls are answered here."""
        self._thread.join(TIMEOUT)
        self._socket.close()
        if self.error is not None:
            raise self.error
        assert not self._thread.is_alive(), "a process outlives the command"

    def _serve(self) -> None:
        try:
            connection, _ = self._socket.accept()
            with connection:
                _, (listener,), _, _ = socket.recv_fds(connection, 1, 1)
            try:
                while self._answered(listener):
                    pass
            finally:
                os.close(listener)
        except BaseException as error:  # noqa: BLE001 - it is raised where the run ends
            self.error = error

    def _answered(self, listener: int) -> bool:
        """Answer one question; return false once nobody is left to ask."""
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        ready = poll.poll(TIMEOUT * 1000)
        if not ready or not ready[0][1] & select.POLLIN:
            return False
        question = bytearray(_QUESTION.size)
        with suppress(FileNotFoundError):  # who asked has ended meanwhile
            fcntl.ioctl(listener, _RECEIVE, question)
            number, thread, _, call, _, _, *arguments = _QUESTION.unpack(question)
            error = self._decided(thread, _BY_NUMBER[call], arguments)
            reply = _REPLY.pack(number, 0, -error, 0 if error else _GO_ON)
            fcntl.ioctl(listener, _ANSWER, reply)
        return True

    def _decided(self, thread: int, name: str, arguments: list[int]) -> int:
        if self.error is not None:
            return 0
        try:
            path = _path_of(thread, name, arguments)
            return self._decide(Call(thread, name, path)) if path else 0
        except BaseException as error:  # noqa: BLE001 - it is raised where the run ends
            self.error = error
            return 0


def _path_of(thread: int, name: str, arguments: list[int]) -> str:
    """Return the path that a call acts on; empty if it has none."""
    _, kind, place = call_filter.CALLS[name]
    own = Path(f"/proc/{thread}")
    try:
        if kind == "fd":
            return str((own / "fd" / str(arguments[place])).readlink())
        if kind == "path":
            return str((own / "cwd").readlink() / _text_at(thread, arguments[place]))
        folder = struct.unpack("i", struct.pack("I", arguments[place] & 0xFFFFFFFF))[0]
        base = own / "cwd" if folder == _HERE else own / "fd" / str(folder)
        return str(base.readlink() / _text_at(thread, arguments[place + 1]))
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _text_at(thread: int, address: int) -> str:
    """Return the text at an address of a process."""
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        # A read ends where the memory does, which a short path may stand before.
        data = memory.read(min(_LONGEST_PATH, 4096 - address % 4096))
        if b"\0" not in data:
            data += memory.read(_LONGEST_PATH)
    return os.fsdecode(data.partition(b"\0")[0])


def run_deciding(
    decide: Decide,
    *arguments: object,
    names: Collection[str] = WRITES,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> Result:
    """Return the result of a command whose calls come out as `decide` says.

    The further options are those of `run`. All processes have ended then.
    """
    with Calls(decide) as calls:
        given = dict(environment or {})
        scripts = [*filter(None, [given.get(BEFORE)]), call_filter.__file__]
        variables = {
            BEFORE: os.pathsep.join(scripts),
            call_filter.SOCKET: calls.place,
            call_filter.NAMES: ",".join(names),
        }
        return run(*arguments, environment=given | variables, **options)


@dataclass
class AtCall:
    """Does something at the n-th call on files in some folders; the first is 1."""

    number: int
    folders: Collection[Path]
    act: Decide
    #: Whether it acts at all calls behind that one, too.
    goes_on: bool = False
    #: The calls that came up to now.
    seen: list[Call] = field(default_factory=list)

    def __call__(self, call: Call) -> int:
        """Count a call, and act if it is the one."""
        if not call.path.startswith(tuple(f"{each}/" for each in self.folders)) and (
            call.path not in map(str, self.folders)
        ):
            return 0
        self.seen.append(call)
        is_one = len(self.seen) == self.number
        return self.act(call) if is_one or (self.goes_on and self.is_reached) else 0

    @property
    def is_reached(self) -> bool:
        """Whether so many calls came."""
        return len(self.seen) >= self.number

    @property
    def name(self) -> str:
        """The name of the call at which it acted."""
        return self.seen[self.number - 1].name


def end_process(call: Call) -> int:
    """Kill the process of a call before it is made."""
    os.kill(process_of(call.thread), signal.SIGKILL)
    return 0


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to."""
    status = Path(f"/proc/{thread}/status").read_text(encoding="utf-8")
    return int(status.partition("\nTgid:")[2].split()[0])


def wait_until(condition: Callable[[], bool], seconds: float = TIMEOUT) -> None:
    """Wait until a condition holds; fail if it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not come in time"
        time.sleep(0.002)
