"""Compare the conversion of samples of lm-evaluation-harness with a loop of msgspec.

    python benchmarks/neighbours.py [--pairs N] [--rows N] [--page] [--check]

The loop decodes and encodes the same rows with msgspec, without types. Both run in one
process, by turns. Prints the median ratio of the processor time (user and system) of
the pairs, conversion to loop, with its interval; `--page` writes the page.
"""

import argparse
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from data.files import generated_file
from data.lm_eval_rows import KINDS, lines
from harness.candidates import PEERS, ROOT
from harness.measure import Candidate, Run, peak_of, run_of
from harness.paired import MedianRatio, median_ratio
from report.pages import circumstances, log
from report.tables import MEGABYTE, table

PAGE = ROOT / "docs" / "benchmarks" / "neighbours.md"
#: The processor time divided by that of the loop, at most.
LIMIT = 2.0
TEXT = """\
# Samples of other tools

`benchmarks/neighbours.py` makes rows as lm-evaluation-harness writes them, and converts
them to `nemo-output` in one process. The loop decodes and encodes the same rows with
msgspec, without types; it checks, reads and reports nothing. Both run by turns. A ratio
is the median of the pairs: the processor time of the conversion (user and system)
divided by that of the loop, with its interval.

{table}

{circumstances}
"""
COLUMNS = ["rows", "size", "loop", "`convert --to nemo`", "ratio", "peak memory"]


def candidates(path: Path, output: Path) -> tuple[Candidate, Candidate]:
    """Return the loop and the conversion of a file."""
    loop = (sys.executable, str(PEERS / "msgspec_recode.py"), str(path), str(output))
    ours = (
        *(sys.executable, "-m", "harpia_formats", "convert", str(path)),
        *("--to", "nemo", "-o", str(output), "--jobs", "1", "--quiet"),
    )
    return (
        Candidate("loop", loop, output=output, source=path),
        Candidate("convert", ours, output=output, source=path),
    )


def processor(runs: list[Run]) -> list[float]:
    """Return the processor seconds of some runs."""
    return [run.user + run.system for run in runs]


def measured(
    kind: str, count: int, pairs: int, folder: Path
) -> tuple[tuple[str, ...], MedianRatio]:
    """Return the line of the table for rows of a kind, and the ratio."""
    name = f"samples-{kind.replace(' ', '-')}-{count}.jsonl"
    path = generated_file(folder / name, partial(lines, kind), count)
    loop, ours = candidates(path, folder / "output.json")
    run_of(ours)
    runs = [(run_of(loop), run_of(ours)) for _ in range(pairs)]
    first, second = (processor([pair[at] for pair in runs]) for at in range(2))
    ratio = median_ratio(first, second)
    log(f"{kind}: {ratio.median:.2f}")
    return (
        f"{count:,} {kind}",
        f"{path.stat().st_size / MEGABYTE:.0f} MB",
        f"{statistics.median(first):.2f} s",
        f"{statistics.median(second):.2f} s",
        f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})",
        f"{peak_of(ours) / MEGABYTE:.0f} MB",
    ), ratio


def main() -> None:
    """Measure, print a table, and fail with `--check` beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--page", action="store_true", help="write the page")
    parser.add_argument("--check", action="store_true", help="fail beyond the limit")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [
            measured(kind, options.rows, options.pairs, Path(folder)) for kind in KINDS
        ]
    shown = table(COLUMNS, [line for line, _ in found])
    print(shown)
    if options.page:
        command = f"python benchmarks/neighbours.py --rows {options.rows} --page"
        text = TEXT.format(table=shown, circumstances=circumstances(command))
        PAGE.write_text(text, encoding="utf-8")
    if options.check and not all(ratio.within(LIMIT) for _, ratio in found):
        raise SystemExit("beyond the limit")


if __name__ == "__main__":
    main()
