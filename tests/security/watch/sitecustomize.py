"""Write down what an interpreter does beyond reading, by an audit hook.

Python imports this module at its start where its folder is in `PYTHONPATH`. It watches
where `HARPIA_WATCH` names a file, also in every process that this one starts.
"""

import json
import os
import sys
from types import CodeType, FrameType
from typing import Any

#: Where our modules are, in a checkout or among installed packages.
_OURS = ("harpia_formats", "harpia_converters")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Events that are written down whatever their arguments are.
_ALWAYS = (
    "socket.connect socket.bind socket.sendto socket.sendmsg socket.getaddrinfo "
    "socket.gethostbyname socket.gethostbyaddr socket.getnameinfo socket.gethostname "
    "urllib.Request http.client.connect ftplib.connect smtplib.connect "
    "webbrowser.open subprocess.Popen os.exec os.fork os.forkpty os.posix_spawn "
    "os.spawn os.startfile os.system pty.spawn _posixsubprocess.fork_exec "
    "pickle.find_class sqlite3.connect sqlite3.load_extension builtins.breakpoint"
).split()
#: Events that an import of a package may cause, which no data takes part in.
_OUTSIDE_OF_IMPORTS = ("code.__new__", "ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata")
#: Events that change files: how many paths they have, and where the number of the open
#: folder stands that these start from.
_CHANGES = {
    "os.rename": (2, 2),
    "os.link": (2, 2),
    "os.symlink": (2, 2),
    "os.remove": (1, 1),
    "os.rmdir": (1, 1),
    "os.mkdir": (1, 2),
    "os.chmod": (1, 2),
    "os.chown": (1, 3),
    "os.truncate": (1, 9),
    "os.utime": (1, 3),
    "os.setxattr": (1, 9),
    "os.removexattr": (1, 9),
}
_log = -1


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Write an event down if it is one that counts."""
    if (heed := _heeded.get(event)) is not None:
        heed(event, arguments)


def _any(event: str, arguments: tuple[Any, ...]) -> None:
    _write(event, [_text(each) for each in arguments[:3]])


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Heed a file that is opened by its name to be written."""
    path, _, flags = arguments
    if not isinstance(path, int) and flags and flags & _WRITING:
        _write(event, [_absolute(path)])


def _changed(event: str, arguments: tuple[Any, ...]) -> None:
    """Heed a change of files."""
    count, at = _CHANGES[event]
    folder = arguments[at] if at < len(arguments) else -1
    _write(event, [_absolute(each, folder) for each in arguments[:count]])


def _executed(event: str, arguments: tuple[Any, ...]) -> None:
    """Heed code that is run and of no installed file, with all names in it."""
    code = arguments[0]
    if not isinstance(code, CodeType) or code.co_filename.startswith(_installed):
        return
    if _is_importing(_frame(3)):
        return
    names: set[str] = set()
    pending = [code]
    while pending:
        each = pending.pop()
        names |= {*each.co_names, *each.co_varnames, *each.co_freevars}
        pending += [one for one in each.co_consts if isinstance(one, CodeType)]
    _write(event, [code.co_filename, " ".join(sorted(names))])


def _unmarshalled(event: str, _: tuple[Any, ...]) -> None:
    """Heed what is not read for an import, which reads what was compiled."""
    frame = _frame(3)
    name = "" if frame is None else frame.f_code.co_filename
    if not name.startswith("<frozen importlib"):
        _write(event, [])


def _imported(event: str, arguments: tuple[Any, ...]) -> None:
    """Heed an extension module that is not installed."""
    path = arguments[1]
    if path is not None and not _text(path).startswith(_installed):
        _write(event, [_text(path)])


def _socket(_: str, arguments: tuple[Any, ...]) -> None:
    _write("socket", [str(arguments[1])])


def _outside_of_imports(event: str, arguments: tuple[Any, ...]) -> None:
    if not _is_importing(_frame(3)):
        _write(event, [_text(arguments[-1])])


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether an installed module is imported, which no data takes part in.

    `dataclasses` and others make functions of texts then.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>":
            return code.co_filename.startswith(_installed)
        if frame.f_globals.get("__name__", "").startswith(_OURS):
            return False
        frame = frame.f_back
    return False


def _write(event: str, values: list[str]) -> None:
    """Append an event with its values and the code that caused it."""
    ours, at = _places(_frame(4))
    line = json.dumps([event, ours, at, [value[:400] for value in values]])
    os.write(_log, f"{line}\n".encode())


def _frame(depth: int) -> FrameType | None:
    """Return a frame above that of this function, None where no code of Python is."""
    try:
        return sys._getframe(depth)  # noqa: SLF001 - there is no other way
    except ValueError:
        return None


def _places(frame: FrameType | None) -> tuple[str, str]:
    """Return our nearest module and function, and the nearest code of any package."""
    ours = at = ""
    while frame is not None and not ours:
        module = frame.f_globals.get("__name__", "")
        name = f"{module}:{frame.f_code.co_name}"
        at = at or name
        if module.startswith(_OURS):
            ours = name
        frame = frame.f_back
    return ours, at


def _absolute(path: Any, folder: int = -1) -> str:
    """Return a path from the root, of a file that may be named by its number."""
    try:
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}")  # noqa: PTH115 - as below
        start = os.getcwd()  # noqa: PTH109 - pathlib is not imported yet
        if folder >= 0:
            start = os.readlink(f"/proc/self/fd/{folder}")  # noqa: PTH115 - as above
    except OSError:
        return f"?/{path!r}"
    return os.path.normpath(os.path.join(start, os.fsdecode(path)))  # noqa: PTH118 - as above


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, bytes) else str(value)


def _roots() -> tuple[str, ...]:
    """Return how the names of files of installed code begin."""
    here = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is not imported yet
    checkout = os.path.abspath(f"{here}/../../..")  # noqa: PTH100 - as above
    ours = [f"{checkout}/{each}" for each in ("harpia_formats", "converters")]
    library = os.path.dirname(os.__file__)  # noqa: PTH120 - as above
    bases = {sys.prefix, sys.base_prefix, sys.exec_prefix, library, here, *ours}
    return ("<frozen ", *(f"{each}/" for each in bases))


_installed = _roots()
_heeded = {
    "open": _opened,
    "exec": _executed,
    "marshal.loads": _unmarshalled,
    "marshal.load": _unmarshalled,
    "import": _imported,
    "socket.__new__": _socket,
    **dict.fromkeys(_CHANGES, _changed),
    **dict.fromkeys(_OUTSIDE_OF_IMPORTS, _outside_of_imports),
    **dict.fromkeys(_ALWAYS, _any),
}
if _path := os.environ.get("HARPIA_WATCH"):
    _number = os.open(_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    # Low numbers are those of streams, which a command may close.
    _log = os.dup(_number)
    os.close(_number)
    sys.addaudithook(_hook)
