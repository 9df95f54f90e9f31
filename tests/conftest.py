"""Settings of all property tests, and what is skipped without the corpora."""

import gc
import os
import ssl
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from corpora import CORPORA
from effort import drawn
from forked_processes import fork_from_server, start_interpreters
from in_process import InProcess

# How long an example takes says more of the machine than of the code.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=drawn(25),
)
# The same examples in every run, so that a failure is due to the change that is tested.
settings.register_profile(
    "repeatable",
    settings.get_profile("any machine"),
    derandomize=True,
    database=None,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "any machine"))

# The threads of pytest-xdist make a fork unsafe. So a server forks the processes of a
# run, each of which would import for longer than it works for most tests.
get_context("forkserver").set_forkserver_preload(
    [
        "concurrent.futures.process",
        "ctypes",
        "harpia_formats.conversion.batch",
        "harpia_formats.conversion.parallel.range_converter",
        "harpia_formats.conversion.run",
        "harpia_formats.evaluation.filling_measure",
        "harpia_formats.evaluation.scoring.scoring_run",
        "harpia_formats.evaluation.statistics.count_ranges",
        "harpia_formats.evaluation.statistics.statistics_run",
        "harpia_formats.validation.parallel.range_worker",
        "harpia_formats.validation.unit.guarded_rows",
        "harpia_formats.view.systems",
        "harpia_formats.view.take_away",
        "harpia_formats.view.viewed_file",
        "jsonschema_rs",
        "multiprocessing.queues",
        "multiprocessing.synchronize",
    ]
)
fork_from_server()

# Each client of a judge would read the certificates of all authorities.
ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]  # is called alike

_NO_CORPORA = f"no corpora in {CORPORA} (set HARPIA_CORPORA)"


@pytest.fixture
def new_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the processes that can be killed as the package does next to threads."""
    start_interpreters(monkeypatch)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> InProcess:
    """Return what runs `harpia-formats` with arguments, in this process."""
    return InProcess(monkeypatch, capfdbinary)


@pytest.fixture
def run_here(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> InProcess:
    """Return what runs `harpia-formats` in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return InProcess(monkeypatch, capfdbinary)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that use the corpora where their folder does not exist."""
    if not CORPORA.is_dir():
        for item in items:
            if item.get_closest_marker("corpora"):
                item.add_marker(pytest.mark.skip(reason=_NO_CORPORA))


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later search for reference cycles."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped without the corpora."""
    skipped = terminalreporter.stats.get("skipped", ())
    if count := sum(_NO_CORPORA in str(each.longrepr) for each in skipped):
        terminalreporter.write_line(f"{count} tests skipped: {_NO_CORPORA}")
