"""Compare `harpia-formats convert` with scripts written by hand, for every pair.

Each script has about 15 lines, uses `json` or `csv` of the standard library, and does
the same work on the rows. Before a pair is measured it is proved that the script writes
the rows that ours writes. `diff` and `roundtrip` are compared with the conversions.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from data.samples import TEXTS
from data.source_files import FORMATS
from harness import conversation_floors
from harness.candidates import ROOT
from harness.conversion_commands import PairFiles
from harness.conversion_profile import profile_of
from harness.every_pair import FEW, cells, delete_source, measure_cell
from harness.pair_results import Result, ResultFile
from harness.two_way_commands import comparisons, measured
from report import conversation_page, pair_page, pair_tables
from report.pages import command_given, log

PAGES = ROOT / "docs" / "benchmarks"
#: The page of every pair, and that of conversations with other scripts.
PAGE, CONVERSATIONS = PAGES / "convert.md", PAGES / "convert-benchmark.md"
#: The results of the last run, with which `--continue` begins.
RESULTS = Path(tempfile.gettempdir()) / "harpia-formats-convert.json"
ROWS, MANY_ROWS = "2000,100000", 500_000


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--rows", help=f"{ROWS} if not given; {MANY_ROWS} of --conversations")
    add("--runs", type=int, default=3)
    add("--pairs", nargs="+", default=["*:*"], metavar="SOURCE:TARGET")
    add("--texts", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    add("--no-comparisons", action="store_false", dest="comparisons")
    add("--folder", type=Path, help="where generated files are kept")
    add("--out", type=Path, help=f"the page; {PAGE.name} if not given")
    add("--results", type=Path, default=RESULTS, help="kept for --continue")
    add("--continue", action="store_true", dest="resume", help="keep earlier results")
    add("--check", action="store_true", help="exit with 1 for a limit that is missed")
    add("--profile", metavar="SOURCE:TARGET", help="print a profile of one pair")
    add("--conversations", action="store_true", help="three pairs, against orjson too")
    arguments = parser.parse_args(given)
    default = str(MANY_ROWS) if arguments.conversations else ROWS
    try:
        arguments.rows = [int(each) for each in (arguments.rows or default).split(",")]
    except ValueError:
        parser.error("--rows takes numbers with commas between them")
    if min(*arguments.rows, arguments.runs) < 1:
        parser.error("at least one row and one run are needed")
    if arguments.out is None:
        arguments.out = CONVERSATIONS if arguments.conversations else PAGE
    if arguments.profile and not is_pair(arguments.profile):
        parser.error(f"--profile takes two of {', '.join(FORMATS)} with a colon")
    return arguments


def is_pair(name: str) -> bool:
    """Tell whether a text is two formats with a colon between them."""
    source, _, target = name.partition(":")
    return {source, target} <= set(FORMATS) and source != target


def main() -> int:
    """Measure, write the page, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.conversations:
            return conversations(arguments, folder)
        if arguments.profile:
            source, target = arguments.profile.split(":")
            text, rows = arguments.texts[0], arguments.rows[-1]
            print(profile_of(PairFiles(source, target, text, rows, folder)))
            return 0
        log(f"results: {arguments.results}")
        kept = ResultFile(arguments.results, resume=arguments.resume)
        found = measured_pairs(arguments, kept, folder)
        if arguments.comparisons:
            measure_comparisons(arguments, kept, folder)
    compared = list(kept.comparisons.values())
    before = arguments.out.read_text("utf-8") if arguments.out.exists() else ""
    notes = pair_page.notes_in(before)
    profile = worst_profile(found)
    text = pair_page.page_of(found, compared, profile, command_given(), notes)
    arguments.out.write_text(text, encoding="utf-8")
    print(pair_tables.limits_table(found))
    failed = not pair_tables.all_met(found) or pair_tables.comparisons_missed(compared)
    return int(arguments.check and bool(failed))


def measured_pairs(
    arguments: argparse.Namespace, kept: ResultFile, folder: Path
) -> list[Result]:
    """Measure the pairs that have no result yet, and return the results of all."""
    asked = list(cells(arguments.pairs, arguments.texts, arguments.rows))
    for _, group in groupby(asked, lambda cell: (cell.rows, cell.text, cell.source)):
        of_source = list(group)
        for cell in of_source:
            if cell.key not in kept.results:
                log(cell.key)
                kept.add(cell, measure_cell(cell, folder, arguments.runs))
        if not arguments.folder:
            delete_source(of_source[0], folder)
    return kept.of(asked)


def measure_comparisons(
    arguments: argparse.Namespace, kept: ResultFile, folder: Path
) -> None:
    """Measure `diff` and `roundtrip` where there is no result yet."""
    text, count = arguments.texts[0], arguments.rows[-1]
    both = (comparisons(text, size, folder) for size in (FEW, count))
    for few, full in zip(*both, strict=True):
        if full.name not in kept.comparisons:
            log(full.name)
            kept.add_comparison(measured(few, full, arguments.runs))


def worst_profile(found: Sequence[Result]) -> str:
    """Return the stages of the worst pair, profiled in a process of its own."""
    worst = max(found, key=pair_tables.badness)
    command = [sys.executable, str(Path(__file__)), "--texts", worst.text]
    command += ["--rows", str(worst.rows)]
    command += ["--profile", f"{worst.source}:{worst.target}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    stages, *_ = done.stdout.split("\n\n     calls")
    return stages


def conversations(arguments: argparse.Namespace, folder: Path) -> int:
    """Measure the three conversions of conversations, and write their page."""
    count = arguments.rows[-1]
    results = conversation_floors.measured(count, folder, arguments.runs)
    sizes = conversation_floors.sizes_of(count, folder)
    text = conversation_page.document(results, count, arguments.runs, sizes)
    arguments.out.write_text(text, encoding="utf-8")
    print(text)
    return int(arguments.check and bool(conversation_floors.missed(results)))


if __name__ == "__main__":
    sys.exit(main())
