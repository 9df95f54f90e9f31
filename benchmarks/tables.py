"""Measure the peak memory of reading and writing Parquet.

    python benchmarks/tables.py [--megabytes N] [--group N] [--jobs N] [--check]

A file of so many megabytes is made, in row groups of so many at most, with texts that
do not compress. It is validated, converted into lines with mapped columns, and
converted into Parquet; memory is the peak of the sum over all processes.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from harness.candidates import script
from harness.measure import Candidate, compare
from report.tables import MEGABYTE, table

#: The most bytes of memory.
FLOOR = 250 * MEGABYTE
#: Bytes of the text of a row, and rows that are made at once.
TEXT, ROWS = 3_000, 1_000
COLUMNS = "prompt=question,choices=choices.text,references=choices.text[answerKey]"


def batches(size: int) -> Iterator[Any]:
    """Yield tables with about `size` bytes of text in all."""
    letters = random.Random(1)
    for first in range(0, size // TEXT + 1, ROWS):
        texts = [letters.randbytes(TEXT // 2).hex() for _ in range(ROWS)]
        choice = {"text": ["yes", "no"], "label": ["A", "B"]}
        yield pa.table(
            {
                "id": range(first, first + ROWS),
                "question": texts,
                "choices": [choice] * ROWS,
                "answerKey": ["A", "B"] * (ROWS // 2),
            }
        )


def write_table(path: Path, size: int, group: int) -> None:
    """Write a file of `size` bytes, in row groups of `group` bytes at most."""
    held: list[Any] = []
    writer = None
    for batch in batches(size):
        writer = writer or pq.ParquetWriter(
            path, batch.schema, compression="none", use_dictionary=False
        )
        held.append(batch)
        if (len(held) + 1) * ROWS * TEXT > group:
            writer.write_table(pa.concat_tables(held).combine_chunks())
            held = []
    if held and writer is not None:
        writer.write_table(pa.concat_tables(held).combine_chunks())
    if writer is not None:
        writer.close()


def candidates(folder: Path, size: int, group: int, jobs: int) -> list[Candidate]:
    """Return the commands on a file of this size."""
    path = folder / "rows.parquet"
    write_table(path, size, group)
    groups = pq.ParquetFile(path).metadata.num_row_groups
    megabytes = path.stat().st_size / MEGABYTE
    print(f"{megabytes:,.0f} MB in {groups} row groups", file=sys.stderr)
    ours = (script("harpia-formats"),)
    counts = ("--jobs", str(jobs), "--quiet")
    lines, written = folder / "out.jsonl", folder / "out.parquet"
    to_lines = (*counts, "--map", COLUMNS, "--to", "record", "--output", str(lines))
    to_parquet = (*counts, "--to", "parquet", "--output", str(written))
    return [
        Candidate("validate", (*ours, "validate", str(path), *counts)),
        Candidate(
            "convert --map", (*ours, "convert", str(path), *to_lines), output=lines
        ),
        Candidate(
            "convert --to parquet",
            (*ours, "convert", str(path), *to_parquet),
            output=written,
        ),
    ]


def main() -> None:
    """Measure, print a table, and fail with `--check` beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--group", type=int, default=64, help="megabytes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="fail beyond the limit")
    given = parser.parse_args()
    sizes = int(given.megabytes * MEGABYTE), int(given.group * MEGABYTE)
    with tempfile.TemporaryDirectory() as folder:
        found = compare(candidates(Path(folder), *sizes, given.jobs), 1)
    rows = [
        (name, f"{one.median:.1f} s", f"{(one.peak or 0) / MEGABYTE:.0f} MB")
        for name, one in found.items()
    ]
    print(table(("command", "time", "peak memory"), rows))
    if given.check and any((one.peak or 0) > FLOOR for one in found.values()):
        sys.exit(f"more than {FLOOR / MEGABYTE:.0f} MB")


if __name__ == "__main__":
    main()
