"""Measure the conversion of every pair of formats."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from data.source_files import FORMATS, source_file

from harness.conversion_commands import PairFiles
from harness.measure import MEMORY_IS_KNOWN, Candidate, peak_of, run_of
from harness.pair_proof import compare_bytes, prove
from harness.pair_results import ONE, SCRIPT, TWO, Cell, Result, Times

#: Records of the run whose time is taken off as start-up, and of the proof.
FEW, PROVEN = 10, 2000
#: Records from which on the memory is measured.
MANY = 100_000
#: Proves a pair once, though it is measured with several numbers of rows.
_prove_once = cache(prove)


def cells(
    pairs: Iterable[str], texts: Iterable[str], rows: Iterable[int]
) -> Iterator[Cell]:
    """Yield the cells of pairs such as `csv:*`, those of one source file together."""
    patterns, texts = list(pairs), list(texts)
    for count in rows:
        for text in texts:
            for source in FORMATS:
                for target in FORMATS:
                    name = f"{source}:{target}"
                    if source != target and any(
                        fnmatchcase(name, pattern) for pattern in patterns
                    ):
                        yield Cell(count, text, source, target)


def measure_cell(cell: Cell, folder: Path, runs: int) -> Result:
    """Prove that both write the same, and measure ours and the script by turns.

    Raises `DifferentRowsError`, `DifferentBytesError`, `UnexpectedExitError` and
    `subprocess.CalledProcessError`.
    """

    def files(count: int) -> PairFiles:
        return PairFiles(cell.source, cell.target, cell.text, count, folder)

    _prove_once(files(min(PROVEN, cell.rows)))
    start, full = _candidates(files(FEW)), _candidates(files(cell.rows))
    times = {name: Times() for name in full}
    for _ in range(runs):
        for name, found in times.items():
            found.add(run_of(start[name]), run_of(full[name]))
    compare_bytes(cell.pair, files(FEW).ours_output, files(FEW).other_output)
    measured = MEMORY_IS_KNOWN and cell.rows >= MANY
    peak = peak_of(full[TWO]) if measured else None
    files(FEW).delete_outputs()
    size = files(cell.rows).input.stat().st_size
    return Result(cell.rows, cell.text, cell.source, cell.target, size, times, peak)


def _candidates(files: PairFiles) -> dict[str, Candidate]:
    """Return our command with default processes and with one, and the script."""
    commands = {
        TWO: (files.ours(), files.ours_output),
        ONE: (files.ours_alone(), files.other_output),
        SCRIPT: (files.by_hand(), files.script_output),
    }
    return {
        name: Candidate(name, command, output=output, source=files.input)
        for name, (command, output) in commands.items()
    }


def delete_source(cell: Cell, folder: Path) -> None:
    """Delete the source file of a cell, of which there is no room for all at once."""
    source_file(cell.source, cell.text, cell.rows, folder).unlink(missing_ok=True)
