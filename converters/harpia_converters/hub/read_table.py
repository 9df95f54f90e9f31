"""Read tables of Parquet, Arrow and Feather as lines of JSON, a line for each row.

A table is opened and read batch by batch, in bounded memory.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from harpia_converters.hub.table_metadata import (
    BATCH,
    BYTES,
    DESCRIBED,
    DICTIONARY,
    HELD,
    LARGEST,
    LARGEST_BATCH,
    LONGEST_RECORD,
    MEGABYTE,
    RATIO,
    ROWS,
    BadTableError,
    Group,
    Message,
    checked,
    file_messages,
    groups_of,
    megabytes,
    message_at,
    size_of,
    stream_messages,
)
from harpia_converters.hub.table_slices import group_plan, sliced
from harpia_formats.files.arrow.json_values import (
    LongValueError,
    has_repeated_names,
    json_rows,
    row_pieces,
)
from harpia_formats.files.arrow.tables import (
    MissingPyarrow,
    NewerLayoutError,
    batch_size,
    is_record_layout,
    load_pyarrow,
    row_parts,
    rows_of_batch,
    small_parts,
)
from harpia_formats.files.io.file_kinds import TextPart
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.model.adapter import at_path
from harpia_formats.model.exact_json import NOT_JSON, encode_lines

#: Bytes that are read ahead of each column of a Parquet file, and of all columns; a
#: store is asked for no fewer bytes than the last.
BUFFER, BUFFERS, LEAST = MEGABYTE, 16 * MEGABYTE, 64 * 1024
_PARQUET, _ENCRYPTED, _ARROW = b"PAR1", b"PARE", b"ARROW1"
#: Bytes at the end of a Parquet file: the length of its footer, and its magic.
_TAIL = 8
_SHORTEST = 12


#: The schema of the columns of an open table, and its record batches, which are valid;
#: reading on raises `BadTableError`.
Table = tuple[Any, Iterator[Any]]


def opened_table(file: BinaryIO) -> Table:
    """Return the table in a binary file that can seek.

    Raises `MissingPyarrow` without the package, and `BadTableError` for a file that is
    cut, encrypted or corrupt, or needs too much memory.
    """
    pa = load_pyarrow()
    size = size_of(file)
    head = file.read(len(_ARROW))
    file.seek(0)
    with _errors_of(pa, "cannot be read"):
        if head.startswith(_PARQUET):
            return _open_parquet(file, size, _end_of_pages(file, size))
        if head.startswith(_ENCRYPTED):
            raise BadTableError("is encrypted, which is not read")
        if head.startswith(_ARROW):
            return _open_arrow(file, pa)
        message_at(file, 0, size)
        file.seek(0)
        reader = pa.ipc.open_stream(file)
        return reader.schema, _stream_batches(file, size, reader)


@contextmanager
def _errors_of(pa: Any, what: str) -> Iterator[None]:
    """Raise `BadTableError` for the errors of pyarrow."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadTableError("has text that is not UTF-8") from error
    except RecursionError as error:
        raise BadTableError(f"{what}: its columns are too deep") from error
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        raise BadTableError(f"{what}: {_first_line(error)}") from error


@contextmanager
def _part(name: str) -> Iterator[None]:
    """Say in which part of a table something is wrong that is found inside."""
    try:
        with _errors_of(load_pyarrow(), "cannot be read"):
            yield
    except BadTableError as error:
        raise BadTableError(f"its {name} {error}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def validated(batch: Any) -> Any:
    """Return a record batch; raises `BadTableError` if its values are not valid."""
    with _errors_of(load_pyarrow(), "is corrupt"):
        batch.validate(full=True)
    return batch


def _end_of_pages(file: BinaryIO, size: int) -> int:
    """Return where the footer of a Parquet file begins.

    Raises `BadTableError` if the file is cut, or its footer is too long.
    """
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    file.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if size < _SHORTEST or tail[4:] != _PARQUET or length > size - _SHORTEST:
        raise BadTableError(
            "is cut: a Parquet file ends with a footer, and this has none"
        )
    if length > DESCRIBED:
        raise BadTableError(f"has a footer of {length:,} bytes, which is too long")
    return size - _TAIL - length


def _open_parquet(file: BinaryIO, size: int, end: int) -> Table:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only Parquet needs it

    file.seek(end)
    groups = groups_of(file.read(size - _TAIL - end))
    columns = max(1, *map(len, groups)) if groups else 1
    ahead = max(LEAST, min(BUFFER, BUFFERS // columns))

    def opened(dictionaries: list[str]) -> Any:
        # Nothing is read before it is needed: by default whole row groups are.
        return pq.ParquetFile(
            file,
            pre_buffer=False,
            buffer_size=ahead,
            read_dictionary=dictionaries,
            page_checksum_verification=True,
        )

    plain = opened([])
    return plain.schema_arrow, _Parquet(file, end, opened, plain).batches(groups)


@dataclass(slots=True)
class _Parquet:
    """A Parquet file."""

    file: BinaryIO
    #: Where the pages end.
    end: int
    #: Opens it again, with some columns as dictionaries; and it opened without any.
    opened: Callable[[list[str]], Any]
    plain: Any

    def batches(self, groups: list[Group]) -> Iterator[Any]:
        """Yield batches of few rows, row group by row group."""
        counts = [group.rows for group in groups]
        if sum(counts) != self.plain.metadata.num_rows or min(counts, default=0) < 0:
            raise BadTableError("has a footer with two numbers of rows")
        for number, group in enumerate(groups):
            if group.rows:
                yield from self._group(number, group)

    def _group(self, number: int, group: Group) -> Iterator[Any]:
        """Yield the batches of a row group."""
        name, left = f"row group {number + 1:,}", group.rows
        with _part(name):
            schema = self.plain.metadata.schema
            rows, dictionaries = group_plan(self.file, self.end, schema, group)
            reader = self.opened(dictionaries) if dictionaries else self.plain
            batches = reader.iter_batches(
                batch_size=rows, row_groups=[number], use_threads=False
            )
        while True:
            with _part(name):
                batch = next(batches, None)
                if batch is None:
                    break
                validated(batch)
            left -= batch.num_rows
            yield batch
        if left:
            raise BadTableError(f"its {name} has another number of rows than it says")


def _open_arrow(file: BinaryIO, pa: Any) -> Table:
    """Open a file of Arrow; raises `BadTableError`."""
    dictionaries, batches = file_messages(file)
    held = 0
    for number, place in enumerate(dictionaries, 1):
        with _part(f"dictionary {number:,}"):
            found = checked(file, place)
            held += found.decoded
            _check_dictionaries(found, held)
    file.seek(0)
    reader = pa.ipc.open_file(file)
    return reader.schema, _file_batches(file, reader, batches)


def _check_dictionaries(message: Message, held: int) -> None:
    """Raise `BadTableError` if the dictionaries up to a message are too long."""
    if message.kind != DICTIONARY:
        raise BadTableError("is no dictionary")
    if held > HELD:
        raise BadTableError(
            f"makes {megabytes(held)} of dictionaries, and {megabytes(HELD)} are held; "
            "write the columns as plain texts"
        )


def _is_held(message: Message) -> bool:
    """Tell whether a batch may be held as a whole.

    Raises `BadTableError` if a message is none.
    """
    if message.kind != BATCH:
        raise BadTableError("is no record batch")
    return max(message.decoded, message.end - message.body) <= HELD


def _slices_of(
    file: BinaryIO, message: Message, schema: Any, name: str
) -> Iterator[Any]:
    """Yield a batch that is too long to be held as shorter ones."""
    parts = sliced(file, message, schema)
    while True:
        with _part(name):
            part = next(parts, None)
            if part is None:
                return
            validated(part)
        yield part


def _file_batches(file: BinaryIO, reader: Any, places: list[Message]) -> Iterator[Any]:
    """Yield the batches of a file of Arrow, whose end says where they are."""
    for number, place in enumerate(places):
        name = f"batch {number + 1:,}"
        with _part(name):
            message = checked(file, place)
            is_held = _is_held(message)
            if is_held:
                batch = validated(reader.get_batch(number))
        if is_held:
            yield batch
        else:
            yield from _slices_of(file, message, reader.schema, name)


def _stream_batches(file: BinaryIO, size: int, reader: Any) -> Iterator[Any]:
    """Yield the batches of a stream of Arrow, in which dictionaries are between them.

    The file has `size` bytes.
    """
    held: dict[int, int] = {}
    for number in count(1):
        name = f"batch {number:,}"
        with _part(name):
            start = file.tell()
            long = _long_batch(stream_messages(file, start, size), held)
            file.seek(start)
            if long is None:
                batch = next(reader, None)
                if batch is None:
                    return
                validated(batch)
        if long is None:
            yield batch
        else:
            yield from _slices_of(file, long, reader.schema, name)
            file.seek(long.end)


def _long_batch(messages: Iterable[Message], held: dict[int, int]) -> Message | None:
    """Return the batch that ends some messages if it is too long to be held.

    The bytes of each dictionary are added to `held`. Raises `BadTableError` if it
    cannot be read.
    """
    has_dictionaries = False
    for message in messages:
        if message.kind == DICTIONARY:
            has_dictionaries = True
            before = held.get(message.dictionary, 0) if message.is_delta else 0
            held[message.dictionary] = before + message.decoded
            _check_dictionaries(message, sum(held.values()))
        elif not _is_held(message):
            if has_dictionaries:
                raise BadTableError("is too long for a batch with dictionaries")
            return message
    return None


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
    features = _object_at(_document(folder, "dataset_info.json", name), "features")
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
    """Return the object in a file next to the data; raises `SourceError`."""
    try:
        found = json.loads((folder / member).read_bytes())
    except OSError as error:
        raise SourceError(f"{name}!{member}", error_reason(error)) from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{name}!{member}", f"is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _object_at(owner: Any, *path: str) -> dict[str, Any]:
    """Return the object at a path in another, an empty one if there is none."""
    found = at_path(owner, path)
    return found if isinstance(found, dict) else {}


def _lines_of(file: BinaryIO, name: str, features: dict[str, Any]) -> Iterator[bytes]:
    """Yield some rows of a table as lines at a time; raises `SourceError`."""
    row, size = 0, size_of(file)
    left, of_batch = (max(least, RATIO * size) for least in (LARGEST, LARGEST_BATCH))
    try:
        schema, batches = opened_table(file)
        release_unused = load_pyarrow().default_memory_pool().release_unused
        lines_of = _line_maker(schema, features)
        for batch in batches:
            for part in _parts_of(batch, of_batch):
                for lines in lines_of(part):
                    left -= len(lines)
                    _check_ratio(left)
                    yield lines
                row += part.num_rows
            release_unused()
    except (MissingPyarrow, NewerLayoutError, BadTableError, LongValueError) as error:
        behind = f", behind row {row:,}" if row else ""
        raise SourceError(name, f"{error}{behind}") from error


def _parts_of(batch: Any, most: int) -> Iterator[Any]:
    """Yield parts of a batch whose values are made at once.

    Raises `BadTableError` if some of its rows have more than `most` bytes, or a value
    has a type that pyarrow has no class for, such as an interval of days.
    """
    for rows in row_parts(batch, ROWS):
        try:
            size = batch_size(rows)
        except KeyError as error:
            raise BadTableError("has a type of values that is not supported") from error
        _check_ratio(most - size)
        yield from small_parts(rows, BYTES, size)


def _check_ratio(left: int) -> None:
    """Raise `BadTableError` once a table is longer than it may become."""
    if left < 0:
        raise BadTableError(
            f"is a decompression bomb: its rows have over {RATIO} times its bytes"
        )


def _line_maker(
    schema: Any, features: dict[str, Any]
) -> Callable[[Any], Iterator[bytes]]:
    """Return what makes lines of batches: records if the table is of records."""
    metadata = schema.metadata or {}
    try:
        is_plain = has_repeated_names(schema)
    except UnicodeDecodeError as error:
        raise BadTableError("has a name of a column that is not UTF-8") from error
    if not is_plain and is_record_layout(metadata, schema.names):
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
    return _object_at(document, "info", "features")
