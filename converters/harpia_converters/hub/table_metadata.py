"""What the metadata of a table says: Arrow's messages and the footer of Parquet.

It is checked before pyarrow reads the table, so that a damaged or huge one is an
error and not the end of the process.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import SEEK_END
from struct import Struct
from typing import Any, BinaryIO, NamedTuple

MEGABYTE = 1024 * 1024
#: Rows that are made at once, and about the bytes that their values may have.
ROWS, BYTES = 500, 4 * MEGABYTE
#: Bytes that a record batch, or the open pages of a row group, may have decoded; and
#: those that dictionaries may have, which the library holds several times.
HELD, DICTIONARIES = 48 * MEGABYTE, 16 * MEGABYTE
#: Bytes of what describes a table: the footer of a file, or a message of a stream.
DESCRIBED = 16 * MEGABYTE
#: A table of more bytes of text than these, or a batch of more bytes of values, that is
#: so many times as long as the file is a decompression bomb, as a member of an archive.
LARGEST, LARGEST_BATCH, RATIO = 256 * MEGABYTE, 8 * MEGABYTE, 200
#: Bytes of a row of records, which is made at once and not in pieces.
LONGEST_RECORD = 32 * MEGABYTE


class BadTableError(ValueError):
    """A table that cannot be read on; its text is the reason."""


def megabytes(size: int) -> str:
    """Return a number of bytes for a message, at least one megabyte."""
    return f"{max(1, round(size / MEGABYTE)):,} MB"


_MAGIC, _CONTINUED = b"ARROW1", b"\xff\xff\xff\xff"
#: Numbers of the kinds of messages.
_SCHEMA, DICTIONARY, BATCH = 1, 2, 3
_WORD = 8
_byte, _short, _long, _longer = Struct("B"), Struct("<H"), Struct("<I"), Struct("<q")
_offset = Struct("<i")
#: The place of a message in a file: offset, bytes of its metadata, bytes of its body.
_block = Struct("<qi4xq")
#: Two numbers: rows and nulls of a column, or offset and bytes of a buffer.
_pair = Struct("<qq")
#: What stands instead of a size before a buffer that is not compressed after all.
_STORED = -1


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was checked."""

    #: The number of its kind.
    kind: int
    #: Where it begins, where its body begins, and where it ends.
    start: int
    body: int
    end: int
    #: Bytes that its buffers have decoded.
    decoded: int = 0
    #: The offset in the body, the bytes there and the bytes decoded of each buffer.
    buffers: tuple[tuple[int, int, int], ...] = ()
    #: Rows and nulls of each column, those inside of others behind them.
    columns: tuple[tuple[int, int], ...] = ()
    rows: int = 0
    #: How buffers are compressed: "lz4", "zstd", or "".
    codec: str = ""
    #: The number of a dictionary, and whether its values are added to those before.
    dictionary: int = 0
    is_delta: bool = False


class _Table:
    """A table in the metadata, whose members have numbers."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def number(self, slot: int, kind: Struct, default: int = 0) -> int:
        """Return a number."""
        at = self._place(slot)
        return int(_read(kind, self._data, at)[0]) if at else default

    def table(self, slot: int) -> "_Table | None":
        """Return a table."""
        at = self._place(slot)
        return _Table(self._data, self._behind(at)) if at else None

    def structs(self, slot: int, kind: Struct) -> list[tuple[int, ...]]:
        """Return the structures of a list."""
        place = self._place(slot)
        if not place:
            return []
        at = self._behind(place)
        (count,) = _read(_long, self._data, at)
        end = at + _long.size + count * kind.size
        if end > len(self._data):
            raise BadTableError("has metadata that is corrupt")
        return [*kind.iter_unpack(self._data[at + _long.size : end])]

    def _place(self, slot: int) -> int:
        """Return where a member is, 0 if there is none."""
        members = self._at - _read(_offset, self._data, self._at)[0]
        (size,) = _read(_short, self._data, members)
        place = 2 * _short.size + slot * _short.size
        if place + _short.size > size:
            return 0
        (inside,) = _read(_short, self._data, members + place)
        return self._at + int(inside) if inside else 0

    def _behind(self, at: int) -> int:
        return at + int(_read(_long, self._data, at)[0])


def _read(kind: Struct, data: bytes, at: int) -> tuple[Any, ...]:
    if at < 0:
        raise BadTableError("has metadata that is corrupt")
    try:
        return kind.unpack_from(data, at)
    except struct.error as error:
        raise BadTableError("has metadata that is corrupt") from error


def _root(data: bytes) -> _Table:
    return _Table(data, int(_read(_long, data, 0)[0]))


def size_of(file: BinaryIO) -> int:
    """Return the bytes of a file, and go to its beginning."""
    size = file.seek(0, SEEK_END)
    file.seek(0)
    return size


def file_messages(file: BinaryIO) -> tuple[list[Message], list[Message]]:
    """Return the dictionaries and the batches of a file, which its footer names.

    Raises `BadTableError`, as a message does that lies outside of the file.
    """
    size = size_of(file)
    tail = _bytes_at(file, size - _long.size - len(_MAGIC), _long.size + len(_MAGIC))
    length = int.from_bytes(tail[: _long.size], "little")
    begin = size - len(tail) - length
    if not tail.endswith(_MAGIC) or begin < _WORD:
        raise BadTableError("is cut: an Arrow file ends with a footer, and it has none")
    if length > DESCRIBED:
        raise BadTableError(f"has a footer of {length:,} bytes, which is too long")
    footer = _root(_bytes_at(file, begin, length))
    _check_order(footer.table(1))
    dictionaries, batches = footer.structs(2, _block), footer.structs(3, _block)
    return (
        [_message_in_block(begin, *block) for block in dictionaries],
        [_message_in_block(begin, *block) for block in batches],
    )


def _message_in_block(most: int, start: int, metadata: int, body: int) -> Message:
    """Return where a message is that a footer names; what is in it is checked later."""
    end = start + metadata + body
    if start < _WORD or metadata < _WORD or body < 0 or end > most:
        raise BadTableError("has a footer that names places outside of the file")
    if metadata > DESCRIBED:
        raise BadTableError("has a message whose metadata is too long")
    return Message(0, start, start + metadata, end)


def checked(file: BinaryIO, place: Message) -> Message:
    """Return the message at a place that the footer of a file names.

    Raises `BadTableError`.
    """
    found = message_at(file, place.start, place.end)
    if found is None or found.body != place.body or found.end > place.end:
        raise BadTableError("is not where the footer says that it is")
    return found


def stream_messages(file: BinaryIO, start: int, size: int) -> Iterator[Message]:
    """Yield the messages from `start` up to the next batch, that one as the last.

    Nothing is yielded where the stream ends. Raises `BadTableError`.
    """
    while (found := message_at(file, start, size)) is not None:
        yield found
        if found.kind == BATCH:
            return
        start = found.end


def message_at(file: BinaryIO, start: int, size: int) -> Message | None:
    """Return the message at `start` of a file of `size` bytes, None if it ends there.

    Raises `BadTableError` if it is corrupt, or is not whole.
    """
    if start >= size:
        return None
    head = _bytes_at(file, start, min(_WORD, size - start))
    skipped = len(_CONTINUED) if head.startswith(_CONTINUED) else 0
    length = int.from_bytes(head[skipped : skipped + _long.size], "little")
    if not length:
        return None
    begin = start + skipped + _long.size
    if length > DESCRIBED:
        raise BadTableError("has a message whose metadata is too long")
    if begin + length > size:
        raise BadTableError("is cut")
    root = _root(_bytes_at(file, begin, length))
    body = begin + length
    held = root.number(3, _longer)
    if held < 0 or body + held > size:
        raise BadTableError("is cut" if held > 0 else "has metadata that is corrupt")
    kind = root.number(1, _byte)
    found = Message(kind, start, body, body + held)
    data = root.table(2)
    if kind == _SCHEMA:
        _check_order(data)
    if data is None or kind not in {DICTIONARY, BATCH}:
        return found
    if kind == BATCH:
        return _with_buffers(file, found, data)
    values = data.table(1)
    number, is_delta = data.number(0, _longer), bool(data.number(2, _byte))
    found = replace(found, dictionary=number, is_delta=is_delta)
    return found if values is None else _with_buffers(file, found, values)


def _check_order(schema: _Table | None) -> None:
    """Raise `BadTableError` if the bytes of numbers are in the other order."""
    if schema is not None and schema.number(0, _short):
        raise BadTableError("has big-endian numbers, which are not read")


def _with_buffers(file: BinaryIO, message: Message, data: _Table) -> Message:
    """Return a message with the buffers of its batch or dictionary."""
    compression = data.table(3)
    codec = ""
    if compression is not None:
        codec = "zstd" if compression.number(0, _byte) else "lz4"
    rows = data.number(0, _longer)
    columns = data.structs(1, _pair)
    if rows < 0 or any(not 0 <= nulls <= length for length, nulls in columns):
        raise BadTableError("has impossible numbers of rows")
    found, behind = [], message.end - message.body
    for offset, length in data.structs(2, _pair):
        if offset < 0 or length < 0 or offset + length > behind:
            raise BadTableError("has a buffer outside of its bytes")
        decoded = _decoded(file, message.body + offset, length) if codec else length
        found.append((offset, length, decoded))
    return replace(
        message,
        decoded=sum(decoded for _, _, decoded in found),
        buffers=tuple(found),
        columns=tuple((length, nulls) for length, nulls in columns),
        rows=rows,
        codec=codec,
    )


def _decoded(file: BinaryIO, at: int, length: int) -> int:
    """Return the bytes that a compressed buffer has decoded, which stand before it."""
    if not length:
        return 0
    if length < _longer.size:
        raise BadTableError("has a compressed buffer without its size")
    (size,) = _longer.unpack(_bytes_at(file, at, _longer.size))
    if size == _STORED:
        return length - _longer.size
    if size < 0:
        raise BadTableError("has a compressed buffer of an impossible size")
    return int(size)


def _bytes_at(file: BinaryIO, at: int, size: int) -> bytes:
    """Return bytes of a file; raises `BadTableError` if they are not all there."""
    if at < 0:
        raise BadTableError("is cut")
    file.seek(at)
    found = file.read(size)
    if len(found) < size:
        raise BadTableError("is cut")
    return found


#: Levels of structures and lists, at most.
_DEEPEST = 8


class BadStructureError(ValueError):
    """Bytes that are no structure in this protocol."""


class Compact:
    """Reads a structure; raises `IndexError` where it is longer than the bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        #: The place behind what was read.
        self.at = 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the members of a structure by their numbers."""
        found: dict[int, Any] = {}
        for number, kind in self.members():
            found[number] = self.value(kind, depth)
        return found

    def value(self, kind: int, depth: int = 0) -> Any:
        """Return a value: a number, a truth value, a structure, or None for others."""
        if depth > _DEEPEST:
            raise BadStructureError
        if kind in {1, 2}:
            return kind == 1
        if kind == 3:  # noqa: PLR2004 - a byte
            return self._byte()
        if kind in {4, 5, 6}:
            return self._signed()
        if kind in {7, 8}:
            self._skip(8 if kind == 7 else self._unsigned())  # noqa: PLR2004 - a float
            return None
        if kind in {9, 10}:
            return self._skip_list(depth)
        if kind == 12:  # noqa: PLR2004 - a structure
            return self.structure(depth + 1)
        raise BadStructureError

    def members(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each member of a structure, which is read then."""
        number = 0
        while kind := self._byte():
            delta = kind >> 4
            number = number + delta if delta else self._signed()
            yield number, kind & 15

    def items(self) -> Iterator[int]:
        """Yield the kind of each item of a list, which is read then."""
        head = self._byte()
        size = head >> 4
        if size == 15:  # noqa: PLR2004 - the size follows
            size = self._unsigned()
        for _ in range(size):
            yield head & 15

    def _skip_list(self, depth: int) -> None:
        """Go behind a list."""
        for kind in self.items():
            if kind in {1, 2}:
                self._byte()
            else:
                self.value(kind, depth + 1)

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def _byte(self) -> int:
        found = self._data[self.at]
        self.at += 1
        return found

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the last byte
                return found
            shift += 7
            if shift > 63:  # noqa: PLR2004 - bits
                raise BadStructureError

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)


#: Members of the footer, of a row group, and of a column.
_GROUPS, _COLUMNS, _ROWS, _METADATA = 4, 1, 3, 3
_LIST, _STRUCTURE = 9, 12
#: Members of the metadata of a column, in the order of `Chunk`.
_numbers = 4, 5, 6, 7, 9, 11
#: Names that pyarrow has for codecs, by their numbers; the old form of LZ4 has none.
_codecs = {0: "", 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}


class Chunk(NamedTuple):
    """The values of a column in a row group, as the footer describes them."""

    codec_number: int
    values: int
    #: Bytes of all pages decoded, and as they are stored.
    decoded: int
    stored: int
    #: Where the first page of values begins, and the dictionary, 0 without one.
    first_page: int
    dictionary: int

    @property
    def codec(self) -> str | None:
        """The name of the compression, "" for none, None if it is not known."""
        return _codecs.get(self.codec_number)

    @property
    def start(self) -> int:
        """Where the first page begins."""
        has_dictionary = 0 < self.dictionary < self.first_page
        return self.dictionary if has_dictionary else self.first_page


@dataclass(slots=True)
class Group:
    """A row group."""

    rows: int
    #: The members of the chunks, one behind the other: there may be many.
    numbers: "array[int]"

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.numbers) // len(Chunk._fields)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunk of each column."""
        width = len(Chunk._fields)
        for start in range(0, len(self.numbers), width):
            yield Chunk(*self.numbers[start : start + width])


def groups_of(footer: bytes) -> list[Group]:
    """Return the row groups that a footer describes.

    Raises `BadTableError` if it is corrupt, or describes columns that are encrypted.
    """
    reader, found = Compact(footer), []
    try:
        for number, kind in reader.members():
            if number == _GROUPS and kind == _LIST:
                found += [_group_of(reader, inside) for inside in reader.items()]
            else:
                reader.value(kind)
    except (BadStructureError, IndexError, OverflowError) as error:
        raise BadTableError("has a footer that is corrupt") from error
    return found


def _group_of(reader: Compact, kind: int) -> Group:
    """Return the row group that is next."""
    found = Group(0, array("q"))
    if kind != _STRUCTURE:
        raise BadStructureError
    for number, inside in reader.members():
        if number == _COLUMNS and inside == _LIST:
            for item in reader.items():
                found.numbers.extend(_chunk_of(reader.value(item)))
        else:
            value = reader.value(inside)
            if number == _ROWS and isinstance(value, int):
                found.rows = value
    return found


def _chunk_of(column: Any) -> Chunk:
    """Return the chunk that the structure of a column describes."""
    metadata = column.get(_METADATA) if isinstance(column, dict) else None
    if not isinstance(metadata, dict):
        raise BadTableError("has a column that is encrypted, or without metadata")
    numbers = [metadata.get(number, 0) for number in _numbers]
    if not all(isinstance(number, int) for number in numbers):
        raise BadStructureError
    return Chunk(*numbers)
