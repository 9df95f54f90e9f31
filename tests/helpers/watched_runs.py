"""Commands that run under an audit hook, and what each of them did beyond reading."""

import fnmatch
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WATCH = Path(__file__).parents[1] / "security" / "watch"
_traceback = re.compile(rb"^Traceback \(most recent call last\):$", re.MULTILINE)
#: Seconds for many commands in one process.
TIMEOUT = 3600


@dataclass(frozen=True)
class Event:
    """What a run did: the audit event, the code that did it, and its values."""

    name: str
    #: Our nearest module and function, "" if there is none.
    ours: str
    #: The nearest module and function of any package.
    at: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} by {self.ours or '-'} at {self.at}: {self.values}"


@dataclass(frozen=True)
class Watched:
    """A command that has ended: its exit code, what it did and the files it left."""

    arguments: tuple[str, ...]
    code: int
    events: tuple[Event, ...]
    #: The names of files by the folder that they are in: work, TMPDIR or HOME.
    left: Mapping[str, Sequence[str]] = field(default_factory=dict)


def environment_of(folder: Path) -> dict[str, str]:
    """Return the variables with which an interpreter is watched."""
    return os.environ | {
        "PYTHONPATH": str(WATCH),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HARPIA_WATCH": str(folder / "events"),
        "TMPDIR": str(folder / "tmp"),
        "HOME": str(folder / "home"),
    }


def watched(
    commands: Iterable[Sequence[object]],
    folder: Path,
    variables: Mapping[str, str] | None = None,
) -> list[Watched]:
    """Return what each command did; all of them run in one process, one by one.

    Each has an empty working folder, `folder / "work"`. Raises AssertionError if the
    process ends early, or a command has printed a traceback.
    """
    lists = [[str(word) for word in command] for command in commands]
    (folder / "commands.json").write_text(json.dumps(lists))
    printed = folder / "printed"
    with printed.open("wb") as output:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, WATCH / "run_commands.py", folder / "commands.json"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment_of(folder) | dict(variables or {}),
            timeout=TIMEOUT,
            check=False,
        )
    text = printed.read_bytes()
    assert done.returncode == 0, text[-3000:]
    # Data may hold one, but no output of ours has its lines.
    found = _traceback.search(text)
    assert found is None, text[found.start() :][:3000]
    return list(_runs(lists, events_in(folder)))


def events_in(folder: Path) -> list[tuple[str, str, str, Any]]:
    """Return the lines that a watched process and its children wrote down."""
    lines = (folder / "events").read_bytes().splitlines()
    return [tuple(json.loads(line)) for line in lines]


def done_by(
    arguments: Sequence[object], folder: Path, variables: Mapping[str, str]
) -> list[Event]:
    """Return what an interpreter did with these arguments, and what it started.

    Raises AssertionError if it fails.
    """
    for name in ("work", "tmp", "home"):
        (folder / name).mkdir(exist_ok=True)
    done = subprocess.run(  # noqa: S603 - our own programs
        [sys.executable, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder / "work",
        env=environment_of(folder) | dict(variables),
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Event(*line[:3], tuple(line[3])) for line in events_in(folder)]


def _runs(
    commands: list[list[str]], lines: list[tuple[str, str, str, Any]]
) -> Iterable[Watched]:
    """Yield the runs that lines tell of; what lies between two runs is not theirs."""
    events: list[Event] = []
    for name, ours, at, values in lines:
        if name == "begin":
            events = []
        elif name == "end":
            number, code, left = values
            yield Watched(tuple(commands[number]), code, tuple(events), left)
        else:
            events.append(Event(name, ours, at, tuple(values)))


def is_output(path: str, work: Path, outputs: Iterable[str]) -> bool:
    """Tell whether a path is that of an output, or of a part of it next to it.

    `outputs` are patterns of names in the working folder.
    """
    place = Path(path)
    name = place.name
    if place.parent != work:
        return False
    if name.startswith(".") and ".harpia-" in name:
        name = name[1 : name.rindex(".harpia-")]
    return any(fnmatch.fnmatchcase(name, each) for each in outputs)
