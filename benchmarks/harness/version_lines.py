"""The commands, with their files, on which two versions are compared."""

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from data import generate, generate_rows
from data.answer_pairs import pairs
from data.files import Rows, generated_file
from data.samples import samples, tidy
from data.source_files import write_rows

#: Rows of each file at scale 1, so that a run takes about a second on two cores.
GOOD, BAD, SMALL_ROWS, CONVERTED, SCORED = 50_000, 10_000, 80_000, 20_000, 2_500
LINTED = 40_000
#: One row of so many has keys that its format does not know, where some have.
UNKNOWN = 50
#: The pairs of formats of `benchmarks/convert.py`, with the suffix of the output.
CONVERSIONS = (
    ("eee@0.2.0", "nemo-output", ".jsonl"),
    ("tencent-outputs", "nemo-output", ".jsonl"),
    ("nemo-output", "harpia", ".json"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A command that both versions run: its arguments, and the expected exit code."""

    name: str
    arguments: tuple[str, ...]
    expected: int = 0
    #: The file that it writes, None if it writes none.
    output: Path | None = None
    #: The file that it reads, None if it reads none.
    source: Path | None = None


def lines_in(folder: Path, scale: float) -> list[Line]:
    """Return all lines, with generated files in `folder`.

    `scale` multiplies the rows of each file.
    """

    def count(rows: int) -> int:
        return max(int(rows * scale), 1)

    return [
        *_start_up(folder),
        *_validation(folder, count(GOOD), count(BAD), count(SMALL_ROWS)),
        *_lints(folder, count(LINTED)),
        *_conversions(folder, count(CONVERTED)),
        *_scores(folder, count(SCORED)),
    ]


def _start_up(folder: Path) -> Iterator[Line]:
    one = generated_file(folder / "one-record.jsonl", generate.rows, 1)
    yield Line("start-up: --help", ("--help",))
    yield Line("start-up: validate --help", ("validate", "--help"))
    yield Line("start-up: validate one record", ("validate", str(one)), source=one)


def _validation(folder: Path, good: int, bad: int, small: int) -> Iterator[Line]:
    rows = generated_file(folder / f"good-{good}.jsonl", generate.rows, good)
    some_bad: Rows = partial(generate.rows, bad=0.01)
    some = generated_file(folder / f"some-bad-{good}.jsonl", some_bad, good)
    array = _array_of(rows, folder / f"array-{good}.json")
    table = _csv_in(folder / f"table-{small}.csv", small)
    for jobs, processes in (("1", "one process"), ("2", "two processes")):
        yield _validated(f"good rows, {processes}", rows, "--jobs", jobs)
    yield _validated("1 % of rows bad", some, "--jobs", "2", expected=1)
    for fault in generate.FAULTS:
        all_bad: Rows = partial(generate.rows, bad=1.0, fault=fault)
        name = f"all-bad-{fault.replace(' ', '-')}-{bad}.jsonl"
        path = generated_file(folder / name, all_bad, bad)
        yield _validated(f"every row bad, {fault}", path, "--jobs", "2", expected=1)
    yield _validated("array of rows, one process", array, "--jobs", "1")
    yield _validated("array of rows, two processes", array, "--jobs", "2")
    yield _validated("CSV", table, "--format", "csv")


def _validated(name: str, path: Path, *options: str, expected: int = 0) -> Line:
    command = ("validate", str(path), *options)
    return Line(f"validate: {name}", command, expected, source=path)


def _lints(folder: Path, count: int) -> Iterator[Line]:
    rows = folder / f"tidy-{count}.jsonl"
    write_rows(rows, "eee@0.2.0", "English", tidy(samples("English", count)))
    some = _with_unknown_keys(rows, folder / f"unknown-keys-{count}.jsonl")
    yield _validated("lints of good rows", rows, "--lint", "--jobs", "1")
    options = ("--lint", "--format", "eee@0.2.0", "--jobs", "1")
    yield _validated("lints, some rows with unknown keys", some, *options)
    yield Line("stats: good rows", ("stats", str(rows), "--jobs", "1"), source=rows)


def _conversions(folder: Path, rows: int) -> Iterator[Line]:
    for source, target, suffix in CONVERSIONS:
        made: Rows = (
            partial(generate_rows.rows, source)
            if source in generate_rows.ROWS
            else generate.rows
        )
        path = generated_file(folder / f"{source}-{rows}.jsonl", made, rows)
        output = folder / f"output{suffix}"
        for jobs, processes in (("1", "one process"), ("2", "two processes")):
            options = ("--to", target, "--jobs", jobs, "--output", str(output))
            yield Line(
                f"convert: {source} to {target}, {processes}",
                ("convert", str(path), *options),
                output=output,
                source=path,
            )


def _scores(folder: Path, count: int) -> Iterator[Line]:
    path = generated_file(folder / f"pairs-{count}.jsonl", pairs, count)
    for metrics in ("em,f1", "bleu,rouge"):
        command = ("score", str(path), "--metrics", metrics)
        yield Line(f"score: {metrics}", command, source=path)


def _with_unknown_keys(rows: Path, target: Path) -> Path:
    """Write `rows` to `target`, one of `UNKNOWN` with new keys, and return that."""
    new = b'{"new_key": {"reviewer": 1}, '
    with rows.open("rb") as lines, target.open("wb") as file:
        file.writelines(
            line if number % UNKNOWN else line.replace(b"{", new, 1)
            for number, line in enumerate(lines)
        )
    return target


def _array_of(rows: Path, target: Path) -> Path:
    """Write the lines of `rows` as a JSON array to `target`, and return that."""
    with rows.open("rb") as lines, target.open("wb") as file:
        file.write(b"[")
        for number, line in enumerate(lines):
            file.write((b",\n" if number else b"\n") + line.rstrip(b"\n"))
        file.write(b"\n]\n")
    return target


def _csv_in(target: Path, count: int) -> Path:
    """Write `count` rows of CSV to `target`, some of them quoted, and return that."""
    chance = random.Random(generate.SEED)
    words = tuple(generate.ASCII_TEXT.split())
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "response", "category"])
        for number in range(count):
            prompt = generate.text_of(120, words, chance)
            answer = generate.text_of(80, words, chance)
            if number % 5 == 0:
                answer = f'"{answer}", it says,\nand more'
            writer.writerow([f"q{number:08d}", prompt, answer, number % 12])
    return target
