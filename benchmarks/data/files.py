"""Files of generated rows, which are written once and used again."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

#: Rows compared to decide whether a file is still what the generator writes.
FIRST_ROWS = 9
#: Yields so many lines; fewer lines are the beginning of more.
Rows = Callable[[int], Iterator[bytes]]


def generated_file(path: Path, rows: Rows, count: int) -> Path:
    """Return `path`, which holds `count` generated lines and is in the page cache.

    An existing file is read and kept if it has as many lines and starts with the same
    ones. Otherwise it is written. Either way no later run has to read from the disk.
    """
    if not (path.exists() and _is_current(path, rows, count)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(rows(count))
    return path


def _is_current(path: Path, rows: Rows, count: int) -> bool:
    with path.open("rb") as lines:
        expected = list(islice(rows(count), FIRST_ROWS))
        found = list(islice(lines, FIRST_ROWS))
        return found == expected and len(found) + sum(1 for _ in lines) == count
