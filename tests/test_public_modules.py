"""The public modules where only the base dependencies are installed."""

import subprocess
import sys
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
)

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

#: What users import.
PUBLIC = ("harpia_formats", "harpia_formats.plugins", "harpia_formats.api.testing")

#: Do what tools do with a module, where the modules named behind it do not exist.
USE = """
import inspect, pydoc, sys

module, *missing = sys.argv[1:]
sys.modules.update(dict.fromkeys(missing))  # None: importing it fails

exec(f"from {module} import *")
found = dict(inspect.getmembers(sys.modules[module]))
assert set(sys.modules[module].__all__) <= set(found)
assert set(sys.modules[module].__all__) <= set(globals())
pydoc.render_doc(module)
"""


def base_distributions() -> set[str]:
    """Return the names of our distribution, and of all that it needs without extras."""
    found: set[str] = set()
    waiting = ["harpia-formats"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        try:
            requires = distribution(name).requires or ()
        except PackageNotFoundError:  # of another system or another Python
            continue
        found.add(name)
        needed = [Requirement(each) for each in requires]
        waiting += [
            each.name
            for each in needed
            if each.name not in found
            and (each.marker is None or each.marker.evaluate({"extra": ""}))
        ]
    return found


def modules_of_extras() -> list[str]:
    """Return the top-level modules that only extras install."""
    base = base_distributions()
    return [
        module
        for module, names in packages_distributions().items()
        if base.isdisjoint(map(canonicalize_name, names))
    ]


@pytest.mark.parametrize("module", PUBLIC)
def test_public_module_needs_no_extra(module: str) -> None:
    """A star import, the members and the help of a module need base packages only."""
    missing = modules_of_extras()
    assert {"hypothesis", "pytest", "pyarrow", "numpy"} <= set(missing)
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", USE, module, *missing],
        capture_output=True,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_records_without_hypothesis_names_the_extra() -> None:
    """Without Hypothesis, the error of `records` says what installs it."""
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from harpia_formats.plugins import records\n"
        "try: records()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert "pip install 'harpia-formats[test]'" in done.stdout
