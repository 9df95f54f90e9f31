"""Repaired files whose changes show no value of a record."""

from collections.abc import Generator
from dataclasses import replace

from harpia_formats.validation.redaction.errors import errors_without_values
from harpia_formats.validation.redaction.reports import Redaction
from harpia_formats.validation.repair.result import Change, RepairedFile


def redacted_files(
    files: Generator[RepairedFile, None, None], redaction: Redaction
) -> Generator[RepairedFile, None, None]:
    """Yield repaired files with changes, reasons and errors without values.

    `files` is closed when this is.
    """

    def redact(change: Change) -> Change:
        pointer = redaction.pointer(change.pointer)
        return replace(change, pointer=pointer, what="changed")

    try:
        with errors_without_values(redaction):
            for file in files:
                file.redact = redact
                file.reason = redaction.reason(file.reason)
                yield file
    finally:
        files.close()
