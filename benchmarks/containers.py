"""Measure `harpia-formats validate` on containers of gigabytes: memory, and places.

Each file has one record that is wrong; the run counts only if it is found at its line,
column and byte. Ids are checked with and without the rule, by turns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.candidates import script
from harness.measure import Candidate, Measurement, compare
from report.tables import MEGABYTE, table

#: The limit of the memory, in bytes, and of the time that ids may add.
MEMORY_FLOOR = 200 * MEGABYTE
ID_FLOOR = 1.25
#: The number of the record that is wrong, where there are as many.
WRONG = 3_000_000
#: Bytes that are written at once.
PIECE = 1024 * 1024
DOCUMENT = """\
# Containers of gigabytes

Written by `benchmarks/containers.py`. Memory is the peak of the sum of the proportional
set sizes of all processes. In each of the first files one record is wrong, and the run
counts only if it is found at its line, column and byte.

{sizes}

## Unique ids

{ids}

With the check of {records:,} ids a run takes {ratio:.2f} of the time without it
(medians of {runs} interleaved runs).
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of file: what stands before, between and behind its records."""

    name: str
    format: str
    #: Bytes that it should have at full size.
    size: int
    opening: bytes
    #: Returns a record by its number, and whether it is the wrong one.
    record: Callable[[int, bool], bytes]
    between: bytes
    closing: bytes
    #: Passes over the records: a file of columns has several.
    columns: tuple[str, ...] = ("",)


def text_of(number: int, size: int) -> str:
    """Return about `size` characters that differ from record to record."""
    words = f"avaliação {number} da resposta, 评估 №{number * 7919 % 100_003}; "
    return (words * (size // len(words) + 1))[:size]


def question(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - the shape of `Case.record`
    """Return a NeMo question of some 650 bytes."""
    reference = 5 if wrong else text_of(number, 80)
    row = {
        "prompt": text_of(number, 420),
        "ideal_response": reference,
        "category": f"c{number % 12}",
        "source": "",
    }
    return json.dumps(row, ensure_ascii=False).encode()


def instance(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - likewise
    """Return a HarpIA instance of some 650 bytes."""
    row = {
        "id": number,
        "input": text_of(number, 300),
        "expected-output": [text_of(number, 60), 7 if wrong else "é"],
        "actual-output": text_of(number, 120),
    }
    return json.dumps(row, ensure_ascii=False).encode()


def answer(number: int, wrong: bool) -> bytes:  # noqa: FBT001 - likewise
    """Return an item of a column of some 160 bytes, the wrong one no JSON."""
    return b"NaN" if wrong else json.dumps(text_of(number, 110)).encode()


def small_instance(number: int, _: bool) -> bytes:  # noqa: FBT001 - likewise
    """Return a HarpIA instance of some 200 bytes."""
    return (
        b'{"id": "item-%09d", "input": "Qual \xc3\xa9 a capital do estado %d? %s", '
        b'"expected-output": ["cidade %d"], "actual-output": "cidade %d"}'
        % (number, number % 27, b"Responda. " * 7, number % 27, number % 27)
    )


_metrics = b'], "metrics": [{"id": "BLEU-NLTK", "enable": true, "parameters": {}}]}\n'
CASES = (
    Case(
        "NeMo input.json, one array",
        "nemo-input",
        2_000,
        b"[",
        question,
        b",\n",
        b"]\n",
    ),
    Case(
        "HarpIA input, instances and metrics",
        "harpia",
        2_000,
        b'{"instances": [\n',
        instance,
        b",\n",
        _metrics,
    ),
    Case(
        "Haystack columns, two of them",
        "haystack",
        1_100,
        b"{",
        answer,
        b",\n",
        b"}\n",
        ("questions", "responses"),
    ),
)
IDS = Case(
    "HarpIA input, ids",
    "harpia",
    2_000,
    b'{"instances": [\n',
    small_instance,
    b",\n",
    _metrics,
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A generated file and where the wrong record begins."""

    path: Path
    records: int
    line: int
    byte_offset: int


def write(case: Case, path: Path, records: int) -> Planted:
    """Write `records` records, one of them wrong, and return where that is."""
    wrong = min(WRONG, records)
    line = offset = size = 0
    lines = 1
    with path.open("wb") as file:
        for piece, number in pieces_of(case, records, wrong):
            if number == wrong:
                line, offset = lines, size
            file.write(piece)
            size += len(piece)
            lines += piece.count(b"\n")
    return Planted(path, records, line, offset)


def pieces_of(case: Case, records: int, wrong: int) -> Iterator[tuple[bytes, int]]:
    """Yield the bytes of a file, and the number of the wrong record with its own."""
    yield case.opening, 0
    for place, column in enumerate(case.columns):
        is_last = place == len(case.columns) - 1
        if column:
            yield b'"%b": [' % column.encode(), 0
        held: list[bytes] = []
        for number in range(1, records + 1):
            if number == wrong and is_last:
                yield b"".join(held), 0
                held = []
                yield case.record(number, True), number  # noqa: FBT003 - the wrong one
            else:
                held.append(case.record(number, False))  # noqa: FBT003 - a good one
            held.append(case.between if number < records else b"")
            if len(held) > PIECE // 200:
                yield b"".join(held), 0
                held = []
        yield b"".join(held), 0
        if column:
            yield b"]" if is_last else b"], ", 0
    yield case.closing, 0


def records_for(case: Case, megabytes: float) -> int:
    """Return how many records make a file of about so many megabytes."""
    bytes_of_record = len(case.record(1_000_000, False) + case.between)  # noqa: FBT003 - a good one
    return int(megabytes * 1e6 / bytes_of_record / len(case.columns))


def check_place(planted: Planted, case: Case) -> None:
    """Raise `SystemExit` unless the wrong record is found where it is."""
    command = [
        script("harpia-formats"),
        "validate",
        str(planted.path),
        "--output-format",
        "json",
        "-q",
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    report = json.loads(done.stdout)
    (problem,) = [each for each in report["problems"] if each["severity"] == "error"]
    text = planted.path.open("rb")
    with text:
        text.seek(problem["byte_offset"])
        there = text.read(3)
        column = column_of(text, problem["byte_offset"])
    keys = ("line", "column", "record")
    found = (report["files"][0]["format"], *(problem[each] for each in keys))
    number = min(WRONG, planted.records)
    expected = (case.format, planted.line, column, number)
    inside = 0 <= problem["byte_offset"] - planted.byte_offset < 2_000
    is_value = there.startswith((b"5", b"7", b"NaN"))
    if found != expected or not inside or not is_value:
        raise SystemExit(f"{case.name}: found {found}, expected {expected}: {problem}")


def column_of(text: BinaryIO, offset: int) -> int:
    """Return the column of the byte at `offset`, counted in the plainest way."""
    start = max(0, offset - 4_000)
    text.seek(start)
    before = text.read(offset - start).rpartition(b"\n")[2]
    return len(before.decode()) + 1


def measured(case: Case, folder: Path, share: float) -> tuple[Planted, Measurement]:
    """Write a file, see that its fault is found, and measure a run on it."""
    path = folder / f"{case.format}.json"
    planted = write(case, path, records_for(case, case.size * share))
    check_place(planted, case)
    candidate = Candidate(
        case.name, (script("harpia-formats"), "validate", str(path), "-q"), 1
    )
    result = compare([candidate], 1)[case.name]
    return planted, result


def measured_ids(
    folder: Path, records: int, runs: int
) -> tuple[Planted, dict[str, Measurement]]:
    """Measure a run with and without the check of unique ids."""
    planted = write(IDS, folder / "ids.json", records)
    command = (script("harpia-formats"), "validate", str(planted.path), "-q")
    candidates = [
        Candidate("with X101", command),
        Candidate("without", (*command, "--ignore", "X101")),
    ]
    return planted, compare(candidates, runs)


def main() -> None:
    """Run all of it, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the full sizes")
    parser.add_argument("--ids", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the files; a new one if not")
    parser.add_argument("--output", type=Path, help="the page; printed if not given")
    parser.add_argument("--check", action="store_true", help="fail below the floors")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = []
        peaks = []
        for case in CASES:
            planted, result = measured(case, Path(folder), options.share)
            size = planted.path.stat().st_size
            planted.path.unlink()
            peaks.append(result.peak or 0)
            rows.append(row_of(case.name, size, planted.records, result))
        planted, results = measured_ids(Path(folder), options.ids, options.runs)
        size = planted.path.stat().st_size
    with_ids, without = results["with X101"], results["without"]
    ratio = with_ids.median / without.median
    peaks.append(with_ids.peak or 0)
    head = ["file", "size", "records", "time", "peak memory"]
    ids = [row_of(each.name, size, options.ids, each) for each in results.values()]
    page = DOCUMENT.format(
        sizes=table(head, rows),
        ids=table(head, ids),
        records=options.ids,
        ratio=ratio,
        runs=options.runs,
    )
    if options.output:
        options.output.write_text(page)
    else:
        print(page)
    if options.check and (max(peaks) > MEMORY_FLOOR or ratio > ID_FLOOR):
        sys.exit("below a floor: more than 200 MB, or ids take more than a quarter")


def row_of(name: str, size: int, records: int, result: Measurement) -> list[str]:
    """Return a row of a table."""
    peak = f"{result.peak / MEGABYTE:.0f} MB" if result.peak else "not told"
    time = f"{result.median:.1f} s"
    return [name, f"{size / 1e9:.2f} GB", f"{records:,}", time, peak]


if __name__ == "__main__":
    main()
