"""Scores as CSV, a line for each score with all digits, and as one JSON object."""

from collections.abc import Iterator, Sequence

from harpia_formats.conversion.containers.csv_writers import TableEncoder
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import json_text

#: The first column of scores: whether all answers of a system are meant.
_SCOPE, _SYSTEM, _GROUP = "scope", "system", "group"


def csv_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:
    """Yield the lines of the table of a result, the names of its columns first.

    Numbers have all of their digits, and what is not there is an empty cell.
    """
    columns, rows = [*result.columns], result.table()
    if isinstance(result, Scores):
        if not result.is_whole:
            return
        columns = [_SCOPE, *_fields(result), *columns]
        scopes = [_SYSTEM] * len(result) + [_GROUP] * (len(rows) - len(result))
        pairs = zip(scopes, rows, strict=True)
        rows = [{_SCOPE: scope} | row for scope, row in pairs]
        columns += ["unreadable"] if any("unreadable" in row for row in rows) else []
    encoder = TableEncoder(csv_safe=csv_safe)
    yield _line(encoder, columns)
    for row in rows:
        yield _line(encoder, [_text(row.get(column)) for column in columns])


def _fields(scores: Scores) -> Iterator[str]:
    """Yield the fields by which scores are distinguished."""
    groups = scores.groups or scores.systems
    yield from (groups[0].key if groups else ())


def _text(value: object) -> str | None:
    """Return a value as the text of a cell, None for an empty one."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode() or None
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _line(encoder: TableEncoder, cells: Sequence[str | None]) -> str:
    return encoder.line(cells).decode().removesuffix("\n")


def json_lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the plain data of a result as JSON."""
    yield json_text(result.to_dict(), indent=True)
