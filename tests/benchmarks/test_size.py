"""Test modules see the product from outside, as `benchmarks/size.py` counts it."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Modules = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[2]
#: Test modules that may import from below a front door: laws of pure functions, and
#: bounds on memory and work.
MOST_INSIDE = 120


@pytest.fixture(scope="module")
def size(modules: Modules) -> ModuleType:
    """Return the module that counts code."""
    return modules("size")


@pytest.mark.parametrize(
    ("line", "inside"),
    [
        ("from harpia_formats import validate", 0),
        ("import harpia_formats.plugins", 0),
        ("from harpia_formats.reporters import REPORTERS", 0),
        ("from harpia_converters.eee import FORMATS", 0),
        ("from harpia_formats.api.testing import mutants", 0),
        ("from harpia_formats.api.testing.mutation import mutants", 1),
        ("from harpia_formats.files import urls", 1),
        ("import harpia_formats.files.urls", 1),
        ("from harpia_converters.eee.formats import FORMATS", 1),
    ],
)
def test_imports_of_inner_modules_are_counted(
    size: ModuleType, tmp_path: Path, line: str, inside: int
) -> None:
    """A test module counts if it names a module inside a room or a vendor's package."""
    for name, text in {
        "harpia_formats/files/urls.py": "",
        "harpia_formats/api/testing/__init__.py": "",
        "harpia_formats/api/testing/mutation.py": "",
        "converters/harpia_converters/eee/formats.py": "",
        "tests/helpers/rows.py": "import harpia_formats.files.urls\n",
        "tests/files/test_urls.py": f"{line}\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    assert size.below_front_doors(tmp_path) == (1, inside)


def test_few_test_modules_import_from_inside(size: ModuleType) -> None:
    """Behaviour is tested by commands, the public API and what packages export."""
    _, inside = size.below_front_doors(ROOT)

    assert inside <= MOST_INSIDE
