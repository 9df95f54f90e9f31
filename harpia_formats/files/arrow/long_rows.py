"""A row of a table as a line of JSON in pieces, so that no long value is held twice."""

from base64 import b64encode
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.files.arrow.json_values import (
    RepeatedName,
    feature_of_items,
    json_values,
    keys_of,
)
from harpia_formats.files.arrow.value_sizes import array_size
from harpia_formats.model.exact_json import encode

#: Bytes of values that become one piece, a multiple of three for base64.
PIECE = 3 * 128 * 1024
#: Bytes of a value that is not made in pieces: a map, or one of a rare type.
LONGEST_WHOLE = 16 * 1024 * 1024
_utf_8 = getincrementaldecoder("utf-8")


class LongValueError(ValueError):
    """A value is too long to be made at once; its text says which type it has."""


def row_pieces(batch: Any, features: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the line of the only row of a record batch, as `json_rows` makes it.

    Raises `LongValueError`.
    """
    names = batch.schema.names
    described = [features.get(name) for name in names]
    yield from _object_pieces(names, batch.columns, described)
    yield b"\n"


def _object_pieces(
    names: list[str], columns: list[Any], features: list[Any]
) -> Iterator[bytes]:
    """Yield an object with the only value of each column, but for those of null."""
    glue = b"{"
    for key, column, feature in zip(keys_of(names), columns, features, strict=True):
        pieces = _pieces(column, feature)
        first = next(pieces)
        if first == b"null" and type(key) is not RepeatedName:
            continue
        yield glue + encode(str(key)) + b":" + first
        yield from pieces
        glue = b","
    yield b"{}" if glue == b"{" else b"}"


def _pieces(array: Any, feature: Any) -> Iterator[bytes]:
    """Yield the JSON of the only value of an array, `null` as the first piece."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    types, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name != "arrow.uuid":
        yield from _pieces(array.storage, feature)
    elif types.is_dictionary(kind):
        at = array.indices[0].as_py()
        of_row = pa.nulls(1) if at is None else array.dictionary.slice(at, 1)
        yield from _pieces(of_row, feature)
    elif array.null_count or array_size(array) <= PIECE:
        yield encode(json_values(array, feature)[0])
    elif types.is_struct(kind):
        inner = feature if isinstance(feature, Mapping) else {}
        names = [field.name for field in kind]
        described = [inner.get(name) for name in names]
        yield from _object_pieces(names, array.flatten(), described)
    elif (
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
    ):
        yield from _list_pieces(array.flatten(), feature_of_items(feature))
    elif types.is_string(kind) or types.is_large_string(kind):
        yield from _text_pieces(array)
    elif types.is_binary(kind) or types.is_large_binary(kind):
        yield from _base64_pieces(array)
    elif array_size(array) > LONGEST_WHOLE:
        raise LongValueError(f"a value of the type {kind} is too long")
    else:
        yield encode(json_values(array, feature)[0])


def _is_list(types: Any, kind: Any) -> bool:
    """Tell whether values are lists of items, one behind the other."""
    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list
    return any(is_kind(kind) for is_kind in kinds)


def _list_pieces(items: Any, feature: Any) -> Iterator[bytes]:
    """Yield an array with all items."""
    glue = b"["
    for part in _parts(items):
        if len(part) == 1:
            yield glue
            yield from _pieces(part, feature)
        else:
            yield glue + encode(json_values(part, feature))[1:-1]
        glue = b","
    yield b"[]" if glue == b"[" else b"]"


def _parts(items: Any) -> Iterator[Any]:
    """Yield items in parts that become one piece, a longer one alone."""
    if len(items) <= 1 or array_size(items) <= PIECE:
        if len(items):
            yield items
        return
    half = len(items) // 2
    yield from _parts(items.slice(0, half))
    yield from _parts(items.slice(half))


def _text_pieces(array: Any) -> Iterator[bytes]:
    """Yield the only text of an array; raises `UnicodeDecodeError`."""
    decoder = _utf_8()
    yield b'"'
    for piece in _bytes_of(array):
        yield encode(decoder.decode(piece))[1:-1]
    decoder.decode(b"", final=True)
    yield b'"'


def _base64_pieces(array: Any) -> Iterator[bytes]:
    """Yield the only value of an array of bytes as base64."""
    yield b'"'
    for piece in _bytes_of(array):
        yield b64encode(piece)
    yield b'"'


def _bytes_of(array: Any) -> Iterator[bytes]:
    """Yield the bytes of the only value of an array, some at a time."""
    data = array[0].as_buffer()
    for start in range(0, data.size, PIECE):
        yield data.slice(start, min(PIECE, data.size - start)).to_pybytes()
