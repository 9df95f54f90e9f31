"""The fixture that collects what the tests of faults injected."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults import Injections, number_of


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> Iterator[Injections]:
    """Return what collects the injections of a test, which must report some.

    Those of a test that passed are written to the folder `HARPIA_FAULT_RESULTS`.
    """
    name = request.node.originalname
    number_of(name)
    injections = Injections(name)
    failed = request.session.testsfailed
    yield injections
    if request.session.testsfailed == failed:
        assert injections.counts, "the test reports nothing that it injected"
        if folder := os.environ.get("HARPIA_FAULT_RESULTS"):
            injections.write(Path(folder))
