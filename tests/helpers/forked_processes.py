"""Fork the processes of `KillableProcess` from the server of the conftest.

Next to threads, as those of pytest-xdist, each would be a new interpreter, which
imports for longer than it works for most tests. The fixture `new_interpreters` is for
the tests of the processes themselves.
"""

import os
import socket
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import pytest

from harpia_formats.files.workers import engine, killable

_spawned: Any = killable._spawned  # noqa: SLF001 - what is replaced


def fork_from_server() -> None:
    """Make processes that would be new interpreters forks of the server."""
    killable._spawned = _forked  # noqa: SLF001 - nothing public starts them


def start_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make them new interpreters again, in one test."""
    monkeypatch.setattr(killable, "_spawned", _spawned)


def _forked() -> Any:
    """Return a fork of the server that answers calls, as a `_Child`."""
    ours, theirs = socket.socketpair()
    engine._start_fork_server()  # noqa: SLF001 - as pools start it
    connection = Connection(theirs.detach())
    arguments = (connection, dict(os.environ))
    process = get_context("forkserver").Process(
        target=_serve, args=arguments, daemon=True
    )
    process.start()
    connection.close()
    program: Any = _Program(process)
    child = Connection(ours.detach())
    return killable._Child(child, os.getpid(), process.pid or 0, program)  # noqa: SLF001 - see above


class _Program:
    """A process that is killed and waited for as a `Popen` is."""

    def __init__(self, process: Any) -> None:
        self.kill = process.kill
        self.wait = process.join


def _serve(connection: Connection, variables: Mapping[str, str]) -> None:
    """Answer the calls that come over a connection, in such an environment."""
    os.environ.clear()
    os.environ.update(variables)
    killable._serve(connection, os.getppid())  # noqa: SLF001 - what `main` calls
