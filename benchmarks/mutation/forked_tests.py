"""A plug-in of pytest: tests in forks of the process that has collected them.

The file that `HARPIA_FORKED_TESTS` names says what to do. With tests alone, each runs
in a fork, and its result and seconds are noted. With mutants, all tests of each run in
one fork, whose functions have the code of the mutant, until one of them fails.
"""

import gc
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from mutation.changed_modules import MUTANT, TEST, mutant_code

#: Names the file with the task.
TASK = "HARPIA_FORKED_TESTS"
#: Seconds after which a test of a mutant counts as failed, added to its usual time.
PATIENCE, TIMES = 5.0, 5.0
#: Bytes of memory that a test of a mutant may take.
_MEMORY = 6 * 2**30

# As in CI, but the first example that fails is enough.
settings.register_profile(
    "mutants",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
    max_examples=50,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
)


@dataclass
class Fork:
    """A process that runs tests, and what it starts."""

    pid: int
    #: Where it writes a byte for each test that begins.
    begun: int
    folder: str
    #: The seconds that each test may take.
    limits: Sequence[float]
    started: float = field(default_factory=time.monotonic)
    #: When the test that runs began, and how many have begun.
    since: float = field(default_factory=time.monotonic)
    count: int = 0

    def is_late(self) -> bool:
        """Tell whether the test that runs takes too long."""
        limit = self.limits[max(0, self.count - 1)]
        return time.monotonic() - self.since > limit

    def read(self) -> bool:
        """Count the tests that have begun; tell whether the process goes on."""
        data = os.read(self.begun, 4096)
        self.count += len(data)
        self.since = time.monotonic()
        return bool(data)

    def end(self) -> int:
        """End the process and all that it has started; return its exit code."""
        if self.is_late():
            _kill(self.pid)
        _, status = os.waitpid(self.pid, 0)
        _kill(self.pid)
        os.close(self.begun)
        shutil.rmtree(self.folder, ignore_errors=True)
        return os.waitstatus_to_exitcode(status)


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


class ForkedTests:
    """The plug-in."""

    def __init__(self) -> None:
        self._has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test has failed."""
        self._has_failed = self._has_failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the task in the place of running the tests one after the other."""
        task = json.loads(Path(os.environ[TASK]).read_text("utf-8"))
        with Path(task["results"]).open("a", encoding="utf-8") as file:
            for result in self._results(session, task):
                file.write(json.dumps(result) + "\n")
                file.flush()
        return True

    def _results(
        self, session: pytest.Session, task: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Yield what came out, for each test or each mutant."""
        items = {item.nodeid: item for item in session.items}
        if "mutants" not in task:
            prepare_commands()
            forks = self._each_alone(session.items)
        else:
            gc.unfreeze()
            forks = self._each_mutant(items, task["mutants"], task["seconds"])
        yield from ended(forks, task["jobs"])

    def _each_alone(self, items: Sequence[pytest.Item]) -> "Forks":
        """Yield a fork for each test, with what names it."""
        for number, item in enumerate(items):
            about = {"test": item.nodeid, "number": number}
            yield about, self._fork([item], [120.0], {TEST: str(number)})

    def _each_mutant(
        self,
        items: dict[str, pytest.Item],
        mutants: Sequence[dict[str, Any]],
        seconds: dict[str, float],
    ) -> "Forks":
        """Yield a fork for each mutant, with what names it."""
        functions = _functions()
        for mutant in mutants:
            tests = [each for each in mutant["tests"] if each in items]
            limits = [PATIENCE + TIMES * seconds[each] for each in tests]
            variables = {MUTANT: f"{mutant['path']}:{mutant['number']}"}
            chosen = [items[each] for each in tests]
            about = {"path": mutant["path"], "number": mutant["number"]}
            yield (
                {**about, "tests": tests},
                self._fork(chosen, limits, variables, functions),
            )

    def _fork(
        self,
        items: Sequence[pytest.Item],
        limits: Sequence[float],
        variables: dict[str, str],
        functions: "Functions | None" = None,
    ) -> Fork:
        """Start a process that runs tests until one fails."""
        begun, end = os.pipe()
        folder = tempfile.mkdtemp()
        pid = os.fork()
        if pid:
            os.close(end)
            return Fork(pid, begun, folder, limits)
        code = 3
        try:
            begin(variables)
            if functions is not None:
                _change(functions, os.environ[MUTANT])
            if items:
                factory = items[0].config._tmp_path_factory  # type: ignore[attr-defined]  # noqa: SLF001 - each fork has a folder of its own
                factory._basetemp = Path(folder).resolve()  # noqa: SLF001 - where its tests write
            code = self._run(items, end)
        finally:
            os._exit(code)

    def _run(self, items: Sequence[pytest.Item], begun: int) -> int:
        """Run tests until one fails; return 1 if one did."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            os.write(begun, b".")
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._has_failed:
                return 1
        return 0


def begin(variables: dict[str, str]) -> None:
    """Make this process, a fork, the first of a group, without streams."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.environ.update(variables)


Forks = Iterator[tuple[dict[str, Any], Fork]]
#: The live functions of our modules, by file, name and line.
Functions = dict[tuple[str, str, int], list[FunctionType]]


def ended(forks: Forks, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield what came out of forks, of which `jobs` run at the same time."""
    running: dict[int, tuple[dict[str, Any], Fork]] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            found = next(forks, None)
            more = found is not None
            if found is not None:
                running[found[1].begun] = found
        ready, _, _ = select.select([*running], [], [], 0.5)
        for begun, (about, fork) in [*running.items()]:
            if (begun in ready and not fork.read()) or fork.is_late():
                del running[begun]
                yield {**about, **_outcome(fork, about.pop("tests", None))}


def _outcome(fork: Fork, tests: Sequence[str] | None) -> dict[str, Any]:
    """Return what a process that has ended or is late did."""
    seconds = time.monotonic() - fork.started
    is_late = fork.is_late()
    code = fork.end()
    last = tests[fork.count - 1] if tests and fork.count else None
    by = None if code == 0 else "too long" if is_late else last
    return {
        "code": code,
        "seconds": round(seconds, 3),
        "ran": fork.count,
        "by": by,
        "last": last,
    }


def _functions() -> Functions:
    """Return the functions of our modules that are there."""
    found: Functions = {}
    for each in gc.get_objects():
        if type(each) is FunctionType:
            code = each.__code__
            key = code.co_filename, code.co_qualname, code.co_firstlineno
            found.setdefault(key, []).append(each)
    return found


def _change(functions: Functions, mutant: str) -> None:
    """Give the functions of a module the code that they have with a mutant."""
    path, _, number = mutant.rpartition(":")
    for code in _codes(mutant_code(path, int(number))):
        for each in functions.get((path, code.co_qualname, code.co_firstlineno), ()):
            if each.__code__.co_freevars == code.co_freevars:
                each.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in a code."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def prepare_commands() -> None:
    """Start what runs commands, so that not each fork does so."""
    import command_server  # noqa: PLC0415 - a helper of tests, on the path by now

    if command_server.can_prepare():
        command_server.prepare(os.environ)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plug-in."""
    if TASK in os.environ:
        config.pluginmanager.register(ForkedTests())
