"""Read tables of Parquet, Arrow and Feather as lines of JSON, a line for each row."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from harpia_converters.arrow.batches import Table, opened_table
from harpia_converters.arrow.ipc_messages import size_of
from harpia_converters.arrow.limits import (
    BYTES,
    LARGEST,
    LARGEST_BATCH,
    LONGEST_RECORD,
    RATIO,
    ROWS,
    BadTableError,
    megabytes,
)
from harpia_formats.files.arrow.json_values import has_repeated_names, json_rows
from harpia_formats.files.arrow.long_rows import LongValueError, row_pieces
from harpia_formats.files.arrow.package import MissingPyarrow, load_pyarrow
from harpia_formats.files.arrow.record_layout import (
    NewerLayoutError,
    is_record_layout,
    rows_of_batch,
)
from harpia_formats.files.arrow.value_sizes import batch_size, row_parts, small_parts
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.unpacking import TextPart
from harpia_formats.model.exact_json import NOT_JSON, encode_lines


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
    except ValueError as error:  # a NUL byte
        raise SourceError(f"{name}!{member}", "is no name of a file") from error
    with file:
        yield from _lines_of(file, f"{name}!{member}", features)


def _document(folder: Path, member: str, name: str) -> dict[str, Any]:
    """Return the object in a file beside the data; raises `SourceError`."""
    try:
        found = json.loads((folder / member).read_bytes())
    except OSError as error:
        raise SourceError(f"{name}!{member}", error_reason(error)) from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{name}!{member}", f"is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _member(owner: Any, key: str) -> dict[str, Any]:
    """Return the object that is a member of another, an empty one if there is none."""
    found = owner.get(key) if isinstance(owner, dict) else None
    return found if isinstance(found, dict) else {}


def _lines_of(file: BinaryIO, name: str, features: dict[str, Any]) -> Iterator[bytes]:
    """Yield some rows of a table as lines at a time; raises `SourceError`."""
    row, size = 0, size_of(file)
    left, of_batch = (max(least, RATIO * size) for least in (LARGEST, LARGEST_BATCH))
    try:
        with opened_table(file) as table:
            release_unused = load_pyarrow().default_memory_pool().release_unused
            lines_of = _line_maker(table, features)
            for batch in table.batches():
                for part in _parts_of(batch, of_batch):
                    for lines in lines_of(part):
                        left -= len(lines)
                        _check_ratio(left)
                        yield lines
                    row += part.num_rows
                release_unused()
    except (MissingPyarrow, NewerLayoutError, BadTableError, LongValueError) as error:
        raise SourceError(name, _reason(str(error), row)) from error


def _parts_of(batch: Any, most: int) -> Iterator[Any]:
    """Yield parts of a batch whose values are made at once.

    Raises `BadTableError` if some of its rows have more than `most` bytes.
    """
    for rows in row_parts(batch, ROWS):
        size = batch_size(rows)
        _check_ratio(most - size)
        yield from small_parts(rows, BYTES, size)


def _check_ratio(left: int) -> None:
    """Raise `BadTableError` once a table is longer than it may become."""
    if left < 0:
        raise BadTableError(
            f"is a decompression bomb: its rows have over {RATIO} times its bytes"
        )


def _reason(reason: str, row: int) -> str:
    return f"{reason}, behind row {row:,}" if row else reason


def _line_maker(
    table: Table, features: dict[str, Any]
) -> Callable[[Any], Iterator[bytes]]:
    """Return what makes lines of batches: records if the table is of records."""
    metadata = table.schema.metadata or {}
    try:
        is_plain = has_repeated_names(table.schema)
    except UnicodeDecodeError as error:
        raise BadTableError("has a name of a column that is not UTF-8") from error
    if not is_plain and is_record_layout(metadata, table.schema.names):
        return _record_lines
    described = features or _features_of(metadata)
    return lambda batch: _plain_lines(batch, described)


def _record_lines(batch: Any) -> Iterator[bytes]:
    """Yield the lines of records; raises `BadTableError`."""
    if batch.num_rows == 1 and batch_size(batch) > LONGEST_RECORD:
        reason = f"has a record of {megabytes(batch_size(batch))}, and"
        raise BadTableError(f"{reason} {megabytes(LONGEST_RECORD)} are read")
    try:
        yield encode_lines(rows_of_batch(batch))
    except (*NOT_JSON, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BadTableError("holds no records in the layout that it names") from error


def _plain_lines(batch: Any, features: dict[str, Any]) -> Iterator[bytes]:
    """Yield the lines of rows of any columns; raises `BadTableError`."""
    try:
        if batch.num_rows == 1 and batch_size(batch) > BYTES:
            yield from row_pieces(batch, features)
        else:
            yield encode_lines(json_rows(batch, features))
    except LongValueError:
        raise
    except (ValueError, OverflowError) as error:
        raise BadTableError(f"has a value that cannot be read: {error}") from error


def _features_of(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """Return what Hugging Face's metadata says of each column."""
    try:
        document = json.loads(metadata.get(b"huggingface", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return _member(_member(document, "info"), "features")
