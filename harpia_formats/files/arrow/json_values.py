"""The values of Arrow's columns as JSON: each type in one way, long ones in pieces."""

from base64 import b64encode
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import pairwise
from math import isinf
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from harpia_formats.files.arrow.tables import array_size
from harpia_formats.model.exact_json import encode

#: The digits of the fraction of a second, by the unit.
_digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_epoch = datetime(1970, 1, 1, tzinfo=UTC)
_minute, _hour = 60, 3600
#: Milliseconds of a day, which one of the types of dates counts.
_DAY = 86_400_000


def iso_timestamp(count: int, unit: str, zone: str | None) -> str:
    """Return the text of a point in time, `count` units after 1970 in UTC.

    With the name of a time `zone` it is the time there, with its offset; of a zone that
    is not known here it is the time in UTC. A year that no calendar has room for is
    the count.
    """
    seconds, fraction = divmod(count, 10 ** _digits[unit])
    try:
        moment = _epoch + timedelta(seconds=seconds)
        if zone is not None:
            moment = moment.astimezone(_zone(zone))
    except OverflowError:
        return f"{count}{unit}"
    text = moment.replace(tzinfo=None).isoformat() + _fraction(fraction, unit)
    if zone is None:
        return text
    offset = moment.isoformat()[19:]
    return text + ("Z" if offset == "+00:00" else offset)


def _zone(name: str) -> tzinfo:
    """Return a time zone by its name or its offset, UTC if there is none."""
    try:
        if name[:1] in {"+", "-"}:
            return datetime.fromisoformat(f"1970-01-01T00:00:00{name}").tzinfo or UTC
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # or a folder of zones
        return UTC


def iso_date(days: int) -> str:
    """Return the text of a date, so many days after 1970.

    A year that no calendar has room for is the count.
    """
    try:
        return (_epoch.date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return f"{days}d"


def iso_time(count: int, unit: str) -> str:
    """Return the text of a time of the day, `count` units after midnight."""
    seconds, fraction = divmod(count, 10 ** _digits[unit])
    minutes, second = divmod(seconds, _minute)
    hour, minute = divmod(minutes, _minute)
    return f"{hour:02}:{minute:02}:{second:02}{_fraction(fraction, unit)}"


def iso_duration(count: int, unit: str) -> str:
    """Return the text of a duration in seconds, such as `PT1.500S`."""
    sign = "-" if count < 0 else ""
    seconds, fraction = divmod(abs(count), 10 ** _digits[unit])
    return f"{sign}PT{seconds}{_fraction(fraction, unit)}S"


def _fraction(fraction: int, unit: str) -> str:
    """Return the fraction of a second with its point, nothing if it is zero."""
    digits = _digits[unit]
    return f".{fraction:0{digits}}" if fraction else ""


#: Returns the values of an array, given what Hugging Face's metadata says of it.
_Convert = Callable[[Any, Any], list[Any]]


class RepeatedName(str):
    """The name of a column that others have, too: a key that is equal to itself only.

    An object may have several of them, which are written as one key several times.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Tell whether `other` is the same column."""
        return self is other


def has_repeated_names(kind: Any) -> bool:
    """Tell whether a schema, or a type in it, has two columns of one name."""
    for inside in ("storage_type", "value_type"):  # of extensions and of dictionaries
        if hasattr(kind, inside):
            return has_repeated_names(getattr(kind, inside))
    fields = [*kind] if hasattr(kind, "names") else _fields_of(kind)
    names = [field.name for field in fields] if _has_names(kind) else []
    if len(set(names)) < len(names):
        return True
    return any(has_repeated_names(field.type) for field in fields)


def _fields_of(kind: Any) -> list[Any]:
    """Return the fields inside of a type, whether or not their names are keys."""
    return [kind.field(number) for number in range(kind.num_fields)]


def _has_names(kind: Any) -> bool:
    """Tell whether the names of the fields of a schema or type become keys."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    return isinstance(kind, pa.Schema) or pa.types.is_struct(kind)


def json_rows(batch: Any, features: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a record batch, whose values are JSON.

    `features` are Hugging Face's descriptions of columns, by name. Raises
    `UnicodeDecodeError` for a text that is not UTF-8, and errors of pyarrow.
    """
    names = batch.schema.names
    columns = [
        json_values(column, features.get(name))
        for name, column in zip(names, batch.columns, strict=True)
    ]
    return _objects(keys_of(names), columns)


def keys_of(names: list[str]) -> list[str]:
    """Return the names of columns as keys of one object, in which none is lost."""
    if len(set(names)) == len(names):
        return names
    counts = Counter(names)
    return [RepeatedName(name) if counts[name] > 1 else name for name in names]


def _objects(names: list[str], columns: list[list[Any]]) -> list[dict[str, Any]]:
    """Return the object of each row of some columns, without members that are null.

    Of columns of one name, those that are null are members, too.
    """
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if any(None in column for column in columns):
        return [
            {
                key: value
                for key, value in row.items()
                if value is not None or type(key) is RepeatedName
            }
            for row in rows
        ]
    return rows


def json_values(array: Any, feature: Any = None) -> list[Any]:
    """Return the values of an Arrow array as JSON; null is None."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    types, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _of_extension(array, feature)
    if types.is_dictionary(kind):
        return _of_dictionary(array, feature)
    if types.is_run_end_encoded(kind):
        import pyarrow.compute as pc  # noqa: PLC0415 - few tables need it

        return json_values(pc.run_end_decode(array), feature)
    for is_kind, convert in _converters(types):
        if is_kind(kind):
            return convert(array, feature)
    values: list[Any] = array.to_pylist()
    return values


def _converters(types: Any) -> tuple[tuple[Callable[[Any], bool], _Convert], ...]:
    """Return the function for each kind of type; the values of others are JSON."""
    return (
        (types.is_struct, _of_struct),
        (types.is_map, _of_map),
        (types.is_list, _of_list),
        (types.is_large_list, _of_list),
        (types.is_fixed_size_list, _of_list),
        (types.is_list_view, _of_list),
        (types.is_large_list_view, _of_list),
        (types.is_integer, _of_integer),
        (types.is_floating, _of_float),
        (types.is_decimal, _of_decimal),
        (types.is_timestamp, _of_timestamp),
        (types.is_date, _of_date),
        (types.is_time, _of_time),
        (types.is_duration, _of_duration),
        (types.is_binary, _of_bytes),
        (types.is_large_binary, _of_bytes),
        (types.is_fixed_size_binary, _of_bytes),
        (_is_binary_view, _of_bytes),
    )


def _is_binary_view(kind: Any) -> bool:
    return str(kind) == "binary_view"


def _of_extension(array: Any, feature: Any) -> list[Any]:
    """Return the values that an extension type stores; UUIDs as they are written."""
    if array.type.extension_name == "arrow.uuid":
        stored = array.storage.to_pylist()
        return [None if one is None else str(UUID(bytes=one)) for one in stored]
    return json_values(array.storage, feature)


def _of_dictionary(array: Any, feature: Any) -> list[Any]:
    """Return the values of a dictionary's rows, equal ones only once in memory."""
    if len(array.dictionary) > len(array):
        return json_values(array.dictionary_decode(), feature)
    values = json_values(array.dictionary, feature)
    return [None if at is None else values[at] for at in array.indices.to_pylist()]


def _of_struct(array: Any, feature: Any) -> list[Any]:
    names = keys_of([field.name for field in array.type])
    inner = feature if isinstance(feature, Mapping) else {}
    columns = [
        json_values(column, inner.get(name))
        for name, column in zip(names, array.flatten(), strict=True)
    ]
    rows: list[Any] = _objects(names, columns) or [{} for _ in range(len(array))]
    if array.null_count:
        valid = array.is_valid().to_pylist()
        return [
            row if is_valid else None for row, is_valid in zip(rows, valid, strict=True)
        ]
    return rows


def _of_list(array: Any, feature: Any) -> list[Any]:
    import pyarrow.compute as pc  # noqa: PLC0415 - the caller has loaded pyarrow

    items = json_values(array.flatten(), feature_of_items(feature))
    found: list[Any] = []
    start = 0
    for length in pc.list_value_length(array).to_pylist():
        if length is None:
            found.append(None)
        else:
            found.append(items[start : start + length])
            start += length
    return found


def feature_of_items(feature: Any) -> Any:
    """Return the description of the items of a list: `{"feature": …}` or `[…]`."""
    if isinstance(feature, Mapping):
        inner = feature.get("feature")
        return inner if "_type" in feature else feature
    if isinstance(feature, Sequence) and not isinstance(feature, str) and feature:
        return feature[0]
    return None


def _of_map(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    ends = array.offsets.to_pylist()
    first, size = ends[0], ends[-1] - ends[0]
    keys = json_values(array.keys.slice(first, size))
    values = json_values(array.items.slice(first, size))
    pairs = [*zip(keys, values, strict=True)]
    return [
        _object_or_pairs(pairs[begin - first : end - first]) if is_valid else None
        for (begin, end), is_valid in zip(
            pairwise(ends), array.is_valid().to_pylist(), strict=True
        )
    ]


def _object_or_pairs(pairs: list[tuple[Any, Any]]) -> Any:
    """Return an object if all keys are texts and none is repeated, else the pairs."""
    found = dict(pairs) if all(type(key) is str for key, _ in pairs) else {}
    return found if len(found) == len(pairs) else [list(pair) for pair in pairs]


def _of_integer(array: Any, feature: Any) -> list[Any]:
    """Return integers, or the names of Hugging Face's class labels: -1 is unknown."""
    values: list[Any] = array.to_pylist()
    names = feature.get("names") if isinstance(feature, Mapping) else None
    if type(names) is not list or feature.get("_type") != "ClassLabel":
        return values
    known = dict(enumerate(names)) | {-1: None}
    return [known.get(value, value) for value in values]


def _of_float(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    return [
        None if value is None or value != value else _finite(float(value))  # noqa: PLR0124 - NaN is not itself
        for value in array.to_pylist()
    ]


def _finite(value: float) -> float | str:
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _each(text_of: Callable[[Any], str]) -> _Convert:
    """Return what gives the text of each value."""
    return lambda array, _: [
        None if value is None else text_of(value) for value in array.to_pylist()
    ]


def _decimal_text(value: Decimal) -> str:
    return format(value, "f")


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


_of_decimal = _each(_decimal_text)
_of_bytes = _each(_base64)


def _counts(array: Any) -> list[int | None]:
    """Return the numbers that times are stored as, in units of their type."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    counts: list[int | None] = array.cast(
        pa.int32() if array.type.bit_width == 32 else pa.int64()  # noqa: PLR2004 - bits
    ).to_pylist()
    return counts


def _of_date(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    counts = _counts(array)
    unit = 1 if array.type.bit_width == 32 else _DAY  # noqa: PLR2004 - bits
    return [None if count is None else iso_date(count // unit) for count in counts]


def _of_timestamp(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    unit, zone = array.type.unit, array.type.tz
    return [
        None if count is None else iso_timestamp(count, unit, zone)
        for count in _counts(array)
    ]


def _of_time(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    unit = array.type.unit
    return [None if one is None else iso_time(one, unit) for one in _counts(array)]


def _of_duration(array: Any, feature: Any) -> list[Any]:  # noqa: ARG001 - the shape of `_Convert`
    unit = array.type.unit
    return [None if one is None else iso_duration(one, unit) for one in _counts(array)]


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
    elif _is_list(types, kind):
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
