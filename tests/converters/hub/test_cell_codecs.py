"""Cells that hold JSON, and whether one of its objects has a key twice."""

from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_converters.hub.csv_mapping import as_json, repeats_key
from harpia_formats.api.testing.strategies import VALUES
from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.plugins import DECLINED

#: Pieces of objects in which keys are often repeated, and colons stand in texts.
KEYS = st.sampled_from(['"a"', '"b"', '"a:"', r'"a\u003a"', r'"\u0061"', '"模"'])
LEAVES = st.sampled_from(["1", "1e2", "null", '":"', r'"\":\""', r'"\u003A"', '""'])


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for the text of objects and lists of them."""
    member = st.tuples(KEYS, st.sampled_from([":", " :", ": "]), inner).map("".join)
    members = st.lists(member, max_size=3).map(",".join)
    return members.map("{{{}}}".format) | st.lists(inner, max_size=3).map(
        lambda items: f"[{','.join(items)}]"
    )


TEXTS = st.recursive(LEAVES, objects, max_leaves=6)


@examples(100)
@given(TEXTS)
def test_repeated_keys_are_found_by_colons(text: str) -> None:
    """The count of colons finds a repeated key where a parser finds one."""
    is_repeated = any(duplicates(text.encode()))
    value = decode(text)

    assert not isinstance(value, dict | list) or (
        repeats_key(text, value) == is_repeated
    )
    assert (as_json(text) is DECLINED) == is_repeated


@given(VALUES)
def test_encoded_values_are_read(value: object) -> None:
    """No value that was encoded has a key twice."""
    text = encode(value).decode()

    assert encode(as_json(text)).decode() == text
