"""A process for calls that may never end, which its owner can kill at any moment.

An extension module that does not return blocks its whole process: no signal handler and
no other thread runs. So such a call is made in a process of its own. That process ends
when its owner ends, and after a while without calls.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from harpia_formats.files.workers.engine import (
    end_with_parent_process,
    is_fork_safe,
)

#: Seconds after which a process without calls ends.
IDLE_SECONDS = 60
#: Seconds that a new process may take to start.
START_SECONDS = 60
#: Seconds of one wait. A stopped owner counts one wait only, however long it was
#: stopped.
WAIT_SECONDS = 0.25
_READY, _VALUE, _END, _ERROR = range(4)
_COMMAND = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


class CallTimedOut(Exception):  # noqa: N818 - says what happened
    """A call took longer than it may, and its process was killed."""


class ProcessDied(Exception):  # noqa: N818 - says what happened
    """The process of a call ended before the call did."""


class CallFailed(Exception):  # noqa: N818 - says what happened
    """The called function raised an exception; carries its type and message."""


@dataclass(slots=True)
class _Child:
    """A running process, and the connection to it."""

    connection: Connection
    #: The process that started it: a forked copy of that one must not use it.
    owner: int
    pid: int
    #: None if it was forked.
    program: "subprocess.Popen[bytes] | None" = None

    def kill(self) -> None:
        """Kill the process, and wait until it has ended."""
        self.connection.close()
        if self.owner != os.getpid():
            return
        if self.program is not None:
            self.program.kill()
            self.program.wait()
            return
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return  # it ended, and was waited for by others


class KillableProcess:
    """Calls functions in another process, which starts with the first call.

    For POSIX systems. It is used by one thread at a time.
    """

    def __init__(self) -> None:
        self._child: _Child | None = None

    def call(
        self, function: Callable[..., Iterator[Any]], *arguments: Any, timeout: float
    ) -> Iterator[Any]:
        """Yield what the generator `function` of a module yields in the process.

        Raises `CallTimedOut` after `timeout` seconds without a value, `ProcessDied` if
        the process ends, and `CallFailed` if the function raises. After any of them,
        and if the iterator is closed before its end, the next call starts a new
        process.
        """
        child = self._started()
        is_done = False
        try:
            child.connection.send((function, arguments))
            while True:
                kind, value = _received(child.connection, timeout)
                if kind == _END:
                    is_done = True
                    return
                if kind == _ERROR:
                    raise CallFailed(value)
                yield value
        except (EOFError, OSError) as error:
            raise ProcessDied from error
        finally:
            if not is_done:
                self.close()

    def close(self) -> None:
        """Kill the process if it runs."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _started(self) -> _Child:
        """Return the running process, or a new one."""
        child = self._child
        if child is not None and (child.owner != os.getpid() or _has_ended(child)):
            self.close()
            child = None
        if child is None:
            child = self._child = _forked() if is_fork_safe() else _spawned()
            try:
                _received(child.connection, START_SECONDS)
            except BaseException as error:
                self.close()
                if isinstance(error, (EOFError, OSError)):
                    raise ProcessDied from error
                raise
        return child


def _has_ended(child: _Child) -> bool:
    """Return whether a process without a call has closed its connection."""
    try:
        return child.connection.poll()
    except OSError:
        return True


def _received(connection: Connection, timeout: float) -> tuple[int, Any]:
    """Return the next message. Raises `CallTimedOut`, `EOFError` or `OSError`."""
    left = timeout
    while not connection.poll(min(left, WAIT_SECONDS)):
        left -= WAIT_SECONDS
        if left <= 0:
            raise CallTimedOut
    message: tuple[int, Any] = connection.recv()
    return message


def _forked() -> _Child:
    """Return a copy of this process that answers calls."""
    ours, theirs = socket.socketpair()
    owner = os.getpid()
    pid = os.fork()
    if not pid:
        try:
            ours.close()
            _serve(Connection(theirs.detach()), owner)
        finally:
            # Nothing of the copied process must run: handlers, buffers, other frames.
            os._exit(0)
    theirs.close()
    return _Child(Connection(ours.detach()), owner, pid)


def _spawned() -> _Child:
    """Return a new interpreter that answers calls: threads make a fork unsafe."""
    ours, theirs = socket.socketpair()
    code = _COMMAND.format(path=sys.path, module=__name__)
    with theirs:
        program = subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, "-c", code, str(os.getpid())],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return _Child(Connection(ours.detach()), os.getpid(), program.pid, program)


def main() -> None:
    """Answer the calls that come over standard input, a socket."""
    _serve(Connection(os.dup(0)), int(sys.argv[1]))


def _serve(connection: Connection, owner: int) -> None:
    """Answer calls until the process `owner` ends, or none comes for a while."""
    _prepare(owner)
    connection.send((_READY, None))
    while connection.poll(IDLE_SECONDS):
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            for value in function(*arguments):
                connection.send((_VALUE, value))
            answer: tuple[int, str | None] = (_END, None)
        except Exception as error:  # noqa: BLE001 - handed to the owner
            answer = (_ERROR, f"{type(error).__name__}: {error}")
        connection.send(answer)


def _prepare(owner: int) -> None:
    """Prepare a new process: its signals, its end with its owner, its streams."""
    for number in (signal.SIGINT, signal.SIGHUP):  # the owner kills this process
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    end_with_parent_process()
    if os.getppid() != owner:  # it has ended before
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # a reader of our output must not wait for this process
        os.dup2(nowhere, stream)
    os.close(nowhere)
