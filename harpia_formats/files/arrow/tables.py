"""Tables of Arrow: pyarrow, records as columns, and how many bytes the values take."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import HarpiaFormatsError

#: The end of the sentence that a user without pyarrow reads.
MISSING = 'needs the extra "arrow": pip install "harpia-formats[arrow]"'
#: The oldest release that reads and writes what the tests read and write.
OLDEST = (17, 0)


class MissingPyarrow(HarpiaFormatsError):  # noqa: N818 - it is no mistake of the data
    """pyarrow is not installed, or older than what is needed; its text says which."""

    hides_values = True


def require_pyarrow() -> None:
    """Raise `MissingPyarrow` if it is not installed; it is not imported."""
    if find_spec("pyarrow") is None:
        raise MissingPyarrow(MISSING)


def load_pyarrow() -> Any:
    """Return the module pyarrow; raises `MissingPyarrow`."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - the extra may be missing
    except ImportError as error:
        raise MissingPyarrow(MISSING) from error
    if tuple(int(part) for part in pa.__version__.split(".")[:2]) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise MissingPyarrow(
            f"needs pyarrow {wanted} or newer, and {pa.__version__} is installed"
        )
    return pa


#: The key of the version of the layout in the metadata of a table.
LAYOUT_KEY = b"harpia-formats.record-layout"
LAYOUT = 1
_ID, _ID_TYPE, _OTHER, _VALUE, _VALUE_JSON = "id id_type other value value_json".split()
_INTEGER, _TEXT_TYPE = "integer", "text"
_texts = "prompt system gt category source".split()
_lists = "references choices contexts".split()
_objects = "messages params metadata extra header".split()
_output_texts = "model formatted_prompt text reasoning interaction_type error".split()
_output_objects = "turns attribution token_usage performance extra".split()
_score_texts = "metric evaluation_id evaluation_name result_id signature".split()
_int64 = range(-(2**63), 2**63)

Row = dict[str, Any]
#: Returns the cells of the columns that hold the value of a key, None if none can.
_ToCells = Callable[[str, Any], Row | None]


class NewerLayoutError(ValueError):
    """A table is in a layout of records that is not known; its text says which."""


@cache
def record_schema() -> Any:
    """Return the schema of the columns of records, with the layout's version."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    text = pa.string()
    score = pa.struct(
        [
            (_score_texts[0], text),
            (_VALUE, pa.float64()),
            (_VALUE_JSON, text),
            ("is_correct", pa.bool_()),
            *((name, text) for name in _score_texts[1:]),
            (_OTHER, text),
        ]
    )
    output = pa.struct(
        [
            (_output_texts[0], text),
            ("index", pa.int64()),
            *((name, text) for name in (*_output_texts[1:], *_output_objects)),
            ("scores", pa.list_(score)),
            (_OTHER, text),
        ]
    )
    return pa.schema(
        [
            (_ID, text),
            (_ID_TYPE, text),
            *((name, text) for name in _texts),
            *((name, pa.list_(text)) for name in _lists),
            *((name, text) for name in _objects),
            ("outputs", pa.list_(output)),
            (_OTHER, text),
        ],
        metadata={LAYOUT_KEY: str(LAYOUT)},
    )


#: The names of the columns, in order.
COLUMNS = (_ID, _ID_TYPE, *_texts, *_lists, *_objects, "outputs", _OTHER)


def cells_of_row(row: Row) -> Row:
    """Return the cells of a row of the format record, by the names of columns."""
    return _with_cells(row, _record_cells)


def batch_of_rows(rows: Sequence[Row]) -> Any:
    """Return rows of the format record as a record batch of `record_schema`."""
    import pyarrow as pa  # noqa: PLC0415 - the caller has loaded it

    cells = list(map(cells_of_row, rows))
    return pa.RecordBatch.from_pylist(cells, schema=record_schema())


def rows_of_batch(batch: Any) -> list[Row]:
    """Return the rows of the format record that `batch_of_rows` was given."""
    return [_record_row(cells) for cells in batch.to_pylist()]


def is_record_layout(
    metadata: Mapping[bytes, bytes] | None, names: Iterable[str] = ()
) -> bool:
    """Tell whether a schema with this metadata is that of records.

    Without the version in the metadata, which pandas and polars leave out, it is one if
    the columns `names` say so. Raises `NewerLayoutError` if it is in a later layout
    than this one.
    """
    version = (metadata or {}).get(LAYOUT_KEY)
    if version is None:
        return _all_signs <= set(names) <= _record_cells.keys() | _all_signs
    if version != str(LAYOUT).encode():
        shown = version.decode("utf-8", "replace")
        raise NewerLayoutError(
            f"holds records in layout {shown}, and this version reads layout {LAYOUT}"
        )
    return True


def _with_cells(row: Row, cells_of: Mapping[str, _ToCells]) -> Row:
    """Return the cells of a row; members without a column go to `other`."""
    found: Row = {}
    other: Row = {}
    for key, value in row.items():
        to_cells = cells_of.get(key)
        cells = None if to_cells is None else to_cells(key, value)
        if cells is None:
            other[key] = value
        else:
            found |= cells
    if other:
        found[_OTHER] = _json(other)
    return found


def _json(value: Any) -> str:
    return encode(value).decode()


def _text_cell(key: str, value: Any) -> Row | None:
    return {key: value} if type(value) is str else None


def _json_cell(key: str, value: Any) -> Row | None:
    return {key: _json(value)}


def _texts_cell(key: str, value: Any) -> Row | None:
    is_texts = type(value) is list and all(type(item) is str for item in value)
    return {key: value} if is_texts else None


def _truth_cell(key: str, value: Any) -> Row | None:
    return {key: value} if type(value) is bool else None


def _int_cell(key: str, value: Any) -> Row | None:
    return {key: value} if type(value) is int and value in _int64 else None


def _id_cells(key: str, value: Any) -> Row | None:
    if type(value) is str:
        return {key: value, _ID_TYPE: _TEXT_TYPE}
    return {key: _json(value), _ID_TYPE: _INTEGER} if type(value) is int else None


def _value_cells(key: str, value: Any) -> Row | None:
    """Return the number nearest to a score, and its JSON text if that is not it."""
    if type(value) is float:
        return {key: value}
    cells: Row = {_VALUE_JSON: _json(value)}
    if isinstance(value, (int, float)):
        try:
            cells[key] = float(value)
        except OverflowError:
            return cells
    return cells


def _items_cell(cells_of: Mapping[str, _ToCells]) -> _ToCells:
    """Return what gives the cells of a list of objects."""

    def to_cells(key: str, value: Any) -> Row | None:
        return {key: [_with_cells(item, cells_of) for item in value]}

    return to_cells


def _all(names: Iterable[str], to_cells: _ToCells) -> dict[str, _ToCells]:
    return dict.fromkeys(names, to_cells)


_score_cells: dict[str, _ToCells] = {
    **_all(_score_texts, _text_cell),
    _VALUE: _value_cells,
    "is_correct": _truth_cell,
}
_output_cells: dict[str, _ToCells] = {
    **_all(_output_texts, _text_cell),
    **_all(_output_objects, _json_cell),
    "index": _int_cell,
    "scores": _items_cell(_score_cells),
}
_record_cells: dict[str, _ToCells] = {
    _ID: _id_cells,
    **_all(_texts, _text_cell),
    **_all(_lists, _texts_cell),
    **_all(_objects, _json_cell),
    "outputs": _items_cell(_output_cells),
}
#: The columns by which the layout is known without its version.
_all_signs = frozenset({_ID, _ID_TYPE, _OTHER, "outputs"})
_json_columns = frozenset({*_objects, *_output_objects})


def _row_of(cells: Row) -> Row:
    """Return the members that the cells of one level hold, but for lists of objects."""
    row = {key: value for key, value in cells.items() if value is not None}
    for key in _json_columns & row.keys():
        row[key] = decode(row[key])
    other: Row = decode(row.pop(_OTHER, "{}"))
    return row | other


def _record_row(cells: Row) -> Row:
    row = _row_of(cells)
    if row.pop(_ID_TYPE, None) == _INTEGER:
        row[_ID] = decode(row[_ID])
    row["outputs"] = [_output_row(output) for output in row.get("outputs", ())]
    return row


def _output_row(cells: Row) -> Row:
    row = _row_of(cells)
    if "scores" in row:
        row["scores"] = [_score_row(score) for score in row["scores"]]
    return row


def _score_row(cells: Row) -> Row:
    row = _row_of(cells)
    text = row.pop(_VALUE_JSON, None)
    if text is not None:
        row[_VALUE] = decode(text)
    return row


#: Bytes of each value in addition to its own: those of its place in a list.
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
