"""Let another process decide what comes out of the system calls of this one.

`failing_calls.py` names this file as the script that runs before a command. It asks
the kernel to hold some system calls of the command and of all that it starts, until
the process that listens has answered for each. It works for a user without rights, and
for code in C, since no function is replaced.
"""

import ctypes
import os
import platform
import socket
import struct
import sys

#: The environment: the socket of the one that decides, and the calls, by commas.
SOCKET, NAMES = "HARPIA_CALLS_SOCKET", "HARPIA_CALLS"
#: The argument with which this file only tries whether it may hold calls.
_TRY = "--try-to-hold-calls"
#: The number of each system call, and where it names what it acts on: an argument
#: that is an open file (`fd`), a path, or a folder with the path behind it (`at`).
CALLS = {
    "read": (0, "fd", 0),
    "write": (1, "fd", 0),
    "close": (3, "fd", 0),
    "pread64": (17, "fd", 0),
    "pwrite64": (18, "fd", 0),
    "readv": (19, "fd", 0),
    "writev": (20, "fd", 0),
    "sendfile": (40, "fd", 0),
    "fsync": (74, "fd", 0),
    "fdatasync": (75, "fd", 0),
    "truncate": (76, "path", 0),
    "ftruncate": (77, "fd", 0),
    "rename": (82, "path", 1),
    "mkdir": (83, "path", 0),
    "rmdir": (84, "path", 0),
    "link": (86, "path", 1),
    "unlink": (87, "path", 0),
    "chmod": (90, "path", 0),
    "fchmod": (91, "fd", 0),
    "mkdirat": (258, "at", 0),
    "unlinkat": (263, "at", 0),
    "renameat": (264, "at", 2),
    "linkat": (265, "at", 2),
    "fchmodat": (268, "at", 0),
    "fallocate": (285, "fd", 0),
    "pwritev": (296, "fd", 0),
    "renameat2": (316, "at", 2),
    "copy_file_range": (326, "fd", 2),
    "pwritev2": (328, "fd", 0),
    #: An open to write, and any other.
    "openat": (257, "at", 0),
    "openat to read": (257, "at", 0),
}
#: How the kernel calls the machine whose numbers these are.
_MACHINE, _AUDIT_MACHINE = "x86_64", 0xC000003E
_SECCOMP, _NEW_FILTER, _NEW_LISTENER = 317, 1, 8
_NO_NEW_PRIVILEGES = 38
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
#: Instructions of the filter, and where it finds the call and its arguments.
_LOAD, _IF_EQUAL, _IF_ANY, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _MACHINE_OF_CALL, _FLAGS_OF_OPEN = 0, 4, 32


def can_filter() -> bool:
    """Tell whether this system lets another process decide, by a process that tries.

    A container may forbid it, or may decide on calls itself, which only one may do.
    """
    import subprocess  # noqa: PLC0415 - a command loads this file, and little

    command = [sys.executable, "-IS", __file__, _TRY]
    return _has_filter() and not subprocess.run(command, check=False).returncode  # noqa: S603 - this file


def _has_filter() -> bool:
    """Tell whether the kernel has what is needed."""
    actions = "/proc/sys/kernel/seccomp/actions_avail"
    if platform.machine() != _MACHINE or not os.path.exists(actions):  # noqa: PTH110 - loads little
        return False
    with open(actions) as file:  # noqa: PTH123 - loads little
        return "user_notif" in file.read()


def hand_over(place: str, names: list[str]) -> None:
    """Hold these calls of this process from now on, for who listens at a socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{place}")
        listener = _listener(names)
        socket.send_fds(connection, [b"\0"], [listener])
        os.close(listener)


def _listener(names: list[str]) -> int:
    """Have the kernel hold these calls, and return the file that tells of them."""
    library = ctypes.CDLL(None, use_errno=True)
    program = _program(names)
    code = ctypes.create_string_buffer(program)
    filter_of = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    listener = int(library.syscall(_SECCOMP, _NEW_FILTER, _NEW_LISTENER, filter_of))
    if listener < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return listener


def _program(names: list[str]) -> bytes:
    """Return a filter that asks for these calls, and allows all others."""
    ask = [(_RETURN, 0, 0, _ASK)]
    steps = [
        (_LOAD, 0, 0, _MACHINE_OF_CALL),
        (_IF_EQUAL, 1, 0, _AUDIT_MACHINE),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for name in names:
        if name != "openat":
            steps += [(_IF_EQUAL, 0, 1, CALLS[name][0]), *ask]
    if "openat" in names:
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
        steps += [
            (_IF_EQUAL, 0, 3, CALLS["openat"][0]),
            (_LOAD, 0, 0, _FLAGS_OF_OPEN),
            (_IF_ANY, 0, 1, writes),
            *ask,
        ]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


if sys.argv[1:] == [_TRY]:
    try:
        _listener([])
    except OSError:
        sys.exit(1)
elif SOCKET in os.environ:
    hand_over(os.environ.pop(SOCKET), os.environ.pop(NAMES).split(","))
