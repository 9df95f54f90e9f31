"""Measure `diff` and `roundtrip` of every format against the conversions in them."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.source_files import FORMATS, source_file

from harness.candidates import script
from harness.conversion_commands import PairFiles
from harness.measure import MEMORY_IS_KNOWN, Candidate, peak_of, run_of
from harness.pair_results import Compared, Times

TO, OTHER, TABLE_FORMAT = "record", "eee@0.2.0", "csv"
#: The exit codes of a comparison: nothing differs, or something does.
COMPARED = (0, 1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A command that reads several files, and the conversions that it is held to."""

    name: str
    command: tuple[str, ...]
    conversions: tuple[tuple[str, ...], ...]


def comparisons(text: str, count: int, folder: Path) -> Iterator[Comparison]:
    """Yield `diff` of two files of each format, then `roundtrip` from and via each.

    One `diff` is of a file and a table.
    """
    for first, second in (*zip(FORMATS, FORMATS, strict=True), (OTHER, TABLE_FORMAT)):
        yield _diff((first, second), text, count, folder)
    ways = [(format_, TO) for format_ in FORMATS if format_ != TO]
    ways += [(OTHER, format_) for format_ in FORMATS if format_ not in (OTHER, TO)]
    for source, via in ways:
        files = PairFiles(source, via, text, count, folder)
        command = (
            script("harpia-formats"),
            "roundtrip",
            str(files.input),
            "--via",
            via,
        )
        yield Comparison(f"roundtrip, {source} via {via}", command, (files.ours(),))


def _diff(formats: tuple[str, str], text: str, count: int, folder: Path) -> Comparison:
    """Return the comparison of two files of two formats, and their conversions."""
    first = source_file(formats[0], text, count, folder)
    second = source_file(formats[1], text, count, folder, changed=True)
    output = str(folder / "record.jsonl")
    written = ("--to", TO, "--overwrite", "--output", output)
    conversions = tuple(
        (script("harpia-formats"), "convert", str(path), "--from", format_, *written)
        for path, format_ in zip((first, second), formats, strict=True)
    )
    named = ("--from", formats[0], "--to", formats[1])
    command = (script("harpia-formats"), "diff", str(first), str(second), *named)
    name = " and ".join(dict.fromkeys(formats))
    return Comparison(f"diff, {name}", command, conversions)


def measured(few: Comparison, full: Comparison, runs: int) -> Compared:
    """Measure a comparison; `few` is the same one on few records.

    Raises `SystemExit` for a command that fails, and `UnexpectedExitError`.
    """
    code = exit_code_of(few.command)
    commands = list(zip(_candidates(few, code), _candidates(full, code), strict=True))
    times = [Times() for _ in commands]
    for _ in range(runs):
        for found, (start, whole) in zip(times, commands, strict=True):
            found.add(run_of(start), run_of(whole))
    peak = peak_of(commands[0][1]) if MEMORY_IS_KNOWN else None
    net = [each.net for each in times]
    return Compared(full.name, net[0], sum(net[1:]), peak)


def _candidates(comparison: Comparison, code: int) -> list[Candidate]:
    """Return the command with its exit code, and the conversions."""
    conversions = (Candidate("conversion", each) for each in comparison.conversions)
    return [Candidate(comparison.name, comparison.command, code), *conversions]


def exit_code_of(command: Sequence[str]) -> int:
    """Return the exit code of a comparison; raises `SystemExit` if it failed."""
    done = subprocess.run(command, check=False, capture_output=True)
    # A script that fails ends with the code of one that found a difference.
    if done.returncode not in COMPARED or b"Traceback" in done.stderr:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.decode()}")
    return done.returncode
