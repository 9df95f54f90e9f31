"""Run the cells of the tutorial notebook, and replace the outputs that it stores.

`python docs/tools/notebooks.py` rewrites them; a test compares them. A cell is run as
in Jupyter: all cells share one namespace, and the value of a last expression is shown
as text and, if it has one, as HTML.
"""

import ast
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from page_examples import ROOT, prepare

NOTEBOOK = ROOT / "docs" / "tutorials" / "notebook.ipynb"

Cell = dict[str, Any]


def cells_of(path: Path) -> list[Cell]:
    """Return the cells of code of a notebook, in order."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def packages_of(cell: Cell) -> list[str]:
    """Return the optional packages that a cell needs, by its tags."""
    found: list[str] = cell["metadata"].get("tags", [])
    return found


def outputs_of_cells(
    cells: list[Cell], folder: Path
) -> Iterator[tuple[Cell, list[Any]]]:
    """Yield each cell with its outputs, once it was run in `folder`."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with chdir(folder):
        for number, cell in enumerate(cells, 1):
            yield cell, _run("".join(cell["source"]), namespace, number)


def _run(source: str, namespace: dict[str, Any], number: int) -> list[Any]:
    """Run a cell; return its outputs in the form of a notebook."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)  # noqa: S102 - our own notebook
        if isinstance(last, ast.Expr):
            shown = ast.Expression(last.value)
            value = eval(compile(shown, "<cell>", "eval"), namespace)  # noqa: S307 - our own notebook
    outputs: list[Any] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        outputs.append(_shown(value, number))
    return outputs


def _shown(value: Any, number: int) -> dict[str, Any]:
    """Return the output that Jupyter has for the value of a cell."""
    data: dict[str, Any] = {"text/plain": [repr(value)]}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = [value._repr_html_()]
    return {
        "data": dict(sorted(data.items())),
        "execution_count": number,
        "metadata": {},
        "output_type": "execute_result",
    }


def main() -> None:
    """Rewrite the outputs of the tutorial notebook."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    os.environ.pop("FORCE_COLOR", None)
    with tempfile.TemporaryDirectory() as folder:
        run = outputs_of_cells(cells, prepare(Path(folder)))
        for number, (cell, outputs) in enumerate(run, 1):
            cell["execution_count"], cell["outputs"] = number, outputs
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    NOTEBOOK.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
