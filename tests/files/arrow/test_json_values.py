"""The values of Arrow's columns as JSON."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.arrow.json_values import json_rows, json_values

pa = pytest.importorskip("pyarrow")

NOON = dt.datetime.fromisoformat("2024-01-02T12:00:00.5")
LABELS = {"_type": "ClassLabel", "names": ["A", "B"]}


@for_each_case(
    "values, kind, wanted",
    [
        ([1, None], "int64()", [1, None]),
        ([2**64 - 1], "uint64()", [2**64 - 1]),
        ([-(2**63)], "int64()", [-(2**63)]),
        ([0.5, None, float("nan")], "float64()", [0.5, None, None]),
        ([float("inf"), float("-inf")], "float64()", ["Infinity", "-Infinity"]),
        ([True, None], "bool_()", [True, None]),
        (["x", None], "string()", ["x", None]),
        (["x", None], "large_string()", ["x", None]),
        (["x", None], "string_view()", ["x", None]),
        ([None], "null()", [None]),
        ([b"\x00\xff", None], "binary()", ["AP8=", None]),
        ([b"ab"], "large_binary()", ["YWI="]),
        ([b"ab"], "binary(2)", ["YWI="]),
        ([Decimal("1.50"), None], "decimal128(9, 2)", ["1.50", None]),
        ([Decimal("1E-9")], "decimal128(20, 10)", ["0.0000000010"]),
        ([dt.date(2024, 1, 2)], "date32()", ["2024-01-02"]),
        ([dt.date(2024, 1, 2)], "date64()", ["2024-01-02"]),
        ([dt.date(1969, 12, 31), None], "date64()", ["1969-12-31", None]),
        ([2**30, -(2**30)], "date32()", [f"{2**30}d", f"-{2**30}d"]),
        ([2**50], "date64()", [f"{2**50 // 86_400_000}d"]),
        ([NOON], "timestamp('us')", ["2024-01-02T12:00:00.500000"]),
        ([NOON, None], "timestamp('us', 'UTC')", ["2024-01-02T12:00:00.500000Z", None]),
        ([1], "timestamp('ns')", ["1970-01-01T00:00:00.000000001"]),
        ([0], "timestamp('s', '+02:00')", ["1970-01-01T02:00:00+02:00"]),
        ([0], "timestamp('s', '+5')", ["1970-01-01T00:00:00Z"]),
        ([0], "timestamp('s', '-25:00')", ["1970-01-01T00:00:00Z"]),
        ([0], "timestamp('s', 'Europe')", ["1970-01-01T00:00:00Z"]),
        ([2**60], "timestamp('s')", [f"{2**60}s"]),
        ([dt.time(1, 2, 3)], "time32('s')", ["01:02:03"]),
        ([1], "time64('ns')", ["00:00:00.000000001"]),
        ([1500], "duration('ms')", ["PT1.500S"]),
        ([-1], "duration('s')", ["-PT1S"]),
        ([[1, None], None, []], "list_(int32())", [[1, None], None, []]),
        ([[1], [2]], "large_list(int32())", [[1], [2]]),
        ([[1, None], None, []], "list_view(int32())", [[1, None], None, []]),
        (
            [[float("inf")], [], None],
            "large_list_view(float64())",
            [["Infinity"], [], None],
        ),
        ([[NOON]], "list_view(timestamp('ns'))", [["2024-01-02T12:00:00.500000000"]]),
        ([[1, 2], None, [3, 4]], "list_(int32(), 2)", [[1, 2], None, [3, 4]]),
        (
            [[("a", 1)], [], None],
            "map_(string(), int32())",
            [{"a": 1}, {}, None],
        ),
        (
            [[("a", 1), ("a", 2)]],
            "map_(string(), int32())",
            [[["a", 1], ["a", 2]]],
        ),
        ([[(1, "x")]], "map_(int32(), string())", [[[1, "x"]]]),
        (
            [{"a": 1, "b": None}, None],
            "struct([('a', int64()), ('b', int64())])",
            [{"a": 1}, None],
        ),
        (
            [[{"at": 1}]],
            "list_(struct([('at', timestamp('ns'))]))",
            [[{"at": "1970-01-01T00:00:00.000000001"}]],
        ),
        (["x", "y", "x"], "dictionary(int8(), string())", ["x", "y", "x"]),
    ],
)
def test_each_type_has_one_form(
    values: list[Any], kind: str, wanted: list[Any]
) -> None:
    """A value of each type becomes JSON exactly, also in a part of an array."""
    array = pa.array(values, eval(kind, vars(pa)))  # noqa: S307 - kinds are written above

    assert json_values(array) == wanted
    assert json_values(array.slice(1)) == wanted[1:]
    json.dumps(wanted, allow_nan=False)


def test_bytes_of_an_image_are_kept() -> None:
    """An image of a data set is an object with its bytes in base64 and its path."""
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    array = pa.array([{"bytes": b"PNG", "path": "a.png"}], kind)

    assert json_values(array) == [{"bytes": "UE5H", "path": "a.png"}]


@for_each_case(
    "values, kind, feature, wanted",
    [
        ([0, 1, -1, None, 5], "int64()", LABELS, ["A", "B", None, None, 5]),
        (
            [[1, 0]],
            "list_(int64())",
            {"_type": "List", "feature": LABELS},
            [["B", "A"]],
        ),
        ([[1, 0]], "list_(int64())", [LABELS], [["B", "A"]]),
        ([{"k": 1}], "struct([('k', int64())])", {"k": LABELS}, [{"k": "B"}]),
        (
            [{"k": [1]}],
            "struct([('k', list_(int64()))])",
            {"_type": "Sequence", "feature": {"k": LABELS}},
            [{"k": [1]}],
        ),
        ([1], "int64()", {"_type": "Value", "dtype": "int64"}, [1]),
    ],
)
def test_class_labels_have_their_names(
    values: list[Any], kind: str, feature: Any, wanted: list[Any]
) -> None:
    """A class label is its name, -1 is null, and other integers stay."""
    array = pa.array(values, eval(kind, vars(pa)))  # noqa: S307 - kinds are written above

    assert json_values(array, feature) == wanted


def test_keys_of_other_rows_are_left_out() -> None:
    """A row has no key that only others have, at any level; null items stay."""
    rows = [
        {"messages": [{"role": "user", "content": "hi"}, None], "own": 1},
        {"messages": [{"role": "assistant", "calls": ["c"]}], "meta": {"k": "v"}},
    ]
    text = pa.string()
    message = [("role", text), ("content", text), ("calls", pa.list_(text))]
    schema = pa.schema(
        [
            ("messages", pa.list_(pa.struct(message))),
            ("own", pa.int64()),
            ("meta", pa.struct([("k", text)])),
        ]
    )

    assert json_rows(pa.RecordBatch.from_pylist(rows, schema), {}) == rows


def without_null(items: list[Any]) -> list[Any]:
    """Return objects without the members that are null."""
    return [
        item and {key: value for key, value in item.items() if value is not None}
        for item in items
    ]


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9)), min_size=1)
)
def test_nested_arrays_are_cut_as_arrow_does(rows: list[dict[str, int]]) -> None:
    """Structs in lists in structs, cut anywhere, are what Arrow itself says."""
    kind = pa.list_(pa.struct([(key, pa.int64()) for key in "abc"]))
    array = pa.array([[row, None, row] for row in rows], kind).slice(len(rows) // 2)

    assert json_values(array) == [without_null(row) for row in array.to_pylist()]
