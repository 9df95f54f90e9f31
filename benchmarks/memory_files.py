"""Compare rows in memory files with rows sent through a pipe: time and memory.

    python benchmarks/memory_files.py [--pairs N] [--rows N]

Two processes validate a JSON array and a compressed file, whose rows the main process
cuts, in paired runs: with memory files, and with all bytes sent through a pipe. Prints
the median ratios of time and peak memory, files to pipe, with their intervals.
"""

import argparse
import gzip
import shutil
import sys
import tempfile
from pathlib import Path

from data import generate
from data.files import generated_file
from harness.measure import Candidate, peak_of, run_of
from harness.paired import median_ratio

#: Runs the command line with all rows sent through a pipe.
PIPE = """
import sys
from harpia_formats.validation.parallel.ranges import MemoryFiles
MemoryFiles.put = lambda self, parts: None
from harpia_formats.cli import main
sys.argv[0] = "harpia-formats"
main()
"""


def candidates(path: Path) -> tuple[Candidate, Candidate]:
    """Return the two ways to validate a file: by a pipe, and by memory files."""
    arguments = ("validate", str(path), "--jobs", "2", "--quiet")
    return (
        Candidate("pipe", (sys.executable, "-c", PIPE, *arguments)),
        Candidate("memory files", (sys.executable, "-m", "harpia_formats", *arguments)),
    )


def files_in(folder: Path, rows: int) -> list[Path]:
    """Return a JSON array and a compressed file with so many rows, in `folder`."""
    lines = generated_file(folder / "rows.jsonl", generate.rows, rows)
    array, packed = folder / "rows.json", folder / "rows.jsonl.gz"
    array.write_bytes(b"[" + b",\n".join(lines.read_bytes().splitlines()) + b"]")
    with lines.open("rb") as source, gzip.open(packed, "wb", 1) as target:
        shutil.copyfileobj(source, target)
    return [array, packed]


def main() -> None:
    """Print the ratios of both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--rows", type=int, default=60_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in files_in(Path(folder), given.rows):
            sides = candidates(path)
            times: tuple[list[float], list[float]] = ([], [])
            peaks: tuple[list[float], list[float]] = ([], [])
            for number in range(given.pairs + 1):
                for place in (0, 1) if number % 2 else (1, 0):
                    seconds = run_of(sides[place]).seconds
                    if number:  # the first run of each loads programs and data
                        times[place].append(seconds)
                        peaks[place].append(peak_of(sides[place]))
            for name, (pipe, files) in (("wall time", times), ("memory", peaks)):
                found = median_ratio(pipe, files)
                interval = f"{found.low:.2f} to {found.high:.2f}"
                print(f"{path.name}: {name} {found.median:.2f} ({interval})")


if __name__ == "__main__":
    main()
