"""Repeating records with new ids, for files that are too large to generate."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count as count_from
from pathlib import Path

from harness.candidates import ROOT, generated

#: The most rows that are generated; larger files repeat them.
GENERATED_ROWS = 500_000
#: The number of bytes that must remain free on the disk.
KEPT_FREE = 2_000_000_000
CORPORA = Path(os.environ.get("HARPIA_CORPORA", ROOT.parent / "shared" / "data"))
#: Real records: as converters wrote them, and corrected to version 0.3.0.
SAMPLES = CORPORA / "eee" / "samples"
REPAIRED = CORPORA / "eee" / "valid-0.3.0.jsonl"
IDS = re.compile(rb'"sample_id": ?(?:"[^"\\]*"|\d+)')


def repeated(source: list[Path], count: int) -> Iterator[bytes]:
    """Yield `count` lines, repeating those of `source`, each with its own id.

    Raises `ValueError` for a line without a `sample_id`, and for files without lines.
    """
    number = 0
    for _ in count_from():
        for path in source:
            with path.open("rb") as lines:
                for line in lines:
                    if number == count:
                        return
                    yield _renamed(line, number)
                    number += 1
        if not number:
            raise ValueError(f"no records in {source}")


def _renamed(line: bytes, number: int) -> bytes:
    """Return a line with the id `number`."""
    changed, found = IDS.subn(b'"sample_id": "r%08d"' % number, line, count=1)
    if not found:
        raise ValueError(f"no sample_id in {line[:100]!r}")
    return changed if changed.endswith(b"\n") else changed + b"\n"


@contextmanager
def good_rows(folder: Path, count: int) -> Iterator[Path]:
    """Yield a file of `count` good rows; a file of repeated rows is deleted at the end.

    Raises `SystemExit` if the disk has no room for it.
    """
    if count <= GENERATED_ROWS:
        yield generated(folder, count)
        return
    base = generated(folder, GENERATED_ROWS)
    with repeated_file(folder, [base], count) as path:
        yield path


@contextmanager
def repeated_file(folder: Path, source: list[Path], count: int) -> Iterator[Path]:
    """Write a file of repeated rows, yield it, and delete it at the end.

    Raises `SystemExit` if the disk has no room for it.
    """
    path = folder / f"{count}-rows-repeated.jsonl"
    check_room(folder, source, count)
    try:
        with path.open("wb") as file:
            file.writelines(repeated(source, count))
        yield path
    finally:
        path.unlink(missing_ok=True)


def check_room(folder: Path, source: list[Path], count: int) -> None:
    """Raise `SystemExit` if the disk has no room for `count` rows."""
    size = sum(path.stat().st_size for path in source)
    needed = int(size / rows_in(source) * count) + KEPT_FREE
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise SystemExit(
            f"{count:,} rows need {needed / 1e9:.1f} GB of the disk, and {folder} has "
            f"{free / 1e9:.1f}: name another folder with --folder"
        )


def rows_in(source: list[Path]) -> int:
    """Return the number of lines of all files."""
    rows = 0
    for path in source:
        with path.open("rb") as lines:
            rows += sum(1 for _ in lines)
    return rows


def samples() -> list[Path]:
    """Return the files of real records as converters wrote them, if available."""
    return sorted(SAMPLES.glob("*_samples*.jsonl"))
