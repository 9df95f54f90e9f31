import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.unfinished_json import parse_truncated

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
SPELLINGS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"indent": 1}, {"separators": (",", ":"), "ensure_ascii": False}]
)


def is_part(part: Any, whole: Any) -> bool:
    """Tell whether `part` is `whole` with parts left out or null."""
    if part is None:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_part(each, whole[key]) for key, each in part.items()
        )
    if isinstance(part, list):
        rest = iter(whole if isinstance(whole, list) else [])
        return all(any(is_part(each, other) for other in rest) for each in part)
    if type(part) is int and type(whole) in {int, float}:
        # The digits of a number may go on behind the end.
        return str(whole).startswith(str(part)) or part == whole
    return bool(part == whole) or (isinstance(whole, float) and isinstance(part, float))


@given(VALUES, SPELLINGS)
def test_whole_document_is_its_own_sketch(value: Any, spelling: dict[str, Any]) -> None:
    """Nothing is left out of a complete document."""
    assert parse_truncated(b" \n" + json.dumps(value, **spelling).encode()) == value


@given(VALUES, SPELLINGS, st.data())
def test_beginning_of_a_document_is_part_of_it(
    value: Any, spelling: dict[str, Any], data: st.DataObject
) -> None:
    """The value of any beginning of a document is part of the document."""
    text = json.dumps(value, **spelling).encode()
    size = data.draw(st.integers(0, len(text)))
    value_read = parse_truncated(text[:size])

    assert is_part(value_read, value)


@given(st.binary(max_size=40) | st.text('[]{}",:aN1 \n\\', max_size=40).map(str.encode))
@example(b'{"a": Infinity, "b": {"c": NaN')
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'"\\ud800"')
@example(b'{"a": 1' + b"0" * 5_000)
def test_any_bytes_have_a_sketch(data: bytes) -> None:
    """No bytes raise an error."""
    value_read = parse_truncated(data)

    assert value_read is None or type(value_read) in {bool, int, float, str, list, dict}


@for_each_case(
    "data, expected",
    [
        (b"", None),
        (b"{", {}),
        (b"hello", None),
        (b'{"a": 1, "b": "cut o', {"a": 1, "b": None}),
        (b'{"a": 1, "b', {"a": 1}),
        (b'{"a": 1, "b":', {"a": 1, "b": None}),
        (b'{"a": [{"b": 1}, {"c": 2, "d"', {"a": [{"b": 1}]}),
        (b'{"a": [{"b": 1, "c"', {"a": [{"b": 1}]}),
        (b'[[1, 2, {"a": {"b": [3', [[1, 2]]),
        (b'{"a": NaN, "b": 2, "c": 3', {"a": None, "b": 2, "c": 3}),
        (b'{"a": -Infinity}', {"a": None}),
        (b'{"a": {"b": NaN, "c": 1}, "d": 2}', {"a": {"b": None, "c": 1}, "d": 2}),
        (b'{"a": [NaN, 2, 3], "d": 4}', {"a": [2, 3], "d": 4}),
        (b'{"a": 1, "a": 2', {"a": 2}),
    ],
)
def test_broken_and_truncated_values_are_omitted(data: bytes, expected: Any) -> None:
    """Broken members become null, broken items are omitted, and the rest is read."""
    assert parse_truncated(data) == expected


def test_large_arrays_are_cut_short() -> None:
    """Of a large value that is cut off, a thousand items or members are read."""
    text = b'{"a": [' + b"{}, " * 3_000
    members = b"".join(b'"%d": {},' % each for each in range(3_000))

    assert parse_truncated(text) == {"a": [{}] * 1_000}
    assert parse_truncated(b"[" + b"{}, " * 1_000 + b"]") == [{}] * 1_000
    assert parse_truncated(b"{" + members) == {str(each): {} for each in range(1_000)}


def test_a_thousand_items_are_read() -> None:
    """Items behind these are left out."""
    assert parse_truncated(b"[" + b"1," * 1_001) == [1] * 1_000


def test_deep_values_are_cut_short() -> None:
    """Of a value that is cut off, eight levels are read."""
    assert parse_truncated(b"[" * 8 + b"1") == [[[[[[[[1]]]]]]]]
    assert parse_truncated(b"[" * 9 + b"1") == [[[[[[[[]]]]]]]]
    value = parse_truncated(b'{"a":' * 9 + b"1")
    for _ in range(8):
        value = value["a"]

    assert value is None
