import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import (
    Duplicate,
    Span,
    duplicates,
    locate,
    repeated_paths,
)
from harpia_formats.model.problem import Path

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
_NAMES = st.text(st.sampled_from('ab"\\/é😀\x00 {[:,'), max_size=3)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4)
    ),
    max_leaves=12,
)
_SEEDS = st.integers(min_value=0, max_value=2**32)


def _space(rng: random.Random) -> str:
    return rng.choice(["", "", " ", "\n", "\t", "\r\n  "])


def _spelled_string(value: str, rng: random.Random) -> str:
    """Return JSON for a string, every character escaped or not by chance."""
    parts = []
    for each in value:
        plain = json.dumps(each, ensure_ascii=False)[1:-1]
        units = each.encode("utf-16-be")
        pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
        lower = "".join(f"\\u{pair}" for pair in pairs)
        upper = "".join(f"\\u{pair.upper()}" for pair in pairs)
        parts.append(rng.choice([plain, plain, lower, upper]))
    return f'"{"".join(parts)}"'


def _join(parts: list[str], rng: random.Random) -> str:
    return ",".join(f"{_space(rng)}{each}{_space(rng)}" for each in parts)


def _spelled(value: Any, rng: random.Random) -> str:
    """Return JSON for a value, with white space and escapes by chance.

    A list of pairs in place of a dictionary is an object that may repeat names.
    """
    if isinstance(value, str):
        return _spelled_string(value, rng)
    if isinstance(value, dict):
        value = _Pairs(value.items())
    if isinstance(value, _Pairs):
        members = [
            f"{_spelled_string(name, rng)}{_space(rng)}:{_space(rng)}"
            + _spelled(inner, rng)
            for name, inner in value
        ]
        return f"{{{_join(members, rng) or _space(rng)}}}"
    if isinstance(value, list):
        items = [_spelled(each, rng) for each in value]
        return f"[{_join(items, rng) or _space(rng)}]"
    return json.dumps(value)


class _Pairs(tuple[tuple[str, Any], ...]):
    """The members of an object, of which several may have one name."""

    __slots__ = ()


_REPEATING = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(st.tuples(_NAMES, inner), max_size=5).map(_Pairs)
    ),
    max_leaves=15,
)


def _text(value: Any, seed: int) -> bytes:
    rng = random.Random(seed)  # noqa: S311 - spellings need a seed, not secrecy
    return f"{_space(rng)}{_spelled(value, rng)}{_space(rng)}".encode()


def _paths(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every path in a decoded value with what is there."""
    yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def _repeats(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of repeated names in the order of the text."""
    if isinstance(value, _Pairs):
        seen = set()
        for name, inner in value:
            if name in seen:
                yield (*path, name)
            seen.add(name)
            yield from _repeats(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _repeats(inner, (*path, index))


@given(_REPEATING, _SEEDS)
def test_locate_finds_every_value(value: Any, seed: int) -> None:
    """The bytes of a span decode to the value and the name at its path."""
    text = _text(value, seed)

    for path, expected in _paths(json.loads(text)):
        span = locate(text, path)

        assert json.loads(text[span.start : span.end]) == expected
        if path and isinstance(path[-1], str):
            assert json.loads(text[span.key : span.key_end]) == path[-1]
        else:
            assert (span.key, span.key_end) == (None, None)


def test_locate_gives_exact_places() -> None:
    """A span has no white space in it, and offsets count bytes."""
    text = ' {"é" : [ 1 , { "b":-2.5e3 } ]} '.encode()

    assert locate(text, ()) == Span(None, None, 1, len(text) - 1)
    assert locate(text, ("é",)) == Span(2, 6, 9, 31)
    assert locate(text, ("é", 0)) == Span(None, None, 11, 12)
    assert locate(text, ("é", 1, "b")) == Span(17, 20, 21, 27)


def test_locate_takes_the_last_duplicate() -> None:
    """Of members with one name the last one counts, however it is spelled."""
    text = rb'{"a":{"b":1},"\u0061":{"b":2},"c":3}'

    assert locate(text, ("a", "b")) == Span(23, 26, 27, 28)


@for_each_case(
    "text, path",
    [
        (b"1", ("a",)),
        (b'"a"', (0,)),
        (b"[]", (0,)),
        (b"[1,2]", (2,)),
        (b"[1,2]", (-1,)),
        (b"[1,2]", ("0",)),
        (b"{}", ("a",)),
        (b'{"0":1}', (0,)),
        (b'{"a":1}', ("a", "b")),
        (b'{"a":{"b":1},"a":{}}', ("a", "b")),
        (b'{"a":{"b":1},"a":7}', ("a", "b")),
        (b'{"a":[1],"a":[]}', ("a", 0)),
        (b'{"x":{"a":1}}', ("a",)),
    ],
)
def test_locate_refuses_a_path_to_nothing(text: bytes, path: Path) -> None:
    """A path without a value raises KeyError with the path."""
    with pytest.raises(KeyError) as caught:
        locate(text, path)

    assert caught.value.args == (path,)


def test_locate_is_not_recursive() -> None:
    """A value inside more arrays than the stack could hold is found."""
    depth = 5_000
    text = b"[" * depth + b"7" + b"]" * depth

    assert locate(text, (0,) * depth) == Span(None, None, depth, depth + 1)


def test_strings_of_many_escapes_are_walked() -> None:
    """Strings with more escapes than one match takes end where they end."""
    long = b'"' + rb"\"\\\n" * 1_000 + b'"'
    text = b"[" + long + b",{" + long + b":" + long + b'},{"a":' + long + b',"a":0}]'
    name = json.loads(long)

    assert find_fault(text) is None
    assert locate(text, (0,)) == Span(None, None, 1, 1 + len(long))
    assert json.loads(text[slice(*_ends(locate(text, (1, name))))]) == name
    assert [each.path for each in duplicates(text)] == [(2, "a")]


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


@given(_VALUES, st.booleans())
def test_json_of_a_dictionary_has_no_duplicates(value: Any, ascii_only: bool) -> None:
    """JSON written from a dictionary has no repeated names."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert list(duplicates(text)) == []


@given(_REPEATING, _SEEDS)
def test_duplicates_are_those_of_the_pairs(value: Any, seed: int) -> None:
    """All repeated names are found, in order, at bytes that decode to the name."""
    text = _text(value, seed)

    found = list(duplicates(text))

    assert [each.path for each in found] == list(_repeats(value))
    for each in found:
        names = {text[each.start : each.end]}
        names.add(text[each.first : each.first + len(_string_at(text, each.first))])
        assert {json.loads(name) for name in names} == {each.path[-1]}
        assert each.first < each.start


def _string_at(text: bytes, at: int) -> bytes:
    """Return the spelling of the string that begins at an offset."""
    _, end = json.JSONDecoder().raw_decode(text[at:].decode())
    return text[at:].decode()[:end].encode()


def test_duplicates_gives_exact_places() -> None:
    """A duplicate names its path, the first and the repeated name."""
    text = rb' {"x":[0,"s",{"a":1, "b":{"a":2}, "\u0061" :3,"a":4}]} '
    path = ("x", 2, "a")

    assert list(duplicates(text)) == [
        Duplicate(path, first=14, start=34, end=42),
        Duplicate(path, first=14, start=46, end=49),
    ]


@given(_REPEATING, _SEEDS)
def test_repeated_paths_are_those_of_the_duplicates(value: Any, seed: int) -> None:
    """The paths that are found without their places are the same, in the same order."""
    text = _text(value, seed)

    assert repeated_paths(text) == [found.path for found in duplicates(text)]


def test_repeated_path_is_found_next_to_a_long_integer() -> None:
    """An integer that Python does not convert changes nothing."""
    text = b'{"a": ' + b"1" * 4400 + b', "b": {"c": 1, "c": 2}}'

    assert repeated_paths(text) == [("b", "c")]


@given(_REPEATING, _SEEDS)
def test_every_spelling_is_accepted(value: Any, seed: int) -> None:
    """Valid JSON has no fault, however it is spelled."""
    assert find_fault(_text(value, seed)) is None
