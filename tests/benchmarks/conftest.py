"""Importing the modules of the benchmarks, which are commands and not installed."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(name="modules", scope="module")
def importer() -> Iterator[Callable[[str], ModuleType]]:
    """Yield a function that imports a benchmark module by name (`data.repeat`).

    All of them are removed from `sys.modules` at the end, since their names are common.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None)
        if place is not None and BENCHMARKS in Path(place).parents:
            del sys.modules[name]
