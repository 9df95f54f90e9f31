"""Where problems of JSON are in their file, by the reports on it."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from harpia_formats import iter_problems, validate

#: No empty key: the schema engine leaves those out of the paths of its errors.
KEYS = st.sampled_from(["a", "b", "1", "é", '"', "a\\"])
LEAVES: st.SearchStrategy[Any] = st.none() | st.integers() | st.text(max_size=4)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20
)
#: How deep integers are looked for.
DEPTH = 6


def no_integers(depth: int = DEPTH) -> dict[str, Any]:
    """Return a schema that refuses each integer at these levels."""
    if not depth:
        return {"not": {"type": "integer"}}
    inner = no_integers(depth - 1)
    return {**no_integers(0), "items": inner, "additionalProperties": inner}


SCHEMA = no_integers()


def integers_in(value: Any, path: str = "") -> dict[str, int]:
    """Return each integer in a value by its JSON pointer."""
    if isinstance(value, int):
        return {path: value}
    if path.count("/") == DEPTH:
        return {}
    pairs: Any = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        pairs = value.items()
    return {
        inner: number
        for key, each in pairs
        for inner, number in integers_in(each, f"{path}/{key}").items()
    }


@given(VALUES, st.sampled_from([None, 1, "\t"]))
@example([0] * 14, None)
def test_each_value_of_a_row_has_its_place(value: Any, indent: Any) -> None:
    """A problem is at the bytes of its value, in the line and the column of these."""
    text = json.dumps({"é": value}, indent=indent, ensure_ascii=False)
    data = f"\n  {text}\n".encode()
    problems = iter_problems(data, schema=SCHEMA)  # not only examples of each kind
    found = {}
    for place in (each.place for each in problems if each.code != "J202"):
        before, behind = data[: place.byte_offset], data[place.byte_offset :]
        found[place.pointer], _ = json.JSONDecoder().raw_decode(behind.decode())

        assert place.line == before.count(b"\n") + 1
        assert place.column == len(before.decode().rpartition("\n")[2]) + 1
    assert found == integers_in({"é": value})


def test_open_value_is_named_by_its_place_in_the_file() -> None:
    """The message on a row that is cut off names the byte at which a value is open."""
    (problem,) = validate(b'{"a": 1}\n{"b": {"c": 1,', schema=True).problems

    assert problem.code == "J102"
    assert "inside an object that starts at byte 15" in problem.message


def test_thousands_of_unknown_keys_are_reported_in_linear_time() -> None:
    """Reporting the unknown keys of a row takes time linear in their number."""
    schema = {"properties": {"known": {}}, "additionalProperties": False}
    row = {f"key {number}": number for number in range(5_000)}
    found = list(iter_problems(json.dumps(row).encode(), schema=schema))

    # The last one is that there are more.
    assert len(found) == 1_001
