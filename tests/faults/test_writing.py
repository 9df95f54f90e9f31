"""Commands that are killed, or whose system calls fail, while they write files."""

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import command_server
from command_runs import Result, environment_with, error_lines
from failing_calls import (
    WRITES,
    AtCall,
    Decide,
    end_process,
    needs_filter,
    run_deciding,
)
from faults import Injections
from judge_server import JudgeServer
from writing_commands import COMMANDS, Place, WritingCommand, some

#: Random kills of the long test.
KILLS = int(os.environ.get("HARPIA_FAULT_KILLS", "1000"))
#: Calls of each command that the usual tests choose.
_CHOSEN = 2
_NAMES = [each.name for each in COMMANDS]
#: Seconds after which the first kills come.
_FIRST = 0.005
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
#: What comes out, in the words of the report.
UNCHANGED = "exit code 2, every file as it was"
NAMED = "exit code 2, and what was replaced before is named"
UNKNOWN = "exit code 2, the file whole, its durability reported as unknown"
NEEDLESS = "exit code as without the fault, the outputs whole"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Places"]:
    """Return the folders of all commands, in which each has run once."""
    with JudgeServer() as server:
        yield Places(tmp_path_factory.mktemp("places"), server.url)


class Places:
    """Makes the folders of a command when they are first asked for."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._more = ("--endpoint", url, "--judge-model", "m")
        self._made: dict[str, Place] = {}

    def of(self, command: WritingCommand) -> Place:
        """Return the place of a command, whose outputs are known."""
        if command.asks:
            pytest.importorskip("openai", reason="the extra judge is not installed")
        if command.name not in self._made:
            folder = self._folder / command.name
            folder.mkdir()
            place = Place(folder, command, self._more if command.asks else ())
            place.learn()
            self._made[command.name] = place
        return self._made[command.name]


def with_call(
    place: Place, number: int, act: Decide, names: Any = WRITES
) -> tuple[AtCall, Result]:
    """Run a command that meets something at its n-th call in its folders."""
    at = AtCall(number, [place.data, place.temporary], act)
    result = place.run(
        lambda *words, **more: run_deciding(at, *words, **more, names=names)
    )
    return at, result


def chosen(place: Place, names: Any = WRITES) -> list[int]:
    """Return numbers of some calls of a command, and of its last rename: seeded.

    Even ones are calls of a run whose outputs are new, odd ones of one that replaces.
    """
    ends, last = [], set()
    for is_new in (True, False):
        place.prepare(is_new=is_new)
        at, _ = with_call(place, 0, lambda _: 0, names)
        calls = [each.name for each in at.seen]
        rename = len(calls) - calls[::-1].index("rename")
        # What a process closes as it ends, and how often, differs from run to run.
        ends.append(rename if "close" in names else len(calls))
        last |= {rename} if is_new == (rename % 2 == 0) else set()
    random = Random(place.command.name)  # noqa: S311 - a seed, no secret
    return sorted({*last, *random.sample(range(1, min(ends) + 1), _CHOSEN)})


def failed(place: Place, number: int, error: str, fault: Injections) -> bool:
    """Let the n-th call fail, check what came out; return whether there was one."""
    place.prepare(is_new=number % 2 == 0)
    at, result = with_call(place, number, lambda _: ERRORS[error])
    if not at.is_reached:
        assert result.returncode == place.command.code, result
        return False
    outcome = outcome_of(place, at, result)
    fault.add(f"{error} at {at.name}", outcome)
    return True


def outcome_of(place: Place, at: AtCall, result: Result) -> str:
    """Return in words what came of a run in which a call failed; fail if it is bad."""
    call = at.seen[at.number - 1]
    message = result.stderr.decode()
    assert b"Traceback" not in result.stderr, message
    assert place.torn() == []
    if call.name != "unlink":  # else what could not be removed is left
        assert place.parts() == [], (call, message)
    if result.returncode == place.command.code:
        assert place.is_complete(), (call, message)
        return NEEDLESS
    assert result.returncode == 2, (call, message)
    assert error_lines(result)
    if place.is_as_before():
        return UNCHANGED
    unnamed = [each for each in place.changed() if each not in message]
    if call.path == str(place.data):
        assert "it is not known whether it outlives a power failure" in message
        assert place.is_complete() or not unnamed, message
        return UNKNOWN
    assert unnamed == [], (call, message)
    return NAMED


@needs_filter
@pytest.mark.parametrize("command", some(COMMANDS, 3))
def test_03_some_calls_that_write_fail(
    places: Places, command: WritingCommand, fault: Injections
) -> None:
    """If a call that writes fails, the run ends with 2 and no file is torn."""
    place = places.of(command)
    for number, error in zip(chosen(place), ["ENOSPC", "EIO"] * 2, strict=False):
        assert failed(place, number, error, fault)


@needs_filter
def test_03_every_call_of_a_conversion_fails(places: Places, fault: Injections) -> None:
    """Each call of one command fails in turn, with each error, until none is left."""
    every_call_fails(places.of(COMMANDS[0]), fault)


@needs_filter
@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=_NAMES)
def test_03_every_call_that_writes_fails(
    places: Places, command: WritingCommand, fault: Injections
) -> None:
    """Each call of each command fails in turn, with each error, until none is left."""
    every_call_fails(places.of(command), fault)


def every_call_fails(place: Place, fault: Injections) -> None:
    """Let each call that writes fail once for each error."""
    for error in ERRORS:
        number = 1
        while failed(place, number, error, fault):
            number += 1
        assert number > len(place.complete)


def killed(place: Place, number: int, fault: Injections) -> bool:
    """Kill a command at its n-th call; return whether there was one."""
    place.prepare(is_new=number % 2 == 0)
    at, result = with_call(place, number, end_process, WRITES | {"close"})
    if not at.is_reached:
        return False
    fault.add(f"SIGKILL at {at.name}", after_kill(place, result.returncode))
    return True


def after_kill(place: Place, code: int) -> str:
    """Return in words what a killed run left; fail if a later run does not clean up."""
    assert code in (-signal.SIGKILL, place.command.code)
    assert place.torn() == []
    left = (
        "complete"
        if place.is_complete()
        else "as before"
        if place.is_as_before()
        else "each as before or complete"
    )
    parts = [each for each in place.parts() if each.startswith("data/.")]
    again = place.run()
    assert again.returncode == place.command.code, again
    if "an earlier run was killed" in str(again.stderr):
        # A report of that run says so, too.
        place.run()
    assert place.is_complete()
    assert place.parts() == []
    rest = ", its part files removed by the next run" if parts else ""
    return f"outputs {left}{rest}"


@needs_filter
@pytest.mark.parametrize("command", some(COMMANDS, 3, 1))
def test_02_killed_at_some_calls_that_write(
    places: Places, command: WritingCommand, fault: Injections
) -> None:
    """Killed at a call, a run leaves outputs old or whole, and the next cleans up."""
    place = places.of(command)
    for number in chosen(place, WRITES | {"close"}):
        assert killed(place, number, fault)


@needs_filter
@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=_NAMES)
def test_02_killed_at_every_call_that_writes(
    places: Places, command: WritingCommand, fault: Injections
) -> None:
    """Killed at any of its calls, a run leaves each output old or complete."""
    place = places.of(command)
    number = 1
    while killed(place, number, fault):
        number += 1
    assert number > len(place.complete)


def killed_at_random(place: Place, random: Random, fault: Injections) -> None:
    """Kill a command at any moment of its run, and check what it left."""
    usual = place.seconds
    place.prepare(is_new=random.random() < 0.5)

    def run_killed(*words: str, cwd: Path, environment: dict[str, str]) -> Result:
        seconds = random.uniform(_FIRST, usual)
        variables = environment_with(environment)
        code = command_server.killed([*words], cwd, variables, seconds)
        return Result(words, code, b"", b"")

    code = place.run(run_killed).returncode
    what = "SIGKILL at a random moment" if code < 0 else "SIGKILL, too late"
    fault.add(f"{what} of {place.command.name}", after_kill(place, code))


needs_server = pytest.mark.skipif(
    not command_server.can_prepare(), reason="needs Linux, where commands are forks"
)


@needs_server
def test_01_killed_at_some_moments(places: Places, fault: Injections) -> None:
    """Killed at a random moment, each command leaves outputs that are old or whole."""
    random = Random(1)  # noqa: S311 - a seed, no secret
    for command in COMMANDS:
        if not command.asks:
            killed_at_random(places.of(command), random, fault)


@needs_server
@pytest.mark.long
def test_01_killed_at_a_thousand_moments(places: Places, fault: Injections) -> None:
    """A thousand kills at random moments, over all commands, tear no output."""
    random = Random(2)  # noqa: S311 - a seed, no secret
    for number in range(KILLS):
        command = COMMANDS[number % len(COMMANDS)]
        killed_at_random(places.of(command), random, fault)
