"""Compare `harpia-formats convert` with straightforward scripts: time and memory.

The scripts do by hand what ours does with the rows: read a line, build the rows,
write them. That they write the same is seen before anything is measured.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data import generate, generate_rows
from data.files import generated_file
from harness.candidates import OURS, ROOT, script
from harness.measure import INTERVAL, Candidate, Measurement, compare
from report.tables import MEGABYTE, ratio, ratios_table, table, times_table

SERIAL = "ours --jobs 1"
PLAIN, QUICK = "script with json", "script with orjson"
#: What the scripts are made of: how they decode and encode.
ENGINES = {
    PLAIN: """\
import json
import sys

loads = json.loads


def dumps(row):
    return json.dumps(row, ensure_ascii=False).encode()
""",
    QUICK: """\
import sys

from orjson import dumps, loads
""",
}
LINES = """

def main(source, target):
    with open(source, "rb") as lines, open(target, "wb") as output:
        for line in lines:
            for row in rows_of(loads(line)):
                output.write(dumps(row) + b"\\n")


main(*sys.argv[1:])
"""
DOCUMENT = """

def main(source, target):
    with open(source, "rb") as lines, open(target, "wb") as output:
        output.write(b'{"instances": [')
        for number, line in enumerate(lines, 1):
            row = row_of(loads(line), number)
            output.write((b",\\n" if number > 1 else b"\\n") + dumps(row))
        output.write(b"\\n]}\\n")


main(*sys.argv[1:])
"""
EEE_TO_NEMO = """

def rows_of(row):
    question, turns = row["input"]["raw"], row["interactions"]
    if turns:
        answer = next(
            turn["content"]
            for turn in reversed(turns)
            if turn["role"] == "assistant" and turn["content"] is not None
        )
    else:
        answer = row["output"]["raw"]
    yield {
        "input": {
            "prompt": question,
            "ideal_response": row["input"]["reference"],
            "category": "",
            "source": "",
        },
        "response": answer,
        "llm_name": row["model_id"],
    }
"""
TENCENT_TO_NEMO = """

def rows_of(row):
    messages = row["messages"]
    question = [each["content"] for each in messages if each["role"] == "user"][-1]
    for output in row["model_outputs"]:
        for response in output["responses"]:
            yield {
                "input": {
                    "prompt": question,
                    "ideal_response": row["ref_answer"],
                    "category": "",
                    "source": "",
                },
                "response": response["content"],
                "llm_name": output["model_name"],
            }
"""
NEMO_TO_HARPIA = """

def row_of(row, number):
    question = row["input"]
    return {
        "id": str(number),
        "input": question["prompt"],
        "expected-output": [question["ideal_response"]],
        "actual-output": row["response"],
    }
"""
MARKDOWN = """\
# Benchmark of `harpia-formats convert`

Written by `benchmarks/convert.py`, on generated files of {count:,} records. Ratios are
medians over medians: below 1, ours took less time. What a ratio is on another machine,
only a run there can tell.

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
- Seconds are those of this machine: {system}, {cores} cores, Python {python},
  {versions}. At the end its load average
  over five minutes was {load}: the more else it had to do, the less the numbers tell.

To repeat it: `python benchmarks/convert.py --rows {count} --runs {runs}`
"""
#: Records on which all are seen to write the same.
PROVEN = 2000
PACKAGES = ("harpia-formats", "msgspec", "orjson")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two formats, and the heart of a script that converts one into the other."""

    source: str
    target: str
    body: str
    #: How the name of the output ends.
    suffix: str
    rows: Callable[[int], Iterator[bytes]]

    @property
    def name(self) -> str:
        """The pair in words."""
        return f"{self.source} to {self.target}"


def rows_of(format_: str) -> Callable[[int], Iterator[bytes]]:
    """Return what generates rows of a format."""
    return lambda count: generate_rows.rows(format_, count)


PAIRS = (
    Pair("eee@0.2.0", "nemo-output", EEE_TO_NEMO + LINES, ".jsonl", generate.rows),
    Pair(
        "tencent-outputs",
        "nemo-output",
        TENCENT_TO_NEMO + LINES,
        ".jsonl",
        rows_of("tencent-outputs"),
    ),
    Pair(
        "nemo-output",
        "harpia",
        NEMO_TO_HARPIA + DOCUMENT,
        ".json",
        rows_of("nemo-output"),
    ),
)
Results = Mapping[str, Mapping[str, Measurement]]
#: Returns what converts a file into another one.
Command = Callable[[Path, Path], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Floor:
    """A number that must not be exceeded by any pair."""

    what: str
    limit: float
    measured: Callable[[Mapping[str, Measurement]], float]


def most_memory(measurements: Mapping[str, Measurement]) -> float:
    """Return our peak memory in megabytes, endless if it was not measured."""
    peak = measurements[OURS].peak
    return float("inf") if peak is None else peak / MEGABYTE


FLOORS = (
    Floor(
        f"wall time: ours / {SERIAL}", 1 / 1.7, lambda of: ratio(of[OURS], of[SERIAL])
    ),
    Floor(f"wall time: ours / {PLAIN}", 1 / 3, lambda of: ratio(of[OURS], of[PLAIN])),
    Floor(f"wall time: ours / {QUICK}", 1, lambda of: ratio(of[OURS], of[QUICK])),
    Floor("peak memory of ours, MB", 200, most_memory),
)


def missed(results: Results) -> list[tuple[str, Floor]]:
    """Return the floors that a pair does not meet."""
    return [
        (name, floor)
        for name, measurements in results.items()
        for floor in FLOORS
        if not floor.measured(measurements) <= floor.limit
    ]


def floors_table(results: Results) -> str:
    """Return what was measured of each floor, and whether it was met."""
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


def generated(pair: Pair, count: int, folder: Path) -> Path:
    """Return a file of `count` rows in the source format of `pair`."""
    path = folder / f"{pair.source}-{count}-rows.jsonl"
    return generated_file(path, pair.rows, count)


def candidates_on(path: Path, pair: Pair, folder: Path) -> list[Candidate]:
    """Return ours, with two workers and one, and the scripts; each writes a file."""
    small = generated(pair, PROVEN, folder)
    return [
        Candidate(
            name,
            command(path, output),
            output=output,
            source=path,
            warm_up=command(small, output),
        )
        for name, output, command in commands_of(pair, folder)
    ]


def commands_of(pair: Pair, folder: Path) -> Iterator[tuple[str, Path, Command]]:
    """Yield the name of each candidate, where it writes, and its command."""

    def ours(jobs: str) -> Command:
        program = script("harpia-formats")
        options = ("--to", pair.target, "--jobs", jobs, "--overwrite", "--output")
        return lambda source, output: (
            program,
            "convert",
            str(source),
            *options,
            str(output),
        )

    def by_hand(program: Path) -> Command:
        return lambda source, output: (
            sys.executable,
            str(program),
            str(source),
            str(output),
        )

    yield OURS, folder / f"ours{pair.suffix}", ours("2")
    yield SERIAL, folder / f"ours-alone{pair.suffix}", ours("1")
    for number, (name, engine) in enumerate(ENGINES.items()):
        program = folder / f"script-{number}.py"
        program.write_text(engine + pair.body, encoding="utf-8")
        yield name, folder / f"script-{number}{pair.suffix}", by_hand(program)


def rows_in(path: Path) -> list[Any]:
    """Return the rows of an output, of lines or of a HarpIA document."""
    data = path.read_bytes()
    if path.suffix == ".json":
        instances: list[Any] = json.loads(data)["instances"]
        return instances
    return [json.loads(each) for each in data.splitlines()]


def prove(pair: Pair, folder: Path) -> None:
    """See that all candidates write the same rows. Raises `SystemExit`."""
    found = candidates_on(generated(pair, PROVEN, folder), pair, folder)
    outputs = []
    for each in found:
        each.begin()
        subprocess.run(each.command, check=True, capture_output=True)
        assert each.output is not None  # noqa: S101 - all of these write a file
        outputs.append(rows_in(each.output))
    ours, *others = outputs
    for candidate, other in zip(found[1:], others, strict=True):
        pairs = enumerate(zip(ours, other, strict=False))
        wrong = next((place for place, (a, b) in pairs if a != b), None)
        if wrong is not None or len(ours) != len(other):
            where = len(ours) if wrong is None else wrong
            raise SystemExit(f"{pair.name}: {candidate.name} differs at row {where}")


def measured(count: int, folder: Path, runs: int) -> dict[str, dict[str, Measurement]]:
    """Measure every pair, with generated files in `folder`.

    Raises `SystemExit` where the outputs differ, and `UnexpectedExitError`.
    """
    results = {}
    for pair in PAIRS:
        _say(f"seeing that all write the same: {pair.name}")
        prove(pair, folder)
        _say(f"measuring {count:,} records: {pair.name}")
        path = generated(pair, count, folder)
        results[pair.name] = compare(candidates_on(path, pair, folder), runs)
    return results


def sizes_of(count: int, folder: Path) -> str:
    """Return how large a record of each pair is, in words."""
    sizes = [
        f"{generated(each, count, folder).stat().st_size / count / 1000:.1f} kB"
        f" ({each.source})"
        for each in PAIRS
    ]
    return f"{', '.join(sizes[:-1])} and {sizes[-1]}"


def load() -> str:
    """Return how busy the machine was in the last five minutes, if it tells."""
    return f"{os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else "not told"


def document(results: Results, count: int, runs: int, sizes: str) -> str:
    """Return the results as Markdown."""
    tables = [f"## {name}\n\n{times_table(each)}" for name, each in results.items()]
    return MARKDOWN.format(
        count=count,
        ratios=ratios_table(results, (OURS,)),
        pairs="\n\n".join(tables),
        floors=floors_table(results),
        proven=PROVEN,
        sizes=sizes,
        runs=runs,
        interval=INTERVAL * 1000,
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        python=platform.python_version(),
        load=load(),
        versions=", ".join(
            f"{each} {importlib.metadata.version(each)}" for each in PACKAGES
        ),
    )


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where generated files are kept")
    output = ROOT / "docs" / "benchmarks" / "convert-benchmark.md"
    parser.add_argument("--output", type=Path, default=output)
    parser.add_argument("--check", action="store_true", help="exit with 1 for a floor")
    arguments = parser.parse_args(given)
    if arguments.rows < 1 or arguments.runs < 1:
        parser.error("at least one row and one run are needed")
    return arguments


def main() -> int:
    """Measure, write the tables, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        folder.mkdir(parents=True, exist_ok=True)
        results = measured(arguments.rows, folder, arguments.runs)
        sizes = sizes_of(arguments.rows, folder)
    text = document(results, arguments.rows, arguments.runs, sizes)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return int(arguments.check and bool(missed(results)))


if __name__ == "__main__":
    sys.exit(main())
