"""Read tables of Parquet, Arrow and Feather as lines of JSON, a line for each row."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from harpia_converters.arrow.batches import BadTableError, Table, opened_table
from harpia_formats.arrow.json_values import json_rows
from harpia_formats.arrow.package import MissingPyarrow, load_pyarrow
from harpia_formats.arrow.record_layout import (
    NewerLayoutError,
    is_record_layout,
    rows_of_batch,
)
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.unpacking import TextPart
from harpia_formats.model.exact_json import encode_lines

#: Rows that are made at once, and about the bytes that they may have as columns.
ROWS, BYTES = 500, 4 * 1024 * 1024


def text_parts(file: BinaryIO | Path, name: str) -> Iterator[TextPart]:
    """Yield the rows of a table as lines; a folder of `save_to_disk` is one table.

    A line of a folder has its place in one of the files. Raises `SourceError` behind
    the last row that can be read.
    """
    if isinstance(file, Path):
        yield from _parts_of_folder(file, name)
        return
    for lines in _lines_of(file, name, {}):
        yield TextPart(lines)


def _parts_of_folder(folder: Path, name: str) -> Iterator[TextPart]:
    """Yield the rows of the files that `state.json` names, in its order."""
    features = _member(_document(folder, "dataset_info.json", name), "features")
    state = _document(folder, "state.json", name)
    files = state.get("_data_files")
    if not isinstance(files, list) or not all(isinstance(one, dict) for one in files):
        raise SourceError(name, "state.json does not name its files of data")
    for entry in files:
        member = str(entry.get("filename"))
        line, offset = 1, 0
        for lines in _lines_of_member(folder, member, name, features):
            yield TextPart(lines, member, line, offset)
            line += lines.count(b"\n")
            offset += len(lines)


def _lines_of_member(
    folder: Path, member: str, name: str, features: dict[str, Any]
) -> Iterator[bytes]:
    """Yield the lines of one file in a folder; raises `SourceError`."""
    if Path(member).name != member:
        raise SourceError(name, f"state.json names {member!r}, which is not in it")
    try:
        file = (folder / member).open("rb")
    except OSError as error:
        raise SourceError(f"{name}!{member}", error_reason(error)) from error
    with file:
        yield from _lines_of(file, f"{name}!{member}", features)


def _document(folder: Path, member: str, name: str) -> dict[str, Any]:
    """Return the object in a file beside the data; raises `SourceError`."""
    try:
        found = json.loads((folder / member).read_bytes())
    except OSError as error:
        raise SourceError(f"{name}!{member}", error_reason(error)) from error
    except ValueError as error:
        raise SourceError(f"{name}!{member}", f"is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _member(owner: Any, key: str) -> dict[str, Any]:
    """Return the object that is a member of another, an empty one if there is none."""
    found = owner.get(key) if isinstance(owner, dict) else None
    return found if isinstance(found, dict) else {}


def _lines_of(file: BinaryIO, name: str, features: dict[str, Any]) -> Iterator[bytes]:
    """Yield some rows of a table as lines at a time; raises `SourceError`."""
    row = 0
    try:
        with opened_table(file) as table:
            release_unused = load_pyarrow().default_memory_pool().release_unused
            rows_of = _row_maker(table, features)
            for batch in table.batches():
                for part in _slices(batch):
                    rows = rows_of(part)
                    yield encode_lines(rows)
                    row += len(rows)
                release_unused()
    except (MissingPyarrow, NewerLayoutError, BadTableError) as error:
        raise SourceError(name, _reason(str(error), row)) from error
    except UnicodeDecodeError as error:
        reason = "has text that is not UTF-8"
        raise SourceError(name, _reason(reason, row)) from error


def _reason(reason: str, row: int) -> str:
    return f"{reason}, behind row {row:,}" if row else reason


def _row_maker(
    table: Table, features: dict[str, Any]
) -> Callable[[Any], list[dict[str, Any]]]:
    """Return what makes rows of batches: records if the table is of records."""
    if is_record_layout(table.metadata, table.names):
        return rows_of_batch
    described = features or _features_of(table.metadata)
    return lambda batch: json_rows(batch, described)


def _features_of(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """Return what Hugging Face's metadata says of each column."""
    try:
        document = json.loads(metadata.get(b"huggingface", b"{}"))
    except ValueError:
        return {}
    return _member(_member(document, "info"), "features")


def _slices(batch: Any) -> Iterator[Any]:
    """Yield parts of a batch with few rows, fewer if these are long."""
    count = batch.num_rows
    width = max(1, batch.nbytes // count) if count else 1
    size = max(1, min(ROWS, BYTES // width))
    for start in range(0, count, size):
        yield batch.slice(start, size)
