"""Damage files of every kind, and show what the commands do with them.

    python benchmarks/damaged.py [--files N] [--kind NAME] [--first SEED] [--trials]

So many files of each kind are made and damaged, with the same random numbers in each
run, and given to a command, each in a process of its own. The table says how often it
read the rows that were there ("unchanged") or others ("other values": where nothing
can tell, as in a letter of a text), found something wrong (exit 1), or refused the file
(exit 2). The exit code is 1 if a process crashed or hung, or ended with exit 3.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from damage.kinds import KINDS
from damage.runs import FAILURES, OUTCOMES, Outcomes, Trial, trials
from report.tables import MEGABYTE, table


def counted(found: Iterable[Trial]) -> dict[tuple[str, str], Outcomes]:
    """Return the outcomes by kind and damage."""
    counts: dict[tuple[str, str], Outcomes] = {}
    for trial in found:
        one = counts.setdefault((trial.kind, trial.damage), Outcomes())
        one.counts[trial.ended.outcome] += 1
        one.peak = max(one.peak, trial.ended.peak)
    return counts


def outcomes_table(counts: dict[tuple[str, str], Outcomes]) -> str:
    """Return a table of kinds and damages by outcomes, with a line for each kind."""
    rows = []
    for kind in dict.fromkeys(kind for kind, _ in counts):
        of_kind = {
            damage: one for (name, damage), one in counts.items() if name == kind
        }
        rows += [_row(kind, damage, one) for damage, one in of_kind.items()]
        whole = Outcomes()
        for one in of_kind.values():
            whole.counts += one.counts
            whole.peak = max(whole.peak, one.peak)
        rows.append(_row(kind, "all", whole))
    return table(["kind", "damage", "files", *OUTCOMES, "most memory"], rows)


def _row(kind: str, damage: str, one: Outcomes) -> list[str]:
    numbers = [f"{one.counts[outcome]:,}" for outcome in OUTCOMES]
    peak = f"{one.peak / MEGABYTE:.0f} MB"
    return [kind, damage, f"{one.counts.total():,}", *numbers, peak]


def main() -> None:
    """Print the table, and fail if a process crashed, hung or ended with exit 3."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000, help="of each kind")
    parser.add_argument("--kind", action="append", choices=[one.name for one in KINDS])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--trials", action="store_true", help="print each file")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            if given.kind and kind.name not in given.kind:
                continue
            for trial in trials(kind, given.files, Path(folder), given.first):
                found.append(trial)
                if given.trials or trial.ended.outcome in FAILURES:
                    print(trial, file=sys.stderr, flush=True)
    print(outcomes_table(counted(found)))
    failures = sum(trial.ended.outcome in FAILURES for trial in found)
    if failures:
        sys.exit(f"{failures:,} of {len(found):,} files crash, hang or end with exit 3")


if __name__ == "__main__":
    main()
