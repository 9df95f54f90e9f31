"""Read long record batches of Arrow and row groups of Parquet some rows at a time."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Any, BinaryIO, Protocol

from harpia_converters.hub.table_metadata import (
    BYTES,
    DICTIONARIES,
    HELD,
    ROWS,
    BadStructureError,
    BadTableError,
    Chunk,
    Compact,
    Group,
    Message,
    megabytes,
)
from harpia_formats.files.arrow.tables import load_pyarrow

_BITS = 8
#: Bytes of the size that stands before a compressed buffer.
_SIZE = 8
#: Bytes that are skipped at once.
_SKIPPED = 1024 * 1024


def sliced(file: BinaryIO, message: Message, schema: Any) -> Iterator[Any]:
    """Yield a batch as record batches of few rows, which are not validated yet.

    Raises `BadTableError` if it is corrupt, or has columns of a rare type.
    """
    pa = load_pyarrow()
    opened = _Opened(file, message)
    columns = [opened.column(field.type) for field in schema]
    if not columns:
        return
    left = message.rows
    rows = max(1, min(ROWS, BYTES * left // max(1, message.decoded)))
    while left > 0:
        opened.left = HELD
        count = min(rows, left)
        arrays = [take(count) for take in columns]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        left -= count


class _Reader(Protocol):
    """What gives the next bytes of a buffer."""

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, fewer at the end."""


class _Range:
    """Some bytes of a file, as a file that others read at the same time."""

    closed = False

    def __init__(self, file: BinaryIO, begin: int, size: int) -> None:
        self._file = file
        self._at, self._end = begin, begin + size

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size` unless it is negative."""
        left = self._end - self._at
        self._file.seek(self._at)
        found = self._file.read(left if size < 0 else min(size, left))
        self._at += len(found)
        return found

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def close(self) -> None:
        """Leave the file open, since it is not its own."""


class _Buffer:
    """A buffer of the batch, decompressed."""

    def __init__(self, reader: _Reader, batch: "_Opened") -> None:
        self._reader = reader
        self._batch = batch

    def take(self, size: int) -> bytes:
        """Return the next bytes; raises `BadTableError` if they are not there."""
        if size < 0:
            raise BadTableError("has offsets that are not in order")
        self._batch.left -= size
        if self._batch.left < 0:
            raise BadTableError(
                f"has a row of more than {megabytes(HELD)}; write it as Parquet"
            )
        found = self._reader.read(size)
        if len(found) < size:
            raise BadTableError("has a buffer that is too short")
        return found

    def skip(self, size: int) -> None:
        """Go behind some bytes."""
        while size > 0:
            found = self._reader.read(min(size, _SKIPPED))
            if not found:
                raise BadTableError("has a buffer that is too short")
            size -= len(found)


class _Bits:
    """A buffer of bits, of which any number is taken at once."""

    def __init__(self, buffer: _Buffer) -> None:
        self._buffer = buffer
        #: Bits of the last byte that were not taken, as a number.
        self._rest, self._count = 0, 0

    def take(self, count: int) -> bytes:
        """Return the next bits, beginning with the lowest one of the first byte."""
        data = self._buffer.take(max(0, -(-(count - self._count) // _BITS)))
        bits = self._rest | int.from_bytes(data, "little") << self._count
        self._count += len(data) * _BITS - count
        self._rest = bits >> count
        wanted = bits & ((1 << count) - 1)
        return wanted.to_bytes(-(-count // _BITS), "little")


#: Returns an array of the next values of a column, or of one inside of another; raises
#: `BadTableError`.
_Take = Callable[[int], Any]


def _flat(
    kind: Any,
    validity: _Bits | None,
    values: Callable[[int], bytes] | None,
    children: Sequence[_Take] = (),
    items: int = 1,
) -> _Take:
    """Return what takes values of one width, and structures, which have none.

    `values` returns the bytes of so many values, and each value has so many `items` in
    its children.
    """
    pa = load_pyarrow()

    def take(count: int) -> Any:
        buffers = [_taken(validity, count)]
        if values is not None:
            buffers.append(pa.py_buffer(values(count)))
        inside = [child(count * items) for child in children]
        return pa.Array.from_buffers(kind, count, buffers, children=inside)

    return take


@dataclass(slots=True)
class _Offset:
    """Texts, bytes, lists and maps: values that say where they end."""

    kind: Any
    validity: _Bits | None
    offsets: _Buffer
    #: The type code of an offset.
    code: str
    #: Its bytes, or else its items.
    data: _Buffer | None
    items: _Take | None
    #: Where the last value ended, None before the first.
    end: int | None = None

    def take(self, count: int) -> Any:
        """Return an array of the next values."""
        pa = load_pyarrow()
        validity = _taken(self.validity, count)
        found = array(self.code)
        if self.end is None:
            found.frombytes(self.offsets.take(found.itemsize))
            self.end = found.pop()
            self._skip(self.end)
        begin = self.end
        found.append(begin)
        found.frombytes(self.offsets.take(count * found.itemsize))
        if any(after < before for before, after in pairwise(found)):
            raise BadTableError("has offsets that are not in order")
        self.end = found[-1]
        ends = array(self.code, (offset - begin for offset in found))
        buffers = [validity, pa.py_buffer(ends.tobytes())]
        if self.data is not None:
            buffers.append(pa.py_buffer(self.data.take(ends[-1])))
            return pa.Array.from_buffers(self.kind, count, buffers)
        children = [] if self.items is None else [self.items(ends[-1])]
        return pa.Array.from_buffers(self.kind, count, buffers, children=children)

    def _skip(self, first: int) -> None:
        """Go to where the first value begins."""
        if first < 0:
            raise BadTableError("has offsets that are not in order")
        if self.data is not None:
            self.data.skip(first)
        elif first:
            raise BadTableError("has lists that do not begin with their first item")


def _taken(validity: _Bits | None, count: int) -> Any:
    """Return the buffer of which values are no nulls, None if none is one."""
    return validity and load_pyarrow().py_buffer(validity.take(count))


class _Opened:
    """The buffers and columns of a batch, in their order."""

    def __init__(self, file: BinaryIO, message: Message) -> None:
        self._file = file
        self._message = message
        self._buffers = iter(message.buffers)
        self._columns = iter(message.columns)
        #: The bytes that the rows that are read now may still have.
        self.left = 0

    def column(self, kind: Any) -> _Take:
        """Return what takes the next column, of a type; raises `BadTableError`."""
        pa = load_pyarrow()
        types = pa.types
        if isinstance(kind, pa.BaseExtensionType):
            stored, make = self.column(kind.storage_type), pa.ExtensionArray
            return lambda count: make.from_storage(kind, stored(count))
        if next(self._columns, None) is None:
            raise BadTableError("has fewer columns than the table")
        if types.is_null(kind):
            return pa.nulls  # type: ignore[no-any-return]  # of a package without types
        if _has_offsets(types, kind):
            return self._with_offsets(kind, types).take
        if types.is_struct(kind) or types.is_fixed_size_list(kind):
            validity = self._validity()
            children = [
                self.column(kind.field(at).type) for at in range(kind.num_fields)
            ]
            items = kind.list_size if types.is_fixed_size_list(kind) else 1
            return _flat(kind, validity, None, children, items)
        if types.is_boolean(kind):
            return _flat(kind, self._validity(), _Bits(self._buffer()).take)
        is_flat = types.is_primitive(kind) or types.is_decimal(kind)
        if not (is_flat or types.is_fixed_size_binary(kind)):
            raise BadTableError(
                f"has {megabytes(self._message.decoded)} and a column of the type "
                f"{kind}, so that {megabytes(HELD)} are read at most; write the table "
                "with fewer rows in a batch, or as Parquet"
            )
        validity, buffer = self._validity(), self._buffer()
        width = kind.bit_width // _BITS
        return _flat(kind, validity, lambda count: buffer.take(count * width))

    def _with_offsets(self, kind: Any, types: Any) -> _Offset:
        """Return the next column, whose values say where they end."""
        is_large = str(kind).startswith("large_")
        validity, offsets = self._validity(), self._buffer()
        is_bytes = kind.num_fields == 0
        data = self._buffer() if is_bytes else None
        if is_bytes:
            items = None
        elif types.is_map(kind):
            pa = load_pyarrow()
            items = self.column(pa.struct([kind.key_field, kind.item_field]))
        else:
            items = self.column(kind.value_type)
        return _Offset(kind, validity, offsets, "q" if is_large else "i", data, items)

    def _validity(self) -> _Bits | None:
        """Return the bits of the next buffer, None if it is empty."""
        found = next(self._buffers, None)
        if found is None:
            raise BadTableError("has fewer buffers than the table")
        return _Bits(self._opened(*found)) if found[1] else None

    def _buffer(self) -> _Buffer:
        """Return the next buffer."""
        found = next(self._buffers, None)
        if found is None:
            raise BadTableError("has fewer buffers than the table")
        return self._opened(*found)

    def _opened(self, offset: int, size: int, decoded: int) -> _Buffer:
        """Return a buffer at a place in the body."""
        begin, codec = self._message.body + offset, self._message.codec
        if not (codec and size):
            return _Buffer(_Range(self._file, begin, size), self)
        inside = _Range(self._file, begin + _SIZE, size - _SIZE)
        if decoded == size - _SIZE and self._is_stored(begin):
            return _Buffer(inside, self)
        return _Buffer(load_pyarrow().CompressedInputStream(inside, codec), self)

    def _is_stored(self, begin: int) -> bool:
        """Tell whether a buffer in a compressed batch is not compressed itself."""
        self._file.seek(begin)
        return self._file.read(_SIZE) == b"\xff" * _SIZE


def _has_offsets(types: Any, kind: Any) -> bool:
    """Tell whether the values of a type say where they end."""
    kinds = types.is_string, types.is_large_string, types.is_binary, types.is_list
    others = types.is_large_binary, types.is_large_list, types.is_map
    return any(is_kind(kind) for is_kind in (*kinds, *others))


#: Bytes that are read of a header at first, and the most that one may have, which may
#: hold the smallest and the largest value.
_FIRST, _LONGEST = 256, 16 * 1024 * 1024
#: Numbers of the members of a header, and of the kinds of pages.
_TYPE, _DECODED, _STORED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
#: The member that holds more about a page of a kind; its first is the number of values.
_more = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
#: The member of the encoding of values, for each kind of pages of data.
_encoding = {_DATA: 2, _DATA_2: 4}
#: The encoding in which a value repeats the beginning of the one before it.
_SHARED_BEGINNINGS = 7
#: The size before a text.
_size = Struct("<I")


@dataclass(slots=True)
class Pages:
    """What the headers of the pages of a column say, in one row group."""

    #: Bytes of the largest page decoded, and as it is stored.
    largest: int = 0
    stored: int = 0
    #: Bytes of the dictionary decoded, and where it begins and ends as it is stored.
    dictionary: int = 0
    dictionary_at: tuple[int, int] = (0, 0)
    #: The most values in a page, and the most bytes of a value, on the average of a
    #: page that is no dictionary.
    values: int = 0
    width: int = 0
    #: Whether values may be longer than what is stored of them.
    shares_beginnings: bool = False


def pages_of(file: BinaryIO, start: int, size: int, values: int) -> Pages:
    """Return the description of the pages in the `size` bytes of a column.

    They have as many `values` as the footer says. Raises `BadTableError`.
    """
    found = Pages()
    left, end = values, start + size
    while start < end and left > 0:
        header, begin = _header_at(file, start, end)
        decoded, stored = _number(header, _DECODED), _number(header, _STORED)
        if decoded < 0 or stored < 0 or begin + stored > end:
            raise BadTableError("has a page outside of its bytes")
        found.stored = max(found.stored, stored)
        kind = _number(header, _TYPE)
        more = header.get(_more.get(kind, -1), {})
        count = _number(more, 1) if isinstance(more, dict) else -1
        if count < 0:
            raise BadTableError("has a page without a number of values")
        if kind == _DICTIONARY:
            found.dictionary = max(found.dictionary, decoded)
            found.dictionary_at = begin, begin + stored
        else:
            found.largest = max(found.largest, decoded)
        if kind in _encoding:
            found.values = max(found.values, count)
            found.width = max(found.width, decoded // max(1, count))
            if _number(more, _encoding[kind]) == _SHARED_BEGINNINGS:
                found.shares_beginnings = True
            left -= count
        start = begin + stored
    return found


def longest_text(data: bytes) -> int:
    """Return the bytes of the longest text in a dictionary of texts.

    It is the size of the dictionary if that is corrupt.
    """
    longest = at = 0
    while at < len(data):
        (size,) = _size.unpack_from(data.ljust(at + _size.size), at)
        longest = max(longest, size)
        at += _size.size + size
    return longest if at == len(data) else len(data)


def _number(members: dict[int, Any], number: int) -> int:
    """Return a member that is a number."""
    found = members.get(number, 0)
    return found if isinstance(found, int) else 0


def _header_at(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the members of a header by their numbers, and where it ends."""
    size = _FIRST
    while True:
        data = _read(file, start, min(size, end - start))
        try:
            reader = Compact(data)
            return reader.structure(), start + reader.at
        except IndexError as error:
            if size >= min(_LONGEST, end - start):
                raise BadTableError("has a page whose header is corrupt") from error
        except BadStructureError as error:
            raise BadTableError("has a page whose header is corrupt") from error
        size *= 16


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    """Return bytes of a file, without those that it would read ahead."""
    raw = getattr(file, "raw", None)
    if raw is None:
        file.seek(at)
        return file.read(size)
    before = raw.tell()
    raw.seek(at)
    found: bytes = raw.read(size)
    raw.seek(before)
    return found


#: Bytes that a column may have beyond those in the footer, as old writers left out the
#: header of the dictionary (PARQUET-816).
_UNCOUNTED = 100
_MAGIC = 4
#: Items of lists in a row group that are held, if all of them were in one row, and how
#: many there may be for each of its bytes otherwise.
_ITEMS, _ITEMS_OF_BYTE = HELD // 16, 8
_mend = "write it again with smaller pages or row groups"


@dataclass(frozen=True, slots=True)
class _GroupColumn:
    """A column of a row group."""

    path: str
    pages: Pages
    #: Bytes of its values in a row, on the average of the longest ones.
    width: int
    #: Whether its values are texts or bytes of any length.
    is_bytes: bool
    #: The name of the compression, None if it is not known.
    codec: str | None


def group_plan(
    file: BinaryIO, end: int, schema: Any, group: Group
) -> tuple[int, list[str]]:
    """Return how a row group is read, whose pages end at `end` of the file at latest.

    That is how many rows at once, and the columns whose values are not copied into each
    row that has them. Raises `BadTableError` if it is corrupt, or cannot be read in
    bounded memory.
    """
    columns = [*_columns(file, end, schema, group)]
    held = sum(one.pages.largest + one.pages.stored for one in columns)
    dictionaries = sum(one.pages.dictionary for one in columns)
    if held > 2 * HELD or any(one.pages.largest > HELD for one in columns):
        reason = f"has open pages of {megabytes(held)}, and {megabytes(HELD)} are held"
        raise BadTableError(f"{reason}; {_mend}")
    if dictionaries > DICTIONARIES:
        reason = f"has dictionaries of {megabytes(dictionaries)}, and"
        raise BadTableError(f"{reason} {megabytes(DICTIONARIES)} are held; {_mend}")
    width = max(1, sum(one.width for one in columns))
    rows = max(1, min(ROWS, BYTES // width))
    for one in columns:
        if one.pages.shares_beginnings and one.pages.largest:
            rows = max(1, min(rows, HELD // one.pages.largest))
    most = HELD // rows // max(1, len(columns))
    return rows, [
        one.path
        for one in columns
        if one.is_bytes and one.pages.dictionary > most < _longest(file, one)
    ]


def _columns(
    file: BinaryIO, end: int, schema: Any, group: Group
) -> Iterator[_GroupColumn]:
    """Yield what is known of the columns of a row group; raises `BadTableError`."""
    if len(group) != len(schema):
        raise BadTableError("has another number of columns than the table")
    for number, chunk in enumerate(group.chunks()):
        kind = schema.column(number)
        start, size = chunk.start, chunk.stored
        if start < _MAGIC or size < 0 or start + size > end:
            raise BadTableError("has a column outside of the file")
        most = min(size + _UNCOUNTED, end - start)
        pages = pages_of(file, start, most, chunk.values)
        if chunk.codec == "":
            pages.stored = 0  # it is what is decoded
        width = max(pages.width, 0, kind.length)
        if kind.max_repetition_level:
            _check_items(chunk, group.rows, pages)
            width = max(width, chunk.decoded // group.rows)
        is_bytes = kind.physical_type == "BYTE_ARRAY"
        yield _GroupColumn(kind.path, pages, width, is_bytes, chunk.codec)


def _longest(file: BinaryIO, column: _GroupColumn) -> int:
    """Return the bytes of the longest text of a dictionary, or those of all of it.

    It takes longer to read a column as a dictionary, as each batch has all of it.
    """
    pa = load_pyarrow()
    begin, end = column.pages.dictionary_at
    file.seek(begin)
    data = file.read(end - begin)
    if column.codec is None:
        return column.pages.dictionary
    try:
        if column.codec:
            codec = pa.Codec(column.codec)
            data = codec.decompress(data, column.pages.dictionary, asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return column.pages.dictionary
    return longest_text(data)


def _check_items(chunk: Chunk, rows: int, pages: Pages) -> None:
    """Raise `BadTableError` if so many items cannot be in so few bytes.

    A row may hold all items of a row group, and a null in a list takes no bytes.
    """
    items = chunk.values - rows
    most = _ITEMS_OF_BYTE * (chunk.stored + pages.dictionary)
    if items > max(_ITEMS, most):
        raise BadTableError(
            f"is a decompression bomb: {chunk.stored:,} bytes become {items:,} items"
        )
