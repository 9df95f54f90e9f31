"""Run `convert` on a file as its user would, and return what it came to."""

import io
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel import (  # noqa: F401 - loaded to be patched
    convert_ranges,
    range_converter,
)
from harpia_formats.conversion.reading import row_batch as column_buffer
from harpia_formats.conversion.reading import row_batch as column_rows
from harpia_formats.conversion.run import Conversion
from harpia_formats.model.problem import Severity
from plain_conversion import Converted, at_of, quarantine_of
from row_files import RowFile

#: The problems of converting; those of validation are not looked at.
OF_CONVERTING = ("L201", "L202", "L203")


@dataclass(frozen=True, slots=True)
class Way:
    """One way to give the input and to run the conversion."""

    #: "path", "bytes" or "stream".
    given: str = "path"
    jobs: int = 1


def run(  # noqa: PLR0913, PLR0917 - a conversion with its places
    file: RowFile,
    to: str,
    output: str,
    given: dict[str, Any],
    folder: Path,
    way: Way,
) -> Converted:
    """Convert `file`, and return the outcome with everything that was written."""
    source = folder / f"input.{suffix_of(file)}"
    source.write_bytes(file.data)
    out = folder / "out"
    out.mkdir()
    converted = Converted()
    try:
        options = ConvertOptions(from_=file.format.id, jobs=way.jobs, **given)
        conversion = Conversion(
            [_input(source, file, way)], to, str(out / output), options
        )
        # Every problem is compared, not some examples of each group.
        tally = conversion._reading.tally  # noqa: SLF001 - no option lifts the caps
        tally.examples = tally.max_problems = 0
        problems = list(conversion)
        report = conversion.report()
    except Exception as error:  # noqa: BLE001 - whatever is raised must be raised
        return Converted(error=f"{type(error).__name__}: {error}")
    others = [
        each
        for each in problems
        if each.code not in OF_CONVERTING and each.severity is Severity.ERROR
    ]
    assert not others, others
    own = [each for each in problems if each.code in OF_CONVERTING]
    converted.problems = [
        # The help for repeated ids depends on the options, and has its own tests.
        (each.code, each.place, each.message, each.help if each.code == "L201" else "")
        for each in own
    ]
    for path in sorted(out.iterdir()):
        if not path.name.endswith(".findings.jsonl"):
            converted.files[path.name] = path.read_bytes()
    converted.rows, converted.skipped = report.rows, report.skipped
    converted.is_written = report.written
    converted.failed_by_loss = report.failed_by_loss
    (losses,) = (each.losses for each in report.losses)
    converted.losses = {
        "carried": {path: times for path, times in losses.carried.items() if times},
        "records": +losses.records,
        "kept": +losses.kept,
        "outcomes": +losses.outcomes,
    }
    converted.counts = [
        (outcome, each.count, at_of(each.place))
        for outcome, each in losses.counts.items()
    ]
    return converted


def suffix_of(file: RowFile) -> str:
    """Return the suffix of the name of a file."""
    if file.dialect.container.name == "TABLE":
        return "csv"
    return "json" if file.data[:1] == b"[" or file.around else "jsonl"


def _input(source: Path, file: RowFile, way: Way) -> Any:
    if way.given == "path":
        return source
    if way.given == "bytes":
        return file.data
    stream = io.BytesIO(file.data)
    stream.name = str(source)
    return stream


def name_of_input(folder: Path, file: RowFile, way: Way) -> str:
    """Return the name of the input in problems and losses."""
    source = folder / f"input.{suffix_of(file)}"
    return "<data>" if way.given == "bytes" else str(source)


def small_pieces(size: int) -> ExitStack:
    """Return a context in which files are read and cut in pieces of about `size`.

    What is for large files happens in small ones then. A size of 0 leaves all as it is.
    """
    stack = ExitStack()
    if not size:
        return stack
    constants: dict[str, float] = {
        "BLOCK": size,
        "WINDOW": size,
        "BUNDLE": size,
        "MIN_RANGE": size,
        "MAX_RANGE": size,
        "FAR_RANGE": size,
        "MIN_FAR": size,
        # Another process is always worth it.
        "WORTH_SECONDS": 0,
        "ROWS_PER_BLOCK": 7,
        # The typed decoder, and so the program for many rows, starts soon.
        "FIRST_ROWS": 3,
        "ROWS_BEFORE_DECODER": 5,
        "DECODERS": 40,
    }
    stack.enter_context(patch.object(column_buffer, "ROWS", 20))
    stack.enter_context(patch.object(column_rows, "JOINED", size))
    for name, module in list(sys.modules.items()):
        if name.startswith("harpia_formats."):
            for constant in constants.keys() & vars(module).keys():
                stack.enter_context(patch.object(module, constant, constants[constant]))
    return stack


__all__ = ["Way", "name_of_input", "quarantine_of", "run", "small_pieces"]
