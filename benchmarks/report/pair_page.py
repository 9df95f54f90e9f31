"""Write what was measured of every pair, of `diff` and of `roundtrip` as a page."""

from collections.abc import Sequence

from harness.every_pair import FEW, PROVEN
from harness.measure import INTERVAL
from harness.pair_results import Compared, Result
from harness.pair_scripts import script_of

from report.pages import circumstances
from report.pair_tables import (
    COMPARISON_LIMIT,
    badness,
    comparisons_table,
    pages_of,
    sizes_of,
)

MARKDOWN = """\
# Benchmark of `harpia-formats convert`: every pair of formats

Written by `benchmarks/convert.py`. Each figure is our net time divided by the net time
of a script that does the same by hand: below 1, ours took less. What a ratio is on
another machine, only a run there can tell. Conversations, and scripts with orjson, are
on [a page of their own](convert-benchmark.md).

{tables}

{comparisons}{notes}## The worst pair

`python benchmarks/convert.py --profile {worst}` prints more of this. A profiler makes
calls of Python functions look slower than they are.

```text
{profile}
```

## What was measured

- The formats of the vendors, CSV and `record`, not those that tools have of their own.
- The same questions, references, answers and scores in every format, made with a seed:
  in English, in Chinese as UTF-8, and with many quotes, backslashes, line breaks and
  `\\u` escapes. A record takes {sizes}.
- Ours runs with all defaults, and with `--jobs 1`. It recognises the format, checks
  every record against its schema, looks for duplicate keys, counts what becomes of each
  field and says so in a table, and puts the output into its place only once all of the
  input was read. The scripts do none of this.
- Each script is what a user would write with `json` and `csv` of the standard library
  (below). What has lines is streamed; what is one document is loaded as a whole. It
  carries id, prompt, reference, category, answer, model and score where both formats
  have them, and the whole row between versions of EvalEval. Ours carries all there is.
- On the first {proven:,} records all values that a script wrote were seen to be in the
  rows that ours wrote, in the same order. For all records, one process and several
  wrote the same bytes.
- Times are without start-up: less the time of the same command on {few} records, which
  ran just before. All commands of a pair run by turns, and figures are medians; runs of
  each: {runs}. Inputs were read just before, so that they come from memory.
- Memory is the peak of the sum of the proportional set sizes of the process and its
  descendants, in a run of its own, looked at every {interval:.0f} ms.
{circumstances}

The script from `eee@0.2.0` to `csv`:

```text
{script}```
"""
COMPARISONS = """\
## `diff` and `roundtrip`

`diff` reads two files whose references differ in one record of a hundred, and may take
{limit:g} times as long as converting both to `record`; `roundtrip` may take {limit:g}
times as long as `convert`.

{table}

"""
#: What stands around notes by hand, which stay when a page is written again.
NOTES = ("<!-- notes -->", "<!-- end of notes -->")


def notes_in(page: str) -> str:
    """Return the notes by hand in a page, with what stands around them."""
    start, end = NOTES
    _, _, behind = page.partition(start)
    notes, found, _ = behind.partition(end)
    return f"{start}{notes if found else chr(10)}{end}\n\n"


def page_of(
    results: Sequence[Result],
    compared: Sequence[Compared],
    profile: str,
    command: str,
    notes: str = "",
) -> str:
    """Return the page: results in the order of their cells, and the profile's text.

    `notes` is what `notes_in` returns for the page before.
    """
    worst = max(results, key=badness)
    return MARKDOWN.format(
        tables=pages_of(results),
        comparisons=_comparisons(compared),
        notes=notes,
        worst=f"{worst.source}:{worst.target}",
        profile=profile.strip(),
        sizes=sizes_of(results),
        proven=PROVEN,
        few=FEW,
        runs=len(next(iter(worst.times.values())).wall),
        interval=INTERVAL * 1000,
        circumstances=circumstances(command),
        script=script_of("eee@0.2.0", "csv"),
    )


def _comparisons(compared: Sequence[Compared]) -> str:
    if not compared:
        return ""
    return COMPARISONS.format(limit=COMPARISON_LIMIT, table=comparisons_table(compared))
