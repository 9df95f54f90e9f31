"""About how many bytes the values of Arrow's columns take, before one is made.

A value of a dictionary counts for each row that has it, and a value without bytes, such
as a null or the items of a list of nulls, as much as a pointer to it.
"""

from collections.abc import Iterator
from typing import Any

#: Bytes of each value beside its own: that of its place in a list.
PLACE = 8
#: Bytes of a view of a text, and of its length at the beginning of the view.
_VIEW, _LENGTH = 16, 4


def row_parts(batch: Any, rows: int) -> Iterator[Any]:
    """Yield a record batch in parts of so many rows; none if it has no columns."""
    if batch.num_columns:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def small_parts(batch: Any, most: int, size: int | None = None) -> Iterator[Any]:
    """Yield a record batch in parts of about `most` bytes, longer ones with one row.

    `size` is what `batch_size` returns for it.
    """
    count = batch.num_rows
    if count <= 1 or (batch_size(batch) if size is None else size) <= most:
        yield batch
        return
    half = count // 2
    yield from small_parts(batch.slice(0, half), most)
    yield from small_parts(batch.slice(half), most)


def batch_size(batch: Any) -> int:
    """Return about how many bytes the values of a record batch take."""
    return sum(map(array_size, batch.columns))


def array_size(array: Any) -> int:
    """Return about how many bytes the values of an array take, with their places."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    types, kind = pa.types, array.type
    places = PLACE * len(array)
    if isinstance(kind, pa.BaseExtensionType):
        return array_size(array.storage)
    if types.is_struct(kind):
        return places + sum(map(array_size, _fields(array)))
    if types.is_map(kind):
        return places + array_size(_inside(array, array.keys, array.items))
    if types.is_list(kind) or types.is_large_list(kind):
        return places + array_size(_inside(array, array.values))
    if types.is_fixed_size_list(kind):
        width = kind.list_size
        items = array.values.slice(array.offset * width, len(array) * width)
        return places + array_size(items)
    return places + _bytes_of(array, pa)


def _fields(array: Any) -> list[Any]:
    """Return the values of the fields of a struct, of its own rows only."""
    fields = (array.field(number) for number in range(array.type.num_fields))
    return list(fields)


def _inside(array: Any, *items: Any) -> Any:
    """Return those of the items of lists that are in the lists of an array.

    Keys and values of maps become the fields of a struct.
    """
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    offsets = array.offsets
    first = offsets[0].as_py() if len(offsets) else 0
    size = (offsets[-1].as_py() if len(offsets) else 0) - first
    cut = [one.slice(first, size) for one in items]
    if len(cut) == 1:
        return cut[0]
    return pa.StructArray.from_arrays(cut, names=["key", "value"])


def _bytes_of(array: Any, pa: Any) -> int:
    """Return the bytes of values that are no lists and no structs."""
    types, kind = pa.types, array.type
    if types.is_dictionary(kind):
        return _dictionary_bytes(array, pa)
    if str(kind) in {"string_view", "binary_view"}:
        return _view_bytes(array)
    if types.is_primitive(kind) or types.is_null(kind) or types.is_decimal(kind):
        return 0
    if _is_bytes(types, kind) or types.is_fixed_size_binary(kind):
        return int(array.nbytes)
    # Runs, unions and views of lists may repeat all that they hold in each row.
    return max(1, len(array)) * int(array.nbytes)


def _is_bytes(types: Any, kind: Any) -> bool:
    """Tell whether values are texts or bytes of any length, one behind the other."""
    kinds = types.is_string, types.is_large_string, types.is_binary
    return any(is_kind(kind) for is_kind in (*kinds, types.is_large_binary))


def _dictionary_bytes(array: Any, pa: Any) -> int:
    """Return the bytes of the values of a dictionary, each as often as it is there."""
    import pyarrow.compute as pc  # noqa: PLC0415 - the caller has loaded pyarrow

    values = array.dictionary
    if not _is_bytes(pa.types, values.type):
        return len(array) * array_size(values)
    if values.nbytes * len(array) <= len(array) * PLACE:
        return 0
    lengths = pc.take(pc.binary_length(values), array.indices)
    return pc.sum(lengths, min_count=0).as_py() or 0


def _view_bytes(array: Any) -> int:
    """Return the bytes of texts that are views, each as often as it is there."""
    views = array.buffers()[1]
    if views is None:
        return 0
    lengths = memoryview(views).cast("B").cast("i")[:: _VIEW // _LENGTH]
    return sum(lengths[array.offset : array.offset + len(array)])
