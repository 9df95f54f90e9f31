"""The numbers of records of the last run that succeeded, in a small file."""

import json
from collections.abc import Mapping
from pathlib import Path

from harpia_formats.expectations.error import PreflightError
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.side_input import read_side_input
from harpia_formats.files.io.write_file import write_file

_SCHEMA = "harpia-formats/preflight-state/1"


def read_last_run(path: str) -> dict[str, int]:
    """Return the number of records of each data set; {} if there was no run yet.

    Raises `PreflightError` for a file that is something else, which is never
    overwritten.
    """
    try:
        data = read_side_input(Path(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PreflightError(path, 0, "", error_reason(error)) from error
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    counts = found.get("records") if isinstance(found, dict) else None
    if (
        not isinstance(counts, dict)
        or found.get("schema") != _SCHEMA
        or not all(type(number) is int and number >= 0 for number in counts.values())
    ):
        reason = "is not the state of a preflight; name another file, or delete it"
        raise PreflightError(path, 0, "", reason)
    return counts


def write_last_run(path: str, records: Mapping[str, int]) -> None:
    """Write the number of records of each data set, all or nothing.

    Raises `SinkError`.
    """
    document = {"schema": _SCHEMA, "records": dict(records)}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_file(path, [text.encode("utf-8", "surrogatepass")], overwrite=True)
