"""Say why records have no verdict if no finding says so."""

from collections.abc import Iterable
from typing import Protocol

#: The rule on files in no known format, and the one on another delimiter of a table.
UNKNOWN_FORMAT, OTHER_DELIMITER = "S301", "J307"
#: Files that are named.
NAMED = 3
_of_code = {
    UNKNOWN_FORMAT: (
        "the format is not known",
        "name it with --format, or use --skip-unrecognised",
    ),
    OTHER_DELIMITER: (
        "the table has another delimiter",
        "name it with --delimiter",
    ),
}


class CountedFile(Protocol):
    """A file with the number of its records that have no verdict."""

    path: str
    undetermined: int
    unreported: tuple[str, ...]


def no_verdict_lines(counts: Iterable[CountedFile], *, has_reason: bool) -> list[str]:
    """Return a sentence for each rule that is not reported and leaves no verdict.

    Without such a rule one sentence has the number of the records without a verdict,
    unless the report `has_reason` to be not `ok`: an error, or an unread file.
    """
    files = [file for file in counts if file.undetermined]
    codes = sorted({code for file in files for code in file.unreported})
    if codes:
        return [_of_rule(code, files) for code in codes]
    return [_records_of(files)] if files and not has_reason else []


def _of_rule(code: str, files: Iterable[CountedFile]) -> str:
    """Return which records a rule leaves without a verdict, and what can be done."""
    left = [file for file in files if code in file.unreported]
    cause, cure = _of_code.get(code, ("", ""))
    why = f"{cause}, by {code}, which" if cause else f"{code} was found, which"
    select = f"report {code}: add it to --select, or take it out of --ignore"
    cures = f"{cure}, or {select}" if cure else select
    return f"{_records_of(left)}: {why} is not reported; {cures}"


def _records_of(files: list[CountedFile]) -> str:
    """Return how many records of some files have no verdict."""
    records = sum(file.undetermined for file in files)
    names = ", ".join(file.path for file in files[:NAMED]) + ", …" * (
        len(files) > NAMED
    )
    are = "record has" if records == 1 else "records have"
    return f"{names}: {records:,} {are} no verdict"
