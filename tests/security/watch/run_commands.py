"""Run commands one after another in this process: `run_commands.py COMMANDS`.

`COMMANDS` is a file with a JSON list of lists of arguments. Each command has an empty
working folder, `work`. What `sitecustomize` writes down of it stands between two lines:
its number, and its number with its exit code and the files that it left.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from harpia_formats.cli import main


def run_all(commands: list[list[str]]) -> None:
    """Run all commands, and write down where each begins and ends."""
    log = os.open(os.environ["HARPIA_WATCH"], os.O_WRONLY | os.O_APPEND)
    folders = {name: Path(os.environ[name]) for name in ("TMPDIR", "HOME")}
    folders["work"] = Path.cwd() / "work"
    for number, arguments in enumerate(commands):
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        os.chdir(folders["work"])
        _note(log, "begin", [number])
        code = _code_of(arguments)
        found = {name: _files_in(folder) for name, folder in folders.items()}
        _note(log, "end", [number, code, found])
        os.chdir("..")
        for folder in folders.values():
            _empty(folder)


def _code_of(arguments: list[str]) -> int:
    """Return the exit code of a command."""
    sys.argv = ["harpia-formats", *arguments]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return -1


def _empty(folder: Path) -> None:
    """Remove what is in a folder; to remove and make it again takes longer."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def _files_in(folder: Path) -> list[str]:
    """Return the names of all files in a folder and those below it."""
    found = folder.rglob("*")
    return sorted(str(each.relative_to(folder)) for each in found if not each.is_dir())


def _note(log: int, event: str, values: list[object]) -> None:
    os.write(log, f"{json.dumps([event, '', '', values])}\n".encode())


if __name__ == "__main__":
    run_all(json.loads(Path(sys.argv[1]).read_bytes()))
