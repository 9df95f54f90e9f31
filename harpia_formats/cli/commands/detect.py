"""`harpia-formats detect`."""

import sys
from collections.abc import Iterable, Iterator, Sequence

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import (
    Progress,
    UnitsDone,
    print_failures,
    print_unmatched,
)
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    shown_data,
    text_writer,
    write_stderr,
    write_table,
)
from harpia_formats.formats.detection.result import SCHEMA, Detected, detected_as_dict
from harpia_formats.reporters.tables.table import table_of

#: The columns on a terminal, and the index of the one that holds the notes.
COLUMNS, NOTES_IN = ("Path", "Format", "Sure", "Why", "Container"), 3


def detect(given: Given) -> ExitCode:
    """Detect the format of files, and show how sure that is and why.

    Only the beginning of each file is read: 1,000 records or 8 MB.

    Exit codes:
    - 0: all files are in known formats
    - 1: some files are not
    - 2: something could not be read
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats detect data
    - harpia-formats detect answers.json --output-format json
    - harpia-formats detect table.txt --delimiter tab
    """
    from harpia_formats.files.io.discovery import Exclusion, check_patterns  # noqa: PLC0415 - for the same reason
    from harpia_formats.files.io.inputs import checked_inputs  # noqa: PLC0415 - for the same reason
    from harpia_formats.formats.detection.detect_files import detect_files  # noqa: PLC0415 - formats are loaded when they are used

    check_patterns(given.exclude)
    exclusion = Exclusion(given.exclude)
    progress = given.progress(given.paths)
    files = detect_files(checked_inputs(given.paths), given.delimiter, exclusion)
    with progress:
        found = tuple(_noted(files, progress))
    if given.redact:
        from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
            redacted_detection,
        )

        found = tuple(map(redacted_detection, found))
    if given.output_format == "json":
        _write_json(found)
    else:
        shown = [file for file in found if file.format or not file.reason]
        table = table_of("Files", COLUMNS, map(_cells, shown))
        write_table(table, [[*_notes(file)] for file in shown], NOTES_IN)
    sys.stdout.flush()
    unread = [file for file in found if file.reason is not None]
    unreadable = [file for file in unread if not file.skipped]
    if len(unread) == len(found):
        unreadable = unread
    print_failures(unreadable)
    print_unmatched(exclusion.unmatched)
    if len(unreadable) < len(unread):
        _print_skipped(unread)
    if unreadable:
        return ExitCode.UNABLE
    known = all(file.format or file.skipped for file in found)
    return ExitCode.OK if known else ExitCode.FOUND


def _noted(files: Iterable[Detected], progress: Progress) -> Iterator[Detected]:
    """Yield files, and show how many there were."""
    for number, file in enumerate(files, 1):
        progress.update(UnitsDone("detected", "files", number))
        yield file


def _print_skipped(files: Iterable[Detected]) -> None:
    """Print how many files of each kind were passed over."""
    from harpia_formats.files.io.file_kinds import counted_kinds  # noqa: PLC0415 - most runs pass over nothing

    kinds = counted_kinds(file.skipped for file in files if file.skipped)
    write_stderr(f"note: passed over: {kinds}\n")


def _write_json(found: Sequence[Detected]) -> None:
    """Write one JSON object with all files to standard output."""
    from harpia_formats.model.safe_text import json_text  # noqa: PLC0415 - the table needs no orjson

    whole = {"schema": SCHEMA, "files": [detected_as_dict(file) for file in found]}
    text_writer(sys.stdout)(shown_data(json_text(whole, indent=True)) + "\n")


def _cells(found: Detected) -> tuple[str, ...]:
    """Return the row of one file."""
    # Rounded down: only all of the records make 100 %. But 100 * 0.57 is below 57.
    share = int(round(100 * found.confidence, 6))
    sure = f"{share} %" if found.format else "-"
    return found.path, found.name, sure, found.why, found.container


def _notes(found: Detected) -> Iterator[str]:
    """Yield which other formats a file may be in, or holds records of."""
    others = [(name, count) for name, count in found.others]
    if found.strangers:
        others.append(("in no known format", found.strangers))
    for name, count in others:
        records = "1 record is" if count == 1 else f"{count:,} records are"
        yield f"also {records} {name}"
    if found.rival:
        yield f"may be {found.rival} too"
    if found.nearest:
        yield found.nearest
