"""Bring up to date what the documents repeat of the program.

These are the output that pages show below their commands and the pictures that these
write, the README's picture, the comparison with other tools, the picture of the
packages, the pages of reference that are tables, that on reliability, and the stub:
`python docs/tools/update.py [--tables] [PAGE ...]`. A test fails if a document is not
current.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from architecture_picture import PICTURE as ARCHITECTURE
from architecture_picture import current_picture as current_architecture
from comparison import with_comparison
from fault_page import PAGE as RELIABILITY
from fault_page import fault_page
from notebooks import main as update_notebook
from page_examples import (
    ROOT,
    environment,
    pictures_written,
    prepare,
    run_page,
    with_current_output,
)
from reference_tables import PAGES, printed
from stub import STUB, current_stub
from terminal_picture import PICTURE, current_picture

REFERENCE = ROOT / "docs" / "reference"


def pages() -> list[Path]:
    """Return every page whose code blocks are run.

    The pages `add-*.md` are left out: a test of their own follows their steps.
    """
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [
        ROOT / "README.md",
        *(path for path in found if not path.name.startswith("add-")),
    ]


def main() -> None:
    """Rewrite the generated documents, and report commands that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="all if none is given")
    parser.add_argument("--tables", action="store_true", help="only pages of tables")
    arguments = parser.parse_args()
    chosen = [page.resolve() for page in arguments.pages]
    if not chosen:
        for name, page in PAGES.items():
            (REFERENCE / name).write_text(page(), encoding="utf-8")
        mapping = printed("formats", "--mapping")
        (REFERENCE / "mapping.md").write_text(mapping, encoding="utf-8")
        STUB.write_text(current_stub(), encoding="utf-8")
        PICTURE.write_text(current_picture(), encoding="utf-8")
        RELIABILITY.write_text(fault_page(), encoding="utf-8")
        ARCHITECTURE.write_text(current_architecture(), encoding="utf-8")
    if not (chosen or arguments.tables):
        update_notebook()  # its cells need the extra notebook
    failed = False
    for path in chosen or (() if arguments.tables else pages()):
        failed |= _update(path)
    sys.exit(failed)


def _update(path: Path) -> bool:
    """Rewrite the output that a page shows; return whether a command failed."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        results = list(run_page(page, prepare(Path(folder)), environment()))
        for picture in pictures_written(page, Path(folder)):
            shutil.copy(picture, path.parent)
    for result in results:
        for failure in result.failures:
            print(f"{path}: {failure}", file=sys.stderr)
    current = with_comparison(with_current_output(page, results))
    path.write_text(current, encoding="utf-8")
    return any(result.failures for result in results)


if __name__ == "__main__":
    main()
