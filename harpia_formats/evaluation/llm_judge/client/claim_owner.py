"""Who holds a claim on a prompt: a process of some machine, which may be dead."""

import os
import secrets
import socket
from contextlib import suppress
from functools import cache


def new_owner() -> str:
    """Return a name for a holder of claims in this process that no other one has."""
    return f"{_here()}|{os.getpid()}|{secrets.token_hex(8)}"


def is_dead(owner: str) -> bool:
    """Tell whether the process of `owner` is certainly gone.

    That of another machine, and on systems without signals any, may be alive.
    """
    here, _, rest = owner.rpartition("|")[0].rpartition("|")
    if os.name != "posix" or here != _here() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is alive, and another user's
        return False
    return _has_ended(rest)


def _has_ended(process: str) -> bool:
    """Tell whether a process has ended, and only its parent has not noticed yet."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - small and often
            state = file.read().rpartition(b")")[2].split()[:1]
    except OSError:  # no Linux, or it is gone by now
        return False
    return state in ([b"Z"], [b"X"])


@cache
def _here() -> str:
    """Return what tells apart the machines, and containers, that have own processes."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - text, and no path
    return f"{socket.gethostname()} {space}"
