"""What the tests of faults injected, and how many of their cases each run has."""

import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from effort import drawn
from faults import FOLDER, Injections, number_of


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all cases but the first of each test of a fault to the long run."""
    cases: Counter[str] = Counter()
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and FOLDER in item.path.parents
            and not item.get_closest_marker("long")
        ):
            cases[item.originalname] += 1
            if cases[item.originalname] > drawn(1):
                item.add_marker(pytest.mark.long)


_passed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test passed: one may be skipped after it began."""
    report = yield
    if call.when == "call":
        item.stash[_passed] = report.passed
    return report


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> Iterator[Injections]:
    """Return what collects the injections of a test, which must report some.

    Those of a test that passed are written to the folder `HARPIA_FAULT_RESULTS`.
    """
    name = request.node.originalname
    number_of(name)
    injections = Injections(name)
    yield injections
    if request.node.stash.get(_passed, False):
        assert injections.counts, "the test reports nothing that it injected"
        if folder := os.environ.get("HARPIA_FAULT_RESULTS"):
            injections.write(Path(folder))
