"""Members of objects are counted equally in JSON text and in decoded values."""

import json
from pathlib import Path
from typing import Annotated, Any, NewType, Union

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.parsing.duplicate_keys import (
    CounterWriter,
    count_members,
    escaped_ends,
    has_no_repeated_keys,
    member_counter_of,
    most_members,
    no_members,
)
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.typed_decoder import RowSurvey, typed_decoder_of
from known_formats import FORMATS, row_schema

FIXTURES = Path(__file__).parents[3] / "fixtures"
TEXTS = st.text(st.sampled_from('ab":\\ \t\u00e9{},'), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)
#: How JSON text may be spaced.
SPACING = st.tuples(
    st.sampled_from([", ", ",", " , "]),
    st.builds("{}:{}".format, *[st.text(st.sampled_from(" \t\r\n"), max_size=3)] * 2),
)


class Inner(msgspec.Struct):
    """An object with a member that may be absent."""

    a: int
    b: Union[list[str], msgspec.UnsetType] = msgspec.UNSET  # noqa: UP007 - as in decoders


class Outer(msgspec.Struct):
    """An object with others in all places where they may be."""

    one: Inner
    more: Union[list[Inner], None]  # noqa: UP007 - as in decoders
    named: dict[str, Inner]
    free: Union[dict[str, Union[int, list[dict[str, int]]]], str]  # noqa: UP007 - as in decoders
    maybe: Union[Inner, msgspec.UnsetType] = msgspec.UNSET  # noqa: UP007 - as in decoders
    flat: Union[dict[str, int], msgspec.UnsetType] = msgspec.UNSET  # noqa: UP007 - as in decoders


class Flat(msgspec.Struct):
    """An object of scalars."""

    a: int
    b: str


class Lists(msgspec.Struct):
    """An object of lists."""

    a: list[Inner]
    b: list[Inner]


class Sparse(msgspec.Struct):
    """An object whose member may be absent."""

    a: Union[int, msgspec.UnsetType] = msgspec.UNSET  # noqa: UP007 - as in decoders


def pairs_in(text: bytes) -> int:
    """Return the number of keys in JSON text, repeated ones too."""
    count = 0

    def hook(pairs: list[tuple[str, Any]]) -> None:
        nonlocal count
        count += len(pairs)

    json.loads(text, object_pairs_hook=hook)
    return count


@given(OBJECTS, SPACING, st.booleans())
def test_there_are_never_more_members(
    value: dict[str, Any], spacing: tuple[str, str], ascii_only: bool
) -> None:
    """The quick count of members is never too low."""
    text = json.dumps(value, separators=spacing, ensure_ascii=ascii_only).encode()
    most = most_members(text)

    assert most is None or most - escaped_ends(text) >= pairs_in(text)
    assert count_members(value) == pairs_in(text)


def test_usual_text_is_counted_quickly() -> None:
    """The quick count is right for texts with colons, in both usual ways of spacing."""
    value = {"key": '12:30, a: b, "c"', "list": [{"inner \\": "a :"}]}

    assert most_members(json.dumps(value).encode()) == 3
    assert most_members(json.dumps(value, separators=(",", ":")).encode()) == 3


def test_json_in_a_text_is_counted_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotes that are escaped end no key, and rows with some are not written again."""
    monkeypatch.setattr(
        "harpia_formats.files.parsing.duplicate_keys.reencodes_to_same_colons", None
    )
    inner = json.dumps({"city": json.dumps({"name": "Belém"}), "c\\": "\\"})
    value = {"arguments": inner, "key\\": 'a "b": c'}

    assert has_no_repeated_keys(
        [value], json.dumps(value).encode(), count_members(value)
    )


def test_many_backslashes_take_no_longer() -> None:
    """Strings of many backslashes are counted by encoding again."""
    value = {"a": "\\" * 100_000 + '":'}

    assert has_no_repeated_keys(
        [value], json.dumps(value).encode(), count_members(value)
    )


@given(OBJECTS, OBJECTS, SPACING, st.booleans())
def test_a_key_that_is_there_twice_is_noticed(
    value: dict[str, Any], other: dict[str, Any], spacing: tuple[str, str], twice: bool
) -> None:
    """An object has all keys if and only if none is repeated."""
    first, second = (
        json.dumps(each, separators=spacing)[1:-1].encode() for each in (value, other)
    )
    text = b"{" + (first + b"," + second if first and second else first) + b"}"
    if not twice:
        text = b"{" + first + b"}"
    decoded = json.loads(text)
    repeats = pairs_in(text) != count_members(decoded)

    assert has_no_repeated_keys([decoded], text, count_members(decoded)) is not repeats


def test_typed_members_are_counted() -> None:
    """Members of typed objects are counted in lists, unions, and by any key."""
    count = member_counter_of(Outer)
    text = (
        b'{"one": {"a": 1, "b": []}, "more": [{"a": 1}, {"a": 2}], "named": {"x": '
        b'{"a": 1}}, "free": {"y": [{"z": 1}]}, "flat": {"k": 1}}'
    )
    bare = b'{"one": {"a": 1}, "more": null, "named": {}, "free": "text"}'

    assert count(msgspec.json.decode(text, type=Outer)) == pairs_in(text)
    assert count(msgspec.json.decode(bare, type=Outer)) == pairs_in(bare)


#: mypy fails on new types of a `Struct`.
Named = NewType("Named", list[Inner])
#: How members of an `Inner` are counted that is at `r`, or in a list.
ROOT, ITEM, DEEP = (f"(1 + (1 if {at}.b is not U else 0))" for at in ("r", "i1", "i2"))
LISTED = f"sum([{ITEM} for i1 in {{}}])".format
ITEMS = LISTED("r")
FREE = Union[dict[str, int], None]  # noqa: UP007 - as in decoders
EITHER = Union[list[Inner], Inner]  # noqa: UP007 - as in decoders
MAYBE = Union[Named, str]  # noqa: UP007 - as in decoders


@for_each_case(
    "kind, expression",
    [
        (int, "0"),
        (list[int], "0"),
        (Flat, "2"),
        (list[Flat], "2 * len(r)"),
        (dict[str, Flat], "(len(r) + 2 * len(r))"),
        (Sparse, "(1 if r.a is not U else 0)"),
        (Inner, ROOT),
        (Lists, f"(2 + {LISTED('r.a')} + {LISTED('r.b')})"),
        (Annotated[Inner, "limits"], ROOT),
        (Named, ITEMS),
        (Annotated[Named, "limits"], ITEMS),
        (list[Inner], ITEMS),
        (list[Named], f"sum([sum([{DEEP} for i2 in i1]) for i1 in r])"),
        (dict[str, Inner], f"(len(r) + sum([{ITEM} for i1 in r.values()]))"),
        (MAYBE, f"({ITEMS} if type(r) is C3 else 0)"),
        (EITHER, f"({ROOT} if type(r) is C4 else ({ITEMS} if type(r) is C3 else 0))"),
        (dict[str, int], "free(r)"),
        (list[dict[str, int]], "free(r)"),
        (FREE, "(free(r) if type(r) in containers else 0)"),
    ],
    ids=repr,
)
def test_members_are_counted_without_needless_steps(kind: Any, expression: str) -> None:
    """Each type has the expression that looks only where objects may be."""
    assert CounterWriter().of(kind, "r") == expression


def test_values_without_objects_are_not_looked_at() -> None:
    """The counter of a type without objects is one that returns 0."""
    assert member_counter_of(list[int]) is no_members
    assert no_members(["a"]) == 0


def valid_rows(most: int | None = None) -> list[tuple[str, bytes]]:
    """Return the valid lines of fixtures, `most` of each file, with their formats."""
    return [
        (format_.id, line)
        for format_ in FORMATS.values()
        for path in sorted((FIXTURES / format_.id / "valid").glob("*.jsonl"))
        for line in path.read_bytes().splitlines()[:most]
        if line.startswith(b"{")
    ]


@for_each_case("name, line", valid_rows(most=2))
def test_decoded_rows_have_the_same_member_count(name: str, line: bytes) -> None:
    """A row that a decoder decoded has the same member count as its text."""
    check_member_count(name, line)


@pytest.mark.long
@for_each_case("name, line", valid_rows())
def test_all_decoded_rows_have_the_same_member_count(name: str, line: bytes) -> None:
    """So have all rows of the fixtures."""
    check_member_count(name, line)


def check_member_count(name: str, line: bytes) -> None:
    """Assert that decoders count the members of a row as they are in its text."""
    counts = []
    for dialect in FORMATS[name].dialects:
        schema = row_schema(dialect)
        unknown = RowSurvey()
        unknown.take(schema, json.loads(line))
        try:
            decoder = typed_decoder_of(
                schema if isinstance(schema, dict) else {}, unknown.extras
            )
        except UnsupportedSchemaError:
            continue
        value = decoder.accept(line)
        if value is not None:
            counts.append(decoder.members(value))

    assert set(counts) <= {pairs_in(line)}
