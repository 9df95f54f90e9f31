"""Laws of JSON text: which text has a fault, and where its values and keys are.

The exact messages for a text are in `answers.jsonl`.
"""

import itertools
import json
import random
import string
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.io.reader import DEPTH_LIMIT
from harpia_formats.files.parsing import json_syntax
from harpia_formats.files.parsing.json_fault import FaultKind
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import (
    PointerIndex,
    duplicates,
    entries,
    locate,
    repeated_paths,
)
from harpia_formats.plugins import Path

_ROWS = tuple(
    json.dumps(
        {
            "id": 17,
            "model": "größe/7b",
            "scores": [1, -2.5, 3e-07, None, True, False],
            "answer": 'line\n"quoted" \\ and 😀\t',
            "params": {"stop": [], "extra": {}, "seed": -0.0, "max": 2**70},
        },
        ensure_ascii=each,
    ).encode()
    for each in (True, False)
)


_PIECES = (
    *(bytes([each]) for each in range(256)),
    *(rb"\u0000", rb"\ud83d\ude00", rb"\uD83D\uDe00", rb"\ud83d", rb"\ude00"),
    *(rb"\ud83d\u", rb"\u12", rb"\x", rb"\/", rb"\'"),
    *(b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\xc2\xa0"),
    *(b"\xef\xbb\xbf", b"\xf0\x9f\x98", b"\xf0\x9f\x98\x80"),
    *(b"NaN", b"-Infinity", b"true", b"nul", b"None", b"//", b"/*", b"[]", b"{}"),
    *(b"1e400", b"-1e400", b"1e-400", b"0e99999999999", b"1e0000308", b"1e309"),
    *(b"1.7976931348623158e308", b"1.7976931348623159e308", b"01", b"-0", b".5", b"5."),
    *(b"9" * 309 + b".0", b"0." + b"0" * 400 + b"1e700", b"1" * 4299, b"1" * 4301),
    *(b'"a":1', b',"a":1', b",1", b'"b"', b"\\" * 3),
)


def _is_accepted(text: bytes) -> bool:
    """Return the verdict of the parser."""
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _check(text: bytes) -> None:
    """Check that scanner and parser agree, and that a fault has a place."""
    fault = find_fault(text)

    assert (fault is None) == _is_accepted(text), text
    if fault:
        assert 0 <= fault.start <= fault.end <= len(text), text
        assert fault.end > fault.start or fault.start == len(text), text
        assert fault.message, text


def _mutated(text: bytes, rng: random.Random) -> bytes:
    """Return a text with up to three small changes."""
    data = bytearray(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, other = sorted(rng.randint(0, len(data)) for _ in range(2))
        change = rng.randrange(6)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at : at + rng.randint(1, 3)]
        elif change == 2:
            data[at:at] = rng.choice(_PIECES)
        elif change == 3:
            data[at : at + rng.randint(1, 3)] = rng.choice(_PIECES)
        elif change == 4:
            data[at:at] = data[at:other][:30]
        elif rng.random() < 0.3:
            del data[other:]
    return bytes(data)


def _check_mutants(count: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - mutants need a seed, not secrecy
    for _ in range(count):
        _check(_mutated(rng.choice(_ROWS), rng))


def test_scanner_agrees_with_the_parser_on_mutants() -> None:
    """The scanner accepts exactly those of some thousand damaged rows that parse."""
    _check_mutants(5_000, seed=1)


@pytest.mark.long
def test_scanner_agrees_with_the_parser_on_many_mutants() -> None:
    """The scanner accepts exactly those of many damaged rows that parse."""
    _check_mutants(200_000, seed=2)


@given(st.lists(st.sampled_from(_PIECES), max_size=8).map(b"".join))
def test_scanner_agrees_with_the_parser_on_fragments(text: bytes) -> None:
    """Texts made of JSON fragments have a fault exactly if they do not parse."""
    for each in (text, b"[" + text + b"]", b'"' + text + b'"', b'{"' + text + b'":1}'):
        _check(each)


@given(st.text("-+.0123456789eE_", min_size=1, max_size=12))
def test_scanner_agrees_with_the_parser_on_numbers(number: str) -> None:
    """A text like a number has a fault exactly if it does not parse."""
    _check(number.encode())
    _check(f'{{"a": {number}}}'.encode())


@given(
    st.integers(0, 10**25),
    st.integers(0, 700),
    st.integers(-700, 700) | st.integers(-(10**20), 10**20),
)
def test_scanner_agrees_with_the_parser_on_overflow(
    digits: int, zeros: int, exponent: int
) -> None:
    """A float has a fault exactly if it overflows in the parser."""
    _check(f"{digits}{'0' * zeros}e{exponent}".encode())
    _check(f"-0.{'0' * zeros}{digits}E{exponent:+}".encode())


@for_each_case("sign, length", itertools.product(["", "-"], [4299, 4300, 4301]))
def test_scanner_agrees_with_the_parser_on_long_integers(
    sign: str, length: int
) -> None:
    """An integer has a fault exactly if it is too long for the parser."""
    _check(f"{sign}{'1' * length}".encode())


@pytest.mark.parametrize(("digits", "limit"), [(640, 640), (0, 4300)])
def test_the_digit_limit_of_the_interpreter_is_obeyed(digits: int, limit: int) -> None:
    """An interpreter that converts fewer digits has longer integers refused, only it.

    Where it converts any number of digits, the limit is our own.
    """
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(digits)
    try:
        _check(b"1" * limit)
        _check(b"-" + b"1" * limit)
        fault = find_fault(b"1" * (limit + 1))
        if digits:
            _check(b"1" * (limit + 1))
    finally:
        sys.set_int_max_str_digits(before)

    assert fault
    assert fault.kind is FaultKind.NUMBER


def test_every_cut_of_a_row_is_truncated() -> None:
    """A row cut anywhere inside its braces is truncated, and has no other fault."""
    for row in _ROWS:
        found = (find_fault(row[:size]) for size in range(1, len(row)))

        assert {each and each.kind for each in found} == {FaultKind.TRUNCATED}


def test_what_is_advised_closes_a_cut_row() -> None:
    """Text closed as its help says is JSON in the end, or has to have its end restored.

    No help names a character that would leave another mistake behind.
    """
    for row in _ROWS:
        for size in range(1, len(row)):
            text = row[:size]
            while fault := find_fault(text):
                assert fault.kind is FaultKind.TRUNCATED, text
                advice = fault.help.removesuffix("restore the missing end")
                if not advice:
                    break
                text += advice.removeprefix("close it with ")[0].encode()


def test_messages_are_one_plain_line() -> None:
    """Messages are one plain line without a final stop, for any text."""
    rng = random.Random(3)  # noqa: S311 - mutants need a seed, not secrecy
    mutants = (_mutated(rng.choice(_ROWS), rng) for _ in range(2_000))
    texts = [*mutants, *(bytes([each]) for each in range(256))]
    printable = set(string.printable) - set("\n\r\t\v\f")
    for fault in filter(None, map(find_fault, texts)):
        for each in (fault.message, fault.help):
            assert set(each) <= printable
            assert not each.endswith(".")
            assert len(each) < 100


@for_each_case(
    "text",
    [
        b'["' + b"x" * 5_000_000 + b'"]',
        b'["' + rb"\n" * 2_500_000 + b'"]',
        b'["' + rb"\n" * 2_500_000,
        b"[" + b" " * 5_000_000 + b",",
        b"[1." + b"0" * 5_000_000 + b"]",
        b"/*" * 2_500_000,
        b"[" * 5_000_000,
    ],
)
def test_long_tokens_cost_little(text: bytes) -> None:
    """Five megabytes in a few tokens take less than a second."""
    began = time.process_time()
    find_fault(text)

    assert time.process_time() - began < 1


@pytest.mark.parametrize("depth", [3, 5, DEPTH_LIMIT])
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    ),
    st.integers(0, 2**32),
)
def test_fault_of_a_long_text_is_that_of_single_steps(
    depth: int, value: object, seed: int
) -> None:
    """Passing over several entries at once finds the same fault as one at a time."""
    chance = random.Random(seed)  # noqa: S311 - for tests
    text = json.dumps([value, {"a": value, "b": [value]}, value], indent=seed % 3)
    data = text.encode()
    for _ in range(seed % 4):
        at, end = sorted(chance.choices(range(len(data) + 1), k=2))
        data = data[:at] + chance.choice(_PIECES) + data[min(end, at + seed % 2) :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_syntax, "_LONG", 0)
        fast = find_fault(data, depth_limit=depth)
        patch.setattr(json_syntax, "_LONG", sys.maxsize)

        assert fast == find_fault(data, depth_limit=depth)


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
def test_every_spelling_is_accepted(value: Any, seed: int) -> None:
    """Valid JSON has no fault, however it is spelled."""
    assert find_fault(_text(value, seed)) is None


@given(_REPEATING, _SEEDS)
def test_every_value_is_found(value: Any, seed: int) -> None:
    """The bytes of a span decode to the value and the name at its path.

    An index finds the same, in any order of lookups.
    """
    text = _text(value, seed)
    paths = list(_paths(json.loads(text)))
    random.Random(seed).shuffle(paths)  # noqa: S311 - an order, no secret
    index = PointerIndex(text)
    for path, expected in paths:
        span = locate(text, path)

        assert index.of(path) == span
        assert json.loads(text[span.start : span.end]) == expected
        if path and isinstance(path[-1], str):
            assert json.loads(text[span.key : span.key_end]) == path[-1]
        else:
            assert (span.key, span.key_end) == (None, None)


def _ends(span: Any) -> tuple[int, int]:
    return span.start, span.end


def test_locate_is_not_recursive() -> None:
    """A value inside more arrays than the stack could hold is found."""
    depth = 5_000
    text = b"[" * depth + b"7" + b"]" * depth

    assert _ends(locate(text, (0,) * depth)) == (depth, depth + 1)


def test_strings_of_many_escapes_are_walked() -> None:
    """Strings with more escapes than one match takes end where they end."""
    long = b'"' + rb"\"\\\n" * 1_000 + b'"'
    text = b"[" + long + b",{" + long + b":" + long + b'},{"a":' + long + b',"a":0}]'
    name = json.loads(long)

    assert find_fault(text) is None
    assert _ends(locate(text, (0,))) == (1, 1 + len(long))
    assert json.loads(text[slice(*_ends(locate(text, (1, name))))]) == name
    assert [each.path for each in duplicates(text)] == [(2, "a")]


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
    assert repeated_paths(text) == [each.path for each in found]
    for each in found:
        names = {text[each.start : each.end]}
        names.add(text[each.first : each.first + len(_string_at(text, each.first))])
        assert {json.loads(name) for name in names} == {each.path[-1]}
        assert each.first < each.start


def _string_at(text: bytes, at: int) -> bytes:
    """Return the spelling of the string that begins at an offset."""
    _, end = json.JSONDecoder().raw_decode(text[at:].decode())
    return text[at:].decode()[:end].encode()


def test_containers_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No container is read twice, for any number of lookups."""
    read: list[int] = []

    def counted(text: bytes, start: int) -> Iterator[Any]:
        read.append(start)
        return entries(text, start)

    monkeypatch.setattr("harpia_formats.files.parsing.locate.entries", counted)
    value = {"rows": [{"a": number, "b": 0} for number in range(300)]}
    asked = PointerIndex(json.dumps(value).encode())
    for path, _ in _paths(value):
        asked.of(path)

    assert len(read) == len(set(read)) == 302
