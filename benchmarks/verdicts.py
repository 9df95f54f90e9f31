"""Compare `validate` with the schema validator on a million mutants of each format.

    python benchmarks/verdicts.py [--count N] [--formats FORMAT ...] [--seed N]
        [--jobs N] [--output PAGE]

Every format and dialect with a schema is found in the registry, and its mutants are
made of its valid fixtures; the dialects of a format have equal shares of its mutants.
At the first difference the mutant is printed, no page is written, and the exit code is
1. It needs the extra test.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from math import ceil
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
for _folder in ("benchmarks", "tests/helpers"):
    sys.path.append(str(ROOT / _folder))

from harness.mutant_verdicts import (  # noqa: E402 - found by the path above
    ALONE_EVERY,
    BATCH,
    MIXED_EVERY,
    REFERENCE_EVERY,
    Outcome,
    outcome_of,
    streams,
)
from report.pages import circumstances, log  # noqa: E402 - found by the path above
from report.tables import table  # noqa: E402 - found by the path above

#: The least share of mutants that must be valid: to refuse all of them is easy.
LEAST_VALID = 0.2
MARKDOWN = """\
# Verdicts on mutants, compared with the schema validator

Written by `benchmarks/verdicts.py`: {count:,} mutants of every format, of which its
dialects have equal shares. {verdict}

{table}

"By jsonschema" is the number of mutants that the reference engine judged, too. Where
the schema allows nearly everything, as that of `csv` does, nearly all are valid.

## What was compared

- A mutant is made of valid fixtures: members are removed, renamed, repeated, put into
  another order, moved, or replaced by values on which validators have been found to
  disagree, up to a dozen edits in one. Texts, numbers and white space are written in
  any way that JSON allows. A table has columns and fields that are drawn.
- `validate` reads files of up to {batch:,} mutants behind valid records: in lines, as
  an array, or in their document, and by turns with `--strict` where the format has it.
  In one of {mixed} batches, valid and invalid mutants are in one file. In the others
  each kind has a file, so that valid rows are accepted together and their texts stay
  undecoded; the decoder that does so is shown every invalid mutant alone as well. One
  in {alone} documents is a file of its own.
- The other verdict is that of the schema validator (jsonschema-rs) on each mutant
  alone, and for one in {reference:,} that of `jsonschema`, which Python's json decodes.
  A mutant that repeats a key is invalid.
- Rules that no schema states are not asked: those of vendors, on ids across records,
  on labels of versions, and on what a file is.

## Circumstances

{circumstances}
- Seed: {seed}.
"""


class Row(NamedTuple):
    """What was found of the mutants of a format in a dialect, and in how long."""

    name: str
    outcome: Outcome
    seconds: float

    @property
    def share(self) -> float:
        """The share of mutants that are valid."""
        return self.outcome.valid / self.outcome.mutants


def compared(
    counts: Mapping[str, int], seed: int, run: Callable[..., Any] = map
) -> Iterator[Row]:
    """Yield what is found of mutants of each variant, up to the first difference.

    `counts` has their numbers. `run` applies a function to batches, as `map` does.
    """
    for name, count in counts.items():
        start = time.perf_counter()
        sizes = [min(BATCH, count - done) for done in range(0, count, BATCH)]
        found = Outcome()
        batch = partial(_outcome, name, seed)
        for outcome in run(batch, range(len(sizes)), sizes):
            found += outcome
            if found.difference:
                break
        yield Row(name, found, time.perf_counter() - start)
        if found.difference:
            return


def _format_of(name: str) -> str:
    return name.partition("/")[0]


def _outcome(name: str, seed: int, number: int, count: int) -> Outcome:
    return outcome_of(name, number, count, seed)


def page(rows: Sequence[Row], count: int, seed: int, command: str) -> str:
    """Return the page that says what was compared."""
    total = reduce(add, (row.outcome for row in rows), Outcome())
    lines = [*rows, Row("all", total, sum(row.seconds for row in rows))]
    heads = ["format/dialect", "mutants", "valid", "invalid", "by jsonschema"]
    cells = [
        [
            row.name,
            f"{row.outcome.mutants:,}",
            f"{row.outcome.valid:,}",
            f"{row.outcome.mutants - row.outcome.valid:,}",
            f"{row.outcome.referenced:,}",
            f"{bool(row.outcome.difference):d}",
            f"{row.seconds:.0f}",
        ]
        for row in lines
    ]
    return MARKDOWN.format(
        count=count,
        verdict="Some verdicts differ." if total.difference else "No verdict differs.",
        table=table([*heads, "differences", "seconds"], cells),
        batch=BATCH,
        alone=ALONE_EVERY,
        mixed=MIXED_EVERY,
        reference=REFERENCE_EVERY,
        circumstances=circumstances(command),
        seed=seed,
    )


def main(given: Sequence[str] | None = None) -> int:
    """Compare, write the page, and return 1 at a difference or too few valid ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="of each format")
    parser.add_argument(
        "--formats", nargs="+", metavar="FORMAT", help="names, with /DIALECT if wanted"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    output = ROOT / "docs" / "benchmarks" / "verdicts.md"
    parser.add_argument("--output", type=Path, default=output)
    options = parser.parse_args(given)
    asked = {*(options.formats or ())}
    names = [
        name
        for name, among in streams().items()
        if among and (not asked or asked & {name, _format_of(name)})
    ]
    if not names:
        parser.error("no such format has a schema and fixtures")
    dialects = Counter(map(_format_of, names))
    counts = {name: ceil(options.count / dialects[_format_of(name)]) for name in names}
    rows: list[Row] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, context) as pool:
        for row in compared(counts, options.seed, pool.map):
            rows.append(row)
            log(f"{row.name}: {row.share:.0%} valid, {row.seconds:.1f} s")
        pool.shutdown(cancel_futures=True)
    if difference := rows[-1].outcome.difference:
        print(difference)
        return 1
    command = "python benchmarks/verdicts.py"
    command += f" --count {options.count} --seed {options.seed} --jobs {options.jobs}"
    command += " --formats " + " ".join(options.formats) if options.formats else ""
    text = page(rows, options.count, options.seed, command)
    options.output.write_text(text, encoding="utf-8")
    print(text)
    few = [row.name for row in rows if row.share < LEAST_VALID]
    if few:
        log(f"too few mutants are valid: {', '.join(few)}")
    return int(bool(few))


if __name__ == "__main__":
    sys.exit(main())
