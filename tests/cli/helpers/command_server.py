"""Start `harpia-formats` from a process that has imported it already.

Importing takes ten times as long as what most tests run. So a process imports all of
it once, and each command is a fork of this process: with arguments, a folder, an
environment and streams of its own, and nothing that another command has left. Run as
a script, this module is that process; imported, it has the function that asks it.

`test_start_up.py`, `test_cli.py` and the tests of signals start new interpreters.
"""

import atexit
import contextlib
import gc
import os
import pkgutil
import runpy
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

#: What a new interpreter reads before our code runs.
_START_UP = ("PYTHON", "LANG", "LC_", "LD_", "COVERAGE")
#: Modules that import packages of others, which no run of most commands does.
_LAZY = (
    "harpia_converters.haystack.component",
    "harpia_formats.__main__",
    "harpia_formats.api.testing",
    "harpia_formats.reporters.html",
    "harpia_formats.view.",
)
_MODULE = "harpia_formats"
#: Names scripts that run in the process of a command before the command does.
BEFORE = "HARPIA_TEST_BEFORE"
#: A command in a new interpreter, behind the same scripts.
ALONE = f"""\
import os, runpy
for script in filter(None, os.environ.pop({BEFORE!r}, "").split(os.pathsep)):
    runpy.run_path(script)
runpy.run_module({_MODULE!r}, run_name="__main__", alter_sys=True)
"""
#: The sockets of the processes that fork, by what they read at their start.
_servers: dict[tuple[tuple[str, str], ...], str] = {}
#: Hands its arguments, folder, environment and streams on as `start` does.
_PROGRAM = """\
import os, struct, sys
import _socket
address, own, start_up, command = values
start = {name: value for name, value in os.environ.items() if name.startswith(start_up)}
if start != own:
    os.execv(command, [command, *sys.argv[1:]])
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect(address)
streams = struct.pack("3i", 0, 1, 2)
connection.sendmsg([b"\\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
variables = [f"{name}={value}" for name, value in os.environ.items()]
words = [str(len(sys.argv) - 1), *sys.argv[1:], os.getcwd(), *variables]
connection.sendall("\\0".join(words).encode(errors="surrogateescape"))
connection.shutdown(_socket.SHUT_WR)
answer = b""
while len(answer) < 8:
    answer += connection.recv(8) or sys.exit("the process that runs commands has ended")
code = struct.unpack("!i", answer[4:8])[0]
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class Started:
    """A command that runs: its process, and what tells its exit code."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = self._number()

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal; raises `TimeoutError`."""
        self._connection.settimeout(timeout)
        with self._connection:
            return self._number()

    def kill(self) -> None:
        """End the command at once."""
        os.kill(self.pid, signal.SIGKILL)

    def _number(self) -> int:
        data = b""
        while len(data) < 4:
            piece = self._connection.recv(4 - len(data))
            if not piece:
                raise RuntimeError("the process that runs commands has ended")
            data += piece
        return int.from_bytes(data, "big", signed=True)


def can_start(environment: Mapping[str, str]) -> bool:
    """Tell whether a fork has the environment that a new interpreter would have."""
    return _key(environment) in (_key(os.environ), *_servers) and can_prepare()


def can_prepare() -> bool:
    """Tell whether commands can be forks on this system."""
    return sys.platform == "linux"


def completed(
    arguments: list[str],
    cwd: Path,
    environment: Mapping[str, str],
    stdin: bytes,
    timeout: float,
) -> subprocess.CompletedProcess[bytes]:
    """Return what a command wrote to pipes; as `subprocess.run`, it may time out."""
    given, stdin_end = os.pipe()
    stdout_end, out = os.pipe()
    stderr_end, err = os.pipe()
    try:
        started = start(arguments, str(cwd), environment, [given, out, err])
    finally:
        for each in (given, out, err):
            os.close(each)
    try:
        end = time.monotonic() + timeout
        texts = _communicated(stdin_end, stdin, [stdout_end, stderr_end], end)
        code = started.wait(max(0.1, end - time.monotonic()))
    except TimeoutError:
        started.kill()
        raise subprocess.TimeoutExpired(arguments, timeout) from None
    return subprocess.CompletedProcess(arguments, code, *texts)


def killed(
    arguments: list[str], cwd: Path, environment: Mapping[str, str], seconds: float
) -> int:
    """Return the exit code of a command that is killed unless it ends before."""
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a name, not a path
        streams = [nothing.fileno()] * 3
        started = start(arguments, str(cwd), environment, streams)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        started.kill()
    return started.wait()


def _communicated(given: int, data: bytes, read: list[int], end: float) -> list[bytes]:
    """Write `data` and read files until they end; raises `TimeoutError` at `end`."""
    pieces: dict[int, list[bytes]] = {each: [] for each in read}
    opened = {given, *read}
    rest = memoryview(data)
    os.set_blocking(given, False)
    with selectors.DefaultSelector() as selector:
        selector.register(given, selectors.EVENT_WRITE)
        for each in read:
            selector.register(each, selectors.EVENT_READ)
        try:
            while selector.get_map():
                ready = selector.select(max(0.0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == given:
                        rest = _after_write(given, rest)
                        is_done = not rest
                    else:
                        pieces[key.fd].append(os.read(key.fd, 65_536))
                        is_done = not pieces[key.fd][-1]
                    if is_done:
                        selector.unregister(key.fd)
                        opened.remove(key.fd)
                        os.close(key.fd)
        finally:
            for each in opened:
                os.close(each)
    return [b"".join(pieces[each]) for each in read]


def _after_write(given: int, rest: memoryview) -> memoryview:
    """Return what is left to write; nothing if nobody reads any more."""
    try:
        return rest[os.write(given, rest[:65_536]) :]
    except BrokenPipeError:
        return rest[:0]


def start(
    arguments: list[str], cwd: str, environment: Mapping[str, str], streams: list[int]
) -> Started:
    """Start a command whose standard streams are these three files."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(prepare(environment))
    socket.send_fds(connection, [b"\0"], streams)
    variables = [f"{name}={value}" for name, value in environment.items()]
    words = [str(len(arguments)), *arguments, cwd, *variables]
    connection.sendall("\0".join(words).encode(errors="surrogateescape"))
    connection.shutdown(socket.SHUT_WR)
    return Started(connection)


def write_program(path: Path) -> None:
    """Write a program that starts fast and is `harpia-formats` for a shell."""
    own = _of_start(os.environ)
    command = str(Path(sys.executable).with_name("harpia-formats"))
    values = (prepare(os.environ), own, _START_UP, command)
    path.write_text(f"#!{sys.executable} -IS\nvalues = {values!r}\n{_PROGRAM}")
    path.chmod(0o755)


def prepare(environment: Mapping[str, str]) -> str:
    """Return the socket of the process that forks commands in such an environment."""
    if (key := _key(environment)) not in _servers:
        _servers[key] = _new_server(environment)
    return _servers[key]


def _new_server(environment: Mapping[str, str]) -> str:
    """Start a process that forks commands and ends with this one."""
    folder = tempfile.mkdtemp()
    path = str(Path(folder, "commands"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    with listener:
        process = subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, __file__, str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment,
            pass_fds=[listener.fileno()],
        )

    owner = os.getpid()

    def end() -> None:
        if os.getpid() != owner or process.stdin is None:
            return
        process.stdin.close()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return path


def _key(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(_of_start(environment).items()))


def _of_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name.startswith(_START_UP)
    }


def _import_all() -> None:
    """Import our modules; a package of an extra is imported by what needs it."""
    for root in (_MODULE, "harpia_converters"):
        for found in pkgutil.walk_packages(import_module(root).__path__, f"{root}."):
            if not found.name.startswith(_LAZY):
                import_module(found.name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a thread was started"


def _serve(listener: socket.socket) -> tuple[list[str], str]:
    """Fork for each command; return in the fork, with its arguments and its folder."""
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        readable, _, _ = select.select([listener.fileno(), 0, *running], [], [])
        if 0 in readable:  # the end of the process that started this one
            os._exit(0)
        for ended in running.keys() & {*readable}:
            _tell_end(ended, *running.pop(ended))
        if listener.fileno() not in readable:
            continue
        connection, _ = listener.accept()
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile("rb") as request:
            words = request.read().decode(errors="surrogateescape").split("\0")
        pid = os.fork()
        if not pid:
            break
        for stream in streams:
            os.close(stream)
        running[os.pidfd_open(pid)] = pid, connection
        with contextlib.suppress(OSError):  # who asked may have gone
            connection.sendall(pid.to_bytes(4, "big", signed=True))
    for each in (listener, connection, *(other for _, other in running.values())):
        each.close()
    for handle in running:
        os.close(handle)
    return _command(words, streams)


def _tell_end(handle: int, pid: int, connection: socket.socket) -> None:
    """Tell who asked for a command that it has ended, and how."""
    os.close(handle)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    with connection, contextlib.suppress(OSError):
        connection.sendall(code.to_bytes(4, "big", signed=True))


def _command(words: list[str], streams: list[int]) -> tuple[list[str], str]:
    """Make this process that of a command: its streams, folder and environment."""
    count = int(words[0])
    arguments, cwd = words[1 : count + 1], words[count + 1]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    os.chdir(cwd)
    os.environ.clear()
    variables = (each.partition("=") for each in words[count + 2 :])
    os.environ.update({name: value for name, _, value in variables})
    time.tzset()
    if scripts := os.environ.pop(BEFORE, None):
        for script in scripts.split(os.pathsep):
            runpy.run_path(script)
    return arguments, cwd


def _end(code: object) -> None:
    """End as an interpreter does, but do not free all modules, each a copy by then.

    Returns if that is not possible: the interpreter has the words for what it is.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - the step before
    atexit._run_exitfuncs()  # noqa: SLF001 - the step after
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        if isinstance(code, int):
            os._exit(code)


if __name__ == "__main__":
    sys.path.pop(0)
    _import_all()
    gc.freeze()
    _words, _cwd = _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = ["", *_words]
    sys.path.insert(0, _cwd)
    try:
        runpy.run_module(_MODULE, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        _end(ended.code)
        raise
    _end(0)
