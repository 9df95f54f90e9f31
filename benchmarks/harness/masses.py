"""Measure files in which every row is wrong, and folders of many small files."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from data.files import generated_file
from data.small_files import aggregates, runs
from data.wrong_rows import (
    CLEAN,
    EMPTY,
    FORMATS,
    IDS_TWICE,
    KINDS,
    LACKS,
    ONE_ID,
    WRONG_TEXT,
    WRONG_TYPE,
    wrong_array,
    wrong_rows,
)
from report.pages import circumstances, log
from report.tables import ratio, ratio_text, table, times_table

from harness.bars import Bar, bars_table, timed
from harness.candidates import PEERS, ROOT, ours
from harness.measure import Candidate, Measurement, compare

#: The format with limits; of the others the ratios are shown.
LIMITED = "eee@0.2.0"
ARRAY = f"{LIMITED}, an array"
SCHEMA = ROOT / "schemas" / "eee" / "eee-aggregate@0.3.0.schema.json"
#: How many times as long as the clean file a file of wrong rows may take.
LIMITS = {LACKS: 3, WRONG_TYPE: 3, WRONG_TEXT: 3, IDS_TWICE: 2, ONE_ID: 2}
LOOP = "orjson + jsonschema-rs, each file"
LOOP_ALONE = "orjson + jsonschema-rs, no file"
ONE, TWO, START_UP = "ours --jobs 1", "ours --jobs 2", "ours, one file"

DOCUMENT = """\
## Wrong rows in masses, and many small files

{bars}

Each row of a file is wrong in the same way, or in one of several ways by turns; the
numbers are how many times as long as the clean file of the format it takes, with one
process. A row has some kilobytes, but for `{{}}`.

{ratios}

{files:,} aggregates of about 13 kB, and {runs:,} runs, each of an aggregate and a file
of one to ten records:

{aggregates}

{pairs}

- `ours, one file` is what every start costs; it is left out of the ratio to the loop,
  as is the start of the loop.
{circumstances}
"""

Measurements = Mapping[str, Measurement]


def files_of(count: int, folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files of wrong rows by format and kind; all of an array by its own."""
    made: dict[str, Callable[[str, int], Iterator[bytes]]] = {
        format_: partial(wrong_rows, format_) for format_ in FORMATS
    }
    made[ARRAY] = partial(wrong_array, LIMITED)
    found: dict[str, dict[str, Path]] = {}
    for format_, lines in made.items():
        for kind in KINDS:
            name = f"{count}-{format_}-{kind}".replace(" ", "-").replace(",", "")
            path = folder / f"{name}.{'json' if format_ == ARRAY else 'jsonl'}"
            rows = partial(lines, kind)
            found.setdefault(format_, {})[kind] = generated_file(path, rows, count)
    return found


def measured_rows(
    count: int, folder: Path, rounds: int, jobs: int, formats: tuple[str, ...]
) -> dict[str, Measurements]:
    """Return the times of all kinds of files, by their format."""
    found: dict[str, Measurements] = {}
    for format_, files in files_of(count, folder).items():
        if format_ not in formats:
            continue
        log(f"measuring {count:,} wrong rows of {format_}, --jobs {jobs}")
        named = ("--format", format_.partition(",")[0], "--jobs", str(jobs))
        candidates = [
            Candidate(kind, (*ours(), *named, str(path)), expected(format_, kind))
            for kind, path in files.items()
        ]
        found[format_] = compare(candidates, rounds, memory=False)
    return found


def expected(format_: str, kind: str) -> int:
    """Return the exit code for a file of rows with a kind of fault."""
    has_no_ids = format_ in {"nemo-output", "tencent-outputs"}
    return int(kind != CLEAN and not (has_no_ids and kind in {IDS_TWICE, ONE_ID}))


def measured_files(
    count: int, folder: Path, rounds: int, *, pairs: bool
) -> Measurements:
    """Return the times for a folder of small files, with one process and with two."""
    log(f"measuring {count:,} {'runs' if pairs else 'aggregates'}")
    place = (runs if pairs else aggregates)(folder, count)
    first = next(place.rglob("*.json"))
    loop = ("orjson_jsonschema_rs_files.py", str(SCHEMA))
    candidates = [
        Candidate(name, (*ours(), "--quiet", "--jobs", jobs, str(path)))
        for name, jobs, path in (
            (ONE, "1", place),
            (TWO, "2", place),
            (START_UP, "1", first),
        )
    ]
    if not pairs:
        peer = (*python_peer(loop[0]), loop[1])
        candidates += [
            Candidate(LOOP, (*peer, str(place))),
            Candidate(LOOP_ALONE, (*peer, str(folder / "nothing"))),
        ]
    return compare(candidates, rounds, memory=False)


def python_peer(name: str) -> tuple[str, str]:
    """Return the command of a peer."""
    return sys.executable, str(PEERS / name)


def bars_of(
    count: int,
    rows: Mapping[str, Measurements],
    two: Measurements,
    single: Measurements,
    pairs: Measurements,
) -> list[Bar]:
    """Return every limit with its measured value."""
    one = rows[LIMITED]
    bars = [
        Bar(
            "`{}`: rows a second, one process",
            30_000,
            count / one[EMPTY].median,
            at_least=True,
        )
    ]
    for kind, limit in LIMITS.items():
        what = f"every row wrong ({kind}) / clean"
        bars.append(Bar(f"{what}, one process", limit, ratio(one[kind], one[CLEAN])))
        bars.append(Bar(f"{what}, two processes", limit, ratio(two[kind], two[CLEAN])))
    net = single[ONE].median - single[START_UP].median
    loop = single[LOOP].median - single[LOOP_ALONE].median
    bars.append(
        Bar("aggregates: one process / the loop, start-up apart", 8, net / loop)
    )
    bars.append(timed("aggregates: two processes / one", 1, single[TWO], single[ONE]))
    bars.append(timed("runs: two processes / one", 1, pairs[TWO], pairs[ONE]))
    return bars


def ratios_of(rows: Mapping[str, Measurements]) -> str:
    """Return a table of the ratios to the clean file, kinds by formats."""
    body = [
        [
            kind,
            *(ratio_text(ratio(found[kind], found[CLEAN])) for found in rows.values()),
        ]
        for kind in KINDS
    ]
    return table(["every row", *rows], body)


def text(
    counts: tuple[int, int], folder: Path, rounds: int, command: str
) -> tuple[str, list[Bar]]:
    """Return the measured part of the page, and its limits.

    `counts` are the rows of a file, and the small files.
    """
    count, files = counts
    rows = measured_rows(count, folder, rounds, 1, (*FORMATS, ARRAY))
    two = measured_rows(count, folder, rounds, 2, (LIMITED,))[LIMITED]
    single = measured_files(files, folder, rounds, pairs=False)
    pairs = measured_files(files // 2, folder, rounds, pairs=True)
    bars = bars_of(count, rows, two, single, pairs)
    page = DOCUMENT.format(
        bars=bars_table(bars),
        ratios=ratios_of(rows),
        files=files,
        runs=files // 2,
        aggregates=times_table(single, base=LOOP),
        pairs=times_table(pairs, base=ONE),
        circumstances=circumstances(command),
    )
    return page, bars
