"""Write what was measured of the conversions of conversations as a page."""

from harness.candidates import OURS
from harness.conversation_floors import FLOORS, Results, missed
from harness.conversion_pairs import PROVEN
from harness.measure import INTERVAL

from report.pages import circumstances
from report.tables import ratios_table, table, times_table

MARKDOWN = """\
# Benchmark of `harpia-formats convert`: conversations

Written by `benchmarks/convert.py --conversations`, on generated files of {count:,}
records. Ratios are medians over medians: below 1, ours took less time. What a ratio is
on another machine, only a run there can tell. All other pairs of formats are on
[a page of their own](convert.md).

## Ratios

{ratios}

{pairs}

## Floors

{floors}

## What was measured

- Ours runs with two workers and all other defaults: it recognises the format, checks
  every record against its schema, looks for duplicate keys, counts what becomes of
  each field and says so in a table, and puts the output into its place only once all
  of the input was read. The scripts do none of this.
- Each script is one loop in one process: a line is decoded, the rows are built as
  dicts by hand, and each is encoded and written. `json` is that of Python, with
  `ensure_ascii=False`.
- One worker and both scripts were seen to write the same rows as two workers, compared
  as JSON, for the first {proven:,} records.
- A record takes {sizes}.
  A conversation of EvalEval becomes its prompt and its last answer, a row of Tencent
  one row for each answer, and a row of NeMo gets the number of its record for
  an id.
- Wall time is from the start of a process to its end. Runs of each command, by
  turns: {runs}. Output is a new file: that of the run before is removed first. What is
  read was read once just before, and each command was run just before on {proven:,}
  records, so that data and programs come from memory.
- Memory comes from a run of its own: the peak of the sum of the proportional set
  sizes of the process and its descendants, looked at every {interval:.0f} ms.
- Seconds are those of this machine.
{circumstances}
"""


def floors_table(results: Results) -> str:
    """Return a table of the limits with the measured values."""
    rows = [
        [
            f"{name}, {floor.what}",
            f"{floor.limit:.3g}",
            f"{floor.measured(measurements):.2f}",
            "no" if (name, floor) in missed(results) else "yes",
        ]
        for name, measurements in results.items()
        for floor in FLOORS
    ]
    return table(["floor", "at most", "measured", "met"], rows)


def document(results: Results, count: int, runs: int, sizes: str) -> str:
    """Return the results as Markdown."""
    tables = [f"## {name}\n\n{times_table(group)}" for name, group in results.items()]
    return MARKDOWN.format(
        count=count,
        ratios=ratios_table(results, (OURS,)),
        pairs="\n\n".join(tables),
        floors=floors_table(results),
        proven=PROVEN,
        sizes=sizes,
        runs=runs,
        interval=INTERVAL * 1000,
        circumstances=circumstances(
            f"python benchmarks/convert.py --conversations --rows {count} --runs {runs}"
        ),
    )
