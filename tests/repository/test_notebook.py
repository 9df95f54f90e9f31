"""The tutorial notebook runs, and stores the outputs that its cells have."""

import importlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = str(ROOT / "docs" / "tools")
if TOOLS not in sys.path:
    sys.path.append(TOOLS)
notebooks = importlib.import_module("notebooks")
examples = importlib.import_module("page_examples")


def test_cells_have_the_outputs_that_are_stored(tmp_path: Path) -> None:
    """Each cell runs after those before it; cells of packages that lack are skipped."""
    cells = notebooks.cells_of(notebooks.NOTEBOOK)
    needed = {name for cell in cells for name in notebooks.packages_of(cell)}
    missing = {name for name in needed if find_spec(name) is None}
    chosen = [cell for cell in cells if not missing & {*notebooks.packages_of(cell)}]
    run = list(notebooks.outputs_of_cells(chosen, examples.prepare(tmp_path)))

    assert len(run) > 8
    for cell, outputs in run:
        for output in (*outputs, *cell["outputs"]):
            output.pop("execution_count", None)
        assert outputs == cell["outputs"], "".join(cell["source"])
    if missing:
        pytest.skip(f"the cells that need {', '.join(sorted(missing))} were not run")


def test_notebook_is_valid() -> None:
    """The file is what Jupyter's own schema describes."""
    nbformat = pytest.importorskip("nbformat", reason="needs the extra notebook")
    notebook = nbformat.read(notebooks.NOTEBOOK, as_version=4)

    nbformat.validate(notebook)


def test_notebook_names_no_machine() -> None:
    """Outputs have no path of a machine and no time."""
    text = notebooks.NOTEBOOK.read_text(encoding="utf-8")

    assert not re.search(r"/tmp/|/home/|/work/|\b20\d\d-\d\d-\d\d", text)  # noqa: S108 - looked for
    assert '"python_version"' not in text
