"""Messages about rows that were copied."""

from harpia_formats.cli.output.streams import MESSAGE_LIMIT, print_notes, write_stderr
from harpia_formats.conversion.subsets.result import Subset
from harpia_formats.model.text.sanitize import safe


def _print_notes(done: Subset) -> None:
    """Print what the user should know of the outputs, each as a line."""
    print_notes(f"note: {note}" for note in done.notes)


def print_copied(done: Subset, output: str, *, quiet: bool) -> None:
    """Print how many rows the output file has, unless `quiet` or it is a stream."""
    _print_notes(done)
    for part in () if quiet or output == "-" else done.parts:
        rows = "1 row" if part.rows == 1 else f"{part.rows:,} rows"
        write_stderr(f"{safe(part.path, MESSAGE_LIMIT)}: {rows}\n")


def print_written(done: Subset, *, quiet: bool) -> None:
    """Print how many rows each output has, with exact shares, unless `quiet`."""
    _print_notes(done)
    for part in () if quiet else done.parts:
        share = f"{100 * part.rows / done.rows:.2f}" if done.rows else "0"
        of = f"{part.rows:,} of {done.rows:,} rows ({share} %)"
        write_stderr(f"{safe(part.path, MESSAGE_LIMIT)}: {of}\n")
